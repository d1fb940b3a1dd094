"""The trees of a forest as estimators: what they show is what grew."""

import pickle

import numpy as np
import pytest

from spinney import (
    ExtraTreesClassifier,
    IsolationForest,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.errors import InvalidFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections
from spinney.model.isolation import average_path_length

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
KINDS = [RandomForestClassifier, ExtraTreesClassifier]


def pair(kind, **settings):
    given = {"n_estimators": 5, "random_state": 0, "min_samples_leaf": 9} | settings
    return [kind(**given, voting=voting).fit(X, Y) for voting in ("soft", "hard")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "twoing"])
def test_trees_that_vote_show_the_shares_of_their_nodes(kind, criterion):
    soft, hard = pair(kind, criterion=criterion)
    for one, two in zip(soft.estimators_, hard.estimators_, strict=True):
        assert np.array_equal(one.tree_.value, two.tree_.value)
        assert np.array_equal(one.tree_.impurity, two.tree_.impurity)
        assert two.tree_.impurity.max() > 0
        assert one.to_text() == two.to_text()
        for method in ("cost_complexity", "pessimistic", "mdl"):
            smaller = [tree.pruned(method, alpha=0.01).get_n_leaves() for tree in (one, two)]
            assert smaller[0] == smaller[1]
    votes = np.mean([tree.predict(X) for tree in hard.estimators_], axis=0)
    assert hard.predict_proba(X)[:, 1] == pytest.approx(votes)


@pytest.mark.parametrize(
    "carry",
    [lambda f: pickle.loads(pickle.dumps(f)), lambda f: from_bytes(to_bytes(f))],
    ids=["pickle", "file"],
)
def test_shares_come_along_and_warm_starts_keep_them(carry):
    soft, hard = pair(RandomForestClassifier, warm_start=True)
    hard = carry(hard)
    hard.set_params(n_estimators=8).fit(X, Y)
    soft.set_params(n_estimators=8).fit(X, Y)
    for one, two in zip(soft.estimators_, hard.estimators_, strict=True):
        assert np.array_equal(one.tree_.value, two.tree_.value)
    again = hard.set_params(n_estimators=9, voting="soft").fit(X, Y)
    assert again.model_ == soft.set_params(n_estimators=9).fit(X, Y).model_


def test_shares_of_a_file_that_are_not_voted_by_are_refused():
    data = to_bytes(pair(RandomForestClassifier)[1])
    contents = sections.unpack(data)
    arrays = dict(contents.arrays)
    arrays["attributes/shares"] = 1.0 - arrays["attributes/shares"]
    with pytest.raises(InvalidFile, match="not those it votes by"):
        from_bytes(sections.pack(dict(contents.meta), arrays))


def test_trees_of_numbers_are_pruned_though_their_impurities_are_not_known():
    tree = RandomForestRegressor(2, random_state=0).fit(X, X[:, 0]).estimators_[0]
    assert np.isnan(tree.tree_.impurity).all()
    assert 1 < tree.pruned(alpha=0.01).get_n_leaves() < tree.get_n_leaves()


# Forests without classes


@pytest.mark.parametrize(
    "settings",
    [
        {"max_samples": 32},
        {"max_samples": 0.5, "bootstrap": True, "max_features": 2},
        {"extension_level": 1, "max_features": 3},
    ],
)
def test_isolation_trees_say_which_rows_and_features_they_drew(settings):
    weights = RNG.integers(0, 3, 200)
    forest = IsolationForest(n_estimators=6, random_state=0, **settings)
    forest.fit(X, sample_weight=weights)
    for rows, features in zip(forest.estimators_samples_, forest.estimators_features_, strict=True):
        assert len(rows) == forest.max_samples_
        assert np.all(weights[rows] > 0)
        assert len(features) == settings.get("max_features", 4)
        if not settings.get("bootstrap"):
            assert np.all(np.bincount(rows, minlength=200) <= weights)
    again = from_bytes(to_bytes(forest))
    for name in ("estimators_samples_", "estimators_features_"):
        assert all(map(np.array_equal, getattr(again, name), getattr(forest, name)))
    assert to_bytes(again) == to_bytes(forest)


def test_isolation_trees_are_regressors_of_path_lengths():
    forest = IsolationForest(n_estimators=6, max_features=2, max_samples=64, random_state=0).fit(X)
    lengths = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    scores = 2 ** (-lengths / average_path_length(np.array(64)))
    assert -forest.score_samples(X) == pytest.approx(scores)
    parts = zip(
        forest.estimators_, forest.estimators_samples_, forest.estimators_features_, strict=True
    )
    for tree, rows, features in parts:
        assert tree.max_depth == 6 >= tree.get_depth()
        held = np.bincount(tree.apply(X[rows]), minlength=tree.tree_.node_count)
        is_leaf = tree.tree_.children_left < 0
        assert np.array_equal(held[is_leaf], tree.tree_.weighted_n_node_samples[is_leaf])
        assert set(tree.tree_.feature[~is_leaf]) <= set(features)
    planes = IsolationForest(n_estimators=2, extension_level=1).fit(X)
    with pytest.raises(AttributeError, match="extension_level=1"):
        _ = planes.estimators_


def test_what_isolation_trees_drew_is_forgotten_with_another_table():
    forest = IsolationForest(n_estimators=3, warm_start=True, random_state=0, max_samples=64)
    forest.fit(X).set_params(n_estimators=5).fit(X)
    alone = IsolationForest(n_estimators=5, random_state=0, max_samples=64).fit(X)
    assert all(map(np.array_equal, forest.estimators_samples_, alone.estimators_samples_))
    forest.set_params(n_estimators=6).fit(X[::-1])
    with pytest.raises(AttributeError, match="one table"):
        _ = forest.estimators_samples_
    assert from_bytes(to_bytes(forest)).model_ == forest.model_


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_rows", 0), ("n_rows", 99.0), ("n_tickets", 10), ("n_features", 9), ("replace", 1)],
)
def test_draws_of_a_file_that_cannot_be_are_refused(name, value):
    contents = sections.unpack(to_bytes(IsolationForest(n_estimators=2).fit(X)))
    meta = dict(contents.meta)
    meta["attributes"] = dict(meta["attributes"], draws=dict(meta["attributes"]["draws"]))
    meta["attributes"]["draws"][name] = value
    with pytest.raises(InvalidFile, match="drawn is missing or unknown"):
        from_bytes(sections.pack(meta, dict(contents.arrays)))


@pytest.mark.parametrize("bootstrap", [True, False])
def test_quantile_forests_show_their_trees(bootstrap):
    weights = RNG.integers(0, 3, 200)
    forest = QuantileForestRegressor(6, bootstrap=bootstrap, random_state=0)
    forest.fit(X, X[:, 0], weights)
    means = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    assert forest.predict(X, quantiles="mean") == pytest.approx(means)
    shares = np.mean([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    assert forest.feature_importances_ == pytest.approx(shares)
    assert forest.feature_importances_.argmax() == 0
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        held = np.bincount(tree.apply(X[rows]), minlength=tree.tree_.node_count)
        is_leaf = tree.tree_.children_left < 0
        wanted = tree.tree_.weighted_n_node_samples if bootstrap else tree.tree_.n_node_samples
        assert np.array_equal(held[is_leaf], wanted[is_leaf])
