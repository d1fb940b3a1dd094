"""``growth="symmetric"``: one split for all nodes of a level, as CatBoost's trees have."""

import numpy as np
import pandas as pd
import pytest
from tests.reference.boosting import slow_boosting
from tests.reference.growth import Drawn, PathLimits, symmetric_tree
from tests.unit.ensembles.test_gradient_twin import WEIGHTS, assert_same_trees, fitted, problem

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidParameter
from spinney.explain import explain_split
from spinney.losses.loss import REGRESSION_LOSSES
from spinney.model.monotone import find_monotone_violation
from spinney.randomness import Stream, random_bits, seed_from

RNG = np.random.default_rng(4)
X = RNG.normal(size=(600, 4))
Y = X[:, 0] + np.abs(X[:, 1]) + X[:, 2] * X[:, 3] + 0.5 * RNG.normal(size=600)
SYMMETRIC = {"growth": "symmetric", "max_leaf_nodes": None, "max_iter": 5}
LIMITS = {
    "loose": {"l2": 0.05},  # with no penalty nodes of one class gain nothing anywhere: all ties
    "larger leaves": {"min_rows": 9.0, "l2": 0.05},
    "penalties": {"l1": 0.4, "l2": 1.0},
    "child weight": {"min_child_weight": 3.0, "min_rows": 1.0, "l2": 0.05},
    "smoothed": {"smoothing": 5.0, "l2": 0.5},
    "steps": {"max_step": 1.0, "l2": 0.05},
    "gains": {"min_gain": 0.6, "prune_gain": 2.0},
}


def symmetric(task, limits):
    model = fitted(task, limits, rounds=3).set_params(growth="symmetric", max_leaf_nodes=None)
    model.set_params(max_depth=limits.levels, path_smoothing=limits.smoothing)
    model.set_params(min_split_gain=limits.min_gain, prune_gain=limits.prune_gain)
    return model.set_params(max_delta_step=limits.max_step if limits.max_step < np.inf else None)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_trees_equal_the_slow_twin(task, weighting, limit, missing):
    for seed in range(2):
        X, y, rng = problem(seed, task, missing)
        weights = WEIGHTS[weighting](rng)
        limits = PathLimits(levels=4, **{"min_rows": 3.0, **LIMITS[limit]})
        slow = slow_boosting(
            *(X, y, weights),
            loss=task,
            rounds=3,
            rate=0.3,
            limits=limits,
            grow=lambda *given: symmetric_tree(*given[:4]),
        )
        assert_same_trees(symmetric(task, limits).fit(X, y, weights), slow)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("smoothing", [0.0, 5.0])
def test_drawn_cuts_equal_the_slow_twin(smoothing, missing):
    seed = seed_from(3)

    def grow(X, cuts, derivatives, limits, number):
        drawn = Drawn(random_bits(seed, Stream.FEATURES, number))
        return symmetric_tree(X, cuts, derivatives, limits, drawn)

    for problem_seed in range(3):
        X, y, rng = problem(problem_seed, "squared", missing)
        weights = rng.integers(0, 4, len(y))
        limits = PathLimits(levels=4, min_rows=3.0, smoothing=smoothing)
        model = symmetric("squared", limits).set_params(splitter="random", random_state=3)
        slow = slow_boosting(
            X, y, weights, loss="squared", rounds=3, rate=0.3, limits=limits, grow=grow
        )
        assert_same_trees(model.fit(X, y, weights), slow)


def questions_of(tree):
    """What each node asks; None: it is a leaf."""
    sets = [None if c < 0 else tree.category_sets[c].tobytes() for c in tree.category_set]
    asked = zip(tree.feature, tree.threshold, tree.missing_left, sets, strict=True)
    return [q if q[0] >= 0 else None for q in asked]


def paths_of(tree, node=0, above=()):
    question = questions_of(tree)[node]
    if question is None:
        yield above
        return
    for child in (node + 1, tree.right[node]):
        yield from paths_of(tree, child, (*above, question))


def assert_symmetric(tree, levels):
    """Every path asks some of the questions of one list, in its order."""
    longest, order = sorted(paths_of(tree), key=len), []
    for path in longest[::-1]:
        for place, question in enumerate(path):
            if question not in order:
                before = [order.index(q) for q in path[:place]]
                order.insert(max(before, default=-1) + 1, question)
    assert len(order) <= levels
    for path in longest:
        places = [order.index(question) for question in path]
        assert places == sorted(places)


