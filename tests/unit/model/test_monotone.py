"""The verifier of monotone trees, against brute force and against a tree made by hand."""

import itertools

import numpy as np
import pytest

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.losses.loss import REGRESSION_LOSSES
from spinney.model.monotone import find_monotone_violation


def table(seed, n=300, missing=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    y = X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def tree_value(tree, row):
    node = 0
    while tree.right[node] >= 0:
        x = row[tree.feature[node]]
        left = tree.missing_left[node] if np.isnan(x) else x <= tree.threshold[node]
        node = node + 1 if left else tree.right[node]
    return tree.values[node, 0]


def is_monotone_by_brute_force(tree, direction):
    """Every cell of the grid of thresholds, and missing values in the other features."""
    grids = []
    for feature in range(3):
        cuts = np.unique(tree.threshold[(tree.feature == feature) & np.isfinite(tree.threshold)])
        middle = (cuts[1:] + cuts[:-1]) / 2
        grids.append([*(cuts[:1] - 1), *middle, *(cuts[-1:] + 1)] or [0.0])
    for b in (*grids[1], np.nan):
        for c in (*grids[2], np.nan):
            line = [direction * tree_value(tree, (a, b, c)) for a in grids[0]]
            if any(high < low for low, high in itertools.pairwise(line)):
                return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_verdict_is_that_of_brute_force(seed):
    X, y = table(seed)
    model = GradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=6, min_samples_leaf=5, learning_rate=1.0
    ).fit(X, y)
    for direction in (1, -1):
        proved = find_monotone_violation(model.model_, 0, direction) is None
        assert proved == is_monotone_by_brute_force(model.model_[0], direction)


def test_both_verdicts_occur():
    verdicts = set()
    for seed in range(12):
        X, y = table(seed)
        model = GradientBoostingRegressor(max_iter=1, max_leaf_nodes=6, min_samples_leaf=5)
        verdicts.add(find_monotone_violation(model.fit(X, y).model_, 0, 1) is None)
    assert verdicts == {True, False}


def test_violation_names_leaves_out_of_order():
    X, y = table(0)
    model = GradientBoostingRegressor(max_iter=5, min_samples_leaf=5).fit(X, y).model_
    found = find_monotone_violation(model, 1, 1)
    tree = model[found.tree]
    assert tree.values[found.low_leaf, 0] == found.low_value > found.high_value
    assert tree.values[found.high_leaf, 0] == found.high_value


@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
@pytest.mark.parametrize("loss", [*REGRESSION_LOSSES])
def test_constrained_models_are_proved_monotone(loss, growth):
    X, y = table(3, n=800)
    model = GradientBoostingRegressor(
        loss=loss,
        quantile=0.4,
        growth=growth,
        max_iter=15,
        min_samples_leaf=5,
        subsample=0.8,
        monotonic_cst=[-1, 1, 0],
        random_state=0,
    ).fit(X, np.exp(0.5 * y))
    assert find_monotone_violation(model.model_, 0, -1) is None
    assert find_monotone_violation(model.model_, 1, 1) is None
    assert find_monotone_violation(model.model_, 2, 1) is not None


def test_constrained_classifier_is_proved_monotone():
    X, y = table(4, n=800)
    model = GradientBoostingClassifier(max_iter=15, monotonic_cst=[1, 0, 0], min_samples_leaf=5)
    model.fit(X, y > 0)
    assert find_monotone_violation(model.model_, 0, 1) is None
    assert find_monotone_violation(model.model_, 1, 1) is not None
