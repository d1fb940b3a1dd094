"""Figures; each takes numbers or result objects, draws on matplotlib axes and returns them.

Without ``ax=`` a figure of its own is made, which nothing else knows of: ``ax.figure`` shows it in
a notebook, ``ax.figure.savefig("name.svg")`` writes it. With axes of ``pyplot.subplots()`` drawings
go there. matplotlib is needed once something is drawn: ``pip install 'spinney[plot]'``.
"""

from spinney.plots.beeswarm import plot_shap_beeswarm as plot_shap_beeswarm
from spinney.plots.bias_variance import plot_bias_variance as plot_bias_variance
from spinney.plots.bounds import plot_error_bounds as plot_error_bounds
from spinney.plots.committee import plot_error_correlation as plot_error_correlation
from spinney.plots.confusion import plot_confusion as plot_confusion
from spinney.plots.dependence import plot_accumulated_effects as plot_accumulated_effects
from spinney.plots.dependence import plot_partial_dependence as plot_partial_dependence
from spinney.plots.importances import plot_importances as plot_importances
from spinney.plots.intervals import plot_intervals as plot_intervals
from spinney.plots.learning_curves import plot_learning_curve as plot_learning_curve
from spinney.plots.learning_curves import plot_out_of_bag as plot_out_of_bag
from spinney.plots.losses import plot_margin_losses as plot_margin_losses
from spinney.plots.margins import plot_margin_distribution as plot_margin_distribution
from spinney.plots.ranking_curves import plot_precision_recall as plot_precision_recall
from spinney.plots.ranking_curves import plot_roc as plot_roc
from spinney.plots.regions import plot_decision_regions as plot_decision_regions
from spinney.plots.reliability import plot_reliability as plot_reliability
from spinney.plots.residuals import plot_residuals as plot_residuals
from spinney.plots.rounds import plot_adaboost_rounds as plot_adaboost_rounds
from spinney.plots.shap_dependence import plot_shap_dependence as plot_shap_dependence
from spinney.plots.tree import plot_tree as plot_tree
from spinney.plots.votes import plot_alpha_against_error as plot_alpha_against_error
from spinney.plots.waterfall import plot_shap_waterfall as plot_shap_waterfall
from spinney.plots.weights import plot_weight_history as plot_weight_history

__all__: list[str] = [
    "plot_accumulated_effects",
    "plot_adaboost_rounds",
    "plot_alpha_against_error",
    "plot_bias_variance",
    "plot_confusion",
    "plot_decision_regions",
    "plot_error_bounds",
    "plot_error_correlation",
    "plot_importances",
    "plot_intervals",
    "plot_learning_curve",
    "plot_margin_distribution",
    "plot_margin_losses",
    "plot_out_of_bag",
    "plot_partial_dependence",
    "plot_precision_recall",
    "plot_reliability",
    "plot_residuals",
    "plot_roc",
    "plot_shap_beeswarm",
    "plot_shap_dependence",
    "plot_shap_waterfall",
    "plot_tree",
    "plot_weight_history",
]
