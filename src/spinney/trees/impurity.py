"""How mixed the nodes of a tree are."""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import xlogy

from spinney.data.fixed_point import exact_sums
from spinney.model.elementary import log_of
from spinney.model.tree import Tree
from spinney.trees.structure import add_up
from spinney.typing import AnyArray, FloatArray

_BITS = 1.4426950408889634
"""1 / ln 2."""
_LARGEST = 1e300
"""In place of squares beyond all floats."""


def gini(shares: FloatArray) -> FloatArray:
    """One less the sum of squared shares: how often two rows drawn differ in class.

    Examples
    --------
    >>> gini(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [0.5, 0.0]
    """
    left = np.ones(len(shares))
    for share in shares.T:  # in a fixed order: the same bits on every machine
        left = left - share * share
    return np.maximum(left, 0.0)


def entropy(shares: FloatArray) -> FloatArray:
    """Mean information of a class, in bits.

    Examples
    --------
    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    bits = np.zeros(len(shares))
    for share in shares.T:
        bits = bits - share * log_of(np.where(share > 0.0, share, 1.0)) * _BITS
    return np.maximum(bits, 0.0)


def error(shares: FloatArray) -> FloatArray:
    """Share of rows outside the majority.

    Examples
    --------
    >>> error(np.array([[0.5, 0.25, 0.25]])).tolist()
    [0.5]
    """
    outside: FloatArray = 1.0 - shares.max(axis=1)
    return outside


def dkm(shares: FloatArray) -> FloatArray:
    """Give 2 √(p (1 - p)) of two classes: what exponential loss leaves (Dietterich et al., 1996).

    Examples
    --------
    >>> dkm(np.array([[0.5, 0.5], [0.9, 0.1]])).round(3).tolist()
    [1.0, 0.6]
    """
    if shares.shape[1] < 2:
        return np.zeros(len(shares))
    twice: FloatArray = 2.0 * np.sqrt(shares[:, 0] * shares[:, 1])
    return twice


IMPURITIES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "gini": gini,
    "entropy": entropy,
    "error": error,
    "dkm": dkm,
    "twoing": gini,
    "hellinger": gini,
    "gain_ratio": entropy,
}
"""What a criterion lowers. Twoing, Hellinger distance and gain ratio judge splits, not nodes: their
nodes have the impurity that is written here."""
JUDGES_SPLITS = frozenset({"twoing", "hellinger", "gain_ratio"})


def class_decreases(tree: Tree, impurity: FloatArray, criterion: str) -> FloatArray:
    """Give how much weighted impurity each split of a tree of classes removes; (n_nodes,)."""
    if criterion not in JUDGES_SPLITS:
        return tree.gain
    cost = tree.weight * impurity
    decrease = np.zeros(len(tree))
    inner = np.flatnonzero(tree.right >= 0)
    decrease[inner] = cost[inner] - cost[inner + 1] - cost[tree.right[inner]]
    return np.maximum(decrease, 0.0)


def number_impurities(
    tree: Tree,
    leaf_of_row: AnyArray,
    targets: FloatArray,
    weights: FloatArray | None,
    criterion: str,
) -> FloatArray:
    """Give the mean loss of the training rows of each node of a tree of numbers; (n_nodes,).

    Leaves are measured; an inner node has what its children have and what its split removed. Of
    several targets the mean is told.
    """
    order = np.argsort(leaf_of_row, kind="stable")
    leaves, starts = np.unique(leaf_of_row[order], return_index=True)
    row_weights = np.ones(len(targets)) if weights is None else weights[order]
    means = tree.values[leaf_of_row[order]]
    cost = tree.gain.copy()
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for loss in _LOSSES[criterion](targets[order], means).T:
            cost[leaves] += exact_sums(row_weights, loss, starts)
        impurity = add_up(tree, cost) / tree.weight / targets.shape[1]
    finite: FloatArray = np.nan_to_num(impurity, nan=_LARGEST, posinf=_LARGEST)
    return finite


def _squares(targets: FloatArray, means: FloatArray) -> FloatArray:
    squares: FloatArray = (targets - means) ** 2
    return squares


def _distances(targets: FloatArray, medians: FloatArray) -> FloatArray:
    return np.abs(targets - medians)


def _half_deviances(targets: FloatArray, means: FloatArray) -> FloatArray:
    ratio = targets / np.where(means > 0.0, means, 1.0)
    deviances: FloatArray = np.maximum(xlogy(targets, ratio) - targets + means, 0.0)
    return deviances


_LOSSES: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "squared": _squares,
    "absolute": _distances,
    "poisson": _half_deviances,
}
