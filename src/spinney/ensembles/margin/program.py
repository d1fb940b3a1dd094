"""What boosters that weigh all their hypotheses anew in each round have in common."""

import abc
from dataclasses import dataclass

import numpy as np

from spinney.ensembles.margin.pool import Pool
from spinney.ensembles.weak.signed_rows import sum_product
from spinney.typing import FloatArray

REPEATS = "the weak learner only repeats hypotheses that are in use"


class LeastEdge:
    """The distribution with the least highest edge, or the least sum of that and an extra."""

    def __init__(self) -> None:
        self.value = np.inf
        self.distribution: FloatArray = np.empty(0)
        self._extra = 0.0

    def see(
        self, votes: FloatArray, distribution: FloatArray, highest: float, extra: float = 0.0
    ) -> None:
        """Learn of new votes and of a distribution under which no edge is above the highest.

        The votes may have a higher edge under the distribution that was the best so far: learners
        do not always give the hypothesis of the highest edge.
        """
        if len(self.distribution):
            self.value = max(self.value, sum_product(self.distribution, votes) + self._extra)
        if highest + extra < self.value:
            self.value, self.distribution, self._extra = highest + extra, distribution, extra


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What is seen when the learner has answered."""

    votes: FloatArray
    """What it answered."""
    distribution: FloatArray
    """What it was asked about."""
    highest: float
    """The highest edge under it of all hypotheses known, with the new one."""
    least: float
    """The least such edge of all distributions so far."""
    is_repeated: bool
    """Whether the new one is an old one."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What a round decided."""

    distribution: FloatArray
    """What to ask about next."""
    weights: FloatArray
    """Of the hypotheses so far."""
    margins: FloatArray
    """Of the rows, with these weights."""
    objective: float
    """The value of the program of the round."""
    end: str = ""
    """Why this was the last one; nothing: it was not."""


class Program(abc.ABC):
    """One way to find the next distribution and the weights of all hypotheses."""

    def __init__(self, caps: FloatArray, promise: float) -> None:
        self.caps = caps
        self.promise = promise

    @abc.abstractmethod
    def verdict(self, look: Look) -> str:
        """Say why to stop before the new hypothesis is used; nothing: go on."""

    @abc.abstractmethod
    def advance(self, pool: Pool, distribution: FloatArray) -> Step:
        """Solve the program of the hypotheses in the pool, after asking about a distribution."""

    @abc.abstractmethod
    def final_weights(self, pool: Pool) -> FloatArray:
        """Give the weights of the answer."""
