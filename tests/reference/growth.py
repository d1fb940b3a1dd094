"""Slow twins of the other ways to grow a boosted tree: smoothed values, drawn cuts, symmetry.

The definitions, in float64 and plain NumPy, beside those of ``boosting``.
"""

from dataclasses import dataclass, replace

import numpy as np
from tests.reference.boosting import SlowLimits, SlowNode

from spinney.randomness import Stream, random_bits


@dataclass(frozen=True)
class PathLimits(SlowLimits):
    """A value is drawn towards its parent's; gains are those of the values there will be."""

    smoothing: float = 0.0
    max_step: float = np.inf
    levels: int = 0
    min_gain: float = 0.0
    prune_gain: float = 0.0

    def own_value(self, sums):
        return float(np.clip(self.value(*sums[:2]), -self.max_step, self.max_step))

    def child_value(self, sums, parent):
        if not self.smoothing:
            return self.own_value(sums)
        share = sums[2] / self.smoothing
        return self.own_value(sums) * share / (share + 1) + parent / (share + 1)

    def removed(self, sums, value):
        """The loss that a value removes."""
        g, h, _ = sums
        return -(g * value + self.l1 * abs(value) + (h + self.l2) * value**2 / 2)

    def gain(self, sides, value):
        """The loss that a split of a node of this value removes; None if a side is too small."""
        if not all(w > 0 and self.allow(h, w) for _, h, w in sides):
            return None
        node = np.add(*sides)
        after = sum(self.removed(side, self.child_value(side, value)) for side in sides)
        return after - self.removed(node, value)


@dataclass(frozen=True)
class Drawn:
    """One cut per node and feature, drawn from the seed of the tree, the path and the feature."""

    seed: int

    def key(self, path):
        key = random_bits(self.seed, Stream.THRESHOLDS, 0)
        for side in path:
            key = random_bits(key, Stream.NODES, side)
        return key

    def level_key(self, depth):
        return self.key((depth,))

    def cuts(self, key, feature, column, cuts):
        """Between the least and the largest value; behind the largest if values are missing."""
        values = column[~np.isnan(column)]
        if not len(values):
            return []
        bins = np.searchsorted(cuts, [values.min(), values.max()])
        n_cuts = int(bins[1] - bins[0]) + int(np.isnan(column).any())
        drawn = random_bits(key, Stream.THRESHOLDS, feature) * n_cuts >> 64
        return cuts[bins[0] + drawn : bins[0] + drawn + 1] if n_cuts else []


def sums_of(derivatives, rows):
    return np.array([numbers[rows].sum() for numbers in derivatives])


def path_split(X, rows, cuts, derivatives, limits, *, value, path, drawn=None):
    """The leaf of some rows, with its best split; ``cuts`` are of the whole table."""
    best = SlowNode(value)
    weights = derivatives[2]
    for feature in range(X.shape[1]):
        column = X[rows, feature]
        judged = cuts[feature]
        if drawn is not None:
            judged = drawn.cuts(drawn.key(path), feature, column, judged)
        for missing_left in (False, True) if np.isnan(column).any() else (False,):
            for threshold in judged:
                node = replace(
                    best, feature=feature, threshold=threshold, missing_left=missing_left
                )
                is_left = node.goes_left(X[rows])
                sides = [sums_of(derivatives, rows[side]) for side in (is_left, ~is_left)]
                gain = limits.gain(sides, value)
                if gain is not None and gain > best.gain * (1 + 1e-9) + 1e-12:
                    best = replace(node, gain=gain)
    if best.feature is not None and not np.isnan(X[rows, best.feature]).any():
        is_left = best.goes_left(X[rows])
        heavier = weights[rows[is_left]].sum() >= weights[rows[~is_left]].sum()
        best = replace(best, missing_left=bool(heavier))
    return best


