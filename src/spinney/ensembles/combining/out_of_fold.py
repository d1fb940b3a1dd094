"""What members say of rows they have not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from spinney.ensembles.combining.combination import Given
from spinney.ensembles.combining.folds import Splits, read_splits
from spinney.ensembles.combining.jobs import Job, run_jobs
from spinney.ensembles.combining.members import Members, method_of, present
from spinney.errors import InvalidParameter
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class OutOfFold:
    """Answers of members, of rows that were asked about."""

    columns: list[FloatArray]
    """Of each member, (n_rows, n_columns); the mean of its answers, 0 where there is none."""
    rows: AnyArray | None
    """Rows that were asked about; None: all."""
    n_splits: int = 0

    @classmethod
    def seen(cls, columns: list[FloatArray]) -> "OutOfFold":
        """Take answers of members that were fitted elsewhere."""
        return cls(columns, None)


def methods_of(members: Members, wanted: str, *, may_wait: bool = False) -> list[str]:
    """Choose what each member is asked.

    ``may_wait``: a member that seems to have no answer is asked to predict once it is fitted; some
    learn their methods in ``fit``, and what is wrong with others shows there first.
    """
    methods = []
    for name, member in present(members):
        try:
            methods.append(method_of(name, member, wanted))
        except InvalidParameter:
            if not may_wait or wanted != "auto":
                raise
            methods.append("predict")
    return methods


def ask_out_of_fold(
    owner: Any, given: Given, members: Members, answers: Any, methods: Sequence[str]
) -> OutOfFold:
    """Fit every member on every split, ask it about the others, and forget it.

    Parameters
    ----------
    owner : the committee, for its ``cv``, ``repeated`` and ``n_jobs``
    given : rows
    members : who is asked
    answers : how answers become columns: by ``answers.columns(member, method, X)``
    methods : what each member is asked
    """
    rows = given.rows
    splits = read_splits(
        owner.cv,
        (rows.X, rows.y, given.groups, given.time),
        classifier=is_classifier(owner),
        repeated=owner.repeated,
        kept=given.kept,
        n_given=given.n_given,
    )
    chosen = present(members)
    jobs = [
        Job(
            member,
            rows.source(member),
            rows.y,
            given.parameters[name],
            train,
            test,
            method,
            answers,
            f"the rows that fold {number} of cv learns from",
            owner._code_names(),  # noqa: SLF001 - ours
            name,
        )
        for (name, member), method in zip(chosen, methods, strict=True)
        for number, (train, test) in enumerate(splits)
        if len(test)
    ]
    said = run_jobs(jobs, owner.n_jobs, verbose=getattr(owner, "verbose", 0))
    tests = [test for _, test in splits if len(test)]
    asked = _times_asked(splits, rows.n_rows)
    columns = [
        _mean(said[place * len(tests) : (place + 1) * len(tests)], tests, asked)
        for place in range(len(chosen))
    ]
    everything = bool(asked.all())
    return OutOfFold(columns, None if everything else np.flatnonzero(asked), len(splits))


def _times_asked(splits: Splits, n_rows: int) -> AnyArray:
    asked = np.zeros(n_rows, np.int64)
    for _, test in splits:
        asked[test] += 1
    return asked


def _mean(said: Sequence[FloatArray], tests: Sequence[AnyArray], asked: AnyArray) -> FloatArray:
    """Put answers at their rows; of several the mean, summed in the order of the splits."""
    sums = np.zeros((len(asked), said[0].shape[1]))
    for own, test in zip(said, tests, strict=True):
        sums[test] += own
    if asked.max() > 1:
        sums /= np.maximum(asked, 1)[:, np.newaxis]
    return sums
