"""Shapley values of one feature against its value."""

from typing import Any

import numpy as np

from spinney.data.table import Column, Table
from spinney.explain.choosing import find_place
from spinney.explain.grids import labels_of
from spinney.explain.shapley import ShapValues
from spinney.plots.canvas import (
    COLOURS,
    INK,
    MARKERS,
    PALE,
    Axes,
    frame,
    legend_beside,
    legend_name,
    many_points,
    one_axes,
    pick,
    plain,
    values_map,
)
from spinney.plots.positions import Positions
from spinney.plots.reading import explained_table, one_output, one_result
from spinney.typing import FloatArray, TableLike


def plot_shap_dependence(
    found: Any,
    feature: str | int,
    X: TableLike,
    *,
    colour_by: str | int | None = None,
    output: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what a feature adds to the raw score against its value, a point for each row.

    Rows with the same value that lie apart show that other features change its effect; colours
    by another feature can show which.

    Parameters
    ----------
    found : ShapValues
        Of ``spinney.explain.shap_values``.
    feature : name or position
    X : table
        The rows that were explained.
    colour_by : name or position, optional
        Another feature, whose values colour the points.
    output : name or position, optional
        Which output of several.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> from spinney.explain import shap_values
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> ax = plot_shap_dependence(shap_values(tree, X), "x0", X)
    >>> ax.collections[0].get_offsets().round(1).tolist()
    [[0.0, -5.0], [0.0, -5.0], [1.0, 5.0], [1.0, 5.0]]
    """
    result = one_result(found, ShapValues, "spinney.explain.shap_values")
    table = explained_table(X, result)
    place = find_place(feature, result.feature_names, "feature")
    output_place, told = one_output(result, output)
    added = result.values[:, place, output_place]
    at = Positions.of(_labels(table, place))
    across = at.places + (_spread(at.places) if at.is_levels else 0.0)
    ax = one_axes(ax)
    ax.axhline(0.0, color=INK, linewidth=0.8, zorder=1)
    look = {
        "s": min(22.0, max(6.0, 4000.0 / len(added))),
        "linewidths": 0.0,
        "zorder": 2,
        "rasterized": many_points(len(added)),
    }
    if colour_by is None:
        ax.scatter(across, added, color=COLOURS[0], alpha=0.6, **look)
    else:
        other = find_place(colour_by, result.feature_names, "colour_by")
        _draw_coloured(ax, (across, added), table, other, look)
    at.mark(ax.xaxis)
    at.mark_missing(ax)
    of = f" of {plain(told)}" if len(result.output_names) > 1 else ""
    frame(ax, x=at.label(result.feature_names[place]), y=f"Shapley value, raw score{of}")
    return ax


def _labels(table: Table, place: int) -> Any:
    column = table.columns[place]
    dense = Column(column.name, column.kind, column.dense(table.n_rows), column.levels, None)
    return labels_of(dense)


def _spread(places: FloatArray) -> FloatArray:
    """Move rows of the same level apart, evenly in the order they come in."""
    order = np.argsort(places, kind="stable")
    _, starts, counts = np.unique(places[order], return_index=True, return_counts=True)
    turn = np.arange(len(places)) - np.repeat(starts, counts)
    share = (turn + 0.5) / np.repeat(counts, counts)
    moved = np.empty(len(places))
    moved[order] = 0.5 * (share - 0.5)
    return moved


def _draw_coloured(
    ax: Axes, points: tuple[FloatArray, FloatArray], table: Table, other: int, look: dict[str, Any]
) -> None:
    across, added = points
    name = plain(table.columns[other].name)
    at = Positions.of(_labels(table, other))
    if at.missing.any():
        ax.scatter(across[at.missing], added[at.missing], color=PALE, label="missing", **look)
    known = ~at.missing
    if at.is_levels:
        for code, level in enumerate(at.levels):
            some = known & (at.places == code)
            colour, marker = pick(COLOURS, code), pick(MARKERS, code)
            own = {"color": colour, "marker": marker, "label": legend_name(level)}
            ax.scatter(across[some], added[some], **own, **look)
        legend_beside(ax, title=name, markerscale=1.6)
        return
    places = at.places[known]
    # Ends that few rows have would leave all others one colour.
    low, high = np.quantile(places, [0.02, 0.98]) if len(places) else (0.0, 1.0)
    drawn = ax.scatter(
        across[known], added[known], c=places, cmap=values_map(), vmin=low, vmax=high, **look
    )
    bar = ax.figure.colorbar(drawn, ax=ax, aspect=30, pad=0.02, label=at.label(name))
    bar.outline.set_visible(False)
    if at.kind == "dates":
        at.mark(bar.ax.yaxis)
