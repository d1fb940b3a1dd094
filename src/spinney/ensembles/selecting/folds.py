"""Which members are asked about which rows: folds, rows held out, or all of them."""

import functools
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from spinney.data.keys import read_codes
from spinney.data.target import Target
from spinney.ensembles.fitting import Reading
from spinney.ensembles.selecting.measures import Answers
from spinney.ensembles.selecting.members import (
    GivenRows,
    Member,
    ask_member,
    fit_member,
    joint_classes,
    prepared,
    run_all,
    with_own_threads,
)
from spinney.ensembles.selecting.setting_aside import Side, set_aside
from spinney.errors import InvalidParameter
from spinney.resampling.folds import read_folds
from spinney.resampling.keys import read_ranks
from spinney.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Splits:
    """The rule of ``cv``."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if value is None:
            return True
        if isinstance(value, bool | np.bool_):
            return False
        if isinstance(value, str):
            return value == "prefit"
        if isinstance(value, numbers.Integral):
            return int(value) >= 2
        if isinstance(value, numbers.Real):
            return 0.0 < float(value) < 1.0
        return hasattr(value, "split") or isinstance(value, Iterable)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return (
            "a number of folds from 2, None for 5, a share of the rows to hold out (a float "
            "between 0 and 1), a splitter, pairs of training and test rows, or 'prefit'"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What members said of rows they had not learnt from, and members that learnt."""

    answers: Answers
    fitted: list[Member] | None
    """None: members are still to be fitted to all rows."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Hearing:
    """Everything it takes to hear the members."""

    members: Sequence[Member]
    rows: GivenRows
    reading: Reading
    seed: int
    n_jobs: int | None

    def hear(self, cv: Any) -> Heard:
        """Ask every member about rows it has not learnt from."""
        if isinstance(cv, str):
            return self._prefit()
        if isinstance(cv, numbers.Real) and not isinstance(cv, numbers.Integral):
            return self._held_out(float(cv))
        pairs = fold_pairs(cv, self.reading, self.rows.groups, self.rows.time)
        tasks = [
            (self.prepared(number), self._rows_of(number), (fold, *pair), self._classes)
            for fold, pair in enumerate(pairs)
            for number in range(len(self.members))
        ]
        said = run_all(_fold_answers, tasks, self.n_jobs)
        return Heard(self._joined(pairs, said), None)

    def prepared(self, number: int) -> Member:
        """Clone a member for a fit."""
        return prepared(self.members[number], self.seed, number, self.n_jobs)

    def fitted(self, numbers_of: AnyArray) -> list[Member]:
        """Fit some members to all rows."""
        tasks = [(self.prepared(int(n)), self._rows_of(int(n))) for n in numbers_of]
        fitted = run_all(fit_member, tasks, self.n_jobs)
        return [
            with_own_threads(Member(task[0].name, one), self.members[int(number)])
            for number, task, one in zip(numbers_of, tasks, fitted, strict=True)
        ]

    def _rows_of(self, number: int) -> GivenRows:
        """Give the rows as a member takes them: ours share one table, whatever folds they see."""
        return self._shared if self.members[number].takes_shared_rows else self.rows

    @functools.cached_property
    def _shared(self) -> GivenRows:
        return self.rows.shared()

    @property
    def _classes(self) -> AnyArray | None:
        return self.reading.target.classes

    def _prefit(self) -> Heard:
        for member in self.members:
            try:
                check_is_fitted(member.estimator)
            except NotFittedError as error:
                raise InvalidParameter(
                    f"cv='prefit', but the member {member} is not fitted. Fit it, or choose folds."
                ) from error
        said = [ask_member(member, self.rows.X, self._classes) for member in self.members]
        everything = self._side(np.arange(len(self.rows.labels)))
        return Heard(self._answers(everything, np.array(said)), list(self.members))

    def _held_out(self, share: float) -> Heard:
        keys = (self.rows.groups, self.rows.time)
        train, aside = set_aside(self.reading, share, self.seed, *keys)
        part = self.rows.on(train)
        tasks = [(self.prepared(number), part) for number in range(len(self.members))]
        done = run_all(fit_member, tasks, self.n_jobs)
        fitted = [Member(m.name, one) for m, one in zip(self.members, done, strict=True)]
        X = self.rows.on(aside).X
        said = np.array([ask_member(member, X, self._classes) for member in fitted])
        for own, given in zip(fitted, self.members, strict=True):
            with_own_threads(own, given)
        return Heard(self._answers(aside, said), fitted)

    def _joined(
        self, pairs: Sequence[tuple[AnyArray, AnyArray]], said: Sequence[FloatArray]
    ) -> Answers:
        """Put the answers of all folds into one array; rows of no fold are left out."""
        n_rows, n_members = len(self.rows.labels), len(self.members)
        joined = np.empty((n_members, n_rows, said[0].shape[1]))
        for place, answers in enumerate(said):
            joined[place % n_members, pairs[place // n_members][1]] = answers
        heard = np.sort(np.concatenate([test for _, test in pairs]))
        return self._answers(
            self._side(heard), joined if len(heard) == n_rows else joined[:, heard]
        )

    def _side(self, rows: AnyArray) -> Side:
        weights = self.reading.weights
        return Side(rows, None if weights is None else weights[rows])

    def _answers(self, side: Side, said: FloatArray) -> Answers:
        y = self.reading.y.reshape(len(self.reading.y), -1)[side.rows, 0]
        return Answers(said, y, side.weights, self._classes)


def _fold_answers(
    member: Member,
    rows: GivenRows,
    fold: tuple[int, AnyArray, AnyArray],
    classes: AnyArray | None,
) -> FloatArray:
    number, train, test = fold
    where = f"the rows that fold {number} of cv learns from"
    fitted = Member(member.name, fit_member(member, rows.take(train), where))
    return ask_member(fitted, rows.take(test).X, classes)


def fold_pairs(
    cv: Any, reading: Reading, groups: AnyArray | None, time: IntArray | None
) -> list[tuple[AnyArray, AnyArray]]:
    """Give training and test rows of every fold, as numbers of the rows that were read.

    Splitters see the rows that have weight; pairs number all rows that were given.
    """
    y = reading.y.reshape(len(reading.y), -1)[:, 0]
    is_classes = reading.target.classes is not None
    kept = None
    if reading.kept is not None:
        kept = np.zeros(reading.n_given, bool)
        kept[reading.kept] = True
    y = y.astype(np.int64) if is_classes else y
    return read_folds(cv, y, groups=groups, time=time, stratified=is_classes, kept=kept)


def with_classes_of(members: Sequence[Member], reading: Reading) -> Reading:
    """Let a reading know the classes that fitted members have met, though no row has them."""
    classes = reading.target.classes
    if classes is None:
        return reading
    met = [np.asarray(getattr(m.estimator, "classes_", classes)) for m in members]
    joint = joint_classes(met, classes)
    codes = np.searchsorted(joint, classes)[reading.y.astype(np.int64)]
    target = Target("classification", joint, n_outputs=len(joint))
    return replace(reading, target=target, y=codes.astype(np.float64))


def read_keys(groups: Any, time: Any, reading: Reading) -> tuple[IntArray | None, IntArray | None]:
    """Read one label and one time per row; gives codes and ranks of the rows that were read."""
    n_given, kept = reading.n_given, reading.kept
    codes = None if groups is None else read_codes(groups, n_given, "groups")
    ranks = None if time is None else read_ranks(time, n_given)
    if kept is None:
        return codes, ranks
    if codes is not None:
        codes = np.unique(codes[kept], return_inverse=True)[1]
    return codes, None if ranks is None else ranks[kept]
