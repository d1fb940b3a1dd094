"""Weights of rows under exponential loss; the loop is ``native/losses/row_weights.inl``."""

import functools
import math

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import exact_total
from spinney.model.elementary import exact_exp, exact_log
from spinney.typing import BoolArray, FloatArray, IntArray

_NONE = np.empty(0)
_NO_COUNTS = np.empty(0, np.int64)
_UNIT = 2**60


def exp_or_infinity(number: float) -> float:
    """Give e to a power, infinity where floats end, and 0 where they begin.

    Examples
    --------
    >>> exp_or_infinity(0.0), exp_or_infinity(1e4)
    (1.0, inf)
    """
    if number > 709.0:
        return math.inf
    return exact_exp(number) if number > -708.0 else 0.0


class RowCounts:
    """How often each training row counts: repetitions where weights are whole, factors if not."""

    def __init__(self, weights: FloatArray, *, n_threads: int = 1) -> None:
        self.weights = weights
        self.n_threads = n_threads
        self.total = exact_total(weights)
        is_whole = bool(np.all(weights == np.rint(weights))) and self.total < 2**31
        is_one = is_whole and bool(np.all(weights == 1.0))
        self.repetitions = weights.astype(np.int64) if is_whole and not is_one else _NO_COUNTS
        self.factors = _NONE if is_whole else weights / weights.max()


def move_margins(margins: FloatArray, right: BoolArray, if_right: float, if_wrong: float) -> float:
    """Add one of two steps to every margin, in place; give the least margin then."""
    return float(_ext.move_margins(margins, right.view(np.uint8), if_right, if_wrong))


class RowWeights:
    """A distribution over the training rows: what a learner is asked under."""

    def __init__(self, distribution: FloatArray, counts: RowCounts) -> None:
        """Take a distribution: weights of sum 1."""
        self._given = distribution
        # Rounded for one repetition of a row: rounding after it would not be a repetition.
        repeats = len(counts.repetitions) > 0
        of_one = distribution / counts.weights if repeats else distribution
        bits = np.rint(of_one * (2.0**30 / of_one.max())).astype(np.int64)
        self.whole: IntArray = bits * counts.repetitions if repeats else bits
        """Whole numbers in the ratio of the weights, to 30 bits of the largest."""

    @property
    def distribution(self) -> FloatArray:
        """Weights of the rows, of sum 1."""
        return self._given


class MarginWeights(RowWeights):
    """Weights proportional to exp(-margin).

    From scores and not from the weights before, so that nothing underflows over 10⁵ rounds. Sums
    are exact: neither the order of rows nor the number of threads matters, and a row of weight 3
    equals the row three times to the last bit.
    """

    def __init__(
        self, margins: FloatArray, counts: RowCounts, *, least: float | None = None
    ) -> None:
        """Weigh; ``least`` is the smallest margin, if it is known."""
        self._counts = counts
        self._least = float(margins.min()) if least is None else least
        self._shares, self.whole, high, low = _ext.weigh_rows(
            margins, self._least, counts.factors, counts.repetitions, counts.n_threads
        )
        self._units = int(high) * 2**30 + int(low)

    @functools.cached_property
    def distribution(self) -> FloatArray:
        """Weights of the rows, of sum 1."""
        total = self._units / _UNIT
        repeats = len(self._counts.repetitions) > 0
        shares = self._shares * self._counts.weights if repeats else self._shares
        return np.asarray(shares / total)

    @property
    def mean_exp(self) -> float:
        """Mean of exp(-margin) under the weights the user gave."""
        return self._mean_share() * exp_or_infinity(-self._least)

    @property
    def log_mean_exp(self) -> float:
        """Logarithm of ``mean_exp``, which neither underflows nor overflows."""
        return exact_log(self._mean_share()) - self._least

    def _mean_share(self) -> float:
        counts = self._counts
        scale = float(counts.weights.max()) if len(counts.factors) else 1.0
        return self._units / _UNIT * scale / counts.total

    def share_of(self, chosen: BoolArray) -> float:
        """Weight of some rows, from 0 to 1."""
        as_bytes = chosen.view(np.uint8)
        high, low = _ext.sum_shares(self._shares, self._counts.repetitions, as_bytes)
        return float((int(high) * 2**30 + int(low)) / self._units)
