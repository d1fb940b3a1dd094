"""The slow twins of partial dependence and of Friedman's H: their definitions, value by value."""

from itertools import product

import numpy as np
from tests.reference.traverse import slow_scores


def slow_dependence(forest, rows, points, bin_of_code, *, weights=None, output=0):
    """Mean raw score of all rows with some features set; ``points``: values by feature."""
    weights = np.ones(len(rows)) if weights is None else weights
    means = []
    for values in product(*points.values()):
        changed = [list(row) for row in rows]
        for row in changed:
            for feature, value in zip(points, values, strict=True):
                row[feature] = value
        scores = np.array(slow_scores(forest, changed, bin_of_code))[:, output]
        means.append(weights @ scores / weights.sum())
    return np.reshape(means, [len(values) for values in points.values()])


def slow_cover_value(tree, node, known, bin_of_code):
    """Expected value below a node: known features decide, others divide by training weight."""
    right = tree.right[node]
    if right < 0:
        return tree.values[node]
    feature, children = tree.feature[node], (node + 1, right)
    below = [slow_cover_value(tree, child, known, bin_of_code) for child in children]
    if feature not in known:
        weights = tree.weight[list(children)]
        return (weights @ np.array(below)) / weights.sum()
    x = known[feature]
    if tree.category_set[node] >= 0:
        bits = np.unpackbits(tree.category_sets[tree.category_set[node]], bitorder="little")
        left = bits[bin_of_code[feature][x]] if x >= 0 else tree.missing_left[node]
    else:
        left = tree.missing_left[node] if np.isnan(x) else x <= tree.threshold[node]
    return below[0 if left else 1]


def slow_h(forest, rows, bin_of_code, first, second=None, *, weights=None):
    """H² of a pair of features, or of one with all others, from centred dependences at the rows."""
    weights = np.ones(len(rows)) if weights is None else weights
    share = weights / weights.sum()
    n_features = len(rows[0])

    def centred(features):
        values = [
            slow_dependence(
                forest, rows, {f: [row[f]] for f in features}, bin_of_code, weights=weights
            ).item()
            for row in rows
        ]
        return np.array(values) - share @ values

    both = [first, second] if second is not None else range(n_features)
    other = [second] if second is not None else [f for f in range(n_features) if f != first]
    together = centred(both)
    apart = together - centred([first]) - centred(other)
    return share @ apart**2 / (share @ together**2)
