"""Bounds of the median that a quantile forest predicts.

The median of a row is at most c where the training targets up to c have half of its weight. That
share is a mean over trees of shares of leaves: a forest of its own, whose extremes can be searched.
"""

import math
from dataclasses import replace

import numpy as np

from spinney.explain.verification.bounds import Extreme, Scale, find_extreme, outward
from spinney.explain.verification.cells import CellSpace
from spinney.explain.verification.claims import Claim
from spinney.explain.verification.rows import predictions_at, scores_at
from spinney.model import TreeForest
from spinney.model.forest import Output
from spinney.model.leaf_rows import LeafRowForest
from spinney.typing import AnyArray, FloatArray

NAME = "the median"
_HALF = 0.5 * (1.0 - 2.0**-40)
"""The share that counts as half, as ``native/model/leaf_rows.cpp`` has it."""


class MedianBounds:
    """Bounds of the medians of the rows of a space."""

    def __init__(self, space: CellSpace, model: LeafRowForest) -> None:
        self._space, self._model = space, model
        self.targets: FloatArray = np.unique(model.arrays["target"])
        n_terms = model.n_rows + 2 * len(model) + 16
        # Sums over the rows of a leaf, over trees and over all rows, ours and prediction's.
        self._margin = 3.0 * n_terms * float(np.finfo(float).eps)

    def median_of(self, found: Extreme) -> float:
        """Predict the row of an extreme."""
        return predictions_at(self._model, [found.row], 0)[0]

    def mean_of(self, found: Extreme) -> float:
        """Give the mean of the row of an extreme."""
        return float(scores_at(self._model, [found.row], 0)[0])

    def holds(self, side: int, bound: float, budget: int) -> tuple[bool, Extreme]:
        """Tell whether it is proved that no median is above (``side=1``) or below a bound.

        And give the row that comes nearest to refuting it.
        """
        counted = self._model.arrays["target"]
        counted = counted <= bound if side == 1 else counted < bound
        space = replace(self._space, forest=self._shares(counted))
        half = len(self._model) * (_HALF + side * self._margin)
        found = find_extreme(Scale(space, 0, NAME), -side, budget, bound=half)
        is_beyond = found.known >= half if side == 1 else found.known <= half
        return is_beyond, found

    def _shares(self, counted: AnyArray) -> TreeForest:
        """Give trees that add up the shares of some training rows in the leaves."""
        trees, arrays = self._model.trees, self._model.arrays
        worth = arrays["times"] * arrays["weight"][arrays["row"]]
        is_leaf = trees.arrays["right"] < 0
        starts = arrays["entry_start"][:-1][is_leaf]
        total = np.add.reduceat(worth, starts)
        part = np.add.reduceat(np.where(counted[arrays["row"]], worth, 0.0), starts)
        values = np.zeros((len(is_leaf), 1))
        values[is_leaf, 0] = part / total
        return TreeForest(
            trees.schema,
            trees.target,
            {**trees.arrays, "values": values},
            output=Output(),
            policy=trees.policy,
        )


def check_median(about: MedianBounds, side: int, bound: float, budget: int) -> Claim:
    """Prove or refute that no median is above (``side=1``) or below (``side=-1``) a bound."""
    word, where = ("at most", "above") if side == 1 else ("at least", "below")
    statement = f"{NAME} is {word} {bound:g}"
    is_proved, found = about.holds(side, bound, budget)
    searched = f"{found.n_boxes} boxes searched"
    median = about.median_of(found)
    if side * median > side * bound:
        return Claim(
            statement=statement,
            verdict="refuted",
            evidence=f"a row has {median:.6g}; see counter_example",
            counter_example=(found.row,),
            predictions=(median,),
            raw_scores=(about.mean_of(found),),
        )
    if is_proved:
        evidence = f"of no row is half of the weight {where} it; {searched}"
        return Claim(statement=statement, verdict="proved", evidence=evidence)
    evidence = f"no row found with half of the weight {where} it; {searched}"
    return Claim(statement=statement, verdict="undecided", evidence=evidence)


def describe_medians(about: MedianBounds, budget: int) -> Claim:
    """State the range that all medians are proved to lie in, as narrow as the budget allows."""
    share = max(1, budget // (2 * math.ceil(math.log2(len(about.targets) + 1)) + 2))
    ends, attained, n_boxes = [], [], 0
    for side in (-1, 1):
        ordered = about.targets if side == 1 else about.targets[::-1]
        first, last, seen = 0, len(ordered) - 1, []
        while first < last:  # the last is a bound of all
            middle = (first + last) // 2
            is_proved, found = about.holds(side, float(ordered[middle]), share)
            first, last = (first, middle) if is_proved else (middle + 1, last)
            n_boxes += found.n_boxes
            seen.append(about.median_of(found))
        ends.append(float(ordered[last]))
        attained.append(side * max((side * value for value in seen), default=side * ends[-1]))
    evidence = "exact: rows attain both ends"
    if attained != ends:
        evidence = f"rows attain {attained[0]:.6g} and {attained[1]:.6g}"
    return Claim(
        statement=f"{NAME} is from {outward(ends[0], -1)} to {outward(ends[1], 1)}",
        verdict="proved",
        evidence=f"{evidence}; {n_boxes} boxes searched",
        bounds=(ends[0], ends[1]),
    )
