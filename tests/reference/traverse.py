"""Slow twin of prediction: one row, one tree, one node at a time."""

import math


def goes_left(tree, node, x, bin_of_code):
    """Decide for one value: a number, or a category code with -1 for missing."""
    if tree.category_set[node] >= 0:
        if x >= 0:
            b = int(bin_of_code[tree.feature[node]][x])
            return bool(tree.category_sets[tree.category_set[node]][b // 8] >> (b % 8) & 1)
    elif not math.isnan(x):
        return bool(x <= tree.threshold[node])
    return bool(tree.missing_left[node])


def slow_leaf(tree, row, bin_of_code):
    """Walk a row (numbers, or category codes with -1 for missing) to its leaf."""
    node = 0
    while tree.right[node] >= 0:
        left = goes_left(tree, node, row[tree.feature[node]], bin_of_code)
        node = node + 1 if left else tree.right[node]
    return node


def slow_scores(forest, rows, bin_of_code):
    """Baseline plus weighted values, tree after tree."""
    arrays = forest.arrays
    result = []
    for row in rows:
        scores = [float(b) for b in arrays["baseline"]]
        for t, tree in enumerate(forest):
            values = tree.values[slow_leaf(tree, row, bin_of_code)]
            output = arrays["tree_output"][t]
            for k, value in enumerate(values):
                scores[k if output < 0 else output] += float(arrays["tree_weight"][t]) * value
        result.append(scores)
    return result
