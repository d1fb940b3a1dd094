"""Bad parameters: wrong types, wrong values, wrong names; the message has the value."""

import re
from typing import Any

import numpy as np
from tests.attacks.bad_inputs import X4, add, bad, classify, regress

NAN, INF = float("nan"), float("inf")

# Values no parameter of this kind may have; the message names the parameter and the value

WRONG: dict[str, tuple[Any, ...]] = {
    "criterion": (None, 1, "ginni", True),
    "max_depth": (0, -1, 2.5, NAN, "3", True, [3]),
    "min_samples_split": (1, 0, -2, 0.0, 1.5, NAN, "2", True, None, [2]),
    "min_samples_leaf": (0, -1, 0.0, 1.5, NAN, INF, "1", True, None),
    "max_features": (0, -1, 0.0, 1.5, NAN, "sqr", True, [1], b"sqrt"),
    "max_leaf_nodes": (1, 0, -5, 2.5, NAN, "8", True),
    "min_impurity_decrease": (-0.1, NAN, INF, "0", True, None, 1j),
    "max_bins": (1, 0, -1, 256, 1000, 2.5, NAN, "255", True, None),
    "unseen": ("mising", None, 0, True),
    "extra_columns": ("ignor", None, 1),
    "n_jobs": (0, 2.5, "2", True, NAN, [1]),
    "random_state": (-1, "a", 1.5, NAN, [1], 2**64),
    "categorical_features": ("from_type", {"a": 1}, 1.5),
}
HINTS = {
    ("criterion", "ginni"): "Did you mean 'gini'",
    ("max_features", "sqr"): "Did you mean 'sqrt'",
    ("unseen", "mising"): "Did you mean 'missing'",
    ("extra_columns", "ignor"): "Did you mean 'ignore'",
}


def _slug(value: Any) -> str:
    words = re.sub("[^a-zA-Z0-9]+", "_", repr(value).replace("-", "minus ")).strip("_")
    return f"{type(value).__name__}_{words}"[:40]


for _parameter, _values in WRONG.items():
    for _value in _values:
        _hint = HINTS.get((_parameter, _value)) if isinstance(_value, str) else None
        _shown = re.escape(repr(_value)[:12]).replace(r"\ ", " ")
        add(
            f"{_parameter}_is_{_slug(_value)}",
            lambda p=_parameter, v=_value: classify(**{p: v}),
            rf"{_parameter}.*{_shown}" + (f".*{_hint}" if _hint else ""),
        )


@bad(r"max_depth=.*nan")
def max_depth_is_a_numpy_nan() -> Any:
    return regress(max_depth=np.float64(NAN))


@bad(r"max_bins=np\.True_|max_bins=True")
def max_bins_is_a_numpy_bool() -> Any:
    return regress(max_bins=np.True_)


@bad(r"criterion='gini' of DecisionTreeRegressor: expected 'squared_error'")
def criterion_of_the_other_task() -> Any:
    return regress(criterion="gini")


# Names


@bad(r"DecisionTreeClassifier has no parameter 'max_dept'.*Did you mean 'max_depth'")
def misspelt_parameter_in_the_constructor() -> Any:
    return classify(max_dept=3)


@bad(r"has no parameter 'n_estimators'\. It has 'categorical_features'")
def parameter_of_another_estimator() -> Any:
    return classify(n_estimators=3)


@bad(r"DecisionTreeRegressor has no parameter 'class_weight'")
def parameter_of_the_other_task() -> Any:
    return regress(class_weight="balanced")


@bad(r"has no parameter 'min_sample_leaf'.*Did you mean 'min_samples_leaf'")
def misspelt_parameter_in_set_params() -> Any:
    return classify().set_params(min_sample_leaf=3)


@bad(r"max_depth.*inner|inner.*max_depth|has no parameter 'max_depth__inner'")
def nested_parameter_in_set_params() -> Any:
    return classify().set_params(max_depth__inner=3)


@bad(r"max_depth=-3")
def wrong_value_given_to_set_params_is_refused_at_fit() -> Any:
    return classify().set_params(max_depth=-3).fit(X4, [0, 1, 0, 1])


@bad(r"positional argument", raises="TypeError")
def positional_parameter_in_the_constructor() -> Any:
    import spinney

    return spinney.DecisionTreeClassifier("gini")


# Categorical features


@bad(r"names 'b', but X has no feature names")
def categorical_name_without_names() -> Any:
    return classify(categorical_features=["b"])


@bad(r"item value 'agee' which is not a valid feature name of .*\. Did you mean 'age'")
def categorical_name_unknown() -> Any:
    import pandas as pd

    return classify(pd.DataFrame(X4, columns=["age", "b"]), categorical_features=["agee"])


