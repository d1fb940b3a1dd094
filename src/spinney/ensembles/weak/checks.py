"""What may be a base learner, and what it may be asked to fit."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from spinney.ensembles.weak.base_trees import DEFAULT_DEPTH
from spinney.errors import InvalidInput, InvalidParameter
from spinney.typing import FloatArray

_LARGEST_MEAN = 1e300
"""A sum over a hundred million members still is a number."""
_SMALLEST, _LARGEST = 1e-120, 1e120


def gives_classes(estimator: Any) -> bool:
    """Tell whether a base learner is a classifier; None, a tree of ours, may be both."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return hasattr(estimator, "predict_proba")
    return bool(is_classifier(estimator))


def check_base(estimator: Any, owner: str, *, may_classify: bool) -> None:
    """Refuse what cannot be a base learner."""
    if estimator is None:
        return
    if isinstance(estimator, type) or not all(
        callable(getattr(estimator, name, None)) for name in ("fit", "predict", "get_params")
    ):
        raise InvalidParameter(
            f"estimator={estimator!r} of {owner}: expected None for a tree of depth "
            f"{DEFAULT_DEPTH}, or an estimator with fit, predict and get_params."
        )
    if gives_classes(estimator) and not may_classify:
        raise InvalidParameter(
            f"estimator={estimator!r} of {owner} is a classifier, but it is asked to fit numbers. "
            "Give a regressor."
        )


def check_squares(y: FloatArray, owner: str) -> None:
    """Refuse numbers whose squares, or sums of them, would leave the range of floats."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest == 0.0 or _SMALLEST <= largest <= _LARGEST:
        return
    raise InvalidInput(
        f"The largest magnitude in y is {largest!r}, and {owner} adds squares: expected one "
        f"between {_SMALLEST} and {_LARGEST}, or nothing but 0. Divide y by it, and multiply what "
        "is predicted."
    )


def check_means(y: FloatArray, owner: str) -> None:
    """Refuse numbers so large that the sum over members, of which a mean is made, is none."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest > _LARGEST_MEAN:
        raise InvalidInput(
            f"The largest magnitude in y is {largest!r}, and {owner} adds up what its members say: "
            f"expected one of at most {_LARGEST_MEAN}. Divide y by it, and multiply what is "
            "predicted."
        )
