"""``path_smoothing``: values of nodes are drawn towards those of their parents."""

import numpy as np
import pandas as pd
import pytest
from tests.reference.boosting import slow_boosting
from tests.reference.growth import PathLimits, path_tree
from tests.unit.ensembles.test_gradient_twin import WEIGHTS, assert_same_trees, fitted, problem

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.fitting import IntakeSettings, read_problem
from spinney.errors import InvalidParameter
from spinney.explain import explain_split
from spinney.losses.loss import REGRESSION_LOSSES
from spinney.model.monotone import find_monotone_violation
from spinney.trees.gradient import GradientGrower, GradientTreeSettings, GrownTrees

RNG = np.random.default_rng(4)
X = RNG.normal(size=(400, 4))
Y = np.exp(X[:, 0] + 0.5 * RNG.normal(size=400))
EVEN = "averaged_inverted_cdf"
LIMITS = {
    "alone": {},
    "penalties": {"l1": 0.4, "l2": 1.0},
    "steps": {"max_step": 0.4, "l2": 0.5},
}


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_trees_equal_the_slow_twin(task, weighting, limit, missing):
    for seed, smoothing in ((0, 0.5), (1, 3.0), (2, 40.0)):
        X, y, rng = problem(seed, task, missing)
        weights = WEIGHTS[weighting](rng)
        limits = PathLimits(max_leaves=7, min_rows=2.0, smoothing=smoothing, **LIMITS[limit])
        model = fitted(task, limits, rounds=3)
        model.set_params(path_smoothing=smoothing)
        if np.isfinite(limits.max_step):
            model.set_params(max_delta_step=limits.max_step)
        slow = slow_boosting(
            *(X, y, weights),
            loss=task,
            rounds=3,
            rate=0.3,
            limits=limits,
            grow=lambda *given: path_tree(*given[:4]),
        )
        assert_same_trees(model.fit(X, y, weights), slow)


def grown_on_numbers(settings, weights=None):
    gradients = (X[:, 0] * X[:, 1] + RNG.normal(size=400)).astype(np.float32)
    intake = IntakeSettings(estimator_name="", task="regression")
    binned = read_problem(X, gradients, weights, intake).binned
    grower, trees = GradientGrower(binned, settings, weights), GrownTrees()
    grower.grow(gradients, None, trees)
    return grower, trees.arrays()


@pytest.mark.parametrize("weights", [None, RNG.integers(1, 4, 400).astype(float)])
@pytest.mark.parametrize("smoothing", [0.1, 10.0, 1e6])
def test_any_values_are_drawn_towards_those_of_parents(smoothing, weights):
    settings = GradientTreeSettings(path_smoothing=smoothing, min_samples_leaf=5)
    grower, arrays = grown_on_numbers(settings, weights)
    own = RNG.normal(size=len(arrays["right"]))
    wanted = own.copy()
    for node, right in enumerate(arrays["right"]):  # preorder: parents come first
        for child in (node + 1, right) if right >= 0 else ():
            ratio = arrays["weight"][child] / smoothing
            wanted[child] = own[child] * ratio / (ratio + 1) + wanted[node] / (ratio + 1)
    assert np.allclose(grower.settle_values(own), wanted, rtol=1e-12)


@pytest.mark.parametrize("loss", ["absolute", "quantile", "huber"])
def test_leaves_that_are_optima_are_smoothed_along_their_paths(loss):
    params = {"loss": loss, "quantile": 0.3, "max_iter": 1, "learning_rate": 1.0}
    fitted = GradientBoostingRegressor(path_smoothing=20.0, huber_delta=100.0, **params).fit(X, Y)
    tree, start, ids = fitted.model_[0], fitted.model_.arrays["baseline"][0], fitted.apply(X)[:, 0]
    leaves = tree.right < 0
    centre = {"absolute": np.median, "quantile": lambda y: np.quantile(y, 0.3, method=EVEN)}
    centre["huber"] = np.mean  # of residuals that are all below delta
    own = np.zeros(len(tree))
    for leaf in np.flatnonzero(leaves):
        own[leaf] = centre[loss](Y[ids == leaf] - start)
    for node in np.flatnonzero(~leaves)[::-1]:
        sides = [node + 1, tree.right[node]]
        own[node] = np.average(own[sides], weights=tree.weight[sides])
    wanted = own.copy()
    for node in np.flatnonzero(~leaves):
        for child in (node + 1, tree.right[node]):
            share = tree.weight[child] / (tree.weight[child] + 20.0)
            wanted[child] = own[child] * share + wanted[node] * (1 - share)
    found = fitted.model_.arrays["values"][:, 0]
    assert np.allclose(found[leaves], wanted[leaves])


