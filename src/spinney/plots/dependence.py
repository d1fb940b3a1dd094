"""What a model says as a feature changes: partial dependence, single rows, accumulated effects."""

from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.explain.accumulated import AccumulatedEffects
from spinney.explain.accumulated_pair import AccumulatedInteraction
from spinney.explain.dependence import IndividualCurves, PartialDependence
from spinney.plots.canvas import (
    COLOURS,
    INK,
    PALE,
    Axes,
    frame,
    legend_beside,
    one_axes,
    plain,
    signed_map,
    values_map,
)
from spinney.plots.positions import Positions
from spinney.plots.reading import one_result
from spinney.theory.checks import count
from spinney.typing import AnyArray, FloatArray


def plot_partial_dependence(
    found: Any, curves: Any = None, *, n_curves: int = 50, ax: Axes | None = None
) -> Axes:
    """Draw the average answer against one feature, or as colours over two.

    Parameters
    ----------
    found : PartialDependence
        Of ``spinney.explain.partial_dependence``.
    curves : IndividualCurves, optional
        Of ``spinney.explain.individual_curves`` of the same feature: thin lines behind the average,
        one for a row. If they are centred, so is the average.
    n_curves : int
        Curves that are drawn at most, evenly spread over the rows.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> from spinney.explain import partial_dependence
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> ax = plot_partial_dependence(partial_dependence(tree, "x0", X))
    >>> ax.get_lines()[0].get_ydata().tolist()
    [0.5, 10.5]
    """
    result = one_result(found, PartialDependence, "spinney.explain.partial_dependence")
    rows = None
    if curves is not None:
        rows = one_result(curves, IndividualCurves, "spinney.explain.individual_curves")
        _check_same(result, rows)
    if len(result.feature_names) == 2:
        return _draw_two(result, ax)
    at = Positions.of(result.grids[0])
    ax = one_axes(ax)
    average, told = result.values, f"{plain(result.output_name)} ({result.scale})"
    if rows is not None:
        chosen = _evenly(len(rows.values), count("n_curves", n_curves))
        for place, row in enumerate(chosen):
            label = "single rows" if place == 0 else ""
            _draw_curve(ax, at, rows.values[row], colour=PALE, width=0.6, label=label)
        if rows.centred:
            average, told = average - average[0], f"{told}, from the first point"
    _draw_curve(ax, at, average, colour=COLOURS[0], width=2.2, label="mean")
    at.mark(ax.xaxis)
    at.mark_missing(ax)
    frame(ax, x=at.label(result.feature_names[0]), y=told)
    if rows is not None:
        legend_beside(ax)
    return ax


