"""What the target is like at each level of a category, told to each row by rows before it only.

The mean target of a level, with the row's own target in it, tells trees that target. So rows are
put in a pseudo-random order, and a training row is told the mean of the rows of its level that
stand before it, drawn towards the mean of all. Whoever did not train is told the mean of all rows
of the level that did (Prokhorenkova and others, CatBoost: unbiased boosting with categorical
features, 2018).

Sums are integers, so that the numbers are the same on every machine.
"""

from dataclasses import dataclass

import numpy as np

from spinney.data.fixed_point import fixed_products, fixed_weights
from spinney.randomness import RowBits, Stream, random_bits
from spinney.typing import AnyArray, FloatArray, IntArray

PRIOR_ROWS = 3.0
"""Rows of the mean of all targets that every level has beside its own."""


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
    prior: FloatArray
    """(n_targets,), the mean target of all rows."""

    @classmethod
    def of(cls, targets: FloatArray, weights: FloatArray | None, *, seed: int) -> "TargetSums":
        """Put rows in the order of the seed; ``targets`` are (n_rows, n_targets)."""
        ones = np.ones(len(targets)) if weights is None else weights
        integers, weight_exponent = fixed_weights(ones, bits=62)
        products, product_exponent = fixed_products(ones, targets)
        own_seed = random_bits(seed, Stream.CATEGORIES, 0)
        bits = RowBits(len(targets))(own_seed, Stream.CATEGORIES, range(len(targets)))
        total = _scaled(integers.sum(keepdims=True), weight_exponent)
        prior = _scaled(products.sum(axis=0), product_exponent) / total
        order = np.argsort(bits, kind="stable")
        return cls(integers, products, weight_exponent, product_exponent, order, prior)

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
        """Tell each row of the rows of its level before it; (n_rows, n_targets)."""
        told = np.empty(self.of.products.shape)
        told[self.rows] = self._means(
            self.weights[:-1] - self.weights[self.first],
            self.products[:-1] - self.products[self.first],
        )
        return told

    def of_levels(self) -> FloatArray:
        """Tell of all rows of each level; (n_levels, n_targets). Levels without rows: the prior."""
        return self._means(self._totals(self.weights), self._totals(self.products))

    def counts(self) -> FloatArray:
        """Weigh the rows of each level; (n_levels,)."""
        return _scaled(self._totals(self.weights), self.of.weight_exponent)

    def _totals(self, sums: IntArray) -> IntArray:
        return np.diff(sums[self.starts], axis=0)

    def _means(self, weights: IntArray, products: IntArray) -> FloatArray:
        rows = _scaled(weights, self.of.weight_exponent)[:, np.newaxis]
        sums = _scaled(products, self.of.product_exponent)
        means: FloatArray = (sums + PRIOR_ROWS * self.of.prior) / (rows + PRIOR_ROWS)
        return means


def _running(numbers: IntArray) -> IntArray:
    """Add up before each row, and over all."""
    sums = np.zeros((len(numbers) + 1, *numbers.shape[1:]), np.int64)
    np.cumsum(numbers, axis=0, out=sums[1:])
    return sums


def _scaled(integers: IntArray, exponent: int) -> FloatArray:
    return np.asarray(np.ldexp(integers.astype(np.float64), exponent))
