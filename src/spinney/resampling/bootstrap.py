"""The bootstrap: bias, standard error and interval of a statistic."""

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter, nearest_names
from spinney.randomness import Stream, random_bits, seed_from
from spinney.resampling.draw import Draw, read_draw
from spinney.resampling.intervals import (
    METHODS,
    basic_interval,
    bca_interval,
    normal_interval,
    percentile_interval,
    studentised_interval,
)
from spinney.resampling.leaving import acceleration_without, leave_each_out, some_together
from spinney.resampling.pivots import errors_by_function, errors_by_resampling, pivots_of
from spinney.resampling.resamples import Resamples
from spinney.resampling.statistic import Statistic, check_finite, read_arrays
from spinney.results import Result, read_only
from spinney.typing import FloatArray, RandomState


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the interval that covers the truth at the stated level."""

    estimate: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BootstrapResult(Result):
    """What resamples say of a statistic.

    Numbers are floats, or arrays in the shape of the statistic.
    """

    estimate: Any
    """The statistic of the data."""
    bias: Any
    """By how much the statistic is too large on average."""
    standard_error: Any
    low: Any
    """Lower end of the interval."""
    high: Any
    level: float
    """How often such intervals cover the truth, or should."""
    method: str
    """How the interval was made."""
    distribution: FloatArray
    """The statistics of the resamples, along the first axis."""
    resamples: Resamples = field(repr=False)
    """The resamples themselves, to be drawn again."""

    @property
    def interval(self) -> Interval:
        """The estimate with its interval, of a statistic that is one number."""
        if np.ndim(self.estimate):
            raise InvalidInput(
                f"The statistic has the shape {np.shape(self.estimate)}: it has an interval for "
                "each part, see low and high."
            )
        return Interval(self.estimate, self.low, self.high, self.level)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give a row per number of the statistic."""
        names = ("estimate", "bias", "standard_error", "low", "high")
        values = {n: np.ravel(getattr(self, n)).tolist() for n in names}
        if not np.ndim(self.estimate):
            return values
        places = [str(place)[1:-1].rstrip(",") for place in np.ndindex(np.shape(self.estimate))]
        return {"part": places, **values}

    def title(self) -> str:
        """Say how many resamples there were, and what interval this is."""
        return (
            f"Bootstrap, {len(self.distribution)} resamples; {100 * self.level:g} % interval by "
            f"{self.method}"
        )


