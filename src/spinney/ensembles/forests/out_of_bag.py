"""What members say of the rows they did not see."""

import numpy as np

from spinney.data.binning import native_columns
from spinney.data.fixed_point import exact_sum
from spinney.data.table import Table
from spinney.data.target import Target
from spinney.ensembles.fitting import Reading
from spinney.ensembles.forests.growing import CELLS_AT_ONCE, portions
from spinney.ensembles.trees.growing import far_exponents
from spinney.model import TreeForest
from spinney.resampling.bags import Bags
from spinney.typing import AnyArray, FloatArray

RELATIVE_GAIN, ABSOLUTE_GAIN = 0.01, 1e-4
"""Shares of the loss, and of the loss of the best constant, that more trees must promise."""


class Tally:
    """Means over the members that did not see a row, one after the other, and how good they are."""

    def __init__(self, y: FloatArray, target: Target, row_weights: FloatArray | None) -> None:
        """Take codes of classes (n_rows,), or numbers (n_rows, n_outputs)."""
        self._codes = None if target.classes is None else y.astype(np.int64)
        self._spans = target.spans()
        """The outputs of each label, where rows have several: a row is right if all of them are."""
        self._counts_errors = self._codes is not None or bool(self._spans)
        n_rows, width = len(y), target.n_outputs
        self._exponents = far_exponents(y)
        """Power of two that each output is divided by, so that its squares are numbers."""
        if self._codes is None:
            self._y: FloatArray = self._scaled(y, -self._exponents)
        else:
            self._y = np.zeros((n_rows, width))
            self._y[np.arange(n_rows), self._codes] = 1.0
        self._weights = row_weights
        self._sums = np.zeros((n_rows, width))
        self._squares = np.zeros(n_rows)
        self.asked = np.zeros(n_rows, np.int64)
        """How many members did not see each row."""
        self._losses = np.zeros((n_rows, 1 if self._counts_errors else width))
        """Of each row: 0 or 1 for classes, squared errors for numbers."""
        self.curve: list[float] = []
        """The score after each member: accuracy or R², of rows that some member did not see."""

    @staticmethod
    def _scaled(numbers: FloatArray, exponents: AnyArray) -> FloatArray:
        return np.ldexp(numbers, exponents) if exponents.any() else numbers

    def take(self, rows: AnyArray, values: FloatArray) -> None:
        """Hear what the next member says of the rows that it did not see; (n_rows, n_outputs)."""
        values = self._scaled(values, -self._exponents)
        self.asked[rows] += 1
        sums = self._sums[rows] + values
        self._sums[rows] = sums
        self._squares[rows] += (values**2).sum(axis=1)
        if self._codes is not None:
            self._losses[rows, 0] = sums.argmax(axis=1) != self._codes[rows]
        elif self._spans:
            pairs = [(sums[:, span], self._y[rows, span]) for span in self._spans]
            wrong = [said.argmax(axis=1) != right.argmax(axis=1) for said, right in pairs]
            self._losses[rows, 0] = np.any(wrong, axis=0)
        else:
            means = sums / self.asked[rows, np.newaxis]
            self._losses[rows] = (means - self._y[rows]) ** 2
        self.curve.append(self._score())

    def _score(self) -> float:
        known = self.asked > 0
        everywhere = bool(known.all())
        losses = self._losses if everywhere else self._losses[known]
        if not len(losses):
            return float("nan")
        weights = self._weights
        if weights is not None and not everywhere:
            weights = weights[known]
        if self._counts_errors:
            return 1.0 - float(np.average(losses[:, 0], weights=weights))
        y = self._y if everywhere else self._y[known]
        deviations = (y - np.average(y, axis=0, weights=weights)) ** 2
        return _mean_r2(
            np.average(losses, axis=0, weights=weights),
            np.average(deviations, axis=0, weights=weights),
        )

    def answers(self) -> FloatArray:
        """Give the mean answer for each row; NaN where every member saw it."""
        with np.errstate(invalid="ignore"):
            means: FloatArray = self._sums / self.asked[:, np.newaxis]
        return self._scaled(means, self._exponents)

    def is_flat(self) -> bool:
        """Tell whether more trees would hardly lower the loss.

        The squared loss of a mean of T trees is that of infinitely many plus V / T, with V the
        variance between trees; out of bag V and the loss are means over rows, each with its own
        T. The curve counts as flat when V / T is at most 1 % of the loss, or 0.01 % of that of the
        best constant. Sums are exact, so that no machine stops elsewhere. Where every member sees
        every row, as with a single row or group, there is no curve that more trees could lower.
        """
        known = self.asked > 1
        if not known.any():
            return True
        n = self.asked[known].astype(float)
        sums, squares = self._sums[known], self._squares[known]
        variances = np.maximum(squares - (sums**2).sum(axis=1) / n, 0.0) / (n - 1)
        errors = ((sums / n[:, np.newaxis] - self._y[known]) ** 2).sum(axis=1)
        weights = np.ones(len(n)) if self._weights is None else self._weights[known]
        total = exact_sum(weights, np.ones(len(n)))
        means = np.array([exact_sum(weights, output) for output in self._y[known].T]) / total
        constant = exact_sum(weights, ((self._y[known] - means) ** 2).sum(axis=1))
        gain, loss = exact_sum(weights, variances / n), exact_sum(weights, errors)
        return gain <= max(RELATIVE_GAIN * loss, ABSOLUTE_GAIN * constant)


