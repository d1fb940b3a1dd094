"""Two roads to the same means: a walk down the trees, and asking about every row."""

import numpy as np
import pytest

import spinney
from spinney.explain import dependence, expectation, partial_dependence
from spinney.explain.expectation import walk_is_quicker

RNG = np.random.default_rng(0)
X = RNG.normal(size=(250, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2]


@pytest.fixture(scope="module")
def deep():
    return spinney.RandomForestRegressor(n_estimators=6, random_state=0).fit(X, Y)


@pytest.mark.parametrize("features", [0, (0, 1)])
def test_both_roads_lead_to_the_same_dependence(features, deep, monkeypatch):
    found = []
    for answers_per_node in (0, 1e12):
        monkeypatch.setattr(expectation, "_ANSWERS_PER_NODE", answers_per_node)
        found.append(partial_dependence(deep, features, X, grid=5))
    np.testing.assert_allclose(found[0].values, found[1].values, rtol=1e-12)


def test_deep_trees_are_asked_and_not_walked_by_every_node(deep, monkeypatch):
    monkeypatch.setattr(dependence, "expected_scores", None)
    assert len(partial_dependence(deep, 0, X[:50], grid=10).values) == 10


def test_only_sums_of_trees_are_walked(deep):
    points = [np.arange(100)]
    assert walk_is_quicker(deep.model_, points, 10**6)
    assert not walk_is_quicker(deep.model_, points, 1)
    assert not walk_is_quicker(object(), points, 10**6)


def test_branches_without_rows_are_left_alone(deep, monkeypatch):
    seen = []
    monkeypatch.setattr(expectation, "_ANSWERS_PER_NODE", 0)
    divided = expectation.RowsOfTable.divided

    def counting(self, tree, node, goes_left):
        seen.append(len(self.rows))
        return divided(self, tree, node, goes_left)

    monkeypatch.setattr(expectation.RowsOfTable, "divided", counting)
    partial_dependence(deep, 0, X[:2], grid=5)
    assert min(seen) == 1
