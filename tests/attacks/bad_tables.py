"""Bad tables: at fit and at predict; NumPy, nested lists, sparse matrices, frames."""

import datetime as dt
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
from tests.attacks.bad_inputs import LABELS, X4, add, bad, classify, regress

NAN = float("nan")

# NumPy and nested lists: what must be in the message is the shape, the type, the column

TABLES: dict[str, tuple[Any, str]] = {
    "no_rows": (np.empty((0, 2)), r"0 sample\(s\) \(shape=\(0, 2\)\)"),
    "no_columns": (np.empty((4, 0)), r"0 feature\(s\) \(shape=\(4, 0\)\)"),
    "one_dimension": (np.arange(4.0), r"got 1D array.*shape=\(4,\).*reshape"),
    "three_dimensions": (np.zeros((4, 2, 2)), r"dim 3.*shape=\(4, 2, 2\)"),
    "scalar_array": (np.array(1.0), r"scalar array"),
    "complex_array": (X4 * 1j, r"Complex data not supported: column 'x0'"),
    "complex_objects": (np.array([[1j]] * 4, dtype=object), r"Complex.*'x0' holds 1j"),
    "dicts_in_cells": (np.array([[{"a": 1}]] * 4, dtype=object), r"'x0'.*\{'a': 1\}.*string"),
    "lists_in_cells": (
        pd.DataFrame({"tags": [["a"], ["b"], ["a"], []]}),
        r"'tags'.*list|'tags'.*\['a'\]",
    ),
    "ragged_lists": (
        [[1.0, 2.0], [3.0], [1.0, 1.0], [0.0, 0.0]],
        r"X.*rows that all have the same length",
    ),
    "mixed_types_in_a_column": ([[1.0, "a"], [2.0, 3], [1.0, "b"], [0.0, "a"]], r"'x1' mixes"),
    "text_and_bytes": (np.array([["a"], [b"b"], ["a"], ["c"]], dtype=object), r"'x0'.*b'b'"),
    "bytes_array": (np.array([[b"a"], [b"b"], [b"a"], [b"c"]]), r"'x0'.*S1.*[Dd]ecode"),
    "structured_array": (np.zeros(4, [("age", "f8")]), r"structured array with fields \('age',\)"),
    "times_of_day": (np.array([[dt.time(1)]] * 4, dtype=object), r"'x0'.*time.*midnight"),
    "huge_python_integer": (np.array([[10**400]] * 4, dtype=object), r"'x0', row 0.*too large"),
    "text_instead_of_a_table": ("data.csv", r"X is a str.*read it first"),
    "path_instead_of_a_table": (Path("data.csv"), r"X is a \w*Path.*read it first"),
    "dict_instead_of_a_table": ({"a": [1, 2, 3, 4]}, r"X is a dict.*pandas\.DataFrame\(X\)"),
    "records_instead_of_a_table": ([{"a": 1}] * 4, r"list of dict.*DataFrame"),
    "none_instead_of_a_table": (None, r"X is a .*NoneType"),
    "number_instead_of_a_table": (3.5, r"X is a .*float"),
    "generator_instead_of_a_table": ((row for row in X4), r"X is a .*generator"),
    "series_instead_of_a_frame": (pd.Series(np.arange(4.0)), r"Expected 2D array.*Series"),
    "lone_surrogate_in_a_cell": ([["\ud800"], ["a"], ["b"], ["a"]], r"'x0'.*ud800.*surrogate"),
    "naive_and_aware_in_a_column": (
        np.array([[dt.datetime(2024, 1, 1)], [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)]] * 2, object),  # noqa: DTZ001
        r"'x0' mixes datetimes with and without a time zone",
    ),
    "months_as_durations": (np.array([[1], [2], [3], [4]], "m8[M]"), r"'x0'.*timedelta64\[M\]"),
}

# Frames

