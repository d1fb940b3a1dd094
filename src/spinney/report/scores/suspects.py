"""Rows the model is far off on, and labels that are probably wrong."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import SpinneyError
from spinney.report.scores.metrics import row_losses
from spinney.theory import detect_mislabels
from spinney.typing import AnyArray, FloatArray, IntArray, TableLike

_ROUNDING = 1e-12
"""What the mean of equal probabilities may differ from them."""
_FAR = 6.0
"""A residual this many robust standard deviations away is told of."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """Rows whose target deserves a second look, the most suspect first."""

    rows: IntArray
    scores: FloatArray
    method: str


def hardest_rows(task: str, target: AnyArray, predictions: FloatArray, most: int) -> IntArray:
    """Give the rows of the largest loss, the largest first."""
    losses = row_losses(task, target, predictions)
    return np.argsort(-losses, kind="stable")[:most]


def suspect_labels(target: AnyArray, probabilities: FloatArray) -> Suspects:
    """Find rows that are said, with the confidence of rows of that class, to be of another one.

    A row is suspect if the probability of another class is at least the mean probability of that
    class over the rows that have its label, and its own label gets less than the mean of its own.
    (The idea of confident learning: Northcutt, Jiang & Chuang 2021.)
    """
    n_classes = probabilities.shape[1]
    own = probabilities[np.arange(len(target)), target]
    counts = np.bincount(target, minlength=n_classes)
    usual = np.bincount(target, own, minlength=n_classes) / np.maximum(counts, 1)
    usual[counts == 0] = np.inf
    is_candidate = probabilities >= np.maximum(usual - _ROUNDING, 1.0 / n_classes)
    is_candidate[np.arange(len(target)), target] = False
    best = np.where(is_candidate, probabilities, -1.0).max(axis=1)
    chosen = np.flatnonzero((best > own) & (own < usual[target]))
    margins = best[chosen] - own[chosen]
    order = np.argsort(-margins, kind="stable")
    method = "another class is as likely as it usually is for rows of that class"
    return Suspects(chosen[order], margins[order], method)


def suspect_numbers(target: FloatArray, predictions: FloatArray) -> Suspects:
    """Find rows whose residual is far outside the others'."""
    residuals = target - predictions
    middle = float(np.median(residuals))
    spread = 1.4826 * float(np.median(np.abs(residuals - middle)))
    if spread == 0:
        return Suspects(np.empty(0, np.int64), np.empty(0), "")
    distances = np.abs(residuals - middle) / spread
    chosen = np.flatnonzero(distances > _FAR)
    order = np.argsort(-distances[chosen], kind="stable")
    method = f"the residual is more than {_FAR:g} robust standard deviations from the median"
    return Suspects(chosen[order], distances[chosen][order], method)


def booster_suspects(fitted: Any, X: TableLike, y: AnyArray) -> Suspects | None:
    """Ask a booster that kept the weights of its rounds about its training rows.

    None if it kept none, or if these are not the rows it was fitted to.
    """
    if not hasattr(fitted, "trace_") or not hasattr(fitted, "margins"):
        return None
    try:
        found = detect_mislabels(fitted, X, y, share=0.02, kind="mean_weight")
    except SpinneyError:
        return None
    method = "mean weight over the rounds of boosting"
    return Suspects(np.array(found.rows), np.array(found.scores), method)
