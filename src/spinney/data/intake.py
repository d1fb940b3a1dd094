"""The one door: anything that looks like a table becomes a Table."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.data.sources.frame import read_frame
from spinney.data.sources.numpy import read_nested, read_numpy
from spinney.data.sources.sparse import is_sparse, read_sparse
from spinney.data.table import Table
from spinney.errors import InvalidInputType
from spinney.typing import TableLike

_ACCEPTED = (
    "Expected a pandas, Polars or Arrow table, a 2-D NumPy array, a SciPy sparse matrix, or a "
    "list of rows."
)


def read_table(X: TableLike) -> Table:
    """Read a table of any library, without changing it and without copying its floats.

    Kinds follow the types of the columns: text and categories are CATEGORICAL, integers and
    decimals NUMERIC (integers beyond 2**53 as the nearest float64), dates, datetimes and
    durations are seconds. None, NaN, NaT, ``pandas.NA`` and nulls are missing; an infinity is a
    value. Numbers written as text stay text.

    Raises
    ------
    InvalidInput, InvalidInputType
        Naming the column, the first bad row, what was expected and what to do.

    Examples
    --------
    >>> table = read_table([[1.5, "red"], [None, "blue"]])
    >>> [(column.name, str(column.kind), column.values.tolist()) for column in table.columns]
    [('x0', 'numeric', [1.5, nan]), ('x1', 'categorical', [1, 0])]
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):
        return read_numpy(X)
    if is_sparse(X):
        return read_sparse(X)
    _refuse_scalars(X)
    frame = read_frame(X)
    if frame is not None:
        return frame
    if isinstance(X, list | tuple):
        _refuse_records(X)
        return read_nested(X)
    if hasattr(X, "__array__") or hasattr(X, "__array_interface__") or hasattr(X, "__dlpack__"):
        return read_nested(np.from_dlpack(X) if not hasattr(X, "__array__") else X)
    raise InvalidInputType(f"X is a {type(X).__module__}.{type(X).__name__}. {_ACCEPTED}")


def _refuse_scalars(X: Any) -> None:
    if isinstance(X, str | bytes | os.PathLike):
        raise InvalidInputType(
            f"X is a {type(X).__name__}, not a table. {_ACCEPTED} If it names a file, read it "
            "first, for instance with polars.read_parquet(path) or pandas.read_csv(path)."
        )
    if isinstance(X, Mapping):
        raise InvalidInputType(
            f"X is a {type(X).__name__}. {_ACCEPTED} Make a frame of it, for instance "
            "pandas.DataFrame(X)."
        )


def _refuse_records(X: Any) -> None:
    if len(X) and isinstance(X[0], Mapping):
        raise InvalidInputType(
            f"X is a list of {type(X[0]).__name__}. {_ACCEPTED} Make a frame of the records, for "
            "instance pandas.DataFrame(X)."
        )