def plot_accumulated_effects(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the accumulated local effects of a feature; ticks above the axis are the edges.

    Edges lie close where rows do, as each interval has about the same weight of them. What two
    features do together is drawn as colours, each the mean of the corners of a cell; cells without
    rows are left out.

    Parameters
    ----------
    found : AccumulatedEffects or AccumulatedInteraction
        Of ``spinney.explain.accumulated_effects`` or ``accumulated_interaction``.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> from spinney.explain import accumulated_effects
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> ax = plot_accumulated_effects(accumulated_effects(tree, X, "x0"))
    >>> ax.get_lines()[1].get_ydata().tolist()
    [-5.0, 5.0]
    """
    if isinstance(found, AccumulatedInteraction):
        return _draw_cells(found, ax)
    result = one_result(found, AccumulatedEffects, "spinney.explain.accumulated_effects")
    at = Positions.of(result.edges)
    ax = one_axes(ax)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.plot(
        at.places,
        result.values,
        color=COLOURS[0],
        linewidth=1.8,
        marker="o",
        markersize=3.0 if len(at.places) > 1 else 6.0,
        label="effect",
    )
    ax.plot(
        at.places,
        np.full(len(at.places), 0.012),
        "|",
        color=INK,
        markersize=6.0,
        transform=ax.get_xaxis_transform(),
        label="edges",
    )
    at.mark(ax.xaxis)
    told = f"effect on {plain(result.output_name)} ({result.scale})"
    frame(ax, x=at.label(result.feature_name), y=told)
    return ax


def _check_same(result: PartialDependence, rows: IndividualCurves) -> None:
    same = result.feature_names == (rows.feature_name,) and (
        result.output_name,
        result.scale,
    ) == (rows.output_name, rows.scale)
    if not same or len(rows.grid) != len(result.grids[0]):
        raise InvalidInput(
            f"curves are of {rows.output_name} ({rows.scale}) by {rows.feature_name} at "
            f"{len(rows.grid)} points, but the average is of {result.output_name} "
            f"({result.scale}) by {' and '.join(result.feature_names)}: expected the same. Ask for "
            "both with the same feature, output, scale, grid and rows."
        )


def _evenly(n_rows: int, most: int) -> list[int]:
    if n_rows <= most:
        return list(range(n_rows))
    chosen: list[int] = np.rint(np.linspace(0, n_rows - 1, most)).astype(int).tolist()
    return chosen


def _draw_curve(
    ax: Axes, at: Positions, heights: FloatArray, *, colour: str, width: float, label: str
) -> None:
    """Draw one curve: steps along numbers, points at levels; a point where the value is missing."""
    known = ~at.missing
    look = {"color": colour, "linewidth": width, "label": label or "_"}
    is_mean = width > 1.0
    marker = "o" if at.is_levels or known.sum() == 1 else ""
    ax.plot(
        at.places[known],
        heights[known],
        drawstyle="default" if at.is_levels else "steps-mid",
        linestyle=":" if at.is_levels and is_mean else "-",
        marker=marker if is_mean else "",
        markersize=6.0,
        zorder=3 if is_mean else 1,
        **look,
    )
    if at.missing.any():
        size = 6.0 if is_mean else 3.0
        ax.plot(
            at.places[at.missing],
            heights[at.missing],
            linestyle="",
            marker="o" if at.is_levels else "D",
            markersize=size,
            color=colour,
            zorder=3 if is_mean else 1,
        )


def _draw_two(result: PartialDependence, ax: Axes | None) -> Axes:
    """Draw the average over two features as a table of coloured cells."""
    across, up = (Positions.of(grid) for grid in result.grids)
    ax = one_axes(ax)
    drawn = ax.pcolormesh(
        _edges(across.places),
        _edges(up.places),
        result.values[np.argsort(across.places)][:, np.argsort(up.places)].T,
        cmap=values_map(),
        rasterized=result.values.size > 2000,
    )
    told = f"{plain(result.output_name)} ({result.scale})"
    ax.figure.colorbar(drawn, ax=ax, label=told, pad=0.02).outline.set_visible(False)
    across.mark(ax.xaxis)
    across.mark_missing(ax)
    up.mark(ax.yaxis)
    if up.missing.any() and not up.is_levels:
        last = max(up.places[~up.missing], default=-np.inf)
        ticks = [tick for tick in ax.get_yticks() if up.places.min() <= tick <= last]
        texts = ax.yaxis.get_major_formatter().format_ticks(ticks)
        ax.set_yticks([*ticks, up.missing_place], [*texts, "missing"])
    first, second = result.feature_names
    frame(ax, x=across.label(first), y=up.label(second))
    return ax


def _draw_cells(result: AccumulatedInteraction, ax: Axes | None) -> Axes:
    """Draw what two features do together as coloured cells, pale where it is nothing."""
    across, up = (Positions.of(edges) for edges in result.edges)
    corners, ax = result.values, one_axes(ax)
    if result.cell_weights.size:
        middles = (corners[1:, 1:] + corners[1:, :-1] + corners[:-1, 1:] + corners[:-1, :-1]) / 4.0
        shown = np.ma.masked_array(middles, result.cell_weights == 0.0)
        most = float(np.abs(shown).max()) or 1.0
        drawn = ax.pcolormesh(
            across.places,
            up.places,
            shown.T,
            cmap=signed_map(),
            vmin=-most,
            vmax=most,
            rasterized=middles.size > 2000,
        )
        told = f"effect on {plain(result.output_name)} ({result.scale})"
        ax.figure.colorbar(drawn, ax=ax, label=told, pad=0.02).outline.set_visible(False)
    across.mark(ax.xaxis)
    up.mark(ax.yaxis)
    first, second = result.feature_names
    frame(ax, x=across.label(first), y=up.label(second))
    return ax


def _edges(places: AnyArray) -> FloatArray:
    """Give where cells around places end: half way between neighbours."""
    ordered = np.sort(places)
    if len(ordered) == 1:
        return np.array([ordered[0] - 0.5, ordered[0] + 0.5])
    middles = (ordered[1:] + ordered[:-1]) / 2.0
    first, last = 2.0 * ordered[0] - middles[0], 2.0 * ordered[-1] - middles[-1]
    return np.array([first, *middles, last])
