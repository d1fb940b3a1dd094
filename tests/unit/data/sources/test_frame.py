# ruff: noqa: PD011 - Column.values is our own
# ruff: noqa: DTZ001 - naive datetimes are input

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from spinney.data.intake import read_table
from spinney.errors import InvalidInput, InvalidInputType


def first(X):
    return read_table(X).columns[0]


def arrow(values, dtype=None):
    return pa.table({"c": pa.array(values, dtype)})


def pandas(values, dtype=None):
    return pd.DataFrame({"c": pd.Series(values, dtype=dtype)})


def polars(values, dtype=None):
    return pl.DataFrame({"c": pl.Series(values, dtype=dtype)})


def wide(frame, column):
    """A frame too large for the small-frame path of pandas."""
    return frame({"c": np.arange(70_000, dtype=column), "d": np.ones(70_000, column)})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_float_columns_are_not_copied(frame, dtype):
    X = wide(frame, dtype)
    direct = X["c"].to_numpy()
    assert np.shares_memory(first(X).values, direct)
    assert first(X).values.dtype == dtype


def test_small_float_frames_are_one_matrix():
    X = pd.DataFrame(np.ones((3, 2)), columns=["a", "b"])
    table = read_table(X)
    assert table.matrix is not None
    assert table.names == ("a", "b")
    assert table.names_given


NUMBERS = [
    pandas([1, None, 3], "Int64"),
    pandas([1, None, 3], "UInt8"),
    pandas([1, None, 3], "Float32"),
    pandas([1, None, 3], "int16[pyarrow]"),
    pandas([1, None, 3], "double[pyarrow]"),
    pandas([1, None, 3], object),
    pandas([1, np.nan, 3]),
    pandas(pd.arrays.SparseArray([1, np.nan, 3])),
    pandas([decimal.Decimal(1), None, decimal.Decimal(3)], object),
    pandas([decimal.Decimal(1), None, decimal.Decimal(3)], pd.ArrowDtype(pa.decimal128(9, 2))),
    polars([1, None, 3], pl.Int8),
    polars([1, None, 3], pl.Int64),
    polars([1, None, 3], pl.Int128),
    polars([1, None, 3], pl.Float32),
    polars([1.0, float("nan"), 3]),
    polars([1, None, 3], pl.Decimal(9, 2)),
    arrow([1, None, 3], pa.uint8()),
    arrow([1, None, 3], pa.int64()),
    arrow([1, None, 3], pa.float16()),
    arrow([1, None, 3], pa.float32()),
    arrow([1, float("nan"), 3], pa.float64()),
    arrow([1, None, 3], pa.decimal128(9, 2)),
    arrow([1, None, 3], pa.decimal256(50, 2)),
]


@pytest.mark.parametrize("X", NUMBERS)
def test_numbers_of_every_type_with_a_missing_one(X):
    column = first(X)
    assert column.kind == "numeric"
    np.testing.assert_array_equal(column.values, [1, np.nan, 3])
    assert column.values.dtype in {np.dtype("f4"), np.dtype("f8")}


@pytest.mark.parametrize(
    "X",
    [
        pandas([2**60 + 1, None], "Int64"),
        polars([2**60 + 1, None], pl.Int64),
        polars([2**60 + 1, None], pl.UInt64),
        arrow([2**60 + 1, None], pa.int64()),
        arrow([2**60 + 1, None], pa.uint64()),
    ],
)
def test_long_integers_become_the_nearest_float(X):
    assert first(X).values[0] == 2.0**60


@pytest.mark.parametrize(
    "text", ["0.1", "123456789.123456789", "0.3333333333333333333", "98765432109876543.21"]
)
def test_decimals_become_the_nearest_float_from_every_source(text):
    value = decimal.Decimal(text)
    for X in (pandas([value], object), polars([value]), arrow([value])):
        assert first(X).values[0] == float(value)


@pytest.mark.parametrize(
    "X",
    [
        pandas([True, None, False], "boolean"),
        pandas([True, None, False], "bool[pyarrow]"),
        pandas([True, None, False], object),
        polars([True, None, False]),
        arrow([True, None, False]),
    ],
)
def test_booleans_with_a_missing_one(X):
    column = first(X)
    assert column.kind == "boolean"
    np.testing.assert_array_equal(column.values, [1, np.nan, 0])


