"""``max_delta_step`` and ``prune_gain``, XGBoost's limits of steps and splits; rare classes."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from tests.reference.boosting import SlowLimits, slow_boosting
from tests.reference.monotone import violations
from tests.unit.ensembles.test_gradient_twin import assert_same_trees, fitted, problem

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidParameter
from spinney.explain import explain_split

RNG = np.random.default_rng(4)
X = RNG.normal(size=(400, 4))
Y = np.exp(X[:, 0] + 0.5 * RNG.normal(size=400))


@dataclass(frozen=True)
class SlowSteps(SlowLimits):
    """No value beyond ``most``, and gains of what the values remove."""

    most: float = np.inf

    def value(self, g, h):
        return float(np.clip(super().value(g, h), -self.most, self.most))

    def score(self, g, h):
        value = self.value(g, h)
        return -(2 * (g * value + self.l1 * abs(value)) + (h + self.l2) * value**2)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("most", [0.1, 0.5])
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_trees_equal_the_slow_twin(task, most, missing):
    X, y, rng = problem(3, task, missing)
    weights = rng.integers(0, 4, len(y))
    limits = SlowSteps(max_leaves=6, min_rows=4.0, l2=0.5, most=most)
    model = fitted(task, limits, rounds=4).set_params(max_delta_step=most).fit(X, y, weights)
    slow = slow_boosting(X, y, weights, loss=task, rounds=4, rate=0.3, limits=limits)
    assert_same_trees(model, slow)
    values = np.abs(model.model_.arrays["values"])
    assert values.max() == pytest.approx(0.3 * most)  # some step was cut off


@pytest.mark.parametrize("loss", ["squared", "poisson", "absolute", "huber", "gamma"])
def test_no_leaf_goes_farther(loss):
    params = {"loss": loss, "max_iter": 10, "learning_rate": 0.5}
    model = GradientBoostingRegressor(max_delta_step=0.2, **params).fit(X, Y)
    assert np.abs(model.model_.arrays["values"]).max() <= 0.1 + 1e-12
    free = GradientBoostingRegressor(**params).fit(X, Y)
    assert np.abs(free.model_.arrays["values"]).max() > 0.1
    wide = GradientBoostingRegressor(max_delta_step=1e6, **params).fit(X, Y)
    assert np.allclose(wide.predict(X), free.predict(X), rtol=1e-6)


def test_steps_are_limited_beside_monotone_constraints_and_categories():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical((X[:, 1] * 3).round().astype(int).astype(str))
    model = GradientBoostingRegressor(max_delta_step=0.3, monotonic_cst={"a": 1}, max_iter=10)
    model.fit(frame, Y)
    assert np.abs(model.model_.arrays["values"]).max() <= 0.03 + 1e-12
    assert all(violations(tree, 0, 1) == [] for tree in model.model_)


def test_weights_are_repetitions_and_threads_do_not_matter():
    weights = RNG.integers(0, 4, 400)
    labels = np.digitize(Y, [0.5, 2.0])
    model = GradientBoostingClassifier(max_delta_step=0.5, max_iter=5)
    once = model.fit(X, labels, weights).model_
    for n_jobs in (1, 3):
        model.set_params(n_jobs=n_jobs)
        again = model.fit(np.repeat(X, weights, axis=0), np.repeat(labels, weights)).model_
        for name in ("feature", "threshold", "values", "weight"):
            assert np.array_equal(once.arrays[name], again.arrays[name]), name


def test_splits_of_limited_steps_are_explained_from_rows():
    model = GradientBoostingRegressor(max_delta_step=0.2, max_iter=2, max_leaf_nodes=3).fit(X, Y)
    told = explain_split(model, 0, 0, X=X, y=Y)
    assert "max_delta_step moved outputs" in str(told)
    assert "max_delta_step may have moved outputs" in str(explain_split(model, 0, 0))


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf"), "1", True])
def test_wrong_limits_are_refused(wrong):
    with pytest.raises(InvalidParameter, match="max_delta_step"):
        GradientBoostingRegressor(max_delta_step=wrong).fit(X, Y)


# Steps that nobody limited


def rare_class(n=3000, n_classes=4, seed=5):
    """The last class has a share of 1 in 500, and no column tells it apart for sure."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = rng.integers(0, n_classes - 1, n)
    y[rng.choice(n, n // 500, replace=False)] = n_classes - 1
    return X, y


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
def test_log_odds_of_a_rare_class_do_not_run_away(n_classes, growth):
    X, y = rare_class(n_classes=n_classes)
    model = GradientBoostingClassifier(max_iter=60, min_samples_leaf=5, growth=growth).fit(X, y)
    values = np.abs(model.model_.arrays["values"])
    assert values.max() == pytest.approx(0.1 * 10.0, rel=1e-12)  # Newton's step was longer
    loss = [-np.log(p[np.arange(len(y)), y]).mean() for p in model.staged_predict_proba(X)]
    assert (np.diff(loss) < 0.0).all()


def test_a_step_that_was_cut_off_is_told():
    X, y = rare_class(n_classes=2)
    model = GradientBoostingClassifier(max_iter=20, min_samples_leaf=5).fit(X, y)
    arrays = model.model_.arrays
    places = np.flatnonzero((np.abs(arrays["values"][:, 0]) > 0.999) & (arrays["right"] < 0))
    number = int(np.searchsorted(arrays["tree_start"], places[0], side="right")) - 1
    node = places[0] - arrays["tree_start"][number]
    for rows in ({}, {"X": X, "y": y}):
        told = explain_split(model, number, int(node), **rows)
        assert "Newton steps are cut off at 10." in str(told)


# Pruning from the leaves up


def weak_above_strong():
    """The exclusive or of two signs: the first split gains next to nothing, those below a lot."""
    signs = np.array([(a, b) for a in (0.0, 1.0) for b in (0.0, 1.0) for _ in range(50)])
    y = np.where(signs[:, 0] == signs[:, 1], 1.0, -1.0)
    y[0] += 0.5  # so that the first split gains something at all
    return signs, y


def test_a_weak_split_above_a_strong_one_survives():
    X, y = weak_above_strong()
    free = GradientBoostingRegressor(max_iter=1, learning_rate=1.0, min_samples_leaf=1).fit(X, y)
    gains = free.model_[0].gain
    assert 0 < gains[0] < 1 < gains[1]
    kept = free.set_params(prune_gain=1.0).fit(X, y).model_[0]
    assert kept.gain[0] == gains[0]  # weak, but strong ones are below
    assert (kept.gain[kept.right >= 0] > 0).sum() == 3
    held_back = free.set_params(prune_gain=0.0, min_split_gain=1.0).fit(X, y).model_[0]
    assert len(held_back.feature) == 1  # refused before anybody looked below it


def test_weak_splits_below_strong_ones_are_taken_back():
    model = GradientBoostingRegressor(max_iter=1, min_samples_leaf=1, max_leaf_nodes=40).fit(X, Y)
    gains = model.model_[0].gain
    inner = model.model_[0].right >= 0
    least = float(np.median(gains[inner]))
    pruned = model.set_params(prune_gain=least).fit(X, Y).model_[0]
    for node in np.flatnonzero(pruned.right >= 0):
        left, right = node + 1, pruned.right[node]
        is_last = pruned.right[left] < 0 and pruned.right[right] < 0
        assert not is_last or pruned.gain[node] >= least
    assert 1 < (pruned.right >= 0).sum() < inner.sum()
