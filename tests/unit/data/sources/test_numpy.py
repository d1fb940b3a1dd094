# ruff: noqa: PD011 - Column.values is our own
# ruff: noqa: DTZ001 - naive datetimes are input

import datetime as dt
import decimal
import fractions

import numpy as np
import pandas as pd
import pytest

from spinney.data.intake import read_table
from spinney.errors import InvalidInput, InvalidInputType


def column(values, dtype=object):
    return read_table(np.array([[value] for value in values], dtype=dtype)).columns[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_float_arrays_are_taken_as_they_are(dtype, order):
    matrix = np.ones((4, 3), dtype, order=order)
    for given in (matrix, matrix[::2], matrix[:, ::-1], matrix.T):
        table = read_table(given)
        assert table.matrix is given
        assert np.shares_memory(table.columns[0].values, matrix)


def test_read_only_memory_maps_are_taken_as_they_are(tmp_path):
    np.save(tmp_path / "m.npy", np.ones((3, 2)))
    mapped = np.load(tmp_path / "m.npy", mmap_mode="r")
    assert np.shares_memory(read_table(mapped).matrix, mapped)


@pytest.mark.parametrize(
    ("dtype", "becomes"),
    [
        ("?", "f4"), ("i1", "f4"), ("u1", "f4"), ("i2", "f4"), ("u2", "f4"), ("f2", "f4"),
        ("i4", "f8"), ("u4", "f8"), ("i8", "f8"), ("u8", "f8"), (">f4", "f4"), (">f8", "f8"),
        (">i2", "f4"), ("g", "f8"),
    ],
)  # fmt: skip
def test_numbers_become_the_float_that_holds_them(dtype, becomes):
    table = read_table(np.array([[0, 1], [1, 0]], dtype))
    assert table.matrix.dtype == np.dtype(becomes)
    assert table.matrix.dtype.isnative
    assert table.matrix.tolist() == [[0, 1], [1, 0]]
    assert table.columns[0].kind == ("boolean" if dtype == "?" else "numeric")


def test_unaligned_floats_are_copied():
    packed = np.zeros((3, 2), np.dtype([("pad", "u1"), ("x", "f8")]))
    assert read_table(packed["x"]).matrix.flags.aligned


def test_integers_beyond_2_to_the_53_become_the_nearest_float():
    assert read_table(np.array([[2**53 + 1], [-(2**63)]])).matrix.tolist() == [
        [2.0**53],
        [-(2.0**63)],
    ]
    assert read_table(np.array([[2**64 - 1]], np.uint64)).matrix.tolist() == [[2.0**64]]


def test_infinities_are_values_and_nan_is_missing():
    values = read_table(np.array([[np.inf], [-np.inf], [np.nan]])).columns[0].values
    assert values[:2].tolist() == [np.inf, -np.inf]
    assert np.isnan(values[2])


def test_object_columns_are_inferred_one_by_one():
    now = dt.datetime(2020, 1, 2, 3, 4, 5, 600000)
    zone = dt.timezone(dt.timedelta(hours=2))
    cases = [
        ([1, None, 2.5, np.int8(3), decimal.Decimal("0.5"), fractions.Fraction(1, 4)], "numeric"),
        ([True, None, np.True_], "boolean"),
        (["a", None, float("nan"), np.str_("b")], "categorical"),
        ([now, None, pd.NaT], "datetime"),
        ([now.replace(tzinfo=zone)], "datetime"),
        ([now.date(), None], "date"),
        ([dt.timedelta(seconds=1), pd.NA], "duration"),
        ([np.datetime64("2020-01-01"), np.datetime64("NaT")], "datetime"),
        ([np.timedelta64(1, "D"), None], "duration"),
        ([None, np.nan, pd.NA, pd.NaT, decimal.Decimal("NaN")], "numeric"),
    ]
    for values, kind in cases:
        assert column(values).kind == kind, values


def test_numeric_text_is_not_parsed():
    levels = column(["1", "10", "9"]).levels
    assert levels is not None
    assert levels.values == ("1", "10", "9")


def test_object_instants_are_seconds():
    zone = dt.timezone(dt.timedelta(hours=2))
    noon = dt.datetime(2020, 1, 1, 12)
    assert column([noon]).values[0] == pd.Timestamp(noon).timestamp()
    aware = column([noon.replace(tzinfo=zone)])
    assert aware.values[0] == pd.Timestamp(noon).timestamp() - 7200
    assert aware.timezone_aware is True
    assert column([pd.Timestamp(5)]).values[0] == 5e-9
    assert column([dt.date(1969, 12, 31)]).values[0] == -86400


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s"])
def test_units_of_time_do_not_matter(unit):
    start = np.datetime64("2015-01-01") if unit != "W" else np.datetime64("2015-01-01", "W")
    array = np.array([[start], ["NaT"]], f"M8[{unit}]")
    got = read_table(array).columns[0]
    assert got.values[0] == array[0, 0].astype("M8[s]").astype(np.int64)
    assert np.isnan(got.values[1])
    assert got.timezone_aware is False


@pytest.mark.parametrize("instant", ["2001-02-03T04:05:06.123", "1901-02-03T04:05:06.999"])
def test_the_same_instant_has_the_same_bits_in_every_unit(instant):
    got = {
        read_table(np.array([[instant]], f"M8[{unit}]")).columns[0].values.tobytes()
        for unit in ("ms", "us", "ns")
    }
    assert len(got) == 1


def test_durations_are_seconds_and_months_are_refused():
    assert read_table(np.array([[90]], "m8[m]")).columns[0].values.tolist() == [5400.0]
    assert np.isnan(read_table(np.array([["NaT"]], "m8")).columns[0].values[0])
    with pytest.raises(InvalidInputType, match="fixed number of seconds"):
        read_table(np.array([[1]], "m8[M]"))
    with pytest.raises(InvalidInputType, match="fixed number of seconds"):
        read_table(np.array([[1]], "m8"))


def test_text_arrays_are_categories():
    got = read_table(np.array([["b", "x"], ["a", "x"]]))
    assert got.columns[0].values.tolist() == [1, 0]
    wide = np.array([["b"], ["a"]], dtype=np.dtypes.StringDType())
    assert read_table(wide).columns[0].values.tolist() == [1, 0]


def test_masked_entries_are_missing():
    mask = [[True, False], [False, False]]
    for array in (np.array([[1, 2], [3, 4]]), np.array([[1.0, 2], [3, 4]], np.float32)):
        got = read_table(np.ma.array(array, mask=mask)).columns
        assert np.isnan(got[0].values[0])
        assert got[1].values.tolist() == [2, 4]
    text = read_table(np.ma.array([["a", "b"], ["c", "d"]], mask=mask)).columns[0]
    assert text.values.tolist() == [-1, 0]
    dates = read_table(np.ma.array(np.array([["2020", "2021"]] * 2, "M8[D]"), mask=mask)).columns[0]
    assert np.isnan(dates.values[0])
    plain = np.ma.array(np.ones((2, 2)))
    assert np.shares_memory(read_table(plain).matrix, plain.data)


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (np.ones(3), InvalidInput, "Expected 2D array, got 1D array instead.*Reshape your data"),
        (np.array(1.0), InvalidInput, "Expected 2D array, got scalar array instead"),
        (np.ones((2, 2, 2)), InvalidInput, "Found array with dim 3"),
        (
            np.ones((0, 3)),
            InvalidInput,
            r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required",
        ),
        (
            np.ones((10, 0)),
            InvalidInput,
            r"0 feature\(s\) \(shape=\(10, 0\)\) while a minimum of 1 is required\.",
        ),
        (np.array([[1j]]), InvalidInput, "Complex data not supported"),
        (np.array([[1j]], object), InvalidInput, "Complex data not supported"),
        (np.array([[b"a"]]), InvalidInputType, "'x0'.*[Dd]ecode"),
        (np.array([[b"a"]], object), InvalidInputType, "'x0'.*[Dd]ecode"),
        (np.ones((2, 1), [("a", "f8")]), InvalidInputType, "structured.*DataFrame"),
        (np.array([[1, 2], [3, "a"]], object), InvalidInputType, "'x1'.*2 and 'a'"),
        (np.array([[True], [1]], object), InvalidInputType, "boolean and number"),
        (np.array([[{"a": 1}]], object), InvalidInputType, "argument must be .* string.* number"),
        (np.array([[dt.time(1)]], object), InvalidInputType, "midnight"),
        (np.array([[1.0], [10**400]], object), InvalidInput, "'x0', row 1: this int is too large"),
        (np.array([["\ud800"]]), InvalidInput, "'x0'.*surrogate"),
        (np.array([[np.longdouble("1e4000")]]), InvalidInput, "too large for float64"),
    ],
)
def test_bad_arrays_are_refused(X, error, words):
    with pytest.raises(error, match=words):
        read_table(X)


def test_datetimes_with_and_without_zone_do_not_mix():
    now = dt.datetime(2020, 1, 1)
    with pytest.raises(InvalidInputType, match="time zone"):
        column([now, now.replace(tzinfo=dt.UTC)])
