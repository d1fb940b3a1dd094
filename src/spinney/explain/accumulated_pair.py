"""Accumulated local effects of two features: what they do together beyond what each does alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.ensembles.parameters import Integer, check_parameters
from spinney.errors import InvalidParameter
from spinney.explain.accumulated import (
    intervals_of,
    quantile_edges,
    refuse_categories,
    rows_with_value,
    with_values,
)
from spinney.explain.choosing import choose_answer, choose_features, unused_name
from spinney.explain.dependence import freeze_labels, row_weights
from spinney.explain.grids import labels_of
from spinney.explain.reading import askable_of
from spinney.model.tree import freeze
from spinney.parallelism import resolve_n_jobs
from spinney.results import Result
from spinney.typing import AnyArray, FloatArray, IntArray, TableLike

_MOST_PAIRS = 1 << 20
"""Pairs of cells that are compared at a time."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AccumulatedInteraction(Result):
    """What two numeric features do together, at the corners of cells; without what each does."""

    feature_names: tuple[str, str]
    edges: tuple[AnyArray, AnyArray]
    """Ends of the intervals of each feature, in the user's terms."""
    values: FloatArray
    """(n_edges, n_edges of the second): effect at each corner."""
    cell_weights: FloatArray
    """Weight of the rows in each cell; one less than edges along each axis. Of cells without rows
    the effect is taken from the nearest that has some."""
    output_name: str
    scale: str

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer: the corners, effects, and the weight of the cell up to each."""
        meshed = np.meshgrid(*self.edges, indexing="ij")
        columns: dict[str, Sequence[Any]] = {
            name: grid.ravel().tolist()
            for name, grid in zip(self.feature_names, meshed, strict=True)
        }
        weights = np.zeros(self.values.shape)
        weights[1:, 1:] = self.cell_weights
        return columns | {
            unused_name("effect", self.feature_names): self.values.ravel().tolist(),
            unused_name("weight", self.feature_names): weights.ravel().tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        first, second = self.feature_names
        return (
            f"Accumulated local effects of {first} with {second} on {self.output_name} "
            f"({self.scale})"
        )


def accumulated_interaction(
    fitted: Any,
    X: TableLike,
    features: Any,
    *,
    n_intervals: int = 20,
    output: str | int | None = None,
    scale: str = "raw",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> AccumulatedInteraction:
    """Add up what two features do together, from cell to cell of both.

    In each cell only the rows that lie in it are asked, at its four corners, all else unchanged:
    how much more does the answer change with one feature where the other is higher? These
    differences are added up, and what each feature does alone, along its own intervals, is taken
    off. Of features that a model adds up the answer is 0 everywhere.

    A cell without rows has the difference of the nearest one that has some, in intervals of both
    features; the first of those that are as near. The effect is centred: the mean over rows of the
    corners of their cells is 0. Rows without a value of either feature are left out.

    Parameters
    ----------
    fitted : estimator or model
    X : table
    features : two names or positions
        Numbers, booleans, dates, datetimes or durations.
    n_intervals : int
        At most this many along each feature, with about the same weight of rows.
    output, scale
        As in :func:`partial_dependence`.
    sample_weight : numbers, optional
        Weights of rows.
    n_jobs : int or None
        Threads.

    Returns
    -------
    AccumulatedInteraction

    References
    ----------
    Apley, Zhu (2020), Visualizing the effects of predictor variables in black box supervised
    learning models, Journal of the Royal Statistical Society B 82.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 15.0])
    >>> print(accumulated_interaction(tree, X, ["x0", "x1"]))
    Accumulated local effects of x0 with x1 on prediction (raw)
    x0  x1  effect  weight
     0   0       1       0
     0   1      -1       0
     1   0      -1       0
     1   1       1       4
    """
    rules = {"n_intervals": Integer(1)}
    check_parameters("accumulated_interaction", {"n_intervals": n_intervals}, rules)
    forest = askable_of(fitted)
    places = _two_features(choose_features(forest, features, 2), features)
    answer = choose_answer(forest, output, scale, of=fitted)
    n_threads = resolve_n_jobs(n_jobs)
    for place in places:
        refuse_categories(forest, place)
    table = forest.conform(X, type(fitted).__name__)
    weights = row_weights(sample_weight, table.n_rows)
    table, weights, _ = rows_with_value(table, weights, places[0])
    table, weights, second = rows_with_value(table, weights, places[1])
    first = table.columns[places[0]].dense(table.n_rows).astype(np.float64)
    edges = [quantile_edges(x, weights, n_intervals) for x in (first, second)]

    def ask(one: FloatArray, other: FloatArray) -> FloatArray:
        asked = with_values(with_values(table, places[0], one), places[1], other)
        return answer.of_rows(forest, asked, n_threads)

    cells = _Cells((first, second), (edges[0], edges[1]), weights)
    described = [
        replace(forest.schema.feature(place), values=at)
        for place, at in zip(places, edges, strict=True)
    ]
    names = [forest.schema.names[place] for place in places]
    labels = [freeze_labels(labels_of(one)) for one in described]
    return AccumulatedInteraction(
        (names[0], names[1]),
        (labels[0], labels[1]),
        freeze(cells.effects(ask)),
        freeze(cells.weights),
        answer.name,
        scale,
    )


class _Cells:
    """The cells of two features, and the rows in them."""

    def __init__(
        self,
        values: tuple[FloatArray, FloatArray],
        edges: tuple[FloatArray, FloatArray],
        weights: FloatArray,
    ) -> None:
        self._edges, self._row_weights = edges, weights
        self._shape = len(edges[0]) - 1, len(edges[1]) - 1
        self._intervals = [intervals_of(x, at) for x, at in zip(values, edges, strict=True)]
        self._cell = self._intervals[0] * max(self._shape[1], 1) + self._intervals[1]
        self.weights = self._sums(weights)
        """(n_intervals, n_intervals of the second): weight of the rows in each cell."""

    def effects(self, ask: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
        """Give the effect at each corner, from answers about rows with other values."""
        if 0 in self._shape:  # a constant does nothing, also not together with another
            return np.zeros([size + 1 for size in self._shape])
        low, high = (
            [at[i + step] for at, i in zip(self._edges, self._intervals, strict=True)]
            for step in (0, 1)
        )
        together = ask(high[0], high[1]) - ask(low[0], high[1])
        together -= ask(high[0], low[1]) - ask(low[0], low[1])
        sums, there = self._sums(self._row_weights * together), self.weights > 0.0
        steps = np.divide(sums, self.weights, out=np.zeros(self._shape), where=there)
        steps = steps.ravel()[nearest_cells(there)].reshape(self._shape)
        total = np.zeros([size + 1 for size in self._shape])
        total[1:, 1:] = steps.cumsum(axis=0).cumsum(axis=1)
        alone = _alone(total, self.weights)[:, np.newaxis] + _alone(total.T, self.weights.T)
        return self._centred(total - alone)

    def _centred(self, corners: FloatArray) -> FloatArray:
        middles = (corners[1:, 1:] + corners[1:, :-1] + corners[:-1, 1:] + corners[:-1, :-1]) / 4.0
        mean = (self.weights * middles).sum() / self.weights.sum()
        return np.asarray(corners - mean)

    def _sums(self, numbers: FloatArray) -> FloatArray:
        n_cells = self._shape[0] * self._shape[1]
        if not n_cells:
            return np.zeros(self._shape)
        return np.bincount(self._cell, numbers, n_cells).reshape(self._shape).astype(np.float64)


def _alone(total: FloatArray, weights: FloatArray) -> FloatArray:
    """Accumulate what the first feature does by itself within what both do together."""
    changes = np.diff(total, axis=0)
    middles = (changes[:, 1:] + changes[:, :-1]) / 2.0
    steps = (weights * middles).sum(axis=1) / weights.sum(axis=1)
    return np.append(0.0, np.cumsum(steps))


def nearest_cells(there: AnyArray) -> IntArray:
    """Give the number of the nearest cell that is there, for each cell; ties to the first.

    Examples
    --------
    >>> nearest_cells(np.array([[True, False, False], [False, False, True]]))
    array([0, 0, 5, 0, 5, 5])
    """
    numbers, empty = np.flatnonzero(there), np.flatnonzero(~there)
    nearest, known = np.arange(there.size), np.argwhere(there)
    for part in np.array_split(empty, 1 + len(empty) * len(numbers) // _MOST_PAIRS):
        apart = np.argwhere(~there)[np.searchsorted(empty, part), np.newaxis] - known
        nearest[part] = numbers[(apart**2).sum(axis=2).argmin(axis=1)]
    return nearest


def _two_features(places: tuple[int, ...], given: Any) -> tuple[int, int]:
    if len(places) != 2 or places[0] == places[1]:
        raise InvalidParameter(
            f"features={given!r}: expected two different features. Of one, "
            "accumulated_effects says what it does."
        )
    return places[0], places[1]
