"""Percentiles of rows that count several times."""

import math

import numpy as np

from spinney.data.fixed_point import exact_total
from spinney.typing import FloatArray


def weighted_percentile(values: FloatArray, percent: float, weights: FloatArray | None) -> float:
    """Give NumPy's percentile of values, each of which stands there as often as its weight says.

    Weights that are not whole are scaled so that they add up to the number of values.

    Examples
    --------
    >>> weighted_percentile(np.array([5.0, 1.0]), 25.0, np.array([1.0, 3.0]))
    1.0
    >>> float(np.percentile([1.0, 1.0, 1.0, 5.0], 25.0))
    1.0
    """
    if weights is None:
        return float(np.percentile(values, percent))
    if not np.array_equal(weights, np.rint(weights)):
        weights = weights * (len(weights) / exact_total(weights))
    order = np.argsort(values, kind="stable")
    ends = np.cumsum(weights[order])
    place = (float(ends[-1]) - 1.0) * (percent / 100.0)
    below, share = math.floor(place), place - math.floor(place)
    found = np.searchsorted(ends, [below, below + 1], side="right").clip(max=len(ends) - 1)
    low, high = values[order[found]].tolist()
    step = high - low
    # As NumPy does it, to the last bit.
    return float(high - step * (1.0 - share) if share >= 0.5 else low + step * share)
