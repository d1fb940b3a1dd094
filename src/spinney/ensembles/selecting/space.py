"""Rows as points, and the points nearest to others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.neighbors import NearestNeighbors

from spinney.data.table import Column, Kind, Table
from spinney.typing import AnyArray, FloatArray

MOST_LEVELS = 100
"""Levels of a category that have a coordinate of their own: the most frequent ones."""
_SPARE = 8
"""Neighbours asked for beyond those needed, to see whether the last one is one of several ties."""
_CLOSE = 1e-6
"""Share by which distances of scikit-learn may be wrong; they come from products of matrices."""
_FARTHEST = 1e9
"""Standard deviations beyond which values are all equally far."""
_BLOCK = 1 << 20
"""Numbers in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """How a numeric column becomes a coordinate: (value / unit - centre) / spread."""

    unit: float
    centre: float
    spread: float
    """0: the column does not vary, and has no coordinate."""
    low: float
    high: float
    """Least and largest finite value, which infinite ones become."""

    @classmethod
    def learn(cls, values: AnyArray, weights: FloatArray) -> "Axis":
        """Learn mean and standard deviation of the finite values, weighted."""
        known = np.isfinite(values)
        numbers, counts = values[known].astype(np.float64), weights[known]
        unit = float(np.abs(numbers).max(initial=0.0))
        if not unit:
            return cls(1.0, 0.0, 0.0, 0.0, 0.0)
        scaled, total = numbers / unit, counts.sum()
        centre = (scaled * counts).sum() / total
        spread = np.sqrt(((scaled - centre) ** 2 * counts).sum() / total)
        # To 24 bits: rows that are repeated and rows of more weight give the same numbers.
        is_constant = numbers.min() == numbers.max()
        return cls(
            unit,
            float(np.float32(centre)),
            0.0 if is_constant else float(np.float32(spread)),
            float(numbers.min()),
            float(numbers.max()),
        )

    def coordinates(self, values: AnyArray) -> FloatArray:
        """Place values; what is missing stands at the mean."""
        numbers = values.astype(np.float64)
        numbers = np.where(np.isposinf(numbers), self.high, numbers)
        numbers = np.where(np.isneginf(numbers), self.low, numbers)
        with np.errstate(over="ignore"):
            placed = (numbers / self.unit - self.centre) / self.spread
        return np.where(np.isnan(numbers), 0.0, np.clip(placed, -_FARTHEST, _FARTHEST))


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Where rows stand: numbers in standard deviations, categories as a 1 among zeros.

    Missing numbers stand at the mean, a missing or unknown category at zeros only. Columns that do
    not vary have no coordinates. Only the most frequent levels of a category have a coordinate.
    """

    axes: tuple[Axis | AnyArray, ...]
    """Of each column: its axis, or the codes of the levels that have a coordinate."""

    @classmethod
    def learn(cls, table: Table, weights: FloatArray | None) -> "Space":
        """Learn from rows, which count by their weights."""
        counts = np.ones(table.n_rows) if weights is None else weights
        return cls(tuple(_axis(column, table.n_rows, counts) for column in table.columns))

    def points(self, table: Table) -> FloatArray:
        """Place rows; (n_rows, n_coordinates)."""
        placed = [
            _coordinates(axis, column.dense(table.n_rows))
            for axis, column in zip(self.axes, table.columns, strict=True)
        ]
        return np.ascontiguousarray(np.concatenate(placed, axis=1))


def _axis(column: Column, n_rows: int, counts: FloatArray) -> Axis | AnyArray:
    values = column.dense(n_rows)
    if column.kind is not Kind.CATEGORICAL:
        return Axis.learn(values, counts)
    known = values >= 0
    totals = np.bincount(values[known], counts[known])
    most_frequent = np.argsort(-totals, kind="stable")[:MOST_LEVELS]
    return np.asarray(np.sort(most_frequent[totals[most_frequent] > 0]))


def _coordinates(axis: Axis | AnyArray, values: AnyArray) -> FloatArray:
    if not isinstance(axis, Axis):
        return np.asarray(values[:, np.newaxis] == axis, np.float64)
    if not axis.spread:
        return np.empty((len(values), 0))
    return axis.coordinates(values)[:, np.newaxis]


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The neighbours of some rows, nearest first; of equals the one with the lower number."""

    rows: AnyArray
    """(n_queries, n_neighbours): numbers of the known rows."""
    shares: FloatArray
    """How much each counts: its weight, up to k in all; 0: beyond the region."""


