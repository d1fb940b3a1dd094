"""The final estimator of a stack in a file: weights, a linear model, or one of ours."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from spinney.ensembles.combining.linear_pool import PoolClassifier, PoolRegressor
from spinney.ensembles.estimator import Estimator
from spinney.errors import CannotSave, InvalidModel
from spinney.io.parameters import LINEAR, is_linear
from spinney.model.model import State
from spinney.typing import AnyArray


def final_state(final: Any) -> tuple[list[Any], State]:
    """Take a fitted final estimator apart: a part of the file if it is ours, else numbers."""
    if isinstance(final, PoolClassifier | PoolRegressor):
        return [], ({"final": "weights"}, {"final/weights": final.weights_})
    if is_linear(final):
        arrays = {
            "final/coef": np.atleast_2d(np.asarray(final.coef_, np.float64)),
            "final/intercept": np.atleast_1d(np.asarray(final.intercept_, np.float64)),
        }
        if is_classifier(final):
            arrays["final/classes"] = np.asarray(final.classes_, np.int64)
        return [], ({"final": "linear"}, arrays)
    if isinstance(final, Estimator):
        return [final], ({"final": "estimator"}, {})
    raise CannotSave(
        f"The final estimator is a {type(final).__name__}, which has no safe form in a file. Use "
        "one of Spinney's, a linear one of scikit-learn's "
        f"({', '.join(LINEAR)}), or keep the whole with pickle or joblib."
    )


def final_from_state(
    made: Any, parts: list[Any], form: Any, arrays: Mapping[str, AnyArray], shape: tuple[int, int]
) -> Any:
    """Give the fitted final estimator back, believing nothing.

    Parameters
    ----------
    made : as the stack's parameters say, not fitted
    parts : fitted estimators of the file that are no members
    form : what ``final_state`` called it
    arrays : those under ``final/``
    shape : columns it takes; classes of the stack, 0: numbers
    """
    if form == "estimator" and len(parts) == 1 and not arrays:
        return _estimator(made, parts[0], shape)
    is_pool = isinstance(made, PoolClassifier | PoolRegressor)
    if parts or (form, is_pool) not in (("weights", True), ("linear", False)):
        raise InvalidModel("the final estimator of the stack is not the one its parameters name")
    return _pool(made, arrays, shape) if is_pool else _linear(made, arrays, shape)


def _estimator(made: Any, final: Any, shape: tuple[int, int]) -> Any:
    n_columns, n_classes = shape
    if type(final) is not type(made) or final.n_features_in_ != n_columns:
        raise InvalidModel(
            f"the final estimator is no {type(made).__name__} of {n_columns} columns"
        )
    if n_classes:
        check_codes(final, n_classes)
    return final


def _pool(made: Any, arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> Any:
    n_columns, n_classes = shape
    n_members = n_columns // n_classes if n_classes > 2 else n_columns
    weights = _numbers(arrays, {"weights"}, "weights", (n_members,))
    if weights.min() < 0:
        raise InvalidModel("a weight of a member is negative")
    made.weights_ = weights
    if n_classes:
        made.classes_ = np.arange(n_classes)
    return made


def _linear(made: Any, arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> Any:
    n_columns, n_classes = shape
    if not is_linear(made):
        raise InvalidModel(f"the final estimator is a {type(made).__name__}, which is not linear")
    names, n_rows = {"coef", "intercept"}, 1
    if n_classes:
        names.add("classes")
        known = arrays.get("classes", np.empty(0))
        made.classes_ = np.array(known)
        if known.dtype != "<i8" or known.ndim != 1 or len(known) < 2:
            raise InvalidModel("the final estimator knows fewer than two classes")
        check_codes(made, n_classes)
        n_rows = len(known) if len(known) > 2 else 1
    coef = _numbers(arrays, names, "coef", (n_rows, n_columns))
    intercept = _numbers(arrays, names, "intercept", (n_rows,))
    made.coef_ = np.asfortranarray(coef) if n_classes else coef[0]  # as scikit-learn has them
    made.intercept_ = intercept if n_classes else intercept[0]
    made.n_features_in_ = n_columns
    return made


def _numbers(
    arrays: Mapping[str, AnyArray], names: set[str], name: str, shape: tuple[int, ...]
) -> AnyArray:
    if set(arrays) != names:
        odd = sorted(set(arrays) ^ names)
        raise InvalidModel(f"parts of the final estimator are missing or unknown: {odd[:5]}")
    found = arrays[name]
    if found.dtype != "<f8" or found.shape != shape or not np.isfinite(found).all():
        raise InvalidModel(f"{name} of the final estimator are not {shape} finite numbers")
    return np.array(found)


def check_codes(member: Any, n_classes: int) -> None:
    """Refuse a classifier that says something else than codes of so many classes."""
    known = np.asarray(getattr(member, "classes_", ()))
    if not is_classifier(member) or known.dtype.kind not in "iu" or not len(known):
        raise InvalidModel(f"a {type(member).__name__} of the committee does not tell codes")
    if known.min() < 0 or known.max() >= n_classes or (np.diff(known.astype(float)) <= 0).any():
        raise InvalidModel(f"a member tells other codes than those of {n_classes} classes")
