"""Quantile forests: Meinshausen's weights, their identities, coverage."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import QuantileForestRegressor
from spinney._native import _ext
from spinney.datasets import make_friedman
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model.leaf_rows import LeafRowForest

DATA = make_friedman(1, 300, random_state=0)
X, Y = DATA.X, DATA.y
NEW = make_friedman(1, 40, random_state=1).X
LEVELS = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]
VARIANTS = [
    {},
    {"bootstrap": False, "min_samples_leaf": 10},
    {"max_samples": 0.5, "min_samples_leaf": 1},
    {"search": "random", "max_leaf_nodes": 12},
]


def small(**parameters):
    return QuantileForestRegressor(n_estimators=12, random_state=0, **parameters)


def brute_weights(forest, rows):
    """Meinshausen's weights of the training rows, in the order of the model; (n, n_training)."""
    model = forest.model_
    n_training = model.n_rows
    starts, entries = model.trees.arrays["tree_start"], model.arrays["entry_start"]
    leaves = model.trees.leaf_ids(rows)
    weights = np.zeros((len(rows), n_training))
    for i, own in enumerate(leaves):
        for tree, leaf in enumerate(own):
            node = starts[tree] + leaf
            some = slice(entries[node], entries[node + 1])
            counts = np.zeros(n_training)
            counts[model.arrays["row"][some]] = model.arrays["times"][some]
            mass = counts * model.arrays["weight"]
            weights[i] += mass / mass.sum() / len(model)
    return weights


@pytest.mark.parametrize("parameters", VARIANTS)
def test_quantiles_mean_and_distribution_are_those_of_the_weights(parameters):
    forest = small(**parameters).fit(X, Y)
    weights, target = brute_weights(forest, NEW), forest.model_.arrays["target"]
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert np.array_equal(target, np.sort(Y))
    assert np.allclose(forest.predict(NEW, quantiles="mean"), weights @ target)
    cumulative = np.cumsum(weights, axis=1)
    for level in LEVELS:
        places = (cumulative >= level - 1e-9).argmax(axis=1)
        if level == 0.0:
            places = (weights > 0).argmax(axis=1)
        assert np.array_equal(forest.predict(NEW, quantiles=level), target[places])
    seen = forest.distribution(NEW, 3)
    assert np.allclose(seen.weights, weights[3][weights[3] > 0])
    assert seen.mean == pytest.approx(forest.predict(NEW[3:4], "mean")[0])
    assert seen.quantile(LEVELS).tolist() == forest.predict(NEW[3:4], LEVELS)[0].tolist()


def test_leaf_members_are_the_rows_that_fall_into_the_leaf():
    forest = small().fit(X, Y)
    model = forest.model_
    leaves = model.trees.leaf_ids(X)
    row_of_place = np.argsort(model.arrays["place"])
    starts, entries = model.trees.arrays["tree_start"], model.arrays["entry_start"]
    for tree in range(len(model)):
        drawn = 0
        for node in range(starts[tree], starts[tree + 1]):
            some = slice(entries[node], entries[node + 1])
            rows = row_of_place[model.arrays["row"][some]]
            assert np.all(leaves[rows, tree] == node - starts[tree])
            times = int(model.arrays["times"][some].sum())
            drawn += times
            assert times == (model.trees.arrays["weight"][node] if len(rows) else 0)
        assert drawn == len(X)


def test_quantiles_never_cross_and_stay_within_the_targets():
    found = small().fit(X, Y).predict(NEW, np.linspace(0, 1, 41))
    assert np.all(np.diff(found, axis=1) >= 0)
    assert set(found.ravel()) <= set(Y)
    assert found.shape == (40, 41)


def test_intervals_cover_as_often_as_they_say_on_friedman_1():
    train, test = make_friedman(1, 1000, random_state=2), make_friedman(1, 1000, random_state=3)
    forest = QuantileForestRegressor(n_estimators=150, random_state=0).fit(train.X, train.y)
    low, high = forest.predict(test.X, [0.05, 0.95]).T
    assert 0.87 < np.mean((low <= test.y) & (test.y <= high)) <= 1.0
    low, high = forest.oob_quantiles(train.X, [0.05, 0.95]).T
    assert 0.87 < np.mean((low <= train.y) & (train.y <= high)) <= 1.0
    assert np.mean((forest.predict(test.X, "mean") - test.y) ** 2) < 0.4 * test.y.var()


