"""Slow twins of binning: the definitions, in plain Python and NumPy."""

import numpy as np


def slow_cut_between(v: float, w: float) -> float:
    """A number in [v, w): the float32 nearest the middle, else any float32, else a float64."""
    middle = v / 2 + w / 2
    with np.errstate(over="ignore"):
        candidates = [np.float32(middle)] if np.isfinite(middle) else []
        if not np.isfinite(middle):
            candidates += [np.finfo(np.float32).max, -np.finfo(np.float32).max]
        lowest = np.float32(v)
        if float(lowest) < v:
            lowest = np.nextafter(lowest, np.float32(np.inf))
    candidates += [lowest, middle]
    for c in candidates:
        if np.isfinite(c) and v <= float(c) < w:
            return float(c)
    return v


def slow_cuts(values, weights, max_bins: int) -> list[float]:
    """Fill bins from below; close each at the end nearer to an equal share of what is left."""
    weight_of: dict[float, int] = {}
    for value, weight in zip(values, weights, strict=True):
        if not np.isnan(value):
            weight_of[float(value) + 0.0] = weight_of.get(float(value) + 0.0, 0) + int(weight)
    distinct = sorted(weight_of)
    cuts, filled, remaining, bins_left = [], 0, sum(weight_of.values()), max_bins
    for i, value in enumerate(distinct):
        weight = weight_of[value]
        rest_fits = len(distinct) - i < bins_left
        closes_here = 2 * remaining <= (2 * filled + weight) * bins_left
        if i > 0 and bins_left > 1 and (rest_fits or closes_here):
            cuts.append(slow_cut_between(distinct[i - 1], value))
            remaining, filled, bins_left = remaining - filled, 0, bins_left - 1
        filled += weight
    return cuts


def slow_bins(values, cuts) -> np.ndarray:
    """How many cuts are below each value; missing goes behind the last bin."""
    values = np.asarray(values, float)
    below = (np.asarray(cuts, float)[None, :] < values[:, None]).sum(axis=1)
    return np.where(np.isnan(values), len(cuts) + 1, below).astype(np.uint8)
