"""What classifiers say of every point of the plane, one panel for each."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType
from spinney.plots.canvas import (
    COLOURS,
    INK,
    MARKERS,
    Axes,
    class_shades,
    grid_axes,
    legend_beside,
    legend_name,
    pick,
    plain,
)
from spinney.plots.cells import Cells, Plane
from spinney.theory.checks import count
from spinney.theory.votes import label_codes
from spinney.typing import AnyArray, TableLike

_MOST_POINTS = 1500
"""Points in all panels up to which each of them is a shape of its own in vector files."""


def plot_decision_regions(
    classifiers: Any,
    X: TableLike,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    n_shown: int | None = None,
    axes: AnyArray | None = None,
) -> AnyArray:
    """Draw the regions of classifiers of two features, and some rows; wrong ones are ringed.

    Parameters
    ----------
    classifiers : fitted classifiers
        One, a row of them, or rows of them: one panel for each.
    X, y : table and labels
        Rows to draw and to count errors on.
    names : text, optional
        One for each row of panels; as a default the names of the classes of its estimators.
    n_shown : int, optional
        How many of the rows to draw, from the first on; errors are counted on all of them.
    axes : matplotlib axes, optional
        Where to draw, one for each panel; None for a new figure.

    Returns
    -------
    axes : array of matplotlib axes, as many rows and columns as classifiers

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from spinney.datasets import make_toy10
    >>> data = make_toy10()
    >>> axes = plot_decision_regions(LogisticRegression().fit(data.X, data.y), data.X, data.y)
    >>> axes.shape, axes[0, 0].get_title()
    ((1, 1), 'LogisticRegression: error 0.30')
    """
    table = _table(classifiers)
    named = names if names is not None else [type(line[0]).__name__ for line in table]
    if len(list(named)) != len(table):
        raise InvalidInput(f"There are {len(list(named))} names: expected {len(table)}, of rows.")
    columns = getattr(X, "columns", None)
    plane = Plane.of(X, ("x0", "x1") if columns is None else (*map(str, columns), "", ""))
    if len(np.asarray(y)) != len(plane.points):
        raise InvalidInput(
            f"y has {len(np.asarray(y))} labels: expected one for each of {len(plane.points)} rows."
        )
    n_drawn = len(plane.points) if n_shown is None else count("n_shown", n_shown)
    panels = grid_axes(axes, table.shape[0], table.shape[1])
    for (line, column), classifier in np.ndenumerate(table):
        ax: Axes = panels[line, column]
        wrong = _draw(ax, classifier, plane, y, n_drawn)
        for drawn in ax.collections:
            drawn.set_rasterized(drawn.get_rasterized() or table.size * n_drawn > _MOST_POINTS)
        ax.set_title(f"{plain(named[line])}: error {wrong:.2f}", fontsize="medium")
    for ax in panels[-1]:
        ax.set_xlabel(plain(plane.names[0]))
    for ax in panels[:, 0]:
        ax.set_ylabel(plain(plane.names[1]))
    legend_beside(panels[0, -1], markerscale=1.6)
    return panels


def _draw(ax: Axes, classifier: Any, plane: Plane, y: Any, n_drawn: int) -> float:
    """Draw one panel and give the share of rows that are wrong."""
    cells = Cells.between(None, plane.limits())
    at_cells, at_points = (
        np.asarray(classifier.predict(plane.like(points)))
        for points in (cells.centres(), plane.points)
    )
    classes, (_, shade, said, right) = label_codes(
        classes=classifier.classes_, cells=at_cells, predictions=at_points, y=y
    )
    cells.draw(ax, shade, class_shades(len(classes)))
    wrong, drawn = said != right, np.arange(len(right)) < n_drawn
    for code, ringed in product(range(len(classes)), (False, True)):
        # Points that look alike are drawn at once, which keeps vector files small.
        own = "" if ringed else legend_name(f"class {classes[code]}")
        ax.scatter(
            *plane.points[drawn & (right == code) & (wrong == ringed)].T,
            s=9.0,
            marker=pick(MARKERS, code),
            color=pick(COLOURS, code),
            edgecolors=INK if ringed else "white",
            linewidths=0.9 if ringed else 0.3,
            label=own,
            zorder=2,
        )
    (left, right_end), (low, high) = plane.limits()
    ax.set(xlim=(left, right_end), ylim=(low, high))
    return float(wrong.mean())


def _table(classifiers: Any) -> AnyArray:
    """Read one classifier, a row of them or rows of them as a table."""
    lines = classifiers if isinstance(classifiers, list | tuple | np.ndarray) else [classifiers]
    if len(lines) and not isinstance(lines[0], list | tuple | np.ndarray):
        lines = [lines]
    widths = {len(line) for line in lines}
    if len(widths) != 1 or 0 in widths:
        raise InvalidInput(
            f"Rows of classifiers are {sorted(widths)} long: expected rows of the same length, "
            "none of them empty."
        )
    table = np.empty((len(lines), widths.pop()), dtype=object)
    for place in np.ndindex(table.shape):
        one = lines[place[0]][place[1]]
        if not hasattr(one, "predict") or not hasattr(one, "classes_"):
            raise InvalidInputType(
                f"{type(one).__name__} in row {place[0]} is no fitted classifier: expected "
                "predict and classes_. Call fit first."
            )
        table[place] = one
    return table
