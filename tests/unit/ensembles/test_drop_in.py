"""The drop-ins have scikit-learn's signature and accuracy, and our promises."""

import inspect

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.metrics import log_loss, mean_squared_error

import spinney
from spinney.errors import InvalidInput, InvalidParameter

NAMES = ["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 6))
Y = X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=3000)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_of_scikit_learn_and_n_jobs(name):
    theirs = inspect.signature(getattr(sklearn.ensemble, name)).parameters.values()
    ours = list(inspect.signature(getattr(spinney, name)).parameters.values())
    assert [(p.name, p.kind, p.default) for p in theirs] == [
        (p.name, p.kind, p.default) for p in ours[:-1]
    ]
    assert (ours[-1].name, ours[-1].default) == ("n_jobs", None)


@pytest.mark.parametrize("name", NAMES)
def test_fit_and_public_methods_are_those_of_scikit_learn(name):
    theirs, ours = getattr(sklearn.ensemble, name), getattr(spinney, name)
    assert list(inspect.signature(ours.fit).parameters) == list(
        inspect.signature(theirs.fit).parameters
    )
    y = Y > 0 if name.endswith("Classifier") else Y
    fitted = [kind(max_iter=2).fit(X, y) for kind in (theirs, ours)]
    public = [{name for name in dir(one) if not name.startswith("_")} for one in fitted]
    assert public[0] - public[1] == set()


def test_held_out_loss_is_that_of_scikit_learn():
    train, test = slice(2000), slice(2000, None)
    settings = {"max_iter": 50, "random_state": 0, "early_stopping": True}
    errors = [
        mean_squared_error(Y[test], kind(**settings).fit(X[train], Y[train]).predict(X[test]))
        for kind in (
            spinney.HistGradientBoostingRegressor,
            sklearn.ensemble.HistGradientBoostingRegressor,
        )
    ]
    assert errors[0] < 1.02 * errors[1]
    losses = [
        log_loss(Y[test] > 0, kind(**settings).fit(X[train], Y[train] > 0).predict_proba(X[test]))
        for kind in (
            spinney.HistGradientBoostingClassifier,
            sklearn.ensemble.HistGradientBoostingClassifier,
        )
    ]
    assert losses[0] < 1.02 * losses[1]


def test_model_is_that_of_our_own_class():
    ours = spinney.GradientBoostingRegressor(max_iter=5).fit(X, Y)
    drop_in = spinney.HistGradientBoostingRegressor(max_iter=5, early_stopping=False).fit(X, Y)
    assert drop_in.model_ == ours.model_
    ours = spinney.GradientBoostingRegressor(max_iter=5, loss="gamma", leaf_steps="newton").fit(
        X, Y**2 + 1
    )
    drop_in = spinney.HistGradientBoostingRegressor("gamma", max_iter=5).fit(X, Y**2 + 1)
    assert drop_in.model_ == ours.model_


def test_wrong_losses_targets_and_categories_are_refused_in_scikit_learns_words():
    kind = spinney.HistGradientBoostingRegressor
    with pytest.raises(InvalidParameter, match=r"loss='squared'.*Did you mean 'squared_error'"):
        kind(loss="squared").fit(X, Y)
    with pytest.raises(InvalidInput, match=r"loss='gamma' requires strictly positive y.*Row"):
        kind(loss="gamma").fit(X, Y)
    many = np.arange(3000.0).reshape(-1, 1) % 300
    with pytest.raises(InvalidInput, match="at index 0 is expected to have a cardinality <= 255"):
        kind(categorical_features=[0]).fit(many, Y)


@pytest.mark.parametrize("name", ["quantile", "huber", "tweedie"])
def test_parameter_of_a_loss_changes_the_model(name):
    parameter, values = {
        "quantile": ("quantile", (0.2, 0.8)),
        "huber": ("huber_delta", (0.1, 10.0)),
        "tweedie": ("tweedie_power", (1.1, 1.9)),
    }[name]
    models = [
        spinney.GradientBoostingRegressor(loss=name, max_iter=3, **{parameter: value})
        .fit(X, np.abs(Y))
        .model_
        for value in values
    ]
    assert models[0] != models[1]
    with pytest.raises(InvalidParameter, match=parameter):
        spinney.GradientBoostingRegressor(loss=name, **{parameter: -1.0}).fit(X, np.abs(Y))


def test_quantile_must_be_given():
    with pytest.raises(InvalidParameter, match="quantile=None of HistGradient"):
        spinney.HistGradientBoostingRegressor(loss="quantile").fit(X, Y)
