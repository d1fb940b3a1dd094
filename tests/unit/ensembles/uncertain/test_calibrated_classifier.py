"""Probabilities learnt from scores out of folds."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from spinney import AdaBoostClassifier, CalibratedClassifier, RandomForestClassifier
from spinney.datasets import make_twonorm
from spinney.errors import InvalidInput, InvalidParameter, NotCalibrated
from spinney.uncertainty import (
    VennAbers,
    beta_curve,
    expected_calibration_error,
    log_loss,
    temperature_curve,
)

RNG = np.random.default_rng(0)
METHODS = ["platt", "isotonic", "beta", "venn_abers", "temperature"]


def doubled(n, seed, k=3):
    """Rows whose features stand there twice: naive Bayes is too sure of itself."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, 2)) + np.eye(k, 2)[y] * 1.5
    return np.tile(X, 4), y


X, Y = doubled(1200, 0)
X_NEW, Y_NEW = doubled(3000, 1)


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, 3])
def test_calibration_lowers_the_loss_of_a_classifier_that_is_too_sure(method, k, ensemble):
    (train, y), (new, y_new) = doubled(800, 0, k), doubled(2000, 1, k)
    plain = GaussianNB().fit(train, y)
    model = CalibratedClassifier(GaussianNB(), method=method, ensemble=ensemble, random_state=0)
    model.fit(train, y)
    before, after = (m.predict_proba(new) for m in (plain, model))
    assert after.shape == (2000, k)
    assert np.allclose(after.sum(axis=1), 1.0)
    assert after.min() >= 0.0
    assert log_loss(y_new, after) < log_loss(y_new, before) - 0.05
    error_before, error_after = (expected_calibration_error(y_new, p) for p in (before, after))
    assert error_after < error_before / 2


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_probabilities_of_two_classes_are_those_of_scikit_learn(method):
    """Without ensemble: one curve for all folds, and the model of all rows."""
    train, y = doubled(600, 2, 2)
    folds = list(KFold(5, shuffle=True, random_state=0).split(train))
    theirs = CalibratedClassifierCV(LinearSVC(), method=method, cv=folds, ensemble=False)
    ours = CalibratedClassifier(
        LinearSVC(), method="platt" if method == "sigmoid" else method, cv=folds
    )
    said = [model.fit(train, y).predict_proba(X_NEW) for model in (theirs, ours)]
    assert np.allclose(*said, atol=1e-4)


@pytest.mark.parametrize(("method", "fit"), [("beta", beta_curve), ("venn_abers", VennAbers.of)])
def test_curve_is_fitted_to_scores_out_of_folds(method, fit):
    train, y = doubled(300, 3, 2)
    folds = list(KFold(3).split(train))
    scores = cross_val_predict(GaussianNB(), train, y, cv=folds, method="predict_proba")[:, 1]
    model = CalibratedClassifier(GaussianNB(), method=method, cv=folds).fit(train, y)
    own = GaussianNB().fit(train, y).predict_proba(X_NEW)[:, 1]
    assert np.allclose(model.predict_proba(X_NEW)[:, 1], fit(scores, y)(own), atol=1e-9)


def test_temperature_is_one_number_for_all_classes():
    folds = list(KFold(3).split(X))
    model = CalibratedClassifier(GaussianNB(), method="temperature", cv=folds).fit(X, Y)
    scores = cross_val_predict(GaussianNB(), X, Y, cv=folds, method="predict_proba")
    logs = np.log(np.clip(scores, 1e-5, 1 - 1e-5))
    assert model.curves_[0].curves == (temperature_curve(logs, Y),)
    assert model.curves_[0].curves[0].temperature > 1.5
    assert np.array_equal(model.predict(X_NEW), GaussianNB().fit(X, Y).predict(X_NEW))


def test_venn_abers_has_two_probabilities():
    model = CalibratedClassifier(GaussianNB(), method="venn_abers", random_state=0).fit(X, Y)
    low, high = model.probability_bounds(X_NEW)
    assert low.shape == high.shape == (3000, 3)
    assert (low < high).all()
    two = CalibratedClassifier(GaussianNB(), method="venn_abers", random_state=0)
    two.fit(X[Y < 2], Y[Y < 2])
    low, high = two.probability_bounds(X_NEW)
    said = two.predict_proba(X_NEW)
    assert np.allclose(low[:, 0], 1 - high[:, 1])
    assert ((low <= said) & (said <= high)).all()
    few = CalibratedClassifier(GaussianNB(), method="venn_abers", random_state=0)
    few_low, few_high = few.fit(X[:60][Y[:60] < 2], Y[:60][Y[:60] < 2]).probability_bounds(X_NEW)
    assert (few_high - few_low).mean() > 3 * (high - low).mean()
    with pytest.raises(InvalidInput, match="venn_abers"):
        CalibratedClassifier(GaussianNB(), random_state=0).fit(X, Y).probability_bounds(X)


