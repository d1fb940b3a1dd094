"""Dates as a person writes them: without a time of day where none is meant."""

import datetime as dt
from typing import Any

import numpy as np

from spinney.data.table import Column, Kind

_DAY = 86_400


def is_daily(column: Column) -> bool:
    """Tell whether a column holds moments that are all midnights, so that it is about days.

    Examples
    --------
    >>> [is_daily(Column("t", Kind.DATETIME, np.array(t))) for t in ([0.0, 86400.0], [0.0, 60.0])]
    [True, False]
    """
    if column.kind not in (Kind.DATE, Kind.DATETIME):
        return False
    known = column.values[np.isfinite(column.values)]
    return bool(np.all(known % _DAY == 0))


def moment_text(moment: Any, *, daily: bool) -> str:
    """Write a moment; the date alone where only days are meant.

    Examples
    --------
    >>> noon = dt.datetime(2020, 4, 28, 12)
    >>> moment_text(noon, daily=True), moment_text(noon, daily=False)
    ('2020-04-28', '2020-04-28 12:00:00')
    """
    return str(moment.date()) if daily and isinstance(moment, dt.datetime) else str(moment)
