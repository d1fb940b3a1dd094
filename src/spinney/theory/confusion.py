"""Which classes are taken for which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.theory.checks import row_counts
from spinney.theory.votes import label_codes
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Confusion(Result):
    """How often rows of each class are said to be of each.

    Examples
    --------
    >>> print(confusion(["ash", "ash", "fir"], ["ash", "fir", "fir"]))
    3 rows of 2 classes: 66.67% right
    true  predicted  weight  share
    ash   ash             1    0.5
    ash   fir             1    0.5
    fir   ash             0      0
    fir   fir             1      1
    """

    classes: AnyArray
    weights: FloatArray
    """(n_classes, n_classes): weight of rows by their class (first axis) and by what is said."""

    @property
    def shares(self) -> FloatArray:
        """Give each line divided by its sum; NaN for classes that no row has."""
        totals = self.weights.sum(axis=1, keepdims=True)
        none = np.full_like(self.weights, np.nan)
        shares: FloatArray = np.divide(self.weights, totals, out=none, where=totals > 0.0)
        return shares

    @property
    def accuracy(self) -> float:
        """Share of rows that are right."""
        return float(np.trace(self.weights) / self.weights.sum())

    @property
    def recall(self) -> FloatArray:
        """Of each class the share that is found; NaN for classes that no row has."""
        return self.shares.diagonal()

    @property
    def precision(self) -> FloatArray:
        """Of what is said to be of each class the share that is; NaN for classes never said."""
        totals = self.weights.sum(axis=0)
        none = np.full(len(totals), np.nan)
        own = self.weights.diagonal()
        shares: FloatArray = np.divide(own, totals, out=none, where=totals > 0.0)
        return shares

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give a line for each pair of classes."""
        n_classes = len(self.classes)
        return {
            "true": np.repeat(self.classes, n_classes).tolist(),
            "predicted": np.tile(self.classes, n_classes).tolist(),
            "weight": self.weights.ravel().tolist(),
            "share": self.shares.ravel().tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"{self.weights.sum():g} rows of {len(self.classes)} classes: {self.accuracy:.2%} right"
        )


def confusion(y: Any, predicted: Any, *, sample_weight: Any = None) -> Confusion:
    """Count what is said of the rows of each class.

    Parameters
    ----------
    y : n labels
    predicted : n labels
        What ``predict`` says.
    sample_weight : n numbers, optional
        How often each row counts.

    Returns
    -------
    Confusion
        Of all classes in ``y`` or ``predicted``, in order.

    Examples
    --------
    >>> confusion([0, 0, 1], [0, 1, 1]).weights
    array([[1., 1.],
           [0., 1.]])
    """
    shape = np.shape(y)
    if len(shape) != 1 or shape != np.shape(predicted) or not shape[0]:
        raise InvalidInput(
            f"y has the shape {shape} and predicted {np.shape(predicted)}: expected one label in "
            "each of them for every row, and at least one row."
        )
    classes, (right, said) = label_codes(y=y, predicted=predicted)
    n_classes = len(classes)
    counts = row_counts(sample_weight, len(right))
    sums = np.bincount(right * n_classes + said, counts, n_classes**2)
    weights = sums.reshape(n_classes, n_classes).astype(np.float64)
    return Confusion(read_only(classes), read_only(weights))
