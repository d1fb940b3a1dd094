"""Growing the trees of a boosted sum."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spinney._native import _ext
from spinney.data.binning import BinnedTable, CategoryBins, NumericBins
from spinney.data.fixed_point import are_repeats, fixed_weights
from spinney.errors import InvalidInput
from spinney.resampling.row_sampling import ALL_ROWS, RowSample
from spinney.typing import AnyArray, FloatArray

GrownTrees = _ext.GrownTrees
"""Trees behind each other while a sum of them grows; ``arrays()`` are those of a forest. Made with
a width they have vectors of so many numbers as values."""

BUNDLING = _ext.Bundling.AUTO
"""Whether features share a byte where no row is outside the usual bins of two: always, never, or
if that saves enough. Trees are the same; tests compare them."""

_MOST = 2**31 - 1
_LEAST_FACTOR, _MOST_FACTOR = 1e-20, 1e20
_NO_NUMBERS, _NO_ROWS = np.empty(0, np.float32), np.empty(0, np.uint32)
_NOT_KNOWN = (-1.0, -1.0)
_FAR_APART = 256.0
"""Ratio of factors from which on the light rows could be lost beside the heavy ones."""

Limits = Sequence[tuple[float, float]]
"""Of each output the largest magnitudes of gradients and hessians."""


def check_factors(factors: FloatArray) -> None:
    """Refuse factors of losses that derivatives cannot be multiplied by."""
    if not factors.any():
        raise InvalidInput(
            "All weights of rows, class weights included, are 0, so no row would count. Give at "
            "least one class of y a weight above 0."
        )
    if not _LEAST_FACTOR <= factors.max() <= _MOST_FACTOR:
        raise InvalidInput(
            f"The largest weight of a row, class weights included, is {factors.max():.1e}: "
            "derivatives in 32 bits leave no room for it. Divide all weights by a constant."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientTreeSettings:
    """Limits of one tree of a boosted sum; the native grower trusts them."""

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    leaf_wise: bool = True
    symmetric: bool = False
    """Whether all nodes of a level have the same split; ``max_depth`` is the number of levels, and
    ``max_leaf_nodes`` is not looked at."""
    random_cuts: bool = False
    """Whether one cut per node and feature is judged, which is drawn, in place of all."""
    min_samples_leaf: float = 20.0
    min_child_weight: float = 0.0
    l1: float = 0.0
    l2: float = 0.0
    max_step: float = 0.0
    """Largest magnitude of a leaf's value, before the learning rate; 0: no limit."""
    longest_step: float = 0.0
    """The same, but gains are those of values without a limit: searches take no longer."""
    every_hessian_counts: bool = True
    """Whether rows of small second derivatives matter as the others do; where they do, and are
    many, sums are kept on a finer grid, which takes longer."""
    path_smoothing: float = 0.0
    """Rows by which the value of a node is drawn towards that of its parent; 0: not at all."""
    min_split_gain: float = 0.0
    """Loss that a split must remove more than, or it is not made."""
    prune_gain: float = 0.0
    """Loss that a split with no split below it must remove, or it is taken back."""
    max_features: float = 1.0
    """Share of the features a node may use that are drawn for it, rounded up."""
    max_features_per_tree: float = 1.0
    """Share of all features that are drawn for each tree, rounded up."""
    category_smoothing: float = 10.0
    """Rows by which the mean of a category is drawn towards zero before categories are put in
    order, where there are more than four."""
    category_penalty: float = 5.0
    """Rows of L2 penalty that a split by more than four categories has beside ``l2``."""
    category_support: float = 10.0
    """Weight below which a category of a node stays out of its split, and goes right; half the
    root of the node's weight if that is more."""
    monotone: tuple[int, ...] | None = None
    """1, -1 or 0 per feature: the prediction must not fall, not rise, or may do both."""
    interactions: tuple[tuple[int, ...], ...] | None = None
    """Groups of features that may occur together on a path; they may overlap."""

    @property
    def moved_by(self) -> str:
        """Parameters that may move the value of a leaf from where its sums say; empty: none."""
        names = {
            "monotonic_cst": self.monotone is not None,
            "max_delta_step": self.max_step > 0.0,
            "path_smoothing": self.path_smoothing > 0.0,
        }
        return " and ".join(name for name, is_set in names.items() if is_set)

    def to_native(self, seed: int) -> _ext.GradientTreeSettings:
        """Make the native twin, where 0 stands for no limit; ``seed`` decides what is drawn."""
        native = _ext.GradientTreeSettings()
        native.max_leaf_nodes = min(self.max_leaf_nodes or 0, _MOST)
        native.max_depth = min(self.max_depth or 0, _MOST)
        native.leaf_wise = self.leaf_wise
        native.symmetric = self.symmetric
        native.random_cuts = self.random_cuts
        native.min_samples_leaf = float(min(self.min_samples_leaf, 2**62))
        native.min_child_weight = self.min_child_weight
        native.l1 = self.l1
        native.l2 = self.l2
        native.max_step = self.max_step
        native.longest_step = self.longest_step
        native.every_hessian_counts = self.every_hessian_counts
        native.path_smoothing = self.path_smoothing
        native.min_split_gain = self.min_split_gain
        native.prune_gain = self.prune_gain
        native.max_features = self.max_features
        native.max_features_per_tree = self.max_features_per_tree
        native.category_smoothing = self.category_smoothing
        native.category_penalty = self.category_penalty
        native.category_support = self.category_support
        native.monotone = list(self.monotone or ())
        native.interactions = [list(group) for group in self.interactions or ()]
        native.seed = seed
        return native


