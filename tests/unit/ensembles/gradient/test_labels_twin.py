"""Boosting of several labels per row against its slow twin, tree by tree."""

import numpy as np
import pytest
from tests.reference.boosting import SlowLimits
from tests.reference.vector_boosting import vector_boosting, vector_predict
from tests.unit.ensembles.gradient.test_vector_twin import LIMITS, WEIGHTS, preorder, values_of

from spinney import GradientBoostingClassifier

N_ROWS, N_CLASSES = 90, 3


def labels(seed, *, missing):
    """Few values per column; a label of two classes, one of three, and one that is mostly 0."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (N_ROWS, 3)).astype(float)
    noisy = X + 2.0 * rng.normal(size=X.shape)
    Y = np.column_stack([noisy[:, 0] > 4, np.digitize(noisy[:, 1], [2, 6]), noisy[:, 2] > 9])
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, Y.astype(int), rng


def as_outputs(Y):
    """A column for a label of two classes, three of zeros and ones for one of three."""
    return np.column_stack([Y[:, 0], *(Y[:, 1] == k for k in range(N_CLASSES)), Y[:, 2]]) * 1.0


def start(means):
    odds = np.log(means / (1.0 - means))
    return np.concatenate([odds[:1], np.log(means[1:4]), odds[4:]])


def probabilities(scores):
    single = 1.0 / (1.0 + np.exp(-scores))
    powers = np.exp(scores[:, 1:4] - scores[:, 1:4].max(axis=1, keepdims=True))
    block = powers / powers.sum(axis=1, keepdims=True)
    return np.column_stack([single[:, 0], block, single[:, 4]])


def derivatives(Y, scores):
    p = probabilities(scores)
    return p - Y, p * (1.0 - p)


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("weighting", WEIGHTS)
def test_trees_and_scores_equal_the_slow_twin(weighting, limit, missing):
    X, Y, rng = labels(3, missing=missing)
    weights = WEIGHTS[weighting](rng)
    limits = SlowLimits(max_leaves=6, **{"min_rows": 4.0, **LIMITS[limit]})
    model = GradientBoostingClassifier(
        max_iter=4,
        learning_rate=0.3,
        max_leaf_nodes=6,
        min_samples_leaf=int(limits.min_rows),
        min_child_weight=limits.min_child_weight,
        l1_regularization=limits.l1,
        l2_regularization=limits.l2,
    ).fit(X, Y, weights)
    how = {"rounds": 4, "rate": 0.3, "limits": limits, "start": start, "derivatives": derivatives}
    slow = vector_boosting(X, as_outputs(Y), weights, **how)
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
    np.testing.assert_allclose(model._raw_scores(new), expected, atol=2e-5)
    told = np.column_stack([model.predict_proba(new)[0][:, 1], model.predict_proba(new)[1]])
    np.testing.assert_allclose(told, probabilities(expected)[:, :4], atol=2e-5)
