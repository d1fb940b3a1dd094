"""Targets and weights: one or a few columns of any library as one exact NumPy array."""

from typing import Any

import narwhals as nw
import numpy as np

from spinney.data.sources.frame import is_pandas_frame
from spinney.data.sources.sparse import is_sparse
from spinney.errors import InvalidInput, InvalidInputType
from spinney.typing import AnyArray


def read_vector(y: Any, what: str) -> AnyArray:
    """Give ``y`` as an array with its own values: integers stay integers, text stays text.

    A frame gives a 2-D array. ``what`` is the name used in errors.
    """
    if is_sparse(y):
        raise InvalidInputType(
            f"Sparse data was passed for {what}, but dense data is required. Use '.toarray()' to "
            "convert it to a dense array."
        )
    if isinstance(y, str | bytes | dict | set):
        raise InvalidInputType(
            f"{what} is a {type(y).__name__}. Expected an array, a list or a column of numbers "
            "or labels."
        )
    known = _columns_of(y)
    if known is None:
        return _from_numpy(y, what)
    if len(known) == 1:
        values = _column_values(known[0], what)
        return values[:, np.newaxis] if _is_frame(y) else values
    return _stacked([_column_values(one, f"{what} column {k}") for k, one in enumerate(known)])


def _stacked(columns: list[AnyArray]) -> AnyArray:
    """Put columns side by side; those of different kinds stay what they are, as objects."""
    kinds = {column.dtype.kind for column in columns}
    if len(kinds) == 1 or kinds <= set("biufc"):
        return np.column_stack(columns)
    array = np.empty((len(columns[0]), len(columns)), object)
    for place, column in enumerate(columns):
        array[:, place] = list(column)
    return array


def column_vectors(y: Any, what: str) -> list[AnyArray] | None:
    """Give each column of a frame or array of two dimensions in its own type; None: it is none."""
    if is_sparse(y):
        return None
    if _is_frame(y):
        several = _columns_of(y) or []
        if len(several) == 1:
            return [_column_values(several[0], what)]
        return [_column_values(one, f"{what} column {k}") for k, one in enumerate(several)]
    values = read_vector(y, what)
    return list(values.T) if values.ndim == 2 else None


def column_names(y: Any) -> tuple[str, ...] | None:
    """Give the names of a target's columns, if it is a frame with text for names."""
    if not _is_frame(y):
        return None
    names = list(y.columns) if is_pandas_frame(y) else nw.from_native(y).columns
    return tuple(map(str, names)) if all(isinstance(name, str) for name in names) else None


def _is_frame(y: Any) -> bool:
    return is_pandas_frame(y) or isinstance(nw.from_native(y, pass_through=True), nw.DataFrame)


def _columns_of(y: Any) -> list[Any] | None:
    """Give the Narwhals series of a frame or series; None for anything else."""
    if is_pandas_frame(y):
        places = range(y.shape[1])
        return [nw.from_native(y.iloc[:, place], series_only=True) for place in places]
    known = nw.from_native(y, allow_series=True, pass_through=True)
    if isinstance(known, nw.LazyFrame):
        raise InvalidInputType("The target is lazy: pass its .collect()-ed form.")
    if isinstance(known, nw.DataFrame):
        return list(known.iter_columns())
    return [known] if isinstance(known, nw.Series) else None


def _column_values(series: Any, what: str) -> AnyArray:
    missing = series.is_null().to_numpy()
    if missing.any():
        raise missing_value(what, int(np.argmax(missing)))
    native, owner = series.to_native(), series.implementation
    if owner.is_pyarrow():
        if "dictionary" in str(native.type):
            native = native.combine_chunks().dictionary_decode()
        return np.asarray(native.to_numpy(zero_copy_only=False))
    if owner.is_polars():
        is_category = series.dtype in {nw.Categorical, nw.Enum}
        return np.asarray((series.cast(nw.String) if is_category else series).to_numpy())
    native = native if owner.is_pandas() else series.to_pandas()
    return np.asarray(native, dtype=getattr(native.dtype, "numpy_dtype", None))


def _from_numpy(y: Any, what: str) -> AnyArray:
    if isinstance(y, np.ma.MaskedArray) and np.ma.getmaskarray(y).any():
        raise missing_value(what, int(np.argwhere(np.ma.getmaskarray(y))[0][0]))
    try:
        array = np.asarray(y)
    except ValueError:
        raise InvalidInput(
            f"{what} is a sequence of parts of different length. Expected one entry per row."
        ) from None
    if array.dtype.kind == "U" and isinstance(y, list | tuple):
        array = _undo_promotion(array, y)
    return array.astype(object) if array.dtype.kind == "T" else array


def _undo_promotion(array: AnyArray, y: Any) -> AnyArray:
    """Keep ``["a", 1]`` as it is, where NumPy would make ``1`` the text ``"1"``."""
    as_given = np.array(y, dtype=object)
    return array if all(isinstance(value, str) for value in as_given.flat) else as_given


def missing_value(what: str, row: int) -> InvalidInput:
    """Say where a target or a weight has no value."""
    return InvalidInput(
        f"Input {what} contains NaN. The first missing value is in row {row}. Drop the rows "
        f"without {what}, or fill them in."
    )
