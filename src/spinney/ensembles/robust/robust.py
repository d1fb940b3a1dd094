"""RobustBoost (Freund 2009): BrownBoost with margins that fade, a clock from 0 to 1."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from spinney.ensembles.robust.potentials import RobustPotential
from spinney.ensembles.robust.rounds import Position, Step
from spinney.ensembles.weak.signed_rows import Heard, SignedRows, sum_product
from spinney.typing import FloatArray

_EXACT_TIME = 1e-14
_EXACT_SIZE = 1e-11
"""In widths; less exact than time, as the potential is flat where the edge is used up."""
_KEPT = 1e-10
"""A potential that differs by less was kept."""
_FLAT = 6.0
"""Widths from the centre at which a potential no longer moves: erfc(6) is 2e-17."""


@dataclass(frozen=True, slots=True)
class RobustBoosting:
    """The scheme of RobustBoost: F fades by exp(-dt) while the clock moves by dt."""

    potential: RobustPotential
    least_edge: float
    start: float = 0.0

    def potentials(self, at: Position) -> FloatArray:
        """Give 1 - Φ((m - μ) / sigma)."""
        return self.potential.values(at.margins, at.time)

    def log_weights(self, at: Position) -> FloatArray:
        """Give -(m - μ)² / sigma²."""
        return self.potential.log_weights(at.margins, at.time)

    def ended(self, rows: SignedRows, at: Position) -> str | None:  # noqa: ARG002
        """Stop when the clock has reached 1."""
        return "the clock has reached 1" if at.time >= 1.0 else None

    def step(self, rows: SignedRows, at: Position, heard: Heard) -> Step | str:
        """Find the step that uses the edge up and the time that keeps the potential.

        For each dt there is a size after which the hypothesis has no edge; of those pairs the one
        is taken whose potential is that of before. If the potential is not above it even at the
        end of the clock, the clock ends.
        """
        if heard.edge < self.least_edge:
            return f"no learner has an edge of {self.least_edge:g}"
        counted = rows.prior > 0.0
        road = _Road(
            self.potential,
            rows.prior[counted],
            at.margins[counted],
            heard.agreement[counted],
            at.time,
        )
        left = 1.0 - at.time
        if road.excess(left) <= 0.0:
            return Step(road.size_for(left), decay=math.exp(-left), time=1.0)
        if road.excess(0.0) >= 0.0:
            return "the clock stands still: no step pays for any time"
        spent = road.last_time(left)
        return Step(road.kept_size(spent), decay=math.exp(-spent), time=at.time + spent)


@dataclass(frozen=True, slots=True, eq=False)
class _Road:
    """Steps along one hypothesis; only of rows that count."""

    potential: RobustPotential
    prior: FloatArray
    margins: FloatArray
    agreement: FloatArray
    time: float

    def excess(self, spent: float) -> float:
        """Mean potential after the step that belongs to ``spent``, minus that of before."""
        return self._excess(self.size_for(spent), spent)

    def size_for(self, spent: float) -> float:
        """Least size of a step after which the hypothesis has no edge, ``spent`` later.

        Steps to it are at most half a width at first, the scale on which potentials bend, and
        then a quarter of the way: few valleys are narrower. One that lies between two steps shows
        by a potential that is higher after it.
        """
        if self._edge(0.0, spent) <= 0.0:
            return 0.0
        width = self.potential.width(self.time + spent)
        away = self._moved(0.0, spent) - self.potential.centre(self.time + spent)
        farthest = float(np.abs(away).max()) + _FLAT * width
        low, high, reached = 0.0, min(width / 8.0, farthest), self._excess(0.0, spent)
        while self._edge(high, spent) > 0.0:
            before, reached = reached, self._excess(high, spent)
            if reached > before + _KEPT:
                return self._valley(low, high, spent)
            if high >= farthest:  # right rows are nearer for ever: nothing moves beyond this
                return farthest
            onwards = min(high, max(0.5 * width, 0.25 * high))
            low, high = high, min(high + onwards, farthest)
        return float(brentq(self._edge, low, high, args=(spent,), xtol=_EXACT_SIZE * width))

    def _valley(self, low: float, high: float, spent: float) -> float:
        """Find the bottom of a valley between two sizes, of which the second lies higher."""
        found = minimize_scalar(
            self._excess,
            bounds=(low, high),
            args=(spent,),
            method="bounded",
            options={"xatol": _EXACT_SIZE},
        )
        return float(found.x)

    def last_time(self, left: float) -> float:
        """Find the time at which the excess rises above 0; a moment earlier if it jumps there."""
        spent = float(brentq(self.excess, 0.0, left, xtol=_EXACT_TIME))
        back = _EXACT_TIME
        while self.excess(spent) > _KEPT and back < spent:
            spent, back = spent - back, 2.0 * back
        return spent

    def kept_size(self, spent: float) -> float:
        """Size that keeps the potential: ``size_for``, unless the excess jumps over 0.

        It jumps where the size does, because one of several places without an edge has vanished.
        The step then ends early, and the rest of the edge is left for the next round.
        """
        size = self.size_for(spent)
        if self._excess(size, spent) >= -_KEPT or self._excess(0.0, spent) <= 0.0:
            return size
        return float(brentq(self._excess, 0.0, size, args=(spent,), xtol=_EXACT_SIZE))

    def _excess(self, size: float, spent: float) -> float:
        before = self.potential.values(self.margins, self.time)
        after = self.potential.values(self._moved(size, spent), self.time + spent)
        return sum_product(self.prior, after - before)

    def _moved(self, size: float, spent: float) -> FloatArray:
        return self.margins * math.exp(-spent) + size * self.agreement

    def _edge(self, size: float, spent: float) -> float:
        """Edge after a step; scaled by the largest weight, as all may be tiny."""
        log_weights = self.potential.log_weights(self._moved(size, spent), self.time + spent)
        weights = self.prior * np.exp(log_weights - log_weights.max())
        return sum_product(weights, self.agreement) / float(weights.sum())
