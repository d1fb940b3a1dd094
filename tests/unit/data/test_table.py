import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spinney.data.table import Column, Kind, Table
from spinney.errors import InvalidInput


def sparse_column():
    return Column("s", Kind.NUMERIC, np.array([5.0, 7.0]), rows=np.array([1, 3], np.int32))


def test_dictionary_column_keeps_only_levels_that_occur():
    column = Column.from_dictionary("c", np.array([2, -1, 0]), ["z", "unused", "a"])
    assert column.levels is not None
    assert column.levels.values == ("a", "z")
    assert column.values.tolist() == [0, -1, 1]
    assert column.values.dtype == np.int32


def test_dictionary_column_takes_missing_values_inside_the_dictionary():
    column = Column.from_dictionary("c", np.array([0, 1, 2]), ["a", None, float("nan")])
    assert column.values.tolist() == [0, -1, -1]


def test_codes_outside_their_dictionary_are_refused_with_the_row():
    with pytest.raises(InvalidInput, match="'c', row 1"):
        Column.from_dictionary("c", np.array([0, 5]), ["a"])


def test_sparse_column_takes_rows_in_any_order_with_repeats():
    column = sparse_column()
    rows = np.array([3, 0, 3, 1, 4])
    assert column.take(rows).dense(5).tolist() == column.dense(5)[rows].tolist()
    empty = Column("e", Kind.NUMERIC, np.empty(0), rows=np.empty(0, np.int32))
    assert empty.take(rows).dense(5).tolist() == [0.0] * 5


def test_all_missing_is_told_apart_from_zero():
    assert Column("n", Kind.NUMERIC, np.array([np.nan])).is_all_missing()
    assert not sparse_column().is_all_missing()
    assert Column.from_dictionary("c", np.array([-1]), []).is_all_missing()


def test_matrix_table_makes_views_on_demand():
    matrix = np.arange(6.0).reshape(3, 2)
    table = Table.from_matrix(matrix)
    assert table.names == ("x0", "x1")
    assert not table.names_given
    assert all(np.shares_memory(column.values, matrix) for column in table.columns)
    assert (table.n_rows, table.n_features) == (3, 2)
    assert repr(table) == "Table(3 rows, 2 features)"


@pytest.mark.parametrize("rows", [[2, 0], np.array([True, False, True]), slice(1, None), [-1]])
def test_take_copies_the_chosen_rows(rows):
    matrix = np.arange(6.0).reshape(3, 2)
    table = Table.from_matrix(matrix, names=("a", "b"))
    taken = table.take(rows)
    np.testing.assert_array_equal(taken.matrix, matrix[rows])
    assert taken.names == ("a", "b")
    assert not np.shares_memory(taken.matrix, matrix)
    by_column = Table(3, table.columns, names_given=True).take(rows)
    np.testing.assert_array_equal(by_column.columns[1].values, matrix[rows][:, 1])


def test_select_by_name_and_position():
    table = Table.from_matrix(np.arange(6.0).reshape(2, 3), names=("a", "b", "c"))
    assert table.select(["c", 0]).names == ("c", "a")
    with pytest.raises(InvalidInput, match=r"'colour'.*Did you mean 'color'"):
        Table.from_matrix(np.ones((1, 1)), names=("color",)).select(["colour"])


def test_increasing_rows_of_sparse_columns_are_those_of_the_dense_ones():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random(50) < 0.3, rng.normal(size=50), 0.0)
    stored = np.flatnonzero(dense).astype(np.int32)
    column = Column("a", Kind.NUMERIC, dense[stored], rows=stored)
    table = Table(50, [column], names_given=True)
    for rows in (rng.random(50) < 0.5, [], [49], slice(3, 40, 2), [5, 3, 3], slice(None, None, -1)):
        chosen = np.asarray(rows, int) if isinstance(rows, list) else rows
        taken = table.take(chosen)
        assert taken.columns[0].rows.dtype == np.int32
        assert_array_equal(taken.columns[0].dense(taken.n_rows), dense[chosen])
