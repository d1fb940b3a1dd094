"""Intervals for numbers: split conformal, jackknife+ and its relatives, conformalised quantiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.typing import FloatArray
from spinney.uncertainty.checks import (
    read_array,
    read_level,
    read_row_weights,
    read_same_length,
)
from spinney.uncertainty.quantiles import conformal_quantile, quantile_of_rows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PredictionIntervals(Result):
    """For each row an interval that holds its target with a probability.

    Examples
    --------
    >>> said = PredictionIntervals.of([1.0, 2.0], [0.0, 1.5], [2.0, 2.5], 0.9)
    >>> said.width.tolist(), said.coverage([0.5, 3.0])
    ([2.0, 1.0], 0.5)
    >>> print(said)
    Intervals for 90 % of the targets of 2 rows, mean width 1.5
    prediction  lower  upper
             1      0      2
             2    1.5    2.5
    """

    prediction: FloatArray
    """What is predicted without an interval."""
    lower: FloatArray
    upper: FloatArray
    level: float
    """Share of the targets that the intervals are to hold."""

    @classmethod
    def of(cls, prediction: Any, lower: Any, upper: Any, level: Any) -> "PredictionIntervals":
        """Join predictions and bounds, which may be infinite."""
        centre, low, high = (
            read_only(np.asarray(part, np.float64)) for part in (prediction, lower, upper)
        )
        return cls(centre, low, high, float(level))

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def width(self) -> FloatArray:
        """Upper minus lower bound; 0 where bounds have crossed and hold nothing."""
        return np.maximum(self.upper - self.lower, 0.0)

    @property
    def mean_width(self) -> float:
        """Mean width over rows."""
        return float(self.width.mean())

    def covers(self, y: Any) -> Any:
        """Tell for each row whether its interval holds the target; ends count."""
        targets = read_same_length("y", y, len(self))
        return (self.lower <= targets) & (targets <= self.upper)

    def coverage(self, y: Any, sample_weight: Any = None) -> float:
        """Give the share of targets that the intervals hold."""
        weights = read_row_weights(sample_weight, len(self))
        return float(np.average(self.covers(y), weights=weights))

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give prediction, lower and upper bound of each row."""
        names = ("prediction", "lower", "upper")
        return {name: getattr(self, name).tolist() for name in names}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Intervals for {100 * self.level:g} % of the targets of {len(self)} rows, mean width "
            f"{self.mean_width:.4g}"
        )


def split_intervals(
    prediction: Any, scores: Any, level: Any, *, scale: Any = None, sample_weight: Any = None
) -> PredictionIntervals:
    """Make intervals around predictions from the errors on rows that were not learnt from.

    Parameters
    ----------
    prediction : m numbers
        Predictions of new rows.
    scores : n numbers
        |y - prediction| of calibration rows; with ``scale`` divided by their scale.
    level : float
        Coverage is at least this, and at most level + 1 / (n + 1) if no scores are equal.
    scale : m positive numbers, optional
        Expected error of each new row: intervals are wide where errors are large.
    sample_weight : n numbers, optional
        Weights of the calibration rows; k counts as the row k times.

    Returns
    -------
    PredictionIntervals

    References
    ----------
    Lei, G'Sell, Rinaldo, Tibshirani & Wasserman (2018), Distribution-free predictive inference for
    regression, JASA 113.

    Examples
    --------
    >>> split_intervals([10.0], [3.0, 1.0, 2.0], 0.5).upper
    array([12.])
    """
    centre = read_array("prediction", prediction)
    reach = conformal_quantile(scores, level, sample_weight=sample_weight)
    widths = np.full(len(centre), reach) if scale is None else reach * _read_scale(scale, centre)
    return PredictionIntervals.of(centre, centre - widths, centre + widths, level)


def _read_scale(scale: Any, centre: FloatArray) -> FloatArray:
    expected = read_same_length("scale", scale, len(centre))
    if not (expected > 0).all():
        raise InvalidInput(
            f"scale[{int((expected <= 0).argmax())}] is {float(expected[expected <= 0][0])}: "
            "expected positive numbers, the error that is expected of each row."
        )
    return expected


