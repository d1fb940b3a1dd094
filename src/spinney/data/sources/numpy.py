"""NumPy arrays, and what becomes one: nested sequences, objects with ``__array__``."""

from typing import Any

import numpy as np

from spinney.data.sources.numbers import as_floats, seconds_from_numpy, unsupported, with_missing
from spinney.data.sources.objects import read_objects, text_column
from spinney.data.table import Column, Kind, Table, made_up_names
from spinney.errors import InvalidInput, InvalidInputType
from spinney.typing import AnyArray

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
    "array.reshape(1, -1) if it contains a single sample."
)


def read_numpy(X: AnyArray) -> Table:
    """Read a 2-D array: floats by reference, anything else column by column.

    Byte strings are refused, because only the user knows their encoding.
    """
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else None
    array = np.asarray(X.data if isinstance(X, np.ma.MaskedArray) else X)
    if array.dtype.names is not None:
        raise InvalidInputType(
            f"X is a structured array with fields {array.dtype.names}. Expected a plain 2-D "
            "array; pass pandas.DataFrame(X) to keep the fields as columns."
        )
    check_shape(array.shape)
    if mask is not None and mask.any():
        return _read_columns(_hide(array, mask))
    if array.dtype.kind in "biuf":
        kind = Kind.BOOLEAN if array.dtype.kind == "b" else Kind.NUMERIC
        return Table.from_matrix(as_floats(array), kind=kind)
    return _read_columns(array)


def read_nested(X: Any) -> Table:
    """Read a list of rows, or any object that NumPy can make an array of."""
    try:
        array = np.asarray(X)
    except ValueError as problem:
        raise InvalidInput(
            f"X cannot be read as a table: {problem}. Expected rows that all have the same length; "
            "pad or drop the odd ones."
        ) from None
    if array.dtype.kind == "U" and isinstance(X, list | tuple):
        # NumPy turns [[1, "a"]] into text; keep the numbers numbers.
        array = np.array(X, dtype=object)
    return read_numpy(array)


def check_shape(shape: tuple[int, ...]) -> None:
    """Refuse what is not 2-D or has no rows or no features, in scikit-learn's words."""
    if len(shape) < 2:
        got = "1D array" if len(shape) == 1 else "scalar array"
        raise InvalidInput(f"Expected 2D array, got {got} instead: shape={shape}. {_RESHAPE}")
    if len(shape) > 2:
        raise InvalidInput(
            f"Found array with dim {len(shape)}, while dim <= 2 is required: shape={shape}. "
            "Give one row per sample, for instance array.reshape(len(array), -1)."
        )
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise InvalidInput(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required. "
                f"Pass a table with at least one {'row' if what == 'sample' else 'column'}."
            )


def read_array(name: str, values: AnyArray, *, timezone_aware: bool = False) -> Column:
    """Read one column from a 1-D array of any NumPy type."""
    kind = values.dtype.kind
    if kind == "b":
        return Column(name, Kind.BOOLEAN, as_floats(values))
    if kind in "iuf":
        return Column(name, Kind.NUMERIC, as_floats(values))
    if kind == "O":
        return read_objects(name, values)
    if kind == "U":
        return text_column(name, values.tolist())
    if kind == "T":  # numpy.dtypes.StringDType
        return read_objects(name, values.astype(object))
    if kind == "M":
        seconds = seconds_from_numpy(values, name)
        return Column(name, Kind.DATETIME, seconds, timezone_aware=timezone_aware)
    if kind == "m":
        return Column(name, Kind.DURATION, seconds_from_numpy(values, name))
    if kind == "c":
        raise InvalidInput(
            f"Complex data not supported: column {name!r} has type {values.dtype}. Split it into "
            "its real and imaginary parts."
        )
    remedy = "Decode bytes to text first, e.g. numpy.char.decode(X, 'utf-8')."
    raise unsupported(name, values.dtype, remedy)


def _read_columns(array: AnyArray) -> Table:
    names = made_up_names(array.shape[1])
    columns = [read_array(name, view) for name, view in zip(names, array.T, strict=True)]
    return Table(array.shape[0], columns, names_given=False)


def _hide(array: AnyArray, mask: AnyArray) -> AnyArray:
    """Copy an array with its masked entries missing."""
    if array.dtype.kind in "iuf":
        return with_missing(array, mask)
    if array.dtype.kind in "Mm":
        return np.where(mask, np.array("NaT", array.dtype), array)
    hidden = array.astype(object)
    hidden[mask] = None
    return hidden
