"""How good ensembles are after each round, or with each member more."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.plots.canvas import (
    COLOURS,
    DASHES,
    INK,
    Axes,
    frame,
    legend_beside,
    legend_name,
    one_axes,
    pick,
    plain,
)
from spinney.plots.reading import named_results, one_result
from spinney.theory.learning_curves import LearningCurve
from spinney.typing import FloatArray


def plot_learning_curve(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how good a booster is after each round, and mark the best round of the last part.

    Parameters
    ----------
    found : LearningCurve
        Of ``spinney.theory.learning_curve``.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import AdaBoostClassifier
    >>> from spinney.datasets import make_toy10
    >>> from spinney.theory import learning_curve
    >>> data = make_toy10()
    >>> fitted = AdaBoostClassifier(n_estimators=3).fit(data.X, data.y)
    >>> ax = plot_learning_curve(learning_curve(fitted, {"training": (data.X, data.y)}))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['training', 'best: round 3']
    """
    result = one_result(found, LearningCurve, "spinney.theory.learning_curve")
    ax = one_axes(ax)
    for place, name in enumerate(result.names):
        _draw(ax, result, result.curve(name), place, legend_name(name))
    best = result.best()
    if best is not None:
        height = float(result.values[-1][result.steps == best][0])
        ax.axvline(best, color=INK, linewidth=0.8, linestyle=":", zorder=1)
        ax.scatter(
            [best],
            [height],
            s=34,
            color="white",
            edgecolors=INK,
            linewidths=1.4,
            zorder=4,
            label=f"best: {result.step} {best}",
        )
    frame(ax, x=result.step, y=plain(result.measure))
    _whole_steps(ax)
    legend_beside(ax)
    return ax


def plot_out_of_bag(found: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how good the first members of forests are on rows they did not see.

    Where the curve is flat, more members help no more.

    Parameters
    ----------
    found : LearningCurve, or mapping from names to several
        Of ``spinney.theory.out_of_bag_curve``.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import RandomForestClassifier
    >>> from spinney.datasets import make_toy10
    >>> from spinney.theory import out_of_bag_curve
    >>> data = make_toy10()
    >>> forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(data.X, data.y)
    >>> ax = plot_out_of_bag(out_of_bag_curve(forest))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('member', 'accuracy out of bag')
    """
    curves = named_results(found, LearningCurve, "spinney.theory.out_of_bag_curve")
    measures = sorted({one.measure for one in curves.values()})
    if len(measures) > 1:
        raise InvalidInput(
            f"Curves are of {' and '.join(measures)}: expected one measure, as they share an axis."
        )
    ax = one_axes(ax)
    for place, (name, one) in enumerate(curves.items()):
        for part, numbers in zip(one.names, one.values, strict=True):
            own = legend_name(name or part)
            last = numbers[~np.isnan(numbers)][-1:]
            told = own if not len(last) else f"{own}: {last[0]:.3f}"
            _draw(ax, one, numbers, place, told)
    step = next(iter(curves.values())).step
    frame(ax, x=step, y=f"{plain(measures[0])} out of bag")
    _whole_steps(ax)
    if isinstance(found, Mapping):
        legend_beside(ax)
    return ax


def _draw(ax: Axes, result: LearningCurve, numbers: FloatArray, place: int, name: str) -> None:
    alone = np.count_nonzero(~np.isnan(numbers)) == 1  # no line without a second point
    ax.plot(
        result.steps,
        numbers,
        color=pick(COLOURS, place),
        linestyle=pick(DASHES, place),
        marker="o" if alone else "",
        linewidth=1.6,
        label=name,
    )


def _whole_steps(ax: Axes) -> None:
    ax.xaxis.get_major_locator().set_params(integer=True)
