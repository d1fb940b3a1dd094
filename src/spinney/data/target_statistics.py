"""What the target is like at each level of a category, told to each row by rows before it only.

The mean target of a level, with the row's own target in it, tells trees that target. So rows are
put in a pseudo-random order, and a training row is told the mean of the rows of its level that
stand before it, drawn towards the mean of all. Whoever did not train is told the mean of all rows
of the level that did (Prokhorenkova and others, CatBoost: unbiased boosting with categorical
features, 2018).

A mean does not say how many rows it is of, and few rows are worth less. So there are three of
each level: with one row more, of the mean of all targets, of less and of more. Where few rows
speak they lie apart.

Sums are integers, so that the numbers are the same on every machine.
"""

from dataclasses import dataclass, replace

import numpy as np

from spinney.data.fixed_point import fixed_products, fixed_weights
from spinney.randomness import RowBits, Stream, random_bits
from spinney.typing import AnyArray, FloatArray, IntArray

PRIOR_ROWS = 1.0
"""Rows that every level has beside its own."""
PRIORS = (0.0, -1.0, 1.0)
"""Their target, by statistic: so many standard deviations from the mean of all targets."""
GROUPS = 24
"""Equal shares of the rows, each with one value of a statistic. Cuts between finer ones would
tell first rows of a level from later ones, and at predict there are no first ones."""
HALVES = 4
"""How often the outermost shares are halved, for levels unlike all others."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetSums:
    """The weights and weighted targets of training rows as integers, and their order."""

    weights: IntArray
    """(n_rows,)"""
    products: IntArray
    """(n_rows, n_targets)"""
    weight_exponent: int
    product_exponent: int
    order: IntArray
    """The rows, the first one first."""
    mean: FloatArray
    """(n_targets,), of the targets of all rows."""
    deviation: FloatArray
    """(n_targets,), how far targets are from their mean: the root of the mean square."""

    @classmethod
    def of(cls, targets: FloatArray, weights: FloatArray | None, *, seed: int) -> "TargetSums":
        """Put rows in the order of the seed; ``targets`` are (n_rows, n_targets)."""
        ones = np.ones(len(targets)) if weights is None else weights
        integers, weight_exponent = fixed_weights(ones, bits=62)
        products, product_exponent = fixed_products(ones, targets)
        total = _scaled(integers.sum(keepdims=True), weight_exponent)
        mean = _scaled(products.sum(axis=0), product_exponent) / total
        deviation = _deviation(targets - mean, ones, total)
        order = _order(len(targets), seed, 0)
        exponents = (weight_exponent, product_exponent)
        return cls(integers, products, *exponents, order, mean, deviation)

    def in_order(self, seed: int, number: int) -> "TargetSums":
        """Put the same rows in another order of the seed; the first one has the number 0."""
        return replace(self, order=_order(len(self.order), seed, number))

    def at(self, codes: AnyArray, n_levels: int) -> "LevelSums":
        """Add up by level; ``codes`` are the levels of the rows."""
        rows = self.order[np.argsort(codes[self.order], kind="stable")]
        starts = np.zeros(n_levels + 1, np.int64)
        np.cumsum(np.bincount(codes, minlength=n_levels), out=starts[1:])
        weights, products = (_running(part[rows]) for part in (self.weights, self.products))
        return LevelSums(self, rows, starts, starts[codes[rows]], weights, products)


@dataclass(frozen=True, slots=True, eq=False)
class LevelSums:
    """Running sums over the rows of one level after the other, in their order within each."""

    of: TargetSums
    rows: IntArray
    """The rows, level by level."""
    starts: IntArray
    """(n_levels + 1,), where the rows of each level begin among them."""
    first: IntArray
    """(n_rows,), where those of the level of each row begin."""
    weights: IntArray
    """(n_rows + 1,), the sum before each row, and of all."""
    products: IntArray

    def before(self) -> FloatArray:
        """Tell each row of the rows of its level before it; (n_rows, n_statistics)."""
        means = self._means(
            self.weights[:-1] - self.weights[self.first],
            self.products[:-1] - self.products[self.first],
        )
        told = np.empty_like(means)
        told[self.rows] = means
        return told

    def of_levels(self) -> FloatArray:
        """Tell of all rows of each level; (n_levels, n_statistics)."""
        return self._means(self._totals(self.weights), self._totals(self.products))

    def of_nothing(self) -> FloatArray:
        """Tell of a level without rows; (n_statistics,)."""
        none = np.zeros_like(self.products[:1])
        means: FloatArray = self._means(none[:, 0], none)[0]
        return means

    def counts(self) -> FloatArray:
        """Weigh the rows of each level; (n_levels,)."""
        return _scaled(self._totals(self.weights), self.of.weight_exponent)

    def _totals(self, sums: IntArray) -> IntArray:
        return np.diff(sums[self.starts], axis=0)

    def _means(self, weights: IntArray, products: IntArray) -> FloatArray:
        """Give means of rows and of one more; first those of all targets with the first prior."""
        of = self.of
        rows = _scaled(weights, of.weight_exponent)[:, np.newaxis] + PRIOR_ROWS
        sums = _scaled(products, of.product_exponent)
        one_more = [PRIOR_ROWS * (of.mean + away * of.deviation) for away in PRIORS]
        return np.concatenate([(sums + prior) / rows for prior in one_more], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class StatisticGrid:
    """The values that the statistics of a feature are rounded to.

    They are those of levels, in equal shares of the weight of all rows and, for levels unlike all
    others, in ever smaller ones at both ends. A few targets that are far from the others do not
    take the differences between levels away, as they would if the steps of the grid were equal.
    """

    values: list[FloatArray]
    """Of each statistic, increasing."""

    @classmethod
    def of(cls, sums: LevelSums) -> "StatisticGrid":
        """Choose the values by what levels are told."""
        weights = np.diff(sums.weights[sums.starts])
        return cls([_spread_out(told, weights) for told in sums.of_levels().T])

    def rounded(self, statistics: FloatArray) -> FloatArray:
        """Give the nearest value of each; (n, n_statistics)."""
        columns = []
        for values, told in zip(self.values, statistics.T, strict=True):
            middles = values[:-1] / 2 + values[1:] / 2
            columns.append(values[np.searchsorted(middles, told)])
        return np.array(columns).T  # each statistic by itself, as columns of tables are read


def _spread_out(values: FloatArray, weights: IntArray) -> FloatArray:
    """Give values in the middle of equal shares of the weight, and of smaller ones at the ends."""
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    total = int(passed[-1])
    inside = [total * (2 * group + 1) // (2 * GROUPS) for group in range(GROUPS)]
    at_end = [inside[0] >> halved for halved in range(1, HALVES + 1)]
    places = np.array([*inside, *at_end, *(total - 1 - place for place in at_end)])
    return np.unique(values[order[np.searchsorted(passed, places, side="right")]])


def _deviation(distances: FloatArray, weights: FloatArray, total: FloatArray) -> FloatArray:
    """Give the root of the mean square of distances; (n_targets,)."""
    largest = np.abs(distances).max(axis=0, initial=0.0)
    shares = distances / np.where(largest > 0.0, largest, 1.0)  # squares of these are numbers
    squares, exponent = fixed_products(weights, shares * shares)
    return np.asarray(largest * np.sqrt(_scaled(squares.sum(axis=0), exponent) / total))


def _order(n_rows: int, seed: int, number: int) -> IntArray:
    own_seed = random_bits(seed, Stream.CATEGORIES, number)
    bits = RowBits(n_rows)(own_seed, Stream.CATEGORIES, range(n_rows))
    return np.argsort(bits, kind="stable")


def _running(numbers: IntArray) -> IntArray:
    """Add up before each row, and over all."""
    sums = np.zeros((len(numbers) + 1, *numbers.shape[1:]), np.int64)
    np.cumsum(numbers, axis=0, out=sums[1:])
    return sums


def _scaled(integers: IntArray, exponent: int) -> FloatArray:
    return np.asarray(np.ldexp(integers.astype(np.float64), exponent))
