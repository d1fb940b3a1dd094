"""Tests of scikit-learn that our classes do not pass, each with the reason.

They run and must fail: an exception that is none any more is reported.
"""

WEIGHTS = (
    "expects weights without replacement to be doubtful, and a share of max_samples to be a share "
    "of their sum; ours are repetitions, with replacement or without, or else chances"
)

EXCEPTIONS = {
    "test_warning_bootstrap_sample_weight": WEIGHTS,
    "test_invalid_sample_weight_max_samples_bootstrap_combinations": WEIGHTS,
}
