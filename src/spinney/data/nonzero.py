"""Dense tables of which most values are zero, read as sparse ones."""

from spinney._native import _ext
from spinney.data.table import Column, Kind, Table

ONE_IN = 12
"""A table is sparse if at most one value in so many is not zero: a third of its bytes or less."""
LEAST_VALUES = 1 << 20
"""Fewer are binned before they are counted."""


def without_zeros(table: Table, n_threads: int) -> Table:
    """Give the same table by its values that are not zero if these are few, otherwise itself.

    Flags of categories are most of many tables. Looking through them once, at the speed of memory,
    spares binning every zero. Cut points and bins are the same, because those of sparse tables are.
    """
    matrix = table.matrix
    if matrix is None or matrix.size < LEAST_VALUES:
        return table
    parts = _ext.nonzero_columns(matrix, ONE_IN, n_threads)
    if not parts:
        return table
    starts, rows, values = parts
    ends = starts.tolist()
    columns = [
        Column(name, Kind.NUMERIC, values[first:last], rows=rows[first:last])
        for name, first, last in zip(table.names, ends[:-1], ends[1:], strict=True)
    ]
    return Table(table.n_rows, columns, names_given=table.names_given)
