"""Decision trees: against the slow twin, against scikit-learn, and what they promise."""

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes
from tests.reference.tree import best_split, grow_and_predict

import spinney
from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.errors import InvalidParameter

examples = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def small_tables(draw, *, most_levels=30):
    """Few rows with ties and missing values, a continuous target, integer weights."""
    n_rows, n_columns = draw(st.integers(2, 24)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(2, most_levels)), (n_rows, n_columns)).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.25]))] = np.nan
    y = rng.normal(size=(n_rows, draw(st.integers(1, 2)))) + 100
    weights = rng.integers(1, 4, n_rows).astype(float)
    return X, y, weights


def centred(y):
    return y - (y.min(axis=0) + y.max(axis=0)) / 2


# The slow twin


@examples
@given(small_tables(), st.sampled_from([1, 2, 4]))
def test_first_split_of_numbers_gains_what_the_slow_twin_gains(table, min_leaf):
    X, y, w = table
    tree = DecisionTreeRegressor(max_depth=1, min_samples_leaf=min_leaf).fit(X, y, w)
    gain, _ = best_split(X, centred(y), w, min_leaf=min_leaf)
    assert tree.model_[0].gain[0] == pytest.approx(gain, rel=1e-9, abs=1e-9)


@examples
@given(small_tables(), st.sampled_from([1, 3]))
def test_tree_on_numbers_predicts_what_the_slow_twin_predicts(table, min_leaf):
    X, y, w = table
    tree = DecisionTreeRegressor(max_depth=4, min_samples_leaf=min_leaf).fit(X, y, w)
    expected = grow_and_predict(X, y, w, max_depth=4, min_leaf=min_leaf)
    assert np.allclose(tree.predict(X).reshape(expected.shape), expected, rtol=1e-9)


@examples
@given(small_tables(most_levels=5), st.sampled_from([1, 3]))
def test_order_by_means_finds_the_best_of_all_subsets_of_categories(table, min_leaf):
    X, y, w = table
    y, every = y[:, :1], list(range(X.shape[1]))  # Fisher's theorem is about one output
    limits = {"min_samples_leaf": min_leaf, "categorical_features": every}
    tree = DecisionTreeRegressor(max_depth=1, **limits).fit(X, y.ravel(), w)
    gain, _ = best_split(X, centred(y), w, categorical=every, min_leaf=min_leaf)
    found = tree.model_[0].gain[0]
    if min_leaf == 1:
        assert found == pytest.approx(gain, rel=1e-9, abs=1e-9)
    else:  # a leaf minimum takes the theorem away: cuts in the order may all be forbidden
        assert found <= gain * (1 + 1e-9)


@examples
@given(small_tables(most_levels=5))
def test_tree_on_categories_predicts_what_the_slow_twin_predicts(table):
    X, y, w = table
    y, every = y[:, :1], list(range(X.shape[1]))
    tree = DecisionTreeRegressor(max_depth=3, categorical_features=every).fit(X, y.ravel(), w)
    expected = grow_and_predict(X, y, w, max_depth=3, categorical=every)
    assert np.allclose(tree.predict(X), expected.ravel(), rtol=1e-9)


@examples
@given(small_tables(), st.integers(2, 3))
def test_classifier_gains_the_decrease_of_gini_impurity(table, n_classes):
    X, y, w = table
    labels = np.digitize(y[:, 0], np.quantile(y[:, 0], np.arange(1, n_classes) / n_classes))
    tree = DecisionTreeClassifier(max_depth=1).fit(X, labels, w)
    one_hot = np.eye(n_classes)[labels][:, np.unique(labels)]
    gain, left = best_split(X, one_hot - 0.5, w)
    assert tree.model_[0].gain[0] == pytest.approx(gain, rel=1e-9, abs=1e-9)
    if left is not None:
        parts = [np.ones(len(X), bool), left, ~left]
        whole, one, two = (w[p].sum() * gini(one_hot[p], w[p]) for p in parts)
        assert gain == pytest.approx(whole - one - two, abs=1e-9)


def gini(one_hot, w):
    shares = (w[:, np.newaxis] * one_hot).sum(axis=0) / w.sum()
    return 1 - (shares**2).sum()


# scikit-learn, where both search the same splits: every distinct value is a bin


def few_values(X, n_values=250):
    """Rank each column into at most 250 values, so that no bin holds two of them."""
    ranks = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0, kind="stable")
    return np.floor(ranks * n_values / len(X)) + 0.5


GRID = [{"max_depth": d} for d in (1, 2, 4, 7)] + [{"max_leaf_nodes": n} for n in (2, 3, 8, 31)]


