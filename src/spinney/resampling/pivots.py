"""Standard errors of single resamples, for studentised intervals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter
from spinney.randomness import Stream, random_bits
from spinney.resampling.leaving import leave_each_out, variance_without
from spinney.resampling.resamples import Resamples, Sample
from spinney.resampling.statistic import Statistic
from spinney.typing import FloatArray

_MOST_LEFT_OUT = 50
"""Rows up to which the jackknife tells the error of a resample; of more, resamples of it."""
_INNER = 50
"""Resamples drawn from each resample."""


def errors_by_function(
    error: Callable[..., Any], resamples: Resamples, n_resamples: int, *, vectorized: bool
) -> tuple[FloatArray, FloatArray]:
    """Ask a function for the error of the data, and of each resample."""
    function = Statistic(error, vectorized=vectorized)
    of_data = function.of(resamples.whole)
    of_resamples = function.of_all(resamples, n_resamples)
    if not np.isfinite(of_data).all() or not (of_resamples >= 0).all():
        raise InvalidInput(
            "error gave a standard error that is negative or not a number. Expected one that is 0 "
            "or more for every resample."
        )
    return of_data, of_resamples


def errors_by_resampling(
    statistic: Statistic, resamples: Resamples, n_resamples: int, *, seed: int, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Estimate the error of the data, and of each resample; ``spread`` is that of all resamples."""
    n_rows = max(len(array) for array in resamples.arrays)
    by_jackknife = n_rows <= _MOST_LEFT_OUT

    def error(sample: Sample, number: int) -> FloatArray:
        inner = resamples.again(sample, random_bits(seed, Stream.ROWS, number))
        if inner is None:
            raise InvalidParameter(
                "method='studentised' cannot tell the standard error of resamples that are drawn "
                "in this way. Give error=, a function of the same arrays that gives it."
            )
        if by_jackknife:
            return np.sqrt(variance_without(leave_each_out(statistic, sample.arrays, inner.units)))
        return np.asarray(statistic.of_all(inner, _INNER).std(axis=0, ddof=1))

    samples = enumerate(resamples.samples(range(n_resamples)))
    of_resamples = np.stack([error(sample, number) for number, sample in samples])
    return error(resamples.whole, n_resamples) if by_jackknife else spread, of_resamples


def pivots_of(differences: FloatArray, errors: FloatArray) -> FloatArray:
    """Divide differences by their errors; no difference is 0, whatever its error."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(differences == 0, 0.0, differences / errors)
