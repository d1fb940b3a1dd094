"""Optima that no formula knows: of a constant, and of every leaf of a tree.

Sums over rows are exact, so whole weights are repetitions to the last bit and the order of rows
does not matter.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from spinney.data.fixed_point import exact_sum, exact_sums, exact_total
from spinney.losses.node_rows import RowsOfNodes
from spinney.losses.starts import link_start, weighted_mean
from spinney.typing import FloatArray

_MOST_STEPS = 100
_FLAT = 1e-6
"""A mean gradient of so small a part of their root mean square is none."""
_MOST_DOUBLINGS = 60
_HALVINGS = 50


class SlopedLoss(Protocol):
    """A loss that tells derivatives in full precision."""

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
) -> FloatArray:
    """Find of each leaf the step at which the sum of gradients changes its sign.

    Steps are doubled until it does, and the interval is then halved. Of a loss that is not convex
    it is the first such place that doubling finds; where there is none, the leaf stays at 0.

    Parameters
    ----------
    loss : of one score per row
    rows : y, scores (n_rows, 1) and weights or None, of all rows
    node_rows : the rows of each node
    """
    y, scores, weights = rows
    first, last = np.asarray(node_rows.first), np.asarray(node_rows.last)
    is_leaf = np.append(first[1:] != first[:-1], True)  # a left child begins where its parent does
    starts, lengths = first[is_leaf], (last - first)[is_leaf]
    chosen = node_rows.rows
    y, scores = y[chosen], scores[chosen]
    counts = np.ones(len(y)) if weights is None else weights[chosen]

    def slope_at(steps: FloatArray) -> FloatArray:
        moved = scores + np.repeat(steps, lengths)[:, np.newaxis]
        gradients = loss.slopes(y, moved)[0][:, 0]
        return exact_sums(counts, gradients, starts)

    found = _sign_changes(slope_at, np.zeros(len(starts)))
    values = np.empty(len(first))
    values[is_leaf] = found
    weight = exact_sums(counts, np.ones(len(y)), starts)
    for node in np.flatnonzero(~is_leaf):
        below = (starts >= first[node]) & (starts < last[node])
        values[node] = np.sum(weight[below] * found[below]) / np.sum(weight[below])
    return values


def _sign_changes(slope_at: Callable[[FloatArray], FloatArray], zero: FloatArray) -> FloatArray:
    slope = slope_at(zero)
    direction = -np.sign(slope)
    near, far = zero.copy(), np.full_like(zero, 2.0**-20)
    is_open = direction != 0.0
    for _ in range(_MOST_DOUBLINGS):
        goes_on = is_open & (slope_at(direction * far) * direction < 0.0)
        if not goes_on.any():
            break
        near = np.where(goes_on, far, near)
        far = np.where(goes_on, 2.0 * far, far)
    else:
        far = np.where(goes_on, 0.0, far)  # nowhere: no step
        near = np.where(goes_on, 0.0, near)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        goes_on = slope_at(direction * middle) * direction < 0.0
        near, far = np.where(goes_on, middle, near), np.where(goes_on, far, middle)
        if np.all(far - near <= 2.0**-44 * far):
            break
    return direction * far
