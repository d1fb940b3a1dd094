"""One label per row, of any kind, as codes: groups, strata, queries."""

from typing import Any

import numpy as np

from spinney.data.sources.objects import has_value
from spinney.data.sources.vector import missing_value, read_vector
from spinney.errors import InvalidInput
from spinney.typing import AnyArray, IntArray


def read_codes(labels: Any, n_rows: int, what: str) -> IntArray:
    """Read one label per row, of any kind, as codes 0, 1, ...: equal labels, equal codes.

    Examples
    --------
    >>> read_codes(["b", "a", "b"], 3, "groups").tolist()
    [1, 0, 1]
    """
    values = one_per_row(labels, n_rows, what)
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:  # labels of several kinds have no order; that of appearance will do
        return _codes_by_appearance(values.tolist(), what)


def _codes_by_appearance(labels: list[Any], what: str) -> IntArray:
    known: dict[Any, int] = {}
    codes = np.empty(len(labels), np.int64)
    for row, label in enumerate(labels):
        try:
            codes[row] = known.setdefault(label, len(known))
        except TypeError:
            raise InvalidInput(
                f"Row {row} of {what} is {label!r}, a {type(label).__name__}, which is no label. "
                "Give numbers, texts or dates."
            ) from None
    return codes


def one_per_row(labels: Any, n_rows: int, what: str) -> AnyArray:
    """Read a value per row, none of them missing."""
    values = read_vector(labels, what)
    if values.shape != (n_rows,):
        raise InvalidInput(
            f"{what} has the shape {values.shape}: expected ({n_rows},), one per row."
        )
    if values.dtype.kind in "fc":
        missing = np.isnan(values)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    elif values.dtype.kind == "O":
        missing = ~has_value(values)
    else:
        return values
    if missing.any():
        raise missing_value(what, int(np.argmax(missing)))
    return values
