"""Slow twin of prediction: one row, one tree, one node at a time."""

import math


def slow_leaf(tree, row, bin_of_code):
    """Walk a row (numbers, or category codes with -1 for missing) to its leaf."""
    node = 0
    while tree.right[node] >= 0:
        feature = tree.feature[node]
        x = row[feature]
        if tree.category_set[node] >= 0:
            is_missing = x < 0
            left = False
            if not is_missing:
                b = int(bin_of_code[feature][x])
                left = bool(tree.category_sets[tree.category_set[node]][b // 8] >> (b % 8) & 1)
        else:
            is_missing = math.isnan(x)
            left = x <= tree.threshold[node]
        if is_missing:
            left = bool(tree.missing_left[node])
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
