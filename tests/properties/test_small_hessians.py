"""Rows of small second derivatives are learnt from beside rows of large ones."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor as TheirRegressor
from sklearn.metrics import mean_poisson_deviance

from spinney import GradientBoostingRegressor, HistGradientBoostingRegressor


@pytest.mark.parametrize("largest", [1e4, 1e5])
def test_counts_of_a_few_beside_counts_of_many_thousand(largest):
    rng = np.random.default_rng(0)
    is_large = rng.integers(0, 2, 8000)
    X = np.column_stack([is_large, np.round(rng.normal(size=(8000, 3)), 1)])
    mean = np.where(is_large, largest, 0.3) * np.exp(np.sin(2 * X[:, 1]) + 0.5 * X[:, 2])
    y = rng.poisson(mean).astype(float)
    train, test = slice(None, 4000), slice(4000, None)
    few = is_large[test] == 0

    def deviance(booster):
        predicted = booster.fit(X[train], y[train]).predict(X[test])
        return mean_poisson_deviance(y[test][few], predicted[few])

    settings = {"loss": "poisson", "max_iter": 100, "early_stopping": False}
    theirs = deviance(TheirRegressor(**settings))
    assert deviance(HistGradientBoostingRegressor(**settings)) < 1.05 * theirs
    assert deviance(GradientBoostingRegressor(**settings)) < 1.3 * theirs


@pytest.mark.parametrize(("light", "heavy"), [(1.5, 1e6), (1e-3, 1e3)])
def test_light_rows_are_learnt_from_once_heavy_ones_are_fitted(light, heavy):
    """One row in a hundred is heavier by six decades."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(8000, 4)), 1)
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=8000)
    weights = np.full(4000, light)
    weights[:40] = heavy

    def error(booster):
        predicted = booster.fit(X[:4000], y[:4000], weights).predict(X[4000:])
        return np.mean((y[4000:] - predicted) ** 2)

    theirs = error(TheirRegressor(early_stopping=False))
    assert error(HistGradientBoostingRegressor(early_stopping=False)) < 1.1 * theirs
    if light > 1:  # of weights below one many rows are needed for a leaf: a weight is a repetition
        assert error(GradientBoostingRegressor(max_iter=100, early_stopping=False)) < 1.1 * theirs
