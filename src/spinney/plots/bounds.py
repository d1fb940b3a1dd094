"""Errors of the rounds beside what the theory says they cannot exceed."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import logsumexp

from spinney.errors import InvalidInput
from spinney.plots.boosters import errors_by_round, read_trace
from spinney.plots.canvas import COLOURS, INK, Axes, frame, legend_beside, one_axes
from spinney.theory.bounds import training_error_bounds
from spinney.theory.checks import margin_array, weight_array
from spinney.theory.trace import Trace
from spinney.typing import FloatArray, TableLike

_SAME = 1e-6
"""How far two computations of the same logarithm may differ."""
_LABELS = {
    "product": r"$\prod Z_t$",
    "exponential_sum": r"$\exp(-2\sum\gamma_t^2)$",
    "power": r"$(1-4\gamma^2)^{T/2}$",
}


def plot_error_bounds(
    fitted: Any,
    X: TableLike,
    y: Any,
    X_test: TableLike | None = None,
    y_test: Any = None,
    *,
    sample_weight: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the error after each round, and the bounds that the training error cannot exceed.

    Parameters
    ----------
    fitted : booster
        Of two classes, one that lowers the mean of exp(-y F): AdaBoost, its real, gentle and
        confidence-rated variants, arc-gv. The product of the normalisers is always drawn; the
        other two where each normaliser is no more than 2 sqrt(ε (1 - ε)).
    X, y : table and labels
        The rows it was trained on.
    X_test, y_test : table and labels, optional
        Rows it was not trained on; no bound is about them.
    sample_weight : numbers, optional
        The weights it was trained with.
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
    >>> ax = plot_error_bounds(fitted, data.X, data.y)
    >>> ax.get_lines()[0].get_ydata().round(2).tolist()
    [0.3, 0.3, 0.0]
    """
    trace = read_trace(fitted)
    if (X_test is None) != (y_test is None):
        raise InvalidInput("X_test and y_test belong together: expected both or none.")
    _check_potential(fitted, trace, margin_array(fitted.margins(X, y)), sample_weight)
    curves = {"training error": errors_by_round(fitted, X, y, sample_weight)}
    if X_test is not None:
        curves["test error"] = errors_by_round(fitted, X_test, y_test)
    ax = one_axes(ax)
    rounds = np.arange(1, len(trace) + 1)
    for (name, errors), colour in zip(curves.items(), (INK, COLOURS[1]), strict=False):
        ax.plot(rounds, errors, color=colour, linewidth=1.8, label=name)
    for (name, bound), colour, dash in zip(
        _bounds(trace), (COLOURS[0], COLOURS[2], COLOURS[3]), ("--", "-.", ":"), strict=False
    ):
        ax.plot(rounds, bound, color=colour, linestyle=dash, label=f"bound {_LABELS[name]}")
    if len(trace) > 50:  # most happens in the first rounds
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylim(0.0, 1.02)
    frame(ax, x="round", y="share of rows")
    legend_beside(ax)
    return ax


def _bounds(trace: Trace) -> Iterator[tuple[str, FloatArray]]:
    """Give the bounds that apply, the lowest first."""
    found = training_error_bounds(trace.errors, trace.normalisers)
    yield "product", found.product
    best = 2.0 * np.sqrt(trace.errors * (1.0 - trace.errors))
    if (trace.normalisers <= best + 1e-9).all():
        yield "exponential_sum", found.exponential_sum
        yield "power", found.power


def _check_potential(fitted: Any, trace: Trace, margins: FloatArray, sample_weight: Any) -> None:
    """Refuse rows and boosters of which the product of the normalisers says nothing."""
    weights = weight_array(sample_weight, len(margins))
    counts = weights > 0.0
    exponents = -np.abs(trace.alphas).sum() * margins[counts]
    found = float(logsumexp(exponents, b=weights[counts]))
    with np.errstate(divide="ignore"):
        said = float(np.log(trace.normalisers).sum())
    n_classes = len(fitted.classes_)
    if n_classes == 2 and math.isclose(found, said, rel_tol=_SAME, abs_tol=_SAME):
        return
    raise InvalidInput(
        f"No bound speaks of these {len(margins)} rows of {n_classes} classes: the mean of "
        f"exp(-y F) is exp({found:.6g}) and the normalisers multiply to exp({said:.6g}). Expected "
        "two classes and the same numbers, as of AdaBoost on the rows, labels and sample_weight it "
        "was fitted to. Of others draw staged_score."
    )