TEXT = ["pear", None, "apple", "pear"]


@pytest.mark.parametrize(
    "X",
    [
        pandas(TEXT, object),
        pandas(TEXT, "str"),
        pandas(TEXT, "string[python]"),
        pandas(TEXT, "string[pyarrow]"),
        pandas(TEXT, "large_string[pyarrow]"),
        pandas(TEXT, "category"),
        pandas(pd.Categorical(TEXT, categories=["zoo", "pear", "apple"], ordered=True)),
        pandas(TEXT, pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        polars(TEXT),
        polars(TEXT, pl.Categorical),
        polars(TEXT, pl.Enum(["zoo", "pear", "apple"])),
        arrow(TEXT, pa.string()),
        arrow(TEXT, pa.large_string()),
        arrow(TEXT, pa.string_view()),
        arrow(TEXT, pa.dictionary(pa.uint8(), pa.large_string())),
        pa.table({"c": pa.chunked_array([["pear", None], ["apple", "pear"]]).dictionary_encode()}),
        pa.table({"c": pa.DictionaryArray.from_arrays([1, 0, 2, 1], [None, "pear", "apple"])}),
    ],
)
def test_text_and_categories_of_every_type_give_the_same_column(X):
    column = first(X)
    assert column.kind == "categorical"
    assert column.levels.values == ("apple", "pear")
    assert column.values.tolist() == [1, -1, 0, 1]
    assert column.values.dtype == np.int32


@pytest.mark.parametrize(
    ("X", "levels"),
    [
        (pandas([2, 1, None, 2], "category"), (1, 2)),
        (pandas(pd.Categorical([True, False])), (False, True)),
        (arrow([2, 1]).set_column(0, "c", arrow([2, 1])["c"].dictionary_encode()), (1, 2)),
        (pandas([2.5, 1.0], "category"), (1, 2.5)),
    ],
)
def test_categories_may_be_numbers_or_booleans(X, levels):
    assert first(X).levels.values == levels


MOMENT = dt.datetime(2021, 5, 6, 7, 8, 9)
ZONE = dt.timezone(dt.timedelta(hours=-5))
SECONDS = (MOMENT - dt.datetime(1970, 1, 1)).total_seconds()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_datetimes_have_the_same_bits_in_every_unit_and_source(unit):
    sources = [
        pandas([MOMENT, None], f"datetime64[{unit}]"),
        pandas([MOMENT, None], f"timestamp[{unit}][pyarrow]"),
        arrow([MOMENT, None], pa.timestamp(unit)),
    ]
    if unit != "s":
        sources.append(polars([MOMENT, None], pl.Datetime(unit)))
    for X in sources:
        column = first(X)
        assert column.kind == "datetime"
        assert column.timezone_aware is False
        np.testing.assert_array_equal(column.values, [SECONDS, np.nan])


def test_aware_datetimes_are_utc_instants():
    aware = MOMENT.replace(tzinfo=ZONE)
    naive = pandas([MOMENT, None])
    for X in (
        naive.assign(c=naive["c"].dt.tz_localize("America/New_York")),
        polars([MOMENT, None]).with_columns(pl.col("c").dt.replace_time_zone("America/New_York")),
        arrow([aware + dt.timedelta(hours=-1), None], pa.timestamp("us", "Europe/Paris")),
        pandas([aware + dt.timedelta(hours=-1), None], object),
    ):
        column = first(X)
        assert column.timezone_aware is True
        np.testing.assert_array_equal(column.values, [SECONDS + 4 * 3600, np.nan])


def test_dates_and_durations_are_seconds_from_every_source():
    day, span = MOMENT.date(), dt.timedelta(days=1, milliseconds=1)
    midnight = SECONDS - SECONDS % 86400
    for X in (
        pandas([day, None], object),
        pandas([day, None], "date32[pyarrow]"),
        polars([day, None]),
        arrow([day, None], pa.date32()),
        arrow([day, None], pa.date64()),
    ):
        assert first(X).kind == "date"
        np.testing.assert_array_equal(first(X).values, [midnight, np.nan])
    for X in (pandas([span, None]), polars([span, None]), arrow([span, None])):
        assert first(X).kind == "duration"
        np.testing.assert_array_equal(first(X).values, [86400.001, np.nan])


@pytest.mark.parametrize(
    "X",
    [
        pandas([None, None], object),
        pandas([pd.NA, None], object),
        polars([None, None]),
        arrow([None, None]),
        pandas([np.nan, np.nan]),
    ],
)
def test_columns_without_a_value_are_numeric_and_missing(X):
    assert first(X).kind == "numeric"
    assert first(X).is_all_missing()


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (polars([dt.time(1)]), "Time.*hour"),
        (polars([[1]]), "List.*unnest"),
        (polars([[1]], pl.Array(pl.Int64, 1)), "Array.*unnest"),
        (polars([{"a": 1}]), "Struct.*unnest"),
        (polars([b"x"]), "Binary.*[Dd]ecode"),
        (polars([object()], pl.Object), "Object"),
        (pandas(pd.period_range("2020", periods=1)), "period.*to_timestamp"),
        (pandas(pd.interval_range(0, 1)), "interval.*bounds"),
        (pandas([1j]), "Complex data not supported"),
        (pandas(pd.Categorical([pd.Timestamp(0)])), "Timestamp"),
        (pandas([[1]], object), "list|\\[1\\]"),
        (arrow([[1]]), "list"),
        (arrow([{"a": 1}]), "struct"),
        (arrow([b"x"]), "binary"),
        (arrow([dt.time(1)]), "time64"),
        (arrow([[1]], pa.list_(pa.int64(), 1)), "list"),
    ],
)
def test_unusable_types_are_refused_by_column_with_a_remedy(X, words):
    with pytest.raises(InvalidInputType, match=f"(?s)'c'.*({words})"):
        read_table(X)


