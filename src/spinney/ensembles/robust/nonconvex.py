"""AnyBoost (Mason, Baxter, Bartlett, Frean 2000) down potentials that are not convex.

Such a potential flattens for rows that are very wrong, so that their weight vanishes. The price is
that descent may end in a local optimum. The potentials are margin losses (``spinney.losses``):
savage, sigmoid, tangent and ramp.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from spinney.ensembles.robust.rounds import Position, Step
from spinney.ensembles.weak.hypothesis import LEAST_EDGE
from spinney.ensembles.weak.signed_rows import Heard, SignedRows
from spinney.losses.margin import MarginLoss
from spinney.typing import FloatArray

_GRID = 48
_ROUNDING = 1e-15
_GAIN = 1e-12
"""A step that gains a smaller part of the cost gains nothing but rounding."""


@dataclass(frozen=True, slots=True)
class AnyBoost:
    """Descend: rows weigh as much as their cost falls, steps come from a line search.

    ``in_hull`` replaces F by (1 - a) F + a h, so that F stays a weighted mean of its members (and
    of 0), as DOOM II wants. Potentials that weigh u and -u the same (sigmoid, ramp) easily stay
    with the first learner: after one step all rows weigh the same again.
    """

    potential: MarginLoss
    largest_step: float
    in_hull: bool = False
    start: float = math.nan

    def potentials(self, at: Position) -> FloatArray:
        """Cost of each row."""
        return self.potential.value(at.margins)

    def log_weights(self, at: Position) -> FloatArray:
        """Logarithm of how fast the cost falls; -inf where it does not."""
        if self.potential.logarithm is not None:  # margins of any size keep their proportions
            return self.potential.logarithm(at.margins, 1)
        falling = np.maximum(-self.potential.derivative(at.margins), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(falling))

    def ended(self, rows: SignedRows, at: Position) -> str | None:  # noqa: ARG002
        """Go on as long as the cost falls."""
        return None

    def step(self, rows: SignedRows, at: Position, heard: Heard) -> Step | str:
        """Minimise the cost along the hypothesis."""
        away = heard.agreement - at.margins if self.in_hull else heard.agreement
        line = _Line(self.potential, rows, at.margins, away)
        if line.slope(0.0) >= -LEAST_EDGE * float(np.abs(away).max()):
            return "no learner points downhill"
        size = line.lowest(min(self.largest_step, 1.0) if self.in_hull else self.largest_step)
        if size == 0.0:
            return "no step along the learner's answers lowers the cost"
        return Step(size, decay=1.0 - size if self.in_hull else 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The cost of the rows along one direction."""

    potential: MarginLoss
    rows: SignedRows
    margins: FloatArray
    away: FloatArray

    def cost(self, size: float) -> float:
        """Mean cost after a step."""
        return self.rows.mean(self.potential.value(self.margins + size * self.away))

    def slope(self, size: float) -> float:
        """How fast the cost rises there."""
        slopes = self.potential.derivative(self.margins + size * self.away)
        return self.rows.mean(slopes * self.away)

    def lowest(self, limit: float) -> float:
        """Find where the cost is lowest in [0, limit]; 0 if it is nowhere lower than at 0.

        There may be several valleys: the deepest on a grid is taken, and its bottom found. The grid
        is geometric, since steps may be anything from tiny to the limit.
        """
        sizes = [0.0, *np.geomspace(1e-6 * limit, limit, _GRID).tolist()]
        costs = [self.cost(size) for size in sizes]
        best = int(np.argmin(costs))
        size = self._bottom(sizes[max(best - 1, 0)], sizes[min(best + 1, _GRID)])
        if self.cost(size) > costs[best] + _ROUNDING:
            size = sizes[best]
        return size if costs[0] - self.cost(size) > _GAIN * costs[0] else 0.0

    def _bottom(self, low: float, high: float) -> float:
        """Find a minimum: exactly where the slope changes its sign, else by values."""
        if self.slope(low) < 0.0 < self.slope(high):
            return float(brentq(self.slope, low, high, xtol=1e-14))
        found = minimize_scalar(self.cost, bounds=(low, high), method="bounded")
        return float(found.x)
