"""Dropout of rounds: a new tree is fitted to what some of the earlier ones leave unsaid.

Rashmi and Gilad-Bachrach 2015 (DART). Weights of rounds change after they were learnt, so scores of
all rows have to follow. Values of trees lie on a grid and weights on another, both of powers of
two: as long as sums stay below 2**52 steps, adding and taking away is exact in any order, and costs
no more than the trees that were left out. Where sums are larger they are made anew, tree by tree.
On either road scores are, to the last bit, those of the model.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from spinney.randomness import RowBits, Stream, random_bits
from spinney.typing import AnyArray, FloatArray

WEIGHT_STEP = 2.0**-20
_VALUE_BITS = 22
_MOST_STEPS = 2.0**52


@dataclass(frozen=True, slots=True)
class Dropout:
    """How many of the earlier rounds each round leaves out."""

    share: float = 0.0
    """Probability of each earlier round."""
    skip: float = 0.0
    """Probability that a round leaves none out."""
    most: int | None = None
    """Rounds left out at most."""
    learning_rate: float = 1.0

    def draw(self, number: int, seed: int) -> AnyArray:
        """Give the earlier rounds that a round leaves out, increasing.

        Examples
        --------
        >>> Dropout(0.25).draw(12, 1).tolist(), Dropout(0.25, most=1).draw(12, 1).tolist()
        ([1, 4, 6, 8, 9], [8])
        """
        nothing = np.empty(0, np.int64)
        if not self.share or not number:
            return nothing
        own = random_bits(seed, Stream.DROPPED_ROUNDS, number)
        if random_bits(own, Stream.DROPPED_ROUNDS, number) < self.skip * 2.0**64:
            return nothing
        bits = RowBits(number)(own, Stream.DROPPED_ROUNDS, range(number))
        drawn = np.flatnonzero(bits < np.uint64(min(round(self.share * 2.0**64), 2**64 - 1)))
        if self.most is not None and len(drawn) > self.most:
            drawn = np.sort(drawn[np.argsort(bits[drawn], kind="stable")[: self.most]])
        return drawn

    def weights_after(self, weights: FloatArray, dropped: AnyArray) -> FloatArray:
        """Give the weights of all rounds once there is one more, which left ``dropped`` out.

        Its values are a share r, the learning rate, of a step that makes up for the k rounds that
        were left out, too. So they keep k / (k + r) of their weights, and what they lose the new
        one says, of weight 1 / (k + r). On the grid of weights, and not below a step of it.

        Examples
        --------
        >>> Dropout().weights_after(np.ones(3), np.array([1])).tolist()
        [1.0, 0.5, 1.0, 0.5]
        """
        k = len(dropped)
        if not k:
            return np.append(weights, 1.0)
        after = np.append(weights, 1.0 / (k + self.learning_rate))
        after[dropped] *= k / (k + self.learning_rate)
        changed = np.append(dropped, len(weights))
        steps = np.rint(after[changed] / WEIGHT_STEP)
        after[changed] = np.maximum(steps, 1.0) * WEIGHT_STEP
        return after

    def weights_before(self, number: int, seed: int) -> FloatArray:
        """Give the weights that the rounds before a round had when it began."""
        weights = np.empty(0)
        for earlier in range(number):
            weights = self.weights_after(weights, self.draw(earlier, seed))
        return weights


@dataclass(slots=True, eq=False)
class ScoreGrid:
    """The grid that values of trees lie on, and how far sums of them reach."""

    step: float
    """A power of two."""
    largest: list[float] = field(default_factory=list)
    """Of each tree the largest magnitude of a value."""
    is_exact: bool = True
    """Whether the constant, all values and all weights are on their grids."""

    @classmethod
    def of_scale(cls, scale: float) -> "ScoreGrid":
        """Make a grid for steps that are seldom larger than ``scale``."""
        return cls(math.ldexp(1.0, math.frexp(scale or 1.0)[1] - _VALUE_BITS))

    def rounded_baseline(self, baseline: FloatArray) -> FloatArray:
        """Move the constant to the nearest point of the grid of sums."""
        unit = self.step * WEIGHT_STEP
        return np.asarray(np.rint(baseline / unit) * unit)

    def rounded(self, values: FloatArray) -> FloatArray:
        """Move values towards zero onto the grid, which keeps their order and every limit."""
        return np.asarray(np.trunc(values / self.step) * self.step)

    def count_tree(self, values: FloatArray) -> None:
        """Remember how far a tree reaches."""
        self.largest.append(float(np.abs(values).max()))

    def forget_trees(self, n_trees: int) -> None:
        """Forget all trees but the first."""
        del self.largest[n_trees:]

    def adopt(self, arrays: Mapping[str, AnyArray]) -> None:
        """Read trees of a model, which may have been learnt without a grid."""
        steps = {
            "baseline": self.step * WEIGHT_STEP,
            "values": self.step,
            "tree_weight": WEIGHT_STEP,
        }
        self.is_exact = all(bool((arrays[name] % s == 0.0).all()) for name, s in steps.items())
        starts = arrays["tree_start"][:-1]
        if len(starts):
            of_nodes = np.abs(arrays["values"]).max(axis=1)
            self.largest = np.maximum.reduceat(of_nodes, starts).tolist()

    def holds(self, baseline: FloatArray, tree_weights: FloatArray) -> bool:
        """Tell whether no sum of some trees, times their weights, is ever rounded."""
        reach = float(np.abs(baseline).max()) + math.fsum(np.abs(tree_weights) * self.largest)
        return self.is_exact and reach < _MOST_STEPS * self.step * WEIGHT_STEP
