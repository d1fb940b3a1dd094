"""Tests of scikit-learn that our classes do not pass, each with the reason.

They run and must fail: an exception that is none any more is reported.
"""

EXCEPTIONS = {
    "test_sample_weights_infinite": "expects a warning that weights overflowed; ours are found "
    "from scores, largest first, and never overflow",
    "test_adaboostclassifier_without_sample_weight": "expects a base learner without sample_weight "
    "to be refused; ours learns from rows drawn by their weights",
}
