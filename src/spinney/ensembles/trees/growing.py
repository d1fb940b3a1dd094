"""From what ``fit`` read to a grown tree."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.binning import FeatureBins
from spinney.ensembles.constraints import tree_directions
from spinney.ensembles.fitting import Reading
from spinney.ensembles.sharing import ranks_of
from spinney.ensembles.trees.limits import tree_settings
from spinney.ensembles.trees.several_labels import has_classes, label_codes, n_classes_of
from spinney.errors import InvalidInput
from spinney.model.forest import cut_tree
from spinney.model.tree import Tree
from spinney.resampling.bags import Bags
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray, IntArray

CLASS_CRITERIA: Mapping[str, str] = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "error": "error",
    "misclassification": "error",
    "twoing": "twoing",
    "dkm": "dkm",
    "exponential": "dkm",
    "hellinger": "hellinger",
    "gain_ratio": "gain_ratio",
}
"""Names of criteria for classes, and what the grower calls them."""
NUMBER_CRITERIA: Mapping[str, str] = {
    "squared_error": "squared",
    "friedman_mse": "squared",
    "absolute_error": "absolute",
    "poisson": "poisson",
}
"""Names of criteria for numbers, and what the grower calls them."""
_TWO_CLASSES = ("dkm", "exponential", "hellinger")
_FAR = 200
"""Exponents of two beyond which sums of squares may leave the range of floats."""
_LARGEST = 1e300
"""The sum over many nodes still is a number."""


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A tree before it is frozen, and what it was grown on."""

    tree: Tree
    features: tuple[FeatureBins, ...]


def grow_tree(reading: Reading, params: Mapping[str, Any], *, n_threads: int) -> Grown:
    """Grow one tree as an estimator's parameters say; values are shares of classes, or means."""
    check_criterion(reading, params["criterion"])
    rows = ranks_of(reading.table, reading.weights, params["max_bins"], n_threads)
    search = "random" if params["splitter"] == "random" else params["search"]
    scales = Scales.of(reading, params["criterion"])
    limits = scales.limits(tree_settings(params, reading))
    signs = tree_directions(params["monotonic_cst"], reading.schema, reading.target)
    settings = ForestSettings(tree=limits, search=search, directions=signs)
    arrays = _grown_arrays(rows, scales.near_one(reading), settings, params["criterion"])
    return Grown(cut_tree(scales.restored(arrays), 0), rows.features)


def _grown_arrays(
    rows: RankedTable, reading: Reading, settings: ForestSettings, criterion: str
) -> dict[str, AnyArray]:
    counts = None
    if has_classes(reading.target):
        counts = whole_counts(reading.weights)
    if counts is None:
        return rows.grow(tree_target(reading, criterion), settings, Bags(rows.n_rows), range(1))
    # Rows that count several times, not rows of some weight: the same sums, to the last bit, as
    # if each stood there so often.
    unweighted = replace(reading, weights=None)
    return rows.grow(tree_target(unweighted, criterion), settings, Counted(counts), range(1))


class Counted(Bags):
    """A single tree counts each row so often."""

    def __init__(self, counts: AnyArray) -> None:
        super().__init__(len(counts))
        self._counts = counts[np.newaxis]

    def given(self, trees: range) -> AnyArray:
        """Give the counts; (1, n_rows)."""
        return self._counts[: len(trees)]

    counts = given


def whole_counts(weights: FloatArray | None) -> AnyArray | None:
    """Give weights as whole numbers that fit 16 bits each; None where they do not."""
    if weights is None or weights.max() > 2**16 - 1 or weights.sum() >= 2.0**31:
        return None
    counts = weights.astype(np.uint32)
    return counts if np.array_equal(counts, weights) else None


