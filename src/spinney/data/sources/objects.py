"""Columns of Python objects: the type is inferred, never guessed."""

import datetime as dt
import decimal
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.data.sources.numbers import seconds_from_numpy, unsupported
from spinney.data.table import Column, Kind
from spinney.errors import InvalidInput, InvalidInputType
from spinney.typing import AnyArray, FloatArray

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the naive epoch
_AWARE_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_EPOCH_DATE = dt.date(1970, 1, 1)

_NEVER_MISSING = (str, bool, int, np.bool_, np.integer)

# A family is a kind, or the text of what cannot be used. Order matters: bool is an int, a
# datetime is a date.
_FAMILIES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool, np.bool_), "boolean"),
    ((str,), "text"),
    ((dt.datetime,), "datetime"),
    ((dt.date,), "date"),
    ((dt.timedelta,), "duration"),
    ((np.datetime64,), "datetime64"),
    ((np.timedelta64,), "timedelta64"),
    ((decimal.Decimal, numbers.Real, np.integer, np.floating), "number"),
)
_KINDS = {
    "boolean": Kind.BOOLEAN,
    "number": Kind.NUMERIC,
    "datetime": Kind.DATETIME,
    "datetime64": Kind.DATETIME,
    "date": Kind.DATE,
    "duration": Kind.DURATION,
    "timedelta64": Kind.DURATION,
}


def read_objects(name: str, values: AnyArray) -> Column:
    """Read a 1-D object array whose values are all of one type, or missing.

    Text stays text: ``"1"`` is a category, not a number. A column with nothing but missing
    values is numeric.
    """
    if set(map(type, values.tolist())) <= {float, type(None)}:
        return Column(name, Kind.NUMERIC, values.astype(np.float64))
    where = has_value(values)
    present = values[where]
    if len(present) == 0:
        return Column(name, Kind.NUMERIC, np.full(len(values), np.nan))
    family = _family(name, present)
    if family == "text":
        texts = values.copy()
        texts[~where] = None
        return text_column(name, texts.tolist())
    found, aware = _floats(name, family, present, where)
    full = np.full(len(values), np.nan)
    full[where] = found
    return Column(name, _KINDS[family], full, timezone_aware=aware)


def text_column(name: str, texts: Sequence[str | None]) -> Column:
    """Encode text; None is missing."""
    distinct: list[Any] = list(set(texts) - {None})
    place = {text: code for code, text in enumerate(distinct)} | {None: -1}
    codes = np.fromiter(map(place.__getitem__, texts), np.int64, len(texts))
    return Column.from_dictionary(name, codes, distinct)


def has_value(values: AnyArray) -> AnyArray:
    """Tell for each object whether it is anything but None, NaN, NaT or pandas.NA."""
    items = values.tolist()
    sure = {found for found in set(map(type, items)) if issubclass(found, _NEVER_MISSING)}
    known = (type(item) in sure or not is_missing(item) for item in items)
    return np.fromiter(known, bool, len(items))


def is_missing(value: Any) -> bool:
    """Tell whether a Python object stands for "no value".

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("nan")
    (True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, _NEVER_MISSING):
        return False
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in {"NAType", "NaTType"}


def seconds_of_value(value: Any, kind: Kind, *, aware: bool) -> float | None:
    """Give what a column of this one value would hold where dates or durations are expected.

    None if it would be refused, or is something that only a column can tell.

    Examples
    --------
    >>> seconds_of_value(dt.date(1970, 1, 2), Kind.DATETIME, aware=False)
    86400.0
    >>> seconds_of_value(dt.timedelta(hours=1), Kind.DATETIME, aware=False) is None
    True
    """
    if is_missing(value):
        return float("nan")
    if kind is Kind.DURATION:
        return _seconds(value) if isinstance(value, dt.timedelta) else None
    if isinstance(value, dt.datetime):
        is_aware = value.utcoffset() is not None
        if is_aware != aware:
            return None
        return _seconds(value - (_AWARE_EPOCH if aware else _EPOCH))
    if isinstance(value, dt.date) and not aware:
        return (value - _EPOCH_DATE).days * 86400.0
    return None


def _family(name: str, present: AnyArray) -> str:
    found: dict[str, Any] = {}
    for seen in dict.fromkeys(map(type, present)):
        family = next((label for types, label in _FAMILIES if issubclass(seen, types)), "")
        example = next(value for value in present if type(value) is seen)
        if not family:
            raise _refusal(name, example)
        found.setdefault(family, example)
    if len(found) > 1:
        (first, one), (second, other) = list(found.items())[:2]
        raise InvalidInputType(
            f"Column {name!r} mixes {first} and {second}, for example {one!r} and {other!r}. "
            "Expected values of one type; convert the column, for instance with .astype(str)."
        )
    return next(iter(found))


def _refusal(name: str, example: Any) -> Exception:
    if isinstance(example, complex | np.complexfloating):
        return InvalidInput(
            f"Complex data not supported: column {name!r} holds {example!r}. Split it into its "
            "real and imaginary parts."
        )
    remedy = "The argument must be a string or a real number in every cell."
    if isinstance(example, bytes):
        remedy = "Decode it to text first, for instance with .decode('utf-8')."
    elif isinstance(example, dt.time):
        remedy = "Turn it into seconds since midnight."
    return unsupported(name, f"object with values such as {example!r}", remedy)


def _floats(
    name: str, family: str, present: AnyArray, where: AnyArray
) -> tuple[FloatArray, bool | None]:
    if family in {"number", "boolean"}:
        return _numbers(name, present, where), None
    if family in {"datetime64", "timedelta64"}:
        parts = [seconds_from_numpy(np.asarray([value]), name)[0] for value in present]
        return np.array(parts), False if family == "datetime64" else None
    if family == "date":
        return np.array([(value - _EPOCH_DATE).days * 86400.0 for value in present]), None
    if family == "duration":
        return np.array([_seconds(value) for value in present]), None
    aware = {value.utcoffset() is not None for value in present}
    if len(aware) > 1:
        raise InvalidInputType(
            f"Column {name!r} mixes datetimes with and without a time zone. Give all of them a "
            "time zone, or none."
        )
    is_aware = aware.pop()
    epoch = _AWARE_EPOCH if is_aware else _EPOCH
    return np.array([_seconds(value - epoch) for value in present]), is_aware


def _numbers(name: str, present: AnyArray, where: AnyArray) -> FloatArray:
    try:
        return present.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        rows = np.flatnonzero(where)
        for row, value in zip(rows, present, strict=True):
            try:
                float(value)
            except (OverflowError, TypeError, ValueError):
                raise InvalidInput(
                    f"Column {name!r}, row {row}: this {type(value).__name__} is too large for "
                    "float64. Rescale the column, or make it text."
                ) from None
        raise


def _seconds(span: dt.timedelta) -> float:
    # pandas.Timedelta adds nanoseconds; the fraction is rounded once, as in every other source.
    nanoseconds = span.microseconds * 1000 + getattr(span, "nanoseconds", 0)
    return (span.days * 86400 + span.seconds) + nanoseconds / 1e9
