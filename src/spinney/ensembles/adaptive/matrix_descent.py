"""Descent on the objective of boosting over a matrix: where it stands, and what its rounds did.

Everything is kept relative: weights of rows add up to 1 whatever the scores are, and objectives are
logarithms, so that the arithmetic of round 100 000 is as good as that of the first.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from spinney.losses import MarginLoss
from spinney.losses.line_search import first_root
from spinney.theory.trace import Trace
from spinney.typing import FloatArray

EPS_CLIP = 1e-10
"""An error as small as this counts as none, for which no weight would be large enough."""
LARGEST_STEP = 0.5 * math.log((1.0 - EPS_CLIP) / EPS_CLIP)
"""What a column of that error is given."""
_TIE = 1e-12
"""Edges that differ by less are equal: they are sums of rounded numbers."""
_NOTHING = 1e-300
_MOST_KEPT = 1_000_000
"""Numbers in a history of distributions that is kept unasked: 8 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What the rows say at some scores."""

    log_objective: float
    log_unit: float
    """Logarithm of the sum of mass · |φ'|: slopes are given in this unit. -inf: all are flat."""
    distribution: FloatArray
    """mass · -φ' in that unit."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The objective, sum of mass · φ(score), seen from the rows."""

    loss: MarginLoss
    mass: FloatArray
    """Positive, sum 1."""
    log_mass: FloatArray

    def look(self, scores: FloatArray) -> View:
        """Measure objective and slopes at the scores."""
        logarithm = self.loss.logarithm
        if logarithm is None:
            objective = float(self.mass @ self.loss.value(scores))
            pulls = -self.mass * self.loss.derivative(scores)
            total = float(np.abs(pulls).sum())
            if not total > _NOTHING:
                return View(_log(objective), -math.inf, np.zeros_like(pulls))
            return View(_log(objective), math.log(total), pulls / total)
        log_unit, distribution = _normalise(logarithm(scores, 1) + self.log_mass)
        log_objective = log_unit
        if self.loss.name != "exponential":  # which is its own slope
            log_objective = _normalise(logarithm(scores, 0) + self.log_mass)[0]
        return View(log_objective, log_unit, distribution)

    def pulls(self, scores: FloatArray, log_unit: float) -> FloatArray:
        """Give mass · -φ' in units of exp(log_unit)."""
        if self.loss.logarithm is None:
            return -self.mass * self.loss.derivative(scores) / math.exp(log_unit)
        with np.errstate(over="ignore"):
            return np.exp(self.loss.logarithm(scores, 1) + self.log_mass - log_unit)

    def curvatures(self, scores: FloatArray, log_unit: float) -> FloatArray:
        """Give mass · φ'' in units of exp(log_unit)."""
        if self.loss.logarithm is None:
            # A little to the left: rows that have just come to where the loss is flat would bend
            # it again if they fell back, and Newton's method oscillates if it forgets them.
            return self.mass * self.loss.second_derivative(scores - 1e-7) / math.exp(log_unit)
        return np.exp(self.loss.logarithm(scores, 2) + self.log_mass - log_unit)

    def best_step(self, scores: FloatArray, view: View, change: FloatArray, most: float) -> float:
        """Minimise the objective over scores + step · change, for steps from 0 to ``most``."""

        def pull(step: float) -> float:
            return float(self.pulls(scores + step * change, view.log_unit) @ change)

        return first_root(pull, most)


def _normalise(powers: FloatArray) -> tuple[float, FloatArray]:
    """Give the logarithm of the sum of exp(powers), and what share each has of it."""
    largest = float(np.maximum.reduce(powers))  # a microsecond less than max(), every round
    parts = np.exp(powers - largest)
    total = float(np.add.reduce(parts))
    return largest + math.log(total), parts / total


