"""How far to go in a direction: the step at which a loss is least.

Every line search of a convex loss is here: of exponential loss, whose bits must not depend on the
machine; of any loss of one sum, fast; of any loss of many sums at once; of quantile loss.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from spinney.model.elementary import exp_of
from spinney.typing import FloatArray

LONGEST_MOVE = 10.0
"""Where a loss has no minimum, because no row is wrong, a score moves by this much."""
OfSteps: TypeAlias = Callable[[FloatArray], FloatArray]
"""Steps, one for each of several sums, to a number for each."""

_MOST_STEPS = 300
"""Doublings, halvings and refinements before a search ends where it is."""
_CLOSEST = 4 * np.finfo(float).eps


def best_vote(distribution: FloatArray, products: FloatArray) -> float:
    """Find the step a that minimises the sum of D exp(-a u); convex, so its slope has one root.

    Newton's steps, kept inside a bracket that halves when they leave it. Where all u have one sign
    there is no minimum, and the step is as long as ``LONGEST_MOVE``.

    Examples
    --------
    >>> round(best_vote(np.array([0.25, 0.75]), np.array([-1.0, 1.0])), 6)
    0.549306
    >>> best_vote(np.array([0.25, 0.75]), np.array([1.0, 0.5]))
    10.0
    """

    def slope(step: float) -> tuple[float, float]:
        powers = -step * products
        weights = distribution * exp_of(powers - powers.max())  # a factor moves no root
        first = weights * products
        return -float(first.sum()), float((first * products).sum())

    low, high = -LONGEST_MOVE, LONGEST_MOVE
    if slope(low)[0] >= 0:
        return low
    if slope(high)[0] <= 0:
        return high
    step = 0.0
    for _ in range(200):
        gradient, curvature = slope(step)
        low, high = (step, high) if gradient < 0 else (low, step)
        newton = step - gradient / curvature if curvature > 0 else low
        step_next = newton if low < newton < high else (low + high) / 2
        if abs(step_next - step) <= 1e-15 * max(1.0, abs(step)):
            return step_next
        step = step_next
    return step


def first_root(pull: Callable[[float], float], most: float) -> float:
    """Find where a function of a step that starts above 0 gets there.

    0 if it does not start above; ``most`` if it gets there later.

    Examples
    --------
    >>> first_root(lambda step: 3.0 - step, 10.0), first_root(lambda step: 1.0, 10.0)
    (3.0, 10.0)
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - for the few who search so

    low, high = 0.0, min(1.0, most)
    if pull(low) <= 0.0:
        return 0.0
    while pull(high) > 0.0:
        if high >= most:
            return most
        low, high = high, min(2.0 * high, most)
    return float(brentq(pull, low, high, xtol=1e-15, rtol=_CLOSEST))


def best_steps(slope: OfSteps, loss: OfSteps, *, first: FloatArray, most: FloatArray) -> FloatArray:
    """Find the steps where slopes of losses change their sign, near 0; of convex losses the best.

    A step goes downhill from 0 and never makes its loss larger: where numbers overflow on the way,
    or a loss is not convex, it is shortened until that holds.

    Parameters
    ----------
    slope, loss : functions of all steps
    first : lengths of the steps tried first, positive
    most : longest steps, taken where a loss falls for ever

    Examples
    --------
    >>> targets = np.array([3.0, -0.5])
    >>> ends = {"first": np.ones(2), "most": np.full(2, 10.0)}
    >>> best_steps(lambda t: 2 * (t - targets), lambda t: (t - targets) ** 2, **ends)
    array([ 3. , -0.5])
    >>> best_steps(lambda t: -np.exp(-t), lambda t: np.exp(-t), **ends)
    array([10., 10.])
    """
    at_zero = slope(np.zeros_like(first))
    signs = np.where(np.isfinite(at_zero), -np.sign(at_zero), 0.0)

    def uphill(lengths: FloatArray) -> FloatArray:
        return signs * slope(signs * lengths)

    low, high = _bracket(uphill, np.minimum(first, most), most)
    steps = signs * _refine(uphill, low, high)
    start = loss(np.zeros_like(first))
    start += _CLOSEST * np.abs(start)  # a step whose gain is less than rounding is not undone
    for _ in range(_MOST_STEPS):
        worse = ~(loss(steps) <= start)
        if not worse.any():
            return steps
        steps = np.where(worse, steps / 2, steps)
    return np.where(worse, 0.0, steps)


