"""Which directions the trees of a rotation forest split along."""

from dataclasses import dataclass

import numpy as np

from spinney.data.fixed_point import exact_sum
from spinney.randomness import RowBits, Stream, random_bits
from spinney.resampling.tickets import draw_tickets, rows_of_tickets, tickets_of_weights
from spinney.trees.planes import Axes
from spinney.typing import AnyArray, FloatArray

_ROWS_SHARE = 0.75
_MOST_ROWS = 4096
"""Rows that decide axes: three in four (Rodríguez, Kuncheva and Alonso), no more than these."""
_SWEEPS = 60
_LEAST = 1e-300
"""Deviation below which a feature is left as it is: one over it is still a number."""


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Mean and standard deviation of each feature, where it is there: order-free sums."""

    mean: FloatArray
    std: FloatArray

    @classmethod
    def of_matrix(cls, matrix: FloatArray, weights: FloatArray | None) -> "Scales":
        """Measure the features; none is infinite."""
        mean, std = np.zeros(matrix.shape[1]), np.ones(matrix.shape[1])
        for place, column in enumerate(matrix.T):
            is_there = ~np.isnan(column)
            own = np.ones(len(column)) if weights is None else weights
            if is_there.any():
                mean[place], std[place] = _moments(column[is_there], own[is_there])
        return cls(mean, std)

    def scaled(self, matrix: FloatArray) -> FloatArray:
        """Give features with mean 0 and deviation 1; 0 where they are missing."""
        return np.nan_to_num((matrix - self.mean) / self.std, nan=0.0)


def _moments(column: FloatArray, weights: FloatArray) -> tuple[float, float]:
    size = float(np.abs(column).max()) or 1.0  # so that no square overflows
    total = exact_sum(weights, np.ones(len(column)))
    mean = exact_sum(weights, column / size) / total
    variance = exact_sum(weights, (column / size - mean) ** 2) / total
    return mean * size, max(variance**0.5 * size, _LEAST) if variance else 1.0


def random_subsets(n_features: int, size: int, seed: int) -> list[AnyArray]:
    """Put features into random groups of a size; the last may be smaller."""
    bits = RowBits(n_features)(seed, Stream.FEATURES, range(n_features))
    order = np.argsort(bits, kind="stable")
    return [order[first : first + size] for first in range(0, n_features, size)]


@dataclass(frozen=True, slots=True, eq=False)
class ScaledRows:
    """What axes are found from."""

    scaled: FloatArray
    classes: AnyArray | None
    weights: FloatArray | None

    def draw(self, key: int) -> FloatArray:
        """Draw rows with replacement, by their weights, of some of the classes."""
        candidates = np.arange(len(self.scaled))
        if self.classes is not None:
            n_classes = int(self.classes.max()) + 1
            bits = RowBits(n_classes)(key, Stream.FEATURES, range(n_classes))
            kept = (bits & np.uint64(1)).astype(bool)
            kept[int(np.argmin(bits))] = True  # one at least
            candidates = np.flatnonzero(kept[self.classes])
        weights = None if self.weights is None else self.weights[candidates]
        last_ticket, n_tickets, n_rows = tickets_of_weights(weights, len(candidates))
        n_draws = min(max(1, round(_ROWS_SHARE * n_rows)), _MOST_ROWS)
        drawn = draw_tickets(n_tickets, n_draws, seed=key, trees=range(1), replace=True)
        return np.asarray(self.scaled[candidates[rows_of_tickets(drawn[0], last_ticket)]])


def rotated_axes(rows: ScaledRows, scales: Scales, *, size: int, seed: int) -> Axes:
    """Give the principal axes of random groups of features, each seen on other rows.

    For every group some classes are left out at random (of numbers: none), three rows in four of
    the others are drawn with replacement, and all axes of their correlations are kept.
    """
    feature, normal = [], []
    for number, subset in enumerate(random_subsets(len(scales.mean), size, seed)):
        drawn = rows.draw(random_bits(seed, Stream.ROWS, number))
        axes = principal_axes(_covariance(drawn[:, subset]))
        for axis in axes:
            feature.append(np.append(subset, np.zeros(size - len(subset), np.int64)))
            normal.append(np.append(axis / scales.std[subset], np.zeros(size - len(subset))))
    return _axes(np.array(feature), np.array(normal), scales)


def random_axes(n_axes: int, scales: Scales, *, size: int, seed: int) -> Axes:
    """Give random sums of a few scaled features, with weights between -1 and 1 (Breiman 2001)."""
    n_features = len(scales.mean)
    trees = range(n_axes)
    feature = draw_tickets(n_features, size, seed=seed, trees=trees, replace=False)
    bits = RowBits(n_axes * size)(seed, Stream.FEATURES, range(n_axes * size))
    weights = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
    return _axes(feature, weights.reshape(n_axes, size) / scales.std[feature], scales)


def _axes(feature: AnyArray, normal: FloatArray, scales: Scales) -> Axes:
    point = np.where(normal == 0.0, 0.0, scales.mean[feature])
    return Axes(np.ascontiguousarray(feature, np.int32), np.ascontiguousarray(normal), point)


def _covariance(rows: FloatArray) -> FloatArray:
    """Give covariances from sums that do not depend on the order of rows."""
    ones = np.ones(len(rows))
    centred = rows - np.array([exact_sum(ones, column) / len(rows) for column in rows.T])
    matrix = np.empty((rows.shape[1], rows.shape[1]))
    for i in range(rows.shape[1]):
        for j in range(i + 1):
            product = exact_sum(ones, centred[:, i] * centred[:, j]) / len(rows)
            matrix[i, j] = matrix[j, i] = product
    return matrix


def principal_axes(matrix: FloatArray) -> FloatArray:
    """Give the eigenvectors of a symmetric matrix as rows, by Jacobi's rotations.

    Nothing but additions, products, quotients and roots: the same bits on every machine.

    Examples
    --------
    >>> principal_axes(np.array([[2.0, 1.0], [1.0, 2.0]])).round(4).tolist()
    [[0.7071, -0.7071], [0.7071, 0.7071]]
    """
    rest, axes = matrix.copy(), np.eye(len(matrix))
    pairs = [(i, j) for j in range(len(matrix)) for i in range(j)]
    enough = 1e-15 * float(np.abs(matrix).max(initial=0.0))
    for _ in range(_SWEEPS):
        turned = False
        for i, j in pairs:
            if abs(rest[i, j]) > enough:
                cosine, sine = _rotation(rest[i, i], rest[j, j], rest[i, j])
                _turn(rest, i, j, cosine, sine)
                _turn(rest.T, i, j, cosine, sine)
                _turn(axes, i, j, cosine, sine)
                turned = True
        if not turned:
            break
    return axes


def _rotation(first: float, second: float, both: float) -> tuple[float, float]:
    """Give cosine and sine of the angle at which two features no longer vary together."""
    ratio = (second - first) / (2.0 * both)
    tangent = (1.0 if ratio >= 0 else -1.0) / (abs(ratio) + (ratio * ratio + 1.0) ** 0.5)
    cosine = 1.0 / (tangent * tangent + 1.0) ** 0.5
    return cosine, tangent * cosine


def _turn(matrix: FloatArray, i: int, j: int, cosine: float, sine: float) -> None:
    first, second = matrix[i].copy(), matrix[j].copy()
    matrix[i] = cosine * first - sine * second
    matrix[j] = sine * first + cosine * second
