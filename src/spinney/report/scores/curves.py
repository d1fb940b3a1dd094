"""Curves and tables of predictions against what happened."""

from dataclasses import dataclass

import numpy as np

from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a line, thinned to those that show."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    at: tuple[float, ...]
    """The threshold of each point."""


@dataclass(frozen=True, slots=True)
class ClassScores:
    """How one class is found."""

    label: str
    n_rows: float
    precision: float
    recall: float
    f1: float


def roc_curve(y: FloatArray, score: FloatArray, weights: FloatArray, most: int = 80) -> Curve:
    """Give false against true positives, from the strictest threshold on.

    Examples
    --------
    >>> curve = roc_curve(np.array([0.0, 1.0]), np.array([0.2, 0.8]), np.ones(2))
    >>> list(zip(curve.x, curve.y))
    [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    """
    thresholds, found, wrong = _counts(y, score, weights)
    x = np.append(0.0, wrong / max(wrong[-1], 1e-300))
    up = np.append(0.0, found / max(found[-1], 1e-300))
    return _thinned(x, up, np.append(np.inf, thresholds), most)


def precision_curve(y: FloatArray, score: FloatArray, weights: FloatArray, most: int = 80) -> Curve:
    """Give recall against precision, from the strictest threshold on."""
    thresholds, found, wrong = _counts(y, score, weights)
    there = found > 0
    if not there.any():
        return Curve((), (), ())
    recall, precision = found[there] / found[-1], found[there] / (found + wrong)[there]
    x, up = np.append(0.0, recall), np.append(precision[0], precision)
    return _thinned(x, up, np.append(np.inf, thresholds[there]), most)


def confusion(
    target: AnyArray, predicted: AnyArray, n_classes: int, weights: FloatArray
) -> FloatArray:
    """Count rows by what they are (down) and what they are said to be (across)."""
    flat = np.bincount(target * n_classes + predicted, weights, minlength=n_classes**2)
    return flat.reshape(n_classes, n_classes).astype(np.float64)


def class_scores(counts: FloatArray, labels: tuple[str, ...]) -> list[ClassScores]:
    """Say of each class how many of its rows are found, and how many found are of it."""
    scores = []
    for k, label in enumerate(labels):
        right, there, said = counts[k, k], counts[k].sum(), counts[:, k].sum()
        precision = right / said if said else float("nan")
        recall = right / there if there else float("nan")
        f1 = 2 * right / (there + said) if there + said else float("nan")
        scores.append(ClassScores(label, float(there), float(precision), float(recall), float(f1)))
    return scores


def binned_means(
    x: FloatArray, y: FloatArray, weights: FloatArray, n_bins: int = 12
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give means of x and of y, and standard errors of the latter, in bins of equal weight."""
    order = np.argsort(x, kind="stable")
    shares = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    bins = np.minimum((shares * n_bins).astype(np.intp), n_bins - 1)
    total = np.bincount(bins, weights[order])
    there = total > 0
    means = [
        np.bincount(bins, weights[order] * part[order])[there] / total[there] for part in (x, y)
    ]
    squares = np.bincount(bins, weights[order] * y[order] ** 2)[there] / total[there]
    n_in_bin = np.maximum(np.bincount(bins)[there], 2)
    errors = np.sqrt(np.maximum(squares - means[1] ** 2, 0.0) / (n_in_bin - 1))
    return means[0], means[1], errors


def _counts(
    y: FloatArray, score: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Add up rows of 1 and of 0 whose score is at least each of the different scores."""
    values, ranks = np.unique(score, return_inverse=True)
    sums = [np.bincount(ranks, weights * part)[::-1] for part in (y, 1.0 - y)]
    found, wrong = (np.cumsum(part, dtype=np.float64) for part in sums)
    return values[::-1], found, wrong


def _thinned(x: FloatArray, y: FloatArray, at: FloatArray, most: int) -> Curve:
    """Keep points that are evenly apart along the curve."""
    if len(x) > most:
        length = np.append(0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y))))
        wanted = np.linspace(0, length[-1], most)
        keep = np.unique(np.clip(np.searchsorted(length, wanted), 0, len(x) - 1))
        x, y, at = x[keep], y[keep], at[keep]
    return Curve(tuple(x.tolist()), tuple(y.tolist()), tuple(at.tolist()))
