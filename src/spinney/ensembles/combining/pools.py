"""Rules by which answers of members become one."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from scipy.stats import rankdata

from spinney.errors import InvalidInput
from spinney.typing import FloatArray

TRIMMED = 0.2
"""Share of the weight that a trimmed mean leaves out at each end."""
_LEAST = 1e-15
"""Shares below count as this much where a logarithm is taken."""


Rule: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""From answers (n_members, ...) and weights (n_members,) to one answer (...)."""


def mean(answers: FloatArray, weights: FloatArray) -> FloatArray:
    """Give the weighted mean.

    Examples
    --------
    >>> mean(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 2.0]))
    np.float64(5.25)
    """
    return np.average(answers, axis=0, weights=weights)


def median(answers: FloatArray, weights: FloatArray) -> FloatArray:
    """Give the weighted median: half the weight says no more, half no less.

    Examples
    --------
    >>> median(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 1.0]))
    np.float64(2.0)
    >>> median(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 2.0]))  # between two
    np.float64(5.5)
    """
    values, shares = _sorted(answers, weights)
    reached = np.cumsum(shares, axis=0)
    half = reached[-1] / 2
    slack = 1e-12 * half
    low = (reached >= half - slack).argmax(axis=0)[np.newaxis]
    high = (reached > half + slack).argmax(axis=0)[np.newaxis]
    middle = np.take_along_axis(values, low, 0) + np.take_along_axis(values, high, 0)
    return np.asarray(middle[0] / 2)[()]


def trimmed(answers: FloatArray, weights: FloatArray) -> FloatArray:
    """Give the mean without a fifth of the weight at each end.

    Examples
    --------
    >>> trimmed(np.array([0.0, 1.0, 2.0, 3.0, 100.0]), np.ones(5))
    np.float64(2.0)
    """
    values, shares = _sorted(answers, weights)
    end = np.cumsum(shares, axis=0)
    total = end[-1]
    left = np.minimum(end, (1 - TRIMMED) * total) - np.maximum(end - shares, TRIMMED * total)
    left = np.maximum(left, 0.0)
    return np.asarray((values * left).sum(axis=0) / left.sum(axis=0))[()]


def geometric(answers: FloatArray, weights: FloatArray) -> FloatArray:
    """Give the weighted geometric mean of positive answers.

    Examples
    --------
    >>> round(float(geometric(np.array([1.0, 4.0]), np.array([1.0, 1.0]))), 12)
    2.0
    """
    return np.asarray(np.exp(np.average(np.log(answers), axis=0, weights=weights)))[()]


def _sorted(answers: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    order = np.argsort(answers, axis=0, kind="stable")
    return np.take_along_axis(answers, order, 0), weights[order]


def _points(shares: FloatArray, weights: FloatArray) -> FloatArray:
    """Count, for each class, those a member ranks behind it; ties count half."""
    return mean(rankdata(shares, axis=2) - 1.0, weights)


def _highest(shares: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(shares[weights > 0].max(axis=0))


def _lowest(shares: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(shares[weights > 0].min(axis=0))


def _log_pool(shares: FloatArray, weights: FloatArray) -> FloatArray:
    return geometric(np.maximum(shares, _LEAST), weights)


SHARE_RULES: Mapping[str, Rule] = {
    "soft": mean,
    "median": median,
    "trimmed": trimmed,
    "geometric": _log_pool,
    "max": _highest,
    "min": _lowest,
    "borda": _points,
}
"""How shares of classes, (n_members, n_rows, n_classes), are joined before they are made to sum
to 1: the mean; the median; the mean without a fifth at each end; the geometric mean (the members
as independent witnesses); the most and the least that any says; points for ranks."""
NUMBER_RULES: Mapping[str, Rule] = {
    "mean": mean,
    "median": median,
    "trimmed": trimmed,
    "geometric": geometric,
}
"""How numbers, (n_members, n_rows), are joined."""


def pool_shares(shares: FloatArray, weights: FloatArray, rule: str) -> FloatArray:
    """Join shares of classes, (n_members, n_rows, n_classes), to shares that sum to 1.

    Examples
    --------
    >>> shares = np.array([[[0.9, 0.1]], [[0.4, 0.6]], [[0.4, 0.6]]])
    >>> for rule in ("soft", "median", "geometric"):
    ...     print(rule, pool_shares(shares, np.ones(3), rule).round(3))
    soft [[0.567 0.433]]
    median [[0.4 0.6]]
    geometric [[0.614 0.386]]
    """
    pooled = SHARE_RULES[rule](shares, weights)
    if rule == "soft":
        return pooled
    totals = pooled.sum(axis=1, keepdims=True)
    equal = np.full_like(pooled, 1.0 / pooled.shape[1])
    return np.where(totals > 0, pooled / np.where(totals > 0, totals, 1.0), equal)


def pool_numbers(answers: FloatArray, weights: FloatArray, rule: str) -> FloatArray:
    """Join numbers, (n_members, n_rows)."""
    if rule == "geometric" and not (answers > 0).all():
        raise InvalidInput(
            f"aggregation='geometric' multiplies answers, and one is {answers.min():g}: expected "
            "positive numbers. Use 'mean', 'median' or 'trimmed'."
        )
    return NUMBER_RULES[rule](answers, weights)
