"""Which rows a round of boosting learns from, and how much each of them counts."""

from dataclasses import dataclass

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import are_repeats, fixed_weights
from spinney.randomness import Stream, random_bits
from spinney.resampling.subsample import RowDraws
from spinney.typing import AnyArray, FloatArray

SAMPLERS = ("uniform", "one_side", "minimal_variance", "bayesian", "poisson")

CHOOSING_SAMPLERS = ("one_side", "minimal_variance")
"""Those that choose a share of the rows by their derivatives; of all rows there is no choice."""

STEP_SHARE = 0.3
"""Of minimal variance: typical step of a leaf as a share of sum |g| / sum h, the largest there can
be on average. Its square is the weight that hessians have beside gradients."""

_NO_NUMBERS, _NO_ROWS = np.empty(0, np.float32), np.empty(0, np.uint32)
_NO_WEIGHTS = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """The rows of one round."""

    rows: AnyArray | None = None
    """Their numbers, increasing; None: all."""
    factors: AnyArray | None = None
    """(n_rows,) float32: what losses are multiplied by; None: all 1."""
    repeats: AnyArray | None = None
    """(n_rows,) int64: how often rows count, in place of their whole weights; None: those."""


ALL_ROWS = RowSample()
"""A round that sees every row as it is."""


@dataclass(frozen=True, slots=True, eq=False)
class SampledRows:
    """The rows of a table that may be drawn."""

    n_rows: int
    candidates: AnyArray | None = None
    """Their numbers, increasing; None: all."""
    weights: AnyArray | None = None
    """(n_rows,) int64, what rows weigh, in any unit; None: the same."""
    weights_repeat: bool = True
    """Whether weights are how often rows count."""
    factors: AnyArray | None = None
    """(n_rows,) float32: what derivatives are multiplied by; None: all 1."""

    @classmethod
    def of(
        cls,
        n_rows: int,
        candidates: AnyArray | None,
        weights: FloatArray | None,
        factors: FloatArray | None,
    ) -> "SampledRows":
        """Read weights and factors of all rows; those of candidates alone decide on the grid."""
        of_loss = None if factors is None else factors.astype(np.float32)
        if weights is None:
            return cls(n_rows, candidates, factors=of_loss)
        if are_repeats(weights):
            return cls(n_rows, candidates, weights.astype(np.int64), factors=of_loss)
        chosen = slice(None) if candidates is None else candidates
        integers = np.ones(n_rows, np.int64)
        integers[chosen] = fixed_weights(weights[chosen], bits=32)[0]
        return cls(n_rows, candidates, integers, weights_repeat=False, factors=of_loss)


@dataclass(frozen=True, slots=True)
class RowSampling:
    """A way to draw the rows of rounds.

    Draws depend on the seed, the number of the round, the numbers of rows and exact sums alone.

    Examples
    --------
    >>> drawn = RowSampling(share=0.5).draw(0, 3, SampledRows(8))
    >>> drawn.rows.tolist()
    [0, 2, 3, 4, 5, 6]
    """

    sampler: str = "uniform"
    share: float = 1.0
    top_rate: float = 0.2
    """Of one-side sampling: the share of rows that always stay."""
    temperature: float = 1.0
    """Of the Bayesian bootstrap: the power that exponential variates are raised to."""

    def draw(
        self,
        number: int,
        seed: int,
        of: SampledRows,
        derivatives: tuple[AnyArray, AnyArray] | None = None,
        n_threads: int = 1,
    ) -> RowSample:
        """Draw the rows of a round; ``derivatives`` are gradients and hessians of all rows.

        They are (n_outputs, n_rows) float32; hessians have no numbers where all are 1. Samplers
        that do not look at them do not need them.
        """
        if self.sampler == "poisson":
            return self._draw_counts(number, seed, of, n_threads)
        if derivatives is not None and self.sampler in ("one_side", "minimal_variance"):
            return self._draw_by_size(number, seed, of, derivatives, n_threads)
        rows = of.candidates
        if self.share < 1.0:
            draws = RowDraws(of.n_rows, share=self.share, seed=seed, candidates=of.candidates)
            rows = draws.draw(number)
        if self.sampler == "uniform" or self.temperature == 0.0:
            return RowSample(rows)
        own = random_bits(seed, Stream.ROW_FACTORS, number)
        scale = 1.0 / _factorial(self.temperature)
        factors = _ext.bayesian_factors(of.n_rows, self.temperature, scale, own, n_threads)
        return RowSample(rows, np.asarray(factors))

    def _draw_by_size(
        self,
        number: int,
        seed: int,
        of: SampledRows,
        derivatives: tuple[AnyArray, AnyArray],
        n_threads: int,
    ) -> RowSample:
        gradients, hessians = (numbers.reshape(-1) for numbers in derivatives)
        factors = _NO_NUMBERS if of.factors is None else of.factors
        among = _candidates(of, of.weights)
        own = random_bits(seed, Stream.ROWS, number)
        if self.sampler == "one_side":
            rows, of_rows = _ext.draw_one_side(
                gradients, factors, *among, self.top_rate, self.share, own, n_threads
            )
        else:
            rows, of_rows = _ext.draw_minimal_variance(
                gradients, hessians, factors, *among, self.share, STEP_SHARE, own, n_threads
            )
        return RowSample(rows, of_rows)

    def _draw_counts(self, number: int, seed: int, of: SampledRows, n_threads: int) -> RowSample:
        among = _candidates(of, of.weights if of.weights_repeat else None)
        own = random_bits(seed, Stream.ROWS, number)
        counts = np.asarray(_ext.draw_poisson(*among, self.share, own, n_threads))
        rows = np.flatnonzero(counts).astype(np.uint32)
        if of.weights_repeat:
            return RowSample(rows, repeats=counts)
        return RowSample(rows, factors=np.maximum(counts, 1).astype(np.float32))


def _candidates(of: SampledRows, weights: AnyArray | None) -> tuple[AnyArray, AnyArray, int]:
    rows = _NO_ROWS if of.candidates is None else of.candidates.astype(np.uint32, copy=False)
    return rows, _NO_WEIGHTS if weights is None else weights, of.n_rows


def _factorial(number: float) -> float:
    """Give the mean of the power of an exponential variate, Gamma(number + 1).

    By Stirling's series at a number ten higher, with logarithms of our own.
    """
    high = number + 11.0
    square = high * high
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / high
    half_log = 0.9189385332046727  # log(2 pi) / 2
    log_gamma = (high - 0.5) * float(_ext.exact_log(high)) - high + half_log + series
    steps = 1.0
    for step in range(1, 11):
        steps *= number + step
    return float(_ext.exact_exp(log_gamma)) / steps
