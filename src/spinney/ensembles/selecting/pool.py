"""A pool of classifiers: members of an ensemble, or a list of estimators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.selecting.members import (
    GivenRows,
    Member,
    check_takes_weights,
    check_task,
    fit_member,
    joint_classes,
    named_members,
    prepared,
    run_all,
    table_for_members,
)
from spinney.errors import InvalidInput, InvalidParameter, WeakLearnerFailed
from spinney.typing import AnyArray, TableLike


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Fitted classifiers that are asked for labels."""

    members: tuple[Any, ...]
    classes: AnyArray
    """Labels; what members say becomes a place among them."""
    said_by_code: AnyArray | None = None
    """Labels that members know as 0, 1, 2, …; None: they know them as they are."""
    features: tuple[AnyArray, ...] | None = None
    """Columns each member sees; None: all."""

    def answers(self, X: TableLike) -> AnyArray:
        """Ask everybody; (n_rows, n_members) places among the classes."""
        given = table_for_members(X)
        said = [self._codes(place, given) for place in range(len(self.members))]
        return np.stack(said, axis=1)

    def _codes(self, place: int, X: Any) -> AnyArray:
        member = self.members[place]
        if self.features is not None:
            X = _safe_indexing(X, self.features[place], axis=1)
        if hasattr(X, "columns") and not hasattr(member, "feature_names_in_"):
            X = np.asarray(X)  # it learnt from an array, and would wonder at names
        try:
            labels = np.asarray(member.predict(X))
        except InvalidInput:
            raise
        except Exception as error:
            raise WeakLearnerFailed(
                f"Member {place} of the pool ({type(member).__name__}) could not be asked: "
                f"{type(error).__name__}: {error}"
            ) from error
        if self.said_by_code is not None:
            labels = self.said_by_code[labels.astype(np.int64)]
        codes = np.searchsorted(self.classes, labels).clip(max=len(self.classes) - 1)
        odd = np.flatnonzero(self.classes[codes] != labels)
        if labels.ndim != 1 or len(odd):
            said = labels.shape if labels.ndim != 1 else labels[odd[:1]].tolist()[0]
            raise InvalidInput(
                f"Member {place} of the pool ({type(member).__name__}) answered {said!r}; expected "
                f"one of the classes {self.classes[:10].tolist()} for each row."
            )
        return codes.astype(np.int32)


def fitted_pool(given: Any, rows: GivenRows, classes: AnyArray, *, seed: int, n_jobs: Any) -> Pool:
    """Fit an ensemble, or every estimator of a list, and take the members."""
    members = _members(given)
    if rows.weights is not None:
        check_takes_weights(members, "the pool")
    tasks = [(prepared(m, seed, number, n_jobs), rows) for number, m in enumerate(members)]
    fitted = run_all(fit_member, tasks, n_jobs)
    return _pool(given if _is_list(given) else fitted[0], fitted, classes)


def prefit_pool(given: Any, classes: AnyArray) -> Pool:
    """Take the members of a fitted ensemble, or fitted estimators.

    The classes are those of the rows at hand and those that the pool has met.
    """
    members = _members(given)
    for member in members:
        try:
            check_is_fitted(member.estimator)
        except NotFittedError as error:
            raise InvalidParameter(
                f"prefit=True, but {member} of the pool is not fitted. Fit it, or set prefit=False."
            ) from error
    met = [np.asarray(getattr(one.estimator, "classes_", classes)) for one in members]
    return _pool(given, [member.estimator for member in members], joint_classes(met, classes))


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple)


def _members(given: Any) -> list[Member]:
    pairs = given if _is_list(given) else [("pool", given)]
    members = named_members(pairs, "the pool")
    check_task(members, "the pool", classes=True)
    return members


def _pool(given: Any, fitted: Sequence[Any], classes: AnyArray) -> Pool:
    if _is_list(given):
        return Pool(tuple(fitted), classes)
    parts = getattr(given, "estimators_", None)
    members = tuple(one for one in (() if parts is None else parts) if not isinstance(one, str))
    if not members or not all(hasattr(one, "classes_") for one in members):
        raise InvalidParameter(
            f"pool={given!r} has no classifiers for members once it is fitted (attribute "
            "estimators_). Give a forest, a bagging ensemble or a list of classifiers."
        )
    known = np.asarray(given.classes_)
    as_labels = all(np.isin(one.classes_, known).all() for one in members)
    seen = tuple(np.asarray(some) for some in getattr(given, "estimators_features_", ()))
    everything = np.arange(getattr(given, "n_features_in_", 0))
    is_whole = all(np.array_equal(some, everything) for some in seen)
    return Pool(members, classes, None if as_labels else known, None if is_whole else seen)
