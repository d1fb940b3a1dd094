"""Growing trees on ranks: forests, and single trees."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from spinney._native import _ext
from spinney.data.binning import MAX_VALUE_BINS, Binner, CategoryBins, FeatureBins, native_columns
from spinney.data.fixed_point import are_repeats, fixed_products, fixed_weights
from spinney.data.table import Table
from spinney.resampling.bags import Bags
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray

CRITERIA = {
    "gini": _ext.NodeCriterion.GINI,
    "entropy": _ext.NodeCriterion.ENTROPY,
    "error": _ext.NodeCriterion.ERROR,
    "twoing": _ext.NodeCriterion.TWOING,
    "dkm": _ext.NodeCriterion.DKM,
    "hellinger": _ext.NodeCriterion.HELLINGER,
    "gain_ratio": _ext.NodeCriterion.GAIN_RATIO,
    "squared": _ext.NodeCriterion.SQUARED,
    "poisson": _ext.NodeCriterion.POISSON,
    "absolute": _ext.NodeCriterion.ABSOLUTE,
}
"""What a split lowers, or raises: see ``native/trees/forest_rows.hpp``."""

SEARCHES = {
    "adaptive": _ext.SplitSearch.ADAPTIVE,
    "exact": _ext.SplitSearch.EXACT,
    "histogram": _ext.SplitSearch.HISTOGRAM,
    "random": _ext.SplitSearch.RANDOM,
}
"""How splits are looked for: by bins in nodes of many rows and every cut elsewhere; every cut;
by bins; one random cut per feature."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeTarget:
    """What trees are grown for: classes or numbers, and weights, as whole numbers."""

    classes: AnyArray
    """(n_rows, n_labels) codes; none for numbers."""
    label_starts: AnyArray
    """(n_labels + 1,) the first output of each label, and their end; none for numbers."""
    numbers: AnyArray
    """(n_rows, n_outputs) weighted targets on their grid; none for classes."""
    weights: AnyArray
    """(n_rows,) on their grid; none for one each."""
    centre: FloatArray
    scales: tuple[float, float]
    """Units of numbers, the largest if they differ, and of weights."""
    criterion: _ext.NodeCriterion
    units: FloatArray = field(default_factory=lambda: np.empty(0))
    """By output: its unit of numbers as a share of the largest, a power of 2; none for classes."""
    targets: FloatArray = field(default_factory=lambda: np.empty((0, 1)))
    """(n_rows, n_outputs) for absolute error, whose values are chosen from them; else none."""
    is_whole: bool = False
    """Weights are repetitions, so that nodes count them and numbers are exact; for absolute error
    they are their own units."""

    @property
    def width(self) -> int:
        """Classes of all labels, or numbers per row."""
        return len(self.centre)

    def to_native(self) -> _ext.ForestTarget:
        """Make the native twin."""
        return _ext.ForestTarget(
            (self.classes, self.label_starts),
            self.numbers,
            self.weights,
            (self.centre, self.units),
            self.scales,
            self.criterion,
            (self.targets, self.is_whole),
        )

    @classmethod
    def of_classes(
        cls, codes: AnyArray, n_classes: int, weights: FloatArray | None, *, criterion: str
    ) -> Self:
        """Take codes of one label per row; weights are positive, None for one each."""
        return cls.of_labels(codes.reshape(-1, 1), [n_classes], weights, criterion=criterion)

    @classmethod
    def of_labels(
        cls,
        codes: AnyArray,
        n_classes: Sequence[int],
        weights: FloatArray | None,
        *,
        criterion: str,
    ) -> Self:
        """Take (n_rows, n_labels) codes; a split gains the sum of what it gains for each label."""
        whole, exponent = _whole_weights(weights)
        starts = np.cumsum([0, *n_classes])
        return cls(
            np.ascontiguousarray(codes, np.uint32),
            starts.astype(np.uint32),
            np.empty((0, 1), np.int64),
            whole,
            np.zeros(starts[-1]),
            (1.0, math.ldexp(1.0, exponent)),
            CRITERIA[criterion],
            is_whole=weights is None or are_repeats(weights),
        )

    @classmethod
    def of_numbers(
        cls, targets: FloatArray, weights: FloatArray | None, *, criterion: str, n_drawn: int = 0
    ) -> Self:
        """Take (n_rows, n_outputs) finite numbers; ``n_drawn`` rows at most are in a tree."""
        whole, exponent = _whole_weights(weights)
        # Middle of the range, not the mean: it needs no sum, and halves the largest deviation.
        centre = targets.min(axis=0) / 2 + targets.max(axis=0) / 2
        if criterion == "poisson":
            centre = np.zeros_like(centre)
        row_weights = np.ones(len(targets)) if weights is None else weights
        if n_drawn > len(targets):  # room for sums over more rows than there are
            row_weights = np.ones(len(targets))
            row_weights[0] += n_drawn - len(targets)  # the grid depends on the total alone
        # A grid for each output, or small numbers beside large ones would lose their digits.
        # Errors of absolute value are added up as whole numbers: these share one.
        together = [slice(None)] if criterion == "absolute" else _columns(targets)
        apart = targets - centre
        parts = [fixed_products(row_weights, apart[:, of]) for of in together]
        products = np.hstack([integers for integers, _ in parts])
        exponents = np.broadcast_to([exponent for _, exponent in parts], len(centre))
        if n_drawn > len(targets):
            products[0] //= int(row_weights[0])
        return cls(
            np.empty((0, 1), np.uint32),
            np.empty(0, np.uint32),
            np.ascontiguousarray(products),
            whole,
            centre,
            (math.ldexp(1.0, int(exponents.max())), math.ldexp(1.0, exponent)),
            CRITERIA[criterion],
            np.ldexp(1.0, exponents - exponents.max()),
            is_whole=weights is None or are_repeats(weights),
        )

    @classmethod
    def of_medians(
        cls, targets: FloatArray, weights: FloatArray | None, *, n_drawn: int = 0
    ) -> Self:
        """Take (n_rows, n_outputs) finite numbers, to be judged by absolute error."""
        made = cls.of_numbers(targets, weights, criterion="absolute", n_drawn=n_drawn)
        own = np.ascontiguousarray(targets)
        if weights is None or not made.is_whole:
            return replace(made, targets=own)
        scales, whole = (made.scales[0], 1.0), weights.astype(np.int64)
        return replace(made, weights=whole, scales=scales, targets=own, is_whole=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestSettings:
    """How the trees of a forest may grow."""

    tree: TreeSettings
    """Its seed is the forest's: each tree has its own from it."""
    search: str = "adaptive"
    """One of ``SEARCHES``."""
    shuffle: bool = False
    """Whether features are looked at in a random order, which settles ties; else by number."""
    directions: tuple[int, ...] = ()
    """By feature: 1 or -1 where a target of one number or two classes may only rise or fall with
    it; empty: none."""

    def to_native(self) -> _ext.ForestSettings:
        """Make the native twin."""
        native = _ext.ForestSettings()
        native.tree = self.tree.to_native()
        native.search = SEARCHES[self.search]
        native.shuffle = self.shuffle
        native.directions = list(self.directions)
        return native


@dataclass(frozen=True, slots=True, eq=False)
class OwnChoices:
    """What each tree has of its own, instead of what all share."""

    allowed: AnyArray | None = None
    """(n_trees, n_features): 1 where a tree may split on a feature; None or empty: on all."""
    seeds: AnyArray | None = None
    """(n_trees,) seeds of features and cuts: a tree is then the one that would grow alone."""

    def to_native(self) -> tuple[AnyArray, AnyArray]:
        """Give the arrays; empty where there is nothing."""
        allowed = np.empty((0, 0), np.uint8) if self.allowed is None else self.allowed
        seeds = np.empty(0, np.uint64) if self.seeds is None else self.seeds
        return np.ascontiguousarray(allowed, np.uint8), np.ascontiguousarray(seeds, np.uint64)


ALL_ALIKE = OwnChoices()


class RankedTable:
    """A table as ranks of its values: made once, for any number of trees.

    Ranking costs O(rows · features) passes over bytes; three to five bytes per value are kept.
    """

    def __init__(
        self,
        table: Table,
        binner: Binner,
        *,
        weights: FloatArray | None = None,
        max_bins: int = MAX_VALUE_BINS,
        n_threads: int = 1,
    ) -> None:
        """Rank; bins of ranks hold about as much weight each, None: as many rows."""
        self.features: tuple[FeatureBins, ...] = binner.features
        self.n_rows = table.n_rows
        self.n_threads = n_threads
        """Threads that trees grow by."""
        bins = [
            feature.bin_of_code.tolist() if isinstance(feature, CategoryBins) else []
            for feature in binner.features
        ]
        integers = np.empty(0, np.int64)
        if weights is not None:
            integers, _ = fixed_weights(weights, bits=52)
        columns = native_columns(table)
        self.native = _ext.RankedColumns(columns, bins, integers, max_bins, n_threads)

    def take(self, rows: AnyArray | None, n_threads: int) -> Self:
        """Gather some rows to grow on by so many threads; None: all, without a copy.

        Their ranks and bins stay those they have among all.
        """
        taken = copy.copy(self)
        taken.n_threads = n_threads
        if rows is not None:
            taken.n_rows = len(rows)
            taken.native = self.native.take(rows.astype(np.uint32), n_threads)
        return taken

    def grow(
        self,
        target: TreeTarget,
        settings: ForestSettings,
        bags: Bags,
        trees: range,
        own: OwnChoices = ALL_ALIKE,
    ) -> dict[str, AnyArray]:
        """Grow some trees of a forest.

        Parameters
        ----------
        target : classes or numbers of the rows
        settings : limits, and the seed of the forest
        bags : how often each tree counts each row
        trees : their numbers, in steps of one; a tree does not depend on the others
        own : features and seeds of these trees, if they are not those of all

        Returns
        -------
        dict
            Arrays of nodes in preorder, tree behind tree, as ``TreeSum`` takes them.
        """
        grown = self.native.grow(
            target.to_native(),
            bags.given(trees),
            bags.draws,
            own.to_native(),
            settings.to_native(),
            (trees.start, len(trees)),
            self.n_threads,
        )
        grown["category_sets"] = grown["category_sets"].reshape(-1, 32)
        return grown


def _columns(targets: FloatArray) -> list[slice]:
    return [slice(place, place + 1) for place in range(targets.shape[1])]


def _whole_weights(weights: FloatArray | None) -> tuple[AnyArray, int]:
    """Give weights as whole numbers, none for one each, and the exponent of their unit."""
    if weights is None:
        return np.empty(0, np.int64), 0
    return fixed_weights(weights, bits=62)
