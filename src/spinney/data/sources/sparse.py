"""SciPy sparse matrices and arrays: checked to the last index, then read by column."""

from typing import Any

import numpy as np
import scipy.sparse

from spinney.data.sources.numbers import as_floats
from spinney.data.sources.numpy import check_shape
from spinney.data.table import Column, Kind, Table, made_up_names
from spinney.errors import InvalidInput
from spinney.typing import AnyArray

_REMEDY = "The matrix is damaged; build it again, for instance from its COO form."


def is_sparse(X: object) -> bool:
    """Tell whether ``X`` is a SciPy sparse matrix or array."""
    return bool(scipy.sparse.issparse(X))


def read_sparse(X: Any) -> Table:
    """Read a sparse matrix of any format; what is not stored is zero, a stored NaN is missing.

    Nothing in SciPy's compiled routines checks an index, so every index is checked here before
    the first of them runs. Cost: a few passes over the stored values, no copy of a sorted CSC.
    """
    check_shape(X.shape)
    if X.shape[0] > np.iinfo(np.int32).max:
        raise InvalidInput(f"{X.shape[0]} rows: a sparse table may have at most 2**31 - 1.")
    if np.dtype(X.dtype).kind not in "biuf":
        if np.dtype(X.dtype).kind == "c":
            raise InvalidInput("Complex data not supported: X is a complex sparse matrix.")
        raise InvalidInput(f"A sparse X of type {X.dtype}: expected numbers. {_REMEDY}")
    kind = Kind.BOOLEAN if np.dtype(X.dtype).kind == "b" else Kind.NUMERIC
    data, rows, starts = _by_column(X)
    values, rows = as_floats(data), rows.astype(np.int32, copy=False)
    columns = [
        Column(name, kind, values[first:last], rows=rows[first:last])
        for name, first, last in zip(
            made_up_names(X.shape[1]), starts[:-1].tolist(), starts[1:].tolist(), strict=True
        )
    ]
    return Table(X.shape[0], columns, names_given=False)


def _by_column(X: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Give (data, row numbers, column starts) with rows strictly increasing in each column."""
    n_rows, n_columns = X.shape
    if X.format == "csc":
        data, rows, starts = _checked(X, n_columns, n_rows)
        if _is_strictly_sorted(rows, starts):
            return data, rows, starts
        parts = (_summable(data), rows.copy(), starts.copy())
        by_column = scipy.sparse.csc_array(parts, shape=X.shape)
    elif X.format in {"csr", "bsr"}:
        tall, wide = _block_shape(X)
        data, columns, starts = _checked(X, n_rows // tall, n_columns // wide)
        container = getattr(scipy.sparse, f"{X.format}_array")
        checked = container((_summable(data), columns, starts), shape=X.shape)
        by_column = checked.tocsc(copy=True)
    else:
        by_column = _from_coordinates(X)
    by_column.sum_duplicates()
    return by_column.data, by_column.indices, by_column.indptr


def _block_shape(X: Any) -> tuple[int, int]:
    if X.format == "csr":
        return 1, 1
    tall, wide = np.shape(X.data)[1:] if np.ndim(X.data) == 3 else (0, 0)
    if min(tall, wide) < 1 or X.shape[0] % tall or X.shape[1] % wide:
        raise InvalidInput(f"Sparse X: blocks of {tall} x {wide} do not tile it. {_REMEDY}")
    return tall, wide


def _summable(data: AnyArray) -> AnyArray:
    """Copy stored values in a type whose sums do not wrap around."""
    return data.copy() if data.dtype.kind == "b" else as_floats(data.copy())


def _checked(X: Any, n_major: int, n_minor: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Check the three arrays of a compressed matrix in O(stored values)."""
    data, indices, starts = map(np.asarray, (X.data, X.indices, X.indptr))
    if starts.ndim != 1 or indices.ndim != 1 or {starts.dtype.kind, indices.dtype.kind} - {*"iu"}:
        raise InvalidInput(f"Sparse X: indptr and indices must be integer vectors. {_REMEDY}")
    if len(starts) != n_major + 1 or starts[0] != 0:
        raise InvalidInput(
            f"Sparse X: indptr must start at 0 and have {n_major + 1} entries, but it has "
            f"{len(starts)} and starts at {starts[:1]}. {_REMEDY}"
        )
    if np.any(starts[1:] < starts[:-1]):
        place = int(np.argmax(starts[1:] < starts[:-1]))
        raise InvalidInput(f"Sparse X: indptr falls after entry {place}. {_REMEDY}")
    if data.ndim != (3 if X.format == "bsr" else 1):
        raise InvalidInput(f"Sparse X: the stored values have shape {data.shape}. {_REMEDY}")
    if len(indices) != len(data) or starts[-1] > len(indices):
        raise InvalidInput(
            f"Sparse X: indptr ends at {starts[-1]}, with {len(indices)} indices and {len(data)} "
            f"stored values. {_REMEDY}"
        )
    stored = int(starts[-1])
    _check_range(indices[:stored], n_minor)
    return data[:stored], indices[:stored], starts


def _check_range(indices: AnyArray, n: int) -> None:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InvalidInput(f"Sparse X: indices must be integer vectors. {_REMEDY}")
    if len(indices) and (indices.min() < 0 or indices.max() >= n):
        place = int(np.argmax((indices < 0) | (indices >= n)))
        raise InvalidInput(
            f"Sparse X: stored value {place} has index {indices[place]}, outside [0, {n}). "
            f"{_REMEDY}"
        )


def _is_strictly_sorted(rows: AnyArray, starts: AnyArray) -> bool:
    rises = rows[1:] > rows[:-1]
    borders = starts[1:-1]
    borders = borders[(borders > 0) & (borders < len(rows))]
    rises[borders - 1] = True  # from one column to the next anything goes
    return bool(rises.all())


def _from_coordinates(X: Any) -> Any:
    if X.format == "lil" and not _lists_agree(X):
        raise InvalidInput(f"Sparse X: its lists of columns and values disagree. {_REMEDY}")
    try:
        coordinates = X.tocoo()
    except (ValueError, IndexError, TypeError) as problem:
        raise InvalidInput(f"Sparse X cannot be read: {problem}. {_REMEDY}") from None
    row, column, data = map(np.asarray, (coordinates.row, coordinates.col, coordinates.data))
    if not len(row) == len(column) == len(data):
        raise InvalidInput(
            f"Sparse X: {len(row)} row numbers, {len(column)} column numbers and {len(data)} "
            f"values. {_REMEDY}"
        )
    _check_range(row, X.shape[0])
    _check_range(column, X.shape[1])
    return scipy.sparse.coo_array((_summable(data), (row, column)), shape=X.shape).tocsc()


def _lists_agree(X: Any) -> bool:
    if not len(X.rows) == len(X.data) == X.shape[0]:
        return False
    return all(len(row) == len(data) for row, data in zip(X.rows, X.data, strict=True))
