"""What ``groups=``, ``strata=`` and ``time=`` mean, everywhere: one entry per row.

A group is never divided: its rows go the same way together. Of each stratum every part gets its
share. Time is a key by which rows can be sorted: nothing is learnt from what came later, and rows
of the same time go together.
"""

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
    values = _one_per_row(labels, n_rows, what)
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:  # labels of several kinds have no order; that of appearance will do
        known: dict[Any, int] = {}
        return np.array([known.setdefault(label, len(known)) for label in values.tolist()])


def read_ranks(time: Any, n_rows: int, what: str = "time") -> IntArray:
    """Read one time per row as ranks 0, 1, ...: equal times, equal ranks.

    Examples
    --------
    >>> read_ranks(np.array(["2024-05", "2023-01", "2024-05"], "datetime64[M]"), 3).tolist()
    [1, 0, 1]
    """
    values = _one_per_row(time, n_rows, what)
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise InvalidInput(
            f"{what} has entries that cannot be sorted together, such as text and numbers. Give "
            "numbers, dates or text throughout."
        ) from None


def _one_per_row(labels: Any, n_rows: int, what: str) -> AnyArray:
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
