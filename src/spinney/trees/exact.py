"""Growing a tree on sorted rows: every cut between two different values is tried."""

import math
from dataclasses import dataclass

import numpy as np

from spinney._native import _ext
from spinney.data.binning import Binner, CategoryBins, FeatureBins, native_columns
from spinney.data.fixed_point import fixed_products
from spinney.data.table import Table
from spinney.model.tree import Tree
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, CodeArray, FloatArray, IntArray

CRITERIA = {
    "squared": _ext.Criterion.SQUARED,
    "error": _ext.Criterion.ERROR,
    "exponential": _ext.Criterion.EXPONENTIAL,
    "hamming": _ext.Criterion.HAMMING,
}
"""What a split lowers: squared error of means (Gini impurity of classes); weight outside the
majority; what exponential loss leaves; the error of a sign per output, summed."""


@dataclass(frozen=True, slots=True, eq=False)
class GrownTree:
    """A tree, and where the rows it was grown on are in it."""

    tree: Tree
    leaf_of_row: CodeArray
    """(n_rows,): the node each training row ended in."""

    n_threads: int = 1

    def say(self, said: AnyArray) -> AnyArray:
        """Give each training row the byte that its leaf says, of (n_nodes,); (n_rows, 1)."""
        return _ext.say_of_rows(said, self.leaf_of_row, self.n_threads)

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
        repetitions: IntArray | None = None,
        n_threads: int = 1,
    ) -> None:
        """Sort; ``repetitions`` says how often each row counts; None or empty: once."""
        self.features: tuple[FeatureBins, ...] = binner.features
        self.n_rows = table.n_rows
        self._n_threads = n_threads
        self._repetitions: FloatArray = np.ones(table.n_rows)
        if repetitions is not None and len(repetitions) > 0:
            self._repetitions = repetitions.astype(np.float64)
        bins = [
            feature.bin_of_code.tolist() if isinstance(feature, CategoryBins) else []
            for feature in binner.features
        ]
        self._native = _ext.SortedColumns(native_columns(table), bins, n_threads)
        self._table = table  # owns the values that native code borrows

    def grow(
        self,
        targets: AnyArray,
        weights: IntArray,
        settings: TreeSettings,
        *,
        criterion: str = "squared",
        centred: bool = True,
        unit: float | None = None,
    ) -> GrownTree:
        """Grow the tree whose every split lowers the criterion most.

        Parameters
        ----------
        targets : (n_rows, n_outputs)
            Whole numbers from -1 to 1 (a sign, or classes as a 1 among zeros), or finite numbers.
        weights : (n_rows,) whole numbers, not negative, less than 2**62 in all
            A row of weight 0 only lends its values to the thresholds.
        settings : limits
        criterion : one of ``CRITERIA``
        centred : whether numbers may be shifted before they are summed, which costs no digits
            where they lie far from 0 but loses their sign
        unit : what a weight of 1 is worth, in the limits and in the tree; None: nodes tell their
            share of all weight
        """
        if targets.dtype.kind == "i":
            centre: FloatArray | float = 0.0
            products, exponent = targets * weights[:, np.newaxis], 0
        else:
            centre, products, exponent = self._products(targets, weights, centred=centred)
        worth = 1.0 / float(weights.sum()) if unit is None else unit
        grown = self._native.grow(
            products,
            weights,
            (math.ldexp(worth, exponent), worth),
            CRITERIA[criterion],
            settings.to_native(),
            self._n_threads,
        )
        return self._as_grown(grown, centre)

    def grow_signs(
        self,
        cells: CodeArray,
        settings: TreeSettings,
        *,
        unit: float,
        criterion: str = "squared",
    ) -> GrownTree:
        """Grow a tree of two classes on the weights of rows, negative for the first class.

        The same tree as ``grow`` gives for signs and weights, without making them anew: for a
        stump that would cost as much as looking at several features.
        """
        grown = self._native.grow_signs(
            cells, unit, CRITERIA[criterion], settings.to_native(), self._n_threads
        )
        return self._as_grown(grown, 0.0)

    def _as_grown(self, grown: dict[str, AnyArray], centre: FloatArray | float) -> GrownTree:
        return GrownTree(_as_tree(grown, centre), grown["leaf_of_row"], self._n_threads)

    def _products(
        self, targets: FloatArray, weights: IntArray, *, centred: bool
    ) -> tuple[FloatArray | float, IntArray, int]:
        """Give a centre, and weighted targets around it as integers on a grid."""
        # Middle of the range, not the mean: it needs no sum, and halves the largest deviation.
        centre = targets.min(axis=0) / 2 + targets.max(axis=0) / 2 if centred else 0.0
        # Rounded for one repetition of a row, then repeated: a weight of 3 is the row three times.
        of_one = (weights / self._repetitions)[:, np.newaxis] * (targets - centre)
        products, exponent = fixed_products(self._repetitions, of_one)
        return centre, products, exponent


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
