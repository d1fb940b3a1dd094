"""What members say of rows: one answer for each, finite, and a column for each class."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import spinney
from spinney.errors import InvalidInput

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
NUMBERS = X[:, 0] + 0.1 * RNG.normal(size=60)
LABELS = (NUMBERS > 0).astype(int)
COMMITTEES = ("Voting", "Stacking", "Blending", "SuperLearner", "WeightedVote", "EnsembleSelection")


class SaysNothing(LinearRegression):
    def predict(self, X):
        return np.where(np.arange(len(X)) == 1, np.nan, super().predict(X))


class SaysTooLittle(LinearRegression):
    def predict(self, X):
        return super().predict(X)[:-1]


class SaysTwo(LinearRegression):
    def predict(self, X):
        return np.column_stack([super().predict(X)] * 2)


class NoShares(LogisticRegression):
    def predict_proba(self, X):
        return np.full((len(X), 2), np.nan)


class OneShare(LogisticRegression):
    def predict_proba(self, X):
        return super().predict_proba(X)[:, :1]


def committee(name, member):
    is_number = isinstance(member, LinearRegression)
    sound = LinearRegression() if is_number else LogisticRegression()
    kind = getattr(spinney, f"{name}{'Regressor' if is_number else 'Classifier'}")
    model = kind([("sound", sound), ("odd", member)])
    return model.set_params(voting="soft") if name == "Voting" and not is_number else model


@pytest.mark.parametrize("name", COMMITTEES)
@pytest.mark.parametrize(
    ("member", "words"),
    [
        (SaysNothing(), "SaysNothing.predict gave .*finite"),
        (SaysTooLittle(), r"SaysTooLittle.predict gave an array of shape .* for \d+ rows"),
    ],
)
def test_numbers_that_are_none_are_refused(name, member, words):
    with pytest.raises(InvalidInput, match=words):
        committee(name, member).fit(X, NUMBERS).predict(X)


@pytest.mark.parametrize("name", ["Voting", "Stacking", "Blending", "SuperLearner"])
@pytest.mark.parametrize("member", [NoShares(), OneShare()])
def test_probabilities_that_are_none_are_refused(name, member):
    words = f"{type(member).__name__}.predict_proba gave .* expected (finite|a column for each)"
    with pytest.raises(InvalidInput, match=words):
        committee(name, member).fit(X, LABELS).predict(X)


@pytest.mark.parametrize("name", ["Voting", "Blending", "SuperLearner"])
def test_members_that_answer_twice_have_no_weight(name):
    with pytest.raises(InvalidInput, match=r"expected one (answer for each row|number of each)"):
        committee(name, SaysTwo()).fit(X, NUMBERS).predict(X)


@pytest.mark.parametrize(
    "model",
    [
        spinney.BaggingRegressor(SaysTooLittle(), 3, random_state=0),
        spinney.ConformalRegressor(SaysTooLittle(), random_state=0),
        spinney.ConformalRegressor(SaysTooLittle(), method="jackknife+ab", n_resamples=5),
    ],
    ids=["bagging", "cv+", "jackknife+ab"],
)
def test_bags_and_intervals_want_an_answer_for_each_row(model):
    with pytest.raises(InvalidInput, match="expected an answer for each row"):
        model.fit(X, NUMBERS).predict(X)
