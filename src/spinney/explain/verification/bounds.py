"""The largest and the smallest prediction over all rows, and bounds between them."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from spinney._native import _ext
from spinney.explain.verification.asking import MAY_NOT_EXIST
from spinney.explain.verification.cells import CellSpace
from spinney.explain.verification.claims import Claim
from spinney.explain.verification.differences import run
from spinney.explain.verification.rows import Row, better_rows, predictions_at, row_of, scores_at
from spinney.model.derived import DerivedForest
from spinney.model.leaf_rows import LeafRowForest
from spinney.model.links import BINARY_LINKS, apply_link

_LINK_ERROR = 16 * float(np.finfo(float).eps)
"""Relative error of ``exp`` and ``expit`` that proofs allow for; theirs is a quarter of it."""
_LEAST = 1e-300
"""And their absolute error, where results lose digits on the way to zero."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """What is known about the largest prediction (``side=1``), or the smallest (``side=-1``)."""

    side: int
    known: float
    """No prediction is beyond this."""
    attained: float
    """The prediction of ``row``."""
    row: Row
    is_exact: bool
    n_boxes: int


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """From the sums of trees for one output to the numbers the user sees."""

    space: CellSpace
    output: int
    name: str
    """What these numbers are, for statements."""
    is_raw: bool = False
    """Whether the user sees raw scores, because the link mixes several of them."""

    def seen(self, total: float) -> float:
        """Send a sum through mean and link."""
        raw = total / self.space.forest.divisor
        if self.is_raw:
            return raw
        return float(apply_link(self._link, np.array([[raw]]))[0, -1])

    def beyond(self, total: float, side: int) -> float:
        """Give a number that no prediction of a sum up to ``total`` is beyond."""
        seen = self.seen(total)
        if self.is_raw or self._link == "identity":
            return seen
        widened = seen * (1.0 + side * _LINK_ERROR) + side * _LEAST
        return min(max(widened, 0.0), 1.0 if self._link in BINARY_LINKS else math.inf)

    def total(self, seen: float) -> float:
        """Undo ``seen``, about."""
        scale = self.space.forest.divisor
        if self.is_raw or self._link == "identity":
            return seen * scale
        if self._link == "log":
            return (math.log(seen) if seen > 0.0 else -math.inf) * scale
        odds = float(logit(min(max(seen, 0.0), 1.0)))
        return odds * scale * (0.5 if self._link == "double_logistic" else 1.0)

    @property
    def is_plain(self) -> bool:
        """Whether sums are what the user sees."""
        return (self.is_raw or self._link == "identity") and self.space.forest.divisor == 1.0

    @property
    def _link(self) -> str:
        return self.space.forest.output.link


def find_extreme(scale: Scale, side: int, budget: int, *, bound: float | None = None) -> Extreme:
    """Search for the largest (``side=1``) or smallest prediction.

    With a ``bound``, only as far as it takes to know on which side of it the extreme lies.
    """
    space, forest = scale.space, scale.space.forest
    sign = float(side * np.sign(space.forest.divisor))
    start = sign * float(forest.arrays["baseline"][scale.output])
    floor, enough = -math.inf, math.inf
    if bound is not None:
        target = sign * scale.total(bound)
        slack = 0.0 if scale.is_plain else 1e-12 * (1.0 + abs(target))
        floor, enough = target - slack, target + slack
        floor, enough = (target, target) if math.isinf(target) else (floor, enough)
    goal = _ext.SearchGoal(start, floor, enough, False)
    search = space.boxes(scale.output).largest(sign, goal)
    run(search, max(budget, 1))
    if math.isinf(search.attained):
        # The bound was clear without opening a box; any row will do as an example.
        goal = _ext.SearchGoal(start, -math.inf, math.inf, False)
        example = space.boxes(scale.output).largest(sign, goal)
        example.advance(1)
    else:
        example = search
    witness = example.witness()
    (row,) = better_rows(
        space,
        witness,
        (row_of(space, witness, {}),),
        lambda rows: side * float(scores_at(space.model, rows, scale.output)[0]),
    )
    attained = _seen_at(scale, row)
    is_row = not isinstance(space.model, DerivedForest) or attained == scale.seen(
        sign * search.upper
    )
    return Extreme(
        side,
        scale.beyond(sign * search.upper, side) + 0.0,  # no negative zero
        attained + 0.0,
        row,
        search.is_done and search.upper == search.attained and is_row,
        search.n_boxes,
    )


def _seen_at(scale: Scale, row: Row) -> float:
    model = scale.space.model
    if scale.is_raw or isinstance(model, LeafRowForest):
        return float(scores_at(model, [row], scale.output)[0])
    return predictions_at(model, [row], scale.output)[0]


def check_bound(scale: Scale, side: int, bound: float, budget: int) -> Claim:
    """Prove or refute that no prediction is above (``side=1``) or below (``side=-1``) a bound."""
    word, most = ("at most", "largest") if side == 1 else ("at least", "smallest")
    found = find_extreme(scale, side, budget, bound=bound)
    statement = f"{scale.name} is {word} {bound:g}"
    if side * found.attained > side * bound:
        raw = scores_at(scale.space.model, [found.row], scale.output)
        return Claim(
            statement=statement,
            verdict="refuted",
            evidence=f"a row has {found.attained:.6g}; see counter_example",
            counter_example=(found.row,),
            predictions=predictions_at(scale.space.model, [found.row], scale.output),
            raw_scores=(float(raw[0]),),
        )
    searched = f"{found.n_boxes} boxes searched"
    if side * found.known <= side * bound:
        evidence = f"no row is beyond {outward(found.known, side)}; {searched}"
        return Claim(statement=statement, verdict="proved", evidence=evidence)
    between = sorted((found.attained, found.known))
    evidence = f"the {most} is from {between[0]:.6g} to {between[1]:.6g}; {searched}"
    if isinstance(scale.space.model, DerivedForest):
        evidence += f"; {MAY_NOT_EXIST}"
    return Claim(statement=statement, verdict="undecided", evidence=evidence)


def describe_range(scale: Scale, budget: int) -> Claim:
    """State the range that all predictions are proved to lie in, as narrow as the budget allows."""
    low, high = (find_extreme(scale, side, budget) for side in (-1, 1))
    evidence = "exact: rows attain both ends"
    if not (low.is_exact and high.is_exact):
        evidence = f"rows attain {low.attained:.6g} and {high.attained:.6g}"
    searched = f"{low.n_boxes + high.n_boxes} boxes searched"
    return Claim(
        statement=f"{scale.name} is from {outward(low.known, -1)} to {outward(high.known, 1)}",
        verdict="proved",
        evidence=f"{evidence}; {searched}",
        bounds=(low.known, high.known),
    )


def outward(number: float, side: int) -> str:
    """Write a bound with six digits, rounded so that it stays true.

    Examples
    --------
    >>> outward(1.23456789, 1), outward(1.23456789, -1), outward(-0.5, 1)
    ('1.23457', '1.23456', '-0.5')
    """
    if not math.isfinite(number) or number == 0.0:
        return f"{number + 0.0:g}"  # no negative zero
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - 5)
    for steps in range(3):
        text = f"{number + side * steps * 0.5 * unit:.6g}"
        if side * float(text) >= side * number:
            return text
    return repr(number)
