"""BrownBoost (Freund 2001): a clock runs down, and rows too far behind are given up.

In every round the potential of the rows stays as it is: whatever a hypothesis gains is paid out in
time. When the time is up the training error is at most the target. If no learner has an edge
before, there is time left and the target was not reached.
"""

from dataclasses import dataclass

from scipy.optimize import brentq

from spinney.ensembles.robust.potentials import BrownPotential
from spinney.ensembles.robust.rounds import Position, Step
from spinney.ensembles.weak.signed_rows import Heard, SignedRows, sum_product
from spinney.typing import FloatArray

_EXACT = 1e-14
_TIME_UP = 1.0 - 1e-12
_USED_UP = 1.0 + 1e-6
"""A step leaves the least edge, but for rounding: the same hypothesis must not come again."""


@dataclass(frozen=True, slots=True)
class BrownBoost:
    """The scheme of BrownBoost; times are shares of c, all of the clock."""

    potential: BrownPotential
    least_edge: float
    start: float = 0.0

    def _ahead(self, at: Position) -> FloatArray:
        return at.margins + (1.0 - at.time) * self.potential.total_time

    def potentials(self, at: Position) -> FloatArray:
        """Give 1 - erf((r + s) / √c)."""
        return self.potential.values(self._ahead(at))

    def log_weights(self, at: Position) -> FloatArray:
        """Give -(r + s)² / c."""
        return self.potential.log_weights(self._ahead(at))

    def ended(self, rows: SignedRows, at: Position) -> str | None:  # noqa: ARG002
        """Stop when the time is up."""
        return "the time is up" if at.time >= _TIME_UP else None

    def step(self, rows: SignedRows, at: Position, heard: Heard) -> Step | str:
        """Go along the hypothesis until its edge is used up or the time is."""
        if heard.edge <= self.least_edge * _USED_UP:
            return f"no learner has an edge of {self.least_edge:g}"
        left = (1.0 - at.time) * self.potential.total_time
        road = _Road(self, rows, self._ahead(at), heard.agreement)
        size = road.first_stop(left)
        spent = min(road.time_for(size), left)
        return Step(size, time=1.0 - (left - spent) / self.potential.total_time)


@dataclass(frozen=True, slots=True, eq=False)
class _Road:
    """Steps along one hypothesis, each with the time that keeps the potential as it is."""

    scheme: BrownBoost
    rows: SignedRows
    ahead: FloatArray
    """r + s before the step."""
    agreement: FloatArray

    def time_for(self, size: float) -> float:
        """Time that a step of this size buys; between -size and size, as all |b| <= 1."""
        values = self.scheme.potential.values
        kept = self.rows.mean(values(self.ahead))

        def surplus(time: float) -> float:
            return self.rows.mean(values(self.ahead + size * self.agreement - time)) - kept

        low, high = -size, size
        if surplus(high) <= 0.0:  # all agree, but for rounding
            return high
        return low if surplus(low) >= 0.0 else float(brentq(surplus, low, high, xtol=_EXACT))

    def edge_left(self, size: float) -> float:
        """Edge of the hypothesis after the step, above the least one that counts."""
        moved = self.ahead + size * self.agreement - self.time_for(size)
        after = self.rows.distribution(self.scheme.potential.log_weights(moved))
        return (
            -1.0 if after is None else sum_product(after, self.agreement) - self.scheme.least_edge
        )

    def first_stop(self, left: float) -> float:
        """Size at which the edge or the time is used up, whichever comes first.

        Time grows with the size at the rate of the edge, so one of the two happens before
        size = left / least_edge.
        """
        low, high = 0.0, left
        while self.edge_left(high) > 0.0 and self.time_for(high) < left:
            low, high = high, 2.0 * high
        if self.edge_left(high) < 0.0:
            high = float(brentq(self.edge_left, low, high, xtol=_EXACT))
        if self.time_for(high) > left:
            high = float(brentq(lambda size: self.time_for(size) - left, low, high, xtol=_EXACT))
        return high