def frame_with_categories(n_kinds):
    frame = pd.DataFrame(X, columns=list("abcd"))
    codes = RNG.integers(0, n_kinds, 600)
    frame["kind"] = pd.Categorical(codes.astype(str))
    y = Y + 2.0 * (codes * 7 % n_kinds) / n_kinds
    frame = frame.mask(RNG.random(frame.shape) < 0.1)
    frame["kind"] = frame["kind"].astype("category")
    return frame, y


@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize("n_kinds", [3, 12])
def test_all_nodes_of_a_level_ask_the_same(n_kinds, splitter):
    frame, y = frame_with_categories(n_kinds)
    model = GradientBoostingRegressor(
        max_depth=5, min_samples_leaf=5, splitter=splitter, random_state=0, **SYMMETRIC
    ).fit(frame, y)
    by_kind = 0
    for tree in model.model_:
        assert_symmetric(tree, 5)
        by_kind += (tree.category_set >= 0).sum()
    assert by_kind > 1
    assert model.score(frame, y) > 0.2


@pytest.mark.parametrize("n_kinds", [4, 9])
def test_one_set_of_categories_serves_all_nodes_of_a_level(n_kinds):
    """The definition: one order by what is left beyond the means of nodes, one cut of it."""
    codes = RNG.integers(0, n_kinds, 3000)
    side = RNG.random(3000) < 0.2 + 0.3 * (codes % 3)  # so that gradients alone are misleading
    y = 9.0 * side + np.sin(codes * 5.0) * (1 + side) + 0.3 * RNG.normal(size=3000)
    frame = pd.DataFrame({"side": side, "kind": pd.Categorical(codes.astype(str))})
    model = GradientBoostingRegressor(growth="symmetric", max_depth=2, max_iter=1).fit(frame, y)
    tree, g = model.model_[0], y.mean() - y
    extra, drawn_by = (5.0, 10.0) if n_kinds > 4 else (0.0, 0.0)
    assert tree.feature.tolist() == [0, 1, -1, -1, 1, -1, -1]
    beyond = g - np.where(side, g[side].mean(), g[~side].mean())
    weights = np.bincount(codes, minlength=n_kinds) + drawn_by
    order = np.argsort(np.bincount(codes, beyond, n_kinds) / weights)
    assert order.tolist() != np.argsort(np.bincount(codes, g, n_kinds) / weights).tolist()

    def gain(of_side, lefts):
        left = np.isin(codes, lefts)
        parts = [g[(side == of_side) & some] for some in (left, ~left)]
        after = sum(part.sum() ** 2 / (len(part) + extra) for part in parts)
        whole = g[side == of_side]
        return (after - whole.sum() ** 2 / len(whole)) / 2

    cuts = [order[:n] for n in range(1, n_kinds)]
    best = max(cuts, key=lambda lefts: gain(False, lefts) + gain(True, lefts))
    leaves = model.apply(frame)[:, 0]
    assert set(codes[np.isin(leaves, [2, 5])]) == set(best.tolist())
    assert tree.gain[1] == pytest.approx(gain(False, best), rel=1e-4)
    assert tree.gain[4] == pytest.approx(gain(True, best), rel=1e-4)


@pytest.mark.parametrize(
    ("depth", "leaves", "levels"),
    [
        (None, 31, 4),
        (None, None, 6),
        (3, None, 3),
        (3, 64, 3),
        (6, 31, 4),
        (None, 64, 6),
        (1, 2, 1),
    ],
)
def test_levels_are_what_both_limits_allow(depth, leaves, levels):
    rows = np.random.default_rng(0).normal(size=(5000, 3))
    y = np.sin(5 * rows).sum(axis=1)
    model = GradientBoostingRegressor(
        growth="symmetric", max_depth=depth, max_leaf_nodes=leaves, max_iter=1, min_samples_leaf=1
    ).fit(rows, y)
    asked = set(questions_of(model.model_[0])) - {None}
    assert len(asked) == levels


def test_too_many_levels_are_refused():
    for wrong in ({"max_depth": 17}, {"max_leaf_nodes": 2**17}):
        with pytest.raises(InvalidParameter, match=r"17 levels.*most are 16"):
            GradientBoostingRegressor(**{**SYMMETRIC, **wrong}).fit(X, Y)


