"""Componentwise L2 boosting: operators, degrees of freedom, stopping, and where it ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

import spinney
from spinney import L2BoostRegressor
from spinney.errors import (
    InvalidInput,
    InvalidInputType,
    InvalidModel,
    InvalidParameter,
    SmallWeights,
)
from spinney.model.componentwise import ComponentwiseSum


def problem(seed=0, n_rows=40, n_features=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) @ rng.normal(size=(n_features, n_features))
    return X, X[:, 0] - 2 * X[:, -1] + rng.normal(size=n_rows)


# The path, as matrices say it


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 1.0]))
def test_fit_and_degrees_of_freedom_are_those_of_the_boosting_operator(seed, rate):
    # B_m = I - (I - rate S_jm) ... (I - rate S_j1) (I - 1 1'/n), S_j the hat matrix of feature j.
    X, y = problem(seed)
    model = L2BoostRegressor(stopping=None, learning_rate=rate, n_estimators=30).fit(X, y)
    n, centred = len(y), X - X.mean(axis=0)
    left = np.eye(n) - np.full((n, n), 1 / n)
    assert model.degrees_of_freedom_[0] == pytest.approx(1.0)
    for number, fitted in enumerate(model.staged_predict(X)):
        residuals = left @ y
        gains = (centred.T @ residuals) ** 2 / (centred**2).sum(axis=0)
        feature = model.selected_features_[number]
        assert gains[feature] == pytest.approx(gains.max(), rel=1e-9)
        column = centred[:, feature]
        left = left - rate * np.outer(column, column @ left) / (column @ column)
        assert np.abs(fitted - (y - left @ y)).max() < 1e-10 * np.abs(y).max()
        assert model.degrees_of_freedom_[number + 1] == pytest.approx(n - np.trace(left), abs=1e-9)


def test_one_feature_is_a_linear_smoother_with_a_closed_form():
    # F_m = mean + (I - (I - rate S)^m) (y - mean) = mean + (1 - (1 - rate)^m) (line - mean).
    X, y = problem(n_features=1)
    model = L2BoostRegressor(stopping=None, learning_rate=0.2, n_estimators=25).fit(X, y)
    centred = X - X.mean()
    S = centred @ centred.T / (centred**2).sum()
    for number, fitted in enumerate(model.staged_predict(X), 1):
        left = np.linalg.matrix_power(np.eye(40) - 0.2 * S, number)
        assert np.abs(fitted - y.mean() - (np.eye(40) - left) @ (y - y.mean())).max() < 1e-10
        assert model.degrees_of_freedom_[number] == pytest.approx(2 - 0.8**number, abs=1e-10)


def test_all_rounds_end_in_least_squares():
    X, y = problem(3)
    weights = np.linspace(1, 4, 40)
    model = L2BoostRegressor(stopping=None, learning_rate=1.0, n_estimators=20000)
    model.fit(X, y, weights)
    ols = LinearRegression().fit(X, y, weights)
    assert model.coef_ == pytest.approx(ols.coef_, abs=1e-8)
    assert model.intercept_ == pytest.approx(ols.intercept_, abs=1e-8)
    assert model.degrees_of_freedom_[-1] == pytest.approx(6.0, abs=1e-6)  # 5 features and the mean
    assert model.n_iter_ < 20000  # nothing was left to fit


def test_orthonormal_features_are_shrunk_by_the_rounds_they_got():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 4)))[0]
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    y = Q @ [8.0, 4.0, 2.0, 1.0] + 7
    model = L2BoostRegressor(stopping=None, learning_rate=0.1, n_estimators=40).fit(Q, y)
    rounds = np.bincount(model.selected_features_, minlength=4)
    assert model.coef_ == pytest.approx((Q.T @ y) * (1 - 0.9**rounds), abs=1e-10)
    assert model.degrees_of_freedom_[-1] == pytest.approx(1 + (1 - 0.9**rounds).sum(), abs=1e-10)


# Stopping


def test_the_curve_is_the_corrected_aic_and_its_least_value_is_taken():
    X, y = problem(1)
    model = L2BoostRegressor(n_estimators=200).fit(X, y)
    everything = L2BoostRegressor(n_estimators=200, stopping=None).fit(X, y)
    squares = [((y - y.mean()) ** 2).sum()]
    squares += [((y - f) ** 2).sum() for f in everything.staged_predict(X)]
    df, n = everything.degrees_of_freedom_, 40
    expected = np.log(np.array(squares) / n) + (1 + df / n) / (1 - (df + 2) / n)
    assert model.aicc_ == pytest.approx(expected, rel=1e-10)
    assert model.n_iter_ == expected.argmin() > 0
    assert model.predict(X) == pytest.approx(list(everything.staged_predict(X))[model.n_iter_ - 1])


def test_noise_features_are_mostly_left_out():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 30))
    y = 3 * X[:, 4] - 2 * X[:, 7] + rng.normal(size=100)
    model = L2BoostRegressor().fit(X, y)
    assert set(np.argsort(-np.abs(model.coef_))[:2]) == {4, 7}
    assert np.abs(np.delete(model.coef_, [4, 7])).max() < 0.5
    assert model.n_iter_ < 500
    ols = LinearRegression().fit(X, y)
    fresh = rng.normal(size=(1000, 30))
    truth = 3 * fresh[:, 4] - 2 * fresh[:, 7]
    errors = [((m.predict(fresh) - truth) ** 2).mean() for m in (model, ols)]
    assert errors[0] < errors[1]


def test_too_many_degrees_of_freedom_cost_infinitely_much():
    X, y = problem(n_rows=6, n_features=10)
    model = L2BoostRegressor(learning_rate=1.0, n_estimators=50).fit(X, y)
    tight = model.degrees_of_freedom_ >= 4
    assert tight.any()
    assert np.isinf(model.aicc_[tight]).all()
    assert np.isfinite(model.aicc_[~tight]).all()


def test_cross_validation_is_what_fitting_without_each_fold_says():
    X, y = problem(4)
    folds = list(KFold(4).split(X))
    model = L2BoostRegressor(stopping="cv", cv=folds, n_estimators=30).fit(X, y)
    squares = np.zeros(31)
    for train, test in folds:
        part = L2BoostRegressor(stopping=None, n_estimators=30).fit(X[train], y[train])
        stages = [np.full(len(test), y[train].mean()), *part.staged_predict(X[test])]
        squares += [((y[test] - stage) ** 2).sum() for stage in stages]
    assert model.cv_errors_ == pytest.approx(squares / 40, rel=1e-10)
    assert model.n_iter_ == squares.argmin()
    same = L2BoostRegressor(stopping="cv", cv=KFold(4), n_estimators=30).fit(X, y)
    assert np.array_equal(same.cv_errors_, model.cv_errors_)


def test_folds_are_drawn_by_the_seed():
    X, y = problem()
    first, again, other = (
        L2BoostRegressor(stopping="cv", random_state=s).fit(X, y).cv_errors_ for s in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


# The estimator


def test_a_weight_is_a_repetition():
    X, y = problem()
    counts = np.random.default_rng(1).integers(0, 4, 40)
    weighted = L2BoostRegressor().fit(X, y, counts)
    again = L2BoostRegressor().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.coef_ == pytest.approx(again.coef_, abs=1e-12)
    assert weighted.aicc_ == pytest.approx(again.aicc_, abs=1e-10)


def test_coefficients_and_intercept_predict():
    X, y = problem()
    model = L2BoostRegressor().fit(X, y)
    assert model.predict(X) == pytest.approx(X @ model.coef_ + model.intercept_, abs=1e-12)
    third = list(model.staged_predict(X))[2]
    assert model.model_[:3].predictions(X)[:, 0] == pytest.approx(third, abs=1e-12)


@pytest.mark.parametrize("learner", ["line", "spline"])
def test_every_stage_has_the_bits_of_a_model_of_that_many_rounds(learner):
    X, y = problem(n_rows=300, n_features=20)
    X[::7, 0] = np.nan
    model = L2BoostRegressor(learner=learner, stopping=None, n_estimators=100).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_iter_ == 100
    assert np.array_equal(stages[-1], model.predict(X))
    for n_rounds in (1, 2, 17, 60):
        few = clone(model).set_params(n_estimators=n_rounds).fit(X, y)
        assert np.array_equal(stages[n_rounds - 1], few.predict(X))


def test_missing_values_stand_for_the_mean():
    X, y = problem()
    holes = X.copy()
    holes[::7, 1] = np.nan
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    model, plain = (L2BoostRegressor().fit(table, y) for table in (holes, filled))
    assert model.coef_ == pytest.approx(plain.coef_, abs=1e-10)
    assert model.predict(holes) == pytest.approx(plain.predict(filled), abs=1e-10)


def test_constant_features_are_never_chosen():
    X, y = problem()
    X = np.column_stack([np.full(40, 0.1), X, np.full(40, np.nan)])
    model = L2BoostRegressor(stopping=None).fit(X, y)
    assert not np.isin([0, 6], model.selected_features_).any()
    assert L2BoostRegressor().fit(X[:, :1], y).predict(X[:, :1]) == pytest.approx(y.mean())


def test_models_are_saved_and_loaded(tmp_path):
    X, y = problem()
    for stopping in ("aicc", "cv", None):
        model = L2BoostRegressor(stopping=stopping, n_estimators=20, random_state=1).fit(X, y)
        spinney.save(model, tmp_path / "model.spn")
        again = spinney.load(tmp_path / "model.spn")
        assert again.model_ == model.model_
        assert np.array_equal(again.predict(X), model.predict(X))
        assert np.array_equal(again.aicc_, model.aicc_)
        assert np.array_equal(again.cv_errors_, model.cv_errors_)
        assert model.compile()(X[0]) == model.predict(X)[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"feature": np.array([5], np.int32), "step": np.ones(1)}, "does not exist"),
        ({"feature": np.array([-1], np.int32), "step": np.ones(1)}, "does not exist"),
        ({"step": np.ones(3)}, "different lengths"),
        ({"start": np.array([np.nan])}, "finite"),
        ({"centre": np.zeros(2)}, "different lengths"),
    ],
)
def test_a_model_whose_parts_contradict_each_other_is_refused(changes, words):
    X, y = problem()
    model = L2BoostRegressor(n_estimators=2, stopping=None).fit(X, y).model_
    with pytest.raises(InvalidModel, match=words):
        ComponentwiseSum(
            model.schema, model.target, {**model.arrays, **changes}, policy=model.policy
        )


# Hostile input


def test_categories_and_infinities_are_refused():
    with pytest.raises(InvalidInputType, match=r"'x1' holds categories.*OneHotEncoder"):
        L2BoostRegressor().fit([[1.0, "a"], [2.0, "b"]], [1.0, 2.0])
    with pytest.raises(InvalidInput, match=r"'x0' contains infinity in row 1"):
        L2BoostRegressor().fit([[1.0], [np.inf]], [1.0, 2.0])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"stopping": "aic"}, "Did you mean 'aicc'"),
        ({"learning_rate": 1.5}, "learning_rate=1.5"),
        ({"cv": 1}, "cv=1 of"),
        ({"cv": "five"}, "cv='five'"),
    ],
)
def test_parameters_that_do_not_exist_are_refused(parameters, words):
    X, y = problem()
    with pytest.raises(InvalidParameter, match=words):
        L2BoostRegressor(**parameters).fit(X, y)


def test_more_folds_than_rows_are_refused():
    X, y = problem(n_rows=4)
    with pytest.raises(InvalidInput, match="cv=5 folds, but n_samples = 4"):
        L2BoostRegressor(stopping="cv").fit(X, y)


def test_weights_too_small_for_any_round_are_reported():
    X, y = problem()
    with pytest.warns(SmallWeights, match=r"add up to 0\.04"):
        model = L2BoostRegressor().fit(X, y, np.full(40, 0.001))
    assert model.n_iter_ == 0


@pytest.mark.parametrize("scale", [1e-200, 1e155, 1e300])
def test_numbers_whose_squares_are_none_are_refused(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    with pytest.raises(InvalidInput, match=r"largest magnitude in y is .*adds squares"):
        L2BoostRegressor().fit(X, scale * X[:, 0])
    fine = L2BoostRegressor(stopping=None).fit(X, 2.0**300 * X[:, 0])
    np.testing.assert_allclose(fine.coef_ / 2.0**300, [1, 0], atol=1e-6)
