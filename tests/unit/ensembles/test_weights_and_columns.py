"""What an estimator owes to weights, classes, outputs and columns, end to end."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.errors import InvalidInput, InvalidModel
from spinney.model import Committee, Policy

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("outlier", [1e4, 1e6, 1e9, 1e12])
def test_one_large_target_does_not_blind_the_tree(outlier):
    X = RNG.random((1000, 2))
    y = (X[:, 0] > 0.5).astype(float)
    X[0], y[0] = 2.0, outlier
    tree = DecisionTreeRegressor(max_leaf_nodes=8).fit(X, y)
    assert tree.score(X[1:], y[1:]) > 0.999


def test_outputs_of_different_size_are_both_learnt():
    X = RNG.random((200, 1))
    y = np.column_stack([1e9 * (X[:, 0] > 0.7), (X[:, 0] > 0.3)])
    tree = DecisionTreeRegressor().fit(X, y)
    assert np.allclose(tree.predict(X), y, rtol=1e-6)


def test_order_of_outputs_does_not_matter_for_categories():
    X = pd.DataFrame({"c": list("abcd") * 25})
    y, z = np.array([0.0, 1.0, 0.0, 1.0] * 25), np.zeros(100)
    for targets in (np.c_[y, z], np.c_[z, y], np.c_[z, y, z]):
        tree = DecisionTreeRegressor(max_depth=1).fit(X, targets)
        assert (tree.predict(X) == targets).all()


def test_levels_of_rows_of_weight_zero_are_as_if_never_seen():
    X = pd.DataFrame({"c": ["a", "b", "a", "b", "z"], "n": [1, 2, 3, 4, 5.0]})
    y = [0, 1, 0, 1, 1]
    with_row = DecisionTreeClassifier(unseen="error").fit(X, y, [1, 1, 1, 1, 0])
    without = DecisionTreeClassifier(unseen="error").fit(X[:4], y[:4])
    assert with_row.model_.fingerprint == without.model_.fingerprint
    with pytest.raises(InvalidInput, match="'z'"):
        with_row.predict(X[4:])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 0.3, 1: 1.7}])
def test_a_weight_is_a_repetition_also_with_class_weights(class_weight):
    X = RNG.normal(size=(400, 3)).round(1)
    y = (X[:, 0] + RNG.normal(size=400) > 0.5).astype(int)
    weights = RNG.integers(1, 5, 400)
    weighted = DecisionTreeClassifier(class_weight=class_weight).fit(X, y, weights)
    repeated = DecisionTreeClassifier(class_weight=class_weight).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    for name in ("feature", "threshold", "right", "values", "weight", "gain"):
        assert np.array_equal(weighted.model_.arrays[name], repeated.model_.arrays[name]), name


@pytest.mark.parametrize(
    "settings",
    [{"min_samples_leaf": 0.5}, {"min_samples_split": 0.3}, {"class_weight": "balanced"}],
)
def test_row_order_does_not_matter_for_any_weights(settings):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, w = rng.normal(size=(60, 2)), rng.choice([0.1, 0.2, 0.4, 0.5, 1.0, 1.1], 60)
        y = rng.integers(0, 2, 60)
        order = rng.permutation(60)
        one = DecisionTreeClassifier(**settings).fit(X, y, w)
        other = DecisionTreeClassifier(**settings).fit(X[order], y[order], w[order])
        assert one.model_ == other.model_


def test_ten_rows_of_weight_a_tenth_are_one_row():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    tree = DecisionTreeRegressor(min_samples_leaf=1).fit(X, X[:, 0], np.full(20, 0.1))
    assert tree.get_n_leaves() == 2


def test_weights_that_forbid_every_split_are_pointed_out():
    X = RNG.random((100, 1))
    with pytest.warns(UserWarning, match="single leaf"):
        DecisionTreeRegressor(min_samples_leaf=5).fit(X, X[:, 0], np.full(100, 1e-3))


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e300])
def test_weights_whose_sums_are_no_numbers_are_refused(weight):
    with pytest.raises(InvalidInput, match="Divide all of them"):
        DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0], [weight, weight])


def test_a_rare_value_gets_its_bin_in_a_table_that_is_sampled():
    for seed in range(5):
        x = np.zeros(300_000)
        x[np.random.default_rng(seed).choice(300_000, 3, replace=False)] = 1.0
        tree = DecisionTreeRegressor().fit(x[:, np.newaxis], x)
        assert tree.get_n_leaves() == 2


def test_large_integers_are_no_categories():
    ids = pd.DataFrame({"id": [2**53, 2**53 + 1] * 5})
    with pytest.raises(InvalidInput, match=r"'id', row 0: 9007199254740992 as a category"):
        DecisionTreeRegressor(categorical_features=["id"]).fit(ids, [0, 1] * 5)
    as_category = pd.DataFrame({"id": pd.Categorical(ids["id"])})
    tree = DecisionTreeRegressor().fit(as_category, [0.0, 1.0] * 5)
    assert tree.predict(as_category).tolist() == [0.0, 1.0] * 5
    with pytest.raises(InvalidInput, match="as a category"):
        tree.predict(ids)


def test_columns_picked_in_another_order_are_refused_or_matched():
    X = pd.DataFrame({0: [1.0, 2, 3, 4], 1: [0.0] * 4})
    tree = DecisionTreeRegressor().fit(X, [1, 2, 3, 4])
    with pytest.raises(InvalidInput, match="order 1, 0"):
        tree.predict(X[[1, 0]])
    years = X.rename(columns={0: 1990, 1: 2000})
    tree = DecisionTreeRegressor().fit(years, [1, 2, 3, 4])
    assert tree.predict(years[[2000, 1990]]).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_ignored_columns_are_not_even_read(library):
    X = library({"a": [1.0, 2.0], "b": [1.0, 1.0]})
    tree = DecisionTreeRegressor(extra_columns="ignore").fit(X, [1.0, 2.0])
    odd = library({"lists": [[1], [2]], "b": [1.0, 1.0], "a": [1.0, 2.0]})
    assert tree.predict(odd).tolist() == [1.0, 2.0]


def test_committee_of_other_classes_is_refused():
    members = [
        DecisionTreeClassifier().fit([[0.0], [1.0]], labels).model_
        for labels in (["a", "b"], ["x", "y"])
    ]
    with pytest.raises(InvalidModel, match="same thing"):
        Committee(members, np.ones(2), combine="mean", policy=Policy())


def test_no_array_of_a_model_can_be_made_writable():
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 2.0]).model_
    for array in [*model.arrays.values(), model[0].gain, model[:1].arrays["right"]]:
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(TypeError, match="does not support item assignment"):
        model.arrays["right"] = np.zeros(3, np.int32)
