"""Splitters: ways to divide rows into folds, for ``cv=`` here and in scikit-learn."""

import abc
import numbers
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter
from spinney.randomness import Stream, random_bits, seed_from
from spinney.resampling.assigning import (
    consecutive_folds,
    consecutive_folds_of_strata,
    folds_of_groups,
    shuffled_folds,
    shuffled_folds_of_strata,
)
from spinney.resampling.keys import read_codes, read_ranks
from spinney.typing import IntArray, RandomState


class Splitter(abc.ABC):
    """A way to divide rows, with scikit-learn's two methods."""

    @abc.abstractmethod
    def split(
        self, X: Any, y: Any = None, groups: Any = None, time: Any = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Give for each fold the numbers of the rows to learn from, and of those to test on."""

    @abc.abstractmethod
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count the folds."""


@dataclass(frozen=True, eq=False)
class Folds(Splitter):
    """Every row is tested on once, by a model of the other folds.

    With groups, no group is divided, and folds are about as large as each other. With
    ``stratified``, every fold has its share of each class; with both, about.

    Shuffled, the fold of a row depends on the seed, the number of folds and the row's own number
    alone: rows that are appended change no fold of the earlier rows. (Of every ``n_splits``
    consecutive rows each fold gets one.) Stratified, the same is done within each class; with
    groups, shuffling decides between groups of equal size.

    Parameters
    ----------
    n_splits : number of folds
    stratified : whether to divide every class of ``y`` evenly
    shuffle : whether the seed decides, or the order of the rows
    n_repeats : how often to divide all rows anew
    random_state : the seed

    Examples
    --------
    >>> for train, test in Folds(3, random_state=0).split(np.zeros(6)):
    ...     print(train.tolist(), test.tolist())
    [1, 2, 3, 4] [0, 5]
    [0, 1, 3, 5] [2, 4]
    [0, 2, 4, 5] [1, 3]
    """

    n_splits: int = 5
    stratified: bool = field(default=False, kw_only=True)
    shuffle: bool = field(default=True, kw_only=True)
    n_repeats: int = field(default=1, kw_only=True)
    random_state: RandomState = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_count("n_splits", self.n_splits, least=2)
        _check_count("n_repeats", self.n_repeats, least=1)
        if self.n_repeats > 1 and not self.shuffle:
            raise InvalidParameter(
                f"n_repeats={self.n_repeats} with shuffle=False: all repetitions would be the "
                "same. Set shuffle=True, or n_repeats=1."
            )

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        time: Any = None,  # noqa: ARG002 - whoever gives it checks it
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Give for each fold the numbers of the rows to learn from, and of those to test on."""
        n_rows = _count_rows(X)
        strata = None
        if self.stratified:
            if y is None:
                raise InvalidInput("stratified=True needs y, the classes to divide evenly.")
            strata = read_codes(y, n_rows, "y")
        codes = None if groups is None else read_codes(groups, n_rows, "groups")
        seed = seed_from(self.random_state) if self.shuffle else None
        for number in range(self.n_repeats):
            own = None if seed is None else random_bits(seed, Stream.ROWS, number)
            folds = self._assign(n_rows, strata, codes, own)
            for fold in range(self.n_splits):
                yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def get_n_splits(
        self,
        X: Any = None,  # noqa: ARG002 - scikit-learn's protocol
        y: Any = None,  # noqa: ARG002
        groups: Any = None,  # noqa: ARG002
    ) -> int:
        """Count the folds of all repetitions."""
        return self.n_splits * self.n_repeats

    def _assign(
        self, n_rows: int, strata: IntArray | None, codes: IntArray | None, seed: int | None
    ) -> IntArray:
        k = self.n_splits
        n_units = n_rows if codes is None else int(codes.max(initial=-1)) + 1
        if n_units < k:
            raise InvalidInput(
                f"n_splits={k} is more than there are {'rows' if codes is None else 'groups'}: "
                f"{n_units} (n_samples={n_rows}). {_remedy(n_units, codes is not None)}"
            )
        if strata is not None and codes is None and np.bincount(strata).max() < k:
            raise InvalidInput(
                f"n_splits={k} cannot be greater than the number of members in each class: of "
                f"n_samples={n_rows} the largest class of y has {np.bincount(strata).max()}. Use "
                "fewer folds, or stratified=False."
            )
        if codes is not None:
            return folds_of_groups(codes, k, strata=strata, seed=seed)
        if strata is not None:
            if seed is None:
                return consecutive_folds_of_strata(strata, k)
            return shuffled_folds_of_strata(strata, k, seed=seed)
        return (
            consecutive_folds(n_rows, k) if seed is None else shuffled_folds(n_rows, k, seed=seed)
        )


@dataclass(frozen=True, eq=False)
class TimeFolds(Splitter):
    """Every fold tests what follows its training rows: nothing is learnt from the future.

    Sizes count different times, not rows: rows of the same time are never divided. Where all times
    differ, the folds are those of scikit-learn's ``TimeSeriesSplit``. With groups, rows of a group
    that is tested are left out of the training rows of that fold.

    Parameters
    ----------
    n_splits : number of folds
    max_train_size : most times to learn from, the latest ones (a sliding window); None: all
        earlier ones (an expanding window)
    test_size : times to test on in each fold; None: as many as make all parts about equal
    gap : times between training and test that are left out
    time : a sortable key per row; None: rows are in the order of time, all at different times

    Examples
    --------
    >>> folds = TimeFolds(2, time=["2024-05", "2024-05", "2024-06", "2024-07", "2024-07"])
    >>> for train, test in folds.split(np.zeros(5)):
    ...     print(train.tolist(), test.tolist())
    [0, 1] [2]
    [0, 1, 2] [3, 4]
    """

    n_splits: int = 5
    max_train_size: int | None = field(default=None, kw_only=True)
    test_size: int | None = field(default=None, kw_only=True)
    gap: int = field(default=0, kw_only=True)
    time: Any = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        _check_count("n_splits", self.n_splits, least=1)
        _check_count("gap", self.gap, least=0)
        for name in ("max_train_size", "test_size"):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name), least=1)

    def split(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002 - scikit-learn's protocol
        groups: Any = None,
        time: Any = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Give for each fold the numbers of the rows to learn from, and of those to test on."""
        n_rows = _count_rows(X)
        time = self.time if time is None else time
        ranks = np.arange(n_rows) if time is None else read_ranks(time, n_rows)
        codes = None if groups is None else read_codes(groups, n_rows, "groups")
        n_times = int(ranks.max(initial=-1)) + 1
        size = n_times // (self.n_splits + 1) if self.test_size is None else self.test_size
        first = n_times - self.n_splits * size
        if size == 0 or first - self.gap <= 0:
            remedy = "Use fewer or smaller folds."
            if n_times < 2:
                remedy = "No time is before another: give other times, or leave time out."
            raise InvalidInput(
                f"Too few different times for these folds: {n_times}, for n_splits={self.n_splits} "
                f"test sets of {max(size, 1)} after a gap of {self.gap} and at least one time to "
                f"learn from. {remedy}"
            )
        for start in range(first, n_times, size):
            tested = (ranks >= start) & (ranks < start + size)
            end = start - self.gap
            learnt = ranks < end
            if self.max_train_size is not None:
                learnt &= ranks >= end - self.max_train_size
            if codes is not None:
                learnt &= ~np.isin(codes, codes[tested])
            yield np.flatnonzero(learnt), np.flatnonzero(tested)

    def get_n_splits(
        self,
        X: Any = None,  # noqa: ARG002 - scikit-learn's protocol
        y: Any = None,  # noqa: ARG002
        groups: Any = None,  # noqa: ARG002
    ) -> int:
        """Count the folds."""
        return self.n_splits


@dataclass(frozen=True, eq=False)
class LeaveOneOut(Splitter):
    """Every fold tests one row; with groups, one group.

    Examples
    --------
    >>> [test.tolist() for _, test in LeaveOneOut().split(np.zeros(4), groups=[7, 8, 7, 7])]
    [[0, 2, 3], [1]]
    """

    def split(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002 - scikit-learn's protocol
        groups: Any = None,
        time: Any = None,  # noqa: ARG002 - whoever gives it checks it
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Give for each fold the numbers of the rows to learn from, and of those to test on."""
        n_rows = _count_rows(X)
        codes = np.arange(n_rows) if groups is None else read_codes(groups, n_rows, "groups")
        n_units = int(codes.max(initial=-1)) + 1
        if n_units < 2:
            raise InvalidInput(
                f"Leaving one out needs at least two {'rows' if groups is None else 'groups'}, "
                f"there are {n_units}."
            )
        for unit in range(n_units):
            yield np.flatnonzero(codes != unit), np.flatnonzero(codes == unit)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Count rows, or groups if there are any."""
        known = [array for array in (groups, X, y) if array is not None]
        if not known:
            raise InvalidInput("How many folds leave one out depends on X: give X, y or groups.")
        n_rows = _count_rows(known[0])
        return n_rows if groups is None else int(read_codes(groups, n_rows, "groups").max()) + 1


def _remedy(n_units: int, by_groups: bool) -> str:
    """Say what helps where there are fewer rows or groups than folds."""
    if n_units > 1:
        return f"Use fewer folds, at most {n_units}."
    if by_groups:
        return "No group is left to test on: give other groups, or leave groups out."
    return "Give more rows: some are learnt from and others tested on."


def _count_rows(X: Any) -> int:
    if hasattr(X, "shape"):
        return int(X.shape[0])
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def _check_count(name: str, value: Any, *, least: int) -> None:
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if not is_whole or value < least:
        raise InvalidParameter(f"{name}={value!r}: expected an integer from {least} up.")
