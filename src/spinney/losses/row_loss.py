"""Losses as functions of scores in full precision, for boosting with any base learner.

The histogram trees of gradient boosting read derivatives in 32 bits, made by native code. A step
along a function that any learner may have fitted is found here, from the same formulas in 64 bits.
"""

import abc
from dataclasses import dataclass

import numpy as np

from spinney.data.fixed_point import exact_sum, exact_sums, exact_total
from spinney.losses.line_search import LONGEST_MOVE, best_quantile_step, best_steps
from spinney.losses.loss import PointLoss
from spinney.losses.multinomial import MultinomialLoss
from spinney.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ScoredRows:
    """Rows with their targets, weights and present scores."""

    y: FloatArray
    """(n_rows,)"""
    scores: FloatArray
    """(n_rows, n_scores)"""
    weights: FloatArray
    """(n_rows,), not negative."""

    def take(self, rows: AnyArray) -> "ScoredRows":
        """Choose rows."""
        return ScoredRows(self.y[rows], self.scores[rows], self.weights[rows])


class RowLoss(abc.ABC):
    """A loss of the scores of one row, summed over rows with their weights."""

    link: str
    n_scores: int = 1

    @abc.abstractmethod
    def values(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Loss of each row; (n_rows,)."""

    @abc.abstractmethod
    def gradients(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Give the derivatives by the scores; (n_rows, n_scores)."""

    @abc.abstractmethod
    def start(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Scores of the best constant; (n_scores,)."""

    def check(  # noqa: B027 - most losses take every target
        self, y: FloatArray, numbers: AnyArray | None = None
    ) -> None:
        """Refuse targets the loss is not defined for; ``numbers`` are those rows are known by."""

    def mean(self, rows: ScoredRows) -> float:
        """Weighted mean over rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.values(rows.y, rows.scores)
        return exact_sum(rows.weights, values) / exact_total(rows.weights)

    def steps(self, rows: ScoredRows, directions: FloatArray, starts: IntArray) -> FloatArray:
        """Find t such that the loss of some rows at ``scores + t * directions`` is least.

        Parameters
        ----------
        rows : rows of positive weight
        directions : (n_rows, n_scores)
        starts : (n_steps,)
            Where the rows begin that a step is for: one behind the other, the first at 0.
        """
        segment = _segments(starts, len(rows.y))
        largest = np.maximum.reduceat(np.abs(directions).max(axis=1), starts)
        moves = largest > 0
        largest[~moves] = 1.0  # any number will do: the slope is 0 everywhere

        def moved(steps: FloatArray) -> FloatArray:
            there: FloatArray = rows.scores + steps[segment][:, np.newaxis] * directions
            return there

        def slope(steps: FloatArray) -> FloatArray:
            with np.errstate(over="ignore", invalid="ignore"):
                slopes = (self.gradients(rows.y, moved(steps)) * directions).sum(axis=1)
                return exact_sums(rows.weights, slopes, starts)

        def loss(steps: FloatArray) -> FloatArray:
            with np.errstate(over="ignore", invalid="ignore"):
                return exact_sums(rows.weights, self.values(rows.y, moved(steps)), starts)

        most = np.inf if self.link == "identity" else LONGEST_MOVE
        return best_steps(slope, loss, first=1.0 / largest, most=most / largest)


class PointRowLoss(RowLoss):
    """One of the named losses of one score."""

    def __init__(self, point: PointLoss) -> None:
        self.point = point
        self.link = point.link

    def values(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Loss of each row; (n_rows,)."""
        s, p = scores[:, 0], self.point.parameter
        match self.point.name:
            case "squared":
                return 0.5 * (s - y) ** 2
            case "absolute":
                return np.abs(s - y)
            case "huber":
                far = np.abs(s - y)
                return np.where(far <= p, 0.5 * far**2, p * (far - 0.5 * p))
            case "quantile":
                return np.maximum(p * (y - s), (p - 1) * (y - s))
            case "poisson":
                return np.exp(s) - y * s
            case "gamma":
                return s + y * np.exp(-s)
            case "tweedie":
                return np.exp((2 - p) * s) / (2 - p) - y * np.exp((1 - p) * s) / (1 - p)
            case "logistic":
                return np.logaddexp(0.0, s) - y * s
            case _:
                return np.exp((1 - 2 * y) * s)

    def gradients(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Give the derivatives by the score; (n_rows, 1)."""
        return self._slopes(y, scores[:, 0])[:, np.newaxis]

    def _slopes(self, y: FloatArray, s: FloatArray) -> FloatArray:
        p = self.point.parameter
        match self.point.name:
            case "squared":
                return s - y
            case "absolute":
                return np.sign(s - y)
            case "huber":
                return np.clip(s - y, -p, p)
            case "quantile":
                return np.where(y >= s, -p, 1 - p)
            case "poisson":
                return np.exp(s) - y
            case "gamma":
                return 1 - y * np.exp(-s)
            case "tweedie":
                return np.exp((2 - p) * s) - y * np.exp((1 - p) * s)
            case "logistic":
                return _logistic(s) - y
            case _:
                return (1 - 2 * y) * np.exp((1 - 2 * y) * s)

    def start(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Score of the best constant; (1,)."""
        return self.point.start(y, weights)

    def check(self, y: FloatArray, numbers: AnyArray | None = None) -> None:
        """Refuse targets the loss is not defined for; ``numbers`` are those rows are known by."""
        self.point.check(y, numbers)

    def steps(self, rows: ScoredRows, directions: FloatArray, starts: IntArray) -> FloatArray:
        """Find the best steps: by a formula where there is one."""
        residuals, along = rows.y - rows.scores[:, 0], directions[:, 0]
        if self.point.name == "squared":
            lengths = exact_sums(rows.weights, along * along, starts)
            shadows = exact_sums(rows.weights, residuals * along, starts)
            return np.where(lengths > 0, shadows / np.where(lengths > 0, lengths, 1.0), 0.0)
        if self.point.name in {"absolute", "quantile"}:
            level = 0.5 if self.point.name == "absolute" else self.point.parameter
            parts = np.split(np.arange(len(rows.y)), starts[1:])
            return np.array(
                [best_quantile_step(residuals[p], along[p], rows.weights[p], level) for p in parts]
            )
        return super().steps(rows, directions, starts)


class MultinomialRowLoss(RowLoss):
    """Cross-entropy of several classes; y holds their codes."""

    link = "softmax"

    def __init__(self, n_classes: int) -> None:
        self.n_scores = n_classes

    def values(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Loss of each row; (n_rows,)."""
        below = scores - scores.max(axis=1, keepdims=True)
        own = below[np.arange(len(y)), y.astype(np.int64)]
        return np.asarray(np.log(np.exp(below).sum(axis=1)) - own)

    def gradients(self, y: FloatArray, scores: FloatArray) -> FloatArray:
        """Give the derivatives by the scores; (n_rows, n_classes)."""
        shares: FloatArray = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[np.arange(len(y)), y.astype(np.int64)] -= 1.0
        return shares

    def start(self, y: FloatArray, weights: FloatArray) -> FloatArray:
        """Logarithms of the shares of the classes."""
        return MultinomialLoss(self.n_scores).start(y, weights)


def _logistic(scores: FloatArray) -> FloatArray:
    small = np.exp(-np.abs(scores))  # never overflows
    return np.where(scores < 0, small, 1.0) / (1.0 + small)


def _segments(starts: IntArray, n_rows: int) -> IntArray:
    """Say of each row which segment it is in."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=n_rows))