class MedianTally(Tally):
    """The same for the median of one number per member, the lower one of two."""

    def __init__(self, y: FloatArray, target: Target, row_weights: FloatArray | None) -> None:
        super().__init__(y, target, row_weights)
        self._answers: list[FloatArray] = []
        self._medians = np.full((len(y), 1), np.nan)

    def take(self, rows: AnyArray, values: FloatArray) -> None:
        """Hear what the next member says of the rows that it did not see; (n_rows, 1)."""
        answers = np.full(len(self._y), np.nan)
        answers[rows] = self._scaled(values[:, 0], -self._exponents)
        self._answers.append(answers)
        self.asked[rows] += 1
        given = np.sort(np.stack([heard[rows] for heard in self._answers], axis=1), axis=1)
        middle = (self.asked[rows] - 1) // 2  # what is not known is sorted behind
        self._medians[rows, 0] = given[np.arange(len(rows)), middle]
        self._losses[rows] = (self._medians[rows] - self._y[rows]) ** 2
        self.curve.append(self._score())

    def answers(self) -> FloatArray:
        """Give the median answer for each row; NaN where every member saw it."""
        return self._scaled(self._medians, self._exponents)


class OutOfBag(Tally):
    """What the trees of a forest say of the rows out of their bags."""

    def __init__(self, reading: Reading, row_weights: FloatArray | None) -> None:
        super().__init__(reading.y, reading.target, row_weights)
        self._table = reading.table

    def add(self, forest: TreeForest, bags: Bags, first: int, n_threads: int) -> None:
        """Ask more trees: those of a forest, the first of which has this number."""
        hear_trees(self, self._table, (forest, bags, first), n_threads)


def hear_trees(
    tally: Tally, table: Table, asked: tuple[TreeForest, Bags, int], n_threads: int
) -> None:
    """Let trees speak of the rows they did not see: those of a forest, from some number on."""
    forest, bags, first = asked
    at_once = max(1, CELLS_AT_ONCE // max(1, bags.n_rows))
    columns = native_columns(table)
    for some in portions(range(len(forest)), at_once):
        part = forest if len(some) == len(forest) else forest[some.start : some.stop]
        leaves = np.ascontiguousarray(np.asarray(part.native.leaf_ids(columns, n_threads)).T)
        counts = bags.counts(range(first + some.start, first + some.stop))
        starts = part.arrays["tree_start"]
        for place in range(len(some)):
            rows = np.flatnonzero(counts[place] == 0)
            nodes = starts[place] + leaves[place, rows]
            tally.take(rows, part.arrays["values"][nodes])


def _mean_r2(losses: FloatArray, deviations: FloatArray) -> float:
    """Average R² over outputs, as scikit-learn does: 1 or 0 for an output that is constant."""
    varies = deviations > 0
    scores = np.where(losses == 0, 1.0, 0.0)
    scores[varies] = 1.0 - losses[varies] / deviations[varies]
    return float(scores.mean())
