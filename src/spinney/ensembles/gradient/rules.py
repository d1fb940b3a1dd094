"""What the parameters of gradient boosting may be."""

from collections.abc import Mapping

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
    Scoring,
    Seed,
    either,
)
from spinney.resampling.row_sampling import SAMPLERS

AUTO = "auto"
"""Choose it from the data."""

BOOSTING_RULES: Mapping[str, Rule] = {
    "learning_rate": Real(0.0, above=True),
    "max_iter": Integer(1),
    "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
    "max_depth": either(Integer(1), Nothing("no limit")),
    "growth": Choice(("leaf_wise", "level_wise", "symmetric")),
    "splitter": Choice(("best", "random")),
    "min_samples_leaf": Integer(1),
    "min_child_weight": Real(0.0),
    "l2_regularization": Real(0.0),
    "l1_regularization": Real(0.0),
    "max_delta_step": either(Real(0.0, above=True), Nothing("no limit")),
    "path_smoothing": Real(0.0),
    "min_split_gain": Real(0.0),
    "prune_gain": Real(0.0),
    "subsample": Fraction(),
    "sampler": Choice(SAMPLERS),
    "top_rate": Real(0.0, 1.0, below=True),
    "bagging_temperature": Real(0.0, 10.0),
    "dropout": Real(0.0, 1.0),
    "skip_dropout": Real(0.0, 1.0),
    "max_dropped": either(Integer(1), Nothing("no limit")),
    "max_features": Fraction(),
    "max_features_per_tree": Fraction(),
    "max_bins": Integer(2, 255),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "category_encoding": Choice(("auto", "sets", "target")),
    "category_pairs": Checked("'auto', None, 'all', or pairs of positions or names"),
    "date_features": either(Choice((AUTO,)), Boolean()),
    "text_features": Checked("'auto', True, False, or columns of text, by name or position"),
    "monotonic_cst": Checked("None, -1, 0 or 1 per feature, or a dict from names to these"),
    "interaction_cst": Checked("None, 'pairwise', 'no_interactions' or groups of features"),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
    "warm_start": Boolean(),
    "early_stopping": either(Choice(("auto", "cv")), Boolean()),
    "cv": Checked("a number of folds, a splitter or pairs of rows"),
    "time_budget": either(Real(0.0, above=True), Nothing("no limit")),
    "scoring": Scoring(),
    "validation_fraction": either(
        Fraction(below_one=True), Integer(1), Nothing("stopping on the training rows")
    ),
    "n_iter_no_change": Integer(1),
    "tol": Real(0.0),
    "verbose": either(Boolean(), Integer(0)),
    "random_state": Seed(),
    "n_jobs": Jobs(),
}

_AUTO = Choice((AUTO,))
AUTOMATIC = (
    "max_iter",
    "learning_rate",
    "max_leaf_nodes",
    "min_samples_leaf",
    "l2_regularization",
    "subsample",
    "max_features",
    "early_stopping",
    "cv",
    "n_iter_no_change",
)
"""Parameters that are chosen where they are not given."""
AUTOMATIC_RULES: Mapping[str, Rule] = {
    **BOOSTING_RULES,
    **{name: either(BOOSTING_RULES[name], _AUTO) for name in AUTOMATIC},
    "early_stopping": either(Choice((AUTO, "cv", "part")), Boolean()),
    "cv": BOOSTING_RULES["cv"],
}
"""The same, of estimators that choose."""
