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

    def before(self, codes: AnyArray, n_levels: int) -> FloatArray:
        """Tell each row of the rows of its level before it; (n_rows, n_targets)."""
        by_level = self.order[np.argsort(codes[self.order], kind="stable")]
        weights, products = self.weights[by_level], self.products[by_level]
        counts = np.bincount(codes, minlength=n_levels)
        first = (np.cumsum(counts) - counts)[codes[by_level]]
        told = np.empty(self.products.shape)
        told[by_level] = self._means(
            _since(np.cumsum(weights) - weights, first),
            _since(np.cumsum(products, axis=0) - products, first),
        )
        return told

    def of_levels(self, codes: AnyArray, n_levels: int) -> FloatArray:
        """Tell of all rows of each level; (n_levels, n_targets). Levels without rows: the prior."""
        weights = np.zeros(n_levels, np.int64)
        np.add.at(weights, codes, self.weights)
        products = np.zeros((n_levels, self.products.shape[1]), np.int64)
        np.add.at(products, codes, self.products)
        return self._means(weights, products)

    def counts(self, codes: AnyArray, n_levels: int) -> FloatArray:
        """Weigh the rows of each level; (n_levels,)."""
        weights = np.zeros(n_levels, np.int64)
        np.add.at(weights, codes, self.weights)
        return _scaled(weights, self.weight_exponent)

    def _means(self, weights: IntArray, products: IntArray) -> FloatArray:
        rows = _scaled(weights, self.weight_exponent)[:, np.newaxis]
        sums = _scaled(products, self.product_exponent)
        means: FloatArray = (sums + PRIOR_ROWS * self.prior) / (rows + PRIOR_ROWS)
        return means


def _since(sums: IntArray, first: IntArray) -> IntArray:
    """Take the sum at the first row of each level off the sums of its rows."""
    return sums - sums[first]


def _scaled(integers: IntArray, exponent: int) -> FloatArray:
    return np.asarray(np.ldexp(integers.astype(np.float64), exponent))
