"""Boosting of several outputs in one tree against its slow twin, tree by tree."""

import numpy as np
import pytest
from tests.reference.boosting import SlowLimits
from tests.reference.vector_boosting import vector_boosting, vector_predict

from spinney import GradientBoostingRegressor

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
TASKS = {
    "squared": (lambda mean: mean, lambda Y, s: (s - Y, np.ones_like(Y))),
    "poisson": (np.log, lambda Y, s: (np.exp(s) - Y, np.exp(s))),
}


def few_values(seed, task, *, missing):
    """Few values per column; three outputs, of which one of counts is nearly always zero."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (N_ROWS, 3)).astype(float)
    signals = [X[:, 0] / 3, np.sin(X[:, 1]), X[:, 2] * X[:, 0] / 20]
    if task == "poisson":
        means = [np.exp(signals[0] - 1), np.exp(signals[1]), 0.05 * np.exp(signals[2])]
        Y = np.column_stack([rng.poisson(mean) for mean in means]).astype(float)
        Y[0] += 1.0
    else:
        Y = np.column_stack(signals) + rng.normal(size=(N_ROWS, 3))
    if missing:
        X[rng.random((N_ROWS, 3)) < 0.15] = np.nan
        X[(Y[:, 0] > np.quantile(Y[:, 0], 0.7)) & (rng.random(N_ROWS) < 0.5), 1] = np.nan
    return X, Y, rng


def values_of(tree):
    return getattr(tree, "values")  # noqa: B009 - pandas' rule takes it for a frame


def preorder(node):
    yield node
    if node.left is not None:
        yield from preorder(node.left)
        yield from preorder(node.right)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("task", TASKS)
def test_trees_and_scores_equal_the_slow_twin(task, weighting, limit, missing):
    X, Y, rng = few_values(3, task, missing=missing)
    weights = WEIGHTS[weighting](rng)
    limits = SlowLimits(max_leaves=6, **{"min_rows": 4.0, **LIMITS[limit]})
    model = GradientBoostingRegressor(
        loss=task,
        leaf_steps="newton",
        max_iter=4,
        learning_rate=0.3,
        max_leaf_nodes=6,
        min_samples_leaf=int(limits.min_rows),
        min_child_weight=limits.min_child_weight,
        l1_regularization=limits.l1,
        l2_regularization=limits.l2,
    ).fit(X, Y, weights)
    start, derivatives = TASKS[task]
    how = {"rounds": 4, "rate": 0.3, "limits": limits}
    slow = vector_boosting(X, Y, weights, start=start, derivatives=derivatives, **how)
    assert len(model.model_) == len(slow.trees) == 4
    for ours, twin in zip(model.model_, slow.trees, strict=True):
        nodes, leaf_values = list(preorder(twin)), values_of(ours)
        assert (ours.right >= 0).tolist() == [node.left is not None for node in nodes]
        for i, node in enumerate(nodes):
            if node.left is None:
                np.testing.assert_allclose(leaf_values[i], 0.3 * node.value, atol=1e-5)
                continue
            assert (ours.feature[i], ours.threshold[i]) == (node.feature, node.threshold)
            assert bool(ours.missing_left[i]) == node.missing_left
            assert ours.gain[i] == pytest.approx(node.gain, rel=1e-4, abs=1e-6)
    new = rng.choice(np.append(np.arange(-1.0, 10.0, 0.5), np.nan), (200, 3))
    expected = slow.start + 0.3 * sum(vector_predict(tree, new) for tree in slow.trees)
    raw = model.predict(new) if task == "squared" else np.log(model.predict(new))
    np.testing.assert_allclose(raw, expected, atol=2e-5)


def test_the_twin_has_outputs_that_take_no_part_in_some_leaves():
    """What the test above relies on."""
    X, Y, _ = few_values(3, "poisson", missing=False)
    limits = SlowLimits(max_leaves=6, min_rows=1.0, min_child_weight=3.0)
    start, derivatives = TASKS["poisson"]
    how = {"rounds": 4, "rate": 0.3, "limits": limits}
    slow = vector_boosting(X, Y, None, start=start, derivatives=derivatives, **how)
    leaves = [node.value for tree in slow.trees for node in preorder(tree) if node.left is None]
    assert any((value == 0).any() and (value != 0).any() for value in leaves)
