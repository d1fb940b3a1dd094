"""The members of a committee: who they are, and how one is fitted and asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.estimator import Estimator
from spinney.ensembles.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from spinney.ensembles.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from spinney.ensembles.gradient.classifier import GradientBoostingClassifier
from spinney.ensembles.gradient.regressor import GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, shorten
from spinney.model.answers import check_rows
from spinney.typing import AnyArray, FloatArray

Members = Sequence[tuple[str, Any]]
"""Names and estimators."""
DROP = "drop"
"""Stands for a member that was left out."""
METHODS = ("predict_proba", "decision_function", "predict")
"""What members are asked, the first they have."""


def default_members(task: str) -> list[tuple[str, Any]]:
    """Give the members of a committee that was told none: three kinds that err differently."""
    if task == "classification":
        return [
            ("boosting", GradientBoostingClassifier(max_iter=100, random_state=0)),
            ("forest", RandomForestClassifier(random_state=0)),
            ("extra_trees", ExtraTreesClassifier(random_state=0)),
        ]
    return [
        ("boosting", GradientBoostingRegressor(max_iter=100, random_state=0)),
        ("forest", RandomForestRegressor(random_state=0)),
        ("extra_trees", ExtraTreesRegressor(random_state=0)),
    ]


def read_members(owner: Any, task: str, *, any_kind: bool = False) -> list[tuple[str, Any]]:
    """Check the members that an estimator was given; None stands for the default ones.

    ``any_kind``: a classifier may have regressors among its members.
    """
    given = owner.estimators
    if given is None:
        return default_members(task)
    if (
        not isinstance(given, list | tuple)
        or not given
        or not all(
            isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)
            for item in given
        )
    ):
        raise InvalidParameter(
            "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, "
            f"estimator) tuples. It is {shorten([given])[:200]}."
        )
    _check_names([name for name, _ in given], set(owner.get_params(deep=False)))
    present = [(name, member) for name, member in given if not is_dropped(member)]
    if not present:
        raise InvalidParameter(
            "All estimators are dropped. At least one is required to be an estimator."
        )
    for name, member in present:
        _check_kind(name, member, task, any_kind=any_kind)
    return [(name, member) for name, member in given]


def is_dropped(member: Any) -> bool:
    """Tell whether a member was left out."""
    return isinstance(member, str) and member == DROP


def present(members: Members) -> list[tuple[str, Any]]:
    """Give the members that were not left out."""
    return [(name, member) for name, member in members if not is_dropped(member)]


def _check_names(names: Sequence[str], parameters: set[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    taken = sorted(set(names) & parameters)
    nested = [name for name in names if "__" in name]
    for wrong, why in (
        (twice, "Names provided are not unique: {} more than once. Name each member its own way."),
        (taken, "Estimator names conflict with constructor arguments: {}. Choose other names."),
        (nested, "Estimator names must not contain __: got {}. Choose other names."),
    ):
        if wrong:
            raise InvalidParameter(why.format(shorten(wrong)))


def _check_kind(name: str, member: Any, task: str, *, any_kind: bool) -> None:
    if isinstance(member, type) or not hasattr(member, "fit"):
        raise InvalidParameter(
            f"{member!r}, the member {name!r}, is no member of a committee: expected an estimator "
            "with fit and predict, or 'drop'."
        )
    is_wanted, kind = (
        (is_classifier, "classifier") if task == "classification" else (is_regressor, "regressor")
    )
    if not any_kind and not is_wanted(member):
        raise InvalidParameter(
            f"The estimator {type(member).__name__} should be a {kind}. It is the member "
            f"{name!r}: give a {kind} in its place, or set it to 'drop'."
        )


def takes_shared_rows(member: Any) -> bool:
    """Tell whether a member can be fitted on rows of a shared table: it is ours to the core."""
    if getattr(type(member), "_combines", False):
        return True
    if not isinstance(member, Estimator) or not member._takes_shared_rows:  # noqa: SLF001 - ours
        return False
    return not any(hasattr(value, "fit") for value in member.get_params(deep=False).values())


def is_fitted(member: Any) -> bool:
    """Tell whether a member was fitted before."""
    try:
        check_is_fitted(member)
    except Exception:  # noqa: BLE001 - not fitted, or not of a kind that can tell
        return False
    return True


def fit_member(member: Any, X: Any, y: AnyArray, parameters: Mapping[str, Any]) -> Any:
    """Fit a member; one that takes no weights is refused if there are some."""
    try:
        member.fit(X, y, **parameters)
    except TypeError as error:
        if "unexpected keyword argument 'sample_weight'" not in str(error):
            raise
        raise InvalidInputType(
            f"Underlying estimator {type(member).__name__} does not support sample weights. Fit "
            "without sample_weight, or give another member."
        ) from error
    return member


def method_of(name: str, member: Any, wanted: str) -> str:
    """Choose what a member is asked; ``wanted`` is a method, or "auto" for the first there is."""
    options = METHODS if wanted == "auto" else (wanted,)
    for option in options:
        if hasattr(member, option):
            return option
    raise InvalidParameter(
        f"Underlying estimator {name} does not implement the method "
        f"{wanted if wanted != 'auto' else list(METHODS)}: it is a {type(member).__name__}. Give "
        "another member, or another stack_method."
    )


def heard(member: Any, method: str, X: Any) -> AnyArray:
    """Ask a fitted member that votes: for one answer to each row, or for shares of classes."""
    said = np.asarray(getattr(member, method)(X))
    check_said(member, method, said, X)
    if method == "predict" and said.ndim > 1:
        if said.size != len(said):
            raise InvalidInput(
                f"{type(member).__name__}.predict gave an array of shape {said.shape}; expected "
                "one answer for each row. Correct the member, or leave it out."
            )
        said = said.reshape(-1)
    return said


def check_said(member: Any, method: str, said: AnyArray, X: Any) -> None:
    """Refuse what is not an answer for each row, and numbers that are not finite."""
    check_rows(member, said, X, method)
    if said.dtype.kind == "f" and not np.isfinite(said).all():
        odd = np.flatnonzero(~np.isfinite(said.reshape(len(said), -1)).all(axis=1))
        raise InvalidInput(
            f"{type(member).__name__}.{method} gave {said[odd[0]].tolist()} for row {odd[0]}, and "
            f"something that is not finite for {len(odd)} of {len(said)} rows; expected finite "
            "numbers. Correct the member, or leave it out."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """How answers of members become columns of numbers."""

    classes: AnyArray | None
    """What members call the classes; None: numbers, or several labels per row."""

    def columns(self, member: Any, method: str, X: Any) -> FloatArray:
        """Ask a fitted member; (n_rows, n_columns), without the first of two classes' shares."""
        said = getattr(member, method)(X)
        if isinstance(said, list):  # several labels: shares of each label's classes
            return np.hstack([np.asarray(one, np.float64)[:, 1:] for one in said])
        said = np.asarray(said)
        check_said(member, method, said, X)
        if self.classes is None:
            return _as_columns(said.astype(np.float64))
        if method == "predict_proba":
            shares = self.shares(member, said)
            return shares[:, 1:] if len(self.classes) == 2 else shares
        if method == "predict":
            return _as_columns(self._codes(said))
        self._check_known(member, method)
        return _as_columns(said.astype(np.float64))

    def shares(self, member: Any, said: AnyArray) -> FloatArray:
        """Put shares in the order of all classes; a class that a member never saw gets 0."""
        classes = np.asarray(self.classes)
        known = np.asarray(getattr(member, "classes_", classes))
        if said.ndim != 2 or said.shape[1] != len(known):
            raise InvalidInput(
                f"{type(member).__name__}.predict_proba gave an array of the shape {said.shape} "
                f"for {len(known)} classes; expected a column for each. Correct the member, or "
                "leave it out."
            )
        if np.array_equal(known, classes):
            return np.asarray(said, np.float64)
        places = np.searchsorted(classes, known).clip(max=len(classes) - 1)
        if not (classes[places] == known).all():
            raise InvalidInput(
                f"{type(member).__name__} knows the classes {shorten(known.tolist())}, and the "
                f"committee {shorten(classes.tolist())}. Members must have been fitted on the same "
                "classes."
            )
        shares = np.zeros((len(said), len(classes)))
        shares[:, places] = said
        return shares

    def _codes(self, said: AnyArray) -> AnyArray:
        """Give numbers for what was predicted: as they are, or the places of labels."""
        if said.dtype.kind in "biuf":
            return said.astype(np.float64)
        classes = np.asarray(self.classes)
        return np.searchsorted(classes, said).astype(np.float64)

    def _check_known(self, member: Any, method: str) -> None:
        if self.classes is None:
            return
        known: AnyArray = getattr(member, "classes_", self.classes)
        if len(known) != len(self.classes):
            raise InvalidInput(
                f"{type(member).__name__} was fitted on rows of {len(known)} of "
                f"{len(self.classes)} classes, and {method} says nothing of the others. Divide the "
                "rows so that every part has all classes, or set stack_method='predict_proba'."
            )


def _as_columns(said: AnyArray) -> FloatArray:
    columns: FloatArray = said.reshape(len(said), -1)
    return columns
