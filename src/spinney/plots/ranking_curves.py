"""ROC curves, and precision against recall."""

from typing import Any

import numpy as np

from spinney.plots.canvas import (
    COLOURS,
    DASHES,
    INK,
    Axes,
    frame,
    legend_below,
    legend_name,
    pick,
    square_axes,
)
from spinney.plots.reading import named_results
from spinney.theory.ranking_curves import PrecisionRecallCurve, RocCurve


def plot_roc(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what is found against false alarms, for one score or for several.

    Parameters
    ----------
    found : RocCurve, or mapping from names to several
        Of ``spinney.theory.roc_curve``.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.theory import roc_curve
    >>> ax = plot_roc({"trees": roc_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9])})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['trees: area 0.750', 'guessing']
    """
    curves = named_results(found, RocCurve, "spinney.theory.roc_curve")
    ax = square_axes(ax, len(curves) + 1)
    for place, (name, curve) in enumerate(curves.items()):
        ax.plot(
            curve.false_alarms,
            curve.found,
            color=pick(COLOURS, place),
            linestyle=pick(DASHES, place),
            linewidth=1.6,
            label=_label(name, f"area {curve.area:.3f}"),
        )
    ax.plot([0.0, 1.0], [0.0, 1.0], color=INK, linewidth=0.8, linestyle=":", label="guessing")
    frame(ax, x="false positive rate", y="true positive rate")
    legend_below(ax)
    return ax


def plot_precision_recall(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw precision against recall, for one score or for several.

    Precision is drawn as a step: between two thresholds there is nothing that could be chosen.

    Parameters
    ----------
    found : PrecisionRecallCurve, or mapping from names to several
        Of ``spinney.theory.precision_recall_curve``.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.theory import precision_recall_curve
    >>> ax = plot_precision_recall(precision_recall_curve([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['average precision 0.833', 'guessing']
    """
    made_by = "spinney.theory.precision_recall_curve"
    curves = named_results(found, PrecisionRecallCurve, made_by)
    ax = square_axes(ax, len(curves) + 1)
    rates = {curve.base_rate for curve in curves.values()}
    for place, (name, curve) in enumerate(curves.items()):
        ax.plot(
            np.append(0.0, curve.recall),
            np.append(curve.precision[:1], curve.precision),
            drawstyle="steps-pre",
            color=pick(COLOURS, place),
            linestyle=pick(DASHES, place),
            linewidth=1.6,
            label=_label(name, f"average precision {curve.average_precision:.3f}"),
        )
    for place, rate in enumerate(sorted(rates)):
        label = "" if place else "guessing"
        ax.axhline(rate, color=INK, linewidth=0.8, linestyle=":", label=label)
    frame(ax, x="recall", y="precision")
    legend_below(ax)
    return ax


def _label(name: str, measured: str) -> str:
    return f"{legend_name(name, 22)}: {measured}" if name else measured
