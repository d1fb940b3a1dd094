"""Numbers and instants as floats: the few rules every adapter shares."""

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType
from spinney.typing import AnyArray, FloatArray

_EXACT_IN_FLOAT32 = frozenset("?bBhHe")
_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15}
_SECONDS_PER_UNIT = {"W": 604800.0, "D": 86400.0, "h": 3600.0, "m": 60.0}
_NOT_A_TIME = np.iinfo(np.int64).min

ACCEPTED = "numbers, booleans, text, categories, dates, datetimes, durations or decimals"


def as_floats(values: AnyArray) -> AnyArray:
    """Give booleans, integers or floats as float32 or float64, without a copy where possible.

    float32 and float64 come back as they are. Types that float32 holds exactly (booleans, 8- and
    16-bit integers, float16) become float32. Everything else becomes the nearest float64: that
    is exact for integers up to 2**53.

    Examples
    --------
    >>> as_floats(np.array([1, 2], np.int16)).dtype
    dtype('float32')
    """
    dtype = values.dtype
    if dtype.char in "fd" and dtype.isnative and values.flags.aligned:
        return values
    wanted = np.float32 if dtype.char in _EXACT_IN_FLOAT32 | {"f"} else np.float64
    with np.errstate(over="ignore"):
        floats = values.astype(wanted)
    if dtype.char == "g" and np.any(np.isinf(floats) & np.isfinite(values)):
        raise InvalidInput("A long double is too large for float64. Rescale the column.")
    return floats


def with_missing(values: AnyArray, missing: AnyArray) -> AnyArray:
    """Copy ``values`` as floats, NaN where ``missing``."""
    floats = as_floats(values)
    if not missing.any():
        return floats
    return np.where(missing, np.asarray(np.nan, floats.dtype), floats)


def seconds_from_ticks(ticks: AnyArray, unit: str) -> FloatArray:
    """Turn a count of ``unit`` into seconds; NumPy's NaT (the least int64) is missing.

    Whole and fractional seconds are converted apart: a nanosecond count since 1970 has more
    digits than a float64, and the same instant must give the same bits in every unit.

    Examples
    --------
    >>> seconds_from_ticks(np.array([1500, -250]), "ms")
    array([ 1.5 , -0.25])
    """
    missing = ticks == _NOT_A_TIME
    if unit in _SECONDS_PER_UNIT:
        seconds = ticks.astype(np.float64) * _SECONDS_PER_UNIT[unit]
    else:
        whole, rest = np.divmod(ticks, _TICKS_PER_SECOND[unit])
        seconds = whole + rest / float(_TICKS_PER_SECOND[unit])
    seconds[missing] = np.nan
    return seconds


def seconds_from_numpy(values: AnyArray, column: str) -> FloatArray:
    """Turn datetime64 or timedelta64 of any unit into seconds."""
    unit, _ = np.datetime_data(values.dtype)
    letter = values.dtype.kind
    if unit in {"Y", "M"} and letter == "M":
        unit = "D"
        values = values.astype("datetime64[D]")
    if unit == "generic" and (letter == "M" or np.isnat(values).all()):
        return np.full(values.shape, np.nan)  # datetime64 without a unit holds nothing but NaT
    if unit in {"Y", "M", "generic", "as"}:
        raise InvalidInputType(
            f"Column {column!r} has type {values.dtype}, which is no fixed number of seconds. "
            "Convert it to a unit between weeks and femtoseconds, e.g. .astype('timedelta64[D]')."
        )
    ticks = values.astype(f"{letter}8[{unit}]", copy=False)  # also drops multiples such as 25s
    return seconds_from_ticks(ticks.view(np.int64), unit)


def unsupported(column: str, dtype: object, remedy: str) -> InvalidInputType:
    """Say that a column's type cannot be used, and what to do with it."""
    return InvalidInputType(
        f"Column {column!r} has type {dtype}, which cannot be used. Expected {ACCEPTED}. {remedy}"
    )
