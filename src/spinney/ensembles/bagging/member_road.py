"""The road of any base learner: clones, each fitted on the rows and features it drew."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from spinney.data.keys import read_codes
from spinney.data.row_keys import keys_for
from spinney.data.weights import read_weights
from spinney.ensembles.bagging.job import Job, member_seed
from spinney.ensembles.bagging.member_table import (
    content_keys,
    member_schema,
    member_table,
    n_rows_of,
    read_member_target,
)
from spinney.ensembles.bagging.samplers import (
    IN_PLACE,
    RowsToDraw,
    recipe_of,
    sampler_of,
    weights_of_bags,
)
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.failing_fits import telling_where
from spinney.ensembles.forests.growing import CELLS_AT_ONCE, portions
from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.forests.out_of_bag import Tally
from spinney.ensembles.forests.row_order import groups_by_content, rows_digest, target_keys
from spinney.ensembles.routing import sliced, takes_weights
from spinney.ensembles.side_by_side import done_in_order
from spinney.ensembles.weak.foreign import set_random_states
from spinney.errors import InvalidInput
from spinney.model.member_bag import MemberBag, Question, ask_member, columns_of
from spinney.progress import Progress
from spinney.resampling.keys import read_ranks
from spinney.typing import AnyArray, FloatArray, TableLike

_AT_ONCE = 64
"""Members whose weights are kept at a time, at least."""


@dataclass(frozen=True, slots=True, eq=False)
class MemberTask:
    """One member to be fitted."""

    base: Any
    seed: int
    features: AnyArray | None
    """Columns it sees; None: all."""
    weights: AnyArray
    """(n_given,): what each row counts."""
    is_weighed: bool
    """Whether it is told the weights, or given rows so often."""
    unseen: AnyArray
    """Rows it is asked about afterwards."""
    given: Mapping[str, Any]
    """What its ``fit`` takes beside rows, targets and weights."""


class MemberRoad:
    """Clones of one estimator; they are fitted with weights, or on rows that stand there so often.

    Rows are drawn from an order that their content decides, where we can read it; else by where
    they stand. Those of weight 0 are never drawn.
    """

    def __init__(self, job: Job, given: tuple[TableLike, Any, Any, Any, Any]) -> None:
        """Read what decides the draws; the table itself is the members' affair."""
        X, y, sample_weight, groups, time = given
        self._job = job
        self._X = member_table(X)
        n_given = n_rows_of(self._X)
        self.target, codes, self._y = read_member_target(y, n_given, job)
        self.schema = member_schema(self._X)
        self.features = job.features(len(self.schema.names))
        weights = read_weights(sample_weight, n_given)
        kept = None if weights is None or weights.all() else np.flatnonzero(weights)
        sampler = sampler_of(job.params)
        keys = content_keys(self._X, codes)
        by_content = keys is not None and isinstance(sampler, str) and sampler not in IN_PLACE
        places = _ordered(keys, kept) if by_content and keys is not None else kept
        some = slice(None) if places is None else places
        keys = target_keys(codes)[some] if keys is None else keys[some]
        self.y, self.row_weights = codes[some], None if weights is None else weights[some]
        classes = None if self.target.classes is None else self.y
        labels = job.labels(sampler, groups, time, classes).codes(n_given, places)
        if labels is not None and sampler == "group" and by_content:
            labels = groups_by_content(labels, keys)
        rows = RowsToDraw(len(self.y), self.row_weights, labels)
        recipe, self._told = recipe_of(job.params, rows, job.seed)
        digest = rows_digest(keys, self.row_weights, in_order=not by_content)
        own = None if places is None else places.astype(np.int32)
        self.known = Knowledge(recipe, own, n_given, digest)
        self.bags = recipe.bags()
        own_keys = {
            "groups": None if groups is None else read_codes(groups, n_given, "groups"),
            "time": None if time is None else read_ranks(time, n_given),
        }
        self._given = {**job.given, **keys_for(job.base, own_keys)}

    def fits(self, model: MemberBag, aggregation: str | None) -> bool:  # noqa: ARG002 - as trees
        """Tell whether the members there are come from the same kind of base learner."""
        return type(model.members[0]) is type(self._job.base)

    def fit(self, members: range, before: Any, tally: Tally | None) -> MemberBag:
        """Fit clones behind those there are; let them speak of the rows they did not see."""
        job = self._job
        fitted = [] if before is None else list(before.members)
        # Members of ours use all threads themselves: they are fitted one after the other.
        n_jobs = 1 if isinstance(job.base, Estimator) else job.params["n_jobs"]
        at_once = max(_AT_ONCE, CELLS_AT_ONCE // max(1, self.known.n_given))
        verbose = job.params["verbose"]
        with Progress(members.stop, "member", first=members.start, verbose=verbose) as progress:
            for some in portions(members, at_once):
                unseen = self._unseen(some, tally)
                asked = Question(self.target, job.params["aggregation"])
                tasks = [(self._X, self._y, one, asked) for one in self._tasks(some, unseen)]
                pairs = done_in_order(fit_member, tasks, n_jobs)
                for rows, (member, answers) in zip(unseen, pairs, strict=True):
                    fitted.append(member)
                    if tally is not None:
                        tally.take(rows, answers)
                    progress.step()
        drawn = [self._columns(member) for member in range(len(fitted))]
        return MemberBag(
            fitted,
            drawn,
            aggregation=job.params["aggregation"],
            schema=self.schema,
            target=self.target,
        )

    def _columns(self, member: int) -> AnyArray | None:
        return None if self.features.takes_all else self.features.draw(member)

    def _unseen(self, members: range, tally: Tally | None) -> list[AnyArray]:
        """Give the rows of some weight that each member does not see, if anybody asks."""
        if tally is None:
            return [np.empty(0, np.int64)] * len(members)
        return [np.flatnonzero(counts == 0) for counts in self.bags.counts(members)]

    def _tasks(self, members: range, unseen: list[AnyArray]) -> list[MemberTask]:
        weights = weights_of_bags(self.bags, members).astype(np.float64)
        if self._told and self.row_weights is not None:
            weights *= self.row_weights
        places = self.known.places
        if places is not None:
            own, weights = weights, np.zeros((len(members), self.known.n_given))
            weights[:, places] = own
            unseen = [places[rows] for rows in unseen]
        weighed = self._weighs(weights)
        seeds = [member_seed(self._job.seed, member) for member in members]
        base, given = self._job.base, self._given
        return [
            MemberTask(base, seed, self._columns(member), own, weighed, rows, given)
            for member, seed, own, rows in zip(members, seeds, weights, unseen, strict=True)
        ]

    def _weighs(self, weights: FloatArray) -> bool:
        """Tell whether members are told weights; refuse parts of rows where they cannot be."""
        base = self._job.base
        if takes_weights(base):
            return True
        if (weights == np.rint(weights)).all():
            return False
        if has_fit_parameter(base, "sample_weight"):
            return True
        raise InvalidInput(
            f"{type(base).__name__}.fit takes no sample_weight, so it cannot count a row in parts, "
            "as sampler='bayesian' and weights that are no whole numbers ask for. Use "
            "sampler='bootstrap', whole weights, or another base learner."
        )


def _ordered(keys: AnyArray, kept: AnyArray | None) -> AnyArray:
    """Give the rows that are kept (None: all) in the order of what stands in them."""
    rows = np.arange(len(keys)) if kept is None else kept
    return rows[np.argsort(keys[rows], kind="stable")]


def fit_member(
    X: TableLike, y: AnyArray, task: MemberTask, question: Question
) -> tuple[Any, FloatArray]:
    """Fit a clone, and ask it about the rows that it did not see."""
    member = clone(task.base)
    set_random_states(member, task.seed)
    own = columns_of(X, task.features)
    if task.is_weighed:
        with telling_where(member, y[task.weights > 0], "the rows that a member drew"):
            member.fit(own, y, sample_weight=task.weights, **task.given)
    else:
        rows = np.repeat(np.arange(len(task.weights)), task.weights.astype(np.int64))
        with telling_where(member, y[rows], "the rows that a member drew"):
            member.fit(_safe_indexing(own, rows), y[rows], **sliced(task.given, len(y), rows))
    if not len(task.unseen):
        return member, np.empty((0, question.target.n_outputs))
    asked = _safe_indexing(X, task.unseen)
    return member, ask_member(member, asked, task.features, question)
