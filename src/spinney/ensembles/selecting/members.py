"""Members of any kind: checked, seeded, fitted, asked."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import has_fit_parameter

from spinney.data.row_keys import keys_for
from spinney.ensembles.combining.jobs import take_rows
from spinney.ensembles.combining.members import is_dropped, takes_shared_rows
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.failing_fits import telling_where
from spinney.ensembles.fitting import Reading
from spinney.ensembles.selecting.setting_aside import Side
from spinney.ensembles.sharing import SharedTable
from spinney.ensembles.side_by_side import done_in_order
from spinney.ensembles.weak.checks import gives_classes
from spinney.errors import (
    InvalidInput,
    InvalidParameter,
    SpinneyError,
    WeakLearnerFailed,
    shorten,
)
from spinney.model.answers import as_members_take, check_rows, member_answers
from spinney.progress import Progress
from spinney.randomness import Stream, random_bits
from spinney.typing import AnyArray, FloatArray, IntArray, TableLike

NEEDED = ("fit", "predict", "get_params")
"""Methods of a member."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """An estimator, fitted or not, and what the user calls it."""

    name: str
    estimator: Any

    @property
    def is_ours(self) -> bool:
        """Tell whether its ``fit`` runs on threads of ours."""
        return isinstance(self.estimator, Estimator)

    @property
    def takes_shared_rows(self) -> bool:
        """Tell whether it can be fitted on rows of a shared table."""
        return self.is_ours and takes_shared_rows(self.estimator)

    def __str__(self) -> str:
        return f"{self.name!r} ({type(self.estimator).__name__})"


@dataclass(frozen=True, slots=True, eq=False)
class GivenRows:
    """Rows as the user gave them, which is how members want them; none of weight 0."""

    X: TableLike
    labels: AnyArray
    """(n_rows,): labels or numbers of the user."""
    weights: FloatArray | None
    """None: all 1."""
    groups: AnyArray | None = None
    """Codes."""
    time: IntArray | None = None
    """Ranks: equal times, equal ranks."""

    @classmethod
    def of(
        cls,
        X: TableLike,
        reading: Reading,
        groups: AnyArray | None = None,
        time: IntArray | None = None,
    ) -> "GivenRows":
        """Keep the rows that were read; ``groups`` and ``time`` are of those."""
        given = table_for_members(X)
        kept = given if reading.kept is None else _safe_indexing(given, reading.kept)
        labels = reading.y.reshape(-1)
        if reading.target.classes is not None:
            labels = reading.target.classes[labels.astype(np.int64)]
        return cls(kept, labels, reading.weights, groups, time)

    def take(self, rows: AnyArray) -> "GivenRows":
        """Choose some of the rows."""
        return GivenRows(
            take_rows(self.X, rows),
            self.labels[rows],
            None if self.weights is None else self.weights[rows],
            None if self.groups is None else self.groups[rows],
            None if self.time is None else self.time[rows],
        )

    def shared(self) -> "GivenRows":
        """Give the same rows as those of one table that is read, binned and ranked once."""
        return replace(self, X=SharedTable(self.X, self.weights).rows())

    def on(self, side: Side) -> "GivenRows":
        """Choose the rows on one side of a split."""
        return replace(self.take(side.rows), weights=side.weights)

    def counted(self, counts: AnyArray) -> "GivenRows":
        """Let every row count so often; those that count 0 times go."""
        rows = np.flatnonzero(counts)
        return replace(self.take(rows), weights=counts[rows].astype(np.float64))


def table_for_members(X: TableLike) -> Any:
    """Give a table a form that rows can be chosen from; numbers in lists stay numbers."""
    if isinstance(X, list | tuple) and len(X) > 0 and not isinstance(X[0], str):
        array = np.asarray(X)
        return np.array(X, dtype=object) if array.dtype.kind in "US" else array
    is_like_an_array = hasattr(X, "__array__") and not hasattr(X, "shape")
    return np.asarray(X) if is_like_an_array else as_members_take(X)


def named_members(given: Any, owner: str, taken: Container[str] = ()) -> list[Member]:
    """Read a list of (name, estimator) pairs, or of estimators, which are then called by class.

    Those that were left out, by "drop", are not among the answer. ``taken``: names of parameters,
    which members may not have.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Sequence) or not len(given):
        raise InvalidParameter(
            f"{owner} needs a list of (name, estimator) pairs with at least one member, got "
            f"{given!r}."
        )
    members = [
        Member(*item)
        if isinstance(item, tuple | list) and len(item) == 2
        else Member(f"{type(item).__name__.lower()}{place}", item)
        for place, item in enumerate(given)
    ]
    present = [member for member in members if not is_dropped(member.estimator)]
    for member in present:
        _check_member(member, owner)
    if not present:
        raise InvalidParameter(
            f"All members of {owner} are dropped. Give an estimator in the place of one of them."
        )
    names = [member.name for member in members]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidParameter(
            f"{owner} has several members called {shorten(twice)}. Give each a name of its own."
        )
    conflicts = sorted(name for name in names if name in taken)
    if conflicts:
        raise InvalidParameter(
            f"{owner} has members called {shorten(conflicts)}, and parameters of the same name. "
            "Give the members other names."
        )
    return present


