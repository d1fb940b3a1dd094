"""Who fits the functions: trees of ours, or any estimator of scikit-learn."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from spinney.data.fixed_point import exact_total, fixed_weights
from spinney.ensembles.weak.base_trees import DEFAULT_DEPTH, exact_tree_plan
from spinney.ensembles.weak.foreign import ForeignLearner
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.ensembles.weak.learners import TreeLearner
from spinney.errors import WeakLearnerFailed
from spinney.model import Tree
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, FloatArray, IntArray, TableLike

LEAST_IN_LEAF = 1e-6
"""Of all weight, in a leaf of our own regression trees: rows next to nothing make no leaf."""


def own_tree(estimator: Any, *, asks_for_classes: bool) -> tuple[TreeSettings, str] | None:
    """Say how our own base tree grows on rows sorted once; None for any other base learner.

    The default for numbers is a tree of depth 3, for classes a stump of least weighted error.
    """
    if estimator is not None:
        return exact_tree_plan(estimator)
    depth = 1 if asks_for_classes else DEFAULT_DEPTH
    settings = TreeSettings(max_depth=depth, min_samples_split=0.0, min_samples_leaf=0.0)
    return settings, "error" if asks_for_classes else "squared"


class TreeRegions(TreeLearner):
    """Exact trees whose leaves may be given other values."""

    def fit_numbers(
        self,
        targets: FloatArray,
        weights: FloatArray,
        round_number: int,  # noqa: ARG002 - nothing is drawn
    ) -> Hypothesis:
        """Grow a regression tree under weights of rows that need not be a distribution."""
        limits = replace(self._settings, min_samples_leaf=LEAST_IN_LEAF)
        grown = self._sorted.grow(targets[:, np.newaxis], _whole(weights), limits)
        total = exact_total(weights)  # nodes tell shares
        tree = replace(grown.tree, weight=grown.tree.weight * total, gain=grown.tree.gain * total)
        return Hypothesis(grown.answers, tree, grown.leaf_of_row)

    def regions(self, hypothesis: Hypothesis) -> AnyArray:
        """Give the number of the leaf of each training row; (n_rows,)."""
        return np.asarray(hypothesis.leaves)

    def refill(self, hypothesis: Hypothesis, leaves: AnyArray, values: FloatArray) -> Tree:
        """Give leaves values; inner nodes get the weighted mean of what is below."""
        tree: Tree = hypothesis.member
        filled = np.zeros((len(tree), 1))
        filled[leaves, 0] = values
        for node in reversed(range(len(tree))):
            right = tree.right[node]
            if right >= 0:
                below = [node + 1, right]
                weights = tree.weight[below]
                filled[node] = (weights * filled[below, 0]).sum() / (weights.sum() or 1.0)
        return replace(tree, values=filled)


def _whole(weights: FloatArray) -> IntArray:
    """Give whole numbers in the ratio of the weights."""
    if np.array_equal(weights, np.rint(weights)) and weights.sum() < 2**31:
        return weights.astype(np.int64)
    integers, _ = fixed_weights(weights, bits=52)
    integers[weights == 0] = 0  # rows a sample left out
    return integers


class RegionMember:
    """A fitted tree whose leaves say something else than it learnt."""

    def __init__(self, estimator: Any, leaves: AnyArray, values: FloatArray) -> None:
        self.estimator = estimator
        self.leaves = leaves
        """Numbers of leaves, increasing."""
        self.values = values

    def predict(self, X: TableLike) -> FloatArray:
        """Value of each row's leaf; 0 for a leaf that no training row was in."""
        found = leaves_of(self.estimator, X)
        places = np.searchsorted(self.leaves, found).clip(max=len(self.leaves) - 1)
        return np.where(self.leaves[places] == found, self.values[places], 0.0)


def leaves_of(estimator: Any, X: TableLike) -> AnyArray:
    """Ask a fitted tree for the leaf of each row."""
    leaves = np.asarray(estimator.apply(X))
    if leaves.ndim != 1:
        raise WeakLearnerFailed(
            f"{type(estimator).__name__}.apply gave an array of shape {leaves.shape}; "
            "step='per_region' needs a single tree, with one leaf per row."
        )
    return leaves


class EstimatorRegions(ForeignLearner):
    """Clones of an estimator, fitted to all rows that have weight, and drawn only if need be.

    Equal weights are not mentioned to the estimator at all; others are passed on, or, if it takes
    none, rows are drawn by them.
    """

    def fit_numbers(
        self, targets: FloatArray, weights: FloatArray, round_number: int
    ) -> Hypothesis:
        """Fit a clone to numbers under weights of rows that need not be a distribution."""
        return self._ask(targets, weights, "values", round_number)

    def regions(self, hypothesis: Hypothesis) -> AnyArray:
        """Give the number of the leaf of each training row; (n_rows,)."""
        return leaves_of(hypothesis.member, self._rows.X)

    def refill(self, hypothesis: Hypothesis, leaves: AnyArray, values: FloatArray) -> RegionMember:
        """Give leaves values."""
        return RegionMember(hypothesis.member, leaves, values)

    def _fit(self, member: Any, targets: AnyArray, weights: FloatArray, round_number: int) -> None:
        chosen = np.flatnonzero(weights)
        some, X = weights[chosen], self._rows.X
        if len(chosen) < self.n_rows:
            X = _safe_indexing(X, chosen)
        if some.min() == some.max():
            member.fit(X, targets[chosen])
        elif has_fit_parameter(member, "sample_weight"):
            # Limits of our own trees are weights of rows, and a distribution weighs 1 in all.
            factor = 1.0 if self._scale == 1.0 else self._scale / some.sum()
            member.fit(X, targets[chosen], sample_weight=factor * some)
        else:
            super()._fit(member, targets, weights, round_number)
