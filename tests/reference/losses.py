"""Slow twins of the exact optima: definitions in rational arithmetic."""

import bisect
from fractions import Fraction


def slow_quantile(residuals, weights, level):
    """Averaged inverted CDF: where the weights, in order, reach level * total."""
    pairs = sorted(zip(map(float, residuals), map(int, weights), strict=True))
    wanted, reached = level * sum(weight for _, weight in pairs), 0
    for place, (value, weight) in enumerate(pairs):
        reached += weight
        if reached == wanted and place + 1 < len(pairs):
            return float((Fraction(value) + Fraction(pairs[place + 1][0])) / 2)
        if reached >= wanted:
            return value
    return pairs[-1][0]


def slow_huber(residuals, weights, delta):
    """Middle of the roots of the sum of clipped differences; it is linear between breakpoints."""
    values, delta = [Fraction(float(r)) for r in residuals], Fraction(delta)
    weights = [int(weight) for weight in weights]

    def pull(c):
        return sum(w * min(max(r - c, -delta), delta) for r, w in zip(values, weights, strict=True))

    points = sorted({r + side * delta for r in values for side in (-1, 1)})
    first = bisect.bisect_left(points, 0, key=lambda c: -pull(c))  # the first without a pull up
    right = points[first]
    if pull(right) == 0:
        last = bisect.bisect_right(points, 0, key=lambda c: -pull(c)) - 1
        return float((right + points[last]) / 2)
    left = points[first - 1]
    return float(left + (right - left) * pull(left) / (pull(left) - pull(right)))


def slow_optimum(loss, residuals, weights):
    """Best constant of one node for a loss with order-statistic leaves."""
    if loss.name == "huber":
        return slow_huber(residuals, weights, loss.parameter)
    level = 0.5 if loss.name == "absolute" else loss.parameter
    return slow_quantile(residuals, weights, level)