def bootstrap(
    statistic: Callable[..., Any],
    *rows: Any,
    draw: str | Draw = "rows",
    method: str | None = None,
    level: float = 0.95,
    n_resamples: int = 999,
    error: Callable[..., Any] | None = None,
    vectorized: bool = False,
    random_state: RandomState = None,
) -> BootstrapResult:
    """Draw the data again and again, to see how far a statistic of it can be trusted.

    A resample depends on the seed and its own number alone, whatever ``vectorized`` is.

    Parameters
    ----------
    statistic : takes the arrays, gives a number or an array of always the same shape
    rows : arrays; one entry of each makes a row, unless ``draw`` says otherwise
    draw : how to draw
        "rows" with replacement; "balanced", all resamples together holding every row equally
        often; "separate", each array by itself (two samples); "bayesian", weights instead of rows.
        Or an object: ``DrawRows`` (strata), ``DrawGroups``, ``DrawBlocks`` (time), ``DrawFewer``
        (m out of n, subsampling), ``DrawSimulated`` (from a model).
    method : how to make the interval
        "percentile", "basic", "bca", "studentised", "normal". None is "bca" where rows or groups
        are drawn, "basic" where fewer rows are, and "percentile" for other draws. Where BCa is not
        defined, as when all resamples agree, percentiles stand in and ``method`` of the result
        says so.
    level : coverage aimed at
    n_resamples : how many to draw
    error : for "studentised", takes the arrays and gives the standard error of the statistic
        None asks the jackknife for up to 50 rows, and 50 resamples of each resample for more.
    vectorized : whether statistic and error take many resamples at once: with rows along axis 1
        instead of 0, and ``axis=1`` as a keyword (``numpy.mean`` does)
    random_state : decides the draws

    Returns
    -------
    BootstrapResult

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap. Davison and Hinkley (1997),
    Bootstrap Methods and their Application.

    Examples
    --------
    >>> from spinney.datasets import load_law_school
    >>> def correlation(x, y):
    ...     return np.corrcoef(x, y)[0, 1]
    >>> answer = bootstrap(correlation, *load_law_school().arrays, random_state=0)
    >>> 0.12 < answer.standard_error < 0.15
    True
    """
    way = read_draw(draw)
    _check_numbers(level, n_resamples)
    arrays = read_arrays(rows, paired=way.pairs_rows, what="A bootstrap")
    seed = seed_from(random_state)
    function = Statistic(statistic, vectorized=vectorized)
    resamples = way.prepare(arrays, seed, int(n_resamples))
    method = _read_method(method, resamples)
    estimate = function.of_data(resamples.whole)
    values = function.of_all(resamples, int(n_resamples))
    check_finite(values, "resamples")
    outcome = _Outcome(function, resamples, estimate, values, seed)
    ends, method = outcome.interval(method, float(level), error, vectorized)
    shape = function.shape or ()

    def shaped(vector: FloatArray) -> Any:
        return read_only(vector.reshape(shape)) if shape else float(vector[0])

    return BootstrapResult(
        estimate=shaped(estimate),
        bias=shaped(outcome.bias),
        standard_error=shaped(outcome.error),
        low=shaped(ends[:, 0]),
        high=shaped(ends[:, 1]),
        level=float(level),
        method=method,
        distribution=read_only(values.reshape(len(values), *shape)),
        resamples=resamples,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """The statistics of the data and of its resamples, flat."""

    statistic: Statistic
    resamples: Resamples
    estimate: FloatArray
    values: FloatArray
    seed: int

    @property
    def bias(self) -> FloatArray:
        return np.asarray(self.resamples.scale.bias * (self.values.mean(axis=0) - self.estimate))

    @property
    def error(self) -> FloatArray:
        return np.asarray(self.resamples.scale.spread * self.values.std(axis=0, ddof=1))

    def interval(
        self, method: str, level: float, error: Callable[..., Any] | None, vectorized: bool
    ) -> tuple[FloatArray, str]:
        """Give the ends of the interval, and what it is."""
        if method == "studentised":
            return self._studentised(level, error, vectorized), method
        if method == "normal":
            return normal_interval(self.estimate - self.bias, self.error, level), method
        spread = self.resamples.scale.spread
        scaled = self.values
        if spread != 1:
            scaled = self.estimate + spread * (self.values - self.estimate)
        if method == "basic":
            return basic_interval(scaled, self.estimate, level), method
        if method == "percentile":
            return percentile_interval(scaled, level), method
        units = some_together(self.resamples.units, seed=self.seed)
        left_out = leave_each_out(self.statistic, self.resamples.arrays, units)
        for values in left_out:
            check_finite(values, "samples without a row or group")
        if not left_out:
            return percentile_interval(scaled, level), "percentile (bca is not defined)"
        acceleration = acceleration_without(left_out)
        ends, defined = bca_interval(scaled, self.estimate, acceleration, level)
        return ends, "bca" if defined else "bca (percentile where that is not defined)"

    def _studentised(
        self, level: float, error: Callable[..., Any] | None, vectorized: bool
    ) -> FloatArray:
        n = len(self.values)
        if np.isnan(self.resamples.scale.pivot):
            raise InvalidParameter(
                "method='studentised' needs rate=0.5: standard errors fall with the root of the "
                "number of rows. Use 'percentile' or 'basic'."
            )
        if error is not None:
            own, errors = errors_by_function(error, self.resamples, n, vectorized=vectorized)
        else:
            seed = random_bits(self.seed, Stream.ROWS, n)
            own, errors = errors_by_resampling(
                self.statistic, self.resamples, n, seed=seed, spread=self.error
            )
        if own.shape != self.estimate.shape:
            raise InvalidInput(
                f"error gives {own.size} numbers, the statistic {self.estimate.size}: expected a "
                "standard error for each."
            )
        pivots = self.resamples.scale.pivot * pivots_of(self.values - self.estimate, errors)
        ends = studentised_interval(pivots, self.estimate, own, level)
        if not np.isfinite(ends).all():
            raise InvalidInput(
                f"The standard error is 0 in {int((errors == 0).any(axis=1).sum())} of {n} "
                "resamples, so many that a studentised interval has no end. Use method='bca' or "
                "'percentile'."
            )
        return ends


def _read_method(method: str | None, resamples: Resamples) -> str:
    if method is None:
        return "bca" if resamples.units else resamples.usual_method
    if method not in METHODS:
        raise InvalidParameter(
            f"method={method!r}: expected 'percentile', 'basic', 'bca', 'studentised' or 'normal'."
            + nearest_names(str(method), METHODS)
        )
    if method == "bca" and not resamples.units:
        raise InvalidParameter(
            "method='bca' needs draws of as many rows or groups as there are, so that leaving one "
            "out tells how the statistic speeds up. Use 'percentile' or 'basic' with this draw."
        )
    if method == "studentised" and resamples.whole.weights is not None:
        raise InvalidParameter(
            "method='studentised' has no meaning for weights: their distribution is a posterior. "
            "Use 'percentile'."
        )
    return method


def _check_numbers(level: Any, n_resamples: Any) -> None:
    if not isinstance(level, numbers.Real) or not 0 < float(level) < 1:
        raise InvalidParameter(f"level={level!r}: expected a number between 0 and 1, such as 0.95.")
    is_whole = isinstance(n_resamples, numbers.Integral) and not isinstance(n_resamples, bool)
    if not is_whole or not 2 <= n_resamples < 2**31:
        raise InvalidParameter(
            f"n_resamples={n_resamples!r}: expected an integer from 2 up, such as 999."
        )
