"""Blends: one split, drawn by what stands in the rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression, LogisticRegression

import spinney
from spinney.datasets import make_friedman, make_twonorm
from spinney.ensembles.combining.blending import draw_units
from spinney.errors import InvalidInput, InvalidParameter

NUMBERS = make_friedman(1, 400, random_state=0)
CLASSES = make_twonorm(400, random_state=0)
MEMBERS = [
    ("boosting", spinney.GradientBoostingRegressor(max_iter=10)),
    ("line", LinearRegression()),
]


class Keeper(RegressorMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weights_ = X, y, sample_weight
        return self

    def predict(self, X):
        return X[:, 0]


def test_members_see_some_rows_and_the_final_estimator_the_others():
    blend = spinney.BlendingRegressor(MEMBERS, Keeper(), holdout=0.25, random_state=1)
    blend.fit(NUMBERS.X, NUMBERS.y)
    held = np.isin(NUMBERS.y, blend.final_estimator_.y_)
    assert held.sum() == blend.n_held_out_ == 100
    alone = LinearRegression().fit(NUMBERS.X[~held], NUMBERS.y[~held])
    assert np.allclose(blend.estimators_[1].coef_, alone.coef_)
    assert np.allclose(blend.final_estimator_.X_[:, 1], alone.predict(NUMBERS.X[held]))
    again = clone(blend).set_params(refit=True).fit(NUMBERS.X, NUMBERS.y)
    whole = LinearRegression().fit(NUMBERS.X, NUMBERS.y)
    assert np.allclose(again.estimators_[1].coef_, whole.coef_)


def test_rows_are_held_out_by_what_stands_in_them():
    order = np.random.default_rng(0).permutation(400)
    first = spinney.BlendingRegressor(MEMBERS, random_state=1).fit(NUMBERS.X, NUMBERS.y)
    second = clone(first).fit(NUMBERS.X[order], NUMBERS.y[order])
    assert np.allclose(first.predict(NUMBERS.X), second.predict(NUMBERS.X), rtol=1e-9)
    other = clone(first).set_params(random_state=2).fit(NUMBERS.X, NUMBERS.y)
    assert not np.allclose(first.predict(NUMBERS.X), other.predict(NUMBERS.X), rtol=1e-9)


def test_a_weight_is_a_repetition():
    weights = np.random.default_rng(0).integers(0, 4, 400)
    blend = spinney.BlendingRegressor(MEMBERS, random_state=1)
    weighted = blend.fit(NUMBERS.X, NUMBERS.y, weights).predict(NUMBERS.X)
    X, y = np.repeat(NUMBERS.X, weights, axis=0), np.repeat(NUMBERS.y, weights)
    assert np.allclose(weighted, blend.fit(X, y).predict(NUMBERS.X), rtol=1e-8)


def test_classes_keep_their_shares_and_groups_stay_together():
    y = np.array(["rare"] * 40 + ["usual"] * 360)
    blend = spinney.BlendingClassifier([("lr", LogisticRegression())], None, random_state=0)
    blend.fit(CLASSES.X, y)
    assert blend.n_held_out_ == 80
    assert isinstance(blend.final_estimator_, LogisticRegression)
    groups = np.arange(400) // 10
    rows = draw_units(groups.astype(np.uint64) * 977 % 41, np.zeros(400, int), np.ones(400), 0.2)
    assert 60 <= rows.sum() <= 100
    assert all(rows[groups == g].all() or not rows[groups == g].any() for g in range(40))
    kept = spinney.BlendingRegressor([("line", LinearRegression())], Keeper(), random_state=0)
    kept.fit(NUMBERS.X, NUMBERS.y, groups=groups)
    held = np.isin(NUMBERS.y, kept.final_estimator_.y_)
    assert all(held[groups == g].all() or not held[groups == g].any() for g in range(40))


def test_last_rows_of_time():
    blend = spinney.BlendingRegressor(MEMBERS, Keeper(), holdout_rows="last")
    blend.fit(NUMBERS.X, NUMBERS.y)
    assert np.array_equal(blend.final_estimator_.y_, NUMBERS.y[320:])


def test_blends_predict_well():
    blend = spinney.BlendingClassifier(random_state=0).fit(CLASSES.X[:300], CLASSES.y[:300])
    assert blend.score(CLASSES.X[300:], CLASSES.y[300:]) > 0.9


def test_blends_that_cannot_be_are_refused():
    with pytest.raises(InvalidParameter, match=r"holdout=1\.0"):
        spinney.BlendingRegressor(MEMBERS, holdout=1.0).fit(NUMBERS.X, NUMBERS.y)
    with pytest.raises(InvalidInput, match="needs one to fit members on"):
        spinney.BlendingRegressor(MEMBERS).fit(NUMBERS.X[:1], NUMBERS.y[:1])
