"""Whether probabilities mean what they say."""

from typing import Any

import numpy as np

from spinney.plots.canvas import (
    COLOURS,
    DASHES,
    INK,
    MARKERS,
    Axes,
    frame,
    legend_below,
    legend_name,
    pick,
    square_axes,
)
from spinney.plots.reading import named_results
from spinney.typing import FloatArray
from spinney.uncertainty.reliability import ReliabilityCurve

_Z = 1.959963984540054
"""Standard errors on either side of 95 %."""


def plot_reliability(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how often it happened against what was said, bin by bin.

    On the diagonal probabilities are true; below it they are too high. The area of a point is the
    share of rows in its bin; whiskers are 95 % intervals (Wilson) of how often it happens.

    Parameters
    ----------
    found : ReliabilityCurve, or mapping from names to several
        Of ``spinney.uncertainty.reliability_curve``.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.uncertainty import reliability_curve
    >>> found = reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9], n_bins=2)
    >>> ax = plot_reliability(found)
    >>> ax.get_lines()[1].get_ydata().tolist()
    [0.5, 1.0]
    """
    curves = named_results(found, ReliabilityCurve, "spinney.uncertainty.reliability_curve")
    ax = square_axes(ax, len(curves) + 1)
    ax.plot([0.0, 1.0], [0.0, 1.0], color=INK, linewidth=0.8, linestyle=":", label="true")
    for place, (name, curve) in enumerate(curves.items()):
        colour = pick(COLOURS, place)
        measured = f"mean distance {curve.expected_error:.3f}"
        ax.plot(
            curve.predicted,
            curve.observed,
            color=colour,
            linestyle=pick(DASHES, place),
            linewidth=1.4,
            label=f"{legend_name(name, 18)}: {measured}" if name else measured,
        )
        ax.scatter(
            curve.predicted,
            curve.observed,
            s=12.0 + 240.0 * curve.weight / curve.weight.sum(),
            marker=pick(MARKERS, place),
            color=colour,
            edgecolors="white",
            linewidths=0.6,
            zorder=3,
        )
        low, high = _wilson(curve.observed, curve.weight)
        ax.vlines(curve.predicted, low, high, color=colour, linewidth=1.0, alpha=0.7)
    frame(ax, x="predicted probability", y="share of rows in which it happened")
    legend_below(ax)
    return ax


def _wilson(shares: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give Wilson's 95 % interval of shares of so many rows."""
    scale = 1.0 + _Z**2 / counts
    middle = (shares + _Z**2 / (2.0 * counts)) / scale
    spread = shares * (1.0 - shares) / counts + _Z**2 / (4.0 * counts**2)
    half = _Z * np.sqrt(np.maximum(spread, 0.0)) / scale
    return middle - half, middle + half
