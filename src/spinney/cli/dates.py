"""Text that is something else: dates as people write them, times of day, broken numbers."""

import re
from typing import Any

from spinney.errors import shorten

_DAYS = ("%d.%m.%Y", "%Y/%m/%d", "%Y%m%d", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%d %B %Y")
_DAY_FIRST, _MONTH_FIRST = ("%d/%m/%Y", "%d-%m-%Y"), ("%m/%d/%Y", "%m-%d-%Y")
_TIMES = ("", " %H:%M:%S", " %H:%M")
_LOOKS_LIKE = re.compile(r"[\w,]{1,9}[-/. ][\w,]{1,9}[-/. ]\d{1,4}( \d\d?:\d\d(:\d\d)?)?")
_NEARLY_ALL = 0.9
"""The share of numbers from which on other texts in a column are probably no values."""


def understand_text(table: Any, dates: str | None, voice: Any, texts: frozenset[str]) -> Any:
    """Turn columns of text that hold dates into dates, and times of day into durations.

    Parameters
    ----------
    table : pyarrow.Table
    dates : "day-first", "month-first", or None: by what all values allow
    voice : says what cannot be decided
    texts : columns that stay text
    """
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        column = table.column(place)
        if pa.types.is_time(column.type):
            unit = column.type.unit
            whole = column.cast(pa.int32() if unit in ("s", "ms") else pa.int64()).cast(pa.int64())
            table = table.set_column(place, name, whole.cast(pa.duration(unit)))
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if name in texts or not is_text:
            continue
        read = _dates_of(column, name, dates, voice)
        if read is not None:
            table = table.set_column(place, name, read)
        else:
            _mention_broken_numbers(column, name, voice)
    return table


def _dates_of(column: Any, name: str, dates: str | None, voice: Any) -> Any:
    """Read a column as dates if one form fits all its values; None if none or several do."""
    some = column.drop_null().slice(0, 20).to_pylist()
    if not some or not all(_LOOKS_LIKE.fullmatch(text.strip()) for text in some):
        return None
    day_first, month_first = _fitting(column, _DAY_FIRST), _fitting(column, _MONTH_FIRST)
    if day_first is not None and month_first is not None and not day_first.equals(month_first):
        if dates is None:
            voice.remark(
                f"{name!r}: {some[0]!r} may begin with the day or with the month, so it stays "
                "text; --dates day-first or --dates month-first reads it."
            )
            return None
        return day_first if dates == "day-first" else month_first
    for read in (day_first, month_first):
        if read is not None:
            return read
    return _fitting(column, _DAYS)


def _fitting(column: Any, forms: tuple[str, ...]) -> Any:
    """Read a column in the first form that fits all its values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    for form in (day + time for day in forms for time in _TIMES):
        read = pc.strptime(trimmed, format=form, unit="s", error_is_null=True)
        if read.null_count != column.null_count:
            continue
        if pc.min(pc.year(read)).as_py() < 1000:  # a year of two digits
            continue
        return read.cast(pa.date32()) if "%H" not in form else read
    return None


def _mention_broken_numbers(column: Any, name: str, voice: Any) -> None:
    """Say which texts keep a column from being numbers, if they are few."""
    import pyarrow.compute as pc

    values = column.drop_null()
    is_number = pc.match_substring_regex(values, r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$")
    n_numbers = pc.sum(is_number).as_py() or 0
    if len(values) and _NEARLY_ALL <= n_numbers / len(values) < 1.0:
        others = pc.unique(values.filter(pc.invert(is_number))).to_pylist()
        n_others = len(values) - n_numbers
        voice.remark(
            f"{name!r}: numbers but for {n_others} cells such as {shorten(others, most=2)}, so it "
            f"is text; --missing {others[0]!r} reads those as missing."
        )