@dataclass(frozen=True, slots=True)
class Scales:
    """Powers of two that bring weights and targets near 1, where squares of both are numbers."""

    weights: int = 0
    targets: int = 0
    power: int = 0
    """Of the targets, in what a split gains."""

    @classmethod
    def of(cls, reading: Reading, criterion: str) -> "Scales":
        """Find them; 0 for numbers that are near enough."""
        weights = 0 if reading.weights is None else far_exponent(reading.weights)
        if has_classes(reading.target):
            return cls(weights)
        power = 2 if NUMBER_CRITERIA[criterion] == "squared" else 1
        return cls(weights, far_exponent(reading.y), power)

    def near_one(self, reading: Reading) -> Reading:
        """Scale what was read."""
        if self.weights == self.targets == 0:
            return reading
        weights = reading.weights
        weights = None if weights is None else np.ldexp(weights, -self.weights)
        return replace(reading, y=np.ldexp(reading.y, -self.targets), weights=weights)

    def limits(self, settings: TreeSettings) -> TreeSettings:
        """Scale limits that are weights or gains."""
        gain = self.weights + self.power * self.targets
        return replace(
            settings,
            min_samples_split=_shifted(settings.min_samples_split, -self.weights),
            min_samples_leaf=_shifted(settings.min_samples_leaf, -self.weights),
            min_gain=_shifted(settings.min_gain, -gain),
        )

    def restored(self, arrays: dict[str, AnyArray]) -> dict[str, AnyArray]:
        """Scale a grown tree back; gains beyond all floats become large ones."""
        if self.weights == self.targets == 0:
            return arrays
        gain = self.weights + self.power * self.targets
        return arrays | {
            "weight": np.ldexp(arrays["weight"], self.weights),
            "values": np.ldexp(arrays["values"], self.targets),
            "gain": _shifted(arrays["gain"], gain),
        }


def far_exponent(numbers: FloatArray) -> int:
    """Give the power of two that the largest number is near to; 0 if its squares are no trouble.

    Examples
    --------
    >>> far_exponent(np.array([3.0])), far_exponent(np.array([3.0 * 2.0**500]))
    (0, 502)
    """
    exponent = math.frexp(float(np.abs(numbers).max(initial=0.0)))[1]
    return exponent if abs(exponent) > _FAR else 0


def far_exponents(numbers: FloatArray) -> IntArray:
    """Give ``far_exponent`` of each column: one may be far from where the others are."""
    columns = numbers.reshape(len(numbers), -1).T
    return np.array([far_exponent(column) for column in columns], np.int64)


def _shifted(numbers: Any, exponent: int) -> Any:
    """Give numbers times a power of two, none of them beyond the largest."""
    with np.errstate(over="ignore", under="ignore"):
        return np.minimum(np.ldexp(numbers, exponent), _LARGEST)


def tree_target(reading: Reading, criterion: str) -> TreeTarget:
    """Make whole numbers of what is to be learnt, for the grower of ranks."""
    weights = reading.weights
    if has_classes(reading.target):
        return class_target(reading, CLASS_CRITERIA[criterion])
    return number_target(reading.y, weights, NUMBER_CRITERIA[criterion])


def class_target(reading: Reading, criterion: str) -> TreeTarget:
    """Take the labels of rows, one or several; criterion: what the grower calls it."""
    codes, n_classes = label_codes(reading.y, reading.target), n_classes_of(reading.target)
    return TreeTarget.of_labels(codes, n_classes, reading.weights, criterion=criterion)


def number_target(
    y: FloatArray, weights: FloatArray | None, criterion: str, *, n_drawn: int = 0
) -> TreeTarget:
    """Make whole numbers of (n_rows, n_outputs) numbers; criterion: what the grower calls it."""
    if criterion == "absolute":
        return TreeTarget.of_medians(y, weights, n_drawn=n_drawn)
    return TreeTarget.of_numbers(y, weights, criterion=criterion, n_drawn=n_drawn)


def check_criterion(reading: Reading, criterion: str) -> None:
    """Refuse a target that the criterion cannot judge."""
    if criterion in _TWO_CLASSES:
        _check_two_classes(reading, criterion)
    if criterion == "poisson":
        _check_counts(reading)


def _check_two_classes(reading: Reading, criterion: str) -> None:
    counts = n_classes_of(reading.target)
    if max(counts) > 2:
        where = "y" if len(counts) == 1 else f"column {int(np.argmax(counts))} of y"
        raise InvalidInput(
            f"criterion={criterion!r} takes two classes, but {where} has {max(counts)}. Use "
            "'gini', 'entropy', 'twoing' or 'error'."
        )


def _check_counts(reading: Reading) -> None:
    if reading.y.min() < 0.0:
        row, column = np.argwhere(reading.y < 0.0)[0]
        given = row if reading.kept is None else reading.kept[row]
        place = f"row {given}" if reading.y.shape[1] == 1 else f"row {given}, column {column}"
        raise InvalidInput(
            "Some value(s) of y are negative which is not allowed for Poisson regression: the "
            f"first is {reading.y[row, column]:g}, in {place}. Give counts or rates, or use "
            "criterion='squared_error'."
        )
    if reading.y.max() <= 0.0:
        raise InvalidInput(
            "Sum of y is not strictly positive which is necessary for Poisson regression: the "
            "largest value of y is not positive, but the mean of a Poisson distribution is. Give "
            "a y that is not all zeros, or use criterion='squared_error'."
        )
