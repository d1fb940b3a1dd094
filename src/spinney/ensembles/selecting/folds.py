"""Which members are asked about which rows: folds, rows held out, or all of them."""

import numbers
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils.validation import check_is_fitted

from spinney.data.sources.vector import read_vector
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
)
from spinney.ensembles.selecting.setting_aside import Side, set_aside
from spinney.errors import InvalidInput, InvalidParameter
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class Splits:
    """The rule of ``cv``."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
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
            "a number of folds from 2, a share of the rows to hold out (a float between 0 and 1), "
            "a splitter, pairs of training and test rows, or 'prefit'"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """What members said of rows they had not learnt from, and members that learnt."""

    answers: Answers
    fitted: list[Member] | None
    """None: members are still to be fitted to all rows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hearing:
    """Everything it takes to hear the members."""

    members: Sequence[Member]
    rows: GivenRows
    reading: Reading
    groups: AnyArray | None
    seed: int
    n_jobs: int | None

    def hear(self, cv: Any) -> Heard:
        """Ask every member about rows it has not learnt from."""
        if isinstance(cv, str):
            return self._prefit()
        if isinstance(cv, numbers.Real) and not isinstance(cv, numbers.Integral):
            return self._held_out(float(cv))
        pairs = fold_pairs(cv, self.reading, self.groups)
        tasks = [
            (self.prepared(number), self.rows, *pair, self._classes)
            for pair in pairs
            for number in range(len(self.members))
        ]
        said = run_all(_fold_answers, tasks, self.n_jobs)
        return Heard(self._joined(pairs, said), None)

    def prepared(self, number: int) -> Member:
        """Clone a member for a fit."""
        return prepared(self.members[number], self.seed, number, self.n_jobs)

    def fitted(self, numbers_of: AnyArray) -> list[Member]:
        """Fit some members to all rows."""
        tasks = [(self.prepared(int(number)), self.rows) for number in numbers_of]
        fitted = run_all(fit_member, tasks, self.n_jobs)
        return [Member(task[0].name, one) for task, one in zip(tasks, fitted, strict=True)]

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
        train, aside = set_aside(self.reading, share, self.seed, self.groups)
        part = self.rows.on(train)
        tasks = [(self.prepared(number), part) for number in range(len(self.members))]
        done = run_all(fit_member, tasks, self.n_jobs)
        fitted = [Member(m.name, one) for m, one in zip(self.members, done, strict=True)]
        X = self.rows.on(aside).X
        said = np.array([ask_member(member, X, self._classes) for member in fitted])
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
    member: Member, rows: GivenRows, train: AnyArray, test: AnyArray, classes: AnyArray | None
) -> FloatArray:
    fitted = Member(member.name, fit_member(member, rows.take(train)))
    return ask_member(fitted, rows.take(test).X, classes)


def fold_pairs(
    cv: Any, reading: Reading, groups: AnyArray | None
) -> list[tuple[AnyArray, AnyArray]]:
    """Give training and test rows of every fold, as numbers of the rows that were read.

    Splitters see the rows that have weight; pairs number all rows that were given.
    """
    n_rows = len(reading.y)
    if isinstance(cv, numbers.Integral) or hasattr(cv, "split"):
        pairs = _split(cv, reading, groups)
    else:
        place = np.arange(reading.n_given)
        if reading.kept is not None:
            place = np.full(reading.n_given, -1)
            place[reading.kept] = np.arange(n_rows)
        pairs = [(_placed(train, place), _placed(test, place)) for train, test in cv]
    pairs = [pair for pair in pairs if len(pair[1])]
    if not pairs or not all(len(train) for train, _ in pairs):
        raise InvalidInput(
            f"cv={cv!r} gives a fold without rows to learn from, or no fold at all. Give folds "
            "that have rows of weight on both sides."
        )
    counts = np.bincount(np.concatenate([test for _, test in pairs]), minlength=n_rows)
    if counts.max() > 1:
        raise InvalidInput(
            f"cv={cv!r} tests row {int(np.argmax(counts > 1))} in {int(counts.max())} folds. A "
            "committee is selected on one prediction per row: give a splitter that does not repeat "
            "rows."
        )
    return pairs


def _split(cv: Any, reading: Reading, groups: AnyArray | None) -> list[tuple[AnyArray, AnyArray]]:
    y = reading.y.reshape(len(reading.y), -1)[:, 0]
    is_classes = reading.target.classes is not None
    if isinstance(cv, numbers.Integral) and groups is not None:
        cv = GroupKFold(int(cv))
    y = y.astype(np.int64) if is_classes else y
    splitter = check_cv(cv, y, classifier=is_classes)
    try:
        with warnings.catch_warnings():
            # A class of few rows is missing from some folds; members then give it no chance there.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            return list(splitter.split(np.zeros((len(y), 1)), y, groups))
    except ValueError as error:
        raise InvalidInput(
            f"cv={cv!r} cannot divide the rows (n_samples={len(y)}): {error} Give more rows, fewer "
            "folds, or groups= to fit if the splitter asks for them."
        ) from error


def _placed(rows: Any, place: AnyArray) -> AnyArray:
    """Give rows of one side of a pair their numbers among those that were read."""
    array = np.asarray(rows)
    if array.dtype == bool:
        array = np.flatnonzero(array)
    is_numbers = array.ndim == 1 and (array.dtype.kind in "iu" or not len(array))
    if not is_numbers or (
        len(array) and not -len(place) <= array.min() <= array.max() < len(place)
    ):
        raise InvalidInput(
            f"A pair of cv names rows that are not there: expected numbers from 0 to "
            f"{len(place) - 1}, or a mask."
        )
    placed = place[array.astype(np.int64)]
    return placed[placed >= 0]


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


def read_groups(groups: Any, reading: Reading) -> AnyArray | None:
    """Read one label per row; gives codes of the rows that were read."""
    if groups is None:
        return None
    labels = read_vector(groups, "groups")
    if labels.ndim != 1 or len(labels) != reading.n_given:
        raise InvalidInput(
            f"groups has shape {labels.shape}: expected one label for each of {reading.n_given} "
            "rows."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InvalidInput(
            f"Row {int(np.argmax(np.isnan(labels)))} of groups is missing. Give every row a group."
        )
    kept = labels if reading.kept is None else labels[reading.kept]
    codes = np.unique(kept.astype(str) if kept.dtype.kind == "O" else kept, return_inverse=True)[1]
    return np.asarray(codes)
