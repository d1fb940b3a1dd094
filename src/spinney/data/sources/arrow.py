"""Arrow tables and columns."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.data.sources.names import check_names
from spinney.data.sources.numbers import as_floats, seconds_from_ticks, unsupported, with_missing
from spinney.data.sources.numpy import check_shape
from spinney.data.table import Column, Kind, Table
from spinney.errors import InvalidInput
from spinney.typing import AnyArray

_REMEDY = "Flatten or cast it, for instance with pyarrow.compute, or leave the column out."


def read_arrow(X: Any) -> Table:
    """Read a ``pyarrow.Table`` or ``RecordBatch``; float columns without nulls are not copied."""
    check_shape((X.num_rows, X.num_columns))
    names = check_names(X.column_names)
    columns = [read_arrow_column(name, X.column(place)) for place, name in enumerate(names)]
    return Table(X.num_rows, columns, names_given=True)


def read_arrow_column(name: str, values: Any) -> Column:
    """Read one ``pyarrow`` array, chunked or not."""
    pa = sys.modules["pyarrow"]
    if not isinstance(values, pa.ChunkedArray):
        values = pa.chunked_array([values])
    types, dtype = pa.types, values.type
    if types.is_floating(dtype) or types.is_integer(dtype):
        return Column(name, Kind.NUMERIC, _numbers(values))
    if types.is_boolean(dtype):
        return Column(name, Kind.BOOLEAN, _numbers(values.cast(pa.uint8())))
    if types.is_decimal(dtype):
        # Through text, because Arrow's own conversion is not always the nearest float64.
        return Column(name, Kind.NUMERIC, _numbers(values.cast(pa.string()).cast(pa.float64())))
    if types.is_null(dtype):
        return Column(name, Kind.NUMERIC, np.full(len(values), np.nan))
    if _is_text(types, dtype) or types.is_dictionary(dtype):
        return _read_dictionary(name, values)
    return _read_temporal(name, values)


def _numbers(values: Any) -> AnyArray:
    if values.null_count == 0:
        return as_floats(values.to_numpy())
    missing = values.is_null().to_numpy()
    return with_missing(values.fill_null(0).to_numpy(), missing)


def _is_text(types: Any, dtype: Any) -> bool:
    # string_view is younger than the oldest pyarrow we accept.
    is_view = getattr(types, "is_string_view", lambda _: False)
    return bool(types.is_string(dtype) or types.is_large_string(dtype) or is_view(dtype))


def _read_dictionary(name: str, values: Any) -> Column:
    pa = sys.modules["pyarrow"]
    try:
        values.validate(full=True)  # Arrow's kernels trust codes, offsets and UTF-8
    except pa.ArrowInvalid as problem:
        raise InvalidInput(
            f"Column {name!r} is damaged: {problem}. Build the Arrow array again."
        ) from None
    is_category_type = pa.types.is_dictionary(values.type)
    if not is_category_type:
        values = values.dictionary_encode()
    value_type = values.type.value_type
    if pa.types.is_nested(value_type) or pa.types.is_temporal(value_type):
        raise unsupported(name, values.type, "Decode the dictionary with .dictionary_decode().")
    encoded = values.unify_dictionaries().combine_chunks()
    codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    column = Column.from_dictionary(name, codes, encoded.dictionary.to_pylist())
    return replace(column, is_category_type=is_category_type)


def _read_temporal(name: str, values: Any) -> Column:
    types, dtype = sys.modules["pyarrow"].types, values.type
    if types.is_date32(dtype):
        return Column(name, Kind.DATE, _seconds(values, "D"))
    if types.is_date64(dtype):
        return Column(name, Kind.DATE, _seconds(values, "ms"))
    if types.is_timestamp(dtype):
        seconds = _seconds(values, dtype.unit)
        return Column(name, Kind.DATETIME, seconds, timezone_aware=dtype.tz is not None)
    if types.is_duration(dtype):
        return Column(name, Kind.DURATION, _seconds(values, dtype.unit))
    raise unsupported(name, dtype, _REMEDY)


def _seconds(values: Any, unit: str) -> AnyArray:
    pa = sys.modules["pyarrow"]
    ticks = values.cast(pa.int32()) if pa.types.is_date32(values.type) else values
    ticks = ticks.cast(pa.int64())
    seconds = seconds_from_ticks(ticks.fill_null(0).to_numpy(), unit)
    return with_missing(seconds, ticks.is_null().to_numpy())