@pytest.mark.parametrize("loss", [*REGRESSION_LOSSES])
def test_smoothed_models_are_proved_monotone(loss):
    model = GradientBoostingRegressor(
        loss=loss,
        quantile=0.4,
        max_iter=10,
        min_samples_leaf=3,
        path_smoothing=8.0,
        max_delta_step=0.5,
        monotonic_cst=[-1, 1, 0, 0],
    ).fit(X, Y)
    assert find_monotone_violation(model.model_, 0, -1) is None
    assert find_monotone_violation(model.model_, 1, 1) is None
    assert find_monotone_violation(model.model_, 2, 1) is not None


def test_exact_steps_are_those_of_smoothed_newton_steps():
    params = {"loss": "poisson", "max_iter": 1, "learning_rate": 1.0, "path_smoothing": 30.0}
    exact = GradientBoostingRegressor(**params).fit(X, Y).model_.arrays
    newton = GradientBoostingRegressor(leaf_steps="newton", **params).fit(X, Y).model_.arrays
    assert np.allclose(exact["values"], np.log1p(newton["values"]))


def test_much_smoothing_leaves_the_mean_and_little_changes_little():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical((X[:, 1] * 3).round().astype(int).astype(str))
    much = GradientBoostingRegressor(max_iter=20, path_smoothing=1e9).fit(frame, Y)
    assert np.abs(much.predict(frame) - Y.mean()).max() < 1e-4
    plain = GradientBoostingRegressor(max_iter=20).fit(X, Y).predict(X)
    little = GradientBoostingRegressor(max_iter=20, path_smoothing=1e-9).fit(X, Y).predict(X)
    assert np.allclose(plain, little, rtol=1e-6)
    spread = [
        np.std(GradientBoostingRegressor(max_iter=5, path_smoothing=s).fit(frame, Y).predict(frame))
        for s in (0.0, 10.0, 100.0, 1000.0)
    ]
    assert spread == sorted(spread, reverse=True)


def test_weights_are_repetitions():
    weights = RNG.integers(0, 4, 400)
    labels = np.digitize(Y, [0.5, 2.0])
    model = GradientBoostingClassifier(path_smoothing=7.5, max_iter=5)
    once = model.fit(X, labels, weights).model_
    again = model.fit(np.repeat(X, weights, axis=0), np.repeat(labels, weights)).model_
    for name in ("feature", "threshold", "values", "weight"):
        assert np.array_equal(once.arrays[name], again.arrays[name]), name


def test_no_smoothing_is_the_default_to_the_last_bit():
    plain = GradientBoostingRegressor(max_iter=5).fit(X, Y).model_
    assert GradientBoostingRegressor(max_iter=5, path_smoothing=0).fit(X, Y).model_ == plain


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_splits_are_explained_from_rows(loss):
    model = GradientBoostingRegressor(loss=loss, path_smoothing=25.0, max_iter=3).fit(X, Y)
    for tree in range(3):
        for node in range(len(model.model_[tree])):
            told = explain_split(model, tree, node, X=X, y=Y)
            assert told.remarks[-1].startswith("Compared with what the model stores, and equal")
    moved = "moved outputs" if loss == "squared" else "moved: similarities are those of steps of"
    assert f"path_smoothing {moved}" in str(explain_split(model, 0, 0, X=X, y=Y))
    assert "path_smoothing may have moved outputs" in str(explain_split(model, 0, 0))


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf"), "1", True, None])
def test_wrong_smoothing_is_refused(wrong):
    with pytest.raises(InvalidParameter, match="path_smoothing"):
        GradientBoostingRegressor(path_smoothing=wrong).fit(X, Y)