def test_leaves_hold_what_they_must_and_no_leaf_is_empty():
    weights = RNG.integers(0, 4, 600)
    model = GradientBoostingRegressor(max_depth=8, min_samples_leaf=15, **SYMMETRIC)
    arrays = model.fit(X, Y, weights).model_.arrays
    assert arrays["weight"].min() >= 15
    assert arrays["count"].min() > 0


@pytest.mark.parametrize("loss", [*REGRESSION_LOSSES])
def test_constrained_models_are_proved_monotone(loss):
    model = GradientBoostingRegressor(
        **{**SYMMETRIC, "max_iter": 10},
        loss=loss,
        quantile=0.4,
        min_samples_leaf=5,
        subsample=0.8,
        monotonic_cst=[-1, 1, 0, 0],
        random_state=0,
    ).fit(X, np.exp(0.5 * Y))
    assert find_monotone_violation(model.model_, 0, -1) is None
    assert find_monotone_violation(model.model_, 1, 1) is None
    assert find_monotone_violation(model.model_, 2, 1) is not None
    for tree in model.model_:
        assert_symmetric(tree, 6)


def test_features_of_a_tree_belong_to_one_group():
    model = GradientBoostingRegressor(interaction_cst=[[0, 1], [2, 3]], **SYMMETRIC)
    model.set_params(max_iter=30).fit(X, Y)
    used = [set(tree.feature[tree.feature >= 0].tolist()) for tree in model.model_]
    assert {frozenset(features) for features in used} <= {
        *map(frozenset, ({0}, {1}, {0, 1}, {2}, {3}, {2, 3}))
    }


def test_features_are_drawn_for_levels_and_for_trees():
    model = GradientBoostingRegressor(max_features=0.25, random_state=0, **SYMMETRIC)
    for tree in model.set_params(max_depth=3, max_iter=20).fit(X, Y).model_:
        assert_symmetric(tree, 3)
    roots = {int(tree.feature[0]) for tree in model.model_}
    assert roots == {0, 1, 2, 3}
    model.set_params(max_features=1.0, max_features_per_tree=0.5).fit(X, Y)
    assert max(len(set(tree.feature[tree.feature >= 0])) for tree in model.model_) == 2


def test_weights_are_repetitions():
    weights = RNG.integers(0, 4, 600)
    frame, y = frame_with_categories(12)
    labels = np.digitize(y, [0.5, 2.0])
    model = GradientBoostingClassifier(min_samples_leaf=3, **SYMMETRIC)
    once = model.fit(frame, labels, weights).model_
    again = model.fit(frame.loc[np.repeat(np.arange(600), weights)], np.repeat(labels, weights))
    for name in ("feature", "threshold", "values", "weight", "category_sets"):
        assert np.array_equal(once.arrays[name], again.model_.arrays[name]), name


def test_a_warm_start_goes_on_to_the_same_model():
    params = {**SYMMETRIC, "max_iter": 12, "subsample": 0.7, "random_state": 0}
    whole = GradientBoostingRegressor(**params).fit(X, Y).model_
    model = GradientBoostingRegressor(warm_start=True, **{**params, "max_iter": 5}).fit(X, Y)
    assert model.set_params(max_iter=12).fit(X, Y).model_ == whole


@pytest.mark.parametrize("early_stopping", [True, "cv"])
def test_rounds_can_be_stopped(early_stopping):
    params = {**SYMMETRIC, "max_iter": 300, "early_stopping": early_stopping, "random_state": 0}
    model = GradientBoostingRegressor(learning_rate=0.5, **params).fit(X, Y)
    assert model.n_iter_ < 300
    assert model.stopped_by_ == "early_stopping"


def test_splits_are_explained_from_rows():
    frame, y = frame_with_categories(12)
    model = GradientBoostingRegressor(min_samples_leaf=5, **SYMMETRIC).fit(frame, y)
    for number, tree in enumerate(model.model_):
        for node in range(len(tree)):
            told = explain_split(model, number, node, X=frame, y=y)
            assert told.remarks[-1].startswith("Compared with what the model stores, and equal")
    assert "all nodes of its level" in str(explain_split(model, 0, 0))


@pytest.mark.parametrize("wrong", ["oblivious", "symmetrical", None, 1])
def test_wrong_growth_is_refused(wrong):
    with pytest.raises(InvalidParameter, match="growth"):
        GradientBoostingRegressor(growth=wrong).fit(X, Y)
