"""Forests whose trees see some of the features only."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from spinney import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.datasets import make_twonorm
from spinney.errors import InvalidParameter

DATA = make_twonorm(200, random_state=0)
X, Y = load_diabetes(return_X_y=True)
FORESTS = [
    (RandomForestClassifier, DATA.X, DATA.y),
    (ExtraTreesClassifier, DATA.X, DATA.y),
    (RandomForestRegressor, X, Y),
    (ExtraTreesRegressor, X, Y),
]
every_forest = pytest.mark.parametrize(
    ("kind", "table", "y"), FORESTS, ids=[kind.__name__ for kind, *_ in FORESTS]
)


def features_of_trees(forest):
    """The features each tree asks about."""
    starts = forest.model_.arrays["tree_start"]
    nodes = np.split(forest.model_.arrays["feature"], starts[1:-1])
    return [set(own[own >= 0].tolist()) for own in nodes]


@every_forest
@pytest.mark.parametrize("search", ["adaptive", "exact", "histogram"])
def test_trees_ask_about_their_features_only(kind, table, y, search):
    more = {"search": search} if "search" in kind().get_params() else {}
    forest = kind(30, max_features_per_tree=3, random_state=0, **more).fit(table, y)
    asked = features_of_trees(forest)
    assert all(len(own) <= 3 for own in asked)
    assert len(set().union(*asked)) == table.shape[1]
    assert len({tuple(sorted(own)) for own in asked}) > 10


@every_forest
def test_all_features_are_no_restriction(kind, table, y):
    plain = kind(10, random_state=0).fit(table, y)
    for all_of_them in (None, 1.0, table.shape[1], 10_000):
        forest = kind(10, max_features_per_tree=all_of_them, random_state=0).fit(table, y)
        assert forest.model_ == plain.model_


@every_forest
def test_the_same_for_any_threads_and_going_on(kind, table, y):
    forests = [
        kind(12, max_features_per_tree=0.4, random_state=0, n_jobs=n).fit(table, y)
        for n in (1, 2, 3)
    ]
    grown = kind(5, max_features_per_tree=0.4, random_state=0, warm_start=True).fit(table, y)
    grown.set_params(n_estimators=12).fit(table, y)
    assert len({forest.model_.fingerprint for forest in (*forests, grown)}) == 1


def test_shares_of_a_node_are_shares_of_the_tree():
    one = RandomForestRegressor(10, max_features_per_tree=4, max_features=0.5, random_state=0)
    two = RandomForestRegressor(10, max_features_per_tree=4, max_features=2, random_state=0)
    assert one.fit(X, Y).model_ == two.fit(X, Y).model_


def test_words_and_refusals():
    RandomForestRegressor(2, max_features_per_tree="sqrt").fit(X, Y)
    for wrong in (0, 1.5, "half", -1):
        with pytest.raises(InvalidParameter, match="max_features_per_tree="):
            RandomForestRegressor(max_features_per_tree=wrong).fit(X, Y)
