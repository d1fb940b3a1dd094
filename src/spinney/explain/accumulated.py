"""Accumulated local effects: what a model does as a feature grows, among rows like that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.table import Kind, Table
from spinney.ensembles.parameters import Integer, check_parameters
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain.choosing import choose_answer, choose_feature, unused_name
from spinney.explain.dependence import freeze_labels, row_weights
from spinney.explain.grids import labels_of
from spinney.explain.reading import Askable, askable_of
from spinney.model.tree import freeze
from spinney.parallelism import resolve_n_jobs
from spinney.results import Result
from spinney.typing import AnyArray, FloatArray, IntArray, TableLike


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AccumulatedEffects(Result):
    """The effect of a numeric feature at the ends of intervals, linear in between."""

    feature_name: str
    edges: AnyArray
    """Ends of the intervals, in the user's terms."""
    values: FloatArray
    """Effect at each edge; its weighted mean over the rows is 0."""
    interval_weights: FloatArray
    """Weight of the rows in each interval; one less than edges."""
    output_name: str
    scale: str

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the whole answer: edges, effects, and the weight of the rows up to each edge."""
        taken = (self.feature_name,)
        return {
            self.feature_name: self.edges.tolist(),
            unused_name("effect", taken): self.values.tolist(),
            unused_name("weight", taken): [0.0, *self.interval_weights.tolist()],
        }

    def title(self) -> str:
        """Say in a line what the table shows."""
        return (
            f"Accumulated local effects of {self.feature_name} on {self.output_name} ({self.scale})"
        )


def accumulated_effects(
    fitted: Any,
    X: TableLike,
    feature: str | int,
    *,
    n_intervals: int = 40,
    output: str | int | None = None,
    scale: str = "raw",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> AccumulatedEffects:
    """Add up how a model's answer changes from interval to interval of a feature.

    In each interval only the rows that lie in it are asked, at its two ends, all else unchanged.
    Unlike partial dependence that never asks about rows far from any that exist, such as small
    houses with many rooms.

    Between the edges the effect is taken to be linear, and it is centred so that its weighted mean
    over the rows is 0. Rows without a value of the feature are left out.

    Parameters
    ----------
    fitted : estimator or model
    X : table
    feature : name or position
        A number, boolean, date, datetime or duration. Categories have no order to accumulate in;
        :func:`partial_dependence` asks about each.
    n_intervals : int
        At most this many, with about the same weight of rows; their edges are values of rows.
    output, scale
        As in :func:`partial_dependence`.
    sample_weight : numbers, optional
        Weights of rows.
    n_jobs : int or None
        Threads.

    Returns
    -------
    AccumulatedEffects

    References
    ----------
    Apley, Zhu (2020), Visualizing the effects of predictor variables in black box supervised
    learning models, Journal of the Royal Statistical Society B 82.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> print(accumulated_effects(tree, X, "x0"))
    Accumulated local effects of x0 on prediction (raw)
    x0  effect  weight
     0      -5       0
     1       5       4
    """
    rules = {"n_intervals": Integer(1)}
    check_parameters("accumulated_effects", {"n_intervals": n_intervals}, rules)
    forest = askable_of(fitted)
    place = choose_feature(forest, feature)
    answer = choose_answer(forest, output, scale, of=fitted)
    n_threads = resolve_n_jobs(n_jobs)
    refuse_categories(forest, place)
    table = forest.conform(X, type(fitted).__name__)
    weights = row_weights(sample_weight, table.n_rows)
    table, weights, x = rows_with_value(table, weights, place)
    edges = quantile_edges(x, weights, n_intervals)

    def ask(values: FloatArray) -> FloatArray:
        return answer.of_rows(forest, with_values(table, place, values), n_threads)

    effects, in_interval = _accumulate(ask, x, edges, weights)
    effects -= (weights * np.interp(x, edges, effects)).sum() / weights.sum()
    described = replace(forest.schema.feature(place), values=edges)
    return AccumulatedEffects(
        forest.schema.names[place],
        freeze_labels(labels_of(described)),
        freeze(effects),
        freeze(in_interval),
        answer.name,
        scale,
    )


def quantile_edges(x: FloatArray, weights: FloatArray, n_intervals: int) -> FloatArray:
    """Find distinct values that divide rows into intervals of about equal weight.

    Examples
    --------
    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 9.0]), np.ones(4), 2)
    array([1., 2., 9.])
    """
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(weights[order])
    wanted = np.arange(n_intervals) / n_intervals * reached[-1]
    inner = x[order][np.searchsorted(reached, wanted, side="left")]
    return np.unique(np.append(inner, x.max()))


def intervals_of(x: FloatArray, edges: FloatArray) -> IntArray:
    """Find the interval of each value; one at an edge lies in the interval below it.

    Examples
    --------
    >>> intervals_of(np.array([1.0, 1.5, 2.0, 9.0]), np.array([1.0, 2.0, 9.0]))
    array([0, 0, 0, 1])
    """
    return np.asarray(np.maximum(np.searchsorted(edges, x, side="left") - 1, 0))


def _accumulate(
    ask: Callable[[FloatArray], FloatArray], x: FloatArray, edges: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give the effect at each edge, 0 at the first, and the weight of each interval."""
    if len(edges) == 1:
        return np.zeros(1), np.zeros(0)
    interval = intervals_of(x, edges)
    changes = ask(edges[interval + 1]) - ask(edges[interval])
    in_interval = np.bincount(interval, weights).astype(np.float64)
    steps = np.bincount(interval, weights * changes) / in_interval
    return np.append(0.0, np.cumsum(steps)), in_interval


def with_values(table: Table, place: int, values: FloatArray) -> Table:
    """Give the same rows with other values of a feature."""
    columns = list(table.columns)
    columns[place] = replace(columns[place], values=values, rows=None)
    return Table(table.n_rows, columns, names_given=table.names_given)


def refuse_categories(forest: Askable, place: int) -> None:
    """Refuse features without an order."""
    if forest.schema.kinds[place] is Kind.TEXT:
        raise InvalidParameter(
            f"feature={forest.schema.names[place]!r} is text, and texts have no order along which "
            "effects could be accumulated. Use partial_dependence with grid=, a list of texts."
        )
    if forest.schema.kinds[place] is Kind.CATEGORICAL:
        name = forest.schema.names[place]
        raise InvalidParameter(
            f"feature={name!r} is categorical, and its levels have no order along which effects "
            "could be accumulated. Use partial_dependence, which asks about each level."
        )


def rows_with_value(
    table: Table, weights: FloatArray, place: int
) -> tuple[Table, FloatArray, FloatArray]:
    """Keep the rows that count and have a value of the feature, which is given too."""
    column = table.columns[place]
    x = column.dense(table.n_rows).astype(np.float64)
    if np.isinf(x).any():
        row = int(np.argmax(np.isinf(x)))
        raise InvalidInput(
            f"Row {row} of {column.name!r} is {x[row]}: effects are accumulated along finite "
            "values. Leave such rows out, or clip them."
        )
    kept = np.flatnonzero((weights > 0) & ~np.isnan(x))
    if not len(kept):
        raise InvalidInput(
            f"No row of positive weight has a value of {column.name!r}, so it has no effects to "
            "accumulate. Give rows that have one."
        )
    if len(kept) < table.n_rows:
        table, weights, x = table.take(kept), weights[kept], x[kept]
    return table, weights, x
