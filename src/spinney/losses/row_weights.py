"""Weights of rows under exponential loss; the loop is ``native/losses/row_weights.inl``."""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import exact_total
from spinney.model.elementary import exact_exp, exact_log
from spinney.typing import AnyArray, BoolArray, ByteArray, CodeArray, FloatArray, IntArray

_NONE = np.empty(0)
_NO_COUNTS = np.empty(0, np.int64)
_NO_SIGNS = np.empty(0, np.int8)
_NO_ANSWERS = np.empty(0, np.uint8)
_UNIT = 2**60
_SUM_BITS = 50
"""Of all weights as whole numbers: exact as floats, and as fine as that allows. Thirty bits of the
largest weight are enough for the one split of a stump; of the many splits of deep trees some would
be decided by them."""


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


@dataclass(frozen=True, slots=True, eq=False)
class Vote:
    """What a vote adds to the margins of rows, and the least of them then."""

    right: BoolArray
    if_right: float
    if_wrong: float
    least: float


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """How a vote did under the weights, before it is known what it is worth."""

    right: BoolArray
    error: float
    """Weight of the rows it got wrong, from 0 to 1."""
    least_right: float
    """Least margin of the rows it got right, infinite where there are none."""
    least_wrong: float

    def reversed(self) -> "Verdict":
        """Give the verdict on a voter who says the opposite."""
        return Verdict(~self.right, 1.0 - self.error, self.least_wrong, self.least_right)

    def vote(self, if_right: float, if_wrong: float) -> Vote:
        """Say what it is worth. Adding a number keeps what is least, rounding included."""
        least = min(self.least_right + if_right, self.least_wrong + if_wrong)
        return Vote(self.right, if_right, if_wrong, least)


class Cells(NamedTuple):
    """Weights of rows as whole numbers, negative for rows of the first class."""

    signed: CodeArray
    total: int
    """Of their magnitudes."""


class RowWeights:
    """A distribution over the training rows: what a learner is asked under."""

    def __init__(self, distribution: FloatArray, counts: RowCounts) -> None:
        """Take a distribution: weights of sum 1."""
        self._given = distribution
        # Rounded for one repetition of a row: rounding after it would not be a repetition.
        repeats = len(counts.repetitions) > 0
        of_one = distribution / counts.weights if repeats else distribution
        bits = np.rint(of_one * 2.0**_SUM_BITS).astype(np.int64)
        self._whole: IntArray = bits * counts.repetitions if repeats else bits

    @property
    def whole(self) -> IntArray:
        """Whole numbers in the ratio of the weights, less than 2**51 in all."""
        return self._whole

    @property
    def cells(self) -> Cells | None:
        """Shorter ones, with the signs of the rows, for stumps of two classes; None: unknown."""
        return None

    @property
    def distribution(self) -> FloatArray:
        """Weights of the rows, of sum 1."""
        return self._given


class MarginWeights(RowWeights):
    """Weights proportional to exp(-margin).

    From scores and not from the weights before, so that nothing underflows over 10⁵ rounds. Sums
    are exact: neither the order of rows nor the number of threads matters, and a row of weight 3
    equals the row three times to the last bit. The margins are the caller's, and move with votes.
    """

    def __init__(
        self,
        margins: FloatArray,
        counts: RowCounts,
        *,
        signs: AnyArray | None = None,
    ) -> None:
        """Weigh rows; ``signs`` are bytes of 1 and -1."""
        self._counts = counts
        self._margins = margins
        n_cells = 0 if signs is None or len(counts.repetitions) else len(margins)
        self._signs = _NO_SIGNS if signs is None else signs
        self._filled = np.empty(len(margins)), np.empty(n_cells, np.int32)
        self._weigh(float(margins.min()), (_NO_ANSWERS, 0.0, 0.0))

    def move(self, vote: Vote) -> None:
        """Move the margins in place and weigh anew, in one pass over the rows."""
        self.__dict__.pop("distribution", None)
        self._weigh(vote.least, (vote.right.view(np.uint8), vote.if_right, vote.if_wrong))

    def _weigh(self, least: float, step: tuple[ByteArray, float, float]) -> None:
        counts = self._counts
        high, low = _ext.weigh_rows(
            self._margins,
            least,
            step,
            counts.factors,
            counts.repetitions,
            self._signs,
            self._filled,
            counts.n_threads,
        )
        self.least = least
        """The smallest margin."""
        self._units = int(high) * 2**30 + int(low)
        self._high = int(high)

    @property
    def whole(self) -> IntArray:
        """Whole numbers in the ratio of the weights, less than 2**51 in all."""
        # The total of the shares is known to the last bit, so the grid depends on no order.
        exponent = _SUM_BITS + 60 - self._units.bit_length()
        bits = np.rint(np.ldexp(self._filled[0], exponent)).astype(np.int64)
        repetitions = self._counts.repetitions
        return bits * repetitions if len(repetitions) else bits

    @property
    def cells(self) -> Cells | None:
        """To 30 bits of the largest, with signs; None where nobody gave any, or rows repeat."""
        cells = self._filled[1]
        return Cells(cells, self._high) if len(cells) else None

    @functools.cached_property
    def distribution(self) -> FloatArray:
        """Weights of the rows, of sum 1."""
        total = self._units / _UNIT
        repeats = len(self._counts.repetitions) > 0
        shares = self._filled[0] * self._counts.weights if repeats else self._filled[0]
        return np.asarray(shares / total)

    @property
    def mean_exp(self) -> float:
        """Mean of exp(-margin) under the weights the user gave."""
        return self._mean_share() * exp_or_infinity(-self.least)

    @property
    def log_mean_exp(self) -> float:
        """Logarithm of ``mean_exp``, which neither underflows nor overflows."""
        return exact_log(self._mean_share()) - self.least

    def _mean_share(self) -> float:
        counts = self._counts
        scale = float(counts.weights.max()) if len(counts.factors) else 1.0
        return self._units / _UNIT * scale / counts.total

    def judge(self, right: BoolArray) -> Verdict:
        """Weigh what a vote gets wrong."""
        counts = self._counts
        high, low, least_right, least_wrong = _ext.judge_vote(
            self._filled[0],
            counts.repetitions,
            right.view(np.uint8),
            self._margins,
            counts.n_threads,
        )
        error = (int(high) * 2**30 + int(low)) / self._units
        return Verdict(right, error, least_right, least_wrong)

    def share_of(self, chosen: BoolArray) -> float:
        """Weight of some rows, from 0 to 1."""
        return self.judge(~chosen).error