def _bracket(uphill: OfSteps, first: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give pairs of lengths between which slopes become positive; equal ones if they do not."""
    low, high, too_far = np.zeros_like(first), first.copy(), np.full_like(first, np.inf)
    for _ in range(_MOST_STEPS):
        slopes = uphill(high)
        is_far = ~np.isfinite(slopes)
        is_low = slopes < 0
        if not (is_far | is_low).any():
            return low, high
        too_far = np.where(is_far, high, too_far)
        low = np.where(is_low, high, low)
        longer = np.where(np.isinf(too_far), 2 * high, (low + np.minimum(too_far, 1e300)) / 2)
        high = np.where(is_far | is_low, np.minimum(longer, most), high)
        if not (high > low)[is_far | is_low].any():
            break
    return low, np.where(is_far | is_low, low, high)


def _refine(uphill: OfSteps, low: FloatArray, high: FloatArray) -> FloatArray:
    """Close brackets around the places where slopes change their sign, by Chandrupatla's method.

    The next point is where the inverse parabola through the last three is 0, if that can be
    trusted, and the middle of the bracket otherwise.
    """
    new, old, older = high, low, low
    at_new, at_old = uphill(high), uphill(low)
    at_older = at_old
    for _ in range(_MOST_STEPS):
        best = np.where(np.abs(at_new) < np.abs(at_old), new, old)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            least = _CLOSEST * np.abs(best) / np.abs(new - old)  # of the bracket
            is_open = (least < 0.5) & (at_new != 0) & (at_old != 0)
            if not is_open.any():
                break
            place = (new - old) / (older - old)
            rise = (at_new - at_old) / (at_older - at_old)
            trusted = (rise**2 < place) & ((1 - rise) ** 2 < 1 - place)
            parabola = at_new / (at_old - at_new) * at_older / (at_old - at_older)
            parabola += ((older - new) / (old - new) * at_new / (at_older - at_new)) * (
                at_old / (at_older - at_old)
            )
        share = np.where(trusted, np.clip(parabola, least, 1 - least), 0.5)
        point = np.where(is_open, new + share * (old - new), new)
        slopes = uphill(point)
        same = is_open & ((slopes < 0) == (at_new < 0))
        flips = is_open & ~same
        older, at_older = np.where(same, new, old), np.where(same, at_new, at_old)
        old, at_old = np.where(flips, new, old), np.where(flips, at_new, at_old)
        new, at_new = np.where(is_open, point, new), np.where(is_open, slopes, at_new)
    return np.where(np.abs(at_new) < np.abs(at_old), new, old)


def best_quantile_step(
    residuals: FloatArray, directions: FloatArray, weights: FloatArray, level: float
) -> float:
    """Find the step t that minimises the weighted quantile loss of ``residuals - t * directions``.

    The loss is made of straight lines that meet where a residual becomes 0, so one of these places
    is a minimum; where the lines are flat between two of them, the middle is taken.

    Examples
    --------
    >>> best_quantile_step(np.array([1.0, 2.0, 9.0]), np.ones(3), np.ones(3), 0.5)
    2.0
    """
    moves = directions != 0
    if not moves.any():
        return 0.0
    pull = weights[moves] * np.abs(directions[moves])
    corners = residuals[moves] / directions[moves]
    order = np.argsort(corners, kind="stable")
    corners = corners[order]
    # Far to the left the slope is the negative of this; every corner adds its pull.
    steepest = float((pull * np.where(directions[moves] > 0, level, 1 - level)).sum())
    slopes = np.cumsum(pull[order]) - steepest
    flat = 1e-12 * steepest
    place = min(int(np.searchsorted(slopes, -flat)), len(corners) - 1)
    following = min(place + 1, len(corners) - 1)
    if abs(slopes[place]) <= flat:
        return float(corners[place] / 2 + corners[following] / 2)
    return float(corners[place])
