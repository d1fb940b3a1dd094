"""Parameters that every estimator that takes them is checked with."""

VARIANTS = [
    {},
    {"max_bins": 2},
    {"max_leaf_nodes": 4},
    {"min_samples_leaf": 5},
    {"min_samples_leaf": 1},  # with the 20 of boosting, checks of weights see single leaves
    {"search": "random"},
    {"search": "histogram", "criterion": "entropy"},
    {"criterion": "absolute_error"},
    {"ccp_alpha": 0.002, "min_weight_fraction_leaf": 0.01},
    {"early_stopping": "cv", "cv": 2, "max_iter": 30, "learning_rate": 0.5, "max_delta_step": 0.5},
    {"loss": "exponential", "max_iter": 50},
    {"growth": "symmetric", "splitter": "random", "max_iter": 50, "min_samples_leaf": 2},
    {
        "dropout": 0.3,
        "path_smoothing": 3.0,
        "prune_gain": 0.01,
        "max_delta_step": 0.7,
        "max_iter": 30,
    },
    {"category_encoding": "target", "category_pairs": "all", "max_iter": 50},
    {"loss": "quantile", "quantile": [0.3], "max_iter": 30, "min_samples_leaf": 2},
    {"sampler": "one_side", "subsample": 0.5, "max_iter": 30},
    {"sampler": "minimal_variance", "subsample": 0.5, "max_iter": 30},
    {"sampler": "bayesian", "max_iter": 30},
    *({"algorithm": name} for name in ("martingale", "robust")),
    *({"learner": "spline"}, {"extension_level": 1}),
]

WEIGHTS_REPEAT = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
"""A row that weighs twice as much is drawn once, and two rows that are alike are drawn apart."""
