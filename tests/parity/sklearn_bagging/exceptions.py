"""Tests of scikit-learn that our classes do not pass, each with the reason.

They run and must fail: an exception that is none any more is reported.
"""

WEIGHTS = (
    "expects weights without replacement to be doubtful, and a share of max_samples to be a share "
    "of their sum; ours are repetitions, with replacement or without, or else chances"
)

SEED = (
    "a bound that seeds decide: of twelve seeds scikit-learn's own bagging fails it on three, and "
    "so does ours; the mean distance of both is 0.077"
)

EXCEPTIONS = {
    "test_oob_score_regression": SEED,
    "test_warning_bootstrap_sample_weight": WEIGHTS,
    "test_invalid_sample_weight_max_samples_bootstrap_combinations": WEIGHTS,
    "test_estimator": "expects scikit-learn's own tree as the default base learner; ours is ours",
}