def test_wider_noise_gives_wider_intervals():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (2000, 1))
    y = (0.1 + x[:, 0]) * rng.standard_normal(2000)
    forest = QuantileForestRegressor(random_state=0, min_samples_leaf=40).fit(x, y)
    low, high = forest.predict([[0.1], [0.9]], [0.1, 0.9]).T
    width = high - low
    assert width[0] == pytest.approx(2 * 1.2816 * 0.2, rel=0.25)
    assert width[1] == pytest.approx(2 * 1.2816 * 1.0, rel=0.25)


# Out of bag


def test_out_of_bag_quantiles_leave_out_the_trees_that_drew_the_row():
    forest = small().fit(X, Y)
    model = forest.model_
    found = forest.oob_quantiles(X, [0.2, 0.8])
    starts = model.trees.arrays["tree_start"]
    leaves = model.trees.leaf_ids(X)
    for i in (0, 7, 123):
        mine = model.arrays["place"][i]
        trees = [
            t
            for t in range(len(model))
            if mine
            not in model.arrays["row"][
                model.arrays["entry_start"][starts[t]] : model.arrays["entry_start"][starts[t + 1]]
            ]
        ]
        weights = np.zeros(len(X))
        for t in trees:
            node = starts[t] + leaves[i, t]
            some = slice(*model.arrays["entry_start"][node : node + 2])
            times = model.arrays["times"][some] / model.arrays["times"][some].sum()
            weights[model.arrays["row"][some]] += times / len(trees)
        places = [(np.cumsum(weights) >= level - 1e-9).argmax() for level in (0.2, 0.8)]
        assert found[i].tolist() == model.arrays["target"][places].tolist()


def test_rows_every_tree_drew_have_no_out_of_bag_quantile():
    with pytest.raises(InvalidInput, match=r"Every tree saw all rows.*bootstrap=True"):
        small(bootstrap=False).fit(X, Y).oob_quantiles(X)
    with pytest.raises(InvalidInput, match="X has 40 rows, but 300 were given to fit"):
        small().fit(X, Y).oob_quantiles(NEW)


def test_rows_of_weight_0_are_out_of_every_bag():
    weights = np.ones(len(X))
    weights[::3] = 0
    forest = small().fit(X, Y, weights)
    alone = forest.predict(X[::3], 0.3)
    assert np.array_equal(forest.oob_quantiles(X, 0.3)[::3], alone)
    assert forest.model_.n_rows == 200


# Laws


def test_same_bits_for_any_threads_and_any_order_of_rows():
    forest = small().fit(X, Y)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = small().fit(X[order], Y[order])
    assert shuffled.model_.trees == forest.model_.trees
    assert np.array_equal(shuffled.predict(NEW, LEVELS), forest.predict(NEW, LEVELS))
    assert np.array_equal(
        shuffled.oob_quantiles(X[order]), forest.oob_quantiles(X)[order], equal_nan=True
    )
    one = QuantileForestRegressor(n_estimators=12, random_state=0, n_jobs=1).fit(X, Y)
    assert one.model_ == forest.model_
    assert np.array_equal(one.predict(NEW, LEVELS), forest.predict(NEW, LEVELS))


@pytest.mark.parametrize(
    "parameters", [{}, {"bootstrap": False}, {"max_samples": 0.4}, {"min_samples_leaf": 1}]
)
def test_weights_are_repetitions(parameters):
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    forest = small(search="exact", **parameters)
    weighted = forest.fit(X, Y, weights).predict(NEW, LEVELS)
    repeated = forest.fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights)).predict(NEW, LEVELS)
    assert np.array_equal(weighted, repeated)


def test_fractional_weights_count_by_their_share():
    weights = np.where(np.median(Y) < Y, 1.5, 0.01)
    for bootstrap in (True, False):
        heavy = small(bootstrap=bootstrap).fit(X, Y, weights)
        assert heavy.predict(NEW).mean() > small().fit(X, Y).predict(NEW).mean()


# Tables, files, words


def test_categories_missing_values_and_names():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"town": rng.choice(["a", "b", None], 400), "size": rng.normal(size=400)})
    table.loc[::7, "size"] = np.nan
    y = 5.0 * (table["town"] == "a") + rng.normal(size=400)
    forest = small().fit(table, y)
    new = pd.DataFrame({"size": [0.0, np.nan], "town": ["a", "c"]})
    assert forest.predict(new)[0] > 3.0
    assert forest.distribution(new, -1).to_frame().columns.tolist() == ["value", "weight", "cdf"]


