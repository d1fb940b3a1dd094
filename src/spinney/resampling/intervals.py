"""Intervals from a bootstrap distribution: arithmetic on arrays, a column per number asked for.

Quantiles are those of Davison and Hinkley: of 999 resamples the 25th and the 975th smallest make a
95 % interval.
"""

import numpy as np
from scipy import special

from spinney.typing import AnyArray, FloatArray

METHODS = ("percentile", "basic", "bca", "studentised", "normal")
"""Ways to make an interval."""


def tail_levels(level: float) -> FloatArray:
    """Give the two probabilities between which an interval of this level lies.

    Examples
    --------
    >>> tail_levels(0.5)
    array([0.25, 0.75])
    """
    return np.array([(1 - level) / 2, (1 + level) / 2])


def quantiles(distribution: FloatArray, levels: AnyArray) -> FloatArray:
    """Give quantiles of each column; levels are (2,) for all columns, or (columns, 2).

    Returns
    -------
    ndarray
        (columns, 2).

    Examples
    --------
    >>> quantiles(np.arange(1.0, 1000)[:, np.newaxis], np.array([0.025, 0.975]))
    array([[ 25., 975.]])
    """
    own = np.broadcast_to(levels, (distribution.shape[1], 2))
    columns = zip(distribution.T, own, strict=True)
    return np.array([np.quantile(column, pair, method="weibull") for column, pair in columns])


def percentile_interval(distribution: FloatArray, level: float) -> FloatArray:
    """Take the middle of the distribution."""
    return quantiles(distribution, tail_levels(level))


def basic_interval(distribution: FloatArray, estimate: FloatArray, level: float) -> FloatArray:
    """Take the middle of the distribution, mirrored at the estimate.

    What resamples are to the estimate, the estimate is to the truth.
    """
    mirrored = 2 * estimate[:, np.newaxis] - percentile_interval(distribution, level)
    return mirrored[:, ::-1]


def normal_interval(estimate: FloatArray, error: FloatArray, level: float) -> FloatArray:
    """Go as far to both sides as a normal distribution of this error would."""
    reach: FloatArray = error[:, np.newaxis] * special.ndtri(tail_levels(level))
    return estimate[:, np.newaxis] + reach


def studentised_interval(
    pivots: FloatArray, estimate: FloatArray, error: FloatArray, level: float
) -> FloatArray:
    """Take the middle of the distribution of (resample - estimate) / (error of the resample)."""
    with np.errstate(invalid="ignore"):  # infinite pivots, where a resample does not vary
        ends = quantiles(pivots, tail_levels(level))[:, ::-1]
        return estimate[:, np.newaxis] - error[:, np.newaxis] * ends


def bca_levels(
    distribution: FloatArray, estimate: FloatArray, acceleration: FloatArray, level: float
) -> FloatArray:
    """Give the probabilities between which a BCa interval lies; (columns, 2).

    NaN where that is not defined: resamples that all agree, an estimate at the end of the
    distribution, or an acceleration too large for the level. Of resamples equal to the estimate
    half count as smaller.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, JASA 82.
    """
    smaller = (distribution < estimate).mean(axis=0)
    equal = (distribution == estimate).mean(axis=0)
    bias = special.ndtri(smaller + equal / 2)[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        shifted = bias + special.ndtri(tail_levels(level))
        stretch = 1 - acceleration[:, np.newaxis] * shifted
        levels = special.ndtr(bias + shifted / stretch)
    levels[~np.isfinite(bias[:, 0]) | (equal == 1) | ~(stretch > 0).all(axis=1)] = np.nan
    return np.asarray(levels)


def bca_interval(
    distribution: FloatArray, estimate: FloatArray, acceleration: FloatArray, level: float
) -> tuple[FloatArray, bool]:
    """Give BCa intervals, and whether all are; where one is not defined, percentiles stand in."""
    levels = bca_levels(distribution, estimate, acceleration, level)
    defined = np.isfinite(levels).all(axis=1)
    levels[~defined] = tail_levels(level)
    return quantiles(distribution, levels), bool(defined.all())
