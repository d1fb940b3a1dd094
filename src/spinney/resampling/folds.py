"""Folds as users give them, checked: pairs of rows to learn from and rows to test on."""

import numbers
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, SpinneyError
from spinney.resampling.keys import read_codes, read_ranks
from spinney.resampling.splitters import Folds, Splitter, TimeFolds
from spinney.typing import AnyArray, IntArray

_FEWER_FOLDS = "Use fewer folds, or leave the empty fold out."

Fold: TypeAlias = tuple[IntArray, IntArray]
"""Numbers of the rows to learn from, and of those to test on."""


def read_folds(
    cv: Any,
    y: Any,
    *,
    groups: Any = None,
    time: Any = None,
    X: Any = None,
    stratified: bool = False,
    once: bool = True,
    kept: AnyArray | None = None,
) -> list[Fold]:
    """Make a checked list of folds from anything that scikit-learn takes for ``cv``.

    Whoever made the folds: no row is learnt from and tested on in the same fold, no group is
    divided, and nothing is learnt from rows of the same time or later.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test), or None
        An int gives so many folds; None is 5. Without ``groups`` and ``time`` they are those of
        scikit-learn: consecutive rows, of each class by itself if ``stratified``. With ``groups``
        no group is divided. With ``time`` each fold tests what follows its training rows. A
        splitter is one of ours, one of scikit-learn's, or anything with ``split(X, y, groups)``.
        Pairs hold row numbers, or masks of all rows.
    y : the target, one entry per row
    groups : one label per row, or None
    time : one sortable key per row, or None
    X : the table, for splitters that look at it
    stratified : whether an int for ``cv`` divides each class of ``y`` evenly
    once : whether a row may be tested on only once in all folds together, as out-of-fold
        predictions need it
    kept : mask, or None
        Of all rows that a user gave, those that ``y`` speaks of: pairs number what was given,
        and rows that are gone are left out of them. Folds that test none of the others are, too.

    Returns
    -------
    list of (train, test)
        Arrays of row numbers, in the order of ``cv``. Rows that no fold tests are possible.

    Examples
    --------
    >>> for train, test in read_folds(2, np.zeros(5), groups=["a", "b", "a", "c", "c"]):
    ...     print(train.tolist(), test.tolist())
    [3, 4] [0, 1, 2]
    [0, 1, 2] [3, 4]
    """
    n_rows = len(y)
    codes = None if groups is None else read_codes(groups, n_rows, "groups")
    ranks = None if time is None else read_ranks(time, n_rows)
    splitter = _splitter(cv, stratified, ranks is not None)
    if isinstance(splitter, TimeFolds) and splitter.time is not None and ranks is None:
        ranks = _own_ranks(splitter.time, n_rows, kept)
    elif kept is not None and len(getattr(splitter, "test_fold", ())) == len(kept):
        splitter = list(splitter.split())  # scikit-learn's PredefinedSplit numbers rows, as pairs
    pairs = _pairs(splitter, y, X, (codes, ranks))
    if kept is not None and isinstance(splitter, list):
        given = [_read_fold(pair, number, len(kept)) for number, pair in enumerate(pairs)]
        pairs = _without_lost_rows(given, kept)
    folds = [_read_fold(pair, number, n_rows) for number, pair in enumerate(pairs)]
    if not folds:
        remedy = " An iterator gives its folds once: make a list of them." * hasattr(cv, "__next__")
        raise InvalidInput(
            f"cv gives no folds at all: expected at least one (train, test) pair.{remedy}"
        )
    tested = np.zeros(n_rows, bool)
    for number, (train, test) in enumerate(folds):
        _check_apart(train, test, number, n_rows)
        if codes is not None:
            _check_groups(codes, train, test, number)
        if ranks is not None:
            _check_time(ranks, train, test, number)
        if once and tested[test].any():
            raise InvalidInput(
                f"cv tests row {int(test[tested[test]][0])} a second time in fold {number}. "
                "Expected every row in at most one test set, so that it has one out-of-fold "
                "prediction: use a splitter that does not repeat."
            )
        tested[test] = True
    return folds


