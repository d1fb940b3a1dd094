"""The shape of a tree: levels, ancestors, sums over subtrees, and the tree above a cut."""

from dataclasses import replace

import numpy as np

from spinney.model.tree import Tree
from spinney.typing import AnyArray, IntArray


def levels(tree: Tree) -> list[IntArray]:
    """Give the numbers of the nodes level by level, the root first."""
    found = [np.zeros(1, np.int64)]
    while True:
        inner = found[-1][tree.right[found[-1]] >= 0]
        if not len(inner):
            return found
        found.append(np.sort(np.concatenate([inner + 1, tree.right[inner]])).astype(np.int64))


def depths(tree: Tree) -> IntArray:
    """Give how many splits lie above each node; (n_nodes,)."""
    depth = np.zeros(len(tree), np.int64)
    for level, nodes in enumerate(levels(tree)):
        depth[nodes] = level
    return depth


def parents(tree: Tree) -> IntArray:
    """Give the node above each node, -1 for the root; (n_nodes,)."""
    above = np.full(len(tree), -1, np.int64)
    inner = np.flatnonzero(tree.right >= 0)
    above[inner + 1] = above[tree.right[inner]] = inner
    return above


def add_up(tree: Tree, own: AnyArray) -> AnyArray:
    """Sum what the nodes of each subtree have, from the leaves up; (n_nodes, ...).

    Every sum is that of a node's own, its left and its right child, so it has the same bits on
    every machine.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [0.0, 4.0, 5.0]).model_[0]
    >>> add_up(tree, tree.right < 0).tolist()  # leaves below each node
    [3, 1, 2, 1, 1]
    """
    total = np.array(own, np.float64 if own.dtype.kind == "f" else np.int64)
    for nodes in reversed(levels(tree)):
        inner = nodes[tree.right[nodes] >= 0]
        total[inner] = total[inner] + total[inner + 1] + total[tree.right[inner]]
    return total


def ways_to(tree: Tree, leaves: AnyArray) -> tuple[IntArray, IntArray]:
    """Give the nodes on the way from the root to each of some nodes, one way behind the other.

    Returns
    -------
    starts : (n_ways + 1,)
        Where each way begins.
    nodes : all nodes of all ways, the root first
    """
    depth, above = depths(tree), parents(tree)
    starts: IntArray = np.concatenate([[0], np.cumsum(depth[leaves] + 1)])
    nodes = np.empty(starts[-1], np.int64)
    here, place = np.asarray(leaves, np.int64), starts[1:] - 1
    while len(here):
        nodes[place] = here
        goes_on = above[here] >= 0
        here, place = above[here[goes_on]], place[goes_on] - 1
    return starts, nodes


def cut_below(tree: Tree, stops: AnyArray) -> tuple[Tree, IntArray]:
    """Make leaves of some nodes; also give which nodes of the old tree are left.

    Parameters
    ----------
    tree : the tree
    stops : (n_nodes,) of truth values
        Which nodes become leaves; what lies below them goes.
    """
    n_above = np.zeros(len(tree), np.int64)
    for nodes in levels(tree)[:-1]:
        inner = nodes[tree.right[nodes] >= 0]
        below = n_above[inner] + stops[inner]
        n_above[inner + 1] = n_above[tree.right[inner]] = below
    kept = np.flatnonzero(n_above == 0)
    is_leaf = stops[kept] | (tree.right[kept] < 0)
    number = np.cumsum(n_above == 0) - 1
    has_set = ~is_leaf & (tree.category_set[kept] >= 0)
    pruned = replace(
        tree,
        feature=np.where(is_leaf, -1, tree.feature[kept]).astype(np.int32),
        threshold=np.where(is_leaf, 0.0, tree.threshold[kept]),
        right=np.where(is_leaf, -1, number[tree.right[kept]]).astype(np.int32),
        missing_left=np.where(is_leaf, 0, tree.missing_left[kept]).astype(np.uint8),
        category_set=np.where(has_set, np.cumsum(has_set) - 1, -1).astype(np.int32),
        category_sets=tree.category_sets[tree.category_set[kept][has_set]],
        values=tree.values[kept],
        count=tree.count[kept],
        weight=tree.weight[kept],
        gain=np.where(is_leaf, 0.0, tree.gain[kept]),
    )
    return pruned, kept
