"""Why a model says what it says: exact answers, read from the frozen model."""

from spinney.explain.accumulated import AccumulatedEffects as AccumulatedEffects
from spinney.explain.accumulated import accumulated_effects as accumulated_effects
from spinney.explain.accumulated_pair import AccumulatedInteraction as AccumulatedInteraction
from spinney.explain.accumulated_pair import accumulated_interaction as accumulated_interaction
from spinney.explain.dependence import IndividualCurves as IndividualCurves
from spinney.explain.dependence import PartialDependence as PartialDependence
from spinney.explain.dependence import individual_curves as individual_curves
from spinney.explain.dependence import partial_dependence as partial_dependence
from spinney.explain.importance import Importances as Importances
from spinney.explain.importance import gain_importance as gain_importance
from spinney.explain.importance import split_importance as split_importance
from spinney.explain.interaction import Interactions as Interactions
from spinney.explain.interaction import h_statistic as h_statistic
from spinney.explain.out_of_bag import out_of_bag_importance as out_of_bag_importance
from spinney.explain.permutation import permutation_importance as permutation_importance
from spinney.explain.reading import raw_output_names as raw_output_names
from spinney.explain.row import RowExplanation as RowExplanation
from spinney.explain.row import explain_row as explain_row
from spinney.explain.shapley import ShapInteractions as ShapInteractions
from spinney.explain.shapley import ShapValues as ShapValues
from spinney.explain.shapley import shap_importance as shap_importance
from spinney.explain.shapley import shap_interactions as shap_interactions
from spinney.explain.shapley import shap_values as shap_values
from spinney.explain.split import SplitExplanation as SplitExplanation
from spinney.explain.split import SplitNode as SplitNode
from spinney.explain.split import explain_split as explain_split
from spinney.explain.verification import Claim as Claim
from spinney.explain.verification import Verification as Verification
from spinney.explain.verification import verify as verify

__all__: list[str] = [
    "AccumulatedEffects",
    "AccumulatedInteraction",
    "Claim",
    "Importances",
    "IndividualCurves",
    "Interactions",
    "PartialDependence",
    "RowExplanation",
    "ShapInteractions",
    "ShapValues",
    "SplitExplanation",
    "SplitNode",
    "Verification",
    "accumulated_effects",
    "accumulated_interaction",
    "explain_row",
    "explain_split",
    "gain_importance",
    "h_statistic",
    "individual_curves",
    "out_of_bag_importance",
    "partial_dependence",
    "permutation_importance",
    "raw_output_names",
    "shap_importance",
    "shap_interactions",
    "shap_values",
    "split_importance",
    "verify",
]