def most_folds(n_folds: int, groups: IntArray | None, time: IntArray | None) -> int:
    """Give as many folds as groups and times allow, up to a number.

    Examples
    --------
    >>> most_folds(5, np.array([7, 7, 8, 9]), None), most_folds(5, None, np.array([0, 1, 2, 2]))
    (3, 2)
    """
    if groups is not None:
        n_folds = min(n_folds, len(np.unique(groups)))
    if time is not None:  # the earliest times are learnt from only
        n_folds = min(n_folds, len(np.unique(time)) - 1)
    return max(n_folds, 1 if groups is None else 2)


@dataclass(frozen=True, slots=True, eq=False)
class NestedFold:
    """An outer fold, and the folds within its training rows; all by the same row numbers."""

    train: IntArray
    test: IntArray
    inner: list[Fold]


def nested_folds(
    outer: Any,
    inner: Any,
    y: Any,
    *,
    groups: Any = None,
    time: Any = None,
    stratified: bool = False,
) -> list[NestedFold]:
    """Make folds within folds: the inner ones choose, the outer ones judge the choice.

    Parameters
    ----------
    outer : as ``cv`` of ``read_folds``
    inner : int or splitter, applied to the training rows of each outer fold
    y, groups, time, stratified : as in ``read_folds``

    Examples
    --------
    >>> first = nested_folds(3, 2, np.zeros(6))[0]
    >>> first.test.tolist(), [test.tolist() for _, test in first.inner]
    ([0, 1], [[2, 3], [4, 5]])
    """
    if not (inner is None or isinstance(inner, numbers.Integral) or hasattr(inner, "split")):
        raise InvalidParameter(
            f"inner={inner!r}: expected an int or a splitter, because every outer fold has other "
            "training rows to divide."
        )
    y = np.asarray(y)
    codes = None if groups is None else read_codes(groups, len(y), "groups")
    ranks = None if time is None else read_ranks(time, len(y))
    inner_ranks = ranks
    if ranks is None and isinstance(inner, TimeFolds) and inner.time is not None:
        inner_ranks = _own_ranks(inner.time, len(y), None)  # of all rows, as outer's are
    nested = []
    for train, test in read_folds(outer, y, groups=codes, time=ranks, stratified=stratified):
        within = read_folds(
            inner,
            y[train],
            groups=None if codes is None else codes[train],
            time=None if inner_ranks is None else inner_ranks[train],
            stratified=stratified,
        )
        nested.append(NestedFold(train, test, [(train[a], train[b]) for a, b in within]))
    return nested


def _splitter(cv: Any, stratified: bool, by_time: bool) -> Any:
    if cv is None:
        cv = 5
    if isinstance(cv, numbers.Integral) and not isinstance(cv, bool | np.bool_):
        if by_time and int(cv) >= 1:
            return TimeFolds(int(cv))
        if int(cv) >= 2:
            return Folds(int(cv), stratified=stratified, shuffle=False)
    is_text = isinstance(cv, str | bytes)
    if hasattr(cv, "split") and not is_text:
        return cv
    if isinstance(cv, Iterable) and not is_text and getattr(cv, "shape", None) != ():
        return list(cv)
    raise InvalidParameter(
        f"cv={cv!r}: expected a number of folds (an int from 2), a splitter with a method "
        "split(X, y, groups), or an iterable of (train, test) pairs of row numbers."
    )


def _pairs(
    cv: Any, y: Any, X: Any, keys: tuple[IntArray | None, IntArray | None]
) -> list[tuple[Any, Any]]:
    codes, ranks = keys
    if isinstance(cv, list):
        return cv
    X = np.zeros((len(y), 1)) if X is None else X
    if isinstance(cv, Splitter):
        return list(cv.split(X, y, codes, ranks))
    try:
        with warnings.catch_warnings():
            # Folds are checked below, whether or not their maker looked at groups.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            return list(cv.split(X, y, codes))
    except (TypeError, ValueError) as problem:
        if codes is None and "groups" in str(problem):
            raise InvalidInput(
                f"{cv!r} divides rows by groups, and there are none. Give groups, one label per "
                "row, or use a splitter that needs none."
            ) from problem
        if isinstance(problem, SpinneyError):
            raise
        kind = InvalidInput if isinstance(problem, ValueError) else InvalidInputType
        raise kind(
            f"{cv!r} cannot divide these {len(y)} rows: {problem} Give cv another splitter, or a "
            "number of folds."
        ) from problem


