"""Partial dependence: what a model says on average when one or two features are set to a value."""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.table import Column, Table
from spinney.data.weights import read_weights
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain.bins import ForestBins
from spinney.explain.choosing import (
    Answer,
    choose_answer,
    choose_feature,
    choose_features,
    unused_name,
)
from spinney.explain.expectation import RowsOfTable, TrainingCover, expected_scores, walk_is_quicker
from spinney.explain.grids import Grid, grid_of_rows, make_grid
from spinney.explain.reading import Askable, AskedModel, InputForest, askable_of
from spinney.model import TreeForest
from spinney.model.tree import freeze
from spinney.parallelism import resolve_n_jobs
from spinney.results import Result
from spinney.typing import AnyArray, FloatArray, TableLike

_MOST_POINTS = {1: 100, 2: 25}
"""Points per numeric feature unless the user says otherwise, by the number of features."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PartialDependence(Result):
    """Average answers of a model, by the value of one or two features."""

    feature_names: tuple[str, ...]
    grids: tuple[AnyArray, ...]
    """Values of each feature, in the user's terms; missing is NaN, NaT or None."""
    values: FloatArray
    """An axis per feature."""
    output_name: str
    scale: str
    average_over: str
    """``"rows"`` of a table, or training ``"cover"``."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns: the features, and ``dependence``."""
        meshed = np.meshgrid(*self.grids, indexing="ij")
        columns: dict[str, Sequence[Any]] = {
            name: grid.ravel().tolist()
            for name, grid in zip(self.feature_names, meshed, strict=True)
        }
        name = unused_name("dependence", self.feature_names)
        return columns | {name: self.values.ravel().tolist()}

    def title(self) -> str:
        """Say in a line what the table shows."""
        features = " and ".join(self.feature_names)
        what = "rows" if self.average_over == "rows" else "training rows, as the trees recall them"
        return f"Partial dependence of {self.output_name} ({self.scale}) on {features}, over {what}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class IndividualCurves(Result):
    """Answers of a model for each row, by the value of one feature."""

    feature_name: str
    grid: AnyArray
    """Values of the feature, in the user's terms; missing is NaN, NaT or None."""
    values: FloatArray
    """(n_rows, n_points)"""
    output_name: str
    scale: str
    centred: bool
    """Whether curves are differences from their first points."""

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer as named columns: ``row``, the feature, and ``curve``."""
        n_rows, n_points = self.values.shape
        taken = (self.feature_name,)
        return {
            unused_name("row", taken): np.repeat(np.arange(n_rows), n_points).tolist(),
            self.feature_name: self.grid.tolist() * n_rows,
            unused_name("curve", taken): self.values.ravel().tolist(),
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        how = ", from the first point" if self.centred else ""
        return (
            f"Individual curves of {self.output_name} ({self.scale}) by {self.feature_name}{how}: "
            f"{len(self.values)} rows"
        )


def partial_dependence(
    fitted: Any,
    features: Any,
    X: TableLike = None,
    *,
    grid: Any = None,
    output: str | int | None = None,
    scale: str = "raw",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> PartialDependence:
    """Average what a model says with one or two features set to a value, for many values.

    With ``X`` it is the mean over its rows, by definition: every row with the features set to the
    value, and its own values otherwise. On the raw scale that need not be computed row by row for
    every value: one walk of the rows down each tree answers for all values, where that is quicker.

    Without ``X`` the trees alone answer: a split on another feature divides the answer as it
    divided the training rows (``method="recursion"`` in scikit-learn). That is fast and needs no
    data, and differs where features depend on each other. A model that is no sum of trees needs
    ``X``, and so do features that trees know by what was derived from them.

    Parameters
    ----------
    fitted : estimator or model
    features : name or position, or two of them
    X : table, optional
        Rows to average over.
    grid : int, values, or a pair of these for two features
        How many values of a numeric feature to ask about at most, or the values. By default one
        from every interval between thresholds of the model, thinned evenly (in rank) to 100, or to
        25 for each of two features; categories are asked about one by one; missing values if ``X``
        has some, or if there is no ``X``.
    output : name or position, optional
        Which output of several; the names are those of :func:`raw_output_names`.
    scale : {"raw", "prediction"}
        Average raw scores, or what the link makes of them: probabilities, or expected values.
    sample_weight : numbers, optional
        Weights of the rows of ``X``.
    n_jobs : int or None
        Threads.

    Returns
    -------
    PartialDependence

    References
    ----------
    Friedman (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> print(partial_dependence(tree, "x0", X))
    Partial dependence of prediction (raw) on x0, over rows
      x0  dependence
    -0.5         0.5
     1.5        10.5
    """
    forest = askable_of(fitted)
    places = choose_features(forest, features, 2)
    answer = choose_answer(forest, output, scale, of=fitted)
    n_threads = resolve_n_jobs(n_jobs)
    table = None if X is None else forest.conform(X, type(fitted).__name__)
    if table is None:
        forest, places = _trees_that_recall(forest, places)
        bins = ForestBins(forest)
        grids = _grids(forest, bins, places, grid, table)
        values = _from_cover(forest, bins, grids, answer, sample_weight)
    else:
        grids = _grids(forest, _bins_of(forest), places, grid, table)
        weighted = (table, row_weights(sample_weight, table.n_rows))
        if answer.is_sum and walk_is_quicker(forest, [one.bins for one in grids], table.n_rows):
            values = _from_rows(forest, ForestBins(forest), grids, answer, weighted)
        else:
            values = _row_by_row(forest, grids, answer, weighted, n_threads)
    return PartialDependence(
        tuple(forest.schema.names[place] for place in places),
        tuple(freeze_labels(one.labels) for one in grids),
        freeze(values),
        answer.name,
        scale,
        "cover" if table is None else "rows",
    )


def individual_curves(
    fitted: Any,
    feature: str | int,
    X: TableLike,
    *,
    grid: Any = None,
    output: str | int | None = None,
    scale: str = "raw",
    centred: bool = False,
    n_jobs: int | None = None,
) -> IndividualCurves:
    """Say for each row what a model would answer if one feature had another value.

    The mean of the curves is the partial dependence. Curves that are not parallel show that other
    features change the effect of this one. Values that no tree tells apart are asked about once.

    Parameters
    ----------
    fitted, grid, output, scale, n_jobs
        As in :func:`partial_dependence`.
    feature : name or position
    X : table
    centred : bool
        Whether to subtract from each curve its value at the first point, which makes different
        shapes easier to see.

    Returns
    -------
    IndividualCurves

    References
    ----------
    Goldstein, Kapelner, Bleich, Pitkin (2015), Peeking inside the black box, Journal of
    Computational and Graphical Statistics 24.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> individual_curves(tree, "x0", X[:2]).values
    array([[ 0., 10.],
           [ 1., 11.]])
    """
    forest = askable_of(fitted)
    place = choose_feature(forest, feature)
    answer = choose_answer(forest, output, scale, of=fitted)
    n_threads = resolve_n_jobs(n_jobs)
    table = forest.conform(X, type(fitted).__name__)
    (points,) = _grids(forest, _bins_of(forest), (place,), grid, table)
    curves = np.empty((table.n_rows, len(points.bins)))
    for first, same in _distinct(points):
        asked = with_value(table, place, points.column, first)
        curves[:, same] = answer.of_rows(forest, asked, n_threads)[:, np.newaxis]
    if centred:
        curves -= curves[:, :1].copy()
    return IndividualCurves(
        forest.schema.names[place],
        freeze_labels(points.labels),
        freeze(curves),
        answer.name,
        scale,
        bool(centred),
    )


def with_value(table: Table, feature: int, points: Column, point: int) -> Table:
    """Give a table with one feature set to one value in all rows; nothing is copied."""
    constant = np.broadcast_to(points.values[point], table.n_rows)
    columns = list(table.columns)
    levels = points.levels  # of texts, those that are asked about
    columns[feature] = replace(columns[feature], values=constant, levels=levels, rows=None)
    return Table(table.n_rows, columns, names_given=table.names_given)


def row_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Read the weights of rows; 1 each if there are none."""
    weights = read_weights(sample_weight, n_rows)
    return np.ones(n_rows) if weights is None else weights


def freeze_labels(labels: AnyArray) -> AnyArray:
    """Make labels read-only; those that are Python objects cannot be views of bytes."""
    labels = labels.copy()
    labels.flags.writeable = False
    return labels


def _bins_of(forest: TreeForest | AskedModel) -> ForestBins | None:
    return ForestBins(forest) if isinstance(forest, TreeForest) else None


def _trees_that_recall(
    forest: TreeForest | AskedModel, places: tuple[int, ...]
) -> tuple[TreeForest, tuple[int, ...]]:
    """Give trees that know the training rows by themselves, and the features among theirs."""
    if isinstance(forest, TreeForest):
        return forest, places
    if not isinstance(forest, InputForest):
        raise InvalidParameter(
            "X=None: the mean over the training rows is recalled by sums of trees, and this model "
            "is none. Pass X."
        )
    plain = forest.model.derivation.plain
    for place in places:
        if place not in plain:
            raise InvalidParameter(
                f"X=None: the trees split on what was derived from {forest.schema.names[place]!r}, "
                "so they alone do not know what rows have. Pass X."
            )
    return forest.model.forest, tuple(plain[place] for place in places)


def _grids(
    forest: TreeForest | AskedModel,
    bins: ForestBins | None,
    places: tuple[int, ...],
    grid: Any,
    table: Table | None,
) -> tuple[Grid, ...]:
    default = _MOST_POINTS[len(places)]
    is_shared = len(places) == 1 or grid is None or isinstance(grid, numbers.Integral)
    wanted = [grid] * len(places) if is_shared else _pair(grid)
    made = []
    for place, asked in zip(places, wanted, strict=True):
        points = default if asked is None else asked
        has_missing = table is None or _has_missing(table.columns[place])
        if bins is not None:
            made.append(make_grid(forest, bins, place, points, has_missing=has_missing))
        elif table is not None:
            made.append(grid_of_rows(forest, place, points, table, has_missing=has_missing))
        else:
            raise AssertionError("without rows there are bins")
    return tuple(made)


def _pair(grid: Any) -> list[Any]:
    pair = list(grid) if isinstance(grid, list | tuple) else []
    if len(pair) != 2 or any(isinstance(part, str | float) for part in pair):
        raise InvalidParameter(
            f"grid={grid!r}: for two features expected a number of points, or a pair: for each a "
            "number of points or the values."
        )
    return pair


def _has_missing(column: Column) -> bool:
    if column.levels is not None:
        return bool((column.values < 0).any())
    return bool(np.isnan(column.values).any())


def _from_cover(
    forest: TreeForest,
    bins: ForestBins,
    grids: Sequence[Grid],
    answer: Answer,
    sample_weight: Any,
) -> FloatArray:
    if not answer.is_sum:
        raise InvalidParameter(
            f"scale={answer.scale!r} without X: the trees alone know the mean of raw scores, not "
            f"that of {forest.output.link!r} predictions. Pass X, or use scale='raw'."
        )
    if sample_weight is not None:
        raise InvalidInput(
            "sample_weight is given, but X is not: without rows there is nothing to weigh. Pass X."
        )
    known = {one.feature: one.bins for one in grids}
    return expected_scores(forest, bins, known, TrainingCover(1.0), answer.position)


def _from_rows(
    forest: TreeForest,
    bins: ForestBins,
    grids: Sequence[Grid],
    answer: Answer,
    weighted: tuple[Table, FloatArray],
) -> FloatArray:
    table, weights = weighted
    known = {one.feature: one.bins for one in grids}
    others = [feature for feature in bins.features if feature not in known]
    rows = np.flatnonzero(weights)
    chance = RowsOfTable(bins.of_rows(table, others), weights, float(weights.sum()), rows)
    return expected_scores(forest, bins, known, chance, answer.position)


def _row_by_row(
    forest: Askable,
    grids: Sequence[Grid],
    answer: Answer,
    weighted: tuple[Table, FloatArray],
    n_threads: int,
) -> FloatArray:
    """Average what is not a sum over trees: set, ask, and take the mean."""
    table, weights = weighted
    values = np.empty([len(one.bins) for one in grids])
    for first, same in _distinct(grids[0]):
        asked = with_value(table, grids[0].feature, grids[0].column, first)
        if len(grids) > 1:
            values[same] = _row_by_row(forest, grids[1:], answer, (asked, weights), n_threads)
        else:
            answers = answer.of_rows(forest, asked, n_threads)
            values[same] = (weights * answers).sum() / weights.sum()
    return values


def _distinct(grid: Grid) -> list[tuple[int, AnyArray]]:
    """Give one point of each bin, and all the points that lie in it."""
    _, first, place = np.unique(grid.bins, return_index=True, return_inverse=True)
    return [(int(point), np.flatnonzero(place == k)) for k, point in enumerate(first)]
