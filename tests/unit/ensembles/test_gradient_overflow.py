"""Settings that are numbers, but lead beyond them: refused by name, with what to do."""

import numpy as np
import pytest

from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from spinney.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = np.abs(X[:, 0]) + 0.1
SETTINGS = {"max_iter": 50, "min_samples_leaf": 5}
SCORED = {"early_stopping": True, "scoring": "r2", "n_iter_no_change": 50}
BEYOND_FLOATS = 10**400


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")  # the scorer sees huge numbers first
@pytest.mark.filterwarnings("ignore::RuntimeWarning:numpy")
@pytest.mark.parametrize("more", [{}, SCORED], ids=["plain", "scored"])
@pytest.mark.parametrize("rate", [100.0, 1e20, 1e308])
@pytest.mark.parametrize("make", [GradientBoostingRegressor, HistGradientBoostingRegressor])
def test_steps_that_lead_farther_and_farther_away_are_refused(make, rate, more):
    model = make(learning_rate=rate, **more, **SETTINGS)
    with pytest.raises(InvalidParameter, match=r"learning_rate=1.*Lower learning_rate"):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile", "poisson", "gamma"])
def test_steps_beyond_all_numbers_are_refused(loss):
    model = GradientBoostingRegressor(loss=loss, quantile=0.3, learning_rate=1e308, **SETTINGS)
    words = r"learning_rate=1e\+308: (after 1 rounds|times the value of a leaf, -?\d).*Lower lea"
    with pytest.raises(InvalidParameter, match=words):
        model.fit(X, 3 * Y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_steps_of_classifiers_are_refused_too(n_classes):
    labels = np.digitize(Y, np.quantile(Y, np.arange(1, n_classes) / n_classes))
    model = GradientBoostingClassifier(learning_rate=1e308, **SETTINGS)
    with pytest.raises(InvalidParameter, match=r"learning_rate=1e\+308.*Lower learning_rate"):
        model.fit(X, labels)
    assert GradientBoostingClassifier(learning_rate=1e30, **SETTINGS).fit(X, labels).n_iter_ == 50


def test_newton_steps_that_overshoot_are_told_of_exact_ones():
    large = np.arange(800).reshape(-1, 1) < 5
    y = np.where(large[:, 0], 1e6, 1e-6)
    settings = {"loss": "poisson", "learning_rate": 1.0, "min_samples_leaf": 5, "max_iter": 3}
    with pytest.raises(InvalidParameter, match=r"after 1 rounds.*leaf_steps='exact'"):
        HistGradientBoostingRegressor(**settings).fit(large, y)
    exact = GradientBoostingRegressor(**settings).fit(large, y)
    assert np.allclose(exact.predict(large), y, rtol=0.01, atol=20.0)


def test_rows_that_only_validate_may_have_infinite_derivatives():
    labels = (Y > 0.7).astype(int)
    y_val = 1 - labels  # all wrong: their losses grow without bound, the others' vanish
    model = GradientBoostingClassifier(
        loss="exponential",
        learning_rate=200.0,
        early_stopping=True,
        n_iter_no_change=20,
        **SETTINGS,
    )
    model.fit(X, labels, X_val=X, y_val=y_val)
    assert model.score(X, labels) > 0.9
    assert np.exp(np.abs(model.decision_function(X)).max()) > np.finfo(np.float32).max


@pytest.mark.parametrize(
    "name",
    [
        *("learning_rate", "min_child_weight", "l1_regularization", "l2_regularization"),
        *("min_split_gain", "prune_gain", "tol", "huber_delta", "path_smoothing"),
    ],
)
def test_integers_beyond_all_floats_are_refused_by_name(name):
    with pytest.raises(InvalidParameter, match=f"{name}=1000.*expected a number"):
        GradientBoostingRegressor(**{name: BEYOND_FLOATS}).fit(X, Y)


@pytest.mark.parametrize("name", ["max_leaf_nodes", "max_depth", "n_iter_no_change"])
def test_limits_beyond_all_floats_are_no_limits(name):
    plain = GradientBoostingRegressor(**{**SETTINGS, "max_leaf_nodes": None})
    model = GradientBoostingRegressor(**{**SETTINGS, "max_leaf_nodes": None, name: BEYOND_FLOATS})
    assert model.fit(X, Y).model_ == plain.fit(X, Y).model_


@pytest.mark.parametrize("size", [2**63, BEYOND_FLOATS])
def test_leaves_that_must_hold_more_rows_than_any_table_are_constants(size):
    model = GradientBoostingRegressor(max_iter=2, min_samples_leaf=size).fit(X, Y)
    assert [tree.n_leaves for tree in model.model_] == [1, 1]


@pytest.mark.parametrize(
    "name",
    [
        *("l1_regularization", "l2_regularization", "min_child_weight", "min_split_gain"),
        *("prune_gain", "path_smoothing"),
    ],
)
def test_penalties_beyond_all_losses_leave_the_mean(name):
    model = GradientBoostingRegressor(**{**SETTINGS, name: 1e308}).fit(X, Y)
    assert np.allclose(model.predict(X), Y.mean())


def test_weights_that_carry_derivatives_beyond_32_bits_are_refused():
    weights = np.full(80, 1e15 + 0.5)
    with pytest.raises(InvalidInput, match="Divide all weights by a constant, or y"):
        GradientBoostingRegressor(**SETTINGS).fit(X, Y * 1e25, weights)
    for weight in (1e30, 1e308):
        model = GradientBoostingClassifier(class_weight={0: weight, 1: 1.0}, **SETTINGS)
        with pytest.raises(InvalidInput, match=r"class weights included, is 1\.0e\+3"):
            model.fit(X, (Y > 0.7).astype(int))
