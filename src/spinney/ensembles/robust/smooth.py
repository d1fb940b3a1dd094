"""MadaBoost and SmoothBoost: no row weighs much more than its share.

Both have convex potentials: wrong labels can lead them astray, only not by a few heavy rows.
"""

import math
from dataclasses import dataclass

import numpy as np

from spinney.ensembles.robust.rounds import Position, Step
from spinney.ensembles.weak.signed_rows import Heard, SignedRows
from spinney.losses.margin import MARGIN_LOSSES
from spinney.typing import FloatArray

_LARGEST_EDGE = 1.0 - 1e-10
_MADA = MARGIN_LOSSES["mada"]


@dataclass(frozen=True, slots=True)
class MadaBoost:
    """AdaBoost whose weights are cut at 1: D(i) ∝ min(1, exp(-y F)) (Domingo, Watanabe 2000).

    That is the slope of a potential which is exponential for right rows and linear for wrong
    ones.
    """

    start: float = math.nan

    def potentials(self, at: Position) -> FloatArray:
        """Give exp(-u) of right rows and 1 - u of wrong ones."""
        return _MADA.value(at.margins)

    def log_weights(self, at: Position) -> FloatArray:
        """Logarithm of min(1, exp(-u))."""
        return np.minimum(-at.margins, 0.0)

    def ended(self, rows: SignedRows, at: Position) -> str | None:  # noqa: ARG002
        """Go on as long as there are rounds."""
        return None

    def step(self, rows: SignedRows, at: Position, heard: Heard) -> Step:  # noqa: ARG002
        """Give AdaBoost's vote, ½ ln((1 + edge) / (1 - edge)), capped for perfect learners."""
        perfect = rows.least(heard.agreement) >= _LARGEST_EDGE
        return Step(
            math.atanh(min(heard.edge, _LARGEST_EDGE)),
            last="a learner makes no mistake" if perfect else None,
        )


@dataclass(frozen=True, slots=True)
class SmoothBoost:
    """Servedio's booster (2003): F is the plain mean of hypotheses.

    A row is weighed by how far the sum of its agreements runs ahead of θ a round, where θ is
    gamma / (2 + gamma). The rows weigh 1 on average at first; below κ all but a share κ of them
    have margin θ. Until then no row can have more than its share divided by κ. If every edge is at
    least 2 gamma that takes at most 2 / (κ gamma² √(1 - gamma)) rounds.
    """

    smoothness: float
    edge: float
    start: float = math.nan

    @property
    def goal(self) -> float:
        """θ, the margin it aims at."""
        return self.edge / (2.0 + self.edge)

    def potentials(self, at: Position) -> FloatArray:
        """Weights themselves: at least 1 for a row whose margin is below θ."""
        return np.asarray(np.exp(self.log_weights(at)))

    def log_weights(self, at: Position) -> FloatArray:
        """Give 0 for rows that lag, and falling values for those ahead."""
        ahead = at.n_rounds * (at.margins - self.goal)
        return np.maximum(ahead, 0.0) * (0.5 * math.log1p(-self.edge))

    def ended(self, rows: SignedRows, at: Position) -> str | None:
        """Stop once the rows weigh less than κ on average."""
        if rows.mean(self.potentials(at)) >= self.smoothness:
            return None
        return f"all but a share {self.smoothness:g} of the rows have margin {self.goal:.3g}"

    def step(self, rows: SignedRows, at: Position, heard: Heard) -> Step:  # noqa: ARG002
        """Take the hypothesis into the mean."""
        share = 1.0 / (at.n_rounds + 1)
        return Step(share, decay=1.0 - share)
