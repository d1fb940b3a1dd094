"""May this column stand for that feature? If so, recode it; if not, say why."""

from dataclasses import replace

import numpy as np

from spinney.data.categorical import check_distinguishable
from spinney.data.levels import Levels, LevelType
from spinney.data.table import Column, Kind
from spinney.errors import InvalidInput, InvalidInputType, shorten
from spinney.typing import AnyArray, CodeArray

_NUMBERS = frozenset({Kind.NUMERIC, Kind.BOOLEAN})
_CALENDAR = frozenset({Kind.DATE, Kind.DATETIME})
_REMEDIES = {
    Kind.NUMERIC: "Give numbers, for instance with .astype(float).",
    Kind.BOOLEAN: "Give booleans or 0 and 1, for instance with .astype(bool).",
    Kind.CATEGORICAL: "Give the categories the model was fitted on, in their own type.",
    Kind.DATE: "Give dates or datetimes without a time zone.",
    Kind.DATETIME: "Give datetimes, with a time zone exactly if the model was fitted so.",
    Kind.DURATION: "Give durations, for instance by subtracting two datetimes.",
    Kind.TEXT: "Give text, for instance with .astype(str).",
}


def conform_column(
    column: Column, feature: Column, n_rows: int, *, unseen: str, unseen_code: int = -1
) -> Column:
    """Make ``column`` a column of ``feature``'s kind and levels.

    Numbers and booleans stand for each other, dates for datetimes without a time zone, and a
    column without any value for everything. Whatever else differs is refused.
    """
    if feature.levels is not None:
        return _conform_levels(column, feature, n_rows, unseen=unseen, unseen_code=unseen_code)
    if _is_compatible(column, feature):
        if column.kind is feature.kind and column.name == feature.name:
            return column
        return replace(column, name=feature.name, kind=feature.kind)
    if column.is_all_missing():
        if feature.kind is Kind.TEXT:
            nothing = Levels.of((), column=feature.name)
            return replace(feature, values=np.full(n_rows, -1, np.int32), levels=nothing)
        return replace(feature, values=np.full(n_rows, np.nan))
    raise _mismatch(column, feature)


def _is_compatible(column: Column, feature: Column) -> bool:
    if {column.kind, feature.kind} <= _NUMBERS:
        return True
    if {column.kind, feature.kind} <= _CALENDAR:
        return bool(column.timezone_aware) == bool(feature.timezone_aware)
    if feature.kind is Kind.TEXT and column.levels is not None:
        return column.levels.type is LevelType.TEXT
    return column.kind is feature.kind


def _conform_levels(
    column: Column, feature: Column, n_rows: int, *, unseen: str, unseen_code: int
) -> Column:
    levels = feature.levels
    if levels is None:
        raise AssertionError("only categorical features come here")
    if column.levels is not None and column.levels == levels:
        return replace(column, name=feature.name)
    if not _may_be_levels(column, levels):
        if column.is_all_missing():
            return replace(feature, values=np.full(n_rows, -1, np.int32))
        raise _mismatch(column, feature)
    codes, unknown = _codes(column, levels, n_rows)
    if unseen == "error" and unknown.any():
        raise _unseen(column, levels, unknown, n_rows)
    if unseen_code != -1:
        codes[unknown] = unseen_code
    return replace(feature, values=codes)


def _may_be_levels(column: Column, levels: Levels) -> bool:
    if column.kind not in _NUMBERS | {Kind.CATEGORICAL}:
        return False
    if len(levels) == 0 or (column.levels is not None and len(column.levels) == 0):
        return True
    is_text = column.levels is not None and column.levels.type is LevelType.TEXT
    return is_text == (levels.type is LevelType.TEXT)


def _codes(column: Column, levels: Levels, n_rows: int) -> tuple[CodeArray, AnyArray]:
    """Give the model's codes, and which rows hold a value the model has not seen."""
    if column.levels is None:
        values = column.dense(n_rows)
        check_distinguishable(column.name, values)
        codes = levels.codes_of(values)
        return codes, (codes < 0) & ~np.isnan(values)
    recode = np.append(levels.codes_of(column.levels.values), np.int32(-1))
    codes = recode[column.values]
    return codes, (codes < 0) & (column.values >= 0)


def _unseen(column: Column, levels: Levels, unknown: AnyArray, n_rows: int) -> InvalidInput:
    row = int(np.argmax(unknown))
    if column.levels is None:
        values = np.unique(column.dense(n_rows)[unknown]).tolist()
    else:
        values = [column.levels.values[code] for code in np.unique(column.values[unknown])]
    return InvalidInput(
        f"Column {column.name!r}, first in row {row}: categories not seen at fit: "
        f"{shorten(values)}. Expected one of {shorten(levels.values)}. Correct them, or use "
        "unseen='missing' to treat them as missing."
    )


def _mismatch(column: Column, feature: Column) -> InvalidInputType:
    return InvalidInputType(
        f"Column {column.name!r} is {_describe(column)}, but the model was fitted on "
        f"{_describe(feature)}. {_REMEDIES[feature.kind]}"
    )


def _describe(column: Column) -> str:
    if column.levels is not None:
        return f"categorical ({column.levels.type})"
    if column.kind is Kind.DATETIME:
        return f"datetime {'with' if column.timezone_aware else 'without'} a time zone"
    return str(column.kind)
