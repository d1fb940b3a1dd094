"""One prediction, taken apart: bars from the base to the raw score."""

from typing import Any

import numpy as np

from spinney.explain.row import RowExplanation
from spinney.plots.canvas import COLOURS, INK, Axes, frame, one_axes, plain
from spinney.plots.reading import one_result
from spinney.theory.checks import count

_UP, _DOWN = COLOURS[1], COLOURS[5]
"""Dark and light, so that they differ in grey too."""


def plot_shap_waterfall(found: Any, *, n_shown: int = 10, ax: Axes | None = None) -> Axes:
    """Draw how the raw score of a row comes about: each feature begins where the last one ended.

    Parameters
    ----------
    found : RowExplanation
        Of ``spinney.explain.explain_row``.
    n_shown : int
        Features that have a bar of their own; the others share one.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> from spinney.explain import explain_row
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> ax = plot_shap_waterfall(explain_row(tree, [1.0, 0.0]))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x0 = 1', 'x1 = 0']
    """
    result = one_result(found, RowExplanation, "spinney.explain.explain_row")
    labels, parts = _parts(result, count("n_shown", n_shown))
    ends = result.base + np.cumsum(parts)
    starts = np.append(result.base, ends[:-1])
    ax = one_axes(ax, size=(5.8, 1.3 + 0.34 * max(len(parts), 2)))
    lines = np.arange(len(parts))
    colours = [_UP if part >= 0.0 else _DOWN for part in parts]
    ax.barh(lines, parts, left=starts, height=0.62, color=colours, edgecolor=INK, linewidth=0.6)
    for line in lines[1:].tolist():
        here = [starts[line], starts[line]]
        ax.plot(here, [line - 0.69, line - 0.31], color=INK, linewidth=0.7, zorder=1)
    low, high = float(min(result.base, ends.min())), float(max(result.base, ends.max()))
    air = 0.16 * ((high - low) or 1.0)
    ax.set_xlim(low - air, high + air)
    _mark(ax, result, len(parts), (low + high) / 2.0)
    for line, part in enumerate(parts.tolist()):
        right = max(starts[line], ends[line])
        ax.annotate(
            f"{part:+.3g}",
            (right, line),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
        )
    ax.set_yticks(lines, labels)
    ax.set_ylim(len(parts) - 0.05, -0.95)
    ax.tick_params(axis="y", length=0)
    ax.set_title(_title(result), fontsize="medium", loc="left")
    frame(ax, x=f"raw score: {plain(result.scale, 60)}", y="")
    ax.spines["left"].set_visible(False)
    return ax


def _title(result: RowExplanation) -> str:
    return f"{plain(result.prediction_name)} = {result.prediction:.4g}"


def _parts(result: RowExplanation, n_shown: int) -> tuple[list[str], Any]:
    """Give the labels and contributions of bars, the largest first and the rest behind."""
    order = np.argsort(-np.abs(result.contributions), kind="stable")
    own, rest = order[:n_shown], order[n_shown:]
    if len(rest) == 1:  # a bar for one other feature is its own
        own, rest = order, order[:0]
    labels = [
        f"{plain(result.feature_names[place])} = {_short(result.feature_values[place])}"
        for place in own.tolist()
    ]
    parts = result.contributions[own]
    if len(rest):
        labels.append(f"{len(rest)} other features")
        parts = np.append(parts, result.contributions[rest].sum())
    return labels, parts


def _short(value: str) -> str:
    """Write a value as it was given; a number of many digits with four of them."""
    try:
        return plain(value) if len(value) <= 8 else f"{float(value):.4g}"
    except ValueError:
        return plain(value, 20)


def _mark(ax: Axes, result: RowExplanation, n_bars: int, middle: float) -> None:
    """Draw where bars begin and end."""
    for place, name, height in (
        (result.base, "base", -0.62),
        (result.raw_score, "raw score", n_bars - 0.32),
    ):
        ax.axvline(place, color=INK, linewidth=0.8, linestyle=":", zorder=0)
        ax.annotate(
            f"{name} {place:.4g}",
            (place, height),
            xytext=(3 if place <= middle else -3, 0),
            ha="left" if place <= middle else "right",
            textcoords="offset points",
            va="center",
            fontsize="small",
            color="#555555",
        )
