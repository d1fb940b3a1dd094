"""Proofs that trees are monotone: over all inputs, not over a sample of them."""

from dataclasses import dataclass

import numpy as np

from spinney.model.forest import TreeForest
from spinney.model.tree import Tree
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class MonotoneViolation:
    """Two leaves of one tree that inputs reach which differ in one feature alone."""

    tree: int
    feature: int
    low_leaf: int
    """Node reached with the smaller number."""
    high_leaf: int
    """Node reached with the larger number."""
    low_value: float
    high_value: float


@dataclass(frozen=True, slots=True, eq=False)
class _Leaves:
    """What reaches each leaf of a tree: intervals ``(low, high]``, missing values, categories."""

    nodes: AnyArray
    values: FloatArray
    low: FloatArray
    """(n_leaves, n_features)"""
    high: FloatArray
    missing: AnyArray
    """(n_leaves, n_features) bool: whether missing values can arrive."""
    categories: AnyArray
    """(n_leaves, n_features, 32) uint8: bins of categories that can arrive, as bits."""

    def meet(self, feature: int) -> AnyArray:
        """(n_leaves, n_leaves): whether inputs of both agree in all features but one."""
        n = len(self.nodes)
        meet = np.ones((n, n), bool)
        for other in range(self.low.shape[1]):
            if other == feature:
                continue
            low = np.maximum.outer(self.low[:, other], self.low[:, other])
            high = np.minimum.outer(self.high[:, other], self.high[:, other])
            bits = self.categories[:, other]
            both = (bits[:, np.newaxis] & bits[np.newaxis]).any(axis=2)
            absent = np.logical_and.outer(self.missing[:, other], self.missing[:, other])
            meet &= ((low < high) & both) | absent
        return meet


def find_monotone_violation(
    forest: TreeForest, feature: int, direction: int
) -> MonotoneViolation | None:
    """Look in every tree for two inputs, equal but for one feature, whose values are out of order.

    Every pair of leaves that such inputs can reach is compared, so None is a proof: each tree, and
    with it their sum, never falls (``direction=1``) or never rises (``direction=-1``) when the
    feature grows. Missing values have no order, and are not compared. Costs O(leaves² · features)
    per tree.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = GradientBoostingRegressor(max_iter=3).fit(X, np.sin(X[:, 0] / 10)).model_
    >>> find_monotone_violation(model, 0, 1).tree
    0
    """
    for number, tree in enumerate(forest):
        leaves = _leaves(tree, len(forest.schema.names))
        ordered = np.less.outer(leaves.low[:, feature], leaves.high[:, feature])
        values = direction * leaves.values
        wrong = leaves.meet(feature) & ordered & np.greater.outer(values, values)
        if wrong.any():
            a, b = (int(i) for i in np.argwhere(wrong)[0])
            return MonotoneViolation(
                number,
                feature,
                int(leaves.nodes[a]),
                int(leaves.nodes[b]),
                float(leaves.values[a]),
                float(leaves.values[b]),
            )
    return None


def _leaves(tree: Tree, n_features: int) -> _Leaves:
    """Walk down once; the box of a child is that of its parent, cut by the split."""
    n = len(tree)
    low = np.full((n, n_features), -np.inf)
    high = np.full((n, n_features), np.inf)
    missing = np.ones((n, n_features), bool)
    categories = np.full((n, n_features, 32), 255, np.uint8)
    for node in range(n):
        right = int(tree.right[node])
        if right < 0:
            continue
        left, feature = node + 1, int(tree.feature[node])
        for child in (left, right):
            for box in (low, high, missing, categories):
                box[child] = box[node]
        goes_left = bool(tree.missing_left[node])
        missing[left, feature] &= goes_left
        missing[right, feature] &= not goes_left
        if tree.category_set[node] >= 0:
            chosen = tree.category_sets[tree.category_set[node]]
            categories[left, feature] &= chosen
            categories[right, feature] &= ~chosen
        else:
            threshold = tree.threshold[node]
            high[left, feature] = min(high[left, feature], threshold)
            low[right, feature] = max(low[right, feature], threshold)
    leaf = np.flatnonzero(tree.right < 0)
    return _Leaves(
        leaf, tree.values[leaf, 0], low[leaf], high[leaf], missing[leaf], categories[leaf]
    )
