"""The forest behind a fitted estimator, and the names of what its trees add up to."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from spinney import DecisionTreeClassifier, GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidInputType
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