FRAMES: dict[str, tuple[Callable[[], Any], str]] = {  # made in the child: Polars starts threads
    "frame_without_rows": (lambda: pd.DataFrame({"age": []}), r"0 sample\(s\)"),
    "frame_without_columns": (lambda: pd.DataFrame(index=range(4)), r"0 feature\(s\)"),
    "duplicate_names": (lambda: pd.DataFrame(X4, columns=["age", "age"]), r"more than once: 'age'"),
    "names_of_mixed_types": (lambda: pd.DataFrame(X4, columns=["age", 1]), r"\['int', 'str'\]"),
    "names_of_two_levels": (
        lambda: pd.DataFrame(X4, columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        r"columns of 2 levels",
    ),
    "lone_surrogate_in_a_name": (
        lambda: pd.DataFrame(X4, columns=pd.Index(["a", "\ud800"], dtype=object)),
        r"name '\\ud800'",
    ),
    "complex_column": (lambda: pd.DataFrame({"z": [1j, 2j, 3j, 4j]}), r"'z'.*complex128"),
    "period_column": (
        lambda: pd.DataFrame({"when": pd.period_range("2024-01", periods=4, freq="M")}),
        r"'when'.*period\[M\].*to_timestamp",
    ),
    "interval_column": (
        lambda: pd.DataFrame({"range": pd.interval_range(0, 4)}),
        r"'range'.*interval.*bounds",
    ),
    "mixed_object_column": (
        lambda: pd.DataFrame({"what": pd.Series([1, "a", 2, "b"], dtype=object)}),
        r"'what' mixes number and text, for example 1 and 'a'",
    ),
    "mixed_categories": (
        lambda: pd.DataFrame({"what": pd.Categorical([1, "a", 1, "a"])}),
        r"'what' mixes number and text categories",
    ),
    "tuple_categories": (
        lambda: pd.DataFrame({"what": pd.Categorical([(1, 2), (3, 4)] * 2)}),
        r"'what' holds the category \(1, 2\)",
    ),
    "lazy_frame": (lambda: pl.LazyFrame({"age": [1.0, 2.0, 3.0, 4.0]}), r"LazyFrame.*collect"),
    "polars_list_column": (lambda: pl.DataFrame({"tags": [[1], [2], [3], [4]]}), r"'tags'.*List"),
    "polars_struct_column": (lambda: pl.DataFrame({"s": [{"a": 1}] * 4}), r"'s'.*Struct.*unnest"),
    "polars_binary_column": (
        lambda: pl.DataFrame({"raw": [b"a", b"b", b"c", b"d"]}),
        r"'raw'.*Binary",
    ),
    "polars_time_column": (lambda: pl.DataFrame({"at": [dt.time(1)] * 4}), r"'at'.*Time"),
    "polars_object_column": (
        lambda: pl.DataFrame({"o": pl.Series([object()] * 4, dtype=pl.Object)}),
        r"'o'.*Object",
    ),
    "arrow_list_column": (lambda: pa.table({"tags": [[1], [2], [3], [4]]}), r"'tags'.*list<"),
    "arrow_struct_column": (lambda: pa.table({"s": [{"a": 1}] * 4}), r"'s'.*struct<"),
    "arrow_binary_column": (lambda: pa.table({"raw": [b"a", b"b", b"c", b"d"]}), r"'raw'.*binary"),
    "arrow_duplicate_names": (
        lambda: pa.Table.from_arrays([pa.array(X4[:, 0])] * 2, names=["a", "a"]),
        r"more than once: 'a'",
    ),
    "arrow_dictionary_out_of_range": (
        lambda: pa.table(
            {
                "d": pa.DictionaryArray.from_arrays(
                    pa.array([0, 9, 0, 1], pa.int32()), pa.array(["a", "b"]), safe=False
                )
            }
        ),
        r"'d' is damaged.*9",
    ),
}

for _name, (_table, _pattern) in TABLES.items():
    add(f"fit_{_name}", lambda table=_table: classify(table), _pattern)
for _name, (_make, _pattern) in FRAMES.items():
    add(f"fit_{_name}", lambda make=_make: classify(make()), _pattern)


# Sparse matrices whose arrays lie


def _damaged(kind: str, **arrays: Any) -> Any:
    matrix = getattr(sp, f"{kind}_array")(X4)
    for name, array in arrays.items():
        setattr(matrix, name, np.asarray(array))
    return matrix


def _poked(kind: str, array: str, place: int, value: int) -> Any:
    matrix = getattr(sp, f"{kind}_array")(X4)
    getattr(matrix, array)[place] = value
    return matrix


SPARSE: dict[str, tuple[Any, str]] = {
    "index_out_of_range": (lambda k: _poked(k, "indices", 2, 99), r"value 2 has index 99"),
    "index_negative": (lambda k: _poked(k, "indices", 1, -1), r"value 1 has index -1"),
    "indptr_decreasing": (lambda k: _poked(k, "indptr", 1, 9), r"indptr falls after entry 1"),
    "indptr_past_the_end": (lambda k: _poked(k, "indptr", -1, 10**6), r"indptr ends at 1000000"),
    "indptr_not_from_zero": (lambda k: _poked(k, "indptr", 0, 1), r"indptr must start at 0"),
    "indptr_too_short": (lambda k: _damaged(k, indptr=[0, 6]), r"indptr must.*it has 2"),
    "data_too_short": (lambda k: _damaged(k, data=[1.0]), r"6 indices and 1 stored|1 stored value"),
    "indices_beyond_int32": (
        lambda k: _damaged(k, indices=np.full(6, 2**40 + 1)),
        r"has index 1099511627777",
    ),
    "indptr_int64_overflow": (
        lambda k: _poked_wide(k, 2**63 - 1),
        r"indptr (falls|ends at 9223372036854775807)",
    ),
    "indices_of_floats": (lambda k: _damaged(k, indices=np.zeros(6)), r"integer vectors"),
}


def _poked_wide(kind: str, value: int) -> Any:
    matrix = getattr(sp, f"{kind}_array")(X4)
    matrix.indptr = matrix.indptr.astype(np.int64)
    matrix.indptr[-1] = value
    return matrix


for _name, (_make, _pattern) in SPARSE.items():
    for _kind in ("csr", "csc"):
        add(f"fit_{_kind}_{_name}", lambda m=_make, k=_kind: classify(m(k)), _pattern)
add(
    "predict_csr_index_negative",
    lambda: classify().predict(_poked("csr", "indices", 0, -7)),
    r"value 0 has index -7",
)
add(
    "fit_coo_row_out_of_range",
    lambda: classify(_coo_with_row(9)),
    r"index 9, outside \[0, 4\)",
)
add("fit_sparse_complex", lambda: classify(sp.csr_array(X4 * 1j)), r"[Cc]omplex.*sparse")
add("fit_sparse_objects", lambda: classify(_sparse_objects()), r"sparse X of type object")


def _coo_with_row(row: int) -> Any:
    matrix = sp.coo_array(X4)
    matrix.coords = (np.full(len(matrix.data), row), matrix.coords[1])
    return matrix


def _sparse_objects() -> Any:
    matrix = sp.csr_array(X4)
    matrix.data = matrix.data.astype(object)
    return matrix


# Predict: another table than at fit

FRAME = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "town": ["A", "B", "A", "C"]})


