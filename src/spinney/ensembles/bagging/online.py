"""Online bagging: members that learn from rows as they arrive."""

import inspect
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from spinney.data.schema import FeatureSchema
from spinney.data.target import Target, read_labels
from spinney.data.weights import read_weights
from spinney.ensembles.bagging.bagging import Bagging
from spinney.ensembles.bagging.job import Job, member_seed
from spinney.ensembles.bagging.member_table import (
    member_schema,
    member_table,
    n_rows_of,
    read_member_target,
)
from spinney.ensembles.bagging.samplers import sampler_of
from spinney.ensembles.side_by_side import done_in_order
from spinney.ensembles.weak.foreign import set_random_states
from spinney.errors import InvalidInput, InvalidParameter, shorten
from spinney.model.member_bag import MemberBag, columns_of
from spinney.randomness import Stream, random_bits, seed_from
from spinney.resampling.bags_repeated import poisson_draws, repetitions
from spinney.resampling.feature_draws import FeatureDraws
from spinney.typing import AnyArray, FloatArray, TableLike


def learns_online(ensemble: Any) -> bool:
    """Tell whether the base learner can learn from portions of rows."""
    return hasattr(ensemble.estimator_, "partial_fit")


@dataclass(slots=True, eq=False)
class Arrivals:
    """How far an ensemble has come, and the members as they are now."""

    job: Job
    schema: FeatureSchema
    target: Target
    features: FeatureDraws
    members: list[Any]
    n_arrived: int = 0
    """Rows so far, counting repetitions: the number of the next draw."""
    began: set[int] = field(default_factory=set)
    """Members that have seen a row."""

    def counts(self, member: int, repeats: AnyArray) -> AnyArray:
        """Say how often a member counts each row of the next portion."""
        ends = np.cumsum(repeats)
        numbers = range(self.n_arrived, self.n_arrived + int(ends[-1]))
        key = random_bits(self.job.seed, Stream.ROWS, member)
        totals = np.concatenate([[0], np.cumsum(poisson_draws(key, numbers))])
        counts: AnyArray = totals[ends] - totals[ends - repeats]
        return counts

    def columns(self, member: int) -> AnyArray | None:
        """Give the columns of a member; None: all."""
        return None if self.features.takes_all else self.features.draw(member)


class OnlineBagging(Bagging):
    """Bagging that also takes rows in portions, if its members do."""

    _stream: Arrivals

    def _learn_more(self, X: TableLike, y: Any, classes: Any, sample_weight: Any) -> None:
        """Let every member learn from the rows, each counted by its own Poisson draws."""
        self._check_parameters()
        table = member_table(X)
        n_rows = n_rows_of(table)
        stream = self.__dict__.get("_stream") or self._begun(table, y, classes)
        validate_data(self, table, reset=not hasattr(self, "model_"), skip_check_array=True)
        labels = _labels(y, n_rows, stream)
        weights = read_weights(sample_weight, n_rows)
        repeats, parts = _repeats(weights, n_rows)
        tasks = []
        for number in range(len(stream.members)):
            counts = stream.counts(number, repeats) * parts
            if counts.any():
                tasks.append((number, counts))
        known = stream.target.classes
        lessons = (
            (stream.members[one], columns_of(table, stream.columns(one)), labels, counts, known)
            for one, counts in tasks
        )
        taught = list(done_in_order(_teach, lessons, self.n_jobs))
        for (one, _), member in zip(tasks, taught, strict=True):
            stream.members[one] = member
            stream.began.add(one)
        stream.n_arrived += int(repeats.sum())
        self._stream = stream
        self._take_over(stream)

    def _begun(self, table: TableLike, y: Any, classes: Any) -> Arrivals:
        """Begin with members that know nothing, or with those of an earlier fit."""
        params = self.get_params(deep=False)
        if sampler_of(params) not in ("bootstrap", "poisson") or params["max_samples"] is not None:
            raise InvalidParameter(
                "partial_fit counts rows by Poisson draws: set sampler='poisson' (or None, with "
                "bootstrap=True) and max_samples=None."
            )
        job = self._job(seed_from(self.random_state), {})
        schema = member_schema(table)
        model = getattr(self, "model_", None)
        if isinstance(model, MemberBag):
            members = list(model.members)
            there = Arrivals(job, model.schema, model.target, self._draws, members)
            there.began.update(range(len(members)))
            return there
        target = _target(job, y, classes, n_rows_of(table))
        members = []
        for number in range(self.n_estimators):
            member = clone(job.base)
            set_random_states(member, member_seed(job.seed, number))
            members.append(member)
        return Arrivals(job, schema, target, job.features(len(schema.names)), members)

    def _take_over(self, stream: Arrivals) -> None:
        """Answer with the members that have seen a row."""
        self._draws = stream.features
        self.__dict__.pop("_known", None)
        self._forget_out_of_bag()
        began = sorted(stream.began)
        if began:
            self._adopt(
                MemberBag(
                    [stream.members[one] for one in began],
                    [stream.columns(one) for one in began],
                    aggregation=stream.job.params["aggregation"],
                    schema=stream.schema,
                    target=stream.target,
                )
            )


def _target(job: Job, y: Any, classes: Any, n_rows: int) -> Target:
    if job.task != "classification":
        return read_member_target(y, n_rows, job)[0]
    if classes is None:
        raise InvalidInput(
            "classes must be passed on the first call to partial_fit: all labels that will ever "
            "come, for instance numpy.unique(y) of the whole data."
        )
    return Target.classification(read_labels(classes, len(classes), job.name).classes)


def _labels(y: Any, n_rows: int, stream: Arrivals) -> AnyArray:
    """Give what members learn; labels must be among the classes."""
    target, _, labels = read_member_target(y, n_rows, stream.job)
    known = stream.target.classes
    if known is None or target.classes is None:
        return labels
    unknown = np.setdiff1d(target.classes, known)
    if len(unknown):
        raise InvalidInput(
            f"y has the labels {shorten(unknown.tolist())}, which are not among the classes of the "
            f"first call to partial_fit: {shorten(known.tolist())}. Name all classes there."
        )
    return labels


def _repeats(weights: FloatArray | None, n_rows: int) -> tuple[AnyArray, AnyArray]:
    """Give how often each row stands there, and what a draw of it weighs."""
    ones = np.ones(n_rows, np.int64)
    if weights is None:
        return ones, ones
    repeats = repetitions(weights)
    return (ones, weights) if repeats is None else (repeats, ones)


def _teach(
    member: Any, X: TableLike, y: AnyArray, counts: AnyArray, classes: AnyArray | None
) -> Any:
    """Let a member learn from the rows it counts, and give it back."""
    takes = inspect.signature(member.partial_fit).parameters
    more: dict[str, Any] = {}
    if classes is not None and "classes" in takes:
        more["classes"] = classes
    rows = np.flatnonzero(counts)
    if "sample_weight" in takes:
        more["sample_weight"] = counts[rows].astype(np.float64)
    elif counts.dtype.kind == "i":
        rows = np.repeat(rows, counts[rows])
    else:
        raise InvalidInput(
            f"{type(member).__name__}.partial_fit takes no sample_weight, so it cannot count a row "
            "in parts. Give whole weights, or another base learner."
        )
    member.partial_fit(_safe_indexing(X, rows), y[rows], **more)
    return member
