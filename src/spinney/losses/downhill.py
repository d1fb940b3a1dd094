"""Optima that no formula knows: of a constant, and of every leaf of a tree.

Sums over rows are exact, so whole weights are repetitions to the last bit and the order of rows
does not matter.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from spinney.data.fixed_point import exact_sum, exact_sums, exact_total, fixed_weights
from spinney.losses.node_rows import RowsOfNodes
from spinney.losses.starts import link_start, weighted_mean
from spinney.typing import AnyArray, FloatArray, IntArray

_MOST_STEPS = 100
_FLAT = 1e-6
"""A mean gradient of so small a part of their root mean square is none."""
_MOST_DOUBLINGS = 60
_HALVINGS = 60
_FIRST_STEP = 2.0**-20
_LITTLE = 2.0**-30
_LEVEL = 2.0**-40
"""A sum of so small a part of what it is a sum of is 0: levels of quantiles are rounded."""


class SlopedLoss(Protocol):
    """A loss that tells derivatives in full precision."""

    link: str

    def slopes(self, y: FloatArray, scores: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """First and second derivatives; (n_rows, n_outputs), and none or so."""


def best_constant(
    loss: Any,
    y: FloatArray,
    weights: FloatArray | None,
    offset: FloatArray | None,
    n_outputs: int = 1,
) -> FloatArray:
    """Find the constant that fits best on top of the offset, by Newton's steps.

    They begin where the link gives the mean of y, on top of the mean offset; if gradients add up
    to nothing there, that is the answer as it is. A step that makes the loss larger is halved
    until it does not.

    Parameters
    ----------
    loss : a Loss
    y : (n_rows,)
    weights : (n_rows,), positive; None: all 1
    offset : (n_rows, n_outputs), or None
    n_outputs : raw scores of a row
    """
    counts = np.ones(len(y)) if weights is None else weights
    here = link_start(loss.link, y, weights, n_outputs)
    around = np.zeros((len(y), n_outputs)) if offset is None else offset
    if offset is not None:
        here = here - np.array([weighted_mean(column, weights) for column in offset.T])

    def scores_at(constant: FloatArray) -> FloatArray:
        return np.asfortranarray(around + constant)

    value = _value(loss, y, scores_at(here), weights)
    for _ in range(_MOST_STEPS):
        step = _newton_step(loss, y, scores_at(here), counts)
        while np.abs(step).max() > 1e-12 * (1.0 + np.abs(here).max()):
            there = _value(loss, y, scores_at(here + step), weights)
            if there < value:
                break
            step = step / 2
        else:
            return here
        here, value = here + step, there
    return here


def _value(loss: Any, y: FloatArray, scores: FloatArray, weights: FloatArray | None) -> float:
    """Give the total loss, infinite where it is no number."""
    if hasattr(loss, "values"):  # a user's loss refuses what is not finite; here it is a wall
        values = loss.values(y, scores)
        if not np.isfinite(values).all():
            return math.inf
    total = loss.total(y, scores, weights, 1)
    return total if math.isfinite(total) else math.inf


def _newton_step(loss: Any, y: FloatArray, scores: FloatArray, counts: FloatArray) -> FloatArray:
    """Give the step of each output; 0 where the gradients already add up to nothing."""
    if hasattr(loss, "slopes"):
        first, second = loss.slopes(y, scores)
    else:
        at = loss.derivatives(y, scores, 1)
        first, second = at.gradients.T.astype(float), at.hessians.T.astype(float)
        second = second if second.size else None
    step = np.zeros(first.shape[1])
    count = exact_total(counts)
    for output, gradients in enumerate(first.T):
        slope = exact_sum(counts, gradients)
        size = math.sqrt(count * exact_sum(counts, gradients**2))
        curvature = count if second is None else exact_sum(counts, second[:, output])
        if abs(slope) > _FLAT * size:
            # Without curvature, as far as the gradient says; what is too far is halved.
            step[output] = -slope / curvature if curvature > 0.0 else -slope / count
    return step


def leaf_steps(
    loss: SlopedLoss,
    rows: tuple[FloatArray, FloatArray, FloatArray | None],
    node_rows: RowsOfNodes,
    begin: float = 0.0,
) -> FloatArray:
    """Find of each leaf the step at which the sum of gradients changes its sign.

    Steps are doubled until it does, and the interval is then halved. Where the sum is 0 all along
    an interval, as that of absolute loss of an even number of rows, the step is its middle. Of a
    loss that is not convex it is the first such place that doubling finds; where there is none, the
    leaf stays where it begins. Inner nodes get the weighted mean of the leaves below.

    Parameters
    ----------
    loss : of one score per row
    rows : y, scores (n_rows, 1) and weights or None, of all rows
    node_rows : the rows of each node
    begin : step that the search begins at
    """
    y, scores, weights = rows
    first, last = np.asarray(node_rows.first), np.asarray(node_rows.last)
    is_leaf = np.append(first[1:] != first[:-1], True)  # a left child begins where its parent does
    starts, lengths = first[is_leaf], (last - first)[is_leaf]
    chosen = node_rows.rows
    y, scores = y[chosen], scores[chosen]
    counts = np.ones(len(y)) if weights is None else weights[chosen]
    totals = exact_sums(counts, np.ones(len(y)), starts)
    residuals = y - scores[:, 0] if loss.link == "identity" else None

    def side_at(steps: FloatArray) -> FloatArray:
        of_rows = np.repeat(steps, lengths)
        moved = scores[:, 0] + of_rows if residuals is None else _beyond(y, of_rows - residuals)
        gradients = loss.slopes(y, moved[:, np.newaxis])[0][:, 0]
        slopes = exact_sums(counts, gradients, starts)
        sizes = np.abs(gradients)
        is_level = np.abs(slopes) <= _LEVEL * np.maximum.reduceat(sizes, starts) * totals
        if is_level.any():
            is_level = np.abs(slopes) <= _LEVEL * exact_sums(counts, sizes, starts)
        return np.where(is_level, 0.0, np.sign(slopes))

    def settled(edge: FloatArray, other: FloatArray) -> tuple[FloatArray, AnyArray]:
        if residuals is None:
            return edge, np.zeros(len(edge), bool)
        return _at_residuals(edge, other, residuals, lengths)

    low, high = _level_part(side_at, np.full(len(starts), begin), settled)
    values = np.empty(len(first))
    values[is_leaf] = (low + high) / 2
    integers = np.ones(len(y), np.int64)
    if weights is not None:
        integers = fixed_weights(weights, bits=62)[0][chosen]
    _average_inner_nodes(values, is_leaf, node_rows, integers)
    return values


def _beyond(y: FloatArray, apart: FloatArray) -> FloatArray:
    """Add to targets, never so little that a score on one side of its target ends on it.

    Formulas with a kink at the target are told the side that the step is on, to the last bit.
    """
    scores = y + apart
    next_to_it = np.nextafter(y, np.where(apart > 0.0, np.inf, -np.inf))
    return np.where((scores == y) & (apart != 0.0), next_to_it, scores)


def _average_inner_nodes(
    values: FloatArray, is_leaf: AnyArray, node_rows: RowsOfNodes, integers: IntArray
) -> None:
    """Give inner nodes the mean of their children, as the native optima of leaves do."""
    first, last = np.asarray(node_rows.first), np.asarray(node_rows.last)
    passed = np.concatenate([[0], np.cumsum(integers)])
    weights = passed[last] - passed[first]
    top: dict[int, int] = {}  # where a finished subtree begins: its root, the topmost so far
    for node in range(len(values) - 1, -1, -1):
        if not is_leaf[node]:
            left = node + 1
            other = top[int(last[left])]
            share = float(weights[other]) / float(weights[node])
            values[node] = values[left] * (1.0 - share) + values[other] * share
        top[int(first[node])] = node


def _level_part(
    side_at: Callable[[FloatArray], FloatArray],
    begin: FloatArray,
    settled: Callable[[FloatArray, FloatArray], tuple[FloatArray, AnyArray]],
) -> tuple[FloatArray, FloatArray]:
    """Find between which places the slope is neither below 0 nor above; often they are one.

    ``settled`` chooses a place between two that halving ended with, the former sooner, and tells
    whether there is a kink.
    """
    direction = -side_at(begin)
    before, near = _edge(side_at, begin, direction, through_level=False)
    is_level = side_at(near) == 0.0
    further = np.where(direction == 0.0, 1.0, direction)
    little = np.maximum(np.abs(near), _FIRST_STEP) * _LITTLE
    first, is_kink = settled(near, before)
    # Where a formula without kinks has a sign a little further, there is no interval.
    is_level &= (direction == 0.0) | is_kink | (side_at(near + further * little) == 0.0)
    if not is_level.any():
        return first, first
    far, _ = settled(*_edge(side_at, near, np.where(is_level, further, 0.0), through_level=True))
    both = is_level & (direction == 0.0)
    back, _ = settled(*_edge(side_at, near, np.where(both, -1.0, 0.0), through_level=True))
    first = np.where(both, back, first)
    far = np.where(is_level, far, first)
    return np.minimum(first, far), np.maximum(first, far)


def _edge(
    side_at: Callable[[FloatArray], FloatArray],
    begin: FloatArray,
    direction: FloatArray,
    *,
    through_level: bool,
) -> tuple[FloatArray, FloatArray]:
    """Go on while the slope leads further, or is level if that is gone through.

    Returns the last place from which it goes on, and the first from which it does not; both are
    where it began if there is no end.
    """

    def goes_on_at(distance: FloatArray) -> AnyArray:
        side = side_at(begin + direction * distance) * direction
        return (side <= 0.0) if through_level else (side < 0.0)

    near, far = np.zeros_like(begin), np.full_like(begin, _FIRST_STEP)
    is_open = direction != 0.0
    for _ in range(_MOST_DOUBLINGS):
        goes_on = is_open & goes_on_at(far)
        if not goes_on.any():
            break
        near = np.where(goes_on, far, near)
        far = np.where(goes_on, 2.0 * far, far)
    else:
        far = np.where(goes_on, 0.0, far)  # nowhere: no step
        near = np.where(goes_on, 0.0, near)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        places = [begin + direction * distance for distance in (near, middle, far)]
        if np.all((places[0] == places[1]) | (places[1] == places[2])):
            break
        goes_on = goes_on_at(middle)
        near, far = np.where(goes_on, middle, near), np.where(goes_on, far, middle)
    return begin + direction * near, begin + direction * far


def _at_residuals(
    edges: FloatArray, others: FloatArray, residuals: FloatArray, lengths: AnyArray
) -> tuple[FloatArray, AnyArray]:
    """Move edges onto the residual of their leaf that lies between them and the other end.

    Formulas of residuals have their kinks there, and halving cannot hit them.
    """
    starts = np.cumsum(lengths) - lengths
    low, high = (np.repeat(end(edges, others), lengths) for end in (np.minimum, np.maximum))
    apart = np.abs(residuals - np.repeat(edges, lengths))
    apart = np.where((residuals >= low) & (residuals <= high), apart, np.inf)
    least = np.minimum.reduceat(apart, starts)
    nearest = np.where(apart == np.repeat(least, lengths), residuals, np.inf)
    is_there = np.isfinite(least)
    return np.where(is_there, np.minimum.reduceat(nearest, starts), edges), is_there
