import numpy as np
import pytest
import scipy.sparse as sp

from spinney.data.intake import read_table
from spinney.errors import InvalidInput

DENSE = np.array([[0, 2.5, 0], [1, 0, 0], [0, 0, 0], [4, np.nan, 0]])
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def densified(table):
    return np.column_stack([column.dense(table.n_rows) for column in table.columns])


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_dense_values(container, form):
    X = container(DENSE).asformat(form)
    table = read_table(X)
    np.testing.assert_array_equal(densified(table), DENSE)
    assert all(column.rows.dtype == np.int32 for column in table.columns)
    assert not table.names_given


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f4"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_every_number_type_is_read(dtype, form):
    X = sp.csr_array(np.array([[0, 1], [1, 0]], dtype)).asformat(form)
    np.testing.assert_array_equal(densified(read_table(X)), [[0, 1], [1, 0]])


def test_sorted_csc_floats_are_not_copied():
    X = sp.csc_array(DENSE)
    assert np.shares_memory(read_table(X).columns[0].values, X.data)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_large_indices_are_fine(form):
    X = sp.csr_array(DENSE).asformat(form)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_array_equal(densified(read_table(X)), DENSE)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
def test_duplicates_are_summed_and_unsorted_rows_sorted_without_touching_the_input(container):
    parts = (np.array([1, 2, 100, 100], np.int8), np.array([2, 0, 1, 1]), np.array([0, 2, 4, 4]))
    X = container(tuple(part.copy() for part in parts), shape=(3, 3))
    expected = np.array([[2, 0, 1], [0, 200, 0], [0, 0, 0]])
    expected = expected if container is sp.csr_array else expected.T
    np.testing.assert_array_equal(densified(read_table(X)), expected)
    for now, before in zip((X.data, X.indices, X.indptr), parts, strict=True):
        np.testing.assert_array_equal(now, before)


def test_explicit_zeros_are_zeros():
    X = sp.csc_array((np.array([0.0, 3.0]), np.array([0, 1]), np.array([0, 2])), shape=(3, 1))
    assert read_table(X).columns[0].dense(3).tolist() == [0, 3, 0]


def test_empty_columns_and_empty_matrices_are_fine():
    table = read_table(sp.csr_array((3, 2)))
    assert densified(table).tolist() == [[0, 0]] * 3


def damaged(form, **parts):
    X = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]])).asformat(form)
    for name, value in parts.items():
        setattr(X, name, np.array(value))
    return X


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    "parts",
    [
        {"indices": [0, 99, 1]},
        {"indices": [0, -1, 1]},
        {"indices": [0, 2**40, 1]},
        {"indptr": [0, 2, 50, 50][:3]},
        {"indptr": [0, 2, 50, 50]},
        {"indptr": [1, 2, 3]},
        {"indptr": [0, 3, 2]},
        {"indptr": [0, 3, 2, 3]},
        {"indptr": [0, 3]},
        {"indptr": []},
        {"indptr": [0.0, 2.0, 3.0]},
        {"indptr": [-1, 2, 3, 3]},
        {"data": [1.0]},
        {"data": [[1.0, 2.0, 3.0]]},
        {"indices": [[0, 1, 2]]},
    ],
)
def test_damaged_compressed_matrices_are_refused(form, parts):
    with pytest.raises(InvalidInput, match="Sparse X"):
        read_table(damaged(form, **parts))


def test_spare_room_behind_the_last_value_is_ignored():
    X = damaged("csr", data=[1.0, 2, 3, 9], indices=[0, 2, 1, 77])
    np.testing.assert_array_equal(densified(read_table(X)), [[1, 0, 2], [0, 3, 0]])


def test_damaged_coordinates_lists_and_blocks_are_refused():
    coo = sp.coo_array(np.eye(3))
    coo.coords = (np.array([0, 1, 9]), np.array([0, 1, 2]))
    lil = sp.lil_array(np.eye(3))
    lil.rows[0] = [0, 1, 2]
    far = sp.lil_array(np.eye(3))
    far.rows[0] = [77]
    bsr = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    bsr.indices = np.array([0, 9])
    tiles = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    tiles.data = np.ones((2, 3, 3))
    short = sp.coo_array(np.eye(3))
    short.data = np.ones(2)
    for X in (coo, lil, far, bsr, tiles, short):
        with pytest.raises(InvalidInput, match="Sparse X"):
            read_table(X)


def test_what_is_not_a_matrix_of_numbers_is_refused():
    with pytest.raises(InvalidInput, match="Complex data not supported"):
        read_table(sp.csr_array(np.array([[1j]])))
    with pytest.raises(InvalidInput, match=r"0 sample\(s\)"):
        read_table(sp.csr_array((0, 2)))
    with pytest.raises(InvalidInput, match="got 1D array"):
        read_table(sp.coo_array(np.ones(3)))
    with pytest.raises(InvalidInput, match="at most 2\\*\\*31"):
        read_table(sp.coo_array((2**31 + 5, 1)))
