"""``early_stopping="cv"``: folds choose the rounds, and then all rows are learnt from."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.gradient.stopping import Clock
from spinney.ensembles.sharing import SharedTable
from spinney.errors import InvalidInput, InvalidParameter, OutOfTime
from spinney.resampling import Folds, TimeFolds

RNG = np.random.default_rng(6)
X = RNG.normal(size=(400, 4)).round(1)  # fewer values than bins: cuts depend on no fold
Y = X[:, 0] + np.sin(2 * X[:, 1]) + RNG.normal(size=400)
LABELS = np.digitize(Y, [-1.0, 1.0])
GROUPS = RNG.integers(0, 40, 400)
FIVE = {"cv": 5, "early_stopping": "cv"}
SETTINGS = {"early_stopping": "cv", "n_iter_no_change": 3, "max_iter": 100, "random_state": 0}


def by_hand(model, folds, y, weights=None):
    """The curve of fits of their own, each on the rows of its fold, with the same bins."""
    weights = np.ones(len(y)) if weights is None else weights
    shared, n_rounds = SharedTable(X, weights), len(model.cv_score_) - 1
    curves, counts = [], []
    for train, test in folds:
        own = type(model)(max_iter=n_rounds).fit(shared.rows(train), y[train], weights[train])
        loss = own._loss(own.model_.target)
        start = np.tile(own.model_.arrays["baseline"], (len(test), 1))
        stages = [start, *own._staged_scores(X[test])]
        numbers, counted = y[test].astype(float), weights[test]
        curves.append([-loss.mean(numbers, np.asfortranarray(s), counted) for s in stages])
        counts.append(counted.sum())
    curves = np.array(curves)
    mean = np.average(curves, axis=0, weights=counts)
    error = np.sqrt(((curves - mean) ** 2).sum(axis=0) / (len(folds) * (len(folds) - 1)))
    return mean, error


@pytest.mark.parametrize("weighting", ["none", "whole"])
@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_the_curve_is_that_of_fits_of_their_own(task, weighting):
    y = Y if task == "numbers" else LABELS
    make = GradientBoostingRegressor if task == "numbers" else GradientBoostingClassifier
    weights = None if weighting == "none" else RNG.integers(1, 4, 400).astype(float)
    folds = list(Folds(4, random_state=1).split(X))
    model = make(**SETTINGS, cv=folds).fit(X, y, weights)
    mean, error = by_hand(model, folds, y, weights)
    assert np.allclose(model.cv_score_, mean, rtol=1e-9)
    assert np.allclose(model.cv_score_error_, error, rtol=1e-6)


def test_rounds_stop_with_patience_and_the_best_are_fitted_to_all_rows():
    model = GradientBoostingRegressor(**{**SETTINGS, "max_iter": 200}).fit(X, Y)
    best = int(np.argmax(model.cv_score_))
    assert model.n_iter_ == best < len(model.cv_score_) - 1
    assert len(model.cv_score_) < 200
    tail = model.cv_score_[-4:]
    assert tail[1:].max() <= tail[0] + 1e-7  # the last three brought nothing
    plain = GradientBoostingRegressor(max_iter=best, random_state=0).fit(X, Y)
    assert model.model_ == plain.model_  # nothing is held out in the end
    assert model.do_early_stopping_
    assert model.stopped_by_ == "early_stopping"
    few = GradientBoostingRegressor(**{**SETTINGS, "max_iter": 3}).fit(X, Y)
    assert (few.n_iter_, few.stopped_by_) == (3, "max_iter")


def test_folds_follow_the_data():
    """Classes are divided evenly, groups not at all, and time goes forwards."""
    seen = []

    class Looking(Folds):
        def split(self, X, y=None, groups=None, time=None):
            for train, test in super().split(X, y, groups, time):
                seen.append((train, test))
                yield train, test

    from spinney.ensembles.fitting import IntakeSettings, read_rows
    from spinney.ensembles.gradient.given import Given

    intake = IntakeSettings(estimator_name="", task="classification")
    reading = read_rows(X, LABELS, None, intake)
    for _, test in Given(X=X, y=LABELS).folds(FIVE, reading, seed=0):
        counts = np.bincount(LABELS[test], minlength=3)
        assert np.abs(counts - np.bincount(LABELS) / 5).max() < 1
    for train, test in Given(X=X, y=LABELS, groups=GROUPS).folds(FIVE, reading, seed=0):
        assert not set(GROUPS[train]) & set(GROUPS[test])
    time = RNG.permutation(400)
    for train, test in Given(X=X, y=LABELS, time=time).folds(FIVE, reading, seed=0):
        assert time[train].max() < time[test].min()
    GradientBoostingClassifier(**{**SETTINGS, "max_iter": 2}, cv=Looking(3)).fit(X, LABELS)
    assert len(seen) == 3


def test_groups_and_time_reach_the_folds():
    copies, y = np.repeat(X[:100], 4, axis=0), np.repeat(Y[:100], 4)
    groups = np.repeat(np.arange(100), 4)
    kept = {**SETTINGS, "min_samples_leaf": 1, "max_iter": 60}
    leaky = GradientBoostingRegressor(**kept).fit(copies, y)
    honest = GradientBoostingRegressor(**kept).fit(copies, y, groups=groups)
    assert honest.n_iter_ < leaky.n_iter_
    assert honest.cv_score_.max() < leaky.cv_score_.max()
    folds = list(TimeFolds(5).split(X))
    timed = GradientBoostingRegressor(**SETTINGS).fit(X, Y, time=np.arange(400))
    pairs = GradientBoostingRegressor(**SETTINGS, cv=folds).fit(X, Y)
    assert np.array_equal(timed.cv_score_, pairs.cv_score_)


def test_whole_weights_are_repetitions_where_rows_of_one_time_go_together():
    weights, time = RNG.integers(0, 4, 400), RNG.permutation(400) // 2
    model = GradientBoostingRegressor(**SETTINGS)
    once = model.fit(X, Y, weights, time=time)
    curve, arrays = once.cv_score_, once.model_.arrays
    rows = np.repeat(np.arange(400), weights)
    again = model.fit(X[rows], Y[rows], time=time[rows])
    assert np.allclose(again.cv_score_, curve, rtol=1e-13)
    for name in ("feature", "threshold", "values", "weight", "baseline"):
        assert np.array_equal(arrays[name], again.model_.arrays[name]), name


def test_rows_of_weight_zero_leave_groups_and_pairs_in_place():
    weights = np.ones(400)
    weights[::7] = 0.0
    left = np.flatnonzero(weights)
    model = GradientBoostingRegressor(**SETTINGS)
    once = model.fit(X, Y, weights, groups=GROUPS).cv_score_
    assert np.array_equal(model.fit(X[left], Y[left], groups=GROUPS[left]).cv_score_, once)
    number = np.full(400, -1)
    number[left] = np.arange(len(left))
    pairs = [(train, test) for train, test in KFold(4).split(X)]
    kept = [tuple(number[part][number[part] >= 0] for part in pair) for pair in pairs]
    once = model.set_params(cv=pairs).fit(X, Y, weights).cv_score_
    assert np.array_equal(model.set_params(cv=kept).fit(X[left], Y[left]).cv_score_, once)


def test_curve_and_bytes_do_not_depend_on_threads(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical((X[:, 1] * 3).round().astype(int).astype(str))
    contents = set()
    for n_jobs in (1, 2, 5):
        model = GradientBoostingClassifier(**SETTINGS, subsample=0.7, n_jobs=n_jobs)
        model.fit(frame, LABELS, RNG.permutation(1) + np.linspace(0.1, 3, 400))
        spinney.save(model.set_params(n_jobs=None), tmp_path / "model.spn")
        contents.add((tmp_path / "model.spn").read_bytes())
    assert len(contents) == 1
    again = spinney.load(tmp_path / "model.spn")
    assert np.array_equal(again.cv_score_, model.cv_score_)
    assert np.array_equal(again.cv_score_error_, model.cv_score_error_)


@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", None])
def test_scorers_judge_folds_too(scoring):
    folds = list(KFold(4).split(X))
    model = GradientBoostingRegressor(**{**SETTINGS, "scoring": scoring, "max_iter": 5}, cv=folds)
    model.fit(X, Y)
    scores = []
    for train, test in folds:
        own = GradientBoostingRegressor(max_iter=5).fit(X[train], Y[train])
        error = -np.abs(own.predict(X[test]) - Y[test]).mean()
        scores.append(own.score(X[test], Y[test]) if scoring is None else error)
    assert model.cv_score_[-1] == pytest.approx(np.mean(scores), rel=1e-9)


def test_offsets_and_shared_tables_go_along():
    offset = RNG.normal(size=400)
    folds = list(KFold(4).split(X))
    model = GradientBoostingRegressor(**SETTINGS, cv=folds)
    moved = model.fit(X, Y + offset, offset=offset).cv_score_
    plain = model.fit(X, Y).cv_score_
    assert np.allclose(moved, plain, atol=1e-5)
    assert np.array_equal(model.fit(SharedTable(X).rows(), Y).cv_score_, plain)
    rows = np.sort(RNG.choice(400, 300, replace=False))
    own = model.set_params(cv=3).fit(X[rows], Y[rows]).cv_score_
    assert np.allclose(model.fit(SharedTable(X).rows(rows), Y[rows]).cv_score_, own, rtol=1e-6)


def test_a_random_target_is_not_learnt():
    noise = RNG.normal(size=400)
    model = GradientBoostingRegressor(**SETTINGS).fit(X, noise)
    assert model.n_iter_ <= 5


def test_a_fit_without_folds_forgets_the_curve():
    model = GradientBoostingRegressor(**{**SETTINGS, "max_iter": 3}).fit(X, Y)
    model.set_params(early_stopping=False).fit(X, Y)
    assert not hasattr(model, "cv_score_")


def test_a_time_budget_counts_folds_and_the_last_fit():
    model = GradientBoostingRegressor(**SETTINGS, time_budget=1e-9)
    with pytest.warns(OutOfTime):
        model.fit(X, Y)
    assert model.n_iter_ == 1
    assert model.stopped_by_ == "time_budget"


def test_folds_that_a_time_budget_cuts_short_are_told_of(monkeypatch):
    monkeypatch.setattr(Clock, "is_over", lambda _, share=1.0: share < 1.0)
    model = GradientBoostingRegressor(**SETTINGS, time_budget=60.0)
    words = "out of the share .* after 1 rounds of the folds .* gets the 1 rounds .* larger time"
    with pytest.warns(OutOfTime, match=words) as told:
        model.fit(X, Y)
    assert len(told) == 1
    assert model.stopped_by_ == "time_budget"


def test_a_single_fold_has_no_standard_error():
    model = GradientBoostingRegressor(**SETTINGS, cv=[(np.arange(300), np.arange(300, 400))])
    assert np.isnan(model.fit(X, Y).cv_score_error_).all()


@pytest.mark.parametrize(
    ("params", "given", "words"),
    [
        ({"cv": 1}, {}, "cv=1: expected a number of folds"),
        ({"cv": "five"}, {}, "cv='five'"),
        ({"cv": 500}, {}, "n_splits=500"),
        ({"cv": [([0, 1], [1, 2])]}, {}, "tests on it"),
        ({}, {"groups": GROUPS[:9]}, r"groups has the shape \(9,\)"),
        ({}, {"time": [None] * 400}, "time"),
        ({}, {"X_val": X, "y_val": Y}, "folds of X"),
        ({"warm_start": True}, {}, "warm_start=True"),
        (
            {"early_stopping": True, "validation_fraction": None},
            {"groups": GROUPS},
            "divides no rows",
        ),
        ({"early_stopping": False}, {"time": GROUPS}, "divides no rows"),
        ({"early_stopping": "CV"}, {}, "early_stopping='CV'"),
    ],
)
def test_what_does_not_fit_is_refused(params, given, words):
    with pytest.raises((InvalidInput, InvalidParameter), match=words):
        GradientBoostingRegressor(**{**SETTINGS, **params}).fit(X, Y, **given)


def test_drop_ins_know_nothing_of_it():
    with pytest.raises(InvalidParameter, match="early_stopping='cv'"):
        spinney.HistGradientBoostingRegressor(early_stopping="cv").fit(X, Y)
