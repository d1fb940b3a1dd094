"""``compile`` of estimators that keep no model of their own."""

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spinney.data.schema import FeatureSchema
from spinney.data.table import made_up_names
from spinney.data.target import Target
from spinney.errors import InvalidInput
from spinney.model.compiled import CompiledModel
from spinney.model.estimator_model import EstimatorModel
from spinney.model.model import Policy


class Compilable:
    """A fitted classifier or regressor that can be had as a function of one row."""

    def compile(self) -> CompiledModel:
        """Give the fitted estimator as a small function of one row, for serving.

        The members are asked as ``predict`` asks them, so a row takes as long as a table of one.

        Returns
        -------
        CompiledModel
            Called with a row (values in the order of the features, or a mapping of their names to
            values) it says what ``predict_proba`` says of it, or ``predict`` for numbers; 1 for
            the label and 0 for the other classes where there are no probabilities.
        """
        check_is_fitted(self)
        kept = copy.copy(self)  # a later fit is none of its business
        schema, target = _features_of(self), _target_of(self)
        return CompiledModel(EstimatorModel(kept, schema, target, policy=Policy()))


def _target_of(fitted: Any) -> Target:
    classes = getattr(fitted, "classes_", None)
    if classes is None:
        return Target.regression()
    if isinstance(classes, list):
        raise InvalidInput(
            f"This {type(fitted).__name__} predicts {len(classes)} labels of each row, and a "
            "compiled model says one thing of a row. Use predict, or fit a committee for each "
            "label."
        )
    return Target.classification(np.asarray(classes))


def _features_of(fitted: Any) -> FeatureSchema:
    """Name the features; what kinds they are is known to the members."""
    names = getattr(fitted, "feature_names_in_", None)
    n_features = getattr(fitted, "n_features_in_", None) if names is None else len(names)
    if n_features is None:
        raise InvalidInput(
            f"The members of this {type(fitted).__name__} do not say which features they were "
            "fitted on (n_features_in_), so one row cannot be read. Use predict with a table."
        )
    given = made_up_names(n_features) if names is None else tuple(map(str, names))
    return FeatureSchema.of_names(given, names_given=names is not None)
