"""Forests whose trees lower absolute error."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor as TheirForest

from spinney import (
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestRegressor,
)

RNG = np.random.default_rng(6)
X = RNG.standard_normal((240, 4))
Z = X[:, 0] + np.abs(X[:, 1]) + RNG.standard_t(2, 240)
ABSOLUTE = {"criterion": "absolute_error", "random_state": 0}


def test_a_forest_of_one_tree_on_all_rows_is_the_tree():
    forest = RandomForestRegressor(1, bootstrap=False, **ABSOLUTE).fit(X, Z)
    tree = DecisionTreeRegressor(criterion="absolute_error").fit(X, Z)
    assert np.array_equal(forest.predict(X), tree.predict(X))


def test_trees_on_bags_are_trees_on_repeated_rows():
    forest = RandomForestRegressor(1, max_depth=4, **ABSOLUTE).fit(X, Z)
    (drawn,) = forest.estimators_samples_
    tree = DecisionTreeRegressor(criterion="absolute_error", max_depth=4)
    tree.fit(X[drawn], Z[drawn])
    assert np.array_equal(forest.predict(X), tree.predict(X))


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_weights_are_repetitions_and_threads_do_not_matter(kind):
    times = RNG.integers(1, 4, len(X))
    settings = {"n_estimators": 5, "bootstrap": False, "max_features": 2, **ABSOLUTE}
    weighted = kind(**settings, n_jobs=2).fit(X, Z, times)
    repeated = kind(**settings, n_jobs=1).fit(np.repeat(X, times, axis=0), np.repeat(Z, times))
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


def test_outliers_pull_no_more_than_in_scikit_learn():
    new = np.random.default_rng(1).standard_normal((500, 4))
    truth = new[:, 0] + np.abs(new[:, 1])

    def error(kind, criterion):
        """Over four seeds: min_samples_leaf would count other rows in scikit-learn's bags."""
        shape = {"n_estimators": 60, "max_leaf_nodes": 12, "criterion": criterion}
        fits = (kind(**shape, random_state=seed).fit(X, Z) for seed in range(4))
        return np.mean([np.abs(fit.predict(new) - truth).mean() for fit in fits])

    ours = error(RandomForestRegressor, "absolute_error")
    assert ours < 1.03 * error(TheirForest, "absolute_error")
    assert ours < 0.8 * error(RandomForestRegressor, "squared_error")


def test_missing_values_categories_and_out_of_bag_answers():
    table = X.copy()
    table[::7, 0] = np.nan
    table[:, 3] = RNG.integers(0, 5, len(X))
    forest = RandomForestRegressor(
        30, oob_score=True, categorical_features=[3], max_leaf_nodes=9, **ABSOLUTE
    ).fit(table, Z)
    assert forest.oob_prediction_.shape == Z.shape
    assert forest.feature_importances_.argmax() in (0, 1)
    assert max(tree.get_n_leaves() for tree in forest.estimators_) <= 9


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_trees_on_categories_know_no_order_of_rows_and_take_weights_for_repetitions(
    seed, n_outputs
):
    """Several categories have equal medians, or medians between two targets."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 6, (14, 2)).astype(float)
    targets = rng.integers(0, 4, (14, n_outputs)).astype(float)
    times = rng.integers(1, 4, 14)
    tree = DecisionTreeRegressor(criterion="absolute_error", categorical_features=[0, 1])
    order = rng.permutation(14)
    first = tree.fit(table, targets).model_
    assert tree.fit(table[order], targets[order]).model_ == first
    weighted = tree.fit(table, targets, times).predict(table)
    often = rng.permutation(np.repeat(np.arange(14), times))
    assert np.array_equal(tree.fit(table[often], targets[often]).predict(table), weighted)
