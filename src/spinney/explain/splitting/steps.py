"""Newton's steps as limits, smoothing and constraints leave them, from the root down.

The trainer does this twice. While it searches, sums are on the grid of the search, steps are as
long as these sums say, and a gain is what the steps it leaves remove. Once the tree is grown, sums
are finer, and steps beyond the longest that is believed are cut off first.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from spinney.explain.splitting.sums import Asked, Sums
from spinney.theory.second_order import leaf_output

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Step:
    """What a node would output, and between which numbers the trainer's is."""

    best: float
    """With nothing to move it."""
    moved: float
    off: float
    """By how much the trainer's may differ."""

    @property
    def is_moved(self) -> bool:
        """Whether more than rounding lies between both."""
        return abs(self.moved - self.best) > _ROUNDING * max(abs(self.moved), abs(self.best))


@dataclass(frozen=True, slots=True)
class _Bounds:
    lower: float
    upper: float

    def clip(self, step: float) -> float:
        return min(max(step, self.lower), self.upper)

    def below(self, direction: int, left: float, right: float) -> tuple["_Bounds", "_Bounds"]:
        """Give those of the children, which a constraint keeps on their sides of the middle."""
        if direction == 0:
            return self, self
        middle = self.clip(left / 2 + right / 2)
        low, high = _Bounds(self.lower, middle), _Bounds(middle, self.upper)
        return (low, high) if direction > 0 else (high, low)


def steps_of(
    asked: Asked,
    sums_of: Callable[[int], Sums],
    weight_of: Callable[[int], float],
    longest: float = math.inf,
) -> tuple[Step, ...]:
    """Give the steps of ``asked.nodes``; ``longest``: where Newton's are cut off before."""
    settings, tree = asked.settings.tree, asked.tree
    ranges: dict[int, tuple[float, float]] = {}

    def own(node: int) -> float:
        sums = sums_of(node)
        low, high = sums.outputs(settings.l2, settings.l1)
        ranges[node] = max(low, -longest), min(high, longest)
        best = leaf_output(sums.residuals, sums.hessians, settings.l2, settings.l1)
        return min(max(best, -longest), longest)

    if not settings.moved_by:
        best = {node: own(node) for node in asked.nodes}
        return tuple(Step(s, s, _farthest(s, ranges[node])) for node, s in best.items())
    most = settings.max_step or math.inf
    bounds = _Bounds(-most, most)
    best = {0: own(0)}
    moved = {0: bounds.clip(best[0])}
    to = (*asked.path, asked.node)
    for place, node in enumerate(to):
        right = int(tree.right[node])
        if right < 0:
            break
        children = (node + 1, right)
        for child in children:
            best[child], weight = own(child), weight_of(child)
            step = bounds.clip(best[child])
            if settings.path_smoothing > 0.0:
                drawn = step * weight + moved[node] * settings.path_smoothing
                step = bounds.clip(drawn / (weight + settings.path_smoothing))
            moved[child] = step
        of_children = bounds.below(_direction(asked, node), moved[children[0]], moved[children[1]])
        if place + 1 < len(to):
            bounds = of_children[children.index(to[place + 1])]
    # Each is a mean of steps, or at a bound that is one: none is farther off than the worst.
    off = max(_farthest(best[node], around) for node, around in ranges.items())
    return tuple(Step(best[node], moved[node], off) for node in asked.nodes)


def _farthest(step: float, around: tuple[float, float]) -> float:
    return max(step - around[0], around[1] - step, 0.0)


def _direction(asked: Asked, node: int) -> int:
    feature, signs = int(asked.tree.feature[node]), asked.settings.tree.monotone
    if signs is None or asked.forest.arrays["categorical"][feature]:
        return 0
    return signs[feature]
