"""How errors of the members of a committee go together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.plots.canvas import INK, Axes, one_axes, plain
from spinney.theory.checks import number_array
from spinney.theory.committee import CommitteeError
from spinney.theory.diversity import Diversity

_WRITTEN = 12
"""Members up to which numbers are written into the cells."""


def plot_error_correlation(
    found: Any, names: Sequence[str] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the correlations of the errors of members, one cell for each pair.

    Parameters
    ----------
    found : CommitteeError, Diversity, or (n_members, n_members) numbers in [-1, 1]
    names : text, optional
        Of the members; as a default their numbers from 1 on.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.theory import committee_error
    >>> found = committee_error([[1.0, 2.0, 6.0], [2.0, 1.0, 2.0]], [2.0, 2.0, 4.0])
    >>> ax = plot_error_correlation(found, ["tree", "line"])
    >>> [text.get_text() for text in ax.texts]
    ['1', '-0.98', '-0.98', '1']
    """
    matrix = _matrix(found)
    n_members = len(matrix)
    labels = (
        [str(place) for place in range(1, n_members + 1)]
        if names is None
        else [plain(name, 18) for name in names]
    )
    if len(labels) != n_members:
        raise InvalidInput(f"There are {len(labels)} names: expected {n_members}, one of a member.")
    ax = one_axes(ax, size=(4.6, 3.8))
    edges = np.arange(n_members + 1) - 0.5
    drawn = ax.pcolormesh(edges, edges, matrix, cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    ax.figure.colorbar(drawn, ax=ax, label="correlation of errors")
    if n_members <= _WRITTEN:
        for line, column in np.ndindex(matrix.shape):
            _write(ax, column, line, float(matrix[line, column]))
        long = max(map(len, labels)) * n_members > 28
        look = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
        ax.set_xticks(range(n_members), labels, **look)
        ax.set_yticks(range(n_members), labels)
    ax.set_aspect("equal")
    ax.invert_yaxis()
    return ax


def _write(ax: Axes, x: int, y: int, value: float) -> None:
    ink = "white" if abs(value) > 0.6 else INK
    text = "-" if np.isnan(value) else f"{value:.2g}"
    ax.text(x, y, text, ha="center", va="center", color=ink, fontsize="small")


def _matrix(found: Any) -> Any:
    if isinstance(found, CommitteeError | Diversity):
        return found.correlations
    matrix = number_array("found", found, n_axes=2, low=-1.0, high=1.0)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(
            f"found has the shape {matrix.shape}: expected a line and a column for each member."
        )
    return matrix