class Neighbourhood:
    """Known points, and the k rows nearest to any other; a weight of 2 makes a row two of them.

    Examples
    --------
    >>> known = Neighbourhood(np.array([[0.0], [1.0], [5.0]]), np.array([2.0, 1.0, 1.0]), k=3)
    >>> known.around(np.array([[4.0]])).rows.tolist(), known.around(np.array([[4.0]])).shares
    ([[2, 1, 0]], array([[1., 1., 1.]]))
    """

    def __init__(self, points: FloatArray, weights: FloatArray | None, k: int) -> None:
        self._points = points if points.shape[1] else np.zeros((len(points), 1))
        self._weights = np.ones(len(points)) if weights is None else weights
        self._k = k
        # So many of the lightest rows weigh k together; any others weigh more.
        reach = np.cumsum(np.sort(self._weights)) >= k
        self._needed = int(np.argmax(reach)) + 1 if reach.any() else len(points)
        self._asked = min(len(points), self._needed + _SPARE)
        self._search = NearestNeighbors(n_neighbors=self._asked).fit(self._points)

    def around(self, queries: FloatArray) -> Region:
        """Find the neighbours of points; (n_queries, n_coordinates)."""
        queries = queries if queries.shape[1] else np.zeros((len(queries), 1))
        step = max(1, _BLOCK // (self._asked * queries.shape[1]))
        found = [
            self._nearest(queries[first : first + step]) for first in range(0, len(queries), step)
        ]
        rows = np.concatenate([*found, np.empty((0, self._needed), np.int64)])
        weights = self._weights[rows]
        before = np.cumsum(weights, axis=1) - weights
        return Region(rows, np.clip(self._k - before, 0.0, weights))

    def _nearest(self, queries: FloatArray) -> AnyArray:
        found = np.sort(self._search.kneighbors(queries, return_distance=False), axis=1)
        squares = _squares(queries, self._points, found)
        order = np.argsort(squares, axis=1, kind="stable")
        nearest = np.take_along_axis(found, order, axis=1)[:, : self._needed]
        if self._asked == len(self._points):
            return nearest
        squares = np.take_along_axis(squares, order, axis=1)
        is_clear = squares[:, self._needed - 1] < (1 - _CLOSE) * squares[:, -1]
        for query in np.flatnonzero(~is_clear):
            nearest[query] = self._of_all(queries[query])
        return nearest

    def _of_all(self, query: FloatArray) -> AnyArray:
        """Look at every point: some that were not found may be as near as those that were."""
        squares = ((self._points - query) ** 2).sum(axis=1)
        last = np.partition(squares, self._needed - 1)[self._needed - 1]
        near = np.flatnonzero(squares <= last)
        return near[np.argsort(squares[near], kind="stable")[: self._needed]]


def _squares(queries: FloatArray, points: FloatArray, found: AnyArray) -> FloatArray:
    """Squared distances to the points that were found, coordinate by coordinate."""
    differences = points[found] - queries[:, np.newaxis]
    squares: FloatArray = (differences**2).sum(axis=2)
    return squares


def blocks(n_rows: int, width: int) -> Sequence[slice]:
    """Divide rows so that so many numbers for each of them stay within bounds."""
    step = max(1, _BLOCK // max(1, width))
    return [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]
