"""How much features matter."""

from typing import Any

import numpy as np

from spinney.explain.importance import Importances
from spinney.plots.canvas import COLOURS, INK, Axes, frame, one_axes, plain
from spinney.plots.reading import one_result
from spinney.theory.checks import count


def plot_importances(found: Any, *, n_shown: int = 20, ax: Axes | None = None) -> Axes:
    """Draw a bar for each of the most important features, with standard errors if there are any.

    Parameters
    ----------
    found : Importances
        Of ``gain_importance``, ``split_importance``, ``permutation_importance``,
        ``out_of_bag_importance`` or ``shap_importance`` of ``spinney.explain``.
    n_shown : int
        Features that are drawn at most, from the most important on.
    ax : matplotlib axes, optional
        Where to draw; None for a new figure.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> from spinney.explain import gain_importance
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 10.0, 11.0])
    >>> ax = plot_importances(gain_importance(tree))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    result = one_result(found, Importances, "spinney.explain.permutation_importance")
    n_features = len(result.values)
    n_drawn = min(count("n_shown", n_shown), n_features)
    order = np.argsort(-result.values, kind="stable")[:n_drawn]
    ax = one_axes(ax, size=(5.6, 0.9 + 0.26 * max(n_drawn, 3)))
    errors = result.standard_errors
    ax.barh(
        np.arange(n_drawn),
        result.values[order],
        height=0.68,
        color=COLOURS[0],
        alpha=0.85,
        xerr=None if errors is None else errors[order],
        error_kw={"ecolor": INK, "elinewidth": 1.2, "capsize": 2.5},
    )
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(range(n_drawn), [plain(result.feature_names[place]) for place in order])
    ax.set_ylim(n_drawn - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    frame(ax, x=result.kind + ("" if errors is None else "\n(with standard errors)"), y="")
    ax.spines["left"].set_visible(False)
    if n_drawn < n_features:
        ax.set_title(f"{n_drawn} of {n_features} features", fontsize="medium", loc="left")
    return ax
