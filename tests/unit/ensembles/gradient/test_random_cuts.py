"""``splitter="random"``: one cut per node and feature is judged, which is drawn."""

import numpy as np
import pandas as pd
import pytest
from tests.reference.boosting import slow_boosting
from tests.reference.growth import Drawn, PathLimits, path_tree
from tests.unit.ensembles.test_gradient_twin import WEIGHTS, assert_same_trees, fitted, problem

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidParameter
from spinney.randomness import Stream, random_bits, seed_from

RNG = np.random.default_rng(4)
X = RNG.normal(size=(400, 4))
Y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * RNG.normal(size=400)
RANDOM = {"splitter": "random", "random_state": 3}


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("smoothing", [0.0, 5.0])
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_trees_equal_the_slow_twin(task, weighting, smoothing, missing):
    seed = seed_from(RANDOM["random_state"])

    def grow(X, cuts, derivatives, limits, number):
        drawn = Drawn(random_bits(seed, Stream.FEATURES, number))
        return path_tree(X, cuts, derivatives, limits, drawn)

    for problem_seed in range(3):
        X, y, rng = problem(problem_seed, task, missing)
        weights = WEIGHTS[weighting](rng)
        limits = PathLimits(max_leaves=7, min_rows=2.0, l2=0.5, smoothing=smoothing)
        model = fitted(task, limits, rounds=4)
        model.set_params(path_smoothing=smoothing, **RANDOM)
        slow = slow_boosting(X, y, weights, loss=task, rounds=4, rate=0.3, limits=limits, grow=grow)
        assert_same_trees(model.fit(X, y, weights), slow)


def test_every_cut_between_the_ends_has_the_same_chance():
    table = np.repeat(np.arange(10.0), 40)[:, np.newaxis]
    y = np.arange(400.0)  # every cut removes loss
    model = GradientBoostingRegressor(max_iter=900, max_leaf_nodes=2, learning_rate=1e-6, **RANDOM)
    thresholds = model.fit(table, y).model_.arrays["threshold"]
    found, times = np.unique(thresholds[model.model_.arrays["right"] >= 0], return_counts=True)
    assert np.array_equal(found, np.arange(9) + 0.5)
    assert ((times - 100) ** 2 / 100).sum() < 27.9  # 0.9995 quantile of chi-squared, 8 degrees


def test_values_that_are_missing_can_be_told_from_the_others():
    table = np.where(np.arange(400) < 200, 1.0, np.nan)[:, np.newaxis]
    y = (np.arange(400) < 200) + 0.1 * RNG.normal(size=400)
    model = GradientBoostingRegressor(max_iter=50, **RANDOM).fit(table, y)
    assert model.score(table, y) > 0.9
    assert np.isinf(model.model_[0].threshold[0])


def test_missing_values_go_where_they_remove_more_loss():
    table = RNG.normal(size=(2000, 1))
    y = 3.0 * (table[:, 0] > 0)
    for side in (-1.0, 1.0):
        holes = table.copy()
        holes[(table[:, 0] * side > 0.5) & (RNG.random(2000) < 0.5)] = np.nan
        tree = GradientBoostingRegressor(max_iter=1, max_leaf_nodes=2, **RANDOM).fit(holes, y)
        assert bool(tree.model_[0].missing_left[0]) == (side < 0)


def test_categories_are_cut_at_a_drawn_place_of_their_order():
    codes = np.arange(1200) % 12
    frame = pd.DataFrame({"kind": pd.Categorical(codes.astype(str))})
    y = codes + 0.1 * RNG.normal(size=1200)
    model = GradientBoostingRegressor(max_iter=300, max_leaf_nodes=2, learning_rate=1e-6, **RANDOM)
    leaves = model.fit(frame, y).apply(frame)[:12]
    groups = {tuple(np.flatnonzero(column == 1).tolist()) for column in leaves.T}
    assert groups == {tuple(range(n, 12)) for n in range(1, 12)}


def test_a_path_decides_the_draw_not_the_order_of_growth():
    params = {"max_iter": 5, "max_leaf_nodes": None, "max_depth": 5, **RANDOM}
    one = GradientBoostingRegressor(growth="leaf_wise", **params).fit(X, Y).model_
    two = GradientBoostingRegressor(growth="level_wise", **params).fit(X, Y).model_
    assert one == two


def test_trees_differ_from_round_to_round_and_from_seed_to_seed():
    model = GradientBoostingRegressor(max_iter=5, learning_rate=1e-9, splitter="random")
    one, two = (model.set_params(random_state=seed).fit(X, Y).model_ for seed in (0, 1))
    roots = [(tree.feature[0], tree.threshold[0]) for tree in (*one, *two)]
    assert len(set(roots)) > 5
    assert model.fit(X, Y).model_ == two


def test_random_cuts_learn_and_the_best_ones_are_the_default():
    plain = GradientBoostingRegressor(max_iter=50)
    best = plain.fit(X, Y).model_
    assert GradientBoostingRegressor(max_iter=50, splitter="best").fit(X, Y).model_ == best
    fitted = GradientBoostingRegressor(max_iter=200, **RANDOM).fit(X, Y)
    assert fitted.score(X, Y) > 0.8
    assert fitted.model_ != best


def test_weights_are_repetitions():
    weights = RNG.integers(0, 4, 400)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical((X[:, 1] * 3).round().astype(int).astype(str))
    frame = frame.mask(RNG.random(frame.shape) < 0.1)
    frame["kind"] = frame["kind"].astype("category")
    labels = np.digitize(Y, [0.5, 2.0])
    model = GradientBoostingClassifier(max_iter=5, min_samples_leaf=3, **RANDOM)
    once = model.fit(frame, labels, weights).model_
    again = model.fit(frame.loc[np.repeat(np.arange(400), weights)], np.repeat(labels, weights))
    for name in ("feature", "threshold", "values", "weight", "category_sets"):
        assert np.array_equal(once.arrays[name], again.model_.arrays[name]), name


@pytest.mark.parametrize("wrong", ["rand", None, 1, True])
def test_wrong_splitters_are_refused(wrong):
    with pytest.raises(InvalidParameter, match="splitter"):
        GradientBoostingRegressor(splitter=wrong).fit(X, Y)
