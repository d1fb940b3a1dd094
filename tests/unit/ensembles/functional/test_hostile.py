"""Base learners, losses and targets that are no good: a clear word, never a wrong model."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spinney import FunctionalGradientBoostingClassifier as Classifier
from spinney import FunctionalGradientBoostingRegressor as Regressor
from spinney.errors import InvalidInput, InvalidParameter, WeakLearnerFailed

X = np.arange(20.0).reshape(-1, 2)
Y = np.arange(10.0) ** 2
CLASSES = np.arange(10) % 2


class Base(RegressorMixin, BaseEstimator):
    def fit(self, X, y):  # noqa: ARG002
        self.fitted_ = len(y)
        return self


class GivesNan(Base):
    def predict(self, X):
        return np.full(len(X), np.nan)


class Raises(GivesNan):
    def fit(self, X, y):  # noqa: ARG002
        raise RuntimeError("no memory on the moon")


class GivesTwoColumns(Base):
    def predict(self, X):
        return np.zeros((len(X), 2))


class GivesTooFew(Base):
    def predict(self, X):
        return np.zeros(len(X) - 1)


class FailsHere(Base):
    def predict(self, X):  # noqa: ARG002
        raise ValueError("predict is broken")


@pytest.mark.parametrize(
    ("base", "words"),
    [
        (Raises(), "Round 1: .*Raises.* no memory on the moon"),
        (GivesNan(), "Round 1: GivesNan.predict gave .* 10 numbers that are not finite"),
        (GivesTwoColumns(), r"shape \(10, 2\)"),
        (GivesTooFew(), "9 answers for 10 rows"),
        (FailsHere(), "predict is broken"),
    ],
)
def test_a_base_learner_that_fails_is_named_with_its_round(base, words):
    with pytest.raises(WeakLearnerFailed, match=words):
        Regressor(base).fit(X, Y)


@pytest.mark.parametrize(
    "base",
    [LinearRegression, "tree", 3, object()],
    ids=["a class", "a text", "a number", "an object"],
)
def test_what_is_no_estimator_is_refused(base):
    with pytest.raises(InvalidParameter, match=r"estimator=.* with fit, predict and get_params"):
        Regressor(base).fit(X, Y)


def test_a_classifier_cannot_fit_numbers():
    with pytest.raises(InvalidParameter, match=r"LogisticRegression.* is a classifier"):
        Regressor(LogisticRegression()).fit(X, Y)
    with pytest.raises(InvalidParameter, match=r"oracle='regressor'.* is a classifier"):
        Classifier(LogisticRegression(), oracle="regressor").fit(X, CLASSES)
    with pytest.raises(InvalidParameter, match=r"oracle='classifier'.* is no classifier"):
        Classifier(LinearRegression(), oracle="classifier").fit(X, CLASSES)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "sqared"}, "Did you mean 'squared'"),
        ({"loss": 3}, "loss=3 of .*value"),
        ({"step": "giant"}, "step='giant'"),
        ({"learning_rate": 0.0}, "learning_rate=0.0"),
        ({"loss": "quantile"}, "quantile=None.* needs it"),
        ({"subsample": 1.5}, "subsample"),
    ],
)
def test_unknown_words_are_refused_with_what_is_known(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        Regressor(**parameters).fit(X, Y)


@pytest.mark.parametrize("base", [LinearRegression(), RandomForestRegressor(3)], ids=str)
def test_steps_per_region_need_a_tree(base):
    with pytest.raises((InvalidParameter, WeakLearnerFailed), match="step='per_region' needs a"):
        Regressor(base, step="per_region").fit(X, Y)


def test_steps_per_region_need_regressors():
    with pytest.raises(InvalidParameter, match="no classifier as a base learner"):
        Classifier(DecisionTreeClassifier(), step="per_region").fit(X, CLASSES)
    with pytest.raises(InvalidParameter, match="no classifier as a base learner"):
        Classifier(oracle="classifier", step="per_region").fit(X, CLASSES)


@pytest.mark.parametrize(("loss", "bad"), [("poisson", -1.0), ("gamma", 0.0), ("tweedie", -0.5)])
def test_targets_outside_the_domain_of_the_loss_are_named(loss, bad):
    y = np.append(np.ones(9), bad)
    with pytest.raises(InvalidInput, match=f"Row 9 of y is {bad}: loss='{loss}'"):
        Regressor(loss=loss).fit(X, y)


def test_more_than_two_classes_have_one_loss_and_one_oracle():
    three = np.arange(10) % 3
    with pytest.raises(InvalidInput, match=r"loss='exponential' .* two classes, but y has 3"):
        Classifier(loss="exponential").fit(X, three)
    with pytest.raises(InvalidInput, match=r"oracle='classifier' .* two classes, but y has 3"):
        Classifier(DecisionTreeClassifier()).fit(X, three)


# Losses of one's own


def wrong_gradient(y, scores):
    return (scores - y) ** 2, scores - y  # a factor of 2 is missing


def one_number(y, scores):  # noqa: ARG001
    return 0.0, 0.0


def only_values(y, scores):
    return (scores - y) ** 2


def not_finite(y, scores):
    return np.log(scores - y - 1e9), 1 / (scores - y)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (wrong_gradient, "gradient of loss wrong_gradient is .* rise by"),
        (one_number, r"shape \(\) for 10 rows"),
        (only_values, "gave a ndarray: expected two arrays"),
        (not_finite, "both must be finite"),
    ],
)
def test_a_loss_that_contradicts_itself_is_refused(loss, words):
    with np.errstate(invalid="ignore"), pytest.raises(InvalidParameter, match=words):
        Regressor(loss=loss).fit(X, Y)


def test_the_link_of_a_loss_must_fit_the_task():
    class Odd:
        link = "softmax"
        value = staticmethod(lambda y, scores: (scores - y) ** 2)
        gradient = staticmethod(lambda y, scores: 2 * (scores - y))

    with pytest.raises(InvalidParameter, match="'softmax': expected one of"):
        Regressor(loss=Odd()).fit(X, Y)


def test_anyboost_needs_a_loss_that_falls_with_the_margin():
    def squared(y, scores):
        return (1 - y * scores) ** 2, -2 * y * (1 - y * scores)

    base = DecisionTreeClassifier(max_depth=1)
    model = Classifier(base, loss=squared, step="shrink", learning_rate=0.9, n_estimators=9)
    with pytest.raises(InvalidParameter, match="as their margin grows"):
        model.fit(X, CLASSES)


def test_steps_that_leave_all_bounds_are_reported():
    with pytest.raises(InvalidInput, match=r"not finite. Lower learning_rate"):
        Regressor(loss="poisson", step="shrink", learning_rate=1e6).fit(X, Y)


def test_another_number_of_columns_is_refused_at_predict():
    for base in (None, DecisionTreeRegressor()):
        model = Regressor(base, n_estimators=2).fit(X, Y)
        with pytest.raises(InvalidInput, match="3 features"):
            model.predict(np.zeros((2, 3)))
        with pytest.raises(InvalidInput, match="3 features"):
            list(model.staged_predict(np.zeros((2, 3))))
