"""Slow twin of gradient boosting: the definition, in float64 and plain NumPy."""

import itertools

import numpy as np


def slow_split(X, g, h, *, l2, min_rows):
    """Largest loss removed by a cut of one feature, as (gain, feature, threshold)."""
    best = (0.0, None, None)
    parent = g.sum() ** 2 / (h.sum() + l2)
    for feature, column in enumerate(X.T):
        values = np.unique(column)
        for low, high in itertools.pairwise(values):
            left = column <= low
            if min(left.sum(), (~left).sum()) < min_rows:
                continue
            parts = [g[s].sum() ** 2 / (h[s].sum() + l2) for s in (left, ~left)]
            gain = (sum(parts) - parent) / 2
            if gain > best[0] * (1 + 1e-9) + 1e-12:
                best = (gain, feature, (low + high) / 2)
    return best


def slow_tree(X, g, h, *, max_leaves, l2, min_rows):
    """Leaves grown best first, as (rows, value)."""
    leaves = [np.arange(len(X))]
    while len(leaves) < max_leaves:
        splits = [slow_split(X[r], g[r], h[r], l2=l2, min_rows=min_rows) for r in leaves]
        place = int(np.argmax([gain for gain, _, _ in splits]))
        _, feature, threshold = splits[place]
        if feature is None:
            break
        rows = leaves.pop(place)
        left = X[rows, feature] <= threshold
        leaves += [rows[left], rows[~left]]
    return [(rows, -g[rows].sum() / (h[rows].sum() + l2)) for rows in leaves]


def slow_boosting(X, y, *, derivatives, start, rounds, rate, **limits):
    """Scores of the training rows after the given number of rounds."""
    scores = np.full(len(y), start)
    for _ in range(rounds):
        g, h = derivatives(y, scores)
        for rows, value in slow_tree(X, g, h, **limits):
            scores[rows] += rate * value
    return scores
