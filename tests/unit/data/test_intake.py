# ruff: noqa: PD011 - Column.values is our own

import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from spinney.data.intake import read_table
from spinney.errors import InvalidInput, InvalidInputType


class OnlyAnArrowStream:
    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyAnArray:
    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._array, dtype=dtype)


def test_anything_with_an_arrow_stream_is_a_table():
    table = read_table(OnlyAnArrowStream(pl.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})))
    assert table.names == ("a", "b")
    assert table.columns[1].values.tolist() == [0, -1]


def test_an_arrow_stream_that_is_no_table_is_refused():
    with pytest.raises(InvalidInputType, match="no table"):
        read_table(OnlyAnArrowStream(pa.chunked_array([[1, 2]])))


def test_anything_with_an_array_is_a_table():
    matrix = np.ones((2, 2), np.float32)
    assert np.shares_memory(read_table(OnlyAnArray(matrix)).matrix, matrix)


def test_a_table_is_already_a_table():
    table = read_table([[1.0]])
    assert read_table(table) is table


def test_rows_may_be_lists_or_tuples():
    table = read_table([(1, "a", None), (2, "b", 0.5)])
    assert [str(column.kind) for column in table.columns] == ["numeric", "categorical", "numeric"]


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (pl.LazyFrame({"a": [1]}), InvalidInputType, "collect"),
        (pd.Series([1.0]), InvalidInput, "got 1D array.*to_frame"),
        (pl.Series([1.0]), InvalidInput, "Reshape your data"),
        (pa.chunked_array([[1.0]]), InvalidInput, "Reshape your data"),
        ("data.csv", InvalidInputType, "read it first"),
        (pathlib.Path("data.csv"), InvalidInputType, "read it first"),
        (b"data", InvalidInputType, "bytes"),
        ({"a": [1]}, InvalidInputType, "DataFrame"),
        ([{"a": 1}], InvalidInputType, "DataFrame"),
        ([[1, 2], [3]], InvalidInput, "same length"),
        ([1, 2], InvalidInput, "Expected 2D array, got 1D array instead"),
        ([], InvalidInput, "1D array"),
        (None, InvalidInputType, "NoneType"),
        (3, InvalidInputType, "int"),
        (object(), InvalidInputType, "object"),
        ({1, 2}, InvalidInputType, "set"),
        (iter([1]), InvalidInputType, "iterator"),
    ],
)
def test_what_is_no_table_is_refused_with_a_hint(X, error, words):
    with pytest.raises(error, match=words):
        read_table(X)
