"""The slow twin of the tree grower: the definition, not an implementation.

Every way to send the rows of a node left is tried, in double precision: numbers cut after each
distinct value with missing values on either side, categories in all subsets (missing values are
one more category). Only for small tables.
"""

from itertools import product

import numpy as np


def ways_left(column, *, categorical):
    """Masks of the rows that go left, in the order in which ties are broken."""
    missing = np.isnan(column)
    levels = np.unique(column[~missing])
    if not categorical:
        return [side for v in levels for side in (column <= v, (column <= v) | missing)]
    groups = np.array([*(column == v for v in levels), missing])
    choices = product([False, True], repeat=len(groups))
    return [groups[list(chosen)].any(axis=0) for chosen in choices]


def squared_error(y, w):
    """Weighted squared error around the weighted mean."""
    mean = (w[:, np.newaxis] * y).sum(axis=0) / w.sum()
    return float((w[:, np.newaxis] * (y - mean) ** 2).sum())


def best_split(X, y, w, *, categorical=(), min_leaf=1.0):
    """Largest gain and the rows it sends left; (0, None) when nothing can be gained."""
    best, best_left = 1e-14 * squared_error(y, w), None
    for place, column in enumerate(X.T):
        for left in ways_left(column, categorical=place in categorical):
            if min(w[left].sum(), w[~left].sum()) < min_leaf or left.all() or not left.any():
                continue
            parts = squared_error(y[left], w[left]) + squared_error(y[~left], w[~left])
            gain = squared_error(y, w) - parts
            if gain > best:
                best, best_left = gain, left
    return (best, best_left) if best_left is not None else (0.0, None)


def grow_and_predict(X, y, w, *, max_depth, **limits):
    """Value of each training row's leaf, after at most ``max_depth`` splits in a row."""
    mean = (w[:, np.newaxis] * y).sum(axis=0) / w.sum()
    can_split = max_depth > 0 and len(X) >= 2 and w.sum() >= 2
    left = best_split(X, y, w, **limits)[1] if can_split else None
    predicted = np.repeat(mean[np.newaxis], len(X), axis=0)
    if left is not None:
        for side in (left, ~left):
            part = (X[side], y[side], w[side])
            predicted[side] = grow_and_predict(*part, max_depth=max_depth - 1, **limits)
    return predicted