def path_tree(X, cuts, derivatives, limits, drawn=None):
    """A tree grown best first, whose values depend on those above."""

    def leaf(path, rows, value):
        split = path_split(X, rows, cuts, derivatives, limits, value=value, path=path, drawn=drawn)
        return rows, split

    everything = np.arange(len(X))
    start = limits.own_value(sums_of(derivatives, everything))
    leaves, splits = {(): leaf((), everything, start)}, {}
    while len(leaves) < limits.max_leaves:
        most = max(node.gain for _, node in leaves.values())  # ties go to the oldest leaf
        path = next(path for path in leaves if leaves[path][1].gain >= most * (1 - 1e-9))
        rows, node = leaves[path]
        if node.feature is None:
            break
        del leaves[path]
        splits[path] = node
        is_left = node.goes_left(X[rows])
        for side, some in ((0, rows[is_left]), (1, rows[~is_left])):
            value = limits.child_value(sums_of(derivatives, some), node.value)
            leaves[*path, side] = leaf((*path, side), some, value)

    def join(path):
        if path not in splits:
            return SlowNode(leaves[path][1].value)
        return replace(splits[path], left=join((*path, 0)), right=join((*path, 1)))

    return join(())


@dataclass
class LevelNode:
    """A node of a symmetric tree while it grows."""

    rows: np.ndarray
    value: float
    split: SlowNode | None = None
    level: int = -1
    children: tuple = ()

    def joined(self):
        if not self.children:
            return SlowNode(self.value)
        left, right = (child.joined() for child in self.children)
        return replace(self.split, value=self.value, left=left, right=right)


def symmetric_tree(X, cuts, derivatives, limits, drawn=None):
    """Level by level one split for all nodes; those that cannot make it stay whole."""
    everything = np.arange(len(X))
    root = LevelNode(everything, limits.own_value(sums_of(derivatives, everything)))
    level, gains, split_nodes = [root], [], []
    for depth in range(limits.levels):
        weights = derivatives[2]
        level = [n for n in level if weights[n.rows].sum() >= 2 * limits.min_rows * (1 - 1e-12)]
        key = None if drawn is None else drawn.level_key(depth)
        split = None
        if level:
            split = _level_split(X, level, cuts, derivatives, limits, drawn=drawn, key=key)
        if split is None:
            break
        gains.append(split.gain)
        next_level = []
        for node in level:
            sides, gain = _sides(X, node, split, derivatives, limits)
            if gain is None:
                next_level.append(node)
                continue
            node.split, node.level = replace(split, gain=gain), depth
            node.children = tuple(
                LevelNode(rows, limits.child_value(sums_of(derivatives, rows), node.value))
                for rows in sides
            )
            split_nodes.append(node)
            next_level += node.children
        level = next_level
    while gains and gains[-1] < limits.prune_gain:
        gains.pop()
        for node in split_nodes:
            if node.level == len(gains):
                node.children = ()
    return root.joined()


def _sides(X, node, split, derivatives, limits):
    is_left = split.goes_left(X[node.rows])
    sides = (node.rows[is_left], node.rows[~is_left])
    return sides, limits.gain([sums_of(derivatives, rows) for rows in sides], node.value)


def _level_split(X, level, cuts, derivatives, limits, *, drawn, key):
    rows = np.concatenate([node.rows for node in level])
    best = SlowNode(0.0, gain=limits.min_gain)
    for feature in range(X.shape[1]):
        column = X[rows, feature]
        judged = cuts[feature]
        if drawn is not None:
            judged = drawn.cuts(key, feature, column, judged)
        for missing_left in (False, True) if np.isnan(column).any() else (False,):
            for threshold in judged:
                split = SlowNode(0.0, 0.0, feature, threshold, missing_left)
                each = (_sides(X, node, split, derivatives, limits)[1] for node in level)
                gain = sum(one or 0.0 for one in each)
                if gain > best.gain * (1 + 1e-9) + 1e-12:
                    best = replace(split, gain=gain)
    if best.feature is None:
        return None
    if not np.isnan(X[rows, best.feature]).any():
        is_left = best.goes_left(X[rows])
        weights = derivatives[2][rows]
        best = replace(best, missing_left=bool(2 * weights[is_left].sum() >= weights.sum()))
    return best
