"""Bias, variance and noise against how complex a model may be."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType
from spinney.plots.canvas import COLOURS, INK, Axes, frame, legend_beside, one_axes, plain
from spinney.theory.error_parts import BiasVariance

_WIDE = 30.0
"""Numbers whose largest is so many times the least are drawn by their logarithms."""


def plot_bias_variance(
    found: Sequence[BiasVariance],
    values: Sequence[Any],
    *,
    name: str = "complexity",
    ax: Axes | None = None,
) -> Axes:
    """Draw the parts of the error against the value of a parameter.

    Parameters
    ----------
    found : results of ``spinney.theory.bias_variance``
        One for each value, all of the same decomposition.
    values : numbers or text
        Of the parameter that changes.
    name : str
        What to write below the axis.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney.theory import decompose_squared
    >>> found = [decompose_squared([[0.0], [k]], [2.0]) for k in (1.0, 3.0)]
    >>> ax = plot_bias_variance(found, [1, 3])
    >>> ax.get_lines()[0].get_ydata().tolist()
    [2.5, 2.5]
    """
    results = _results(found, values)
    squared = results[0].decomposition == "squared"
    parts = {
        "error": [one.error for one in results],
        "squared bias" if squared else "bias": [one.bias for one in results],
        "variance": [one.net_variance for one in results],
        "noise": [one.net_noise for one in results],
    }
    if not any(parts["noise"]):
        del parts["noise"]
    ax = one_axes(ax)
    looks = zip((INK, *COLOURS), ("-", "--", "-.", ":"), ("o", "s", "^", "D"), strict=False)
    for (part, heights), (colour, dash, marker) in zip(parts.items(), looks, strict=False):
        ax.plot(
            list(values),
            heights,
            color=colour,
            linestyle=dash,
            marker=marker,
            markersize=4.0,
            linewidth=1.8 if part == "error" else 1.4,
            label=part,
        )
    if _is_wide(values):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylim(bottom=min(0.0, *parts["variance"]))
    frame(ax, x=plain(name), y="mean squared error" if squared else "share of points")
    legend_beside(ax)
    return ax


def _results(found: Any, values: Any) -> list[BiasVariance]:
    results = [found] if isinstance(found, BiasVariance) else list(found)
    if not results or not all(isinstance(one, BiasVariance) for one in results):
        raise InvalidInputType(
            "found holds no results, or others than BiasVariance: expected what "
            "spinney.theory.bias_variance gives, one for each value."
        )
    if len(results) != len(list(values)):
        raise InvalidInput(
            f"There are {len(results)} results and {len(list(values))} values: expected one value "
            "for each result."
        )
    kinds = sorted({one.decomposition for one in results})
    if len(kinds) > 1:
        raise InvalidInput(f"Results are of {' and '.join(kinds)}: expected one decomposition.")
    return results


def _is_wide(values: Sequence[Any]) -> bool:
    if not all(isinstance(value, numbers.Real) for value in values):
        return False
    low, high = float(np.min(values)), float(np.max(values))
    return low > 0.0 and high / low >= _WIDE
