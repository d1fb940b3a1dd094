"""How much a vote counts, by the error of who casts it."""

from typing import Any

import numpy as np

from spinney.plots.boosters import read_trace
from spinney.plots.canvas import COLOURS, INK, Axes, frame, legend_beside, one_axes


def plot_alpha_against_error(fitted: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the weight of a vote, ½ ln((1 - ε) / ε), and the rounds of a fit on this curve.

    A learner that guesses has no vote; one that is always wrong is as good as one that is always
    right. Rounds lie off the curve where ``learning_rate``, the variant or the booster weigh votes
    in another way.

    Parameters
    ----------
    fitted : booster or Trace, optional
        For SAMME with K classes the curve is higher by ½ ln(K - 1), and guessing errs more often.
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
    >>> fitted = AdaBoostClassifier(n_estimators=3).fit(data.X, data.y)
    >>> ax = plot_alpha_against_error(fitted)
    >>> ax.collections[0].get_offsets().round(2).tolist()
    [[0.3, 0.42], [0.21, 0.65], [0.14, 0.92]]
    """
    trace = None if fitted is None else read_trace(fitted)
    n_classes = _samme_classes(fitted)
    ax = one_axes(ax)
    errors = np.linspace(0.005, 0.995, 397)
    alphas = 0.5 * (np.log1p(-errors) - np.log(errors) + np.log(n_classes - 1))
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.axvline(1.0 - 1.0 / n_classes, color=INK, linewidth=0.8, linestyle=":", label="guessing")
    added = "" if n_classes == 2 else rf"+\frac{{1}}{{2}}\ln {n_classes - 1}"
    curve = rf"$\alpha=\frac{{1}}{{2}}\ln\frac{{1-\varepsilon}}{{\varepsilon}}{added}$"
    ax.plot(errors, alphas, color=COLOURS[0], label=curve)
    if trace is not None:
        ax.scatter(
            trace.errors, trace.alphas, s=28, color=COLOURS[1], zorder=3, label="rounds of the fit"
        )
        if len(trace) <= 5:
            for place, point in enumerate(zip(trace.errors, trace.alphas, strict=True), 1):
                ax.annotate(str(place), point, xytext=(5, 4), textcoords="offset points")
    ax.set_xlim(0.0, 1.0)
    frame(ax, x=r"weighted error $\varepsilon$", y=r"weight of the vote $\alpha$")
    legend_beside(ax)
    return ax


def _samme_classes(fitted: Any) -> int:
    """Give the number of classes where the weight of a vote depends on it; 2 elsewhere."""
    is_samme = getattr(fitted, "variant", None) in ("discrete", "samme")
    return max(len(fitted.classes_), 2) if is_samme else 2
