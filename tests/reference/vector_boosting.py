"""Slow twin of boosting with vector leaves: the definition, in float64 and plain NumPy.

As ``tests/reference/boosting.py``, but one tree for all outputs: the gain of a split is the sum of
the gains of the outputs, and the leaf has a value for each. An output whose hessians on a side add
up to less than ``min_child_weight`` has the value 0 there. Some output must have enough on both.
"""

from dataclasses import replace

import numpy as np
from tests.reference.boosting import SlowBoosting, SlowNode, slow_cuts


def _enough(limits, h):
    return (h >= limits.min_child_weight) & (h + limits.l2 > 0)


def _shrunk(limits, g):
    return np.sign(g) * np.maximum(np.abs(g) - limits.l1, 0.0)


def vector_value(limits, g, h):
    """(n_outputs,): the best value of each output."""
    takes_part = _enough(limits, h)
    return np.where(takes_part, -_shrunk(limits, g) / np.where(takes_part, h + limits.l2, 1.0), 0.0)


def vector_score(limits, g, h):
    """Twice the loss that the best values remove, of all outputs together."""
    return float((-_shrunk(limits, g) * vector_value(limits, g, h)).sum())


def _gain(is_left, derivatives, limits):
    sides = [[numbers[side].sum(axis=0) for numbers in derivatives] for side in (is_left, ~is_left)]
    if any(w < limits.min_rows or w == 0 for _, _, w in sides):
        return 0.0
    if not (_enough(limits, sides[0][1]) & _enough(limits, sides[1][1])).any():
        return 0.0
    g, h, _ = (numbers.sum(axis=0) for numbers in derivatives)
    of_sides = sum(vector_score(limits, g, h) for g, h, _ in sides)
    return (of_sides - vector_score(limits, g, h)) / 2


def vector_split(X, cuts, derivatives, limits):
    """The leaf of some rows, with its best split if there is any; ties as for one output."""
    g, h, w = derivatives
    best = SlowNode(vector_value(limits, g.sum(axis=0), h.sum(axis=0)))
    for feature, column in enumerate(X.T):
        for missing_left in (False, True) if np.isnan(column).any() else (False,):
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


def vector_tree(X, cuts, derivatives, limits):
    """A tree grown best first; derivatives are (n_rows, n_outputs), weights (n_rows,)."""
    leaves = {(): (np.arange(len(X)), vector_split(X, cuts, derivatives, limits))}
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
            leaves[*path, side] = (some, vector_split(X[some], cuts, of_side, limits))

    def join(path):
        if path not in splits:
            return SlowNode(leaves[path][1].value)
        return replace(splits[path], left=join((*path, 0)), right=join((*path, 1)))

    return join(())


def vector_predict(node, X):
    """(n_rows, n_outputs) values of leaves."""
    if node.left is None:
        return np.tile(node.value, (len(X), 1))
    is_left = node.goes_left(X)[:, np.newaxis]
    return np.where(is_left, vector_predict(node.left, X), vector_predict(node.right, X))


def vector_boosting(X, Y, weights, *, start, derivatives, rounds, rate, limits):
    """Boost; ``start`` from the means of the outputs, ``derivatives`` of rows of weight 1."""
    weights = np.ones(len(Y)) if weights is None else np.asarray(weights, float)
    keep = weights > 0
    X, Y, weights = X[keep], Y[keep], weights[keep]
    first = start(np.average(Y, axis=0, weights=weights))
    cuts, scores, trees = [slow_cuts(column) for column in X.T], np.tile(first, (len(Y), 1)), []
    for _ in range(rounds):
        g, h = derivatives(Y, scores)
        weighted = g * weights[:, np.newaxis], h * weights[:, np.newaxis], weights
        trees.append(vector_tree(X, cuts, weighted, limits))
        scores = scores + rate * vector_predict(trees[-1], X)
    return SlowBoosting(first, trees, rate)
