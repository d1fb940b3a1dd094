"""Nodes whose rows all have the same numbers are leaves, whatever the rows weigh."""

import numpy as np
import pytest

from spinney import DecisionTreeRegressor, ExtraTreesRegressor, RandomForestRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3))
STEPS = RNG.integers(0, 5, 160)
TARGETS = {
    "whole": STEPS.astype(float),
    "tenths": STEPS / 10,
    "far from 0": 1e9 + STEPS / 7,
    "two numbers": np.column_stack([STEPS / 10, (STEPS > 2) / 3]),
}
WEIGHTS = {
    "none": None,
    "whole": RNG.integers(1, 7, 160),
    "parts": RNG.random(160) + 0.05,
    "far apart": np.exp(RNG.normal(0, 6, 160)),
}
every_criterion = pytest.mark.parametrize(
    "criterion", ["squared_error", "absolute_error", "poisson"]
)
every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


def pure_splits(tree, numbers, rows):
    """Count splits of nodes in which no two rows differ in a number."""
    passed = tree.decision_path(X).toarray().astype(bool)
    inner = np.flatnonzero(tree.model_[0].right >= 0)
    held = [numbers[np.intersect1d(np.flatnonzero(passed[:, node]), rows)] for node in inner]
    return sum(bool((own == own[0]).all()) for own in held)


@every_criterion
@every_target
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_no_pure_node_of_a_tree_is_split(criterion, target, weights):
    tree = DecisionTreeRegressor(criterion=criterion, search="random", random_state=0)
    tree.fit(X, target, weights)
    assert pure_splits(tree, target, np.arange(160)) == 0
    # Sums have one grid: of rows that weigh next to nothing beside others, digits are lost there.
    heavy = np.ones(160, bool) if weights is None else weights > weights.mean() / 1000
    if criterion != "poisson":  # which stops before a side of zeros
        assert tree.predict(X)[heavy] == pytest.approx(target[heavy], rel=1e-12, abs=1e-12)


@every_criterion
@every_target
def test_no_pure_node_of_a_bag_is_split(criterion, target):
    forest = RandomForestRegressor(4, criterion=criterion, random_state=0).fit(X, target)
    for tree, bag in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        assert pure_splits(tree, target, bag) == 0


@every_criterion
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_a_constant_target_gives_one_leaf(criterion, weights):
    for value in (0.1, 1e9 / 7, 1.0):
        for numbers in (np.full(160, value), np.tile([value, 3 * value], (160, 1))):
            tree = DecisionTreeRegressor(criterion=criterion).fit(X, numbers, weights)
            assert tree.get_n_leaves() == 1
            forest = ExtraTreesRegressor(3, criterion=criterion).fit(X, numbers, weights)
            assert len(forest.model_.arrays["feature"]) == 3


@every_criterion
def test_numbers_that_differ_little_are_told_apart(criterion):
    numbers = 1.0 + np.arange(160) % 2 * 2.0**-40
    for weights in WEIGHTS.values():
        if weights is None or weights.max() < 10:
            tree = DecisionTreeRegressor(criterion=criterion).fit(X, numbers, weights)
            assert np.array_equal(tree.predict(X) > 1.0 + 2.0**-41, numbers > 1.0)


@every_criterion
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_a_tree_knows_no_order_of_rows_whatever_they_weigh(criterion, n_outputs, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, (40, 3)).astype(float)
    table[::7, 1] = np.nan
    numbers = rng.integers(0, 4, (40, n_outputs)) / 10
    order = rng.permutation(40)
    for weights in (np.ones(40), rng.integers(1, 5, 40), rng.random(40) + 0.05):
        tree = DecisionTreeRegressor(criterion=criterion, categorical_features=[0])
        first = tree.fit(table, numbers, weights).model_
        assert tree.fit(table[order], numbers[order], weights[order]).model_ == first
