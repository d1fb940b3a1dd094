"""Monotone constraints of trees that lower absolute error."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor as TheirTree

from spinney import DecisionTreeRegressor, ExtraTreesRegressor, RandomForestRegressor

RNG = np.random.default_rng(4)
X = RNG.standard_normal((220, 3))
Z = X[:, 0] - X[:, 2] + 0.7 * RNG.standard_normal(220)
SIGNS = [1, 0, -1]
BOUND = {"criterion": "absolute_error", "monotonic_cst": SIGNS, "random_state": 0}


def steepest_wrong_step(estimator, table=X):
    """The largest step against a constraint, along lines through some rows."""
    worst = 0.0
    for feature, sign in enumerate(SIGNS):
        lines = np.repeat(table[:40], 60, axis=0)
        lines[:, feature] = np.tile(np.linspace(-4, 4, 60), 40)
        steps = np.diff(estimator.predict(lines).reshape(40, 60), axis=1)
        worst = max(worst, 0.0 if sign == 0 else float((-sign * steps).max()))
    return worst


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeRegressor(**BOUND),
        DecisionTreeRegressor(**BOUND, splitter="random"),
        DecisionTreeRegressor(**BOUND, max_leaf_nodes=12),
        RandomForestRegressor(10, **BOUND),
        ExtraTreesRegressor(10, **BOUND),
    ],
    ids=["tree", "random cuts", "best first", "forest", "extra trees"],
)
@pytest.mark.parametrize("target", [Z, np.round(Z)], ids=["apart", "tied"])
def test_predictions_go_the_one_way_only(estimator, target):
    assert steepest_wrong_step(estimator.fit(X, target)) <= 1e-12
    free = estimator.__class__(**{**estimator.get_params(), "monotonic_cst": None})
    assert steepest_wrong_step(free.fit(X, target)) > 0.1
    loss = np.abs(estimator.predict(X) - target).mean()
    assert loss < 0.9 * np.abs(target - np.median(target)).mean()


def test_missing_values_and_categories_are_no_way_around():
    table = X.copy()
    table[::6, 1] = np.nan
    table = np.c_[table, RNG.integers(0, 4, len(X))]
    tree = DecisionTreeRegressor(
        **{**BOUND, "monotonic_cst": [*SIGNS, 0]}, categorical_features=[3]
    ).fit(table, Z)
    assert steepest_wrong_step(tree, table) <= 1e-12
    assert tree.get_n_leaves() > 10


def test_the_upper_levels_are_those_of_scikit_learn():
    ours = DecisionTreeRegressor(**BOUND, max_depth=2).fit(X, Z)
    theirs = TheirTree(**BOUND, max_depth=2).fit(X, Z)
    assert np.allclose(ours.predict(X), theirs.predict(X))


def test_weights_are_repetitions():
    times = RNG.integers(1, 4, len(X))
    weighted = DecisionTreeRegressor(**BOUND).fit(X, Z, times)
    repeated = DecisionTreeRegressor(**BOUND).fit(np.repeat(X, times, axis=0), np.repeat(Z, times))
    assert np.array_equal(weighted.predict(X), repeated.predict(X))
