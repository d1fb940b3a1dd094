"""By how much numbers are missed, by what was predicted."""

from typing import Any

import numpy as np

from spinney.plots.canvas import (
    COLOURS,
    INK,
    Axes,
    frame,
    legend_beside,
    many_points,
    one_axes,
)
from spinney.plots.reading import one_result
from spinney.theory.residuals import Residuals
from spinney.typing import FloatArray


def plot_residuals(found: Any, *, n_bins: int = 10, ax: Axes | None = None) -> Axes:
    """Draw target minus prediction against the prediction, and its mean in bins.

    Means away from 0 show where predictions are too low (above) or too high (below); whiskers are
    two standard errors. Points that spread more on one side show errors that grow.

    Parameters
    ----------
    found : Residuals
        Of ``spinney.theory.residuals``.
    n_bins : int
        Bins of about the same weight of rows, by the prediction; 0 for none.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.theory import residuals
    >>> ax = plot_residuals(residuals([1.0, 2.0, 4.0], [1.5, 2.0, 3.0]), n_bins=0)
    >>> ax.collections[0].get_offsets().tolist()
    [[1.5, -0.5], [2.0, 0.0], [3.0, 1.0]]
    """
    result = one_result(found, Residuals, "spinney.theory.residuals")
    counts = result.weights > 0.0
    said, missed, weights = (
        part[counts] for part in (result.predictions, result.residuals, result.weights)
    )
    ax = one_axes(ax)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    few = min(26.0, max(5.0, 3000.0 / len(said)))
    ax.scatter(
        said,
        missed,
        # One size for all is one shape in vector files, not one for each row.
        s=few if np.ptp(weights) == 0.0 else few * weights / weights.mean(),
        color=COLOURS[0],
        alpha=0.45 if len(said) > 60 else 0.8,
        linewidths=0.0,
        rasterized=many_points(len(said)),
        label="rows",
    )
    places, means, errors = _bin_means(said, missed, weights, n_bins)
    if len(places) > 1:
        ax.errorbar(
            places,
            means,
            yerr=2.0 * errors,
            color=COLOURS[1],
            marker="s",
            markersize=4.5,
            linewidth=1.4,
            capsize=2.5,
            label="mean in bins",
        )
    frame(ax, x="prediction", y="residual: target - prediction")
    measured = f"RMSE {result.root_mean_square:.4g}, R² {result.r2:.3g}"
    ax.set_title(measured, fontsize="medium", loc="left")
    legend_beside(ax)
    return ax


def _bin_means(
    said: FloatArray, missed: FloatArray, weights: FloatArray, n_bins: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give mean prediction, mean residual and its standard error of bins of about equal weight."""
    _, places = np.unique(said, return_inverse=True)
    own = np.bincount(places, weights)
    middles = (np.cumsum(own) - own / 2.0) / own.sum()  # rows of one prediction stay together
    bins = np.unique((middles * n_bins).astype(np.int64), return_inverse=True)[1][places]
    totals = np.bincount(bins, weights)
    across, means = (np.bincount(bins, weights * part) / totals for part in (said, missed))
    variances = np.bincount(bins, weights * (missed - means[bins]) ** 2) / totals
    return across, means, np.sqrt(variances / np.maximum(totals - 1.0, 1.0))
