"""The forest behind a fitted estimator, and the names of what its trees add up to."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from spinney import (
    AdaBoostRegressor,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    QuantileForestRegressor,
)
from spinney.errors import InvalidInputType
from spinney.explain import explain_row, shap_interactions, shap_values, verify
from spinney.explain.reading import forest_of, raw_output_names

X = np.arange(90.0).reshape(-1, 1)


def test_an_estimator_and_its_model_are_the_same():
    fitted = GradientBoostingRegressor(max_iter=2).fit(X, X[:, 0])
    assert forest_of(fitted) is fitted.model_
    assert forest_of(fitted.model_) is fitted.model_


def test_unfitted_is_said_to_be_unfitted():
    with pytest.raises(NotFittedError):
        forest_of(GradientBoostingRegressor())


@pytest.mark.parametrize("stranger", [LinearRegression(), None, 3])
def test_what_has_no_trees_is_refused(stranger):
    with pytest.raises(InvalidInputType, match="no trees to explain"):
        forest_of(stranger)


def test_a_median_of_trees_is_no_sum():
    fitted = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, X[:, 0])
    with pytest.raises(InvalidInputType, match=r"AdaBoostRegressor is no sum .* takes any"):
        forest_of(fitted)


@pytest.mark.parametrize("level", [0, 1])
def test_isolation_trees_add_up_to_the_mean_path_length(level):
    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[0] = 6.0, np.nan
    fitted = IsolationForest(n_estimators=30, extension_level=level, random_state=0).fit(rows)
    if level:  # a plane has no feature of its own
        with pytest.raises(InvalidInputType, match="no sum"):
            shap_values(fitted, rows)
        return
    table = fitted.model_.conform(rows, "rows")
    lengths = fitted.model_.mean_path_lengths(table, n_threads=1)
    for background in (None, rows[50:80]):
        found = shap_values(fitted, rows, background=background)
        np.testing.assert_allclose(found.raw_scores()[:, 0], lengths, rtol=1e-12)
    pairs = shap_interactions(fitted, rows)
    np.testing.assert_allclose(
        pairs.values.sum(axis=(1, 2))[:, 0] + pairs.base[0], lengths, rtol=1e-12
    )
    assert raw_output_names(fitted) == ("mean path length",)
    assert str(explain_row(fitted, rows[0])).startswith("mean path length = ")
    least = verify(fitted, bounds=(lengths.min() / 2, None)).claims[0]
    assert least.verdict != "undecided"
    assert least.statement.startswith("the mean path length is at least")
    (rising,) = verify(fitted, monotonic={0: 1}).claims
    assert rising.statement == "the mean path length never falls as 'x0' grows"


def test_a_quantile_forest_is_explained_by_its_mean():
    fitted = QuantileForestRegressor(n_estimators=20, random_state=0).fit(X, X[:, 0])
    found = shap_values(fitted, X).raw_scores()[:, 0]
    np.testing.assert_allclose(found, fitted.predict(X, "mean"), rtol=1e-12)


@pytest.mark.parametrize(
    ("learner", "labels", "names"),
    [
        (GradientBoostingClassifier(max_iter=1), "ab", ("b",)),
        (GradientBoostingClassifier(max_iter=1), "abc", ("a", "b", "c")),
        (DecisionTreeClassifier(), "ab", ("a", "b")),
    ],
)
def test_raw_scores_have_the_names_of_their_classes(learner, labels, names):
    y = np.array(list(labels))[np.arange(90) * len(labels) // 90]
    assert raw_output_names(learner.fit(X, y)) == names


def test_numbers_have_plain_names():
    fitted = GradientBoostingRegressor(max_iter=1).fit(X, X[:, 0])
    assert raw_output_names(fitted) == ("prediction",)
