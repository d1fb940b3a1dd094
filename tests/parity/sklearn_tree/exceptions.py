"""Tests of scikit-learn that our classes do not pass, each with the reason.

A key is the name of a test, or of one of its cases. They run and must fail: an exception that is
none any more is reported.
"""

_PRIVATE = "looks at private internals of scikit-learn: "

EXCEPTIONS = {
    "test_build_pruned_tree_py": _PRIVATE + "prunes an object of its own class of trees",
    "test_build_pruned_tree_infinite_loop": _PRIVATE + "prunes an object of its own class of trees",
    "test_error": "its last lines give three targets for one row, and expect to hear that they are "
    "negative; we say first that there are too many",
    "test_sample_weight_invalid": "expects a TypeError for the number 0 as weight; a single number "
    "is the weight of every row, as elsewhere in scikit-learn, and all weights 0 are refused",
    "test_min_sample_split_1_error": "refused with the value and what is expected, in words of "
    "ours",
    "test_big_input": "values beyond float32 are values: nothing is rounded to float32",
    "test_almost_constant_feature": "values that differ by less than 1e-7 are different: nothing "
    "is rounded to float32",
    "test_huge_allocations": "a limit no tree can reach is no limit, and allocates nothing",
    "test_missing_value_errors": "missing values in sparse tables are missing values",
    "test_friedman_mse_deprecation": "the name is an alias that chooses the same splits, and says "
    "nothing",
}
