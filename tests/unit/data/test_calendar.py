"""Parts of dates against the standard library."""

import datetime as dt

import numpy as np
import pytest

from spinney.data.calendar import CalendarPart, calendar_part

MOMENTS = [
    dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC),
    dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    dt.datetime(2000, 2, 29, 6, 30, tzinfo=dt.UTC),
    dt.datetime(2023, 12, 31, 12, 0, tzinfo=dt.UTC),
    dt.datetime(1, 1, 1, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 23, 0, tzinfo=dt.UTC),
]
EXPECTED = {
    CalendarPart.YEAR: lambda m: m.year,
    CalendarPart.MONTH: lambda m: m.month,
    CalendarPart.DAY: lambda m: m.day,
    CalendarPart.WEEKDAY: lambda m: m.weekday(),
    CalendarPart.HOUR: lambda m: m.hour + m.minute / 60 + m.second / 3600,
}


@pytest.mark.parametrize("part", CalendarPart)
def test_parts_are_those_of_the_standard_library(part):
    seconds = np.array([moment.timestamp() for moment in MOMENTS])
    expected = [EXPECTED[part](moment) for moment in MOMENTS]
    np.testing.assert_allclose(calendar_part(seconds, part), expected, rtol=1e-12)


@pytest.mark.parametrize("part", CalendarPart)
def test_what_is_no_moment_has_no_parts(part):
    odd = np.array([np.nan, np.inf, -np.inf, 1e300, -1e18])
    assert np.isnan(calendar_part(odd, part)).all()