def test_files_carry_everything():
    forest = small().fit(X, Y)
    again = from_bytes(to_bytes(forest))
    assert to_bytes(again) == to_bytes(forest)
    assert np.array_equal(again.predict(NEW, LEVELS), forest.predict(NEW, LEVELS))
    assert np.array_equal(again.oob_quantiles(X), forest.oob_quantiles(X), equal_nan=True)
    assert len(forest.model_[:5]) == 5
    assert np.array_equal(
        forest.model_[3:5].trees.arrays["values"], forest.model_.trees[3:5].arrays["values"]
    )


SPOILED = {
    "row beyond the last": ("row", lambda a: np.where(np.arange(len(a)) == 5, 10**6, a)),
    "row never drawn": ("times", lambda a: a * 0),
    "times too short": ("times", lambda a: a[:-1]),
    "entries begin late": ("entry_start", lambda a: a + 1),
    "entries go back": ("entry_start", lambda a: np.where(np.arange(len(a)) == 3, 10**7, a)),
    "a leaf without rows": ("entry_start", lambda a: np.append(a[1:], a[-1])),
    "targets not sorted": ("target", lambda a: a[::-1]),
    "a target that is none": ("target", lambda a: np.where(np.arange(len(a)) == 5, np.nan, a)),
    "a weight of 0": ("weight", lambda a: a * 0.0),
    "an endless weight": ("weight", lambda a: a * np.inf),
    "weights too large": ("weight", lambda a: a * 1e308),
    "places not those of rows": ("place", lambda a: a * 0),
    "places below -1": ("place", lambda a: np.append(a, -2)),
}


@pytest.mark.parametrize("name", SPOILED)
def test_spoiled_models_are_refused(name):
    model = small().fit(X, Y).model_
    key, spoil = SPOILED[name]
    arrays = {**model.arrays, key: spoil(model.arrays[key]).astype(model.arrays[key].dtype)}
    with pytest.raises(InvalidModel):
        LeafRowForest(model.trees, arrays)


def test_native_code_refuses_leaves_that_do_not_exist():
    model = small().fit(X, Y).model_
    rows = _ext.LeafRows({"tree_start": model.trees.arrays["tree_start"], **model.arrays})
    for leaves in (np.full((2, 12), 10**6), np.zeros((2, 11))):
        with pytest.raises(InvalidInput):
            rows.quantiles(leaves.astype(np.int32), np.array([0.5]), 1)
    nothing = rows.quantiles(np.full((1, 12), -1, np.int32), np.array([0.5]), 1)
    assert np.isnan(nothing).all()


@pytest.mark.parametrize("wrong", [-0.1, 1.1, "median", [], [0.5, 2], None, True, [[0.5]], np.nan])
def test_wrong_quantiles_are_refused_with_their_value(wrong):
    with pytest.raises(InvalidParameter, match="quantiles="):
        small().fit(X, Y).predict(NEW, quantiles=wrong)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_samples": 1000}, "max_samples=1000.*at most 300"),
        ({"max_samples": 0.5, "bootstrap": False}, "needs bootstrap=True"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
        ({"search": "exhaustive"}, "search='exhaustive'"),
    ],
)
def test_wrong_parameters_are_refused(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        small(**parameters).fit(X, Y)


def test_wrong_rows_of_a_distribution_are_refused():
    forest = small().fit(X, Y)
    with pytest.raises(InvalidInput, match="There is no row 40"):
        forest.distribution(NEW, 40)
    with pytest.raises(InvalidParameter, match="row='a'"):
        forest.distribution(NEW, "a")


@pytest.mark.parametrize(
    ("rows", "y"),
    [
        (np.ones((1, 1)), [3.0]),
        (np.ones((10, 2)), np.arange(10.0)),
        (np.full((6, 1), np.nan), np.arange(6.0)),
        (np.arange(8.0).reshape(-1, 1), np.full(8, 1e300)),
    ],
)
def test_tables_without_a_split_give_the_distribution_of_all_rows(rows, y):
    forest = QuantileForestRegressor(n_estimators=3, bootstrap=False).fit(rows, y)
    assert forest.predict(rows[:1], 0.5)[0] == np.quantile(y, 0.5, method="inverted_cdf")
    assert forest.distribution(rows).weights.sum() == pytest.approx(1.0)


@settings(max_examples=30, deadline=None)
@given(
    y=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    levels=st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
def test_a_single_leaf_has_the_quantiles_of_numpy(y, levels):
    forest = QuantileForestRegressor(n_estimators=2, bootstrap=False)
    found = forest.fit(np.zeros((len(y), 1)), y).predict([[0.0]], levels)[0]
    for level, value in zip(levels, found, strict=True):
        near = [max(level - 1e-9, 0), min(level + 1e-9, 1)]
        low, high = np.quantile(y, near, method="inverted_cdf")
        assert low <= value <= high
