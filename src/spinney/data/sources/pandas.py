"""Pandas data frames and series."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.data.sources.arrow import read_arrow_column
from spinney.data.sources.names import given_names
from spinney.data.sources.numbers import as_floats, unsupported, with_missing
from spinney.data.sources.numpy import check_shape, read_array
from spinney.data.table import Column, Kind, Table, made_up_names
from spinney.errors import InvalidInputType

_SMALL = 1 << 16
"""Up to this many values one copy of a float frame is cheaper than a view of each column."""
_SINGLE_ROWS = 3
"""Up to this many rows, taking each is cheaper than an array of objects."""


def read_pandas(X: Any) -> Table:
    """Read a pandas frame; float columns are not copied.

    Labels that are not text (a RangeIndex, say) count as no names, as in scikit-learn.
    """
    pd = sys.modules["pandas"]
    if isinstance(X.columns, pd.MultiIndex):
        raise InvalidInputType(
            f"X has columns of {X.columns.nlevels} levels. Expected one name per column; join "
            "the levels, e.g. X.columns = ['_'.join(map(str, name)) for name in X.columns]."
        )
    check_shape(X.shape)
    names = given_names(X.columns.tolist())
    if X.size <= _SMALL and _is_one_float_type(X.dtypes.tolist()):
        return Table.from_matrix(as_floats(X.to_numpy()), names=names)
    columns = [
        read_pandas_column(name, series)
        for name, (_, series) in zip(names or made_up_names(X.shape[1]), X.items(), strict=True)
    ]
    return Table(X.shape[0], columns, names_given=names is not None)


def few_rows(
    X: Any,
    names: Sequence[str],
    categorical: Sequence[bool],
    temporal: Sequence[bool],
    *,
    most: int,
) -> list[list[Any]] | None:
    """Give the values of a frame of at most ``most`` rows and exactly these columns, row by row.

    The columns may stand in another order. None for every other table. A column made of categories
    stands only for categories. Of several rows, dates that are objects are left to the table, which
    looks at all of them.
    """
    pd = sys.modules.get("pandas")
    if pd is None or type(X) is not pd.DataFrame or not 0 < len(X) <= most:
        return None
    columns, order = X.columns.tolist(), None
    if columns != list(names):
        if len(columns) != len(names) or set(columns) != set(names):
            return None
        order = [columns.index(name) for name in names]
    dtypes = _reordered(X.dtypes.tolist(), order)
    for dtype, may_be_category, is_time in zip(dtypes, categorical, temporal, strict=True):
        if not may_be_category and isinstance(dtype, pd.CategoricalDtype):
            return None
        if is_time and len(X) > 1 and isinstance(dtype, np.dtype) and dtype.kind == "O":
            return None
    if len(X) <= _SINGLE_ROWS:
        rows: list[list[Any]] = [X.iloc[i].tolist() for i in range(len(X))]
    else:
        rows = X.to_numpy(object).tolist()
    return [_reordered(row, order) for row in rows]


def _reordered(items: list[Any], order: list[int] | None) -> list[Any]:
    return items if order is None else [items[place] for place in order]


def _is_one_float_type(dtypes: list[Any]) -> bool:
    first = dtypes[0]
    is_float = isinstance(first, np.dtype) and first.char in "fd"
    return is_float and all(dtype == first for dtype in dtypes)


def read_pandas_column(name: str, series: Any) -> Column:
    """Read one pandas series of any dtype."""
    pd, dtype = sys.modules["pandas"], series.dtype
    if isinstance(dtype, np.dtype):
        if dtype.kind == "c":
            raise unsupported(name, dtype, "Complex data not supported: split it in two columns.")
        return read_array(name, series.to_numpy())
    if isinstance(dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy().astype(np.int64)
        column = Column.from_dictionary(name, codes, series.cat.categories.tolist())
        return replace(column, is_category_type=True)
    if isinstance(dtype, pd.DatetimeTZDtype):
        instants = series.dt.tz_convert(None).to_numpy()
        return read_array(name, instants, timezone_aware=True)
    if isinstance(dtype, pd.SparseDtype):
        return read_array(name, np.asarray(series))
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", "") == "pyarrow":
        return read_arrow_column(name, sys.modules["pyarrow"].array(series.array))
    if isinstance(dtype, pd.StringDtype):
        return read_array(name, series.to_numpy(dtype=object))
    if hasattr(dtype, "numpy_dtype"):
        return _read_masked(name, series)
    remedy = {
        "period": "Convert it with .dt.to_timestamp().",
        "interval": "Convert it to its bounds (.left, .right) or to text with .astype(str).",
    }.get(str(dtype).split("[")[0].lower(), "Convert it with .astype(), or leave it out.")
    raise unsupported(name, dtype, remedy)


def _read_masked(name: str, series: Any) -> Column:
    """Read Int64, Float32, boolean and the like: values beside a mask."""
    plain = series.dtype.numpy_dtype
    kind = Kind.BOOLEAN if plain.kind == "b" else Kind.NUMERIC
    missing = series.isna().to_numpy()
    values = series.to_numpy(dtype=plain, na_value=plain.type(0))
    return Column(name, kind, with_missing(values, missing))
