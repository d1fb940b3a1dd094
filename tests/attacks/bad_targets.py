"""Bad targets and weights."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from tests.attacks.bad_inputs import LABELS, X4, add, classify, regress

NAN, INF = float("nan"), float("inf")

LABEL_CASES: dict[str, tuple[Any, str]] = {
    "none": (None, r"DecisionTreeClassifier requires y.*None"),
    "too_short": (LABELS[:3], r"inconsistent numbers of samples: \[4, 3\]"),
    "empty": ([], r"\[4, 0\]"),
    "no_columns": (np.zeros((4, 0)), r"y has shape \(4, 0\), no target at all\. Give one"),
    "nan_in_second_column": ([[0, 1.0], [0, NAN], [1, 1], [1, 0]], r"y contains NaN.*row 1"),
    "continuous_column": ([[0, 0.5], [0, 0.2], [1, 1], [1, 0]], r"continuous.*Row 0 of y is 0\.5"),
    "three_dimensions": (np.zeros((4, 1, 1)), r"shape \(4, 1, 1\)"),
    "scalar": (np.array(1), r"shape \(\)|scalar|0"),
    "continuous": ([0.5, 1.0, 2.0, 3.0], r"continuous.*Row 0 of y is 0\.5.*regressor"),
    "nan": ([0.0, 1.0, NAN, 1.0], r"y contains NaN.*row 2"),
    "missing_text": (["a", None, "b", "a"], r"y contains NaN.*row 1"),
    "infinity": ([0.0, 1.0, INF, 1.0], r"y contains infinity.*row 2"),
    "mixed_types": (["a", 1, "b", 2], r"'a', 1"),
    "mixed_objects": (np.array([1, "a", 2.5, None], dtype=object), r"row 3"),
    "dicts": ([{}, {}, {}, {}], r"label type.*\{\}"),
    "complex": ([1j, 2j, 1j, 2j], r"Complex data not supported: y"),
    "dates": (pd.date_range("2024-01-01", periods=4), r"y has type datetime64.*astype\(str\)"),
    "bytes": (np.array([b"a", b"b", b"a", b"b"]), r"y has type \|S1"),
    "sparse": (sp.csr_array(np.ones((4, 1))), r"Sparse data was passed for y"),
    "ragged": ([[1], [1, 2], [1], [1]], r"y is a sequence of parts of different length"),
    "text": ("abcd", r"y is a str"),
    "set": ({1, 2, 3, 4}, r"y is a set"),
    "surrogates": (["\ud800", "a", "b", "a"], r"ud800.*surrogate"),
    "lazy": (lambda: pl.LazyFrame({"y": [1, 2, 3, 4]}), r"lazy.*collect"),
    "beyond_64_bits": ([2**70, 1, 2, 3], r"label in y does not fit in 64 bits|Unknown label"),
    "masked": (np.ma.array([1, 2, 1, 2], mask=[0, 1, 0, 0]), r"y contains NaN.*row 1"),
}

NUMBER_CASES: dict[str, tuple[Any, str]] = {
    "none": (None, r"DecisionTreeRegressor requires y.*None"),
    "too_long": (np.arange(5.0), r"inconsistent numbers of samples: \[4, 5\]"),
    "nan": ([0.0, NAN, 1.0, 2.0], r"y contains NaN.*row 1"),
    "infinity": ([0.0, 1.0, -INF, 2.0], r"y contains infinity.*row 2"),
    "nan_in_second_output": ([[0.0, 1.0], [0.0, NAN], [1.0, 1.0], [2.0, 2.0]], r"NaN.*row 1"),
    "null_in_frame": (lambda: pl.Series([1.0, None, 2.0, 3.0]), r"NaN.*row 1"),
    "text": (["a", "b", "c", "d"], r"y has type <U1.*real number"),
    "numbers_as_text": (["1", "2", "3", "4"], r"y has type <U1|y is categorical"),
    "objects": (np.array([1.0, "a", 2.0, 3.0], dtype=object), r"'y' mixes number and text"),
    "dates": (pd.date_range("2024-01-01", periods=4), r"y has type datetime64"),
    "complex": ([1j, 2.0, 3.0, 4.0], r"Complex data not supported: y"),
    "three_dimensions": (np.zeros((4, 1, 2)), r"shape \(4, 1, 2\)"),
    "no_outputs": (np.zeros((4, 0)), r"shape \(4, 0\)|0"),
    "sparse": (sp.csr_array(np.ones((4, 1))), r"Sparse data was passed for y"),
    "times": ([dt.time(1)] * 4, r"'y'.*time"),
}

WEIGHT_CASES: dict[str, tuple[Any, str]] = {
    "negative": ([1.0, -1.0, 1.0, 1.0], r"Row 1 of sample_weight is -1\.0"),
    "nan": ([1.0, 1.0, NAN, 1.0], r"sample_weight contains NaN.*row 2"),
    "infinite": ([1.0, 1.0, 1.0, INF], r"Row 3 of sample_weight is inf"),
    "all_zero": (np.zeros(4), r"all weights are zero"),
    "too_short": ([1.0, 1.0], r"sample_weight\.shape == \(2,\), expected \(4,\)"),
    "two_dimensional": (np.ones((4, 2)), r"1D array or scalar, got 2D"),
    "text": (["a", "b", "c", "d"], r"sample_weight has type <U1"),
    "one_word": ("heavy", r"sample_weight is a str"),
    "objects": (np.array([1.0, {}, 1.0, 1.0], dtype=object), r"sample_weight.*\{\}"),
    "complex": ([1j, 1.0, 1.0, 1.0], r"sample_weight is complex"),
    "negative_scalar": (-1.0, r"sample_weight is -1\.0"),
    "zero_scalar": (0, r"all weights are zero"),
    "nan_scalar": (NAN, r"sample_weight contains NaN"),
    "sparse": (sp.csr_array(np.ones((4, 1))), r"Sparse data was passed for sample_weight"),
    "dict": ({0: 1.0}, r"sample_weight is a dict"),
    "missing": (pd.Series([1.0, None, 1.0, 1.0], dtype="Float64"), r"sample_weight.*row 1"),
    "dates": (np.array(["2024-01-01"] * 4, "M8[D]"), r"sample_weight has type datetime64"),
}

CLASS_WEIGHT_CASES: dict[str, tuple[Any, str]] = {
    "misspelt": ("balance", r"class_weight='balance'.*Did you mean 'balanced'"),
    "number": (2.0, r"class_weight=2\.0"),
    "list": ([1.0, 2.0], r"class_weight=\[1\.0, 2\.0\]"),
    "misspelt_class": ({"no": 1, "yess": 2}, r"Not in y: 'yess'.*Did you mean 'yes'"),
    "unknown_classes_only": ({"maybe": 2}, r"Not in y: 'maybe'.*Not in class_weight: 'no', 'yes'"),
    "negative": ({"no": 1, "yes": -2}, r"class_weight\['yes'\] is -2"),
    "nan": ({"no": 1, "yes": NAN}, r"class_weight\['yes'\] is nan"),
    "infinite": ({"no": 1, "yes": INF}, r"class_weight\['yes'\] is inf"),
    "text": ({"no": 1, "yes": "2"}, r"class_weight\['yes'\] is '2'"),
    "all_zero": ({"no": 0, "yes": 0}, r"all weights are zero"),
    "bool": (True, r"class_weight=True"),
}


def _made(y: Any) -> Any:
    return y() if callable(y) else y  # Polars starts threads: its objects are made in the child


for _name, (_y, _pattern) in LABEL_CASES.items():
    add(f"labels_{_name}", lambda y=_y: classify(X4, _made(y)), _pattern)
for _name, (_y, _pattern) in NUMBER_CASES.items():
    add(f"numbers_{_name}", lambda y=_y: regress(X4, _made(y)), _pattern)
for _name, (_w, _pattern) in WEIGHT_CASES.items():
    add(f"weights_{_name}", lambda w=_w: regress(sample_weight=w), _pattern)
for _name, (_w, _pattern) in CLASS_WEIGHT_CASES.items():
    add(f"class_weight_{_name}", lambda w=_w: classify(class_weight=w), _pattern)
add(
    "weights_of_one_class_only_are_zero_with_class_weight_of_the_other",
    lambda: classify(sample_weight=[1, 1, 0, 0], class_weight={"no": 0, "yes": 1}),
    r"all weights are zero",
)
