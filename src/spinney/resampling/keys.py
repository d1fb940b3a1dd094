"""What ``groups=``, ``strata=`` and ``time=`` mean, everywhere: one entry per row.

A group is never divided: its rows go the same way together. Of each stratum every part gets its
share. Time is a key by which rows can be sorted: nothing is learnt from what came later, and rows
of the same time go together.
"""

import re
from typing import Any

import narwhals as nw
import numpy as np

from spinney.data.keys import one_per_row, read_codes
from spinney.errors import InvalidInput
from spinney.typing import AnyArray, IntArray

__all__ = ["read_codes", "read_ranks"]


def read_ranks(time: Any, n_rows: int, what: str = "time") -> IntArray:
    """Read one time per row as ranks 0, 1, ...: equal times, equal ranks.

    Levels of an ordered categorical are in the order that it has: of pandas, an Enum of polars, an
    ordered dictionary of Arrow. Text is taken where the order of its letters is that of time.

    Examples
    --------
    >>> read_ranks(np.array(["2024-05", "2023-01", "2024-05"], "datetime64[M]"), 3).tolist()
    [1, 0, 1]
    """
    values = one_per_row(_in_their_order(time), n_rows, what)
    _check_text(values, what)
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise InvalidInput(
            f"{what} has entries that cannot be sorted together, such as text and numbers. Give "
            "numbers, dates or text throughout."
        ) from None


_DIGIT = re.compile(r"\d")
_BEGINS_WITH_YEAR = re.compile(r"0{4}(\D|$)")


def _check_text(values: AnyArray, what: str) -> None:
    """Refuse text whose letters have another order than the times they may mean: look-ahead.

    "10" comes before "9" and "01.12.2020" before "31.01.2019". Numbers of one length and what
    begins with the year, written alike throughout, are safe.
    """
    if values.dtype.kind != "U" and not all(isinstance(value, str) for value in values):
        return
    shapes = [_DIGIT.sub("0", value) for value in values.tolist()]
    first = shapes[0] if shapes else ""
    other = next((row for row, shape in enumerate(shapes) if shape != first), None)
    is_safe = bool(_BEGINS_WITH_YEAR.match(first)) or not first.strip("0")
    if other is None and is_safe:
        return
    shown = repr(str(values[0])) + ("" if other is None else f" and {str(values[other])!r}")
    where = "row 0" if other is None else f"rows 0 and {other}"
    raise InvalidInput(
        f"{what} is text, {shown} in {where}: sorted by its letters, which need not be the order "
        "of time. Give numbers, dates (pandas.to_datetime) or an ordered categorical; text may "
        "begin with the year and be written alike throughout, as '2024-05-31' is."
    )


def _in_their_order(time: Any) -> Any:
    """Give the places of the levels of an ordered categorical, NaN for none; others as they are."""
    known = nw.from_native(time, series_only=True, pass_through=True)
    if isinstance(known, nw.Series):
        time = known.to_native()
        if known.implementation.is_polars() and known.dtype == nw.Enum:
            return time.to_physical()
    if hasattr(getattr(time, "dtype", None), "pyarrow_dtype"):  # pandas around Arrow
        time = time.array.__arrow_array__()
    kind: Any = getattr(time, "type", None)
    if hasattr(kind, "index_type") and kind.ordered:
        return _arrow_places(time)
    levels = getattr(time, "cat", time)  # of a column; a categorical has no such part
    if getattr(levels, "ordered", None) is not True or not hasattr(levels, "codes"):
        return time
    codes = np.asarray(levels.codes)
    return np.where(codes < 0, np.nan, codes)


def _arrow_places(column: Any) -> AnyArray:
    """Give the places of an Arrow dictionary's levels, NaN for none; parts may know others."""
    chunks = column.unify_dictionaries().chunks if hasattr(column, "chunks") else [column]
    places = [np.empty(0)]
    for part in chunks:
        lacks = np.asarray(part.dictionary_decode().is_null())
        places.append(np.where(lacks, np.nan, np.asarray(part.indices, np.float64)))
    return np.concatenate(places)
