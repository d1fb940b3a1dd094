"""Slow twin of gradient boosting: the definition, in float64 and plain NumPy.

For tables of numbers with so few values that each has a bin of its own. A weight multiplies the
loss of a row, and counts as so many rows for the least size of a leaf. Missing values go to the
side on which they remove more loss; where a node has none, to the heavier side.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class SlowLimits:
    """How a tree may grow."""

    max_leaves: int = 31
    min_rows: float = 20.0
    min_child_weight: float = 0.0
    l1: float = 0.0
    l2: float = 0.0

    def shrunk(self, g):
        return np.sign(g) * max(abs(g) - self.l1, 0.0)

    def value(self, g, h):
        return -self.shrunk(g) / (h + self.l2) if h + self.l2 > 0 else 0.0

    def score(self, g, h):
        """Twice the loss that the best value removes."""
        return -self.shrunk(g) * self.value(g, h)

    def allow(self, h, w):
        return w >= self.min_rows and h >= self.min_child_weight and h + self.l2 > 0


@dataclass(frozen=True)
class SlowNode:
    """A leaf, or a split: values up to the threshold go left, missing ones where they are sent."""

    value: float
    gain: float = 0.0
    feature: int | None = None
    threshold: float = np.inf
    missing_left: bool = False
    left: Any = None
    right: Any = None

    def goes_left(self, X):
        column = X[:, self.feature]
        return np.where(np.isnan(column), self.missing_left, column <= self.threshold)

    def predict(self, X):
        if self.left is None:
            return np.full(len(X), self.value)
        return np.where(self.goes_left(X), self.left.predict(X), self.right.predict(X))


def slow_cuts(column):
    """The middles between neighbouring values of the whole table, and one behind all."""
    values = np.unique(column[~np.isnan(column)])
    return np.append((values[:-1] + values[1:]) / 2, np.inf)


def slow_split(X, cuts, derivatives, limits):
    """The leaf of some rows, with its best split if there is any.

    Ties go to the first feature, the lowest threshold, and missing values to the right.
    """
    g, h, w = derivatives
    best = SlowNode(limits.value(g.sum(), h.sum()))
    for feature, column in enumerate(X.T):
        missing = np.isnan(column)
        for missing_left in (False, True) if missing.any() else (False,):
            for threshold in cuts[feature]:
                node = replace(
                    best, feature=feature, threshold=threshold, missing_left=missing_left
                )
                gain = _gain(node.goes_left(X), derivatives, limits)
                if gain > best.gain * (1 + 1e-9) + 1e-12:
                    best = replace(node, gain=gain)
    if best.feature is not None and not np.isnan(X[:, best.feature]).any():
        is_left = best.goes_left(X)
        best = replace(best, missing_left=bool(w[is_left].sum() >= w[~is_left].sum()))
    return best


def _gain(is_left, derivatives, limits):
    """The loss that a cut removes; none if a side is too small."""
    sides = [[numbers[side].sum() for numbers in derivatives] for side in (is_left, ~is_left)]
    if not all(limits.allow(h, w) and w > 0 for _, h, w in sides):
        return 0.0
    g, h, _ = (numbers.sum() for numbers in derivatives)
    return (sum(limits.score(g, h) for g, h, _ in sides) - limits.score(g, h)) / 2


def slow_tree(X, cuts, derivatives, limits):
    """A tree grown best first."""
    leaves = {(): (np.arange(len(X)), slow_split(X, cuts, derivatives, limits))}
    splits = {}
    while len(leaves) < limits.max_leaves:
        path = max(leaves, key=lambda path: leaves[path][1].gain)
        rows, node = leaves[path]
        if node.feature is None:
            break
        del leaves[path]
        splits[path] = node
        is_left = node.goes_left(X[rows])
        for side, some in ((0, rows[is_left]), (1, rows[~is_left])):
            of_side = tuple(numbers[some] for numbers in derivatives)
            leaves[*path, side] = (some, slow_split(X[some], cuts, of_side, limits))

    def join(path):
        if path not in splits:
            return SlowNode(leaves[path][1].value)
        return replace(splits[path], left=join((*path, 0)), right=join((*path, 1)))

    return join(())


def _squared(y, scores):
    return scores - y, np.ones_like(y)


def _logistic(y, scores):
    p = 1 / (1 + np.exp(-scores))
    return p - y, p * (1 - p)


LOSSES = {
    "squared": (lambda mean: mean, _squared),
    "logistic": (lambda mean: np.log(mean / (1 - mean)), _logistic),
}
"""Of each loss the start, from the mean of y, and the derivatives of a row of weight 1."""


@dataclass(frozen=True)
class SlowBoosting:
    """A constant and trees."""

    start: float
    trees: list[SlowNode]
    rate: float

    def scores(self, X):
        return self.start + self.rate * sum(tree.predict(X) for tree in self.trees)


def slow_boosting(X, y, weights, *, loss, rounds, rate, limits, grow=None):
    """Boost; ``weights`` are of rows, None: all 1.

    ``grow`` makes a tree of rows, cuts, derivatives, limits and its number, in place of
    ``slow_tree``.
    """
    w = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    X, y, w = X[w > 0], y[w > 0], w[w > 0]
    start, derivatives = LOSSES[loss]
    model = SlowBoosting(start(np.average(y, weights=w)), [], rate)
    cuts = [slow_cuts(column) for column in X.T]
    scores = np.full(len(y), model.start)
    for number in range(rounds):
        g, h = derivatives(y, scores)
        given = (X, cuts, (w * g, w * h, w), limits)
        model.trees.append(slow_tree(*given) if grow is None else grow(*given, number))
        scores += rate * model.trees[-1].predict(X)
    return model


def slow_dropout(X, y, *, loss, dropped_of, rate, limits):
    """Boost with dropout, by the paper and XGBoost's learning rate: scores, and weights of trees.

    ``dropped_of`` lists, for each round, the earlier rounds that it leaves out.
    """
    start, derivatives = LOSSES[loss]
    base, cuts = start(y.mean()), [slow_cuts(column) for column in X.T]
    trees, weights = [], []
    for dropped in dropped_of:
        kept = [t for t in range(len(trees)) if t not in dropped]
        said = sum((weights[t] * trees[t].predict(X) for t in kept), np.zeros(len(y)))
        scores = base + rate * said
        g, h = derivatives(y, scores)
        trees.append(slow_tree(X, cuts, (g, h, np.ones(len(y))), limits))
        k = len(dropped)
        for t in dropped:
            weights[t] *= k / (k + rate)
        weights.append(1 / (k + rate) if k else 1.0)
    all_of_them = zip(weights, trees, strict=True)
    return base + rate * sum(w * tree.predict(X) for w, tree in all_of_them), weights
