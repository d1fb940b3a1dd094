"""Fits of members on parts of the rows: ours one after another, foreign ones through joblib."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone
from sklearn.utils import _safe_indexing

from spinney.ensembles.combining.members import Answers, fit_member, takes_shared_rows
from spinney.ensembles.failing_fits import telling_where
from spinney.ensembles.routing import sliced
from spinney.ensembles.sharing import SharedTable, TableRows
from spinney.ensembles.side_by_side import done_in_order
from spinney.model.answers import as_members_take
from spinney.progress import Progress
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(slots=True, eq=False)
class CommitteeRows:
    """The rows a committee is fitted on, as each of its members wants them."""

    X: TableLike
    y: AnyArray
    weights: FloatArray | None = None
    """Positive; None: one each."""
    _shared: TableRows | None = field(default=None, init=False)
    _foreign: TableLike = field(default=None, init=False)

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return len(self.y)

    def shared(self) -> TableRows:
        """Give the rows as those of one shared table, made when first asked for."""
        if self._shared is None:
            is_shared = isinstance(self.X, TableRows)
            self._shared = self.X if is_shared else SharedTable(self.X, self.weights).rows()
        return self._shared

    def foreign(self) -> TableLike:
        """Give the rows as a foreign member wants them."""
        if self._foreign is None:
            X = self.X.as_given() if isinstance(self.X, TableRows) else self.X
            self._foreign = as_members_take(X)
        return self._foreign

    def source(self, member: Any) -> TableLike:
        """Give what a member's rows are taken from."""
        return self.shared() if takes_shared_rows(member) else self.foreign()


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One fit of one member, and what is asked of it afterwards."""

    member: Any
    """Not fitted; what is fitted is a clone, so that a model that was asked can be forgotten."""
    X: TableLike
    y: AnyArray
    parameters: Mapping[str, Any]
    train: AnyArray | None = None
    """Rows to fit on; None: all."""
    test: AnyArray | None = None
    """Rows to ask about; None: give the fitted member."""
    method: str = "predict"
    answers: Any = field(default_factory=lambda: Answers(None))
    where: str = "the rows given to fit"
    """Which rows it is fitted on, in words."""
    names: AnyArray | None = None
    """Labels, where y holds codes."""
    name: str = ""
    """What the user calls the member."""

    def run(self) -> Any:
        """Fit, and give the fitted member or its answers."""
        y = self.y if self.train is None else self.y[self.train]
        parameters = sliced(self.parameters, len(self.y), self.train)
        X, member = take_rows(self.X, self.train), clone(self.member)
        with telling_where(member, y, self.where, self.names, called=self.name):
            fit_member(member, X, y, parameters)
        if self.test is None:
            return member
        return self.answers.columns(member, self.method, take_rows(self.X, self.test))


def run_jobs(
    jobs: Sequence[Job],
    n_jobs: int | None,
    *,
    verbose: int = 0,
    tell: str = "",
) -> list[Any]:
    """Run them all; what comes out does not depend on who ran where.

    Members of ours have threads of their own, so they take turns. Each prints a line, as those
    of scikit-learn's committees do, if ``tell`` says whose they are.
    """

    def keep(place: int, result: Any, seconds: float) -> None:
        done[place] = result
        progress.step()
        if tell:
            said = f"({place + 1} of {len(jobs)}) Processing {jobs[place].name}, total="
            sys.stdout.write(f"[{tell}] {said:.>57}{seconds:5.1f}s\n")

    done: list[Any] = [None] * len(jobs)
    foreign = [place for place, job in enumerate(jobs) if not takes_shared_rows(job.member)]
    with Progress(len(jobs), "fit", verbose=verbose) as progress:
        for place, job in enumerate(jobs):
            if takes_shared_rows(job.member):
                keep(place, *_run(job))
        results = done_in_order(_run, [(jobs[place],) for place in foreign], n_jobs)
        for place, result in zip(foreign, results, strict=True):
            keep(place, *result)
    return done


def _run(job: Job) -> tuple[Any, float]:
    begun = time.perf_counter()
    return job.run(), time.perf_counter() - begun


def take_rows(X: TableLike, rows: AnyArray | None) -> TableLike:
    """Choose rows of a table of any kind; None: all."""
    if rows is None:
        return X
    return X.take(rows) if isinstance(X, TableRows) else _safe_indexing(X, rows)


def as_asked(member: Any, X: TableLike) -> TableLike:
    """Give a table the form in which a fitted member takes it."""
    if isinstance(X, TableRows) and not takes_shared_rows(member):
        return as_members_take(X.as_given())
    return X
