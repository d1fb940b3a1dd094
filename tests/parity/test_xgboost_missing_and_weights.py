"""XGBoost's exact greedy search with missing values, weights, penalties and limits.

Dumps are compared node by node: feature, threshold, direction of missing values, gain, leaf value.
Where XGBoost defines something differently the comparison says so, and compares the rest:

* A threshold is the middle between two values of the table with us, of the node with XGBoost.
* Where all values of a node are cut from missing ones, our threshold is the next one of the table,
  or infinite behind the last; XGBoost's lies beyond the values by the size of the largest.
* Where a node has no missing value we send later ones to the heavier child, XGBoost to the left if
  the column is complete, else to the right.
* Two features may part the rows of a node alike, also at opposite ends. Their gains are the same
  number, and rounding decides which of them is taken.
* A weight below 1 is less than one row for our ``min_samples_leaf``, and XGBoost has no such limit;
  the weights here are 1 or more.
"""

import json

import numpy as np
import pytest
import xgboost

from spinney import GradientBoostingClassifier, GradientBoostingRegressor

WEIGHTS = {
    "none": lambda _: None,
    "whole": lambda rng: rng.integers(1, 5, N_ROWS).astype(float),
    "fractional": lambda rng: 1.0 + rng.gamma(1.0, 1.0, N_ROWS),
}
PENALTIES = [(0.0, 0.0, 0.01), (1.0, 0.0, 0.01), (0.5, 0.7, 0.01), (0.0, 0.0, 6.0)]
N_ROWS, ROUNDS = 150, 4


def table_with_gaps(seed):
    """Values missing by chance, where y is large, and in whole rows; one complete column."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, size=(N_ROWS, 4)).astype(float)
    y = X[:, 0] / 10 + np.sin(X[:, 1] / 5) + rng.normal(size=N_ROWS)
    gaps = rng.random(X.shape) < 0.15
    gaps[:, 1] |= (y > np.quantile(y, 0.7)) & (rng.random(N_ROWS) < 0.5)
    gaps[:4], gaps[:, 3] = True, False
    return np.where(gaps, np.nan, X), y, rng


def fit_both(X, y, weights, task, penalties):
    """Our model, their model, and the roots of their trees."""
    l2, l1, min_child_weight = penalties
    make = GradientBoostingClassifier if task == "logistic" else GradientBoostingRegressor
    ours = make(
        loss=task,
        max_iter=ROUNDS,
        learning_rate=0.3,
        max_depth=3,
        max_leaf_nodes=None,
        growth="level_wise",
        min_samples_leaf=1,
        min_child_weight=min_child_weight,
        l2_regularization=l2,
        l1_regularization=l1,
    ).fit(X, y, weights)
    settings = {
        "objective": {"squared": "reg:squarederror", "logistic": "binary:logistic"}[task],
        "tree_method": "exact",
        "eta": 0.3,
        "max_depth": 3,
        "lambda": l2,
        "alpha": l1,
        "min_child_weight": min_child_weight,
        "base_score": float(np.average(y, weights=weights)),
        "nthread": 1,
    }
    matrix = xgboost.DMatrix(X, y, weight=weights)
    theirs = xgboost.train(settings, matrix, num_boost_round=ROUNDS)
    dumps = theirs.get_dump(dump_format="json", with_stats=True)
    return ours, theirs, [json.loads(dump) for dump in dumps]


def assert_same_threshold(ours, theirs, values, column):
    """``values`` are those of the node, ``column`` those of the table."""
    if ours >= values.max():
        assert theirs > values.max()
        return
    low, high = values[values <= ours].max(), values[values > ours].min()
    assert low < theirs <= high
    if not ((low < column) & (column < high)).any():
        assert ours == pytest.approx(theirs, rel=1e-6)


def assert_same_dump(tree, root, X):
    """The same rows at every node, by the same feature, threshold and direction."""
    pending, n_nodes = [(0, root, np.arange(len(X)))], 0
    while pending:
        i, node, rows = pending.pop()
        n_nodes += 1
        if "leaf" in node:
            assert tree.right[i] == -1
            assert tree.values[i, 0] == pytest.approx(node["leaf"], rel=1e-4, abs=1e-6)
            continue
        assert 2 * tree.gain[i] == pytest.approx(node["gain"], rel=1e-4, abs=1e-5)
        goes_left, is_mirrored = compared_split(tree, i, node, X, rows)
        children = {child["nodeid"]: child for child in node["children"]}
        left, right = (children[node[side]] for side in ("yes", "no"))
        if is_mirrored:
            left, right = right, left
        pending += [(i + 1, left, rows[goes_left]), (tree.right[i], right, rows[~goes_left])]
    assert n_nodes == len(tree)


def compared_split(tree, i, node, X, rows):
    """Which rows go left with us, and whether these go right with them."""
    values = X[rows, tree.feature[i]]
    goes_left = np.where(np.isnan(values), tree.missing_left[i] == 1, values <= tree.threshold[i])
    feature = int(node["split"][1:])
    values = X[rows, feature]
    missing, missing_left = np.isnan(values), node["missing"] == node["yes"]
    if tree.feature[i] == feature:
        assert_same_threshold(
            tree.threshold[i], node["split_condition"], values[~missing], X[:, feature]
        )
        assert not missing.any() or bool(tree.missing_left[i]) == missing_left
        return goes_left, False
    theirs = np.where(missing, missing_left, values < node["split_condition"])
    assert np.array_equal(theirs, goes_left) or np.array_equal(theirs, ~goes_left)
    return goes_left, not np.array_equal(theirs, goes_left)


@pytest.mark.parametrize("penalties", PENALTIES, ids=str)
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("task", ["squared", "logistic"])
@pytest.mark.parametrize("seed", range(3))
def test_dumps_are_those_of_xgboost(seed, task, weighting, penalties):
    X, y, rng = table_with_gaps(seed)
    if task == "logistic":
        y = (y > np.median(y)).astype(int)
    weights = WEIGHTS[weighting](rng)
    ours, theirs, dumps = fit_both(X, y, weights, task, penalties)
    for tree, root in zip(ours.model_, dumps, strict=True):
        assert_same_dump(tree, root, X)
    scores = ours.predict(X) if task == "squared" else ours.decision_function(X)
    margins = theirs.predict(xgboost.DMatrix(X), output_margin=True)
    np.testing.assert_allclose(scores, margins, rtol=1e-4, atol=1e-5)