def _check_member(member: Member, owner: str) -> None:
    if not isinstance(member.name, str) or "__" in member.name or not member.name:
        raise InvalidParameter(
            f"{owner} has a member called {member.name!r}: expected a text without '__', which "
            "separates a member from its parameters."
        )
    estimator = member.estimator
    lacks = [name for name in NEEDED if not callable(getattr(estimator, name, None))]
    if isinstance(estimator, type) or lacks:
        what = "a class" if isinstance(estimator, type) else f"without {', '.join(lacks)}"
        raise InvalidParameter(
            f"The member {member.name!r} of {owner} is {estimator!r}, {what}; expected an "
            "estimator with fit, predict and get_params, or 'drop'."
        )


def check_task(members: Sequence[Member], owner: str, *, classes: bool) -> None:
    """Refuse regressors where classes are asked for, and classifiers where numbers are."""
    for member in members:
        if gives_classes(member.estimator) != classes:
            wrong = "no classifier" if classes else "a classifier"
            raise InvalidParameter(
                f"The member {member} of {owner} is {wrong}, but y is "
                f"{'classes' if classes else 'numbers'}. Give another, or leave it out."
            )


def check_takes_weights(members: Sequence[Member], owner: str) -> None:
    """Refuse weights if a member could not be told of them."""
    for member in members:
        if not has_fit_parameter(member.estimator, "sample_weight"):
            raise InvalidInput(
                f"sample_weight was given, but the member {member} of {owner} takes none in fit. "
                "Leave it out, fit without weights, or repeat rows instead."
            )


def joint_classes(met: Sequence[AnyArray], classes: AnyArray) -> AnyArray:
    """Join the classes that fitted members have met with those of the rows at hand; sorted."""
    if len({known.dtype.kind in "biuf" for known in (*met, classes)}) > 1:
        raise InvalidInput(
            f"Fitted members know classes such as {met[0][:3].tolist()}, and y has "
            f"{classes[:3].tolist()}. Give y the labels that they were fitted to."
        )
    return np.unique(np.concatenate([*met, classes]))


def prepared(member: Member, seed: int, number: int, n_jobs: int | None) -> Member:
    """Clone a member: seeded where it has no seed, with the ensemble's threads where it has none.

    The seed depends on the ensemble's seed and the member's number alone.
    """
    twin = clone(member.estimator)
    parameters = twin.get_params(deep=True)
    seeds = [
        name
        for name in sorted(parameters)
        if name.rpartition("__")[2] == "random_state" and parameters[name] is None
    ]
    bits = random_bits(seed, Stream.FEATURES, number)
    changes: dict[str, Any] = {
        name: random_bits(bits, Stream.FEATURES, place) % (2**31 - 1)
        for place, name in enumerate(seeds)
    }
    if member.is_ours and n_jobs is not None and parameters.get("n_jobs", 1) is None:
        changes["n_jobs"] = n_jobs
    if changes:
        twin.set_params(**changes)
    return Member(member.name, twin)


def with_own_threads(fitted: Member, given: Member) -> Member:
    """Let a member that is kept forget the threads it was lent: a file does not depend on them."""
    if fitted.is_ours and hasattr(given.estimator, "n_jobs"):
        fitted.estimator.set_params(n_jobs=given.estimator.n_jobs)
    return fitted


def fit_member(member: Member, rows: GivenRows, where: str = "the rows that it was given") -> Any:
    """Fit a member to rows, which are ``where`` in words; gives the estimator."""
    estimator = member.estimator
    given: dict[str, Any] = keys_for(estimator, {"groups": rows.groups, "time": rows.time})
    if rows.weights is not None:
        given["sample_weight"] = rows.weights
    try:
        with telling_where(estimator, rows.labels, where):
            estimator.fit(rows.X, rows.labels, **given)
    except Exception as error:
        is_told = isinstance(error, SpinneyError)
        said = str(error) if is_told else f"{type(error).__name__}: {error}"
        raise WeakLearnerFailed(
            f"The member {member} could not be fitted to {len(rows.labels)} rows: {said}"
        ) from error
    return estimator


def ask_member(member: Member, X: TableLike, classes: AnyArray | None) -> FloatArray:
    """Ask a fitted member for probabilities (without them: its labels) or numbers."""
    form = "values" if classes is None else "shares"
    known = np.empty(0) if classes is None else classes
    try:
        answers = member_answers(member.estimator, X, known, form)
        check_rows(member.estimator, answers, X)
    except Exception as error:
        kind = type(error) if isinstance(error, InvalidInput) else WeakLearnerFailed
        said = str(error) if kind is not WeakLearnerFailed else f"{type(error).__name__}: {error}"
        raise kind(f"The member {member} could not be asked: {said}") from error
    return answers


def run_all(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], n_jobs: int | None
) -> list[Any]:
    """Do work for members, the first item of each task; the results are in the order of tasks.

    Members of ours come one after the other, each with all threads; others through joblib.
    """
    foreign = [place for place, task in enumerate(tasks) if not task[0].is_ours]
    with Progress(len(tasks), "fit") as progress:
        results = {}
        done = done_in_order(work, [tasks[place] for place in foreign], n_jobs)
        for place, result in zip(foreign, done, strict=True):
            results[place] = result
            progress.step()
        for place, task in enumerate(tasks):
            if place not in results:
                results[place] = work(*task)
                progress.step()
    return [results[place] for place in range(len(tasks))]


def joint_input_tags(tags: Any, estimators: Sequence[Any]) -> Any:
    """Say that a committee takes what all of its members take."""
    for estimator in estimators:
        if hasattr(estimator, "__sklearn_tags__"):
            own = get_tags(estimator).input_tags
            for name in ("sparse", "allow_nan", "string", "categorical"):
                joint = getattr(tags.input_tags, name) and getattr(own, name)
                setattr(tags.input_tags, name, joint)
    return tags
