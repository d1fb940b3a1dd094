"""What ``groups=``, ``strata=`` and ``time=`` mean, everywhere: one entry per row.

A group is never divided: its rows go the same way together. Of each stratum every part gets its
share. Time is a key by which rows can be sorted: nothing is learnt from what came later, and rows
of the same time go together.
"""

from typing import Any

import numpy as np

from spinney.data.keys import one_per_row, read_codes
from spinney.errors import InvalidInput
from spinney.typing import IntArray

__all__ = ["read_codes", "read_ranks"]


def read_ranks(time: Any, n_rows: int, what: str = "time") -> IntArray:
    """Read one time per row as ranks 0, 1, ...: equal times, equal ranks.

    Levels of an ordered pandas categorical are in the order that it has.

    Examples
    --------
    >>> read_ranks(np.array(["2024-05", "2023-01", "2024-05"], "datetime64[M]"), 3).tolist()
    [1, 0, 1]
    """
    values = one_per_row(_in_their_order(time), n_rows, what)
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise InvalidInput(
            f"{what} has entries that cannot be sorted together, such as text and numbers. Give "
            "numbers, dates or text throughout."
        ) from None


def _in_their_order(time: Any) -> Any:
    """Give the places of the levels of an ordered categorical, NaN for none; others as they are."""
    levels = getattr(time, "cat", time)  # of a column; a categorical has no such part
    if getattr(levels, "ordered", None) is not True or not hasattr(levels, "codes"):
        return time
    codes = np.asarray(levels.codes)
    return np.where(codes < 0, np.nan, codes)
