"""The rounds that all robust boosters by sums share."""

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from spinney.ensembles.robust.outcome import RobustBoost
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import LEAST_EDGE, Ask
from spinney.ensembles.weak.signed_rows import Heard, SignedRows
from spinney.progress import Progress
from spinney.theory.trace import Trace
from spinney.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """Where a booster is between two rounds."""

    margins: FloatArray
    """y F(x) of each row, not normalised."""
    time: float
    """Share of the clock that has passed; NaN without a clock."""
    n_rounds: int = 0
    """Rounds done."""


@dataclass(frozen=True, slots=True)
class Step:
    """F becomes ``decay`` F + ``size`` h, and the clock moves on."""

    size: float
    decay: float = 1.0
    time: float = math.nan
    """What the clock shows afterwards."""
    last: str | None = None
    """Why it is the last one, if it is."""


class Scheme(Protocol):
    """What makes a booster: whom it listens to, and how far it goes their way."""

    @property
    def start(self) -> float:
        """Time at the start: 0, or NaN without a clock."""

    def potentials(self, at: Position) -> FloatArray:
        """How much is lost on each row, were this the end."""

    def log_weights(self, at: Position) -> FloatArray:
        """Logarithm of each row's weight up to a constant, apart from its prior."""

    def ended(self, rows: SignedRows, at: Position) -> str | None:
        """Say why the booster has reached its goal; None before."""

    def step(self, rows: SignedRows, at: Position, heard: Heard) -> Step | str:
        """Choose the step along a hypothesis with an edge, or say why there is none."""


@dataclass(slots=True, eq=False)
class Ledger:
    """What happened, round by round."""

    rows: SignedRows
    potentials: list[float]
    times: list[float]
    keeps: bool
    members: list[Any] = field(default_factory=list)
    weights: FloatArray = field(default_factory=lambda: np.empty(0))
    edges: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    least_margins: list[float] = field(default_factory=list)
    distributions: list[FloatArray] = field(default_factory=list)

    def saw(self, distribution: FloatArray) -> None:
        """Note what a round is about to ask."""
        if self.keeps:
            self.distributions.append(distribution)

    def add(self, heard: Heard, step: Step, at: Position, potentials: FloatArray) -> None:
        """Note a round; ``at`` is where it led."""
        self.members.append(heard.member)
        self.weights = np.append(self.weights * step.decay, step.size)
        self.edges.append(heard.edge)
        self.steps.append(step.size)
        self.potentials.append(self.rows.mean(potentials))
        self.times.append(at.time)
        total = float(np.abs(self.weights).sum())
        self.least_margins.append(self.rows.least(at.margins) / total if total > 0.0 else 0.0)

    def close(self, reason: str) -> RobustBoost:
        """Make the result."""
        edges, potentials = np.array(self.edges), np.array(self.potentials)
        before, after = potentials[:-1], potentials[1:]
        trace = Trace(
            errors=(1.0 - edges) / 2.0,
            edges=edges,
            alphas=np.array(self.steps),
            normalisers=np.divide(after, before, out=np.zeros_like(after), where=before > 0.0),
            objective=after,
            min_margins=np.array(self.least_margins),
            stop_reason=reason,
            distributions=np.array(self.distributions) if self.keeps else None,
        )
        return RobustBoost(
            tuple(self.members), self.weights, trace, potentials, np.array(self.times)
        )


def boost_by(scheme: Scheme, ask: Ask, rows: SignedRows, settings: RobustSettings) -> RobustBoost:
    """Boost until the scheme is content, no learner has an edge, or the rounds are over."""
    at = Position(np.zeros(len(rows.signs)), scheme.start)
    started = rows.mean(scheme.potentials(at))
    ledger = Ledger(rows, [started], [at.time], settings.keep_distributions)
    with Progress(settings.n_rounds, "round") as progress:
        return _rounds(scheme, ask, at, ledger, progress)


def _rounds(
    scheme: Scheme, ask: Ask, at: Position, ledger: Ledger, progress: Progress
) -> RobustBoost:
    """Go from round to round, and say at the end why there is none left."""
    rows, n_rounds, reason = ledger.rows, progress.total, None
    while True:
        distribution = rows.distribution(scheme.log_weights(at))
        if distribution is None:
            return ledger.close("no row has weight left")
        ledger.saw(distribution)
        reason = reason or scheme.ended(rows, at)
        if reason is None and at.n_rounds == n_rounds:
            reason = f"all {n_rounds} rounds were done"
        if reason is not None:
            return ledger.close(reason)
        heard = rows.hear(ask, distribution)
        step = scheme.step(rows, at, heard) if heard.edge > LEAST_EDGE else "no learner has an edge"
        if isinstance(step, str):
            return ledger.close(step)
        margins = step.decay * at.margins + step.size * heard.agreement
        at, reason = Position(margins, step.time, at.n_rounds + 1), step.last
        ledger.add(heard, step, at, scheme.potentials(at))
        progress.show(at.n_rounds)