@pytest.mark.parametrize("limits", GRID, ids=str)
def test_regressor_has_the_training_error_of_scikit_learn(limits):
    X, y = load_diabetes(return_X_y=True)
    X = few_values(X) + np.random.default_rng(0).permutation(X.shape[1])
    y = y + np.random.default_rng(1).normal(size=len(y)) / 100  # no ties between gains
    ours = DecisionTreeRegressor(**limits).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(random_state=0, **limits).fit(X, y)
    errors = [((tree.predict(X) - y) ** 2).mean() for tree in (ours, theirs)]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
    assert ours.get_n_leaves() == theirs.get_n_leaves()


@pytest.mark.parametrize("limits", GRID, ids=str)
@pytest.mark.parametrize("min_leaf", [1, 7])
def test_classifier_has_the_training_impurity_of_scikit_learn(limits, min_leaf):
    X, y = load_breast_cancer(return_X_y=True)
    X, w = few_values(X), np.random.default_rng(2).uniform(1, 2, len(y))  # weights break ties
    ours = DecisionTreeClassifier(min_samples_leaf=min_leaf, **limits).fit(X, y, w)
    theirs = sklearn.tree.DecisionTreeClassifier(
        random_state=0, min_weight_fraction_leaf=min_leaf / w.sum(), **limits
    ).fit(X, y, w)
    errors = [
        (w * tree.predict_proba(X)[np.arange(len(y)), 1 - y]).sum() for tree in (ours, theirs)
    ]
    assert errors[0] == pytest.approx(errors[1], rel=1e-6, abs=1e-9)


def test_importances_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    X = few_values(rng.normal(size=(400, 5)))
    y = X[:, 0] * X[:, 1] + 50 * X[:, 2] + rng.normal(size=400)
    ours = DecisionTreeRegressor(max_depth=4).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    assert np.allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)


# Limits


@examples
@given(small_tables(), st.integers(1, 5), st.integers(2, 9))
def test_limits_hold_in_every_tree(table, max_depth, max_leaf_nodes):
    X, y, w = table
    limits = {"max_depth": max_depth, "max_leaf_nodes": max_leaf_nodes, "min_samples_leaf": 2}
    tree = DecisionTreeRegressor(**limits, min_samples_split=5).fit(X, y, w)
    nodes = tree.model_[0]
    is_leaf = nodes.right < 0
    assert tree.get_depth() <= max_depth
    assert tree.get_n_leaves() <= max_leaf_nodes
    assert len(nodes) == 1 or nodes.weight[is_leaf].min() >= 2
    assert np.all(nodes.weight[~is_leaf] >= 5)
    assert np.all(nodes.gain[~is_leaf] > 0)
    assert np.all(nodes.gain[is_leaf] == 0)


@examples
@given(small_tables())
def test_leaves_hold_the_rows_and_means_they_say(table):
    X, y, w = table
    tree = DecisionTreeRegressor(max_depth=3).fit(X, y, w)
    nodes, leaves = tree.model_[0], tree.apply(X)
    for leaf in np.unique(leaves):
        here = leaves == leaf
        assert nodes.right[leaf] < 0
        assert nodes.count[leaf] == here.sum()
        assert nodes.weight[leaf] == w[here].sum()
        mean = (w[here, np.newaxis] * y[here]).sum(axis=0) / w[here].sum()
        assert np.allclose(nodes.values[leaf], mean, rtol=1e-12)  # noqa: PD011
        assert np.allclose(tree.predict(X)[here], mean if y.shape[1] > 1 else mean[0], rtol=1e-12)


def test_shares_of_the_weight_are_limits_too():
    X = np.arange(100.0).reshape(-1, 1)
    tree = DecisionTreeRegressor(min_samples_leaf=0.2).fit(X, np.arange(100.0))
    nodes = tree.model_[0]
    assert nodes.weight[nodes.right < 0].min() >= 20
    assert tree.get_n_leaves() == 4


def test_gain_below_the_minimum_is_no_split():
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 2.0])  # impurity falls from 1 to 0
    assert DecisionTreeRegressor(min_impurity_decrease=0.99).fit(X, y).get_n_leaves() == 2
    assert DecisionTreeRegressor(min_impurity_decrease=1.01).fit(X, y).get_n_leaves() == 1


