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
PALE = "#9A9A9A"
"""For what stands behind: single rows, values that are missing."""
_LONGEST = 32
"""Letters of a name that are shown."""
_MOST_POINTS = 1500
"""Points up to which each of them is a shape of its own in vector files."""


def one_axes(ax: Axes | None, *, size: tuple[float, float] = (6.2, 3.7)) -> Axes:
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


def legend_beside(ax: Axes, **look: Any) -> None:
    """Put the legend where no data are: to the right of the axes."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
    ax.legend(frameon=False, **place, **look)


def square_axes(ax: Axes | None, n_names: int) -> Axes:
    """Give axes from 0 to 1 across and up, of the same length, with room for a legend below."""
    ax = one_axes(ax, size=(4.1, 4.1 + 0.25 * n_names))
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_aspect("equal", anchor="N")  # what is left of the height is below, for the legend
    return ax


def legend_below(ax: Axes) -> None:
    """Put the legend below the axes and their name."""
    place = {"loc": "upper left", "bbox_to_anchor": (-0.03, -0.15), "borderaxespad": 0.0}
    ax.legend(frameon=False, **place)


def plain(text: Any, most: int = _LONGEST) -> str:
    r"""Write a name so that it is shown as it is: no formula, no second line, not too long.

    Examples
    --------
    >>> plain("cost in $ or\n $")
    'cost in \\$ or \\$'
    >>> plain("the_first_of_many_words_and_the_last", most=20)
    'the_first_…_the_last'
    """
    shown = "".join(letter if letter.isprintable() else " " for letter in str(text))
    shown = " ".join(shown.split()) or "(no name)"
    if len(shown) > most:
        end = most // 2 - 1
        shown = f"{shown[: most - end - 1]}…{shown[-end:]}"
    return shown.replace("$", r"\$")


def legend_name(text: Any, most: int = _LONGEST) -> str:
    """Write a name for a legend, which would leave away one that begins with an underscore."""
    shown = plain(text, most)
    return f" {shown}" if shown.startswith("_") else shown


def many_points(n_points: int) -> bool:
    """Tell whether points are so many that vector files should hold a picture of them."""
    return n_points > _MOST_POINTS


def values_map() -> Any:
    """Give colours for values from low to high: told apart by all readers, and in grey."""
    from matplotlib import colormaps  # noqa: PLC0415 - optional
    from matplotlib.colors import ListedColormap  # noqa: PLC0415 - optional

    shades = colormaps["viridis"](np.linspace(0.0, 0.9, 256))  # its yellow is lost on white
    return ListedColormap(shades, name="spinney_values")


def signed_map() -> Any:
    """Give colours for values around 0: pale there, one hue above it and one below."""
    from matplotlib import colormaps  # noqa: PLC0415 - optional

    return colormaps["PuOr"]
