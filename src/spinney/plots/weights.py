"""How much boosting looks at a row, round by round."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.plots.boosters import read_distributions
from spinney.plots.canvas import COLOURS, DASHES, INK, Axes, frame, legend_beside, one_axes, pick


def plot_weight_history(
    fitted: Any, rows: Sequence[int] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the weights that some rows have in each round.

    Parameters
    ----------
    fitted : booster or Trace
        Fitted with ``store_weights=True``.
    rows : whole numbers, optional
        Which rows, 0 for the first; as a default the five that are heaviest in the end.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import AdaBoostClassifier
    >>> from spinney.datasets import make_toy10
    >>> data = make_toy10()
    >>> fitted = AdaBoostClassifier(n_estimators=3, store_weights=True).fit(data.X, data.y)
    >>> ax = plot_weight_history(fitted, rows=[5])
    >>> ax.get_lines()[1].get_ydata().round(3).tolist()
    [0.1, 0.167, 0.106, 0.061]
    """
    kept = read_distributions(fitted)
    n_rows = kept.shape[1]
    heaviest = np.argsort(-kept[-1], kind="stable")[:5]
    shown = np.asarray(heaviest if rows is None else rows).ravel()
    if not len(shown) or shown.dtype.kind not in "iu" or shown.min() < 0 or shown.max() >= n_rows:
        raise InvalidInput(
            f"rows={rows!r}: expected whole numbers from 0 to {n_rows - 1}, as there are {n_rows} "
            "rows with weight."
        )
    ax = one_axes(ax)
    ax.axhline(1.0 / n_rows, color=INK, linewidth=0.8, label="even share")
    rounds = np.arange(1, len(kept) + 1)
    for place, row in enumerate(shown.tolist()):
        ax.plot(
            rounds,
            kept[:, row],
            color=pick(COLOURS, place),
            linestyle=pick(DASHES, place),
            label=f"row {row}",
        )
    ax.set_ylim(bottom=0.0)
    frame(ax, x="round", y="weight of the row")
    legend_beside(ax)
    return ax