@pytest.mark.parametrize("parameter", ["max_depth", "max_leaf_nodes", "max_features"])
@pytest.mark.parametrize("huge", [2**31 - 1, 2**31, 2**63, 10**30])
def test_huge_limit_is_no_limit_or_a_clear_refusal(parameter, huge):
    X, y = np.arange(8.0).reshape(-1, 1), np.arange(8.0)
    try:
        tree = DecisionTreeRegressor(**{parameter: huge}).fit(X, y)
    except InvalidParameter as error:
        assert parameter in str(error)  # noqa: PT017
    else:
        assert tree.get_n_leaves() == 8


# Ordinary use


def test_unseen_category_is_treated_as_missing_or_refused():
    X = pd.DataFrame({"town": ["a", "a", "b", "b", None, None]})
    y = np.array([0.0, 0.0, 5.0, 5.0, 9.0, 9.0])
    tree = DecisionTreeRegressor().fit(X, y)
    assert tree.predict(pd.DataFrame({"town": ["zzz", None, "a", "b"]})).tolist() == [9, 9, 0, 5]


def test_more_categories_than_bins_share_the_last_bin():
    texts = np.array([f"t{i:03}" for i in np.r_[np.arange(400), np.arange(254)]]).reshape(-1, 1)
    y = np.r_[np.arange(400), np.arange(254)] % 2.0
    tree = DecisionTreeRegressor().fit(texts.astype(object), y)
    predicted = tree.predict(texts[:400].astype(object))
    assert np.array_equal(predicted[:254], np.arange(254) % 2.0)
    assert len(set(predicted[254:])) == 1


def test_infinities_are_values_and_nan_is_missing():
    X = np.array([[-np.inf], [0.0], [np.inf], [np.nan]])
    tree = DecisionTreeRegressor().fit(X, [1.0, 2.0, 3.0, 4.0])
    assert tree.predict(X).tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_targets_of_any_size_are_learnt_exactly_enough(scale):
    y = np.array([1.0, 2.0, 3.0, 4.0]) * scale
    tree = DecisionTreeRegressor().fit(np.arange(4.0).reshape(-1, 1), y)
    assert np.allclose(tree.predict(np.arange(4.0).reshape(-1, 1)) / scale, y / scale, rtol=1e-12)


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-60, 2.0**60, 2.0**70, 2.0**600])
def test_weights_of_any_size_give_the_same_tree(scale):
    X, y = np.arange(8.0).reshape(-1, 1), np.array([1.0, 5, 2, 8, 3, 9, 4, 7])
    shares = {"min_samples_leaf": 1e-9, "min_samples_split": 1e-9}
    weights = np.array([1.0, 2, 3, 1, 2, 3, 1, 2])
    expected = DecisionTreeRegressor(**shares, max_depth=2).fit(X, y, weights)
    scaled = DecisionTreeRegressor(**shares, max_depth=2).fit(X, y, weights * scale)
    assert np.allclose(scaled.predict(X), expected.predict(X), rtol=1e-12)


def test_constant_target_one_row_and_one_class_give_one_leaf():
    assert DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0]).get_n_leaves() == 1
    assert DecisionTreeRegressor().fit([[1.0]], [0.1]).predict([[9.0]]).tolist() == [0.1]
    one = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert one.predict_proba([[0.0]]).tolist() == [[1.0]]
    assert one.feature_importances_.tolist() == [0.0]


def test_probabilities_are_class_shares_and_ties_go_to_the_first_class():
    tree = DecisionTreeClassifier(max_depth=1).fit([[0.0]] * 4 + [[1.0]], ["b", "a", "b", "a", "c"])
    assert tree.predict_proba([[0.0]]).tolist() == [[0.5, 0.5, 0.0]]
    assert tree.predict([[0.0]]).tolist() == ["a"]
    assert tree.predict_log_proba([[0.0]])[0, 2] == -np.inf


def test_class_weight_is_a_sample_weight():
    X, y = load_breast_cancer(return_X_y=True)
    by_class = DecisionTreeClassifier(max_depth=3, class_weight={0: 2, 1: 1}).fit(X, y)
    by_row = DecisionTreeClassifier(max_depth=3).fit(X, y, np.where(y == 0, 2, 1))
    assert by_class.model_ == by_row.model_
    balanced = DecisionTreeClassifier(max_depth=3, class_weight="balanced").fit(X, y)
    assert balanced.model_[0].values[0] == pytest.approx([0.5, 0.5])  # noqa: PD011


def test_fit_changes_neither_the_table_nor_the_target_nor_the_weights():
    X, y = load_diabetes(return_X_y=True)
    w = np.ones(len(y))
    for array in (X, y, w):
        array.setflags(write=False)
    spinney.DecisionTreeRegressor(max_depth=3).fit(X, y, w).predict(X)