def jackknife_plus_intervals(
    left_out: Any,
    residuals: Any,
    level: Any,
    *,
    prediction: Any = None,
    minmax: bool = False,
    sample_weight: Any = None,
) -> PredictionIntervals:
    """Make intervals from models that each lack a row: jackknife+, CV+, jackknife-minmax.

    Parameters
    ----------
    left_out : (m, n) numbers
        Prediction of each new row by the model that was fitted without training row i; for CV+
        without its fold; for jackknife+-after-bootstrap the mean of the members that lack it.
    residuals : n numbers
        |y - prediction| of each training row by the model that lacks it.
    level : float
        1 - a. Coverage is at least 1 - 2a whatever the data, and about 1 - a for models that do
        not hang on a single row; with ``minmax`` at least 1 - a.
    prediction : m numbers, optional
        What is predicted without an interval; the median over ``left_out`` if not given.
    minmax : bool
        Whether to reach from the least to the largest prediction, and a quantile of the residuals
        beyond: wider.
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    PredictionIntervals

    References
    ----------
    Barber, Candès, Ramdas & Tibshirani (2021), Predictive inference with the jackknife+, Annals of
    Statistics 49.

    Examples
    --------
    >>> left_out = [[10.0, 11.0, 12.0]]
    >>> jackknife_plus_intervals(left_out, [1.0, 2.0, 0.5], 0.5).columns()
    {'prediction': [11.0], 'lower': [9.0], 'upper': [12.5]}
    """
    answers = read_array("left_out", left_out, n_axes=2)
    errors = read_same_length("residuals", residuals, answers.shape[1])
    weights = read_row_weights(sample_weight, len(errors))
    bounds = minmax_bounds if minmax else plus_bounds
    lower, upper = bounds(answers, errors, read_level(level), weights)
    centre = np.median(answers, axis=1)
    if prediction is not None:
        centre = read_same_length("prediction", prediction, len(answers))
    return PredictionIntervals.of(centre, lower, upper, level)


def plus_bounds(
    left_out: FloatArray, residuals: FloatArray, level: Fraction, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Give the bounds of jackknife+: ⌊a (n + 1)⌋-th and ⌈(1 - a) (n + 1)⌉-th smallest ends.

    The lower one is the same as the upper one, of everything turned round.
    """
    upper = quantile_of_rows(left_out + residuals, level, weights)
    lower = quantile_of_rows(residuals - left_out, level, weights)
    return -lower, upper


def minmax_bounds(
    left_out: FloatArray, residuals: FloatArray, level: Fraction, weights: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Give the bounds of jackknife-minmax."""
    reach = quantile_of_rows(residuals[np.newaxis], level, weights)[0]
    counted = left_out if weights is None else left_out[:, weights > 0]
    return counted.min(axis=1) - reach, counted.max(axis=1) + reach


def quantile_scores(lower: Any, upper: Any, y: Any) -> FloatArray:
    """Say how far targets are outside two predicted quantiles; negative inside.

    Examples
    --------
    >>> quantile_scores([0.0, 0.0], [1.0, 1.0], [1.5, 0.25]).tolist()
    [0.5, -0.25]
    """
    targets = read_array("y", y)
    low = read_same_length("lower", lower, len(targets))
    high = read_same_length("upper", upper, len(targets))
    return np.maximum(low - targets, targets - high)


def quantile_intervals(
    lower: Any,
    upper: Any,
    scores: Any,
    level: Any,
    *,
    prediction: Any = None,
    sample_weight: Any = None,
) -> PredictionIntervals:
    """Move predicted quantiles outwards, or inwards, until they cover: conformalised quantiles.

    Parameters
    ----------
    lower, upper : m numbers
        Predicted quantiles of new rows; which quantiles is free, the coverage is promised anyway.
    scores : n numbers
        ``quantile_scores`` of calibration rows.
    level : float
        Coverage is at least this, and at most level + 1 / (n + 1) if no scores are equal.
    prediction : m numbers, optional
        What is predicted without an interval; the middle if not given.
    sample_weight : n numbers, optional
        Weights of the calibration rows; k counts as the row k times.

    Returns
    -------
    PredictionIntervals

    References
    ----------
    Romano, Patterson & Candès (2019), Conformalized quantile regression, NeurIPS.

    Examples
    --------
    >>> quantile_intervals([0.0], [1.0], [0.5, -0.25, 0.25], 0.5).columns()
    {'prediction': [0.5], 'lower': [-0.25], 'upper': [1.25]}
    """
    low = read_array("lower", lower)
    high = read_same_length("upper", upper, len(low))
    reach = conformal_quantile(scores, level, sample_weight=sample_weight)
    centre = (low + high) / 2
    if prediction is not None:
        centre = read_same_length("prediction", prediction, len(low))
    return PredictionIntervals.of(centre, low - reach, high + reach, level)