def _predict(table: Any, fitted_on: Any = FRAME, **parameters: Any) -> Any:
    return classify(fitted_on, **parameters).predict(table)


@bad(r"(?s)missing:\n- age.*Add or rename")
def predict_missing_column() -> Any:
    return _predict(FRAME[["town"]])


@bad(r"(?s)unseen at fit time:\n- agee.*now missing:\n- age\n.*Missing 'age'\. Did you mean 'agee'")
def predict_renamed_column_gives_the_nearest_name() -> Any:
    return _predict(FRAME.rename(columns={"age": "agee"}))


@bad(r"(?s)unseen at fit time:\n- more.*Drop the columns")
def predict_extra_column() -> Any:
    return _predict(FRAME.assign(more=1))


@bad(r"(?s)now missing:\n- age")
def predict_missing_column_when_extra_is_ignored() -> Any:
    return _predict(FRAME.assign(other=1).drop(columns="age"), extra_columns="ignore")


@bad(r"X has 3 features, but DecisionTreeClassifier is expecting 2 features")
def predict_too_many_features() -> Any:
    return _predict(np.zeros((4, 3)), fitted_on=X4)


@bad(r"X has 1 features, but DecisionTreeClassifier is expecting 2 features")
def predict_too_few_sparse_features() -> Any:
    return _predict(sp.csr_array(np.ones((4, 1))), fitted_on=X4)


