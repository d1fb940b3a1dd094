"""Componentwise L2 boosting of splines: operators, degrees of freedom, stopping, odd features."""

import itertools
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold
from tests.reference.smoothing_splines import hat_matrix

import spinney
from spinney import L2BoostRegressor
from spinney.errors import InvalidInput, InvalidInputType, InvalidModel, InvalidParameter
from spinney.model.spline_sum import SplineSum


def spline_boost(**parameters):
    return L2BoostRegressor(learner="spline", **parameters)


def problem(seed=0, n_rows=60):
    """A feature that bends, one of few values, one with holes, and one of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 1] = rng.integers(0, 5, n_rows)
    y = np.sin(2 * X[:, 0]) + (X[:, 1] - 2) ** 2 / 2 + X[:, 2] + rng.normal(size=n_rows) / 2
    X[rng.random(n_rows) < 0.2, 2] = np.nan
    return X, y


def knots_of(model):
    starts = model.arrays["knot_start"]
    return [model.arrays["knot"][a:b] for a, b in itertools.pairwise(starts)]


def additive(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n_rows, 6))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2


# The path, as matrices say it


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 1.0]), st.sampled_from([2.5, 4.0, 6.0]))
def test_fit_and_degrees_of_freedom_are_those_of_the_boosting_operator(seed, rate, degrees):
    # B_m = I - (I - rate S_jm) ... (I - rate S_j1) (I - 1 w'/sum(w)), S_j the smoother of j.
    X, y = problem(seed)
    n, weights = len(y), np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    model = spline_boost(
        spline_degrees=degrees, stopping=None, learning_rate=rate, n_estimators=20
    ).fit(X, y, weights)
    hats = [
        hat_matrix(x, weights, degrees, knots)
        for x, knots in zip(X.T, knots_of(model.model_), strict=True)
    ]
    left = np.eye(n) - weights / weights.sum()
    assert model.degrees_of_freedom_[0] == pytest.approx(1.0)
    for number, fitted in enumerate(model.staged_predict(X)):
        residuals = left @ y
        squares = [weights @ (residuals - S @ residuals) ** 2 for S in hats]
        feature = model.selected_features_[number]
        assert squares[feature] == pytest.approx(min(squares), rel=1e-9)
        left = left - rate * hats[feature] @ left
        assert np.abs(fitted - (y - left @ y)).max() < 1e-9
        assert model.degrees_of_freedom_[number + 1] == pytest.approx(n - np.trace(left), abs=1e-9)


@pytest.mark.parametrize("degrees", [2.0, 3.0, 4.0, 7.5, 20.0])
def test_one_feature_is_a_linear_smoother_with_a_closed_form(degrees):
    # F_m = mean + (I - (I - rate S)^m) (y - mean).
    X, y = problem()
    X = X[:, :1]
    model = spline_boost(
        spline_degrees=degrees, stopping=None, learning_rate=0.2, n_estimators=25
    ).fit(X, y)
    S = np.zeros((60, 60))
    if degrees > 2:
        S = hat_matrix(X[:, 0], np.ones(60), degrees, knots_of(model.model_)[0])
        assert np.trace(S) == pytest.approx(degrees - 1, abs=1e-10)
    else:
        centred = X - X.mean()
        S = centred @ centred.T / (centred**2).sum()
    for number, fitted in enumerate(model.staged_predict(X), 1):
        left = np.linalg.matrix_power(np.eye(60) - 0.2 * S, number)
        assert np.abs(fitted - y.mean() - (np.eye(60) - left) @ (y - y.mean())).max() < 1e-9
        trace = 60 - np.trace(left) + 1
        assert model.degrees_of_freedom_[number] == pytest.approx(trace, abs=1e-9)


def test_knots_are_values_with_as_many_others_between_them():
    X = np.random.default_rng(0).permutation(np.arange(191.0))[:, np.newaxis]
    knots = knots_of(spline_boost(n_estimators=1, stopping=None).fit(X, X[:, 0]).model_)[0]
    assert knots.tolist() == [*range(0, 191, 10)]


def test_with_a_knot_at_every_value_it_is_the_smoothing_spline():
    from scipy.interpolate import make_smoothing_spline
    from scipy.optimize import brentq

    rng = np.random.default_rng(3)
    x, y = np.sort(rng.uniform(size=15)), rng.normal(size=15)
    x = (x - x[0]) / np.ptp(x)
    degrees = 5.0

    def excess(size):
        hat = [make_smoothing_spline(x, unit, lam=np.exp(size))(x) for unit in np.eye(15)]
        return np.trace(np.array(hat)) - degrees

    size = brentq(excess, -20, 5, xtol=1e-13)
    expected = make_smoothing_spline(x, y, lam=np.exp(size))
    model = spline_boost(spline_degrees=degrees, learning_rate=1.0, n_estimators=1, stopping=None)
    between = np.linspace(0, 1, 200)
    found = model.fit(x[:, np.newaxis], y).predict(between[:, np.newaxis])
    assert found == pytest.approx(expected(between), abs=1e-7)


def test_two_degrees_are_lines():
    X, y = problem()
    spline = spline_boost(spline_degrees=2.0).fit(X, y)
    line = L2BoostRegressor().fit(X, y)
    assert spline.selected_features_.tolist() == line.selected_features_.tolist()
    assert spline.predict(3 * X) == pytest.approx(line.predict(3 * X), abs=1e-10)
    assert spline.aicc_ == pytest.approx(line.aicc_, abs=1e-10)


# What it is for


def test_an_additive_truth_is_found_where_lines_see_little():
    X, truth = additive(400)
    y = truth + np.random.default_rng(1).normal(size=400)
    fresh, fresh_truth = additive(2000, seed=2)
    errors = [
        ((model.fit(X, y).predict(fresh) - fresh_truth) ** 2).mean()
        for model in (spline_boost(), L2BoostRegressor())
    ]
    assert errors[0] < 0.1
    assert errors[0] < errors[1] / 50


def test_the_corrected_aic_stops_before_noise_is_learnt():
    X, truth = additive(200)
    y = truth + 2 * np.random.default_rng(1).normal(size=200)
    model = spline_boost(n_estimators=400, learning_rate=0.3).fit(X, y)
    assert 0 < model.n_iter_ < 400
    stages = np.array(
        list(
            spline_boost(n_estimators=400, learning_rate=0.3, stopping=None)
            .fit(X, y)
            .staged_predict(X)
        )
    )
    errors = ((stages - truth) ** 2).mean(axis=1)
    assert errors[model.n_iter_ - 1] < 1.3 * errors.min() < errors[-1]
    squares = ((stages - y) ** 2).sum(axis=1)
    df = model.degrees_of_freedom_[1:]
    expected = np.log(squares / 200) + (1 + df / 200) / (1 - (df + 2) / 200)
    assert model.aicc_[1:] == pytest.approx(expected, rel=1e-9)
    assert model.n_iter_ == model.aicc_.argmin()


def test_cross_validation_is_what_fitting_without_each_fold_says():
    X, y = problem(4)
    folds = list(KFold(4).split(X))
    model = spline_boost(stopping="cv", cv=folds, n_estimators=30).fit(X, y)
    squares = np.zeros(31)
    for train, test in folds:
        part = spline_boost(stopping=None, n_estimators=30).fit(X[train], y[train])
        stages = [np.full(len(test), y[train].mean()), *part.staged_predict(X[test])]
        squares += [((y[test] - stage) ** 2).sum() for stage in stages]
    assert model.cv_errors_ == pytest.approx(squares / 60, rel=1e-10)
    assert model.n_iter_ == squares.argmin()


# Rows and features


def test_a_weight_is_a_repetition():
    X, y = problem()
    counts = np.random.default_rng(1).integers(0, 4, 60)
    weighted = spline_boost().fit(X, y, counts)
    again = spline_boost().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert weighted.predict(X) == pytest.approx(again.predict(X), abs=1e-10)
    assert weighted.aicc_ == pytest.approx(again.aicc_, abs=1e-10)


def test_units_of_features_do_not_matter():
    X, y = problem()
    plain = spline_boost().fit(X, y)
    for scale in (1e-300, 2.0**-20, 1e300):
        scaled = spline_boost().fit(scale * X, y)
        assert scaled.predict(scale * X) == pytest.approx(plain.predict(X), abs=1e-9)


def test_two_values_make_a_line_and_few_are_fitted_each_by_itself():
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    two, three = rng.integers(0, 2, (60, 1)), rng.integers(0, 3, (60, 1))
    full = {"learning_rate": 1.0, "n_estimators": 1, "stopping": None}
    assert spline_boost(**full).fit(two, y).predict([[0.5], [3.0]]) == pytest.approx(
        L2BoostRegressor(**full).fit(two, y).predict([[0.5], [3.0]])
    )
    means = [y[three[:, 0] == k].mean() for k in range(3)]
    model = spline_boost(**full).fit(three, y)
    assert model.predict([[0], [1], [2]]) == pytest.approx(means)
    assert model.degrees_of_freedom_.tolist() == pytest.approx([1, 3])


def test_constant_features_are_never_chosen():
    X, y = problem()
    flat = [np.full(60, 0.1), np.append(np.full(59, 3.0), 3.0 + 1e-15), np.full(60, np.nan)]
    model = spline_boost(stopping=None).fit(np.column_stack([*flat, X]), y)
    assert set(model.selected_features_) == {3, 4, 5, 6}
    alone = spline_boost().fit(np.column_stack(flat), y)
    assert alone.n_iter_ == 0
    assert alone.predict(np.column_stack(flat)) == pytest.approx(y.mean())


def test_missing_values_add_nothing():
    X, y = problem()
    model = spline_boost().fit(X, y)
    empty = model.predict(np.full((1, 4), np.nan))[0]
    assert empty == pytest.approx(y.mean())
    effects = [model.predict(np.where(np.arange(4) == j, X, np.nan)) - empty for j in range(4)]
    assert model.predict(X) == pytest.approx(empty + sum(effects), abs=1e-10)
    known = ~np.isnan(X[:, 2])
    assert effects[2][known].mean() == pytest.approx(0, abs=1e-10)


def test_beyond_the_rows_it_is_straight():
    X, truth = additive(300)
    model = spline_boost().fit(X[:, :2], truth)
    ends = [X[:, 1].max() + np.array([0.0, 1.0, 2.0, 1e3]), X[:, 1].min() - np.arange(4.0)]
    for end in ends:
        said = model.predict(np.column_stack([np.zeros(4), end]))
        slopes = np.diff(said) / np.diff(end)
        assert slopes == pytest.approx(slopes[0], rel=1e-6)
        assert abs(slopes[0]) > 3
    inside = model.predict(np.column_stack([np.zeros(2), ends[0][0] - [0.0, 1e-6]]))
    assert np.diff(inside)[0] / -1e-6 == pytest.approx(
        model.predict([[0, ends[0][1]]])[0] - inside[0], rel=1e-3
    )


@pytest.mark.parametrize(
    "odd",
    [
        lambda x: np.append(x[:-1], 1e12),
        lambda x: np.append(x[:-1], -1e12),
        lambda x: np.exp(10 * x),
        lambda x: 1e6 + 1e-6 * x,
        lambda x: np.round(x) + 1e-15 * x,
        lambda x: np.where(x <= np.sort(x)[50], 1e-20 * x, 1 + x),
    ],
    ids=["far right", "far left", "skewed", "far from 0", "nearly equal", "all in one place"],
)
def test_odd_features_keep_the_degrees_exact_and_the_fit_that_of_the_model(odd):
    x, y = odd(np.random.default_rng(0).normal(size=100)), np.random.default_rng(1).normal(size=100)
    X = np.column_stack([x, np.random.default_rng(2).normal(size=100)])
    model = spline_boost(n_estimators=50, stopping=None).fit(X, y)
    squares = [((y - fitted) ** 2).sum() for fitted in model.staged_predict(X)]
    df = model.degrees_of_freedom_
    assert (np.diff(df) > 0).all()
    expected = np.log(np.array(squares) / 100) + (1 + df[1:] / 100) / (1 - (df[1:] + 2) / 100)
    assert model.aicc_[1:] == pytest.approx(expected, abs=1e-8)


# The estimator


def test_curves_have_no_coefficients_and_say_so():
    model = spline_boost(n_estimators=3).fit(*problem())
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match=r"no intercept_.*learner='spline'.*learner='line'"):
        _ = model.intercept_
    assert hasattr(model.set_params(learner="line").fit(*problem()), "coef_")


@pytest.mark.parametrize("stopping", ["aicc", "cv", None])
def test_models_are_saved_loaded_pickled_and_compiled(tmp_path, stopping):
    X, y = problem()
    model = spline_boost(stopping=stopping, n_estimators=20, random_state=1).fit(X, y)
    spinney.save(model, tmp_path / "model.spn")
    loaded = spinney.load(tmp_path / "model.spn")
    spinney.save(loaded, tmp_path / "again.spn")
    assert (tmp_path / "again.spn").read_bytes() == (tmp_path / "model.spn").read_bytes()
    for again in (loaded, pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        assert again.model_ == model.model_
        assert again.learner == "spline"
        assert np.array_equal(again.predict(X), model.predict(X))
        assert np.array_equal(again.aicc_, model.aicc_)
        assert np.array_equal(again.cv_errors_, model.cv_errors_)
    assert model.compile()(X[0]) == model.predict(X)[0]
    assert not hasattr(loaded, "coef_")


def test_a_part_of_the_model_is_that_of_its_first_rounds():
    X, y = problem()
    model = spline_boost(n_estimators=10, stopping=None).fit(X, y)
    stages = list(model.staged_predict(X))
    assert model.predict(X) == pytest.approx(stages[-1], abs=1e-12)
    assert model.model_[:3].predictions(X)[:, 0] == pytest.approx(stages[2], abs=1e-12)
    assert model.model_[:0].predictions(X)[:, 0] == pytest.approx(y.mean())
    feature, coefficients = model.model_[-1]
    assert feature == model.selected_features_[-1]
    assert len(coefficients) == len(knots_of(model.model_)[feature])
    assert repr(model.model_) == "SplineSum(10 rounds, 4 features)"


BITS = """
import numpy as np, sys
from spinney import L2BoostRegressor
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 2))
y = np.sin(X).sum(axis=1) + rng.normal(size=20000)
model = L2BoostRegressor(learner="spline", n_estimators=5).fit(X, y)
print(model.model_.fingerprint, model.aicc_.tobytes().hex())
"""


def test_bits_do_not_depend_on_the_number_of_threads():
    said = set()
    for n_threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, n_threads)}
        command = [sys.executable, "-c", BITS]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        said.add(done.stdout)
    assert len(said) == 1


# Hostile input


def test_categories_infinities_and_parameters_are_refused():
    with pytest.raises(InvalidInputType, match=r"'x1' holds categories.*fits splines"):
        spline_boost().fit([[1.0, "a"], [2.0, "b"]], [1.0, 2.0])
    with pytest.raises(InvalidInput, match=r"'x0' contains infinity in row 1.*on a spline"):
        spline_boost().fit([[1.0], [np.inf]], [1.0, 2.0])
    for parameters in ({"spline_degrees": 1.9}, {"spline_degrees": 21}, {"learner": "splines"}):
        with pytest.raises(InvalidParameter, match=next(iter(parameters))):
            L2BoostRegressor(**parameters).fit(*problem())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"feature": np.array([3, 0], np.int32)}, "does not exist"),
        ({"feature": np.array([-1, 0], np.int32)}, "does not exist"),
        ({"feature": np.array([2, 0], np.int32)}, "without knots"),
        ({"feature": np.array([0], np.int32)}, "different lengths"),
        ({"coefficient": np.ones(39)}, "different lengths"),
        ({"coefficient": np.full(40, np.inf)}, "finite"),
        ({"start": np.zeros(2)}, "different lengths"),
        ({"start": np.array([np.nan])}, "finite"),
        ({"knot": np.zeros(40)}, "increase"),
        ({"knot": np.linspace(1, 0, 40)}, "increase"),
        ({"knot": np.append(1e308 * np.linspace(-1, 1, 20), np.arange(20))}, "increase"),
        ({"knot": np.append(np.arange(39.0), np.nan)}, "finite"),
        ({"knot": np.arange(39.0)}, "behind another"),
        ({"knot_start": np.array([0, 20, 40])}, "different lengths"),
        ({"knot_start": np.array([0, 41, 40, 40])}, "behind another"),
        ({"knot_start": np.array([0, 2**62, -(2**62), 40])}, "behind another"),
        ({"knot_start": np.array([1, 20, 40, 40])}, "behind another"),
        ({"knot_start": np.array([0, 20, 10, 40])}, "behind another"),
        ({"knot_start": np.array([0, 1, 40, 40])}, "from 2 to 1000"),
    ],
)
def test_a_model_whose_parts_contradict_each_other_is_refused(changes, words):
    X = np.column_stack([np.random.default_rng(0).normal(size=(60, 2)), np.ones(60)])
    y = X[:, 0] ** 2 + X[:, 1] ** 2
    model = spline_boost(n_estimators=2, stopping=None, learning_rate=1.0).fit(X, y).model_
    assert sorted(model.arrays["feature"]) == [0, 1]
    arrays = {**model.arrays, **changes}
    with pytest.raises(InvalidModel, match=words):
        SplineSum(model.schema, model.target, arrays, policy=model.policy)


def test_a_file_with_too_many_knots_is_refused():
    X = np.arange(30.0)[:, np.newaxis]
    model = spline_boost(n_estimators=1, stopping=None).fit(X, X[:, 0] ** 2).model_
    many = {
        "knot": np.arange(1001.0),
        "knot_start": np.array([0, 1001]),
        "coefficient": np.ones(1001),
    }
    with pytest.raises(InvalidModel, match="from 2 to 1000"):
        SplineSum(model.schema, model.target, {**model.arrays, **many}, policy=model.policy)
