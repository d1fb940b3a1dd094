"""Folds from anything that scikit-learn takes, checked whoever made them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    check_cv,
)

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.resampling import Folds, TimeFolds, nested_folds, read_folds

Y = np.arange(12) % 2
GROUPS = np.repeat(["a", "b", "c", "d"], 3)


def as_lists(pairs):
    return [(np.asarray(train).tolist(), np.asarray(test).tolist()) for train, test in pairs]


@pytest.mark.parametrize("cv", [None, 2, 3, np.int64(4)])
@pytest.mark.parametrize("stratified", [False, True])
def test_number_of_folds_means_what_it_means_in_scikit_learn(cv, stratified):
    theirs = check_cv(cv, Y, classifier=stratified).split(Y, Y)
    assert as_lists(read_folds(cv, Y, stratified=stratified)) == as_lists(theirs)


def test_number_with_groups_or_time_keeps_groups_and_time():
    for train, test in read_folds(4, Y, groups=GROUPS):
        assert set(GROUPS[test]).isdisjoint(GROUPS[train])
    times = np.repeat([5, 2, 9, 7], 3)
    for train, test in read_folds(3, Y, time=times):
        assert times[train].max() < times[test].min()
    for train, test in read_folds(2, Y, time=times, groups=np.arange(12) // 6):
        assert times[train].max() < times[test].min()


@pytest.mark.parametrize(
    "cv",
    [KFold(3), Folds(3, random_state=0), PredefinedSplit(Y), TimeSeriesSplit(3), TimeFolds(3)],
)
def test_splitters_pass_unchanged(cv):
    pairs = as_lists(cv.split(Y, Y))
    assert as_lists(read_folds(cv, Y)) == pairs
    assert as_lists(read_folds(iter(cv.split(Y, Y)), Y)) == pairs
    masks = [tuple(np.isin(np.arange(12), rows) for rows in pair) for pair in pairs]
    assert as_lists(read_folds(masks, Y)) == pairs
    assert all(rows.dtype == np.int64 for pair in read_folds(cv, Y) for rows in pair)


def test_splitter_is_given_table_target_and_groups():
    class Own:
        def split(self, X, y, groups):
            assert list(X.columns) == ["x"]
            assert y is Y
            yield np.flatnonzero((X["x"] > 2) & (groups != groups[0])), np.array([0, 1])

    table = pd.DataFrame({"x": np.arange(12.0)})
    assert len(read_folds(Own(), Y, X=table, groups=GROUPS)) == 1


def test_groups_missing():
    for cv in (GroupKFold(2), LeaveOneGroupOut()):
        with pytest.raises(InvalidInput, match="divides rows by groups, and there are none"):
            read_folds(cv, Y)


def test_other_errors_of_splitters_keep_their_words_and_say_who_asked():
    words = r"KFold\(n_splits=30.*cannot divide these 12 rows: Cannot have number of splits .*cv"
    with pytest.raises(InvalidInput, match=words):
        read_folds(KFold(30), Y)

    class Own:
        def split(self, *_):
            raise InvalidParameter("its own words")

    with pytest.raises(InvalidParameter, match=r"^its own words$"):
        read_folds(Own(), Y)


def test_iterators_give_their_folds_once():
    folds = KFold(3).split(Y)
    assert len(read_folds(folds, Y)) == 3
    with pytest.raises(InvalidInput, match=r"no folds at all.*once: make a list"):
        read_folds(folds, Y)


def test_splitter_that_divides_groups_is_refused():
    with pytest.raises(InvalidInput, match="Fold 0 of cv divides a group: it tests on row 0"):
        read_folds(KFold(12), Y, groups=GROUPS)
    assert len(read_folds(KFold(4), Y, groups=GROUPS)) == 4  # it happens not to


def test_splitter_that_looks_ahead_is_refused():
    with pytest.raises(InvalidInput, match="Fold 0 of cv looks ahead: it learns from row 11"):
        read_folds(KFold(3), Y, time=np.arange(12))
    with pytest.raises(InvalidInput, match="looks ahead"):
        read_folds([([0, 1], [2, 3])], Y, time=np.zeros(12))
    assert len(read_folds(TimeSeriesSplit(3), Y, time=np.arange(12))) == 3


def test_row_tested_twice_is_refused_unless_that_is_meant():
    for cv in (RepeatedKFold(n_splits=2, n_repeats=2), [([0], [1]), ([2], [1])]):
        with pytest.raises(InvalidInput, match="a second time in fold"):
            read_folds(cv, Y)
        assert read_folds(cv, Y, once=False)
    with pytest.raises(InvalidInput, match="a second time"):
        read_folds(ShuffleSplit(5, test_size=0.5, random_state=0), Y)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "no folds at all"),
        ([([], [1])], "no rows in the training rows of fold 0"),
        ([([0], [1]), ([0], [])], "no rows in the test rows of fold 1"),
        ([(np.zeros(12, bool), [1])], "no rows in the training rows"),
        ([([0], [12])], "Row 12 among the test rows of fold 0 does not exist"),
        ([([-1], [2])], "Row -1 among the training rows of fold 0 does not exist"),
        ([([0, 1, 0], [2])], "Row 0 stands 2 times among the training rows"),
        ([([0], [2, 2])], "Row 2 stands 2 times among the test rows"),
        ([([0, 1], [1, 2])], "learns from row 1 and tests on it"),
    ],
)
def test_bad_folds_are_refused(cv, message):
    with pytest.raises(InvalidInput, match=message):
        read_folds(cv, Y)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([([0.5], [1])], "expected one row of integers"),
        ([(["a"], [1])], "expected one row of integers"),
        ([([[0, 2]], [1])], "expected one row of integers"),
        ([(np.ones(5, bool), [1])], "a mask of 12 booleans"),
        ([3], "Fold 0 of cv is int: expected a pair"),
        ([(1, 2, 3)], "Fold 0 of cv is tuple: expected a pair"),
    ],
)
def test_what_is_no_fold_is_refused(cv, message):
    with pytest.raises(InvalidInputType, match=message):
        read_folds(cv, Y)


@pytest.mark.parametrize("cv", ["5", b"5", 1, 0, -3, 2.0, True, object()])
def test_what_is_no_cv_is_refused(cv):
    with pytest.raises(InvalidParameter, match="expected"):
        read_folds(cv, Y)


def test_wrong_groups_and_times_are_refused():
    for name in ("groups", "time"):
        with pytest.raises(InvalidInput, match=rf"{name} has the shape \(3,\)"):
            read_folds(2, Y, **{name: [1, 2, 3]})
        with pytest.raises(InvalidInput, match=f"Input {name} contains NaN"):
            read_folds(2, Y, **{name: [np.nan, *range(11)]})


@settings(max_examples=50, deadline=None)
@given(st.integers(12, 60), st.integers(2, 3), st.integers(2, 3), st.integers(0, 2**32))
def test_nested_folds_stay_within_their_outer_training_rows(n_rows, outer, inner, seed):
    y = np.arange(n_rows) % 2
    groups = np.arange(n_rows) // 2
    splitters = Folds(outer, random_state=seed), Folds(inner, random_state=seed + 1)
    nested = nested_folds(*splitters, y, groups=groups)
    assert sorted(np.concatenate([fold.test for fold in nested]).tolist()) == list(range(n_rows))
    for fold in nested:
        assert len(fold.inner) == inner
        tested = np.concatenate([test for _, test in fold.inner])
        assert sorted(tested.tolist()) == fold.train.tolist()
        for train, test in fold.inner:
            assert set(train) | set(test) == set(fold.train)
            assert set(groups[train]).isdisjoint(groups[test])


def test_nested_folds_in_time_never_look_ahead():
    time = np.random.default_rng(0).permutation(np.repeat(np.arange(20), 2))
    for fold in nested_folds(3, 2, np.zeros(40), time=time):
        assert time[fold.train].max() < time[fold.test].min()
        for train, test in fold.inner:
            assert time[train].max() < time[test].min()
            assert set(test) <= set(fold.train)
    with pytest.raises(InvalidParameter, match="every outer fold has other"):
        nested_folds(3, [([0], [1])], np.zeros(40))


def test_pairs_number_what_was_given():
    kept = np.array([True, False, True, True, False])
    pairs = [([0, 1, 2], [3, 4]), ([0, 3], [1]), ([2, 3], [0, 1])]
    folds = read_folds(pairs, np.zeros(3), kept=kept)
    # The second pair tests a row that is gone, and nothing else.
    assert [(train.tolist(), test.tolist()) for train, test in folds] == [
        ([0, 1], [2]),
        ([1, 2], [0]),
    ]
    with pytest.raises(InvalidInput, match="no rows in the training rows of fold 0"):
        read_folds([([1], [0, 2])], np.zeros(3), kept=kept)


def test_splitters_see_what_is_kept():
    kept = np.array([True, False, True, True])
    folds = read_folds(3, np.zeros(3), kept=kept)
    assert [test.tolist() for _, test in folds] == [[0], [1], [2]]
