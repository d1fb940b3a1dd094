"""AdaBoost.R2: scikit-learn's arithmetic, the weighted median, and what may go wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import AdaBoostRegressor as Theirs
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import spinney
from spinney import AdaBoostRegressor
from spinney.ensembles.weak import foreign
from spinney.errors import (
    CannotSave,
    InvalidInput,
    InvalidModel,
    InvalidParameter,
    WeakLearnerFailed,
)
from spinney.model.median import MedianForest, weighted_medians

LOSSES = ("linear", "square", "exponential")


def problem(seed=0, n_rows=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X @ [1.0, -2.0, 0.0] + np.sin(4 * X[:, 0]) + 0.3 * rng.standard_t(3, n_rows)


# scikit-learn, given the same draws


@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("base", [KNeighborsRegressor(4), SVR(), LinearRegression()], ids=str)
def test_the_same_draws_give_the_numbers_of_scikit_learn(monkeypatch, base, loss, learning_rate):
    X, y = problem()
    make = {"n_estimators": 12, "loss": loss, "learning_rate": learning_rate}
    theirs = Theirs(base, random_state=5, **make).fit(X, y)
    generator = np.random.RandomState(5)

    def draw(weights, *, seed, number):  # noqa: ARG001
        return generator.choice(np.arange(80), size=80, replace=True, p=weights / weights.sum())

    monkeypatch.setattr(foreign, "draw_rows", draw)
    ours = AdaBoostRegressor(base, mode="resample", **make).fit(X, y)
    n = len(theirs.estimators_)
    assert len(ours.estimators_) == n
    assert ours.estimator_weights_ == pytest.approx(theirs.estimator_weights_[:n], rel=1e-10)
    assert ours.estimator_errors_ == pytest.approx(theirs.estimator_errors_[:n], rel=1e-10)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-12)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert mine == pytest.approx(other, rel=1e-12)


# Drucker's algorithm word for word, with weights


def drucker(base, X, y, weights, *, loss, n_rounds=10):
    w, members, betas = weights / weights.sum(), [], []
    for _ in range(n_rounds):
        f = base().fit(X, y, w).predict(X)
        e = np.abs(y - f) / np.abs(y - f).max()
        L = {"linear": e, "square": e**2, "exponential": 1 - np.exp(-e)}[loss]
        mean = (w * L).sum()
        if mean >= 0.5:
            break
        betas.append(mean / (1 - mean))
        members.append(f)
        w = w * betas[-1] ** (1 - L)
        w = w / w.sum()
    return np.array(members).T, np.log(1 / np.array(betas))


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_in_place_of_draws_follow_the_paper(loss):
    X, y = problem()
    weights = np.linspace(1, 3, 80)

    def tree():
        return DecisionTreeRegressor(max_depth=3, random_state=0)

    answers, logs = drucker(tree, X, y, weights, loss=loss)
    model = AdaBoostRegressor(tree(), n_estimators=10, loss=loss).fit(X, y, weights)
    assert model.estimator_weights_ == pytest.approx(logs, rel=1e-9)
    expected = [literal_median(row, logs) for row in answers]
    assert model.predict(X) == pytest.approx(expected, rel=1e-9)
    native = AdaBoostRegressor(n_estimators=10, loss=loss).fit(X, y, weights)
    assert native.estimator_weights_ == pytest.approx(logs, rel=1e-9)


def literal_median(answers, weights):
    """The least answer y such that the weight of answers up to y is half of all or more."""
    return min(y for y in answers if weights[answers <= y].sum() >= 0.5 * weights.sum())


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6))
def test_the_weighted_median_is_what_its_definition_says(n_members, seed):
    rng = np.random.default_rng(seed)
    answers = rng.integers(0, 4, (5, n_members)).astype(float)  # ties
    weights = rng.integers(0, 3, n_members).astype(float)
    weights[rng.integers(n_members)] += 1
    expected = [literal_median(row, weights) for row in answers]
    assert weighted_medians(answers, weights).tolist() == expected


# The estimator


def test_stages_end_in_the_prediction_and_scores_follow():
    X, y = problem()
    model = AdaBoostRegressor(n_estimators=8).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_) == len(model.model_) == 8
    assert np.array_equal(stages[-1], model.predict(X))
    assert np.array_equal(stages[0], model.estimators_[0].predict(X))
    assert np.array_equal(stages[3], model.model_[:4].predictions(X)[:, 0])
    assert list(model.staged_score(X, y))[-1] == pytest.approx(model.score(X, y))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.argmin() == 2  # the feature that does nothing


def test_a_weight_is_a_repetition_to_the_last_bit():
    X, y = problem()
    counts = np.random.default_rng(1).integers(0, 4, 80)
    again = AdaBoostRegressor().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert np.array_equal(AdaBoostRegressor().fit(X, y, counts).predict(X), again.predict(X))


def test_draws_come_from_the_seed():
    X, y = problem()

    def predicted(seed):
        return AdaBoostRegressor(mode="resample", random_state=seed).fit(X, y).predict(X)

    assert np.array_equal(predicted(1), predicted(1))
    assert not np.array_equal(predicted(1), predicted(2))


def test_a_perfect_member_ends_boosting():
    X = np.arange(8.0).reshape(-1, 1)
    model = AdaBoostRegressor().fit(X, np.repeat([1.0, 5.0], 4))
    assert (len(model.model_), model.estimator_errors_.tolist()) == (1, [0.0])
    assert model.predict(X).tolist() == [1.0] * 4 + [5.0] * 4


def test_a_useless_first_member_is_kept_and_later_ones_are_not():
    X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 1.0, 1.0])
    model = AdaBoostRegressor().fit(X, y)  # every error is the largest
    assert (len(model.model_), model.estimator_weights_.tolist()) == (1, [0.0])
    assert model.predict(X).tolist() == [0.5] * 4


def test_trees_of_ours_are_saved_and_loaded(tmp_path):
    X, y = problem()
    model = AdaBoostRegressor(n_estimators=5).fit(X, y)
    spinney.save(model, tmp_path / "model.spn")
    again = spinney.load(tmp_path / "model.spn")
    assert again.model_ == model.model_
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.estimator_errors_, model.estimator_errors_)
    assert model.compile()(X[0]) == model.predict(X)[0]
    foreign_model = AdaBoostRegressor(Ridge(), n_estimators=2).fit(X, y)
    with pytest.raises(CannotSave, match="Ridge"):
        spinney.save(foreign_model, tmp_path / "model.spn")


def test_large_tables_are_answered_in_parts(monkeypatch):
    X, y = problem()
    model = AdaBoostRegressor(n_estimators=5).fit(X, y)
    expected = model.predict(X)
    monkeypatch.setattr("spinney.model.median._AT_ONCE", 7 * 5)
    assert np.array_equal(model.predict(X), expected)


def test_a_median_refuses_trees_that_make_none():
    X, y = problem()
    forest = spinney.GradientBoostingRegressor(max_iter=2).fit(X, y).model_
    with pytest.raises(InvalidModel, match="one number each"):
        MedianForest(forest)  # it has a baseline


# Hostile input


class Odd(RegressorMixin, BaseEstimator):
    def __init__(self, answer="nan"):
        self.answer = answer

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002
        if self.answer == "raise":
            raise RuntimeError("out of ideas")
        self.fitted_ = True
        return self

    def predict(self, X):
        return {
            "nan": np.full(len(X), np.nan),
            "wide": np.zeros((len(X), 2)),
            "short": np.zeros(3),
        }[self.answer]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("raise", "Round 1: the base learner Odd raised RuntimeError: out of ideas"),
        ("nan", "80 numbers that are not finite"),
        ("wide", r"shape \(80, 2\)"),
        ("short", "3 answers for 80 rows"),
    ],
)
def test_a_base_learner_that_fails_is_named(answer, words):
    with pytest.raises(WeakLearnerFailed, match=words):
        AdaBoostRegressor(Odd(answer)).fit(*problem())


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "squared"}, "Did you mean 'square'"),
        ({"mode": "bag"}, "mode='bag'"),
        ({"estimator": LogisticRegression()}, "is a classifier"),
        ({"estimator": Ridge}, "with fit, predict and get_params"),
        ({"n_estimators": 0}, "n_estimators=0"),
    ],
)
def test_parameters_that_do_not_exist_are_refused(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        AdaBoostRegressor(**parameters).fit(*problem())


def test_two_targets_are_refused():
    X, y = problem()
    with pytest.raises(InvalidInput, match="1d array"):
        AdaBoostRegressor().fit(X, np.column_stack([y, y]))


def test_importances_of_members_without_any_are_an_attribute_error():
    model = AdaBoostRegressor(Ridge(), n_estimators=2).fit(*problem())
    assert not hasattr(model, "feature_importances_")


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e150, 1e300])
def test_numbers_whose_squares_are_none_are_refused(scale):
    X, y = problem()
    with pytest.raises(InvalidInput, match=r"largest magnitude in y is .*adds squares.*Divide y"):
        AdaBoostRegressor().fit(X, scale * y)


@pytest.mark.parametrize("scale", [2.0**-390, 2.0**390])
def test_numbers_far_from_one_are_fitted_as_well(scale):
    X, y = problem()
    plain = AdaBoostRegressor(n_estimators=5).fit(X, y).predict(X)
    np.testing.assert_allclose(
        AdaBoostRegressor(n_estimators=5).fit(X, scale * y).predict(X) / scale, plain, rtol=1e-9
    )
    assert (AdaBoostRegressor(n_estimators=2).fit(X, 0 * y).predict(X) == 0).all()


# The trace


@pytest.mark.parametrize("base", [None, LinearRegression()], ids=str)
def test_the_trace_tells_what_every_round_did(base, tmp_path):
    X, y = problem()
    model = AdaBoostRegressor(base, n_estimators=8, loss="square", learning_rate=0.7).fit(X, y)
    trace = model.trace_
    assert len(trace) == len(model.estimators_)
    np.testing.assert_array_equal(trace.errors, model.estimator_errors_)
    np.testing.assert_array_equal(trace.alphas, model.estimator_weights_)
    D, said = np.full(80, 1 / 80), [member.predict(X) for member in model.estimators_]
    for t in range(len(trace)):
        errors = np.abs(said[t] - y)
        assert trace.largest_errors[t] == pytest.approx(errors.max(), rel=1e-12)
        losses = (errors / errors.max()) ** 2
        assert trace.errors[t] == pytest.approx(D @ losses, rel=1e-9)
        beta = trace.errors[t] / (1 - trace.errors[t])
        assert trace.alphas[t] == pytest.approx(0.7 * np.log(1 / beta), rel=1e-9)
        moved = D * beta ** (0.7 * (1 - losses))
        assert trace.normalisers[t] == pytest.approx(moved.sum(), rel=1e-9)
        D = moved / moved.sum()
    assert f"{len(trace)} rounds of boosting; ended because all rounds" in str(trace)
    assert list(trace.to_frame().columns)[:2] == ["round", "errors"]
    with pytest.raises(ValueError, match="read-only"):
        trace.errors[0] = 0.0
    if base is None:
        spinney.save(model, tmp_path / "r2.spn")
        again = spinney.load(tmp_path / "r2.spn").trace_
        assert again.stop_reason == trace.stop_reason
        for name in trace.ARRAYS:
            np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))


def test_the_trace_says_why_it_ended():
    X, y = problem()
    tree = DecisionTreeRegressor()
    perfect = AdaBoostRegressor(tree, mode="reweight").fit(X, np.sign(y))  # means have no rounding
    assert perfect.trace_.stop_reason == "the last learner made no error"
    hopeless = AdaBoostRegressor(n_estimators=9).fit(np.ones((80, 1)), np.arange(80.0) % 2)
    assert "a half or more" in hopeless.trace_.stop_reason
    assert len(hopeless.trace_) == 1
