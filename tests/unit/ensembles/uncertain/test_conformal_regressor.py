"""Intervals around any regressor: definitions, rows and folds, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import GradientBoostingRegressor as TheirBoosting
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor as TheirTree
from tests.reference.conformal import jackknife_plus

import spinney
from spinney import (
    ConformalRegressor,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    QuantileForestRegressor,
)
from spinney.datasets import make_friedman
from spinney.errors import CannotSave, InvalidInput, InvalidInputType, InvalidParameter

RNG = np.random.default_rng(0)
TRAIN, TEST = make_friedman(1, 300, random_state=0), make_friedman(1, 300, random_state=1)
METHODS = ["split", "cv+", "minmax", "jackknife+", "jackknife+ab", "cqr"]


def linear(X, y):
    return LinearRegression().fit(X, y).predict


def small(method):
    """A regressor that is fitted quickly, and estimates quantiles if need be."""
    if method == "cqr":
        return QuantileForestRegressor(20, random_state=0)
    return LinearRegression()


def made(method, **changes):
    parameters = {"n_resamples": 12, "random_state": 0, **changes}
    return ConformalRegressor(**{"estimator": small(method), "method": method, **parameters})


@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_about_as_many_as_promised(method):
    model = made(method).fit(TRAIN.X, TRAIN.y)
    found = model.predict_interval(TEST.X, level=0.9)
    assert 0.84 < found.coverage(TEST.y) < 0.97
    assert np.array_equal(found.prediction, model.predict(TEST.X))
    assert (found.lower <= found.upper).all()
    wider = model.predict_interval(TEST.X, level=0.95)
    assert (wider.lower <= found.lower).all()
    assert (found.upper <= wider.upper).all()


@pytest.mark.parametrize("level", [0.6, 0.9])
def test_jackknife_plus_and_cross_validation_plus_are_the_definition(level):
    X, y = RNG.normal(size=(15, 2)), RNG.normal(size=15)
    new = RNG.normal(size=(3, 2))
    one = ConformalRegressor(LinearRegression(), method="jackknife+").fit(X, y)
    folds = np.arange(15) % 4
    pairs = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(4)]
    several = ConformalRegressor(LinearRegression(), method="cv+", cv=pairs).fit(X, y)
    for model, own in ((one, None), (several, folds)):
        found = model.predict_interval(new, level)
        for row in range(3):
            expected = jackknife_plus(linear, X, y, new[row], level, folds=own)
            assert (found.lower[row], found.upper[row]) == pytest.approx(expected, abs=1e-10)


def test_split_is_the_definition():
    learn, judge = np.arange(100), np.arange(100, 300)
    model = ConformalRegressor(LinearRegression(), method="split", cv=[(learn, judge)])
    model.fit(TRAIN.X, TRAIN.y)
    plain = LinearRegression().fit(TRAIN.X[learn], TRAIN.y[learn])
    errors = np.sort(np.abs(TRAIN.y[judge] - plain.predict(TRAIN.X[judge])))
    found = model.predict_interval(TEST.X, 0.9)
    assert np.array_equal(found.prediction, plain.predict(TEST.X))
    assert np.allclose(found.upper - found.prediction, errors[180])  # the 181st of 200


@pytest.mark.parametrize("method", ["split", "cqr"])
def test_fitted_estimator_is_judged_by_all_rows(method):
    base = small(method).fit(TRAIN.X, TRAIN.y)
    model = ConformalRegressor(base, method=method, cv="prefit").fit(TEST.X, TEST.y)
    assert np.array_equal(model.predict(TEST.X), base.predict(TEST.X))
    assert len(model.intervals_.scores) == 300
    assert model.predict_interval(TEST.X, 0.9).coverage(TEST.y) >= 0.9


def test_scale_makes_intervals_wide_where_errors_are_large():
    X = RNG.uniform(0, 1, (1500, 1))
    y = RNG.normal(size=1500) * (0.1 + 2 * X[:, 0])
    model = ConformalRegressor(
        LinearRegression(), method="split", scale=DecisionTreeRegressor(max_depth=3), random_state=0
    ).fit(X, y)
    found = model.predict_interval([[0.05], [0.95]], 0.9)
    assert found.width[1] > 3 * found.width[0]
    new = RNG.uniform(0, 1, (1500, 1))
    held = model.predict_interval(new, 0.9).covers(RNG.normal(size=1500) * (0.1 + 2 * new[:, 0]))
    assert held.mean() > 0.86
    assert held[new[:, 0] > 0.5].mean() > 0.84


@pytest.mark.parametrize(
    "base",
    [
        GradientBoostingRegressor(loss="quantile", max_iter=30),
        TheirBoosting(loss="quantile", n_estimators=30),
        QuantileRegressor(alpha=0.0),
    ],
)
def test_quantiles_of_any_regressor_that_estimates_them(base):
    model = ConformalRegressor(base, method="cqr", random_state=0).fit(TRAIN.X, TRAIN.y)
    found = model.predict_interval(TEST.X, 0.8)
    assert 0.72 < found.coverage(TEST.y) < 0.9
    assert len(np.unique(found.width.round(6))) > 10  # not one width for all


def test_groups_of_rows_are_covered_each_by_itself():
    X = pd.DataFrame({"x": RNG.normal(size=2000), "kind": np.arange(2000) % 2})
    y = X["x"] + RNG.normal(size=2000) * np.where(X["kind"] == 1, 5.0, 0.5)
    for on in ("kind", lambda table: table["kind"].astype(str)):
        model = ConformalRegressor(
            LinearRegression(), method="split", conditional_on=on, random_state=0
        ).fit(X, y)
        width = model.predict_interval(X, 0.9).width
        assert np.ptp(width[::2]) < 1e-9
        assert width[1] > 5 * width[0]
        held = model.predict_interval(X, 0.9).covers(y)
        assert (held[::2].mean() > 0.86) & (held[1::2].mean() > 0.86)
    with pytest.raises(InvalidInput, match="of the group"):
        model.predict_interval(pd.DataFrame({"x": [0.0], "kind": [7]}))
    by_number = ConformalRegressor(
        LinearRegression(), method="split", conditional_on=1, random_state=0
    ).fit(X.to_numpy(), y)
    assert np.allclose(by_number.predict_interval(X.to_numpy(), 0.9).width, width)


# Rows


@pytest.mark.parametrize("method", ["split", "cv+", "minmax", "cqr"])
def test_weight_is_a_repetition_and_zero_is_absence(method):
    X, y = TRAIN.X[:60], TRAIN.y[:60]
    weights = RNG.integers(0, 3, 60)
    weights[:3] = 0
    fold = np.arange(60) % 3
    base = LinearRegression()
    if method == "cqr":
        base = QuantileForestRegressor(5, bootstrap=False, max_features=None, random_state=0)
    n_folds = 1 if method in ("split", "cqr") else 3

    def pairs(of_row):
        masks = [of_row == number for number in range(n_folds)]
        return [(np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in masks]

    weighted = ConformalRegressor(base, method=method, cv=pairs(fold)).fit(X, y, weights)
    again = ConformalRegressor(base, method=method, cv=pairs(np.repeat(fold, weights)))
    again.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    one, two = (model.predict_interval(TEST.X, 0.8) for model in (weighted, again))
    assert np.allclose(one.lower, two.lower)
    assert np.allclose(one.upper, two.upper)


@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+", "jackknife+ab"])
def test_a_weight_is_a_repetition_where_rows_have_groups(method):
    X, y, groups = TRAIN.X[:60], TRAIN.y[:60], np.arange(60) // 5
    weights = np.random.default_rng(3).integers(1, 4, 12)[groups]
    rows = np.repeat(np.arange(60), weights)
    models = [
        ConformalRegressor(LinearRegression(), method=method, n_resamples=10, random_state=0)
        for _ in range(2)
    ]
    models[0].fit(X, y, sample_weight=weights, groups=groups)
    models[1].fit(X[rows], y[rows], groups=groups[rows])
    weighed, repeated = (model.predict_interval(TEST.X, 0.8) for model in models)
    for name in ("prediction", "lower", "upper"):
        assert np.allclose(getattr(weighed, name), getattr(repeated, name), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_groups_are_never_divided(method):
    class Memory(RegressorMixin, BaseEstimator):
        """Knows the groups it has seen, by the first column."""

        def fit(self, X, y):
            self.seen_ = set(np.asarray(X)[:, 0])
            self.n_features_in_ = X.shape[1]
            assert len(y) == len(X)
            return self

        def predict(self, X, quantiles=None):
            seen = np.isin(np.asarray(X)[:, 0], list(self.seen_)).astype(float)
            return seen if quantiles is None else np.column_stack([seen, seen])

    groups = np.arange(40) // 4
    X = np.column_stack([groups, RNG.normal(size=40)])
    model = ConformalRegressor(Memory(), method=method, n_resamples=15, random_state=0)
    model.fit(X, np.full(40, -5.0), groups=groups)
    kept = model.intervals_
    scores = kept.scores if hasattr(kept, "scores") else kept.errors
    # A row whose group was learnt from would have been answered with 1: an error of 6, not 5.
    assert set(scores.tolist()) == {5.0}


def test_folds_may_be_a_splitter_of_any_kind():
    groups = np.arange(300) // 10
    for cv in (KFold(4), GroupKFold(3), TimeSeriesSplit(4), [(range(200), range(200, 300))]):
        own = groups if isinstance(cv, GroupKFold | list) else None
        model = ConformalRegressor(LinearRegression(), cv=cv).fit(TRAIN.X, TRAIN.y, groups=own)
        assert model.predict_interval(TEST.X, 0.9).coverage(TEST.y) > 0.84
    halves = [(np.arange(0, 300, 2), np.arange(1, 300, 2))]
    with pytest.raises(InvalidInput, match="divides a group"):
        ConformalRegressor(LinearRegression(), cv=halves).fit(TRAIN.X, TRAIN.y, groups=groups)
    in_time = ConformalRegressor(LinearRegression(), cv=TimeSeriesSplit(4)).fit(TRAIN.X, TRAIN.y)
    assert len(in_time.intervals_.errors) == 240  # the first rows are judged by nobody


def test_same_for_any_number_of_jobs_and_for_one_seed():
    bases = [TheirTree(max_features=0.5), DecisionTreeRegressor(max_features=0.5)]
    for base in bases:
        said = []
        for n_jobs in (1, 2, 1):
            model = ConformalRegressor(base, method="jackknife+ab", n_resamples=8, random_state=3)
            model.set_params(n_jobs=n_jobs).fit(TRAIN.X[:80], TRAIN.y[:80])
            said.append(model.predict_interval(TEST.X, 0.8))
        assert all(np.array_equal(said[0].lower, other.lower) for other in said[1:])
        assert len({tree.predict(TEST.X).sum() for tree in model.intervals_.members}) == 8


def test_rows_answer_the_same_alone_and_in_company():
    for method in METHODS:
        base = DecisionTreeRegressor(max_depth=3) if method != "cqr" else small("cqr")
        model = made(method, estimator=base).fit(TRAIN.X[:60], TRAIN.y[:60])
        together = model.predict_interval(TEST.X[:5], 0.8)
        alone = model.predict_interval(TEST.X[2:3], 0.8)
        assert (alone.lower[0], alone.upper[0]) == (together.lower[2], together.upper[2])


@pytest.mark.parametrize("method", METHODS)
def test_pickle_and_clone(method):
    model = made(method).fit(TRAIN.X[:60], TRAIN.y[:60])
    again = pickle.loads(pickle.dumps(model))
    one, two = (m.predict_interval(TEST.X, 0.9) for m in (model, again))
    assert np.array_equal(one.lower, two.lower)
    assert np.array_equal(one.upper, two.upper)
    assert not hasattr(clone(model), "estimator_")
    assert clone(model).get_params()["method"] == method


def test_tables_and_pipelines_go_in_as_they_are():
    X = pd.DataFrame({"size": RNG.normal(size=120), "kind": ["a", "b"] * 60})
    y = X["size"] + (X["kind"] == "b")
    model = ConformalRegressor(random_state=0).fit(X, y)
    assert model.feature_names_in_.tolist() == ["size", "kind"]
    assert model.predict_interval(X, 0.8).coverage(y) > 0.7
    pipeline = make_pipeline(StandardScaler(), KNeighborsRegressor())
    model = ConformalRegressor(pipeline, random_state=0).fit(TRAIN.X, TRAIN.y)
    assert model.predict_interval(TEST.X, 0.9).coverage(TEST.y) > 0.84


# Refusals


def test_too_few_rows_for_a_level_give_infinite_intervals():
    model = made("cv+").fit(TRAIN.X[:8], TRAIN.y[:8])
    found = model.predict_interval(TEST.X, 0.9)
    assert np.isinf(found.lower).all()
    assert np.isinf(found.upper).all()
    assert np.isfinite(model.predict_interval(TEST.X, 0.5).width).all()


@pytest.mark.parametrize("level", [0, 1.0, -1, np.nan, "much", None])
def test_level_must_be_between_0_and_1(level):
    with pytest.raises(InvalidParameter, match="level="):
        made("split").fit(TRAIN.X, TRAIN.y).predict_interval(TEST.X, level)


def test_parameters_that_make_no_sense_are_refused():
    X, y = TRAIN.X, TRAIN.y
    refused = [
        (ConformalRegressor(method="split+"), "method='split\\+'"),
        (ConformalRegressor(LinearRegression), "estimator="),
        (ConformalRegressor(LogisticRegression()), "expected a regressor"),
        (ConformalRegressor(LinearRegression(), cv=1), "cv=1"),
        (ConformalRegressor(LinearRegression(), cv=True), "cv=True"),
        (ConformalRegressor(LinearRegression(), cv="fitted"), "prefit"),
        (ConformalRegressor(LinearRegression(), cv=object()), "cv="),
        (ConformalRegressor(LinearRegression(), cv="prefit"), "expected folds"),
        (ConformalRegressor(LinearRegression(), cv=0.2), "expected folds"),
        (ConformalRegressor(LinearRegression(), method="split", cv=5), "5 folds"),
        (ConformalRegressor(LinearRegression(), method="cqr"), "estimates quantiles"),
        (ConformalRegressor(GradientBoostingRegressor(), method="cqr"), "estimates quantiles"),
        (ConformalRegressor(method="cqr", quantiles=(0.9, 0.1)), "quantiles="),
        (ConformalRegressor(method="cqr", quantiles=0.9), "quantiles="),
        (ConformalRegressor(LinearRegression(), conditional_on=0), "conditional_on"),
        (
            ConformalRegressor(LinearRegression(), method="split", conditional_on="nowhere"),
            "conditional_on='nowhere'",
        ),
        (ConformalRegressor(LinearRegression(), scale=LinearRegression()), "scale"),
    ]
    for model, message in refused:
        with pytest.raises(InvalidParameter, match=message):
            model.fit(X, y)
    with pytest.raises(TypeError, match="Did you mean 'n_resamples'"):
        ConformalRegressor(n_resample=3)


@pytest.mark.parametrize(
    ("cv", "error", "message"),
    [
        (RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), InvalidInput, "a second time"),
        ([([0, 1], [1, 2])], InvalidInput, "learns from row 1 and tests on it"),
        ([([0, 1], [999])], InvalidInput, "from 0 to 299"),
        ([3], InvalidInputType, "a pair"),
        ([], InvalidInput, "no folds at all"),
    ],
)
def test_folds_that_judge_nothing_honestly_are_refused(cv, error, message):
    with pytest.raises(error, match=message):
        ConformalRegressor(LinearRegression(), cv=cv).fit(TRAIN.X, TRAIN.y)


def test_rows_that_cannot_be_used_are_refused():
    model = made("cv+")
    with pytest.raises(InvalidInput, match="y contains NaN"):
        model.fit(TRAIN.X, np.where(np.arange(300) == 7, np.nan, TRAIN.y))
    with pytest.raises(InvalidInput, match="n_samples=1"):
        model.fit(TRAIN.X[:1], TRAIN.y[:1])
    with pytest.raises(InvalidInput, match="n_samples=1"):
        made("jackknife+").fit(TRAIN.X[:1], TRAIN.y[:1])
    with pytest.raises(InvalidInput, match="groups has the shape"):
        model.fit(TRAIN.X, TRAIN.y, groups=[1, 2])
    with pytest.raises(InvalidInput, match="one group"):
        model.fit(TRAIN.X, TRAIN.y, groups=np.zeros(300))
    with pytest.raises(InvalidInput, match="takes no sample_weight"):
        ConformalRegressor(KNeighborsRegressor()).fit(TRAIN.X, TRAIN.y, np.arange(300))
    with pytest.raises(NotFittedError):
        model.predict_interval(TEST.X)
    fitted = model.fit(TRAIN.X, TRAIN.y)
    with pytest.raises(ValueError, match="features"):
        fitted.predict_interval(TEST.X[:, :3])


def test_estimator_around_another_has_no_form_in_a_file(tmp_path):
    model = made("split").fit(TRAIN.X, TRAIN.y)
    with pytest.raises(CannotSave, match="pickle or joblib"):
        spinney.save(model, tmp_path / "model.spn")
    with pytest.raises(CannotSave, match="not fitted"):
        spinney.save(made("split"), tmp_path / "model.spn")