def _own_ranks(time: Any, n_rows: int, kept: AnyArray | None) -> IntArray:
    """Read the times that a splitter was given: of all rows, or of those that are kept."""
    n_given = n_rows if kept is None else len(kept)
    is_of_all = np.shape(time)[:1] == (n_given,)
    try:
        ranks = read_ranks(time, n_given if is_of_all else n_rows)
    except InvalidInput as error:
        if "has the shape" not in str(error):
            raise
        raise InvalidInput(
            f"cv=TimeFolds(time=...) is asked to divide {n_rows} rows, and its {error} Where an "
            "estimator is fitted to some of the rows, such as a stack in a stack, give time to fit "
            "in place of TimeFolds: then it goes with the rows."
        ) from error
    return ranks[kept] if kept is not None and is_of_all else ranks


def _read_fold(pair: Any, number: int, n_rows: int) -> Fold:
    try:
        train, test = pair
    except (TypeError, ValueError):
        raise InvalidInputType(
            f"Fold {number} of cv is {type(pair).__name__}: expected a pair (train, test) of row "
            "numbers."
        ) from None
    return (
        read_row_numbers(train, f"the training rows of fold {number}", n_rows),
        read_row_numbers(test, f"the test rows of fold {number}", n_rows),
    )


def _without_lost_rows(given: list[Fold], kept: AnyArray) -> list[Fold]:
    """Give rows their numbers among those kept; folds with nothing to test are left out."""
    number = np.cumsum(kept) - 1
    pairs = [(number[train[kept[train]]], number[test[kept[test]]]) for train, test in given]
    return [pair for pair in pairs if len(pair[1])]


def read_row_numbers(rows: Any, what: str, n_rows: int, remedy: str = _FEWER_FOLDS) -> IntArray:
    """Read row numbers or a mask; each row at most once. ``remedy`` is told if there are none."""
    try:
        array: AnyArray = np.asarray(rows)
    except ValueError:
        raise InvalidInput(
            f"{what[0].upper()}{what[1:]} are parts of different length: expected one row of "
            "integers."
        ) from None
    if array.dtype.kind == "b" and array.shape == (n_rows,):
        array = np.flatnonzero(array)
    if array.size == 0:
        raise InvalidInput(f"There are no rows in {what}. {remedy}")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidInputType(
            f"{what[0].upper()}{what[1:]} have the shape {array.shape} and the type {array.dtype}: "
            f"expected one row of integers, or a mask of {n_rows} booleans."
        )
    outside = (array < 0) | (array >= n_rows)
    if outside.any():
        raise InvalidInput(
            f"Row {int(array[np.argmax(outside)])} among {what} does not exist: expected numbers "
            f"from 0 to {n_rows - 1}, for {n_rows} rows."
        )
    array = array.astype(np.int64)
    times = np.bincount(array, minlength=n_rows)
    if times.max() > 1:
        raise InvalidInput(
            f"Row {int(np.argmax(times))} stands {int(times.max())} times among {what}. Name each "
            "row once; a row that shall count more has a weight."
        )
    return array


def _check_apart(train: IntArray, test: IntArray, number: int, n_rows: int) -> None:
    learnt = np.zeros(n_rows, bool)
    learnt[train] = True
    if learnt[test].any():
        raise InvalidInput(
            f"Fold {number} of cv learns from row {int(test[learnt[test]][0])} and tests on it. "
            "Expected training and test rows without a row in common."
        )


def _check_groups(codes: IntArray, train: IntArray, test: IntArray, number: int) -> None:
    learnt = np.zeros(int(codes.max()) + 1, bool)
    learnt[codes[train]] = True
    divided = learnt[codes[test]]
    if divided.any():
        row = int(test[np.argmax(divided)])
        raise InvalidInput(
            f"Fold {number} of cv divides a group: it tests on row {row} and learns from others "
            "of its group. Use a splitter that keeps groups whole, such as "
            "spinney.resampling.Folds or scikit-learn's GroupKFold, or leave groups out."
        )


def _check_time(ranks: IntArray, train: IntArray, test: IntArray, number: int) -> None:
    latest, first = train[np.argmax(ranks[train])], test[np.argmin(ranks[test])]
    if ranks[latest] >= ranks[first]:
        raise InvalidInput(
            f"Fold {number} of cv looks ahead: it learns from row {int(latest)}, which is not "
            f"earlier than row {int(first)} that it tests on. Use spinney.resampling.TimeFolds, or "
            "leave time out."
        )