@bad(r"'age' is categorical \(text\), but the model was fitted on numeric")
def predict_text_where_numbers_were() -> Any:
    return _predict(FRAME.assign(age=["a", "b", "c", "d"]))


@bad(r"'town' is numeric, but the model was fitted on categorical \(text\)")
def predict_numbers_where_text_was() -> Any:
    return _predict(FRAME.assign(town=[1.0, 2.0, 3.0, 4.0]))


@bad(r"'when' is datetime with a time zone.*fitted on datetime without")
def predict_aware_where_naive_was() -> Any:
    naive = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=4)})
    return _predict(naive.assign(when=naive["when"].dt.tz_localize("UTC")), fitted_on=naive)


@bad(r"'when' is datetime without a time zone.*fitted on datetime with")
def predict_naive_where_aware_was() -> Any:
    aware = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=4, tz="Asia/Tokyo")})
    return _predict(aware.assign(when=aware["when"].dt.tz_localize(None)), fitted_on=aware)


@bad(r"'age' is datetime.*fitted on numeric")
def predict_dates_where_numbers_were() -> Any:
    return _predict(FRAME.assign(age=pd.date_range("2024-01-01", periods=4)))


@bad(r"'took' is numeric, but the model was fitted on duration")
def predict_numbers_where_durations_were() -> Any:
    durations = pd.DataFrame({"took": pd.to_timedelta([1, 2, 3, 4], unit="s")})
    return _predict(durations.assign(took=[1.0, 2.0, 3.0, 4.0]), fitted_on=durations)


@bad(r"'town', first in row 1: categories not seen at fit: 'Z'")
def predict_unseen_category() -> Any:
    return _predict(FRAME.assign(town=["A", "Z", "A", "B"]), unseen="error")


@bad(r"got 1D array")
def predict_one_row_without_its_table() -> Any:
    return _predict(np.array([1.0, 2.0]), fitted_on=X4)


@bad(r"0 sample\(s\)")
def predict_no_rows() -> Any:
    return _predict(np.empty((0, 2)), fitted_on=X4)


@bad(r"Complex data not supported")
def predict_complex() -> Any:
    return _predict(X4 * 1j, fitted_on=X4)


@bad(r"more than once: 'age'")
def predict_duplicate_names() -> Any:
    return _predict(pd.concat([FRAME, FRAME[["age"]]], axis=1))


@bad(r"LazyFrame.*collect")
def predict_lazy_frame() -> Any:
    return _predict(pl.from_pandas(FRAME).lazy())


@bad(r"missing:\n- age")
def apply_missing_column() -> Any:
    return classify(FRAME).apply(FRAME[["town"]])


@bad(r"0 sample\(s\)")
def predict_no_rows_from_a_loaded_file() -> Any:
    import spinney

    with tempfile.TemporaryDirectory() as folder:
        spinney.save(regress(), Path(folder) / "model.spn")
        return spinney.load(Path(folder) / "model.spn").predict(np.empty((0, 2)))


@bad(r"inconsistent numbers of samples: \[3, 4\]")
def fit_fewer_rows_than_labels() -> Any:
    return classify(X4[:3], LABELS)
