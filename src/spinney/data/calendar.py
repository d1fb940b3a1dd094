"""Parts of dates: what repeats, which a number of seconds does not show."""

import enum

import numpy as np

from spinney.typing import AnyArray, FloatArray

_DAY = 86_400.0
_FARTHEST = 1e15
"""Seconds from 1970 beyond which there is no calendar; about 30 million years."""


class CalendarPart(enum.IntEnum):
    """A part of a date; the numbers stand in files: add at the end, never change."""

    YEAR = 0
    MONTH = 1
    """1 to 12."""
    DAY = 2
    """Of the month, 1 to 31."""
    WEEKDAY = 3
    """0 is Monday."""
    HOUR = 4
    """0 to 23, with the minutes as a fraction."""


def calendar_part(seconds: AnyArray, part: CalendarPart) -> FloatArray:
    """Give a part of moments in seconds since 1970-01-01, as numbers; missing ones stay missing.

    Examples
    --------
    >>> import datetime as dt
    >>> moment = dt.datetime(2024, 2, 29, 18, 30, tzinfo=dt.UTC).timestamp()
    >>> [float(calendar_part(np.array([moment]), part)[0]) for part in CalendarPart]
    [2024.0, 2.0, 29.0, 3.0, 18.5]
    """
    given = np.asarray(seconds, np.float64)
    is_known = np.abs(given) <= _FARTHEST  # neither missing nor infinite
    known = np.where(is_known, given, 0.0)
    days = np.floor(known / _DAY)
    if part is CalendarPart.HOUR:
        numbers = (known - days * _DAY) / 3600.0
    elif part is CalendarPart.WEEKDAY:
        numbers = np.mod(days + 3.0, 7.0)  # 1970 began on a Thursday
    else:
        numbers = _civil(days, part)
    return np.where(is_known, numbers, np.nan)


def _civil(days: FloatArray, part: CalendarPart) -> FloatArray:
    dates = days.astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    if part is CalendarPart.DAY:
        return np.asarray((dates - months.astype("datetime64[D]")).astype(np.float64) + 1.0)
    count = months.astype(np.int64)  # since 1970-01
    years = np.floor_divide(count, 12)
    if part is CalendarPart.YEAR:
        return np.asarray(years, np.float64) + 1970.0
    return np.asarray(count - 12 * years, np.float64) + 1.0
