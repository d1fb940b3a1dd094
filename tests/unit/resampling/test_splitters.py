"""Splitters: every promise of theirs for any rows, and scikit-learn's where they are the same."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.model_selection import LeaveOneOut as TheirLeaveOneOut
from tests.reference.resampling import slow_shuffled_folds, slow_time_folds

from spinney.errors import InvalidInput, InvalidParameter
from spinney.randomness import Stream, random_bits
from spinney.resampling import Folds, LeaveOneOut, TimeFolds
from spinney.resampling.assigning import shuffled_folds, shuffled_folds_of_strata

LABELS = st.lists(st.integers(0, 4), min_size=4, max_size=60)


def as_lists(pairs):
    return [(train.tolist(), test.tolist()) for train, test in pairs]


def check_partition(pairs, n_rows):
    tested = np.concatenate([test for _, test in pairs])
    assert sorted(tested.tolist()) == list(range(n_rows))
    for train, test in pairs:
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(n_rows))
        assert len(train)
        assert len(test)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 80), st.integers(2, 10), st.integers(0, 2**63), st.booleans())
def test_folds_divide_the_rows_evenly(n_rows, n_splits, seed, shuffle):
    n_splits = min(n_splits, n_rows)
    pairs = list(Folds(n_splits, shuffle=shuffle, random_state=seed).split(np.zeros(n_rows)))
    check_partition(pairs, n_rows)
    sizes = [len(test) for _, test in pairs]
    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=50, deadline=None)
@given(st.integers(3, 60), st.integers(2, 7), st.integers(0, 2**63))
def test_fold_of_a_row_depends_on_the_seed_and_its_number_alone(n_rows, n_splits, seed):
    n_splits = min(n_splits, n_rows)
    longer = shuffled_folds(n_rows + 17, n_splits, seed=seed)
    assert np.array_equal(shuffled_folds(n_rows, n_splits, seed=seed), longer[:n_rows])
    assert np.array_equal(longer, slow_shuffled_folds(n_rows + 17, n_splits, seed))
    own = shuffled_folds(n_rows, n_splits, seed=random_bits(seed, Stream.ROWS, 0))
    pairs = Folds(n_splits, random_state=seed).split(np.zeros(n_rows))
    for fold, (_, test) in enumerate(pairs):
        assert np.array_equal(test, np.flatnonzero(own == fold))


def test_every_row_is_equally_often_in_every_fold():
    folds = np.array([shuffled_folds(11, 3, seed=seed) for seed in range(6000)])
    for fold in range(3):
        assert (folds == fold).mean(axis=0) == pytest.approx(np.full(11, 1 / 3), abs=0.03)
    # Rows of different runs meet with the chance of independent folds.
    assert (folds[:, 0] == folds[:, 4]).mean() == pytest.approx(1 / 3, abs=0.03)


@settings(max_examples=50, deadline=None)
@given(LABELS, st.integers(2, 5), st.integers(0, 2**63), st.booleans())
def test_stratified_folds_divide_every_class_evenly(labels, n_splits, seed, shuffle):
    y = np.array(labels)
    if np.bincount(y).max() < n_splits:
        return
    splitter = Folds(n_splits, stratified=True, shuffle=shuffle, random_state=seed)
    pairs = list(splitter.split(np.zeros(len(y)), y))
    check_partition(pairs, len(y))
    counts = np.array([np.bincount(y[test], minlength=5) for _, test in pairs])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_every_row_of_a_stratum_is_equally_often_in_every_fold():
    strata = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1])
    folds = np.array([shuffled_folds_of_strata(strata, 3, seed=seed) for seed in range(6000)])
    whole = [0, 3, 5, 1, 2, 4, 7, 8, 9]  # rows of whole runs; what is left over has fewer folds
    for fold in range(3):
        shares = (folds[:, whole] == fold).mean(axis=0)
        assert shares == pytest.approx(np.full(9, 1 / 3), abs=0.03)


@settings(max_examples=50, deadline=None)
@given(LABELS, st.integers(2, 5), st.integers(0, 2**63), st.booleans(), st.booleans())
def test_groups_are_never_divided(labels, n_splits, seed, shuffle, stratified):
    groups = np.array(labels)
    if len(set(labels)) < n_splits:
        return
    y = np.arange(len(groups)) % 3
    splitter = Folds(n_splits, stratified=stratified, shuffle=shuffle, random_state=seed)
    pairs = list(splitter.split(np.zeros(len(y)), y, groups))
    check_partition(pairs, len(groups))
    for train, test in pairs:
        assert not set(groups[train]) & set(groups[test])


def test_groups_of_one_size_are_divided_evenly_and_shuffled():
    groups = np.repeat(np.arange(50), 4)
    seen = set()
    for seed in range(5):
        pairs = list(Folds(5, random_state=seed).split(groups, None, groups))
        assert [len(test) for _, test in pairs] == [40] * 5
        seen.add(tuple(pairs[0][1].tolist()))
    assert len(seen) == 5


def test_stratified_groups_keep_the_share_of_each_class():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 150, 3000)
    y = (rng.random(3000) < rng.beta(1, 4, 150)[groups]).astype(int)
    shares = {}
    for stratified in (False, True):
        splitter = Folds(5, stratified=stratified, random_state=0)
        tests = [test for _, test in splitter.split(y, y, groups)]
        shares[stratified] = np.ptp([y[test].mean() for test in tests])
        if stratified:
            assert np.ptp([len(test) for test in tests]) < 60
    assert shares[True] < 0.02 < shares[False]


@pytest.mark.parametrize("n_rows", [14, 23, 64])
@pytest.mark.parametrize("n_splits", [2, 3, 7])
def test_consecutive_folds_are_those_of_scikit_learn(n_rows, n_splits):
    X = np.zeros(n_rows)
    y = np.random.default_rng(n_rows).choice(["b", "a", "c"], n_rows, p=[0.8, 0.1, 0.1])
    ours = as_lists(Folds(n_splits, shuffle=False).split(X))
    assert ours == as_lists(KFold(n_splits).split(X))
    ours = as_lists(Folds(n_splits, shuffle=False, stratified=True).split(X, y))
    with pytest.warns(UserWarning, match="least populated") if _is_rare(y, n_splits) else _quiet():
        assert ours == as_lists(StratifiedKFold(n_splits).split(X, y))
    groups = np.random.default_rng(0).integers(0, 9, n_rows)
    ours = sorted(len(test) for _, test in Folds(n_splits, shuffle=False).split(X, y, groups))
    theirs = sorted(len(test) for _, test in GroupKFold(n_splits).split(X, y, groups))
    assert ours == theirs


def _is_rare(y, n_splits):
    return np.unique(y, return_counts=True)[1].min() < n_splits


def _quiet():
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_train_size": 4}, {"test_size": 2}, {"gap": 2}, {"gap": 1, "test_size": 3}],
)
def test_time_folds_of_different_times_are_those_of_scikit_learn(settings):
    X = np.zeros(20)
    theirs = as_lists(TimeSeriesSplit(4, **settings).split(X))
    assert as_lists(TimeFolds(4, **settings).split(X)) == theirs
    order = np.random.default_rng(0).permutation(20)
    shuffled = list(TimeFolds(4, time=order, **settings).split(X))
    back = [(sorted(order[a].tolist()), sorted(order[b].tolist())) for a, b in shuffled]
    assert back == theirs


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=6, max_size=40),
    st.integers(1, 3),
    st.sampled_from([None, 1, 3]),
    st.integers(0, 1),
    st.booleans(),
)
def test_time_folds_never_look_ahead(times, n_splits, window, gap, grouped):
    groups = [row % 4 for row in range(len(times))] if grouped else None
    splitter = TimeFolds(n_splits, max_train_size=window, gap=gap, time=times)
    n_times = len(set(times))
    if (
        n_times // (n_splits + 1) == 0
        or n_times % (n_splits + 1) + n_times // (n_splits + 1) <= gap
    ):
        with pytest.raises(InvalidInput, match="Too few different times"):
            list(splitter.split(times))
        return
    pairs = list(splitter.split(times, None, groups))
    slow = slow_time_folds(times, n_splits, window=window, gap=gap, groups=groups)
    assert as_lists(pairs) == slow
    times = np.array(times)
    for train, test in pairs:
        if len(train):
            assert times[train].max() < times[test].min()
        if grouped:
            assert not set(np.array(groups)[train]) & set(np.array(groups)[test])
    tested = np.concatenate([test for _, test in pairs])
    assert len(set(tested.tolist())) == len(tested)
    for time in set(times.tolist()):  # ties go together
        where = {f for f, (_, test) in enumerate(pairs) if time in times[test]}
        assert len(where) <= 1


def test_time_of_split_comes_before_that_of_the_splitter():
    splitter = TimeFolds(1, time=[0, 1, 2, 3])
    assert as_lists(splitter.split(np.zeros(4), time=[3, 2, 1, 0])) == [([2, 3], [0, 1])]
    assert splitter.get_n_splits() == 1


def test_leaving_one_out_is_that_of_scikit_learn():
    X, groups = np.zeros(6), np.array([3, 1, 3, 1, 2, 2])
    assert as_lists(LeaveOneOut().split(X)) == as_lists(TheirLeaveOneOut().split(X))
    theirs = as_lists(LeaveOneGroupOut().split(X, X, groups))
    assert as_lists(LeaveOneOut().split(X, None, groups)) == theirs
    assert LeaveOneOut().get_n_splits(X) == 6
    assert LeaveOneOut().get_n_splits(X, groups=groups) == 3
    with pytest.raises(InvalidInput, match="give X, y or groups"):
        LeaveOneOut().get_n_splits()
    for groups in (None, [1]):
        with pytest.raises(InvalidInput, match="at least two"):
            next(LeaveOneOut().split(np.zeros(1), None, groups))


def test_repetitions_differ_and_are_each_a_partition():
    splitter = Folds(3, n_repeats=4, random_state=5)
    pairs = list(splitter.split(np.zeros(20)))
    assert len(pairs) == 12 == splitter.get_n_splits()
    for start in range(0, 12, 3):
        check_partition(pairs[start : start + 3], 20)
    assert len({tuple(test.tolist()) for _, test in pairs}) == 12
    once = list(Folds(3, random_state=5).split(np.zeros(20)))
    assert as_lists(once) == as_lists(pairs[:3])


def test_splitters_serve_scikit_learn():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 2)), np.arange(60) // 5
    y = X[:, 0] + rng.normal(size=60)
    for cv in (Folds(4, random_state=1), TimeFolds(4), LeaveOneOut()):
        scores = cross_val_score(Ridge(), X, y, cv=cv, groups=groups, scoring="r2")
        assert len(scores) == cv.get_n_splits(X, y, groups)
        search = GridSearchCV(DummyRegressor(), {"strategy": ["mean", "median"]}, cv=cv)
        assert search.fit(X, y, groups=groups).best_index_ in (0, 1)
        clone(search)
        again = pickle.loads(pickle.dumps(cv))
        assert as_lists(again.split(X, y, groups)) == as_lists(cv.split(X, y, groups))
    assert repr(Folds(4, stratified=True)).startswith("Folds(n_splits=4, stratified=True")


def test_folds_of_many_rows_are_quick():
    import time

    start = time.process_time()
    n = 300_000
    list(Folds(5, random_state=0).split(np.zeros(n)))
    list(Folds(5, stratified=True, random_state=0).split(np.zeros(n), np.arange(n) % 7))
    list(Folds(5, random_state=0).split(np.zeros(n), None, np.arange(n) // 3))
    assert time.process_time() - start < 5  # some tenths of a second


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Folds(1), "n_splits=1: expected an integer from 2"),
        (lambda: Folds(2.5), r"n_splits=2\.5: expected an integer"),
        (lambda: Folds(True), "n_splits=True: expected an integer"),
        (lambda: Folds(3, n_repeats=0), "n_repeats=0: expected"),
        (lambda: Folds(3, n_repeats=2, shuffle=False), "all repetitions would be the same"),
        (lambda: TimeFolds(0), "n_splits=0: expected"),
        (lambda: TimeFolds(gap=-1), "gap=-1: expected"),
        (lambda: TimeFolds(test_size=0), "test_size=0: expected"),
        (lambda: TimeFolds(max_train_size="9"), "max_train_size='9': expected"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(InvalidParameter, match=message):
        make()


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (lambda: Folds(5).split(np.zeros(4)), "n_splits=5 is more than there are rows: 4"),
        (lambda: Folds(3).split(np.zeros(4), None, [1, 1, 2, 2]), "more than there are groups: 2"),
        (lambda: Folds(3, stratified=True).split(np.zeros(4)), "stratified=True needs y"),
        (
            lambda: Folds(3, stratified=True).split(np.zeros(4), [1, 1, 2, 2]),
            "greater than the number of members in each class",
        ),
        (lambda: Folds(2).split(np.zeros(4), None, [1, 2]), r"groups has the shape \(2,\)"),
        (lambda: Folds(2).split(np.zeros(3), None, [1, np.nan, 2]), "groups contains NaN"),
        (lambda: Folds(2).split(np.zeros(3), None, ["a", None, "b"]), "in row 1"),
        (lambda: TimeFolds(2, time=[1, "a", 2]).split(np.zeros(3)), "cannot be sorted together"),
        (
            lambda: TimeFolds(1, time=np.array(["2020", "NaT"], "datetime64[D]")).split([0, 0]),
            "time contains NaN",
        ),
        (lambda: TimeFolds(3, time=[1, 1, 1]).split(np.zeros(3)), "Too few different times"),
    ],
)
def test_rows_that_cannot_be_divided_are_refused(split, message):
    with pytest.raises(InvalidInput, match=message):
        list(split())


def test_groups_may_be_of_several_kinds():
    groups = np.array(["a", 1, "a", 1, (2,), (2,)], dtype=object)
    pairs = list(Folds(3, shuffle=False).split(np.zeros(6), None, groups))
    assert sorted(test.tolist() for _, test in pairs) == [[0, 2], [1, 3], [4, 5]]
