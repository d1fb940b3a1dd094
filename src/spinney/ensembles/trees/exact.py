"""Classes as numbers, for trees that boosters grow on sorted rows."""

import numpy as np

from spinney.errors import InvalidInput
from spinney.typing import FloatArray, IntArray


def check_criterion(criterion: str, n_classes: int) -> None:
    """Refuse a criterion that does not know so many classes."""
    if criterion == "exponential" and n_classes > 2:
        raise InvalidInput(
            f"criterion='exponential' takes two classes, but y has {n_classes}. Use 'gini' or "
            "'error'."
        )


def class_targets(codes: IntArray, n_classes: int) -> IntArray:
    """Give signs of two classes, which is the fast road, or a 1 among zeros; (n_rows, width)."""
    one_hot = np.eye(n_classes, dtype=np.int64)[codes]
    targets: IntArray = 2 * one_hot[:, 1:] - 1 if n_classes == 2 else one_hot
    return targets


def class_shares(values: FloatArray, n_classes: int) -> FloatArray:
    """Give shares of classes in the nodes, from those or from the mean sign of two classes."""
    if n_classes != 2:
        return values
    return np.hstack([1 - values, 1 + values]) / 2
