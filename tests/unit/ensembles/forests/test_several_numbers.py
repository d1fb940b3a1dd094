"""Trees and forests of several numbers per row, by every criterion."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor as TheirTree
from sklearn.utils import get_tags
from tests.properties.test_determinism import available_sets, instruction_set

import spinney
from spinney import (
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestRegressor,
)
from spinney.errors import InvalidInput, InvalidInputType

RNG = np.random.default_rng(8)
X = RNG.standard_normal((200, 4)).round(1)
X[::11, 2] = np.nan
COUNTS = RNG.poisson(np.exp(np.c_[X[:, 0], X[:, 1] / 2, X[:, 3] / 3])).astype(float)
CRITERIA = ("squared_error", "friedman_mse", "absolute_error", "poisson")
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


@every_criterion
@pytest.mark.parametrize(
    "params", [{"max_depth": 2}, {"max_depth": 3, "min_samples_leaf": 9}, {"max_leaf_nodes": 7}]
)
@pytest.mark.filterwarnings("ignore:.*friedman_mse.*:FutureWarning")
def test_a_tree_is_that_of_scikit_learn(criterion, params):
    full, numbers = np.nan_to_num(X), COUNTS + np.random.default_rng(0).random(COUNTS.shape)
    ours = DecisionTreeRegressor(criterion=criterion, **params).fit(full, numbers)
    theirs = TheirTree(criterion=criterion, random_state=0, **params).fit(full, numbers)
    assert np.allclose(ours.predict(full), theirs.predict(full))
    assert np.allclose(np.sort(ours.tree_.impurity), np.sort(theirs.tree_.impurity))


@every_criterion
@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_models_are_the_same_for_threads_instructions_and_repeated_rows(kind, criterion):
    settings = {"n_estimators": 6, "criterion": criterion, "bootstrap": False, "random_state": 0}
    settings |= {"max_features": 2, "min_samples_leaf": 3}
    times = RNG.integers(1, 4, len(X))
    weighted = kind(**settings, n_jobs=1).fit(X, COUNTS, times)
    repeated = kind(**settings).fit(np.repeat(X, times, axis=0), np.repeat(COUNTS, times, axis=0))
    assert np.array_equal(weighted.predict(X), repeated.predict(X))
    for name in available_sets():
        with instruction_set(name):
            assert kind(**settings, n_jobs=2).fit(X, COUNTS, times).model_ == weighted.model_


@every_criterion
def test_forests_answer_out_of_bag_are_saved_and_bagged(criterion, tmp_path):
    forest = RandomForestRegressor(40, criterion=criterion, oob_score=True, random_state=0)
    forest.fit(X, COUNTS)
    assert forest.oob_prediction_.shape == COUNTS.shape
    assert forest.oob_score_ > 0.05
    assert get_tags(forest).target_tags.multi_output
    spinney.save(forest, tmp_path / "model.spn")
    assert np.array_equal(spinney.load(tmp_path / "model.spn").predict(X), forest.predict(X))
    bagged = BaggingRegressor(DecisionTreeRegressor(criterion=criterion), 8, random_state=0)
    assert get_tags(bagged).target_tags.multi_output
    assert bagged.fit(X, COUNTS).predict(X).shape == COUNTS.shape


def test_the_same_number_twice_grows_the_tree_of_one():
    for criterion in CRITERIA:
        tree = DecisionTreeRegressor(criterion=criterion, max_depth=5)
        one = tree.fit(X, COUNTS[:, 0]).predict(X)
        two = tree.fit(X, COUNTS[:, [0, 0]]).predict(X)
        assert np.array_equal(two, np.c_[one, one])


def test_poisson_goes_on_beside_a_column_of_zeros_and_refuses_the_rest():
    zeros = np.zeros(len(X))
    tree = DecisionTreeRegressor(criterion="poisson", max_depth=4)
    alone = tree.fit(X, COUNTS[:, 0]).predict(X)
    assert np.array_equal(tree.fit(X, np.c_[COUNTS[:, 0], zeros]).predict(X), np.c_[alone, zeros])
    wrong = COUNTS.copy()
    wrong[7, 2] = -2
    for kind in (DecisionTreeRegressor, RandomForestRegressor):
        with pytest.raises(InvalidInput, match=r"the first is -2, in row 7, column 2\. Give"):
            kind(criterion="poisson").fit(X, wrong, np.arange(len(X)) % 5)
        with pytest.raises(InvalidInput, match="Sum of y is not strictly positive"):
            kind(criterion="poisson").fit(X, np.zeros((len(X), 2)))


def test_constraints_know_one_output():
    for kind in (DecisionTreeRegressor, RandomForestRegressor):
        bound = kind(monotonic_cst=[1, 0, 0, 0])
        assert not get_tags(bound).target_tags.multi_output
        with pytest.raises(InvalidInput, match="not supported with multiple outputs: y has 3"):
            bound.fit(X, COUNTS)


def test_tags_say_that_poisson_takes_no_negative_numbers():
    for kind in (DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor):
        for criterion in CRITERIA:
            tags = get_tags(kind(criterion=criterion)).target_tags
            assert tags.positive_only is (criterion == "poisson")


def with_value(value):
    numbers = COUNTS.copy()
    numbers[7, 1] = value
    return numbers


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (with_value(np.inf), "In column 1 of y: .* infinity .* row 7"),
        (with_value(np.nan), "In column 1 of y: .* NaN.* row 7"),
        (with_value(np.nan).astype(object), "In column 1 of y: .* NaN.* row 7"),
        (np.c_[COUNTS.astype(object), np.full(200, "ash")], "In column 3 of y: .*needs numbers"),
        (pd.DataFrame(with_value(np.nan)), "y column 1 contains NaN.* row 7"),
        (pd.DataFrame({"x": COUNTS[:, 0], "word": "ash"}), "In column 1 of y: .*needs numbers"),
        (
            pd.DataFrame({"day": pd.date_range("2020", periods=200), "x": COUNTS[:, 0]}),
            "In column 0 of y: y is datetime, .*needs numbers",
        ),
        (
            pd.DataFrame({"a": pd.date_range("2020", periods=200), "b": pd.Timedelta(1, "D")}),
            "In column 0 of y: y is datetime",
        ),
    ],
)
def test_bad_numbers_are_told_with_their_column(y, words):
    with pytest.raises((InvalidInput, InvalidInputType), match=words):
        RandomForestRegressor(2).fit(X, y)


@pytest.mark.parametrize(
    "kind", [RandomForestRegressor, DecisionTreeRegressor, BaggingRegressor, ExtraTreesRegressor]
)
def test_a_score_of_other_columns_or_no_weight_is_refused(kind):
    model = kind(random_state=0).fit(X, COUNTS)
    with pytest.raises(InvalidInput, match=r"shape \(200,\), but \(200, 3\) is predicted"):
        model.score(X, COUNTS[:, 0])
    with pytest.raises(InvalidInput, match="all weights are zero"):
        model.score(X, COUNTS, np.zeros(200))
    with pytest.raises(InvalidInput, match=r"\[200, 5\]"):
        model.score(X, COUNTS[:5])
    weights = np.arange(200.0)
    assert model.score(X, COUNTS, weights) == r2_score(
        COUNTS, model.predict(X), sample_weight=weights
    )
    one = kind(random_state=0).fit(X, COUNTS[:, 0])
    assert one.score(X, COUNTS[:, :1]) == r2_score(COUNTS[:, 0], one.predict(X))


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
@pytest.mark.parametrize("weights", [None, RNG.integers(1, 4, 200), RNG.random(200) + 0.1])
def test_small_numbers_keep_their_digits_beside_large_ones(criterion, weights):
    numbers = np.c_[1e9 * (1 + X[:, 0] ** 2), 1e-6 * (1 + X[:, 1] ** 2), np.full(200, 0.1)]
    tree = DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, numbers, weights)
    leaves, said = tree.apply(X), tree.predict(X)
    for leaf in np.unique(leaves):
        own = leaves == leaf
        weighed = None if weights is None else weights[own]
        mean = np.average(numbers[own], axis=0, weights=weighed)
        assert said[own] == pytest.approx(np.broadcast_to(mean, (own.sum(), 3)), rel=1e-12, abs=0)
    forest = RandomForestRegressor(5, criterion=criterion, random_state=0, max_depth=1)
    roots = forest.fit(X, numbers, weights).model_.arrays
    for tree, bag in enumerate(forest.estimators_samples_):
        root = roots["values"][roots["tree_start"][tree]]
        assert root == pytest.approx(numbers[bag].mean(axis=0), rel=1e-12, abs=0)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_small_numbers_split_where_large_ones_are_the_same(criterion):
    numbers = np.c_[1e9 * (1.0 + (X[:, 0] > 0)), 1e-6 * (1 + (X[:, 1] > 0))]
    tree = DecisionTreeRegressor(criterion=criterion).fit(X, numbers)
    assert tree.tree_.n_leaves == 4
    assert tree.predict(X) == pytest.approx(numbers, rel=1e-12, abs=0)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_powers_of_two_on_all_outputs_change_no_bit(criterion):
    settings = {"n_estimators": 4, "criterion": criterion, "bootstrap": False, "max_features": 1}
    settings["random_state"] = 0  # a bootstrap would draw by what stands in rows
    near = RandomForestRegressor(**settings).fit(X, COUNTS)
    far = RandomForestRegressor(**settings).fit(X, COUNTS * 2.0**70)
    assert np.array_equal(far.predict(X), near.predict(X) * 2.0**70)
