"""Growing a tree on sorted rows: every cut between two different values is tried."""

import math
from dataclasses import dataclass

import numpy as np

from spinney._native import _ext
from spinney.data.binning import Binner, CategoryBins, FeatureBins, native_columns
from spinney.data.fixed_point import fixed_products, fixed_weights
from spinney.data.table import Table
from spinney.model.tree import Tree
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, CodeArray, FloatArray

CRITERIA = {
    "squared": _ext.Criterion.SQUARED,
    "error": _ext.Criterion.ERROR,
    "exponential": _ext.Criterion.EXPONENTIAL,
    "hamming": _ext.Criterion.HAMMING,
}
"""What a split lowers: squared error of means (Gini impurity of classes); weight outside the
majority; what exponential loss leaves; the error of a sign per output, summed."""

EXACT_BITS = 62
"""Sums of weights and of weighted targets stay below 2**62."""


@dataclass(frozen=True, slots=True, eq=False)
class GrownTree:
    """A tree, and where the rows it was grown on are in it."""

    tree: Tree
    leaf_of_row: CodeArray
    """(n_rows,): the node each training row ended in."""

    @property
    def answers(self) -> FloatArray:
        """(n_rows, width): value of each training row's leaf."""
        return self.tree.values[self.leaf_of_row]


class SortedTable:
    """The rows of a table by the values of each feature: sorted once, for any number of trees.

    Sorting costs O(rows · features) passes over bytes; each tree then O(rows · features) per level.
    """

    def __init__(
        self,
        table: Table,
        binner: Binner,
        *,
        counts: FloatArray | None = None,
        n_threads: int = 1,
    ) -> None:
        """Sort; ``counts`` says how often each row counts, None: once."""
        self.features: tuple[FeatureBins, ...] = binner.features
        self.n_rows = table.n_rows
        self._n_threads = n_threads
        self._counts = np.ones(table.n_rows) if counts is None else counts
        bins = [
            feature.bin_of_code.tolist() if isinstance(feature, CategoryBins) else []
            for feature in binner.features
        ]
        self._native = _ext.SortedColumns(native_columns(table), bins, n_threads)
        self._table = table  # owns the values that native code borrows

    def grow(
        self,
        targets: FloatArray,
        weights: FloatArray | None,
        settings: TreeSettings,
        *,
        criterion: str = "squared",
        centred: bool = True,
    ) -> GrownTree:
        """Grow the tree whose every split lowers the criterion most.

        Parameters
        ----------
        targets : (n_rows, n_outputs), finite
            One-hot classes, a sign per output, or numbers.
        weights : (n_rows,), not negative; None for one each
        settings : limits
        criterion : one of ``CRITERIA``
        centred : whether targets may be shifted before they are summed, which costs no digits
            where they lie far from 0 but loses their sign
        """
        row_weights = np.ones(self.n_rows) if weights is None else weights
        integers, exponent = fixed_weights(row_weights, bits=EXACT_BITS)
        integers[row_weights == 0] = 0  # rows a sample left out
        centre, products, product_exponent = self._products(
            targets, row_weights, (integers, exponent), centred=centred
        )
        grown = self._native.grow(
            products,
            integers,
            (math.ldexp(1.0, product_exponent), math.ldexp(1.0, exponent)),
            CRITERIA[criterion],
            settings.to_native(),
            self._n_threads,
        )
        return GrownTree(_as_tree(grown, centre), grown["leaf_of_row"])

    def _products(
        self,
        targets: FloatArray,
        weights: FloatArray,
        fixed: tuple[AnyArray, int],
        *,
        centred: bool,
    ) -> tuple[FloatArray | float, AnyArray, int]:
        """Give a centre, and weighted targets around it as integers on a grid."""
        integers, exponent = fixed
        whole = targets.astype(np.int64)
        if np.array_equal(whole, targets) and whole.min() >= -1 and whole.max() <= 1:
            # Classes and signs: the sums are sums of weights, as exact as those.
            return 0.0, whole * integers[:, np.newaxis], exponent
        # Middle of the range, not the mean: it needs no sum, and halves the largest deviation.
        centre = targets.min(axis=0) / 2 + targets.max(axis=0) / 2 if centred else 0.0
        # Rounded for one repetition of a row, then repeated: a weight of 3 is the row three times.
        of_one = (weights / self._counts)[:, np.newaxis] * (targets - centre)
        products, product_exponent = fixed_products(self._counts, of_one, bits=EXACT_BITS)
        return centre, products, product_exponent


def _as_tree(grown: dict[str, AnyArray], centre: FloatArray | float) -> Tree:
    return Tree(
        feature=grown["feature"],
        threshold=grown["threshold"],
        right=grown["right"],
        missing_left=grown["missing_left"],
        category_set=grown["category_set"],
        category_sets=grown["category_sets"].reshape(-1, 32),
        values=grown["values"] + centre,
        count=grown["count"],
        weight=grown["weight"],
        gain=grown["gain"],
    )
