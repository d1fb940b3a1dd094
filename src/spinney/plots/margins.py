"""Margins of the rows, and how rounds move them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.plots.boosters import margins_after, read_rounds, read_trace
from spinney.plots.canvas import COLOURS, DASHES, INK, Axes, frame, legend_beside, one_axes, pick
from spinney.theory.margins import margin_distribution
from spinney.typing import TableLike


def plot_margin_distribution(
    fitted: Any,
    X: TableLike,
    y: Any,
    rounds: Sequence[int] = (5, 100, 1000),
    *,
    sample_weight: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which share of rows has which margin or less, after some of the rounds.

    The curve at 0 is the error. Boosters go on moving it to the right when no row is wrong any
    more, which is why the error on new rows can go on falling.

    Parameters
    ----------
    fitted : booster
        Of any number of classes. Of one that weighs all members anew in each round the first
        members are shown with their last weights.
    X, y : table and labels
    rounds : whole numbers
        After which rounds; those beyond the last count as the last.
    sample_weight : numbers, optional
        How often each row counts.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    References
    ----------
    Schapire, Freund, Bartlett, Lee (1998), Boosting the margin, Annals of Statistics 26.

    Examples
    --------
    >>> from spinney import AdaBoostClassifier
    >>> from spinney.datasets import make_toy10
    >>> data = make_toy10()
    >>> fitted = AdaBoostClassifier(n_estimators=20).fit(data.X, data.y)
    >>> ax = plot_margin_distribution(fitted, data.X, data.y, rounds=(1, 3, 100))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['1 round', '3 rounds', '20 rounds']
    """
    last = len(read_trace(fitted))
    shown = sorted({min(number, last) for number in read_rounds(rounds)})
    found = [
        margin_distribution(margins_after(fitted, number, X, y), sample_weight=sample_weight)
        for number in shown
    ]
    ax = one_axes(ax)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    for place, (number, margins) in enumerate(zip(shown, found, strict=True)):
        ax.plot(
            np.concatenate([[-1.0], margins.margins, [1.0]]),
            np.concatenate([[0.0], margins.shares, [1.0]]),
            drawstyle="steps-post",
            color=pick(COLOURS, place),
            linestyle=pick(DASHES, place),
            label="1 round" if number == 1 else f"{number} rounds",
        )
    ax.set_xlim(-1.0, 1.0)
    ax.set_ylim(0.0, 1.02)
    frame(ax, x="margin", y="share of rows with this margin or less")
    legend_beside(ax)
    return ax
