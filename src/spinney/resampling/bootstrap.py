"""Bootstrap intervals of a statistic."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from spinney.errors import InvalidInput
from spinney.randomness import seed_from
from spinney.typing import AnyArray, RandomState


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the interval that covers the truth at the stated level."""

    estimate: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"


def bootstrap_interval(
    statistic: Callable[..., float],
    *rows: AnyArray,
    level: float = 0.95,
    n_resamples: int = 999,
    random_state: RandomState = None,
) -> Interval:
    """BCa bootstrap interval of a statistic of rows, resampled together.

    Where BCa is not defined (resamples that all agree) the percentile interval stands in.

    Parameters
    ----------
    statistic : takes the arrays, returns a number
    rows : arrays of equal length, e.g. labels and predictions
    level : coverage aimed at
    n_resamples : bootstrap samples
    random_state : decides the draws

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, JASA 82.

    Examples
    --------
    >>> numbers = np.arange(20.0)
    >>> interval = bootstrap_interval(np.mean, numbers, random_state=0)
    >>> interval.low < interval.estimate == 9.5 < interval.high
    True
    """
    if not rows or len(rows[0]) < 2:
        raise InvalidInput(
            "A bootstrap interval needs at least two rows: one row drawn again is the same row."
        )
    estimate = float(statistic(*rows))
    with warnings.catch_warnings():
        # Resamples that all agree make BCa divide by zero; that case is answered below.
        warnings.simplefilter("ignore", RuntimeWarning)
        result = stats.bootstrap(
            rows,
            statistic,
            paired=len(rows) > 1,
            vectorized=False,
            confidence_level=level,
            n_resamples=n_resamples,
            rng=np.random.default_rng(seed_from(random_state)),
        )
    low, high = (float(end) for end in result.confidence_interval)
    if np.isnan(low) or np.isnan(high):
        spread = np.quantile(result.bootstrap_distribution, [(1 - level) / 2, (1 + level) / 2])
        low, high = (float(end) for end in spread)
    return Interval(estimate, low, high, level)
