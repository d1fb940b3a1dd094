"""Which classes are taken for which."""

from typing import Any

import numpy as np

from spinney.plots.canvas import INK, Axes, one_axes, plain
from spinney.plots.reading import one_result
from spinney.theory.confusion import Confusion

_WRITTEN = 12
"""Classes up to which numbers are written into the cells."""


def plot_confusion(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a cell for each pair of classes, dark where many rows of a class are said to be of one.

    A cell has the weight of its rows, and below it their share in the class; right ones lie on the
    diagonal.

    Parameters
    ----------
    found : Confusion
        Of ``spinney.theory.confusion``.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.theory import confusion
    >>> ax = plot_confusion(confusion(["ash", "ash", "fir"], ["ash", "fir", "fir"]))
    >>> [text.get_text().split() for text in ax.texts]
    [['1', '50%'], ['1', '50%'], ['0', '0%'], ['1', '100%']]
    """
    result = one_result(found, Confusion, "spinney.theory.confusion")
    n_classes = len(result.classes)
    is_written = n_classes <= _WRITTEN
    side = 1.9 + (0.62 * n_classes if is_written else 0.22 * min(n_classes, 40))
    ax = one_axes(ax, size=(side + 1.3, side))
    edges = np.arange(n_classes + 1) - 0.5
    drawn = ax.pcolormesh(edges, edges, result.shares, cmap="Blues", vmin=0.0, vmax=1.0)
    ax.figure.colorbar(drawn, ax=ax, label="share of the class", shrink=0.9)
    names = [plain(label, 18) for label in result.classes.tolist()]
    if is_written:
        for line, column in np.ndindex(result.weights.shape):
            share, weight = float(result.shares[line, column]), float(result.weights[line, column])
            _write(ax, (column, line), weight, share)
    if n_classes <= 40:
        long = max(map(len, names)) * n_classes > 24
        look = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
        ax.set_xticks(range(n_classes), names, **look)
        ax.set_yticks(range(n_classes), names)
    ax.tick_params(length=0)
    ax.set(xlabel="predicted class", ylabel="true class")
    ax.set_aspect("equal")
    ax.invert_yaxis()
    return ax


def _write(ax: Axes, place: tuple[int, int], weight: float, share: float) -> None:
    told = f"{weight:.4g}" if np.isnan(share) else f"{weight:.4g}\n{share:.0%}"
    ink = "white" if share > 0.55 else INK
    ax.text(*place, told, ha="center", va="center", color=ink, fontsize="small")
