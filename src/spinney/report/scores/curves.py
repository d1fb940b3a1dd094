"""Curves and tables of predictions against what happened, as the page shows them.

The curves themselves are those of ``spinney.theory``.
"""

from dataclasses import dataclass

import numpy as np

from spinney.theory.ranking_curves import PrecisionRecallCurve, RocCurve
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


def drawn_roc(curve: RocCurve, most: int = 80) -> Curve:
    """Give false against true positives, from the strictest threshold on.

    Examples
    --------
    >>> from spinney.theory import roc_curve
    >>> drawn = drawn_roc(roc_curve([0, 1], [0.2, 0.8]))
    >>> list(zip(drawn.x, drawn.y))
    [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    """
    return _thinned(curve.false_alarms, curve.found, curve.thresholds, most)


def drawn_precision(curve: PrecisionRecallCurve, most: int = 80) -> Curve:
    """Give recall against precision, from the strictest threshold that finds anything on."""
    there = curve.recall > 0
    recall, precision = curve.recall[there], curve.precision[there]
    x, up = np.append(0.0, recall), np.append(precision[0], precision)
    return _thinned(x, up, np.append(np.inf, curve.thresholds[there]), most)


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


def _thinned(x: FloatArray, y: FloatArray, at: FloatArray, most: int) -> Curve:
    """Keep points that are evenly apart along the curve."""
    if len(x) > most:
        length = np.append(0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y))))
        wanted = np.linspace(0, length[-1], most)
        keep = np.unique(np.clip(np.searchsorted(length, wanted), 0, len(x) - 1))
        x, y, at = x[keep], y[keep], at[keep]
    return Curve(tuple(x.tolist()), tuple(y.tolist()), tuple(at.tolist()))
