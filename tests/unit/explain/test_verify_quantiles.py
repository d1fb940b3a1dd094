"""Claims about quantile forests: the median that is predicted, or the mean, and named so."""

import itertools

import numpy as np
import pytest

from spinney import QuantileForestRegressor
from spinney.explain import explain_row, partial_dependence, shap_values, verify

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2)).round(1)
Y = (X[:, 0] + np.sin(3 * X[:, 1]) + RNG.gamma(0.5, size=120)).round(1)


def forest(seed=0, **parameters):
    learner = QuantileForestRegressor(4, random_state=seed, min_samples_leaf=15, **parameters)
    return learner.fit(X, Y)


def all_rows(fitted):
    """Give a row of every cell, missing values too."""
    arrays = fitted.model_.trees.arrays
    values = []
    for feature in range(2):
        cuts = np.unique(arrays["threshold"][arrays["feature"] == feature].astype(float))
        between = (cuts[:-1] + cuts[1:]) / 2
        values.append([cuts[0] - 1, *between, cuts[-1] + 1, np.nan])
    return np.array(list(itertools.product(*values)))


@pytest.mark.parametrize("seed", range(6))
def test_the_range_of_medians_is_that_of_all_cells(seed):
    fitted = forest(seed)
    medians, means = (fitted.predict(all_rows(fitted), kind) for kind in (0.5, "mean"))
    of_median, of_mean = [claim for claim in verify(fitted).claims if claim.bounds]
    assert of_median.statement.startswith("the median is from")
    assert of_median.bounds == (medians.min(), medians.max())
    assert of_mean.statement.startswith("the mean of the forest is from")
    assert of_mean.bounds == pytest.approx((means.min(), means.max()))
    assert medians.max() != pytest.approx(means.max())


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_those_of_what_predict_gives(seed):
    fitted = forest(seed)
    medians = fitted.predict(all_rows(fitted))
    low, high = medians.min(), medians.max()
    assert verify(fitted, bounds=(low, high)).holds
    refuted = verify(fitted, bounds=(np.nextafter(low, np.inf), np.nextafter(high, -np.inf)))
    for claim in refuted.claims:
        assert claim.verdict == "refuted"
        (row,) = claim.counter_example
        told = np.array([[np.nan if value is None else value for value in row.values()]])
        assert fitted.predict(told).tolist() == list(claim.predictions)
        assert fitted.predict(told, "mean") == pytest.approx(claim.raw_scores)
    assert [claim.predictions[0] for claim in refuted.claims] == [low, high]


def test_half_of_the_weight_is_enough_for_a_median():
    y = np.repeat([1.0, 5.0], 60)
    fitted = QuantileForestRegressor(3, random_state=0, max_depth=1, bootstrap=False)
    fitted.fit(np.zeros((120, 1)), y)
    assert fitted.predict([[0.0]]) == [1.0]
    assert verify(fitted, bounds=(1, 1)).holds


def test_whatever_else_is_claimed_is_said_to_be_about_the_mean():
    fitted = forest()
    found = verify(fitted, monotonic={0: 1}, unused=[1], interactions="no_interactions")
    statements = [claim.statement for claim in found.claims]
    assert statements == [
        "the mean of the forest never falls as 'x0' grows",
        "in the mean of the forest, features interact only within their groups",
        "the mean of the forest does not depend on 'x1'",
    ]
    for claim in found.claims:
        rows = [[np.nan if v is None else v for v in row.values()] for row in claim.counter_example]
        assert fitted.predict(rows).tolist() == list(claim.predictions)
        assert fitted.predict(rows, "mean") == pytest.approx(claim.raw_scores)
    (claim,) = verify(fitted, bounds=(None, 0), output="mean").claims
    assert claim.statement == "the mean of the forest is at most 0"


def test_a_feature_without_splits_moves_no_quantile():
    fitted = QuantileForestRegressor(5, random_state=0).fit(np.column_stack([X, np.ones(120)]), Y)
    (claim,) = verify(fitted, unused=[2]).claims
    assert (claim.statement, claim.verdict) == ("'x2' is not used", "proved")


def test_explanations_name_the_mean():
    fitted = forest()
    found = explain_row(fitted, X[0])
    assert found.prediction_name == "mean"
    assert found.prediction == fitted.predict(X[:1], "mean")[0]
    assert "not the median that predict gives" in str(found)
    assert shap_values(fitted, X[:1]).output_names == ("mean",)
    assert partial_dependence(fitted, 0, X).output_name == "mean"