def test_damaged_dictionaries_are_refused():
    codes = pa.array([0, 7], pa.int32())
    broken = pa.DictionaryArray.from_arrays(codes, pa.array(["a"]), safe=False)
    with pytest.raises(InvalidInput, match="'c' is damaged"):
        read_table(pa.table({"c": broken}))
    latin = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    )
    with pytest.raises(InvalidInput, match="'c' is damaged"):
        read_table(pa.table({"c": latin}))


def test_chunks_slices_and_batches_are_read_whole():
    chunked = pa.chunked_array([[1.0, 2.0], [3.0]])
    assert first(pa.table({"c": chunked})).values.tolist() == [1, 2, 3]
    assert first(pa.table({"c": chunked}).slice(1)).values.tolist() == [2, 3]
    batch = pa.record_batch({"c": [1.0, 2.0]})
    assert first(batch).values.tolist() == [1, 2]
    stacked = pl.concat([polars([1.0]), polars([2.0])], rechunk=False)
    assert first(stacked).values.tolist() == [1, 2]
    assert first(pandas([1.0, 2.0, 3.0]).iloc[::-2]).values.tolist() == [3, 1]
    assert first(polars(TEXT, pl.Categorical)[2:]).values.tolist() == [0, 1]


def test_default_labels_are_no_names_and_other_numbers_are():
    table = read_table(pd.DataFrame([[1, 2]]))
    assert table.names == ("x0", "x1")
    assert not table.names_given
    assert read_table(pd.DataFrame([[1, 2]], columns=[7, 8])).names == ("7", "8")
    assert read_table(pd.DataFrame([[1, 2]])[[1, 0]]).names == ("1", "0")
    with pytest.raises(InvalidInput, match="more than once: '7'"):
        read_table(pd.DataFrame([[1, 2]], columns=[7, 7]))


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", 1]), InvalidInputType, "Feature names are only supp"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), InvalidInput, "more than once: 'a'"),
        (pa.table([[1], [2]], names=["a", "a"]), InvalidInput, "more than once: 'a'"),
        (
            pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])),
            InvalidInputType,
            "join",
        ),
        (pd.DataFrame({"a": []}), InvalidInput, r"0 sample\(s\)"),
        (pl.DataFrame({"a": []}), InvalidInput, r"0 sample\(s\)"),
        (pd.DataFrame(index=[1, 2]), InvalidInput, r"0 feature\(s\)"),
        (pa.table({}), InvalidInput, r"0 sample\(s\)"),
        (
            pd.DataFrame([[1]], columns=pd.Index(["\ud800"], dtype=object)),
            InvalidInput,
            "surrogate",
        ),
    ],
)
def test_bad_frames_are_refused(X, error, words):
    with pytest.raises(error, match=words):
        read_table(X)
