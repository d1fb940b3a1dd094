"""Shapley values of many rows: a swarm of points for each feature."""

from typing import Any

import numpy as np

from spinney.explain.shapley import ShapValues
from spinney.plots.canvas import (
    COLOURS,
    INK,
    PALE,
    Axes,
    frame,
    many_points,
    one_axes,
    plain,
    values_map,
)
from spinney.plots.reading import explained_table, one_output, one_result, ranks_of
from spinney.theory.checks import count
from spinney.typing import FloatArray, TableLike

_MOST_ROWS = 2000
"""Rows that are drawn; of more an even choice."""
_HALF = 0.4
"""How far a swarm reaches up and down."""


def plot_shap_beeswarm(
    found: Any,
    X: TableLike | None = None,
    *,
    output: Any = None,
    n_shown: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw what features add to the raw score: a point for each row, a line of them per feature.

    Features stand in the order of their mean absolute value. Points that would cover each other
    are moved up and down, always in the same way.

    Parameters
    ----------
    found : ShapValues
        Of ``spinney.explain.shap_values``. Of more than 2000 rows 2000 are drawn.
    X : table, optional
        The rows that were explained: points are coloured by the rank of the feature's value, from
        dark (low) to light (high); grey where it is missing or a category.
    output : name or position, optional
        Which output of several.
    n_shown : int
        Features that are drawn at most.
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
    >>> ax = plot_shap_beeswarm(shap_values(tree, X), X)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    result = one_result(found, ShapValues, "spinney.explain.shap_values")
    place, told = one_output(result, output)
    values = result.values[:, :, place]
    table = None if X is None else explained_table(X, result)
    order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[: count("n_shown", n_shown)]
    rows = _chosen(len(values))
    ax = one_axes(ax, size=(5.8, 1.1 + 0.34 * max(len(order), 3)))
    ax.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
    many = many_points(len(rows) * len(order))
    has_grey = False
    span = float(np.ptp(values[rows][:, order])) or 1.0
    for line, feature in enumerate(order.tolist()):
        added = values[rows, feature]
        up = line + _swarm(added, span)
        ranks = None
        if table is not None:
            ranks = ranks_of(table.columns[feature], table.n_rows)[rows]
            has_grey = has_grey or bool(np.isnan(ranks).any())
        _draw(ax, (added, up), ranks, many=many)
    ax.set_yticks(range(len(order)), [plain(result.feature_names[place]) for place in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    grey = "\n(grey: categories and missing values)" if has_grey else ""
    frame(ax, x=_axis_name(result, told) + grey, y="")
    ax.spines["left"].set_visible(False)
    if table is not None:
        _colour_bar(ax)
    return ax


def _axis_name(result: ShapValues, told: str) -> str:
    of = f" of {plain(told)}" if len(result.output_names) > 1 else ""
    return f"Shapley value: added to the raw score{of}"


def _chosen(n_rows: int) -> Any:
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    return np.rint(np.linspace(0, n_rows - 1, _MOST_ROWS)).astype(np.intp)


def _swarm(values: FloatArray, span: float) -> FloatArray:
    """Move points of about the same value apart, up and down in turn; (n_rows,)."""
    steps = np.rint(values / span * 120.0).astype(np.int64)
    order = np.lexsort([np.arange(len(values)), steps])
    _, starts, counts = np.unique(steps[order], return_index=True, return_counts=True)
    turn = np.arange(len(values)) - np.repeat(starts, counts)  # 0, 1, 2, … at the same place
    away = ((turn + 1) // 2) * np.where(turn % 2, 1.0, -1.0)
    largest = max(float(np.abs(away).max(initial=0.0)), 1.0)
    moved = np.empty(len(values))
    moved[order] = away * min(_HALF / largest, 0.09)
    return moved


def _draw(ax: Axes, place: tuple[FloatArray, FloatArray], ranks: Any, *, many: bool) -> None:
    look = {"s": 9.0, "linewidths": 0.0, "zorder": 2, "rasterized": many}
    if ranks is None:
        ax.scatter(*place, color=COLOURS[0], alpha=0.7, **look)
        return
    known = ~np.isnan(ranks)
    across, up = place
    ax.scatter(across[~known], up[~known], color=PALE, **look)
    ax.scatter(
        across[known], up[known], c=ranks[known], cmap=values_map(), vmin=0.0, vmax=1.0, **look
    )


def _colour_bar(ax: Axes) -> None:
    from matplotlib.cm import ScalarMappable  # noqa: PLC0415 - optional

    drawn = ScalarMappable(cmap=values_map())
    drawn.set_clim(0.0, 1.0)
    bar = ax.figure.colorbar(drawn, ax=ax, aspect=30, pad=0.02, ticks=[0.0, 1.0])
    bar.ax.set_yticklabels(["low", "high"])
    bar.ax.tick_params(length=0)
    bar.set_label("value of the feature, by rank", labelpad=-12)
    bar.outline.set_visible(False)