@pytest.mark.parametrize(
    "base", [AdaBoostClassifier(n_estimators=30), RandomForestClassifier(30), None]
)
def test_our_own_ensembles_are_calibrated(base):
    train, test = make_twonorm(400, random_state=0), make_twonorm(600, random_state=1)
    model = CalibratedClassifier(base, random_state=0).fit(train.X, train.y)
    hits = test.y == model.classes_[1]
    assert expected_calibration_error(hits, model.predict_proba(test.X)[:, 1]) < 0.08
    assert model.score(test.X, test.y) > 0.85


def test_fitted_classifier_is_calibrated_with_all_rows():
    base = GaussianNB().fit(X, Y)
    model = CalibratedClassifier(base, cv="prefit", method="isotonic").fit(X_NEW, Y_NEW)
    assert model.estimator_ is base
    assert log_loss(Y_NEW, model.predict_proba(X_NEW)) < log_loss(Y_NEW, base.predict_proba(X_NEW))
    with pytest.raises(InvalidInput, match="y holds 'x'"):
        CalibratedClassifier(base, cv="prefit").fit(X[:3], ["x", "x", "y"])


@pytest.mark.parametrize("method", METHODS)
def test_weight_is_a_repetition_and_zero_is_absence(method):
    weights = RNG.integers(0, 3, 150)
    fold = np.arange(150) % 3

    def pairs(of_row):
        return [(np.flatnonzero(of_row != f), np.flatnonzero(of_row == f)) for f in range(3)]

    model = CalibratedClassifier(GaussianNB(), method=method, cv=pairs(fold))
    weighted = model.fit(X[:150], Y[:150], weights).predict_proba(X_NEW)
    model.set_params(cv=pairs(np.repeat(fold, weights)))
    model.fit(np.repeat(X[:150], weights, axis=0), np.repeat(Y[:150], weights))
    assert np.allclose(weighted, model.predict_proba(X_NEW), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_pickle_and_clone(method):
    model = CalibratedClassifier(GaussianNB(), method=method, random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X_NEW), model.predict_proba(X_NEW))
    assert not hasattr(clone(model), "curves_")


def test_any_number_of_jobs_gives_the_same():
    method = "platt"
    models = [
        CalibratedClassifier(LogisticRegression(), method=method, n_jobs=n, random_state=0).fit(
            X, Y
        )
        for n in (1, 2)
    ]
    said = [model.predict_proba(X_NEW) for model in models]
    assert np.array_equal(*said)


def test_one_class_is_certain():
    model = CalibratedClassifier(random_state=0).fit(X[:20], ["only"] * 20)
    assert model.predict_proba(X_NEW[:2]).tolist() == [[1.0], [1.0]]
    assert model.predict(X_NEW[:1]).tolist() == ["only"]


def test_scores_without_probabilities_are_enough_where_they_can_be():
    model = CalibratedClassifier(RidgeClassifier(), random_state=0).fit(X, Y)
    assert np.allclose(model.predict_proba(X_NEW).sum(axis=1), 1.0)
    with pytest.raises(InvalidInput, match="has no predict_proba"):
        CalibratedClassifier(RidgeClassifier(), method="beta").fit(X, Y)

    class Mute(GaussianNB):
        """Says labels only."""

        predict_proba = decision_function = None

    with pytest.raises(InvalidInput, match="neither predict_proba nor decision_function"):
        CalibratedClassifier(Mute()).fit(X, Y)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidParameter, match="Did you mean 'isotonic'"):
        CalibratedClassifier(method="isotonik").fit(X, Y)
    with pytest.raises(InvalidParameter, match="cv=1"):
        CalibratedClassifier(cv=1).fit(X, Y)
    with pytest.raises(InvalidInput, match="n_samples=1"):
        CalibratedClassifier().fit(X[:1], Y[:1])
    with pytest.raises(InvalidInput, match="continuous"):
        CalibratedClassifier().fit(X, X[:, 0])


@pytest.mark.parametrize("method", METHODS)
def test_sets_are_made_of_calibrated_probabilities(method):
    model = CalibratedClassifier(GaussianNB(), method=method, random_state=0).fit(X[:600], Y[:600])
    with pytest.raises(NotCalibrated, match="rows that fit has not seen"):
        model.predict_set(X_NEW)
    sets = model.calibrate(X[600:], Y[600:], method="lac").predict_set(X_NEW, 0.9)
    assert 0.87 < sets.coverage(Y_NEW) < 0.94
    assert not hasattr(model, "predict_interval")
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_set(X_NEW, 0.9).members, sets.members)
    with pytest.raises(NotCalibrated):
        model.fit(X, Y).predict_set(X_NEW)
