"""Intervals that hold targets with a probability."""

from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.plots.canvas import COLOURS, INK, Axes, frame, legend_beside, one_axes, plain
from spinney.plots.reading import one_result
from spinney.theory.checks import count, number_array
from spinney.typing import BoolArray, FloatArray, IntArray
from spinney.uncertainty.intervals import PredictionIntervals


def plot_intervals(
    found: Any,
    y: Any = None,
    *,
    by: Any = None,
    name: str = "rows, by their prediction",
    n_shown: int = 100,
    ax: Axes | None = None,
) -> Axes:
    """Draw intervals of some rows, and the targets: full where they are held, open where not.

    Parameters
    ----------
    found : PredictionIntervals
        Of ``predict_interval``, or of the functions of ``spinney.uncertainty``.
    y : numbers, optional
        Targets of the rows; the title tells the share that is held, of all rows.
    by : numbers, optional
        Where the rows stand on the axis, such as a feature; as a default they stand side by side,
        in the order of their predictions.
    name : str
        What to write below the axis.
    n_shown : int
        Rows that are drawn at most, evenly spread over the axis by rank.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.uncertainty import PredictionIntervals
    >>> said = PredictionIntervals.of([1.0, 2.0], [0.0, 1.5], [2.0, 2.5], 0.9)
    >>> plot_intervals(said, [0.5, 3.0]).get_title(loc="left")
    '90 % intervals hold 50.0 % of 2 targets'
    """
    result = one_result(found, PredictionIntervals, "predict_interval")
    n_rows = len(result)
    targets = None if y is None else _of_rows("y", y, n_rows)
    order = np.argsort(
        result.prediction if by is None else _of_rows("by", by, n_rows), kind="stable"
    )
    rows = _spread(order, count("n_shown", n_shown))
    across = np.arange(1.0, len(rows) + 1.0) if by is None else _of_rows("by", by, n_rows)[rows]
    low, high = _seen(result, targets, rows)
    ax = one_axes(ax)
    thick = min(4.0, max(1.0, 220.0 / len(rows)))
    ax.vlines(
        across, low, high, color=COLOURS[5], linewidth=thick, alpha=0.75, label="interval", zorder=1
    )
    ax.plot(
        across,
        result.prediction[rows],
        "_",
        color=INK,
        markersize=4.0,
        label="prediction",
        zorder=2,
    )
    title = f"{100 * result.level:g} % intervals"
    if targets is not None:
        _draw_targets(ax, across, targets[rows], result.covers(targets)[rows])
        title += f" hold {100 * result.coverage(targets):.1f} % of {n_rows} targets"
    ax.set_title(title, fontsize="medium", loc="left")
    frame(ax, x=plain(name, 60), y="target" if targets is not None else "prediction")
    if by is None:
        ax.set_xticks([])
    legend_beside(ax)
    return ax


def _draw_targets(ax: Axes, across: FloatArray, targets: FloatArray, held: BoolArray) -> None:
    """Draw those that are held small and full, the others larger and open."""
    looks = (
        (held, "target, held", {"s": 9.0, "color": COLOURS[0], "marker": "o", "linewidths": 0.0}),
        (
            ~held,
            "target, missed",
            {"s": 26.0, "facecolors": "white", "edgecolors": COLOURS[1], "marker": "D"},
        ),
    )
    for some, label, look in looks:
        if some.any():
            ax.scatter(across[some], targets[some], label=label, zorder=3, **look)


def _of_rows(name: str, values: Any, n_rows: int) -> FloatArray:
    array = number_array(name, values)
    if len(array) != n_rows:
        raise InvalidInput(f"{name} has {len(array)} numbers: expected {n_rows}, one for each row.")
    return array


def _spread(order: IntArray, most: int) -> IntArray:
    """Take at most so many, evenly."""
    if len(order) <= most:
        return order
    return order[np.rint(np.linspace(0, len(order) - 1, most)).astype(np.intp)]


def _seen(
    result: PredictionIntervals, targets: FloatArray | None, rows: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Give the ends of intervals; infinite ones reach a little further than all that is finite."""
    low, high = result.lower[rows], result.upper[rows]
    parts = [low, high, result.prediction[rows]]
    parts += [] if targets is None else [targets[rows]]
    known = np.concatenate(parts)
    known = known[np.isfinite(known)]
    least, most = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    air = 0.1 * ((most - least) or 1.0)
    return np.maximum(low, least - air), np.minimum(high, most + air)
