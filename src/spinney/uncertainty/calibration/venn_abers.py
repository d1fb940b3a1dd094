"""Venn-Abers predictors: two isotonic fits per new row, one for either label it may have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import read_only
from spinney.typing import AnyArray, FloatArray
from spinney.uncertainty.checks import read_array, read_binary, read_row_weights


@dataclass(frozen=True, slots=True, eq=False)
class VennAbers:
    """Calibration scores in blocks, from either end: all that a new score asks for.

    A new score is added to the calibration scores with label 0 and with label 1, and isotonic
    regression fitted anew: its value there is p0 and p1. One of them is perfectly calibrated,
    whatever the scores. Here the fits of all scores before a place and of all behind it are known,
    so only the blocks next to the new score are joined.

    Examples
    --------
    >>> abers = VennAbers.of([1.0, 2.0, 3.0], [0, 0, 1])
    >>> low, high = abers.bounds([2.5])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0], [1.0])
    >>> abers([2.5]).tolist()
    [0.5]
    """

    scores: FloatArray
    """Different calibration scores, rising."""
    sums: FloatArray
    """Weight of the rows of class 1 at each score."""
    weights: FloatArray
    """Weight of the rows at each score."""
    before: FloatArray
    """(k + 1, 3): start, sum and weight of the last block of the first j scores' fit."""
    behind: FloatArray
    """(k + 1, 3): end, sum and weight of the first block of the fit from score j on."""

    @classmethod
    def of(cls, scores: Any, y: Any, *, sample_weight: Any = None) -> "VennAbers":
        """Take calibration scores.

        Parameters
        ----------
        scores : n numbers
            Of rows that were not learnt from; larger for class 1. Only their order counts.
        y : n numbers, 0 or 1
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; a new row counts once.
        """
        values = read_array("scores", scores)
        hits = read_binary(y, len(values))
        given = read_row_weights(sample_weight, len(values))
        each = np.ones(len(values)) if given is None else given
        values, hits, each = values[each > 0], hits[each > 0], each[each > 0]
        distinct, places = np.unique(values, return_inverse=True)
        sums: FloatArray = np.bincount(places, each * hits, len(distinct)).astype(np.float64)
        weights: FloatArray = np.bincount(places, each, len(distinct)).astype(np.float64)
        before = _last_blocks(sums, weights)
        turned = _last_blocks((weights - sums)[::-1], weights[::-1])[::-1].copy()
        turned[:, 0] = len(distinct) - turned[:, 0]
        turned[:, 1] = turned[:, 2] - turned[:, 1]
        parts = (distinct, sums, weights, before, turned)
        return cls(*map(read_only, parts))

    def bounds(self, scores: Any) -> tuple[FloatArray, FloatArray]:
        """Give p0 and p1 of new scores: the probability of class 1 is between them."""
        values = read_array("scores", scores)
        first = np.searchsorted(self.scores, values, side="left")
        next_one = np.searchsorted(self.scores, values, side="right")
        places = first * 2 + (next_one > first)  # equal to a score, or between two of them
        different, back = np.unique(places, return_inverse=True)
        lower, upper = (self._fitted(different, label)[back] for label in (0.0, 1.0))
        return lower, upper

    def __call__(self, scores: Any) -> FloatArray:
        """Give one probability per score: p1 / (1 - p0 + p1), of the least regret in log loss."""
        lower, upper = self.bounds(scores)
        merged: FloatArray = upper / (1.0 - lower + upper)
        return merged

    def _fitted(self, places: AnyArray, label: float) -> FloatArray:
        """Join the new row with blocks to the left and right as long as these are out of order."""
        left, is_tie = places // 2, places % 2 == 1
        right = left + is_tie
        at = np.minimum(left, len(self.scores) - 1)
        hits = np.where(is_tie, self.sums[at], 0.0) + label
        weight = np.where(is_tie, self.weights[at], 0.0) + 1.0
        moved = True
        while moved:
            moved = False
            for neighbours, edge, sign in ((self.before, left, 1.0), (self.behind, right, -1.0)):
                to, their_hits, their_weight = neighbours[edge].T
                out_of_order = sign * (their_hits * weight - hits * their_weight) >= 0
                joins = (their_weight > 0) & out_of_order
                if joins.any():
                    moved = True
                    hits = np.where(joins, hits + their_hits, hits)
                    weight = np.where(joins, weight + their_weight, weight)
                    edge[joins] = to[joins].astype(np.int64)
        fitted: FloatArray = hits / weight
        return fitted


def merge_folds(bounds: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Join p0 and p1 of several folds by geometric means: the cross Venn-Abers predictor.

    References
    ----------
    Vovk, Petej & Fedorova (2015), Large-scale probabilistic predictors with and without guarantees
    of validity, NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> merge_folds([(np.array([0.2]), np.array([0.4]))]).round(6).tolist()
    [0.333333]
    """
    if not bounds:
        raise InvalidInput("No bounds to join: expected p0 and p1 of one fold at least.")
    with np.errstate(divide="ignore"):
        yes = np.mean([np.log(upper) for _, upper in bounds], axis=0)
        no = np.mean([np.log1p(-lower) for lower, _ in bounds], axis=0)
    hits, misses = np.exp(yes), np.exp(no)
    total = hits + misses
    merged: FloatArray = np.where(total > 0, hits / np.where(total > 0, total, 1.0), 0.5)
    return merged


def _last_blocks(sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Fit ever more scores from the left; of each fit give start, sum and weight of the last block.

    Row j is the fit of the first j scores; row 0 has no block. The block before is that of the
    fit that ends where this one starts: each fit is a chain of blocks.
    """
    blocks = np.zeros((len(sums) + 1, 3))
    for place in range(len(sums)):
        start, total, weight = place, float(sums[place]), float(weights[place])
        while start > 0:
            earlier, their_total, their_weight = blocks[start]
            if their_total * weight < total * their_weight:
                break
            start, total, weight = int(earlier), total + their_total, weight + their_weight
        blocks[place + 1] = start, total, weight
    return blocks
