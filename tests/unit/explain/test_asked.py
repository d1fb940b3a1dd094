"""Models that are no sums of trees: importances of their trees, and effects by asking."""

import numpy as np
import pytest

from spinney import AdaBoostRegressor, RotationForestClassifier, RotationForestRegressor, explain
from spinney.errors import InvalidInputType, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = 2 * X[:, 0] + X[:, 0] * X[:, 1]
MEDIAN = AdaBoostRegressor(n_estimators=8, random_state=0).fit(X, Y)
ROTATION = RotationForestRegressor(n_estimators=4, random_state=0).fit(X, Y)
CLASSES = RotationForestClassifier(n_estimators=4, random_state=0).fit(X, Y > 0)


def say(fitted, rows):
    return fitted.predict_proba(rows)[:, 1] if hasattr(fitted, "classes_") else fitted.predict(rows)


def set_to(rows, features, values):
    rows = rows.copy()
    rows[:, features] = values
    return rows


def test_splits_of_trees_in_a_median_have_importances():
    gains, counts = explain.gain_importance(MEDIAN), explain.split_importance(MEDIAN)
    trees = MEDIAN.model_.trees
    np.testing.assert_allclose(gains.values, trees.feature_gains() / trees.feature_gains().sum())
    assert gains.values.argmax() == counts.values.argmax() == 0
    with pytest.raises(InvalidInputType, match="permutation_importance takes any"):
        explain.gain_importance(ROTATION)


@pytest.mark.parametrize(
    "fitted", [MEDIAN, ROTATION, CLASSES], ids=lambda fitted: repr(fitted)[:20]
)
def test_effects_are_what_the_model_says(fitted):
    points = [-1.0, 0.5, np.nan]
    expected = np.column_stack([say(fitted, set_to(X, 0, point)) for point in points])
    curves = explain.individual_curves(fitted, 0, X, grid=points)
    np.testing.assert_allclose(curves.values, expected, rtol=1e-12)
    found = explain.partial_dependence(fitted, "x0", X, grid=points)
    np.testing.assert_allclose(found.values, expected.mean(axis=0), rtol=1e-12)
    effects = explain.accumulated_effects(fitted, X, 0, n_intervals=1)
    ends = [say(fitted, set_to(X, 0, x)).mean() for x in (X[:, 0].min(), X[:, 0].max())]
    np.testing.assert_allclose(np.diff(effects.values), np.diff(ends))


@pytest.mark.parametrize(
    "fitted", [MEDIAN, ROTATION, CLASSES], ids=lambda fitted: repr(fitted)[:20]
)
def test_interactions_are_those_of_the_definition(fitted):
    rows = X[:20].round(1)
    weights = np.arange(20.0)
    shares = weights[1:] / weights.sum()
    kept = rows[1:]

    def dependence(features):
        means = [
            (shares * say(fitted, set_to(kept, features, row[features]))).sum() for row in kept
        ]
        return np.array(means)

    def variance(values):
        return (shares * (values - (shares * values).sum()) ** 2).sum()

    first, second, both = dependence([0]), dependence([1]), dependence([0, 1])
    whole, others = say(fitted, kept), dependence([1, 2])
    found = explain.h_statistic(fitted, rows, features=[(0, 1)], sample_weight=weights)
    expected = variance(both - first - second) / variance(both)
    np.testing.assert_allclose(found.pairwise, [expected], rtol=1e-9)
    overall = variance(whole - first - others) / variance(whole)
    np.testing.assert_allclose(found.overall[0], overall, rtol=1e-9)
    assert len(explain.h_statistic(fitted, rows).pairs) == 3


def test_what_cannot_be_asked_is_refused_with_a_way_out():
    with pytest.raises(InvalidParameter, match="Pass X"):
        explain.partial_dependence(MEDIAN, 0)
    for ask in (explain.verify, explain.gain_importance):
        with pytest.raises(InvalidInputType, match="effects and h_statistic take this one"):
            ask(ROTATION)
    wide = RNG.normal(size=(1000, 30))
    fitted = RotationForestRegressor(n_estimators=1, random_state=0).fit(wide, wide[:, 0])
    with pytest.raises(InvalidParameter, match="smaller max_rows than the 1000 rows"):
        explain.h_statistic(fitted, wide)
