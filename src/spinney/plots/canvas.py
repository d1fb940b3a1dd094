"""Where figures are drawn, and in which colours; the only door to matplotlib."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from spinney.errors import InvalidInput
from spinney.typing import AnyArray, FloatArray

Axes: TypeAlias = Any
"""matplotlib.axes.Axes, which is not there before something is drawn."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Told apart by colour-blind readers too; Okabe and Ito (2008)."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
"""Lines differ by more than their colour."""
MARKERS = ("o", "s", "^", "D", "v", "P")
INK = "#222222"


def one_axes(ax: Axes | None, *, size: tuple[float, float] = (5.6, 3.8)) -> Axes:
    """Give the axes that were given, or those of a new figure."""
    return new_figure(size).subplots() if ax is None else ax


def several_axes(axes: Sequence[Axes] | AnyArray | None, n_axes: int) -> AnyArray:
    """Give so many axes: those that were given, or a row of a new figure."""
    if axes is None:
        row: AnyArray = new_figure((2.7 * n_axes + 0.9, 2.9)).subplots(1, n_axes, squeeze=False)[0]
        return row
    given = np.asarray(axes, dtype=object).ravel()
    if len(given) != n_axes:
        raise InvalidInput(
            f"axes holds {len(given)} axes: expected {n_axes}, one for each round and one for the "
            f"sum. Make them by pyplot.subplots(1, {n_axes})."
        )
    return given


def grid_axes(axes: AnyArray | None, n_lines: int, n_columns: int) -> AnyArray:
    """Give a table of axes: those that were given, or those of a new figure."""
    if axes is None:
        size = (2.4 * n_columns + 0.6, 2.1 * n_lines + 0.4)
        table: AnyArray = new_figure(size).subplots(
            n_lines, n_columns, squeeze=False, sharex=True, sharey=True
        )
        return table
    given = np.asarray(axes, dtype=object)
    if given.size != n_lines * n_columns:
        raise InvalidInput(
            f"axes holds {given.size} axes: expected {n_lines * n_columns}, one for each panel. "
            f"Make them by pyplot.subplots({n_lines}, {n_columns})."
        )
    return given.reshape(n_lines, n_columns)


def class_shades(n_classes: int) -> FloatArray:
    """Give each class its colour, thinned by white; (n_classes, 3)."""
    picked = [pick(COLOURS, code) for code in range(n_classes)]
    full = [[int(colour[at : at + 2], 16) / 255.0 for at in (1, 3, 5)] for colour in picked]
    return 1.0 - 0.22 * (1.0 - np.array(full))


def new_figure(size: tuple[float, float]) -> Any:
    """Make a figure that pyplot does not know of, so that nobody needs to close it."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional
    except ImportError as problem:
        raise ImportError(
            "Figures need matplotlib, which is not installed: pip install 'spinney[plot]'."
        ) from problem
    return Figure(figsize=size, layout="constrained")


def pick(choices: Sequence[Any], place: int) -> Any:
    """Give a colour, a dash or a marker; after the last they begin again."""
    return choices[place % len(choices)]


def frame(ax: Axes, *, x: str, y: str) -> None:
    """Name the axes and leave away what carries no ink."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)
