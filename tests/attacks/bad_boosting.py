"""Bad parameters of boosting and bad arguments of its ``fit``; the message names the culprit."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from tests.attacks.bad_inputs import add

NAN, INF, HUGE = float("nan"), float("inf"), 10**400
N = 60
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(N, 3))
Y = X[:, 0]
GRADES = np.digitize(Y, [-0.5, 0.5])
QUERIES = np.repeat(np.arange(6), 10)
TIMES = np.arange(N)


def _regress(y: Any = Y, table: Any = X, fit: dict[str, Any] | None = None, **params: Any) -> Any:
    import spinney

    booster = spinney.GradientBoostingRegressor(**{"max_iter": 2, **params})
    return booster.fit(table, y, **(fit or {}))


def _classify(y: Any = GRADES, fit: dict[str, Any] | None = None, **params: Any) -> Any:
    import spinney

    return spinney.GradientBoostingClassifier(**{"max_iter": 2, **params}).fit(X, y, **(fit or {}))


def _rank(y: Any = GRADES, fit: dict[str, Any] | None = None, **params: Any) -> Any:
    import spinney

    ranker = spinney.GradientBoostingRanker(**{"max_iter": 2, **params})
    return ranker.fit(X, y, **({"qid": QUERIES} if fit is None else fit))


# Values that no parameter of this kind may have

_NUMBER = (NAN, INF, -1.0, True, "1")
_COUNT = (0, 2.5, True, "3")
_SHARE = (0.0, 1.5, NAN, 1, True)
_WORD = ("bets", True, None, ["a"])
WRONG: dict[str, tuple[Any, ...]] = {
    "learning_rate": (0.0, *_NUMBER),
    "max_iter": (*_COUNT, None),
    "max_leaf_nodes": (1, *_COUNT),
    "growth": _WORD,
    "splitter": _WORD,
    "min_child_weight": (*_NUMBER, None),
    "l1_regularization": (*_NUMBER, np.ones(2)),
    "max_delta_step": (0.0, *_NUMBER),
    "path_smoothing": (*_NUMBER, None),
    "min_split_gain": (*_NUMBER, 1j),
    "prune_gain": (*_NUMBER, HUGE),
    "subsample": _SHARE,
    "sampler": _WORD,
    "top_rate": (*_NUMBER, 1.0),
    "bagging_temperature": (*_NUMBER, 11.0),
    "dropout": (*_NUMBER, 1.5),
    "skip_dropout": (*_NUMBER, 1.5),
    "max_dropped": _COUNT,
    "max_features_per_tree": _SHARE,
    "category_encoding": _WORD,
    "category_pairs": ("every", 1, [1], [(0,)], {"a": 1}),
    "date_features": ("autos", 1, None),
    "text_features": ("autos", 1, None, {"a": 1}),
    "interaction_cst": ("pair", 1, [1], np.array(1.0), [np.array(1.0)]),
    "early_stopping": ("cvs", 1, None, [True]),
    "time_budget": (0.0, *_NUMBER),
    "validation_fraction": (0.0, 1.0, -1, NAN, True),
    "scoring": ("los", 1, [1]),
    "leaf_steps": _WORD,
    "quantile": (0.0, 1.0, NAN, True, "0.5", [], [0.5, 0.1], [0.1, 0.1], [0.1, NAN], [[0.1]]),
}


def _slug(value: Any) -> str:
    words = re.sub("[^a-zA-Z0-9]+", "_", repr(value).replace("-", "minus ")).strip("_")
    return f"{type(value).__name__}_{words}"[:40]


for _parameter, _values in WRONG.items():
    for _value in _values:
        add(
            f"boosting_{_parameter}_is_{_slug(_value)}",
            lambda p=_parameter, v=_value: _regress(**{p: v}),
            rf"{_parameter}.*" + re.escape(repr(_value)[:6]).replace(r"\ ", " "),
        )
for _value in (0, 1, -3, 2.0, True, "5", NAN, np.array(1.0), 3j):
    add(
        f"boosting_cv_is_{_slug(_value)}",
        lambda v=_value: _regress(cv=v, early_stopping="cv"),
        r"cv=.*expected a number of folds",
    )

# Parameters that exclude one another, or do not fit the table

_TOWNS = pd.DataFrame({"town": ["a", "b", "c"] * (N // 3), "kind": ["u", "v"] * (N // 2), "x": Y})
_TWO = np.column_stack([Y, Y])
_SEVERAL = {"loss": "quantile", "quantile": [0.1, 0.9]}
PARAMETERS: dict[str, tuple[Callable[[], Any], str]] = {
    "one_side_of_all_rows": (
        lambda: _regress(sampler="one_side", subsample=1.0),
        r"sampler='one_side'.*subsample=1\.0",
    ),
    "variance_of_all_rows": (
        lambda: _regress(sampler="minimal_variance", subsample=1.0),
        r"sampler='minimal_variance'.*subsample=1\.0",
    ),
    "no_room_beside_large_gradients": (
        lambda: _regress(sampler="one_side", subsample=0.2, top_rate=0.3),
        r"top_rate=0\.3 with subsample=0\.2",
    ),
    "too_many_levels": (
        lambda: _regress(growth="symmetric", max_depth=40, max_leaf_nodes=None),
        r"max_depth=40.*growth='symmetric'",
    ),
    "symmetric_of_two_outputs": (
        lambda: _regress(_TWO, growth="symmetric"),
        r"growth='symmetric' is for trees of one output",
    ),
    "symmetric_of_two_quantiles": (
        lambda: _regress(growth="symmetric", **_SEVERAL),
        r"growth='symmetric' is for trees of one output",
    ),
    "scorer_of_two_quantiles": (
        lambda: _regress(early_stopping=True, scoring="r2", **_SEVERAL),
        r"scoring='r2' with several quantiles",
    ),
    "two_outputs_of_two_quantiles": (
        lambda: _regress(_TWO, **_SEVERAL),
        r"Several quantiles are those of one number per row",
    ),
    "no_quantile": (
        lambda: _regress(loss="quantile", quantile=None),
        r"quantile=None.*loss='quantile' needs it",
    ),
    "monotone_of_two_outputs": (
        lambda: _regress(_TWO, monotonic_cst=[1, 0, 0]),
        r"monotonic constraints.*several outputs",
    ),
    "scorer_of_another_task": (
        lambda: _regress(early_stopping=True, scoring="roc_auc"),
        r"scoring='roc_auc' cannot judge GradientBoostingRegressor",
    ),
    "scorer_of_numbers_for_texts": (
        lambda: _classify(np.where(Y > 0, "a", "b"), early_stopping="cv", cv=3, scoring="r2"),
        r"scoring='r2' cannot judge GradientBoostingClassifier",
    ),
    "warm_start_with_folds": (
        lambda: _regress(early_stopping="cv", warm_start=True),
        r"warm_start=True with early_stopping='cv'",
    ),
    "folds_of_classes_for_numbers": (
        lambda: _regress(early_stopping="cv", cv=_stratified()),
        r"StratifiedKFold.*cannot divide these",
    ),
    "folds_that_repeat": (
        lambda: _regress(early_stopping="cv", cv=[(TIMES[:30], TIMES[30:])] * 2),
        r"cv tests row 30 a second time in fold 1",
    ),
    "ragged_folds": (
        lambda: _regress(early_stopping="cv", cv=[([[1], [1, 2]], [0])]),
        r"training rows of fold 0 are parts of different length",
    ),
    "pair_of_one_feature": (
        lambda: _regress(table=_TOWNS, category_pairs=[("town", "town")]),
        r"category_pairs holds \('town', 'town'\)",
    ),
    "pair_with_a_number": (
        lambda: _regress(table=_TOWNS, category_pairs=[("town", "x")]),
        r"category_pairs holds \('town', 'x'\).*Categorical: 'town', 'kind'",
    ),
    "misspelt_pair": (
        lambda: _regress(table=_TOWNS, category_pairs=[("tawn", "kind")]),
        r"category_pairs names 'tawn'.*Did you mean 'town'",
    ),
    "ragged_categories": (
        lambda: _regress(categorical_features=[[1], [1, 2]]),
        r"categorical_features holds \[1\]",
    ),
    "gains_too_few": (lambda: _rank(label_gain=[0, 1]), r"Row \d+ of y is 2: label_gain has 2"),
    "gains_that_fall": (lambda: _rank(label_gain=[2, 1, 0]), r"label_gain=\[2, 1, 0\]"),
    "gains_with_nan": (lambda: _rank(label_gain=[0, NAN, 2]), r"label_gain=\[0, nan, 2\]"),
    "gain_beyond_all_floats": (lambda: _rank(label_gain=[0, 1, HUGE]), r"label_gain=\[0, 1, 1000"),
    "truncation_zero": (lambda: _rank(truncation=0), r"truncation=0"),
    "truncation_of_a_float": (lambda: _rank(truncation=2.5), r"truncation=2\.5"),
    "eval_at_zero": (lambda: _rank(eval_at=0), r"eval_at=0"),
    "normalize_a_number": (lambda: _rank(normalize=1), r"normalize=1"),
}


def _stratified() -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(3)


# Arguments of fit

_NO_NUMBERS = {
    "text": np.array(["1"] * N),
    "complex": np.zeros(N, complex),
    "dates": pd.date_range("2024-01-01", periods=N),
    "beyond_all_floats": [HUGE] * N,
    "nan": np.full(N, NAN),
    "infinite": np.append(np.zeros(N - 1), INF),
    "too_short": np.zeros(N - 1),
    "wide": np.zeros((N, 2)),
    "one_number": 1.0,
    "ragged": [[1], [1, 2]] * (N // 2),
    "dict": {"a": 1.0},
}
for _name, _offset in _NO_NUMBERS.items():
    add(f"offset_{_name}", lambda o=_offset: _regress(fit={"offset": o}), r"offset.*row|offset is")
    add(
        f"offset_of_predict_{_name}",
        lambda o=_offset: _regress(fit={"offset": Y}).predict(X, offset=o),
        r"offset.*row|offset is",
    )

_BY_FOLDS = {"early_stopping": "cv", "cv": 3}
_HELD = {"early_stopping": True}
_VALIDATION = {"X_val": X, "y_val": Y}
_ONE, _HALVES = np.zeros(N), TIMES % 2
FIT: dict[str, tuple[Callable[[], Any], str]] = {
    "one_group_and_folds": (
        lambda: _regress(**_BY_FOLDS, fit={"groups": _ONE}),
        r"n_splits=3 is more than there are groups: 1.*give other groups, or leave groups out",
    ),
    "two_groups_and_three_folds": (
        lambda: _regress(**_BY_FOLDS, fit={"groups": _HALVES}),
        r"more than there are groups: 2.*Use fewer folds, at most 2",
    ),
    "one_group_held_out": (
        lambda: _regress(**_HELD, fit={"groups": _ONE}),
        r"All rows are of the same group.*leave groups out",
    ),
    "one_group_and_no_parameters": (
        lambda: _regress(
            max_iter="auto", fit={"groups": np.zeros(120)}, table=_many(), y=_many_y()
        ),
        r"groups has the same entry in all 120 rows.*Leave groups out",
    ),
    "one_time_and_folds": (
        lambda: _regress(**_BY_FOLDS, fit={"time": _ONE}),
        r"Too few different times.*give other times, or leave time out",
    ),
    "groups_that_are_no_labels": (
        lambda: _regress(**_BY_FOLDS, fit={"groups": np.array([{}] * N)}),
        r"Row 0 of groups is \{\}, a dict, which is no label",
    ),
    "groups_and_nothing_to_divide": (
        lambda: _regress(fit={"groups": QUERIES}),
        r"groups is given, but early_stopping=False divides no rows",
    ),
    "groups_and_time_held_out": (
        lambda: _regress(**_HELD, fit={"groups": QUERIES, "time": TIMES}),
        r"groups and time are given.*early_stopping=True",
    ),
    "groups_beside_validation_rows": (
        lambda: _regress(**_HELD, fit={"groups": QUERIES, **_VALIDATION}),
        r"groups is given, but so are X_val and y_val",
    ),
    "validation_rows_and_folds": (
        lambda: _regress(**_BY_FOLDS, fit=_VALIDATION),
        r"X_val and y_val are given, but early_stopping='cv'",
    ),
    "validation_rows_without_targets": (
        lambda: _regress(**_HELD, fit={"X_val": X}),
        r"X_val is provided, but y_val was not",
    ),
    "offset_of_one_part": (
        lambda: _regress(**_HELD, fit={"offset": Y, **_VALIDATION}),
        r"offset is provided, but offset_val was not",
    ),
    "offset_not_given_again": (
        lambda: _regress(fit={"offset": Y}).predict(X),
        r"fitted with offset=.*Give offset= here too",
    ),
    "offset_of_two_labels": (
        lambda: _classify(np.column_stack([Y > 0, Y > 1]), fit={"offset": Y}),
        r"offset has the shape \(60,\): expected \(60, 2\)",
    ),
    "callbacks_a_number": (lambda: _regress(fit={"callbacks": 3}), r"callbacks=3"),
    "callbacks_of_text": (lambda: _regress(fit={"callbacks": ["stop"]}), r"callbacks=\['stop'\]"),
    "callback_that_answers_a_number": (
        lambda: _regress(fit={"callbacks": lambda _: 1.0}),
        r"callback <lambda> gave 1\.0 after round 1: expected True to stop",
    ),
    "qid_and_group": (
        lambda: _rank(fit={"qid": QUERIES, "group": [N]}),
        r"qid and group are both given",
    ),
    "group_too_small": (lambda: _rank(fit={"group": [N - 1]}), r"group adds up to 59"),
    "group_negative": (lambda: _rank(fit={"group": [N + 1, -1]}), r"group\[1\] is -1"),
    "group_fractional": (lambda: _rank(fit={"group": [30.5, 29.5]}), r"group\[0\] is 30\.5"),
    "group_beyond_64_bits": (
        lambda: _rank(fit={"group": np.full(N, 1e308)}),
        r"group adds up to \d+, but there are 60 rows",
    ),
    "qid_that_are_no_labels": (
        lambda: _rank(fit={"qid": [{}] * N}),
        r"Row 0 of qid is \{\}|qid.*\{\}",
    ),
    "qid_too_short": (lambda: _rank(fit={"qid": QUERIES[:-1]}), r"qid has the shape \(59,\)"),
    "qid_missing": (lambda: _rank(fit={"qid": np.append(_ONE[:-1], NAN)}), r"qid.*row 59"),
    "qid_of_nothing": (
        lambda: _rank(fit={"qid": QUERIES, "qid_val": QUERIES}),
        r"qid_val is provided, but X_val and y_val are not",
    ),
    "queries_fewer_than_folds": (
        lambda: _rank(early_stopping="cv", cv=7),
        r"cv=7 .*there are 6 queries",
    ),
    "queries_of_two_groups": (
        lambda: _rank(**_BY_FOLDS, fit={"qid": QUERIES, "groups": TIMES}),
        r"Rows 0 and 1 belong to the same query and differ in groups",
    ),
    "relevance_negative": (lambda: _rank(GRADES - 1), r"Row \d+ of y is -1: relevance"),
    "relevance_fractional": (lambda: _rank(GRADES + 0.5), r"Row 0 of y is \d\.5: relevance"),
    "relevance_beyond_gains": (lambda: _rank(GRADES * 40), r"Row \d+ of y is [48]0: gains"),
    "validation_weight_beyond_all_floats": (
        lambda: _regress(**_HELD, fit={**_VALIDATION, "sample_weight_val": HUGE}),
        r"sample_weight is inf",
    ),
}


def _many() -> Any:
    return np.concatenate([X, X])


def _many_y() -> Any:
    return np.concatenate([Y, Y])


for _cases in (PARAMETERS, FIT):
    for _name, (_attempt, _pattern) in _cases.items():
        add(f"boosting_{_name}", _attempt, _pattern)
