"""Polars data frames and series."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.data.sources.numbers import as_floats, seconds_from_ticks, unsupported, with_missing
from spinney.data.sources.numpy import check_shape
from spinney.data.sources.objects import text_column
from spinney.data.table import Column, Kind, Table
from spinney.typing import AnyArray

_REMEDIES = {
    "Time": "Turn it into a number, for instance pl.col(...).dt.hour(), or a Duration.",
    "List": "Spread it over columns, for instance with .list.to_struct() and .unnest().",
    "Array": "Spread it over columns, for instance with .arr.to_struct() and .unnest().",
    "Struct": "Spread it over columns with .unnest().",
    "Binary": "Decode it, for instance with .cast(pl.String).",
    "Object": "Convert it to a Polars type, for instance pl.Series(values, strict=False).",
}


def read_polars(X: Any) -> Table:
    """Read an eager Polars frame; float columns without nulls are not copied."""
    check_shape(X.shape)
    columns = [read_polars_column(series.name, series) for series in X.get_columns()]
    return Table(X.height, columns, names_given=True)


def read_polars_column(name: str, series: Any) -> Column:
    """Read one Polars series."""
    pl, dtype = sys.modules["polars"], series.dtype
    if isinstance(dtype, pl.Decimal):
        # Through text, so that every source gives the nearest float64.
        return Column(name, Kind.NUMERIC, series.cast(pl.String).cast(pl.Float64).to_numpy())
    if dtype.is_float():
        return Column(name, Kind.NUMERIC, as_floats(series.to_numpy()))
    if dtype.is_integer():
        return Column(name, Kind.NUMERIC, _integers(series))
    if dtype == pl.Boolean:
        return Column(name, Kind.BOOLEAN, series.cast(pl.Float32).to_numpy())
    if dtype == pl.Null:
        return Column(name, Kind.NUMERIC, np.full(len(series), np.nan))
    if dtype == pl.String:
        return text_column(name, series.to_list())
    if isinstance(dtype, pl.Categorical | pl.Enum):
        return _read_categories(name, series)
    if dtype == pl.Date:
        return Column(name, Kind.DATE, _seconds(series, "D"))
    if dtype == pl.Datetime:
        seconds = _seconds(series, dtype.time_unit)
        return Column(name, Kind.DATETIME, seconds, timezone_aware=dtype.time_zone is not None)
    if dtype == pl.Duration:
        return Column(name, Kind.DURATION, _seconds(series, dtype.time_unit))
    remedy = _REMEDIES.get(str(dtype.base_type()), "Cast it with .cast(), or leave it out.")
    raise unsupported(name, dtype, remedy)


def _integers(series: Any) -> AnyArray:
    pl = sys.modules["polars"]
    if "64" in str(series.dtype) or "128" in str(series.dtype):
        return np.asarray(series.cast(pl.Float64).to_numpy())
    missing = series.is_null().to_numpy()
    return with_missing(series.fill_null(0).to_numpy(), missing)


def _read_categories(name: str, series: Any) -> Column:
    """Read physical codes; Polars shares them between columns, so they have gaps."""
    pl = sys.modules["polars"]
    distinct = series.drop_nulls().unique()
    if len(distinct) == 0:
        return text_column(name, [None] * len(series))
    physical = distinct.to_physical().cast(pl.Int64).to_numpy()
    codes = series.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    order = np.argsort(physical)
    # A missing value (-1) finds the first place, and is put back.
    dense = np.where(codes < 0, -1, order[np.searchsorted(physical, codes, sorter=order)])
    column = Column.from_dictionary(name, dense, distinct.cast(pl.String).to_list())
    return replace(column, is_category_type=True)


def _seconds(series: Any, unit: str) -> AnyArray:
    ticks = series.to_physical().cast(sys.modules["polars"].Int64)
    missing = series.is_null().to_numpy()
    return with_missing(seconds_from_ticks(ticks.fill_null(0).to_numpy(), unit), missing)
