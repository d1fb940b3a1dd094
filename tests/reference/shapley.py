"""Slow twin of Shapley values: the definition, over all subsets of the features."""

from itertools import combinations
from math import factorial

import numpy as np
from tests.reference.traverse import goes_left, slow_scores


def expected_scores(forest, row, known, bin_of_code):
    """Raw scores when only some features are known: others are averaged over by weight."""

    def below(tree, node):
        right = tree.right[node]
        if right < 0:
            return tree.values[node]
        if tree.feature[node] in known:
            left = goes_left(tree, node, row[tree.feature[node]], bin_of_code)
            return below(tree, node + 1 if left else right)
        one, two = float(tree.weight[node + 1]), float(tree.weight[right])
        share = one / (one + two) if one + two else 0.5
        return share * below(tree, node + 1) + (1 - share) * below(tree, right)

    scores = forest.arrays["baseline"].astype(float)
    for t, tree in enumerate(forest):
        output = forest.arrays["tree_output"][t]
        to = slice(None) if output < 0 else slice(output, output + 1)
        scores[to] += forest.arrays["tree_weight"][t] * below(tree, 0)
    return scores


def mixed_scores(forest, row, known, background, bin_of_code):
    """Mean raw scores of the rows of a background (and weights) with the known features' values."""
    rows, weights = background
    mixed = [[row[f] if f in known else other[f] for f in range(len(row))] for other in rows]
    return np.average(slow_scores(forest, mixed, bin_of_code), axis=0, weights=weights)


def shapley(n_features, worth):
    """Average what each feature adds over all orders; ``worth`` takes a set of features."""
    worths = {s: worth(s) for s in subsets(range(n_features))}
    values = []
    for i in range(n_features):
        total = 0.0
        for s in subsets(set(range(n_features)) - {i}):
            orders = factorial(len(s)) * factorial(n_features - len(s) - 1)
            total = total + orders / factorial(n_features) * (worths[s | {i}] - worths[s])
        values.append(total)
    return np.array(values)


def shapley_interactions(n_features, worth):
    """Shapley's interaction index, half on either side of the diagonal, the rest on it."""
    worths = {s: worth(s) for s in subsets(range(n_features))}
    matrix = np.zeros((n_features, n_features, *np.shape(worths[frozenset()])))
    for i, j in combinations(range(n_features), 2):
        for s in subsets(set(range(n_features)) - {i, j}):
            orders = factorial(len(s)) * factorial(n_features - len(s) - 2)
            both = worths[s | {i, j}] - worths[s | {i}] - worths[s | {j}] + worths[s]
            matrix[i, j] = matrix[i, j] + orders / (2 * factorial(n_features - 1)) * both
        matrix[j, i] = matrix[i, j]
    alone = shapley(n_features, worth) - matrix.sum(axis=1)
    matrix[range(n_features), range(n_features)] = alone
    return matrix


def subsets(features):
    """All of them, as frozen sets."""
    listed = sorted(features)
    return [frozenset(s) for n in range(len(listed) + 1) for s in combinations(listed, n)]
