"""The rounds: Algorithms 2 and 3 of gradient boosting, and AnyBoost."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from spinney.ensembles.functional.learners import EstimatorRegions, TreeRegions
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses.row_loss import RowLoss, ScoredRows
from spinney.losses.row_weights import RowCounts, RowWeights
from spinney.progress import follow
from spinney.resampling import RowDraws
from spinney.theory.trace import DescentTrace
from spinney.typing import AnyArray, FloatArray

Learner: TypeAlias = TreeRegions | EstimatorRegions


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Descent:
    """What does not change from round to round."""

    loss: RowLoss
    learner: Learner
    y: FloatArray
    weights: FloatArray
    step: str
    learning_rate: float
    n_rounds: int
    signs: FloatArray | None = None
    """-1 or 1 of each row: the learner is asked for classes, as AnyBoost does. None: for numbers,
    the negative gradient."""
    draws: RowDraws | None = None
    """Draws the rows a round may see; None: all."""

    def in_bag(self, number: int) -> AnyArray:
        """Give the rows that a round may see."""
        return np.arange(len(self.y)) if self.draws is None else self.draws.draw(number)


@dataclass(slots=True, eq=False)
class Sum:
    """The function so far: a constant, and members with their steps."""

    baseline: FloatArray
    scores: FloatArray
    """(n_rows, n_scores), of the training rows."""
    members: list[Any] = field(default_factory=list)
    """One for each score, round by round."""
    steps: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    """Mean loss before the first round and after each."""
    edges: list[float] = field(default_factory=list)
    """How well each round followed the negative gradient."""
    stop_reason: str = "all rounds were done"

    def trace(self) -> DescentTrace:
        """Give the numbers of all rounds."""
        return DescentTrace(
            losses=np.array(self.losses[1:], np.float64),
            edges=np.array(self.edges, np.float64),
            steps=np.array(self.steps, np.float64),
            start_loss=self.losses[0],
            stop_reason=self.stop_reason,
        )


def descend(plan: Descent) -> Sum:
    """Add functions along the negative gradient of the loss, until there is none."""
    start = plan.loss.start(plan.y, plan.weights)
    if plan.signs is not None:
        start = np.zeros(1)  # AnyBoost begins at 0
    grown = Sum(start, np.tile(start, (len(plan.y), 1)))
    _record(plan, grown)
    for number in follow(range(plan.n_rounds), plan.n_rounds, "round"):
        with np.errstate(over="ignore", invalid="ignore"):
            downhill = -plan.loss.gradients(plan.y, grown.scores)
        if not np.isfinite(downhill).all():
            raise InvalidInput(
                f"Round {number + 1}: the gradient of the loss is not finite. Lower learning_rate, "
                "or choose step='line_search'."
            )
        reason = _add_round(plan, grown, downhill, number)
        if reason:
            grown.stop_reason = reason
            break
        _record(plan, grown)
    return grown


def _record(plan: Descent, grown: Sum) -> None:
    grown.losses.append(plan.loss.mean(ScoredRows(plan.y, grown.scores, plan.weights)))


def _add_round(plan: Descent, grown: Sum, downhill: FloatArray, number: int) -> str:
    """Fit functions to the gradient and go along them; say why not if there is nowhere to go."""
    bag = plan.in_bag(number)
    weights = np.zeros(len(plan.y))
    weights[bag] = plan.weights[bag]
    pulls = weights[:, np.newaxis] * downhill
    if not pulls.any():
        return "the gradient of the loss is 0"
    before = grown.scores
    if plan.step == "per_region":
        _step_in_regions(plan, grown, downhill, weights, number)
    elif not _step_along(plan, grown, downhill, weights, number):
        return "the learner found nothing that lowers the loss"
    grown.edges.append(_edge(pulls, grown.scores - before))
    return ""


def _edge(pulls: FloatArray, change: FloatArray) -> float:
    """Compare a change of scores with the best one of its height."""
    most = float(np.abs(pulls).sum()) * float(np.abs(change).max())
    return float((pulls * change).sum()) / most if most > 0 else 0.0


def _step_along(
    plan: Descent, grown: Sum, downhill: FloatArray, weights: FloatArray, number: int
) -> bool:
    """Go along one function for each score; False if it does not lead downhill."""
    if plan.signs is None:
        members, directions = _fit_gradient(plan, downhill, weights, number)
    else:
        members, directions = _ask_for_classes(plan, downhill, weights, number)
        if not (weights[:, np.newaxis] * downhill * directions).sum() > 0:
            return False
    step = 1.0
    if plan.step == "line_search":
        bag = np.flatnonzero(weights)
        rows = ScoredRows(plan.y, grown.scores, weights)
        every = np.zeros(1, np.int64)
        step = float(plan.loss.steps(rows.take(bag), directions[bag], every)[0])
    grown.scores = grown.scores + plan.learning_rate * step * directions
    grown.members.extend(members)
    grown.steps.append(step)
    return True


def _fit_gradient(
    plan: Descent, downhill: FloatArray, weights: FloatArray, number: int
) -> tuple[list[Any], FloatArray]:
    """Fit one function for each score."""
    n_scores = plan.loss.n_scores
    fits = [
        plan.learner.fit_numbers(np.ascontiguousarray(column), weights, number * n_scores + k)
        for k, column in enumerate(downhill.T)
    ]
    return [fit.member for fit in fits], np.hstack([fit.answers for fit in fits])


def _ask_for_classes(
    plan: Descent, downhill: FloatArray, weights: FloatArray, number: int
) -> tuple[list[Any], FloatArray]:
    """Ask for a classifier under weights in proportion to the slope of the loss in the margin."""
    slopes = downhill[:, 0] * np.asarray(plan.signs)
    if (slopes < 0).any():
        raise InvalidParameter(
            "oracle='classifier' weighs rows by how fast the loss falls as their margin grows, but "
            f"that of row {int(np.argmin(slopes))} grows. Choose another loss, or "
            "oracle='regressor'."
        )
    pulls = weights * slopes
    asked = RowWeights(pulls / pulls.sum(), RowCounts(plan.weights))
    found = plan.learner.classify(asked, "signs", number)
    return [found.member], found.answers.astype(np.float64)


def _step_in_regions(
    plan: Descent, grown: Sum, downhill: FloatArray, weights: FloatArray, number: int
) -> None:
    """Give every leaf of a tree the step that is best for its rows; one score after the other."""
    n_scores, seen = plan.loss.n_scores, np.flatnonzero(weights)
    scores = grown.scores.copy()
    for k in range(n_scores):
        target = np.ascontiguousarray(downhill[:, k])
        fit = plan.learner.fit_numbers(target, weights, number * n_scores + k)
        leaves, region_of_row = np.unique(plan.learner.regions(fit), return_inverse=True)
        direction = np.zeros((len(scores), n_scores))
        direction[:, k] = 1.0
        rows, values = ScoredRows(plan.y, scores, weights), np.zeros(len(leaves))
        order = seen[np.argsort(region_of_row[seen], kind="stable")]
        regions, starts = np.unique(region_of_row[order], return_index=True)
        values[regions] = plan.loss.steps(rows.take(order), direction[order], starts)
        scores[:, k] += plan.learning_rate * values[region_of_row]
        grown.members.append(plan.learner.refill(fit, leaves, values))
    grown.scores = scores
    grown.steps.append(1.0)
