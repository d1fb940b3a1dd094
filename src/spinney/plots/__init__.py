"""Figures; each takes numbers or result objects, draws on matplotlib axes and returns them.

Without ``ax=`` a figure of its own is made, which nothing else knows of: ``ax.figure`` shows it in
a notebook, ``ax.figure.savefig("name.svg")`` writes it. With axes of ``pyplot.subplots()`` drawings
go there. matplotlib is needed once something is drawn: ``pip install 'spinney[plot]'``.
"""

from spinney.plots.bias_variance import plot_bias_variance as plot_bias_variance
from spinney.plots.bounds import plot_error_bounds as plot_error_bounds
from spinney.plots.committee import plot_error_correlation as plot_error_correlation
from spinney.plots.losses import plot_margin_losses as plot_margin_losses
from spinney.plots.margins import plot_margin_distribution as plot_margin_distribution
from spinney.plots.regions import plot_decision_regions as plot_decision_regions
from spinney.plots.rounds import plot_adaboost_rounds as plot_adaboost_rounds
from spinney.plots.tree import plot_tree as plot_tree
from spinney.plots.votes import plot_alpha_against_error as plot_alpha_against_error
from spinney.plots.weights import plot_weight_history as plot_weight_history

__all__: list[str] = [
    "plot_adaboost_rounds",
    "plot_alpha_against_error",
    "plot_bias_variance",
    "plot_decision_regions",
    "plot_error_bounds",
    "plot_error_correlation",
    "plot_margin_distribution",
    "plot_margin_losses",
    "plot_tree",
    "plot_weight_history",
]