@dataclass(frozen=True, slots=True, eq=False)
class NodeRows:
    """Which rows reached which node: node i has ``rows[first[i]:last[i]]``; nodes in preorder."""

    rows: AnyArray
    first: AnyArray
    last: AnyArray


class GradientGrower:
    """Grows one tree after another on the same bins and row weights.

    Whole row weights count like repeated rows, exactly. Other weights, and ``factors`` of the loss
    (class weights), multiply the derivatives; factors do not count for the least weight of a leaf.

    Parameters
    ----------
    binned : rows to grow on
    settings : limits of each tree
    weights, factors : of rows; None: all 1
    learning_rate : factor of all values
    seed : decides drawn features and cuts, together with the number of the tree
    n_threads : threads; they do not change the trees
    """

    def __init__(
        self,
        binned: BinnedTable,
        settings: GradientTreeSettings,
        weights: FloatArray | None = None,
        factors: FloatArray | None = None,
        *,
        learning_rate: float = 1.0,
        seed: int = 0,
        n_threads: int = 1,
    ) -> None:
        self._repeat = weights is None or are_repeats(weights)
        self._integers, exponent = np.empty(0, np.int64), 0
        if weights is not None and self._repeat:
            self._integers = weights.astype(np.int64)
        elif weights is not None:
            self._integers, exponent = fixed_weights(weights, bits=32)
            factors = weights if factors is None else weights * factors
        if factors is not None:
            check_factors(factors)
            if factors.max() > _FAR_APART * factors.min():
                settings = replace(settings, every_hessian_counts=True)
        self._factors = None if factors is None else factors.astype(np.float32)
        self._weight_scale = float(np.ldexp(1.0, exponent))
        self._native = _ext.GradientGrower(
            binned.bins,
            np.array([feature.n_value_bins for feature in binned.features], np.int32),
            np.array([isinstance(f, CategoryBins) for f in binned.features], np.uint8),
            [f.cuts.tolist() if isinstance(f, NumericBins) else [] for f in binned.features],
            settings.to_native(seed),
            learning_rate,
            n_threads,
            BUNDLING,
        )

    @property
    def n_bundles(self) -> int:
        """Bytes per row that histograms are added up from; features, if none share one."""
        return self._native.n_bundles

    def grow(
        self,
        gradients: AnyArray,
        hessians: AnyArray | None,
        into: GrownTrees,
        *,
        sample: RowSample = ALL_ROWS,
        largest: Limits | None = None,
    ) -> None:
        """Grow one tree and append it; the value of a node is ``-learning_rate * G / (H + l2)``.

        Trees of vectors have one value per output, and splits by the sum of their gains. An output
        whose second derivatives in a node add up to less than ``min_child_weight`` takes no part
        there: its value is 0.

        Parameters
        ----------
        gradients, hessians : (n_rows,) float32; (n_outputs, n_rows) for trees of vectors; no
            hessians: all 1
        into : the trees so far
        sample : the rows to grow on, and how they count beside their weights
        largest : largest magnitudes of gradients and hessians, if known; saves a look at all rows
        """
        second = _NO_NUMBERS if hessians is None else hessians
        factors = self._factors_of(sample)
        if factors is not None:
            with np.errstate(over="ignore"):  # infinite ones are refused where the largest is known
                gradients = gradients * factors
                second = (np.ones_like(gradients) if hessians is None else hessians) * factors
        if sample.rows is not None or factors is not None or largest is None:
            largest = [_NOT_KNOWN] * into.width  # of what is grown on
        self._native.grow(
            gradients.reshape(-1),
            second.reshape(-1),
            self._integers if sample.repeats is None else sample.repeats,
            self._repeat,
            self._weight_scale,
            _NO_ROWS if sample.rows is None else sample.rows.astype(np.uint32, copy=False),
            largest,
            into,
        )

    def _factors_of(self, sample: RowSample) -> AnyArray | None:
        """Give what multiplies the derivatives of rows; None: nothing."""
        if self._factors is None or sample.factors is None:
            return self._factors if sample.factors is None else sample.factors
        with np.errstate(over="ignore"):
            return self._factors * sample.factors

    def add_leaf_values(self, trees: GrownTrees, scores: FloatArray) -> None:
        """Add the last of the trees to the scores of all rows, in place.

        It is the tree grown last; its values may be other ones by now. Rows it was not grown on
        are sent down the tree by their bins. Scores are (n_rows,), or for trees of vectors
        (n_rows, n_outputs) in Fortran order.
        """
        if not scores.flags.f_contiguous:
            raise InvalidInput("Scores of several outputs must be in Fortran order.")
        self._native.add_leaf_values(trees, scores.reshape(-1, order="F"))

    def add_trees(
        self,
        trees: GrownTrees,
        numbers: AnyArray,
        weights: FloatArray,
        component: int,
        scores: FloatArray,
    ) -> None:
        """Add some of the trees, times their weights, to the scores of all rows, in place.

        ``numbers`` are int32; ``component`` is the place in values that are vectors, or 0. Rows are
        sent down by their bins; products and sums are rounded as those of a model with these trees
        in this order.
        """
        self._native.add_trees(trees, numbers, weights, component, scores)

    def settle_values(self, values: FloatArray) -> FloatArray:
        """Make the values that nodes of the tree grown last have of those of their rows alone.

        With ``path_smoothing`` each is drawn towards its parent's. Below a split on a constrained
        feature no value of one side may pass the middle of both children: whatever the values
        were, the tree that has them is monotone afterwards. Values of trees of vectors are one
        vector behind the other.
        """
        settled = values.copy()
        self._native.settle_values(settled)
        return settled

    def node_rows(self) -> NodeRows:
        """Give the rows of every node of the tree grown last."""
        return NodeRows(**self._native.node_ranges())
