"""Why a model says what it says: exact answers, read from the frozen model."""

from spinney.explain.reading import raw_output_names as raw_output_names
from spinney.explain.row import explain_row as explain_row
from spinney.explain.shapley import shap_importance as shap_importance
from spinney.explain.shapley import shap_interactions as shap_interactions
from spinney.explain.shapley import shap_values as shap_values

__all__: list[str] = [
    "explain_row",
    "raw_output_names",
    "shap_importance",
    "shap_interactions",
    "shap_values",
]