def _log(value: float) -> float:
    if math.isnan(value):
        return math.inf
    return math.log(value) if value > 0.0 else -math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where a descent stands."""

    weights: FloatArray
    """Of columns."""
    scores: FloatArray
    """Of rows: votes @ weights."""
    view: View


@dataclass(slots=True, eq=False)
class Rounds:
    """What was done, round by round."""

    keep_distributions: bool
    chosen: list[int] = field(default_factory=list)
    signs: list[int] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    log_objectives: list[float] = field(default_factory=list)
    min_margins: list[float] = field(default_factory=list)
    distributions: list[FloatArray] = field(default_factory=list)

    def trace(self, start: float, stop_reason: str, distributions: FloatArray | None) -> Trace:
        """Make the trace; ``start`` is the logarithm of the objective before the first round."""
        edges, logs = np.array(self.edges), np.array([start, *self.log_objectives])
        with np.errstate(invalid="ignore"):
            normalisers = np.exp(np.diff(logs))
        return Trace(
            errors=(1.0 - edges) / 2.0,
            edges=edges,
            alphas=np.array(self.alphas),
            normalisers=normalisers,
            objective=np.exp(logs[1:]),
            min_margins=np.array(self.min_margins),
            stop_reason=stop_reason,
            distributions=distributions,
        )


class Descent:
    """A point that moves, and the record of its moves."""

    def __init__(
        self, votes: FloatArray, rows: Rows, *, signed: bool, tol: float, n_rounds: int
    ) -> None:
        self.votes = votes
        self.rows = rows
        self.signed = signed
        """Whether weights may be negative: columns count with their negatives."""
        self.tol = tol
        self.n_rounds = n_rounds
        scores = np.zeros(votes.shape[0])
        self.point = Point(np.zeros(votes.shape[1]), scores, rows.look(scores))
        self.edges = self.point.view.distribution @ votes
        self.start = self.point.view.log_objective
        self.rounds = Rounds((n_rounds + 1) * len(scores) <= _MOST_KEPT)
        if self.rounds.keep_distributions:
            self.rounds.distributions.append(self.point.view.distribution)

    @property
    def is_flat(self) -> bool:
        """Whether no row pulls any more."""
        return self.point.view.log_unit == -math.inf

    def best_column(self) -> int:
        """Give the column of the largest edge, of equals the first."""
        gains = np.abs(self.edges) if self.signed else self.edges
        return int((gains >= np.maximum.reduce(gains) - _TIE).argmax())

    def sign(self, column: int) -> int:
        """Tell whether the column counts as it is, or as its negative."""
        return -1 if self.signed and self.edges[column] < 0.0 else 1

    def edge(self, column: int) -> float:
        """Give the edge of the column, or of its negative if that is the better one."""
        return float(self.edges[column]) * self.sign(column)

    def move(self, column: int, point: Point) -> None:
        """Go to another point, and write down what that did to the column and the rows."""
        sign, done = self.sign(column), self.rounds
        done.chosen.append(column)
        done.signs.append(sign)
        done.edges.append(self.edge(column))
        done.alphas.append(sign * float(point.weights[column] - self.point.weights[column]))
        done.log_objectives.append(point.view.log_objective)
        done.min_margins.append(
            float(np.minimum.reduce(point.scores)) / total_weight(point.weights)
        )
        if done.keep_distributions:
            done.distributions.append(point.view.distribution)
        self.point = point
        self.edges = point.view.distribution @ self.votes

    def move_along(self, column: int, more: float, change: FloatArray) -> None:
        """Add to the weight of one column; ``change`` is what that adds to the scores."""
        weights = self.point.weights.copy()
        weights[column] += more
        scores = self.point.scores + change
        self.move(column, Point(weights, scores, self.rows.look(scores)))


def total_weight(weights: FloatArray) -> float:
    """Sum magnitudes: what margins are divided by; 1 where there is no weight.

    Examples
    --------
    >>> total_weight(np.array([1.0, -2.0])), total_weight(np.zeros(3))
    (3.0, 1.0)
    """
    return float(np.add.reduce(np.abs(weights))) or 1.0
