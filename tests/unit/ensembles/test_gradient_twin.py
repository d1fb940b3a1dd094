"""Boosting against its slow twin, tree by tree: missing values, weights, penalties, limits."""

import numpy as np
import pytest
from tests.reference.boosting import SlowLimits, slow_boosting

from spinney import GradientBoostingClassifier, GradientBoostingRegressor

N_ROWS = 90
WEIGHTS = {
    "none": lambda _: None,
    "whole": lambda rng: rng.integers(0, 4, N_ROWS),
    "fractional": lambda rng: rng.gamma(2.0, 0.5, N_ROWS),
}
LIMITS = {
    "loose": {},
    "l2": {"l2": 2.0},
    "l1": {"l1": 0.7},
    "both": {"l1": 0.4, "l2": 1.0},
    "child weight": {"min_child_weight": 3.0, "min_rows": 1.0},
}


def problem(seed, task, missing):
    """Few values per column; values are missing by chance, and in one column where y is large."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (N_ROWS, 3)).astype(float)
    y = X[:, 0] / 3 + np.sin(X[:, 1]) + rng.normal(size=N_ROWS)
    if missing:
        X[rng.random((N_ROWS, 3)) < 0.15] = np.nan
        X[(y > np.quantile(y, 0.7)) & (rng.random(N_ROWS) < 0.5), 1] = np.nan
        X[:5] = np.nan
    return X, (y > np.median(y)).astype(float) if task == "logistic" else y, rng


def fitted(task, limits, *, rounds, rate=0.3):
    make = GradientBoostingRegressor if task == "squared" else GradientBoostingClassifier
    return make(
        loss=task,
        max_iter=rounds,
        learning_rate=rate,
        max_leaf_nodes=limits.max_leaves,
        min_samples_leaf=int(limits.min_rows),
        min_child_weight=limits.min_child_weight,
        l1_regularization=limits.l1,
        l2_regularization=limits.l2,
    )


def preorder(node):
    yield node
    if node.left is not None:
        yield from preorder(node.left)
        yield from preorder(node.right)


def assert_same_trees(model, slow):
    for ours, twin in zip(model.model_, slow.trees, strict=True):
        nodes = list(preorder(twin))
        inner = np.array([node.left is not None for node in nodes])
        assert (ours.right >= 0).tolist() == inner.tolist()
        for i in np.flatnonzero(inner):
            assert ours.feature[i] == nodes[i].feature
            assert ours.threshold[i] == nodes[i].threshold
            assert bool(ours.missing_left[i]) == nodes[i].missing_left
            assert ours.gain[i] == pytest.approx(nodes[i].gain, rel=1e-4, abs=1e-6)
        for i in np.flatnonzero(~inner):
            assert ours.values[i, 0] == pytest.approx(slow.rate * nodes[i].value, abs=1e-5)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_trees_and_scores_equal_the_slow_twin(task, weighting, limit, missing):
    for seed in range(2):
        X, y, rng = problem(seed, task, missing)
        weights = WEIGHTS[weighting](rng)
        limits = SlowLimits(max_leaves=6, **{"min_rows": 4.0, **LIMITS[limit]})
        model = fitted(task, limits, rounds=4).fit(X, y, weights)
        slow = slow_boosting(X, y, weights, loss=task, rounds=4, rate=0.3, limits=limits)
        assert_same_trees(model, slow)
        # Rows nobody learnt from too: values are missing where a node has seen none missing.
        new = rng.choice(np.append(np.arange(-1.0, 10.0, 0.5), np.nan), (200, 3))
        for rows in (X, new):
            scores = model.predict(rows) if task == "squared" else model.decision_function(rows)
            assert np.allclose(scores, slow.scores(rows), atol=1e-5)


def test_directions_of_missing_values_are_learnt_both_ways():
    """What the test above relies on: all kinds of splits do occur."""
    seen = set()
    for seed in range(4):
        X, y, _ = problem(seed, "squared", missing=True)
        limits = SlowLimits(max_leaves=6, min_rows=4.0)
        slow = slow_boosting(X, y, None, loss="squared", rounds=4, rate=0.3, limits=limits)
        for tree in slow.trees:
            for node in preorder(tree):
                if node.left is not None:
                    seen.add((node.missing_left, np.isinf(node.threshold)))
    assert {(False, False), (True, False), (False, True)} <= seen
