"""Fitting clones of any estimator, on some of the rows each."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from spinney.data.row_keys import keys_for
from spinney.ensembles.estimator import Learner
from spinney.ensembles.failing_fits import telling_where
from spinney.ensembles.side_by_side import done_in_order
from spinney.ensembles.uncertain.rows import GivenRows
from spinney.errors import InvalidInput
from spinney.model.answers import check_rows
from spinney.progress import follow
from spinney.randomness import Stream, random_bits
from spinney.typing import AnyArray, FloatArray

_JUMP = 1 << 20
"""Seeds of members stand this far from those of rows."""


def fit_members(
    estimator: Any, rows: GivenRows, parts: Sequence[AnyArray], seed: int, n_jobs: int | None
) -> list[Any]:
    """Fit a clone on each part of the rows.

    Clones draw from seeds of their own where the estimator has none: what a user has set stays.
    Those of ours use all threads one after another; others are fitted side by side.
    """
    if rows.weights is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise InvalidInput(
            f"{type(estimator).__name__} takes no sample_weight, so rows cannot be weighted. Give "
            "an estimator that does, or repeat rows in place of weights."
        )
    members = [_seeded(estimator, seed, number) for number in range(len(parts))]
    tasks = [
        (member, rows, part, f"the rows that fold {number} of cv learns from")
        for number, (member, part) in enumerate(zip(members, parts, strict=True))
    ]
    if isinstance(estimator, Learner):
        fits: Iterable[Any] = (_fit(*task) for task in tasks)
    else:
        fits = done_in_order(_fit, tasks, n_jobs)
    return list(follow(fits, len(parts), "fit"))


def _fit(member: Any, rows: GivenRows, part: AnyArray, where: str) -> Any:
    given: dict[str, Any] = keys_for(member, rows.keys_of(part))
    weights = rows.weights_of(part)
    if weights is not None:
        given["sample_weight"] = weights
    with telling_where(member, rows.y[part], where):
        return member.fit(rows.table(part), rows.y[part], **given)


def _seeded(estimator: Any, seed: int, number: int) -> Any:
    """Clone an estimator, and seed what in it would draw from nowhere."""
    member = clone(estimator)
    parameters = member.get_params(deep=True)
    names = sorted(
        name
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    bits = random_bits(seed, Stream.FEATURES, _JUMP + number)
    draws = np.random.default_rng(bits).integers(2**31 - 1, size=len(names))
    if names:
        member.set_params(**{name: int(draw) for name, draw in zip(names, draws, strict=True)})
    return member


def numbers_said(member: Any, X: Any) -> FloatArray:
    """Ask a fitted regressor; (n_rows,) finite numbers."""
    said = np.asarray(member.predict(X), np.float64)
    check_rows(member, said, X)
    if said.ndim == 2 and said.shape[1] == 1:
        said = said[:, 0]
    if said.ndim != 1 or not np.isfinite(said).all():
        raise InvalidInput(
            f"{type(member).__name__}.predict gave an array of shape {said.shape} with "
            f"{np.count_nonzero(~np.isfinite(said))} numbers that are not finite; expected one "
            "finite number per row."
        )
    return said


def has_probabilities(member: Any) -> bool:
    """Tell whether a classifier says probabilities."""
    return callable(getattr(member, "predict_proba", None))


def shares_said(member: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Ask a fitted classifier for probabilities; those of classes it has not met are 0."""
    if not has_probabilities(member):
        raise InvalidInput(
            f"{type(member).__name__} has no predict_proba, and sets are made of probabilities. "
            "Give a classifier that has, or put a CalibratedClassifier around it."
        )
    said = np.asarray(member.predict_proba(X), np.float64)
    check_rows(member, said, X, "predict_proba")
    return _in_columns(member, said, classes, 0.0)


def decisions_said(member: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Ask a fitted classifier for raw scores; (n_rows, n_classes)."""
    if not callable(getattr(member, "decision_function", None)):
        raise InvalidInput(
            f"{type(member).__name__} has neither predict_proba nor decision_function, so there is "
            "nothing to calibrate. Give a classifier that says more than labels."
        )
    said = np.asarray(member.decision_function(X), np.float64)
    check_rows(member, said, X, "decision_function")
    if said.ndim == 1:
        said = np.column_stack([-said, said])
    return _in_columns(member, said, classes, float(said.min(initial=0.0)) - 1.0)


def _in_columns(member: Any, said: FloatArray, classes: AnyArray, absent: float) -> FloatArray:
    known = np.asarray(getattr(member, "classes_", classes))
    places = np.searchsorted(classes, known).clip(max=len(classes) - 1)
    fits = said.ndim == 2 and said.shape[1] == len(known) and (classes[places] == known).all()
    if not fits or not np.isfinite(said).all():
        raise InvalidInput(
            f"{type(member).__name__} gave an array of shape {said.shape} for the classes "
            f"{known[:10].tolist()}; expected a finite number for each row and each of these."
        )
    columns = np.full((len(said), len(classes)), absent)
    columns[:, places] = said
    return columns
