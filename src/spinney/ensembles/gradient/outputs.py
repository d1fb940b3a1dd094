"""Several numbers per row: columns of y, or quantiles of one."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.sources.vector import read_vector
from spinney.data.target import Target
from spinney.ensembles.parameters import Real
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import Loss, PointLoss
from spinney.losses.custom_loss import NUMBER_LINKS, custom_loss
from spinney.losses.loss import REGRESSION_LOSSES, loss_named
from spinney.losses.vector_loss import VectorLoss
from spinney.model.saved_loss import is_custom
from spinney.typing import FloatArray

_PARAMETER_OF = {"quantile": "quantile", "huber": "huber_delta", "tweedie": "tweedie_power"}
"""Losses that have a parameter, and what it is called."""


@dataclass(frozen=True, slots=True)
class QuantileLevels:
    """Levels of several quantiles: a rule for parameters."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if not _is_several(value) or not len(value):
            return False
        between = Real(0.0, 1.0, above=True, below=True)
        if not all(between.accepts(level) for level in value):
            return False
        levels = [float(level) for level in value]
        return all(low < high for low, high in itertools.pairwise(levels))

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "a list of such numbers, each larger than the one before"


def _is_several(value: Any) -> bool:
    return (isinstance(value, Sequence) and not isinstance(value, str)) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    )


def quantile_levels(params: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Give the levels of several quantiles; None if there is one, or another loss."""
    several: Any = params.get("quantile")
    if is_custom(params["loss"]) or params["loss"] != "quantile" or not _is_several(several):
        return None
    return tuple(float(level) for level in several)


def outputs_taken(params: Mapping[str, Any]) -> dict[str, Any]:
    """Say whether y may have several columns, and if not, why."""
    if is_custom(params["loss"]):
        why = (
            "A loss of your own is of one number per row. Name one of ours, or fit one estimator "
            "per column, for example by sklearn.multioutput.MultiOutputRegressor."
        )
    elif quantile_levels(params) is not None:
        why = (
            "Several quantiles are those of one number per row. Give one quantile, or fit one "
            "estimator per column."
        )
    elif params["growth"] == "symmetric":
        why = (
            "growth='symmetric' is for trees of one output, and several share theirs. Set "
            "growth='leaf_wise' or 'level_wise', or fit one estimator per column."
        )
    elif params["monotonic_cst"] is not None:
        why = (
            "monotonic constraints are not supported for several outputs, which share their trees: "
            "a split that suits one of them need not suit the others. Set monotonic_cst=None, or "
            "fit one estimator per column."
        )
    else:
        return {"multi_output": True}
    return {"multi_output": False, "why_one": why}


def describe_levels(levels: Sequence[float]) -> Target:
    """Describe what a model of several quantiles predicts."""
    return Target.regression(len(levels), tuple(f"quantile {level!r}" for level in levels))


def regression_loss(owner: str, params: Mapping[str, Any], n_outputs: int) -> Loss:
    """Choose the loss for so many numbers per row."""
    _check_levels(params)
    if is_custom(params["loss"]):
        return custom_loss(params["loss"], NUMBER_LINKS, "identity", 1)
    loss = loss_named(params["loss"], REGRESSION_LOSSES)
    levels = quantile_levels(params)
    if levels is not None:
        _check_scoring(params)
        parts = tuple(replace(loss, parameter=level) for level in levels)
        return parts[0] if len(parts) == 1 else VectorLoss(parts, "increasing", _factors(levels))
    loss = _with_parameter(owner, loss, params)
    return loss if n_outputs == 1 else VectorLoss((loss,) * n_outputs, loss.link)


def _check_levels(params: Mapping[str, Any]) -> None:
    """Refuse several quantiles that no loss asks for: one prediction per row would surprise."""
    levels, loss = params.get("quantile"), params["loss"]
    if _is_several(levels) and (is_custom(loss) or loss != "quantile"):
        raise InvalidParameter(
            f"quantile={levels!r} with loss={loss!r}: several quantiles are estimated by "
            "loss='quantile'. Set it, or leave quantile out."
        )


def _factors(levels: Sequence[float]) -> tuple[float, ...]:
    """Make the gradients of all levels have the variance of those of the median.

    That of pinball gradients is p (1 - p): without factors the median would choose the splits, and
    the levels at the ends would have to take them.
    """
    return tuple(0.5 / float(np.sqrt(level * (1.0 - level))) for level in levels)


def _check_scoring(params: Mapping[str, Any]) -> None:
    """Refuse metrics that compare one prediction per row with y."""
    scoring = params["scoring"]
    if params["early_stopping"] and isinstance(scoring, str) and scoring != "loss":
        raise InvalidParameter(
            f"scoring={scoring!r} with several quantiles: it compares one number per row with y. "
            "Use scoring='loss', the mean pinball loss, or None for the score of the estimator."
        )


def _with_parameter(owner: str, loss: PointLoss, params: Mapping[str, Any]) -> PointLoss:
    name = _PARAMETER_OF.get(params["loss"])
    if name is None:
        return loss
    if params[name] is None:
        raise InvalidParameter(
            f"{name}=None of {owner}: loss={params['loss']!r} needs it. Give a number between 0 "
            "and 1; 0.5 is the median."
        )
    return replace(loss, parameter=float(params[name]))


def pinball_score(
    y: Any, predictions: FloatArray, levels: Sequence[float], sample_weight: Any
) -> float:
    """Mean over levels of the share of the pinball loss of a constant that predictions remove."""
    from sklearn.metrics import d2_pinball_score  # noqa: PLC0415 - 0.1 s, for few only

    targets = np.asarray(read_vector(y, "y"))
    if targets.reshape(len(targets), -1).shape != (len(predictions), 1):
        raise InvalidInput(
            f"y has the shape {targets.shape}: expected ({len(predictions)},), one number per row."
        )
    scores = [
        d2_pinball_score(targets.reshape(-1), of_level, sample_weight=sample_weight, alpha=level)
        for of_level, level in zip(predictions.reshape(len(predictions), -1).T, levels, strict=True)
    ]
    return float(np.mean(scores))