@bad(r"categorical_features holds 2, .*positions from 0 to 1")
def categorical_position_out_of_range() -> Any:
    return classify(categorical_features=[0, 2])


@bad(r"categorical_features holds -1")
def categorical_position_negative() -> Any:
    return classify(categorical_features=[-1])


@bad(r"mask of 3 booleans, but X has 2 features")
def categorical_mask_too_long() -> Any:
    return classify(categorical_features=[True, False, True])


@bad(r"categorical_features holds None")
def categorical_position_is_none() -> Any:
    return classify(categorical_features=[None])


@bad(r"categorical_features holds True, 1")
def categorical_mask_and_positions() -> Any:
    return classify(categorical_features=[True, 1])


@bad(r"categorical_features holds 0, 'a'")
def categorical_positions_and_names() -> Any:
    return classify(categorical_features=[0, "a"])


@bad(r"categorical_features=None, but column 'x0' holds text such as 'a'")
def no_categorical_features_but_text() -> Any:
    return classify([["a"], ["b"], ["a"], ["b"]], categorical_features=None)


@bad(r"'x0' is a datetime and cannot be categorical")
def categorical_dates() -> Any:
    dates = np.arange(4).astype("M8[D]").reshape(-1, 1)
    return classify(dates, categorical_features=[0])


# Ranking

RANKER: dict[str, tuple[Any, ...]] = {
    "loss": ("ndgc", None, 1, "squared"),
    "truncation": (0, -1, 2.5, NAN, "30", True, None),
    "normalize": (1, None, "yes"),
    "label_gain": ("abc", [1, 0], [], [-1.0, 0.0], [0.0, NAN], [[1], [2]], 1.5),
    "scoring": ("r2", None, "ndgc", len),
    "eval_at": (0, -1, 2.5, NAN, "10", True, [5]),
}


def rank(**given: Any) -> Any:
    """Fit a ranker; what is no argument of ``fit`` is a parameter."""
    import spinney

    of_fit = ("sample_weight", "qid", "group", "X_val", "y_val", "qid_val", "group_val")
    arguments = {name: given.pop(name) for name in of_fit if name in given}
    X, y = given.pop("X", X4), given.pop("y", [0, 1, 0, 1])
    return spinney.GradientBoostingRanker(**given).fit(X, y, **arguments)


for _parameter, _values in RANKER.items():
    for _value in _values:
        add(
            f"{_parameter}_of_a_ranker_is_{_slug(_value)}",
            lambda p=_parameter, v=_value: rank(**{p: v}),
            _parameter,
        )


@bad(r"qid and group are both given")
def queries_given_twice() -> Any:
    return rank(qid=[0, 0, 1, 1], group=[2, 2])


@bad(r"group adds up to 3, but there are 4 rows")
def sizes_of_queries_that_lack_a_row() -> Any:
    return rank(group=[2, 1])


@bad(r"group\[1\] is 0: expected the number of rows of a query")
def query_without_rows() -> Any:
    return rank(group=[4, 0])


@bad(r"group adds up to 18446744073709551614")
def sizes_of_queries_beyond_memory() -> Any:
    return rank(group=[2**63 - 1, 2**63 - 1])


@bad(r"sample_weight is 1 in row 0 and 2 in row 1 of the same query")
def weights_that_divide_a_query() -> Any:
    return rank(qid=[0, 0, 1, 1], sample_weight=[1, 2, 1, 1])


@bad(r"expected whole weights that add up to")
def weights_that_would_repeat_rows_for_ever() -> Any:
    return rank(sample_weight=[1, 1, 1, 1e15])


@bad(r"Row 2 of y is -1: relevance is a whole number from 0")
def negative_relevance() -> Any:
    return rank(y=[0, 1, -1, 1])


@bad(r"Row 3 of y is 32: .*label_gain")
def relevance_beyond_exponential_gains() -> Any:
    return rank(y=[0, 1, 0, 32])


@bad(r"qid_val or group_val was not")
def validation_rows_of_no_query() -> Any:
    return rank(qid=[0, 0, 1, 1], X_val=X4, y_val=[0, 1, 0, 1], early_stopping=True)


# Before fit


@bad(r"not fitted yet", raises="NotFittedError")
def predict_before_fit() -> Any:
    import spinney

    return spinney.DecisionTreeClassifier().predict(X4)


@bad(r"not fitted yet", raises="NotFittedError")
def importances_before_fit() -> Any:
    import spinney

    return spinney.DecisionTreeRegressor().feature_importances_


@bad(r"not fitted yet", raises="NotFittedError")
def depth_before_fit() -> Any:
    import spinney

    return spinney.DecisionTreeRegressor().get_depth()
