"""What the parameters of forests may be."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.ensembles.parameters import (
    Boolean,
    Checked,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Nothing,
    Real,
    Rule,
    Seed,
    either,
)
from spinney.resampling.bags_recipe import SAMPLERS

CLASS_CRITERIA = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "error": "error",
    "misclassification": "error",
    "twoing": "twoing",
    "dkm": "dkm",
    "hellinger": "hellinger",
    "gain_ratio": "gain_ratio",
}
"""Criteria of classifiers, and what trees call them."""
NUMBER_CRITERIA = {
    "squared_error": "squared",
    "friedman_mse": "squared",
    "absolute_error": "absolute",
    "poisson": "poisson",
}
"""Criteria of regressors. Friedman's improvement of a split is the decrease of squared error."""


@dataclass(frozen=True, slots=True)
class OutOfBagScore:
    """Whether to score rows out of the bags, and by what."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        return isinstance(value, bool | np.bool_) or callable(value)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "True, False, or a callable (y_true, y_pred) for the score"


FOREST_RULES: Mapping[str, Rule] = {
    "n_estimators": either(Integer(1), Choice(("auto",))),
    "max_depth": either(Integer(1), Nothing("no limit")),
    "min_samples_split": either(Integer(2), Fraction()),
    "min_samples_leaf": either(Integer(1), Fraction(below_one=True)),
    "min_weight_fraction_leaf": Real(0.0, 0.5),
    "max_features": either(
        Integer(1), Fraction(), Choice(("sqrt", "log2")), Nothing("all features")
    ),
    "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
    "min_impurity_decrease": Real(0.0),
    "bootstrap": Boolean(),
    "oob_score": OutOfBagScore(),
    "n_jobs": Jobs(),
    "random_state": Seed(),
    "verbose": either(Integer(0), Boolean()),
    "warm_start": Boolean(),
    "ccp_alpha": Real(0.0),
    "max_samples": either(
        Integer(1), Real(0.0, above=True), Nothing("as many as there are, with repetitions")
    ),
    "monotonic_cst": Checked("None, -1, 0 or 1 per feature, or a dict from names to these"),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "sampler": either(Choice(SAMPLERS), Nothing("what bootstrap says")),
    "block_length": either(Integer(1), Nothing("the cube root of the number of rows")),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
}
TREE_FEATURE_RULES: Mapping[str, Rule] = {
    "max_features_per_tree": either(
        Integer(1), Fraction(), Choice(("sqrt", "log2")), Nothing("all features")
    ),
}
SEARCH_RULES: Mapping[str, Rule] = {
    "search": Choice(("adaptive", "exact", "histogram")),
    "max_bins": Integer(2, 255),
}
CLASS_RULES: Mapping[str, Rule] = {
    "criterion": Choice(tuple(CLASS_CRITERIA)),
    "class_weight": Checked("None, 'balanced', 'balanced_subsample' or a dict"),
    "voting": Choice(("soft", "hard")),
}
NUMBER_RULES: Mapping[str, Rule] = {"criterion": Choice(tuple(NUMBER_CRITERIA))}
