"""What a booster of margins returns, and the diary it keeps on the way."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.ensembles.margin.certificate import MarginCertificate
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.results import read_only
from spinney.theory.trace import TRACE_ARRAYS, Trace
from spinney.typing import FloatArray

PERFECT = "one hypothesis is right about every row"
ALL_ROUNDS = "all rounds are done"
HOPELESS = "; no weights give a positive margin: a larger nu or a stronger learner would help"
"""What to add if no edge is positive under some distribution."""


@dataclass(frozen=True, slots=True, eq=False)
class MarginBoost:
    """A weighted vote with its history and its proof."""

    members: list[Any]
    """What the learner gave, in the order of the weights; there is at least one."""
    weights: FloatArray
    """Not negative. Of votes added round by round the natural alphas; of programs they sum to 1
    and none is 0. A member that stands alone has weight 1."""
    trace: Trace
    """What each round did. Of programs: ``alphas`` are the final weights, at the round in which
    the hypothesis came first, ``normalisers`` are not a number, and ``objective`` is the value of
    the round's program."""
    certificate: MarginCertificate
    stop_reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", read_only(self.weights))


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """The numbers of one round, as the trace has them."""

    edge: float
    alpha: float
    normaliser: float
    objective: float
    min_margin: float


class Diary:
    """What happened so far."""

    def __init__(self, *, keep_distributions: bool) -> None:
        self._entries: list[Entry] = []
        self._distributions: list[FloatArray] | None = [] if keep_distributions else None

    def __len__(self) -> int:
        return len(self._entries)

    def write(self, entry: Entry, distribution: FloatArray) -> None:
        """Add a round and the distribution it saw."""
        self._entries.append(entry)
        if self._distributions is not None:
            self._distributions.append(distribution)

    def trace(
        self, reason: str, distribution: FloatArray, alphas: FloatArray | None = None
    ) -> Trace:
        """Close the diary; the distribution is what another round would have seen."""
        rounds = [(0.5 * (1.0 - e.edge), e.edge, e.alpha, *_rest(e)) for e in self._entries]
        columns = dict(zip(TRACE_ARRAYS, np.array(rounds).T.copy(), strict=True))
        if alphas is not None:
            columns["alphas"] = alphas
        kept = self._distributions
        history = None if kept is None else np.array([*kept, distribution])
        return Trace(**columns, stop_reason=reason, distributions=history)


def _rest(entry: Entry) -> tuple[float, float, float]:
    return entry.normaliser, entry.objective, entry.min_margin


def alone(
    hypothesis: Hypothesis,
    distribution: FloatArray,
    diary: Diary,
    caps: FloatArray,
    promise: float | None,
) -> MarginBoost:
    """Return a hypothesis that is right about every row; earlier ones count no more."""
    diary.write(Entry(1.0, 1.0, math.nan, math.nan, 1.0), distribution)
    alphas = np.zeros(len(diary))
    alphas[-1] = 1.0
    trace = diary.trace(PERFECT, distribution, alphas)
    proof = MarginCertificate(1.0, 1.0, np.ones(1), distribution, caps, len(diary), promise)
    return MarginBoost([hypothesis.member], np.ones(1), trace, proof, PERFECT)
