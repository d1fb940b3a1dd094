"""Which rows satisfy what the path to a leaf asks of each feature.

A leaf is reached when every feature on its path has one of the values the path lets through. The
mean of a tree over any features left to chance follows from these conditions one by one: that is
why dependences at all rows, of all pairs of features, cost a number of steps linear in the rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spinney.explain.bins import ForestBins
from spinney.model import Tree
from spinney.typing import AnyArray, FloatArray

_CELLS_AT_ONCE = 1 << 21
"""Leaves times rows that are looked at together."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafRows:
    """Some leaves of a tree, and the rows that satisfy their conditions."""

    values: FloatArray
    """(n_leaves,)"""
    satisfied: Mapping[int, AnyArray]
    """(n_leaves, n_rows) bool for each feature of the tree."""
    asked: Mapping[int, AnyArray]
    """(n_leaves,) bool for each feature: whether the path looks at it."""
    n_failed: AnyArray
    """(n_leaves, n_rows): how many features keep the row from the leaf."""


def leaf_rows(
    values: FloatArray,
    tree: Tree,
    bins: ForestBins,
    rows: Mapping[int, AnyArray],
    n_rows: int,
    *,
    owner: Sequence[int] | None = None,
) -> Iterator[LeafRows]:
    """Give the leaves of a tree in parts of bounded size.

    Parameters
    ----------
    values : of each node
    tree : the tree
    bins : of its forest
    rows : bins of all rows, by feature
    n_rows : how many rows
    owner : of each feature the one whose condition it is a part of; None: itself
    """
    leaves = list(_paths(tree, bins))
    features = sorted({feature for _, path in leaves for feature in path})
    at_once = max(1, _CELLS_AT_ONCE // n_rows)
    for first in range(0, len(leaves), at_once):
        part = leaves[first : first + at_once]
        satisfied: dict[int, AnyArray] = {}
        asked: dict[int, AnyArray] = {}
        for f in features:
            own = f if owner is None else owner[f]
            holds = _satisfied([path.get(f) for _, path in part], rows[f])
            looks = np.array([f in path for _, path in part])
            satisfied[own] = satisfied[own] & holds if own in satisfied else holds
            asked[own] = asked[own] | looks if own in asked else looks
        n_failed = np.zeros((len(part), n_rows), np.uint16)
        for holds in satisfied.values():
            n_failed += ~holds
        yield LeafRows(
            values[[node for node, _ in part]],
            satisfied,
            asked,
            n_failed,
        )


def _paths(tree: Tree, bins: ForestBins) -> Iterator[tuple[int, dict[int, AnyArray]]]:
    """Give each leaf and, of each feature on its path, the bins that are let through."""
    waiting: list[tuple[int, dict[int, AnyArray]]] = [(0, {})]
    while waiting:
        node, path = waiting.pop()
        right, feature = int(tree.right[node]), int(tree.feature[node])
        if right < 0:
            yield node, path
            continue
        goes_left = bins[feature].that_go_left(tree, node)
        for child, through in ((right, ~goes_left), (node + 1, goes_left)):
            before = path.get(feature)
            waiting.append(
                (child, path | {feature: through if before is None else before & through})
            )


def _satisfied(conditions: list[AnyArray | None], rows: AnyArray) -> AnyArray:
    holds = np.ones((len(conditions), len(rows)), bool)
    for place, condition in enumerate(conditions):
        if condition is not None:
            holds[place] = condition[rows]
    return holds
