"""Rows that decide how many rounds AdaBoost and L2 boosting make, by groups and times."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spinney import (
    AdaBoostClassifier,
    CalibratedClassifier,
    L2BoostRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from spinney.data.row_keys import keys_wanted
from spinney.ensembles.adaptive import stopping
from spinney.ensembles.functional import l2_boost
from spinney.errors import InvalidInput
from spinney.resampling import TimeFolds

RNG = np.random.default_rng(3)
N = 120
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + RNG.normal(size=N)
LABELS = np.where(Y > 0, "yes", "no")
GROUPS = RNG.permutation(N) // 4
TIME = RNG.permutation(N) // 2
ADA = {"n_estimators": 10, "random_state": 0}


@pytest.fixture
def splits(monkeypatch):
    """Collect how rows are divided, fit after fit."""
    seen, best_on, errors_of = [], stopping._best_on, l2_boost.errors_of_folds

    def spy_on_votes(booster, splits, *others):
        seen.append(splits)
        return best_on(booster, splits, *others)

    def spy_on_squares(rows, folds, *others, **more):
        seen.append(folds)
        return errors_of(rows, folds, *others, **more)

    monkeypatch.setattr(stopping, "_best_on", spy_on_votes)
    monkeypatch.setattr(l2_boost, "errors_of_folds", spy_on_squares)
    return seen


def assert_whole_groups(splits, groups=GROUPS):
    for train, test in splits:
        assert not np.isin(groups[train], groups[test]).any()


def assert_forwards(splits, time=TIME):
    for train, test in splits:
        assert time[train].max() < time[test].min()


@pytest.mark.parametrize(("way", "n_splits"), [("cv", 5), ("validation", 1)])
def test_adaboost_stops_by_whole_groups_and_by_the_latest_rows(way, n_splits, splits):
    booster = AdaBoostClassifier(early_stopping=way, **ADA)
    booster.fit(X, LABELS, groups=GROUPS)
    booster.fit(X, LABELS, time=TIME)
    assert [len(one) for one in splits] == [n_splits, n_splits]
    assert_whole_groups(splits[0])
    assert_forwards(splits[1])
    if way == "validation":
        for ((train, test),) in splits:
            assert abs(len(test) - N / 10) <= 2
            assert len(train) + len(test) == N
    else:
        assert np.array_equal(np.sort(np.concatenate([test for _, test in splits[0]])), range(N))
        booster.fit(X, LABELS, groups=GROUPS, time=TIME)
        assert_whole_groups(splits[2])
        assert_forwards(splits[2])


def test_copies_in_one_group_do_not_say_how_many_rounds_are_good():
    copies, labels = np.repeat(X[:30], 4, axis=0), np.repeat(RNG.integers(0, 2, 30), 4)
    booster = AdaBoostClassifier(n_estimators=60, early_stopping="cv", random_state=0)
    leaky = len(booster.fit(copies, labels).trace_)
    honest = len(booster.fit(copies, labels, groups=np.repeat(range(30), 4)).trace_)
    assert honest < leaky / 2


def test_of_five_folds_there_are_as_many_as_groups_and_later_times(splits):
    booster = AdaBoostClassifier(early_stopping="cv", **ADA)
    booster.fit(X, LABELS, groups=np.arange(N) % 3)
    booster.fit(X, LABELS, time=np.arange(N) % 3)
    assert [len(one) for one in splits] == [3, 2]


@pytest.mark.parametrize("way", ["cv", "validation"])
def test_rows_of_weight_zero_leave_keys_in_place(way):
    weights = (np.arange(N) % 5 > 0).astype(float)
    left = np.flatnonzero(weights)
    for name, keys in (("groups", GROUPS), ("time", TIME)):
        booster = AdaBoostClassifier(early_stopping=way, **ADA)
        once = booster.fit(X, LABELS, weights, **{name: keys}).model_.fingerprint
        assert booster.fit(X[left], LABELS[left], **{name: keys[left]}).model_.fingerprint == once


@pytest.mark.parametrize(
    ("way", "given", "words"),
    [
        (None, {"groups": GROUPS}, "groups is given, but early_stopping=None divides no rows"),
        ("margin", {"time": TIME}, "time is given, but early_stopping='margin' divides no rows"),
        ("validation", {"groups": GROUPS, "time": TIME}, "would divide groups. Leave one"),
        ("cv", {"groups": np.zeros(N)}, "more than there are groups: 1"),
        ("validation", {"groups": np.zeros(N)}, "All rows are of the same group"),
        ("cv", {"time": np.zeros(N)}, "Too few different times"),
        ("cv", {"groups": GROUPS[:3]}, r"groups has the shape \(3,\)"),
        ("cv", {"time": [None] * N}, "time"),
        ("validation", {"groups": LABELS}, "by groups so that only rows of a single class"),
        ("cv", {"groups": LABELS}, "by groups so that only rows of a single class"),
    ],
)
def test_what_adaboost_cannot_keep_is_refused(way, given, words):
    with pytest.raises(InvalidInput, match=words):
        AdaBoostClassifier(early_stopping=way, **ADA).fit(X, LABELS, **given)


def test_a_fold_that_learns_from_one_class_is_left_out(splits):
    late = np.where(np.arange(N) < 30, "yes", LABELS)
    AdaBoostClassifier(early_stopping="cv", **ADA).fit(X, late, time=np.arange(N))
    assert [len(np.unique(late[train])) for train, _ in splits[0]] == [2, 2, 2, 2]


def test_l2_boosting_keeps_groups_and_time(splits):
    model = L2BoostRegressor(stopping="cv", n_estimators=20, random_state=0)
    weights = (np.arange(N) % 5 > 0).astype(float)
    left = np.flatnonzero(weights)
    model.fit(X, Y, weights, groups=GROUPS)
    model.fit(X, Y, weights, time=TIME)
    model.fit(X, Y, weights, groups=GROUPS, time=TIME)
    assert [len(one) for one in splits] == [5, 5, 5]
    assert_whole_groups(splits[0], GROUPS[left])
    assert_forwards(splits[1], TIME[left])
    assert_whole_groups(splits[2], GROUPS[left])
    assert_forwards(splits[2], TIME[left])
    once = model.fit(X, Y, weights, groups=GROUPS).cv_errors_
    assert np.array_equal(model.fit(X[left], Y[left], groups=GROUPS[left]).cv_errors_, once)


def test_l2_boosting_takes_splitters_of_groups_and_checks_folds(splits):
    by_groups = L2BoostRegressor(stopping="cv", cv=GroupKFold(3), n_estimators=20)
    by_groups.fit(X, Y, groups=GROUPS)
    assert len(splits[0]) == 3
    assert_whole_groups(splits[0])
    with pytest.raises(InvalidInput, match="Fold 0 of cv divides a group"):
        by_groups.set_params(cv=KFold(3)).fit(X, Y, groups=GROUPS)
    timed = L2BoostRegressor(stopping="cv", cv=4, n_estimators=20).fit(X, Y, time=np.arange(N))
    pairs = list(TimeFolds(4).split(X))
    own = L2BoostRegressor(stopping="cv", cv=pairs, n_estimators=20).fit(X, Y)
    assert np.array_equal(timed.cv_errors_, own.cv_errors_)


@pytest.mark.parametrize("stopping", ["aicc", None])
def test_l2_boosting_without_folds_takes_no_keys(stopping):
    model = L2BoostRegressor(stopping=stopping)
    assert keys_wanted(model) == ()
    with pytest.raises(InvalidInput, match=f"time is given, but stopping={stopping!r} divides no"):
        model.fit(X, Y, time=TIME)
    with pytest.raises(InvalidInput, match=r"groups has the shape \(9,\)"):
        L2BoostRegressor(stopping="cv").fit(X, Y, groups=GROUPS[:9])


def test_members_of_committees_are_given_the_keys_of_their_rows(splits):
    members = [
        ("cv", AdaBoostClassifier(early_stopping="cv", **ADA)),
        ("piped", make_pipeline(StandardScaler(), AdaBoostClassifier(early_stopping="cv", **ADA))),
        ("plain", AdaBoostClassifier(**ADA)),
    ]
    VotingClassifier(members).fit(X, LABELS, groups=GROUPS)
    assert len(splits) == 2
    for one in splits:
        assert_whole_groups(one)
    splits.clear()
    member = L2BoostRegressor(stopping="cv", n_estimators=20)
    StackingRegressor([("one", member)], cv=3).fit(X, Y, time=TIME)
    assert len(splits) == 4
    assert_forwards(splits[-1])


def test_base_learners_of_adaboost_that_divide_rows_are_told_of():
    hidden = CalibratedClassifier(LogisticRegression(), cv=2)
    words = "CalibratedClassifier in AdaBoostClassifier divides rows, .* no groups were given"
    for way in (None, "cv"):
        booster = AdaBoostClassifier(hidden, n_estimators=1, early_stopping=way, random_state=0)
        with pytest.warns(UserWarning, match=words):
            VotingClassifier([("one", booster)]).fit(X, LABELS, groups=GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        booster.fit(X, LABELS)


def test_boosters_that_divide_rows_can_be_members_of_committees():
    """Their rows are those of a table that members share."""
    for way in ("cv", "validation"):
        booster = AdaBoostClassifier(early_stopping=way, **ADA)
        vote = VotingClassifier([("one", booster)], voting="soft").fit(X, LABELS)
        alone = booster.fit(X, LABELS)
        assert np.array_equal(vote.predict_proba(X), alone.predict_proba(X))
    lines = L2BoostRegressor(stopping="cv", cv=KFold(3), n_estimators=20)
    vote = VotingRegressor([("one", lines)]).fit(X, Y)
    assert np.array_equal(vote.predict(X), lines.fit(X, Y).predict(X))
