"""Does a tree keep a monotone constraint? Decided from its nodes, not from samples.

A leaf is a box: per feature an interval of values, and whether missing values get there; of a
categorical feature a set of bins. Two rows that differ in one feature only end in two leaves whose
boxes meet in all other features; so it is enough to look at all such pairs of leaves.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Side:
    """What of one feature reaches a leaf: (low, high], bins of categories, missing values."""

    low: float = -np.inf
    high: float = np.inf
    bins: frozenset = field(default_factory=lambda: frozenset(range(256)))
    missing: bool = True

    def meets(self, other):
        values = max(self.low, other.low) < min(self.high, other.high)
        return (values and bool(self.bins & other.bins)) or (self.missing and other.missing)


def boxes(tree, node=0, box=None):
    """Yield (box, value) of every leaf below a node."""
    box = {} if box is None else box
    if tree.right[node] < 0:
        yield box, tree.values[node, 0]
        return
    feature, side = int(tree.feature[node]), box.get(int(tree.feature[node]), Side())
    left_missing = side.missing and bool(tree.missing_left[node])
    right_missing = side.missing and not tree.missing_left[node]
    if tree.category_set[node] >= 0:
        bits = np.unpackbits(tree.category_sets[tree.category_set[node]], bitorder="little")
        chosen = frozenset(np.flatnonzero(bits).tolist())
        left = Side(side.low, side.high, side.bins & chosen, left_missing)
        right = Side(side.low, side.high, side.bins - chosen, right_missing)
    else:
        cut = float(tree.threshold[node])
        left = Side(side.low, min(side.high, cut), side.bins, left_missing)
        right = Side(max(side.low, cut), side.high, side.bins, right_missing)
    yield from boxes(tree, node + 1, {**box, feature: left})
    yield from boxes(tree, int(tree.right[node]), {**box, feature: right})


def violations(tree, feature, sign):
    """Pairs of leaf values that go against the sign as the feature rises."""
    found = []
    for (one, value), (two, other) in itertools.permutations(boxes(tree), 2):
        here, there = one.get(feature, Side()), two.get(feature, Side())
        is_below = here.low < here.high <= there.low < there.high
        if not is_below or sign * (other - value) >= 0:
            continue
        shared = (one.keys() | two.keys()) - {feature}
        if all(one.get(name, Side()).meets(two.get(name, Side())) for name in shared):
            found.append((value, other))
    return found


def keep_monotone(tree, values, signs):
    """Slow twin: move values of nodes, found one by one, into the bounds of monotone splits.

    Below a split on a constrained feature no value of one side may pass the middle of both
    children, so that every leaf of one side stays on its side of every leaf of the other.
    """
    if signs is None:
        return values
    kept = values.copy()
    bounds = [(-np.inf, np.inf)] * len(tree)
    for node, right in enumerate(tree.right):  # preorder: a parent comes before its children
        low, high = bounds[node]
        kept[node] = min(max(kept[node], low), high)
        if right < 0:
            continue
        left = node + 1
        bounds[left] = bounds[right] = (low, high)
        sign = signs[tree.feature[node]]
        if sign:
            one, two = (min(max(values[child], low), high) for child in (left, right))
            middle = (one + two) / 2
            below, above = (left, right) if sign > 0 else (right, left)
            bounds[below], bounds[above] = (low, middle), (middle, high)
    return kept
