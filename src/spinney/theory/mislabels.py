"""Rows whose label is probably wrong: those that boosting cannot get right."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.theory.checks import choice, inside, margin_array, trace_of
from spinney.theory.trace import Trace
from spinney.typing import FloatArray, IntArray, TableLike

KINDS = ("mean_weight", "final_weight", "negative_margin", "forgetting")
_TIED = 1e-9
"""Scores y F this near to 0 are ties, which count as wrong."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SuspectRows(Result):
    """Rows whose labels deserve a second look, the most suspect first."""

    rows: IntArray
    scores: FloatArray
    kind: str
    n_rows: int
    """Rows that were looked at."""

    def __post_init__(self) -> None:
        for name in ("rows", "scores"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the rows and their scores."""
        return {"row": self.rows.tolist(), self.kind: self.scores.tolist()}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"{len(self.rows)} of {self.n_rows} rows may be mislabelled, by {self.kind}"


def mislabel_scores(fitted: Any, X: TableLike, y: Any, *, kind: str = "mean_weight") -> FloatArray:
    """Score every training row by how much boosting struggles with its label.

    Parameters
    ----------
    fitted : booster
        With ``trace_`` and ``margins(X, y)``.
    X, y : table and labels
        The rows it was trained on.
    kind : "mean_weight", "final_weight", "negative_margin" or "forgetting"
        The weight of the row in the mean over rounds, or after the last; its margin with the sign
        turned; or in how many rounds it went from right to wrong, all of them for a row that never
        was right. All but the margin read the distributions of the trace, which the booster has
        to keep; the final weight does without if normalisers are those of exp(-y F).

    Returns
    -------
    scores : numbers, one for each row; a larger one is more suspect

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> booster = SimpleNamespace(margins=lambda X, y: np.array([0.5, -0.2, 0.1]))
    >>> mislabel_scores(booster, [[0], [1], [2]], [0, 1, 1], kind="negative_margin").tolist()
    [-0.5, 0.2, -0.1]
    """
    choice("kind", kind, KINDS)
    margins = margin_array(fitted.margins(X, y))
    if kind == "negative_margin":
        return -margins
    trace = trace_of(fitted)
    if kind == "final_weight" and trace.distributions is None:
        return _weights_of_margins(trace, margins)
    kept = _distributions(trace, len(margins), kind)
    if kind == "mean_weight":
        mean: FloatArray = kept[:-1].mean(axis=0)
        return mean
    return np.array(kept[-1]) if kind == "final_weight" else _forgotten(trace, kept, margins)


def detect_mislabels(
    fitted: Any, X: TableLike, y: Any, *, share: float = 0.05, kind: str = "mean_weight"
) -> SuspectRows:
    """List the rows whose labels are the most suspect.

    Parameters
    ----------
    fitted : booster
        With ``trace_`` and ``margins(X, y)``.
    X, y : table and labels
        The rows it was trained on.
    share : float in (0, 1]
        Which share of the rows to list; at least one row is.
    kind : "mean_weight", "final_weight", "negative_margin" or "forgetting"
        See ``mislabel_scores``.

    Returns
    -------
    SuspectRows

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> booster = SimpleNamespace(margins=lambda X, y: np.array([0.5, -0.2, 0.1]))
    >>> suspects = detect_mislabels(
    ...     booster, [[0], [1], [2]], [0, 1, 1], share=0.4, kind="negative_margin"
    ... )
    >>> print(suspects)
    1 of 3 rows may be mislabelled, by negative_margin
    row  negative_margin
      1              0.2
    """
    wanted = inside("share", share, 0.0, 1.0, closed="high")
    scores = mislabel_scores(fitted, X, y, kind=kind)
    rows = np.argsort(-scores, kind="stable")[: max(1, round(wanted * len(scores)))]
    return SuspectRows(rows.astype(np.int64), scores[rows], kind, len(scores))


def _distributions(trace: Trace, n_rows: int, kind: str) -> FloatArray:
    if trace.distributions is None:
        raise InvalidInput(
            f"kind={kind!r} needs the weights of every round, which were not kept. Fit with "
            'store_weights=True, or use kind="negative_margin".'
        )
    if trace.distributions.shape != (len(trace) + 1, n_rows):
        raise InvalidInput(
            f"The trace has weights of shape {trace.distributions.shape}: expected "
            f"({len(trace) + 1}, {n_rows}), as there are {len(trace)} rounds and {n_rows} rows. "
            "Give the rows that the booster was fitted to."
        )
    return trace.distributions


def _weights_of_margins(trace: Trace, margins: FloatArray) -> FloatArray:
    """Give the last distribution, proportional to exp(-y F), if that is what it was."""
    exponents = -float(np.abs(trace.alphas).sum()) * margins
    top = float(exponents.max())
    weights = np.exp(exponents - top)
    product = float(np.log(trace.normalisers).sum())
    if not math.isclose(top + math.log(weights.mean()), product, rel_tol=1e-6, abs_tol=1e-6):
        raise InvalidInput(
            'kind="final_weight": the weights were not kept, and are not those of exp(-y F) on '
            "these rows. Fit with store_weights=True, or give the training rows."
        )
    final: FloatArray = weights / weights.sum()
    return final


def _forgotten(trace: Trace, kept: FloatArray, margins: FloatArray) -> FloatArray:
    """Count how often each row went from right to wrong.

    A weight says how wrong a row is: D_t+1 = D_1 exp(-y F_t) / (Z_1 ... Z_t), so y F_t is found
    from the weights alone.
    """
    with np.errstate(divide="ignore"):  # a weight of 0 is that of a row far on the right side
        logs = np.log(kept)
    if np.isneginf(logs[0]).any():
        raise InvalidInput(
            'kind="forgetting": a row had no weight in the first round, so nothing is known of it. '
            'Drop rows of weight 0, or use kind="negative_margin".'
        )
    scores = logs[0] - logs[1:] - np.cumsum(np.log(trace.normalisers))[:, np.newaxis]
    norm = float(np.abs(trace.alphas).sum())
    finite = np.isfinite(scores[-1])
    if not np.allclose(scores[-1][finite], norm * margins[finite], rtol=1e-6, atol=1e-6):
        raise InvalidInput(
            'kind="forgetting": the weights of the trace are not those of exp(-y F) on these rows. '
            'Give the training rows, or use kind="mean_weight".'
        )
    right = scores > _TIED
    lost = (right[:-1] & ~right[1:]).sum(axis=0)
    return np.where(right.any(axis=0), lost, len(trace)).astype(np.float64)
