"""Numbers that say how good predictions are, with bootstrap intervals.

A metric is a function of sums over rows, or of ranks that were sorted once, so that drawing rows
again costs no sorting.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import SpinneyError
from spinney.resampling import bootstrap
from spinney.typing import AnyArray, FloatArray

_LEAST = 1e-15
"""Probabilities below count as this, as in ``spinney.uncertainty.log_loss``."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One number with its interval, and what one who knows nothing gets."""

    name: str
    meaning: str
    estimate: float
    low: float
    high: float
    baseline: float | None
    """Of the best constant prediction."""
    train: float | None = None
    """The same on the training rows."""
    more_is_better: bool = True


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    meaning: str
    of: Callable[[FloatArray, FloatArray], Any]
    """From columns of numbers (n, m) and weights (n,) to the number."""
    more_is_better: bool = True


def area_under_roc(y: FloatArray, score: FloatArray, weights: FloatArray | None = None) -> float:
    """Give the chance that a row of 1 has a larger score than one of 0; ties count half.

    Examples
    --------
    >>> area_under_roc(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    ranks = np.unique(score, return_inverse=True)[1]
    w = np.ones(len(y)) if weights is None else weights
    return _area(ranks, y, w)


def average_precision(y: FloatArray, score: FloatArray, weights: FloatArray | None = None) -> float:
    """Give the mean precision over recall: one step per different score, from the largest.

    Examples
    --------
    >>> round(average_precision(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.1, 0.4, 0.35, 0.8])), 4)
    0.8333
    """
    ranks = np.unique(score, return_inverse=True)[1]
    w = np.ones(len(y)) if weights is None else weights
    return _precision(ranks, y, w)


def score_rows(
    task: str,
    target: AnyArray,
    predictions: FloatArray,
    weights: FloatArray | None,
    *,
    n_resamples: int,
    seed: int,
) -> list[Metric]:
    """Measure predictions; ``n_resamples=0`` makes no intervals.

    Parameters
    ----------
    task : "binary", "classes" or "numbers"
    target : codes of classes, or numbers (n,)
    predictions : probabilities (n, n_classes), or numbers (n,)
    weights : of the rows, or None
    n_resamples, seed : of the bootstrap
    """
    columns, kinds = _columns_and_kinds(task, target, predictions)
    w = np.ones(len(target)) if weights is None else weights

    def statistic(drawn: FloatArray, drawn_weights: FloatArray) -> FloatArray:
        return np.array([kind.of(drawn, drawn_weights) for kind in kinds])

    estimates = statistic(columns, w)
    base_columns = _columns_and_kinds(task, target, _constant(task, target, predictions, w))[0]
    baselines = statistic(base_columns, w)
    low = high = np.full(len(kinds), np.nan)
    if n_resamples:
        low, high = _ends(statistic, (columns, w), n_resamples, seed)
    return [
        Metric(
            kind.name,
            kind.meaning,
            float(estimates[k]),
            float(low[k]),
            float(high[k]),
            float(baselines[k]),
            more_is_better=kind.more_is_better,
        )
        for k, kind in enumerate(kinds)
    ]


def row_losses(task: str, target: AnyArray, predictions: FloatArray) -> FloatArray:
    """Give the loss of each row: -ln of the probability of its class, or the absolute error."""
    if task == "numbers":
        return np.asarray(np.abs(target - predictions))
    own = predictions[np.arange(len(target)), target]
    return np.asarray(-np.log(np.maximum(own, _LEAST)))


def _ends(
    statistic: Callable[..., FloatArray],
    rows: tuple[FloatArray, FloatArray],
    n_resamples: int,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """Draw rows again; metrics that are not defined on some resample get no interval."""
    try:
        found = bootstrap(
            statistic, *rows, n_resamples=n_resamples, method="percentile", random_state=seed
        )
    except SpinneyError:  # a class without rows in some resample
        nothing = np.full(len(statistic(*rows)), np.nan)
        return nothing, nothing
    return np.asarray(found.low), np.asarray(found.high)


def _constant(task: str, target: AnyArray, predictions: FloatArray, w: FloatArray) -> FloatArray:
    """Predict the same for all rows: the shares of the classes, or the mean."""
    if task == "numbers":
        return np.full(len(target), float((w * target).sum() / w.sum()))
    shares = np.bincount(target, w, minlength=predictions.shape[1]) / w.sum()
    return np.tile(shares, (len(target), 1))


def _columns_and_kinds(
    task: str, target: AnyArray, predictions: FloatArray
) -> tuple[FloatArray, Sequence[_Kind]]:
    if task == "numbers":
        errors = predictions - target
        return np.column_stack([errors, target, errors**2, np.abs(errors)]), _NUMBERS
    n_classes = predictions.shape[1]
    hits = (predictions.argmax(axis=1) == target).astype(float)
    losses = row_losses(task, target, predictions)
    squares = ((predictions - np.eye(n_classes)[target]) ** 2).sum(axis=1)
    said = predictions.max(axis=1)
    shared = [target.astype(float), hits, losses, squares, said]
    if task == "binary":
        ranks = np.unique(predictions[:, 1], return_inverse=True)[1].astype(float)
        return np.column_stack([*shared, ranks]), _BINARY
    ranks = np.column_stack([np.unique(p, return_inverse=True)[1] for p in predictions.T])
    return np.column_stack([*shared, ranks.astype(float)]), _CLASSES


def _mean(values: FloatArray, w: FloatArray) -> float:
    return float((w * values).sum() / w.sum())


def _area(ranks: AnyArray, y: FloatArray, w: FloatArray) -> float:
    positive, negative = (np.bincount(ranks, w * part) for part in (y, 1.0 - y))
    below = np.cumsum(negative) - negative / 2
    total = positive.sum() * negative.sum()
    return float((positive * below).sum() / total) if total > 0 else float("nan")


def _precision(ranks: AnyArray, y: FloatArray, w: FloatArray) -> float:
    positive, all_rows = (np.bincount(ranks, part)[::-1] for part in (w * y, w))
    found, seen = np.cumsum(positive), np.cumsum(all_rows)
    if found[-1] <= 0:
        return float("nan")
    share = np.divide(found, seen, out=np.zeros_like(seen), where=seen > 0)
    return float((positive * share).sum() / found[-1])


def _balanced(columns: FloatArray, w: FloatArray) -> float:
    codes = columns[:, 0].astype(np.intp)
    total, right = np.bincount(codes, w), np.bincount(codes, w * columns[:, 1])
    there = total > 0
    return float((right[there] / total[there]).mean())


def _calibration(columns: FloatArray, w: FloatArray) -> float:
    """Give the expected calibration error of the likeliest class, in ten bins of equal width."""
    bins = np.minimum((columns[:, 4] * 10).astype(np.intp), 9)
    gaps = np.bincount(bins, w * (columns[:, 4] - columns[:, 1]))
    return float(np.abs(gaps).sum() / w.sum())


def _mean_area(columns: FloatArray, w: FloatArray) -> float:
    areas = [
        _area(columns[:, 5 + k].astype(np.intp), (columns[:, 0] == k).astype(float), w)
        for k in range(columns.shape[1] - 5)
    ]
    there = [area for area in areas if not np.isnan(area)]
    return float(np.mean(there)) if there else float("nan")


def _r_squared(columns: FloatArray, w: FloatArray) -> float:
    centred = columns[:, 1] - _mean(columns[:, 1], w)
    spread = _mean(centred**2, w)
    return 1.0 - _mean(columns[:, 2], w) / spread if spread > 0 else float("nan")


def _median_error(columns: FloatArray, w: FloatArray) -> float:
    if w.min() == w.max():
        return float(np.median(columns[:, 3]))
    order = np.argsort(columns[:, 3], kind="stable")
    reached = np.cumsum(w[order])
    return float(columns[order[np.searchsorted(reached, reached[-1] / 2)], 3])


_NUMBERS = (
    _Kind("R²", "share of the variance that predictions explain; 1 is best", _r_squared),
    _Kind(
        "RMSE",
        "root of the mean squared error",
        lambda c, w: np.sqrt(_mean(c[:, 2], w)),
        more_is_better=False,
    ),
    _Kind("MAE", "mean absolute error", lambda c, w: _mean(c[:, 3], w), more_is_better=False),
    _Kind("Median error", "half of the errors are smaller", _median_error, more_is_better=False),
    _Kind("Bias", "mean of prediction minus target; 0 is best", lambda c, w: _mean(c[:, 0], w)),
)
_LOG_LOSS = _Kind(
    "Log loss",
    "mean of -ln of the probability of what happened",
    lambda c, w: _mean(c[:, 2], w),
    more_is_better=False,
)
_SHARED = (
    _LOG_LOSS,
    _Kind(
        "Accuracy", "share of rows whose likeliest class is right", lambda c, w: _mean(c[:, 1], w)
    ),
    _Kind("Balanced accuracy", "mean over classes of the share that is right", _balanced),
    _Kind(
        "Calibration error",
        "mean distance of the probability of the likeliest class and how often it was right",
        _calibration,
        more_is_better=False,
    ),
)
_BINARY = (
    _Kind(
        "ROC AUC",
        "chance that a row of the second class gets the larger probability",
        lambda c, w: _area(c[:, 5].astype(np.intp), c[:, 0], w),
    ),
    _Kind(
        "Average precision",
        "mean precision over recall, for the second class",
        lambda c, w: _precision(c[:, 5].astype(np.intp), c[:, 0], w),
    ),
    *_SHARED,
    _Kind(
        "Brier score",
        "mean squared distance of probability and what happened",
        lambda c, w: _mean(c[:, 3], w) / 2,
        more_is_better=False,
    ),
)
_CLASSES = (
    _SHARED[1],
    _SHARED[2],
    _LOG_LOSS,
    _Kind("Mean ROC AUC", "ROC AUC of each class against all others, in the mean", _mean_area),
    _SHARED[3],
    _Kind(
        "Brier score",
        "squared distances of probabilities and what happened, added over classes",
        lambda c, w: _mean(c[:, 3], w),
        more_is_better=False,
    ),
)
