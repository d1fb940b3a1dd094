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
