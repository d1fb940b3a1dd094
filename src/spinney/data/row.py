"""Plain rows: values to the numbers native code takes, without a table around them.

A table of one row spends most of its time being read. Where every value is an ordinary number,
text or date, a row is read here in microseconds; anything else is left to the table, which knows
better.
"""

import numbers
from array import array
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from spinney.data.levels import Levels, LevelType
from spinney.data.schema import FeatureSchema
from spinney.data.sources.objects import is_missing, read_objects, seconds_of_value
from spinney.data.sources.pandas import few_rows
from spinney.data.table import Column, Kind, Table
from spinney.typing import AnyArray

_NUMBERS = frozenset(
    {float, int, bool, np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_}
)
_TYPES = {
    LevelType.TEXT: frozenset({str}),
    LevelType.NUMBER: frozenset({float, int, np.float64, np.int64, np.int32}),
    LevelType.BOOLEAN: frozenset({bool, np.bool_}),
}
"""What a category of each type may be; a float32 is not looked up as the number it prints as."""
_TIMES = (Kind.DATE, Kind.DATETIME, Kind.DURATION)
_EXACT = 2**53
_NAN = float("nan")
FEW_ROWS = 16
"""Up to this many rows, values are read one by one and no table is made."""


class RowReader:
    """Reads rows of the features of a schema; says None to every row that is not plain."""

    def __init__(self, schema: FeatureSchema, *, unseen: str, unseen_code: float = -1.0) -> None:
        self._schema = schema
        self._categorical = [levels is not None for levels in schema.levels]
        self._codes = [
            (
                place,
                {level: float(code) for code, level in enumerate(levels.values)},
                _TYPES[levels.type],
                # Of numbers a table knows which ones cannot be told apart.
                unseen_code if unseen == "missing" and levels.type is LevelType.TEXT else None,
            )
            for place, levels in enumerate(schema.levels)
            if levels is not None
        ]
        kinds = zip(schema.kinds, schema.timezone_aware, strict=True)
        self._times = [
            (place, kind, bool(aware))
            for place, (kind, aware) in enumerate(kinds)
            if kind in _TIMES
        ]
        self._temporal = [kind in _TIMES for kind in schema.kinds]
        self.is_plain = _are_plain(schema)
        """Whether there are plain rows at all: huge numbers as categories are not, nor texts."""
        self.is_numeric = self.is_plain and not self._codes and not self._times
        """Whether rows are numbers and nothing else."""

    def read_table(self, X: Any) -> Any:
        """Give the numbers of a few rows, one behind the other; None unless all are plain."""
        if type(X) is np.ndarray:
            return X.reshape(-1) if self._takes(X) else None
        if not (self.is_plain and self._schema.names_given):
            return None
        rows = few_rows(X, self._schema.names, self._categorical, self._temporal, most=FEW_ROWS)
        if rows is None:
            return None
        numbers = array("d")
        for row in rows:
            read = self.read(row)
            if read is None:
                return None
            numbers += read
        return numbers

    def _takes(self, X: AnyArray) -> bool:
        return (
            self.is_numeric
            and not self._schema.names_given  # otherwise somebody has to be warned
            and X.ndim == 2
            and X.dtype.char in "fd"
            and X.dtype.isnative
            and 0 < X.shape[0] <= FEW_ROWS
            and X.shape[1] == self._schema.n_features
            and X.flags.c_contiguous
        )

    def read(self, values: Sequence[Any]) -> Any:
        """Give the numbers of a row, codes of categories among them, as a buffer of float64.

        None if a value is neither a number where one is expected, nor of the type of the categories
        where one of them is, nor a date where one is, nor missing; then a table has to be made,
        which says what is wrong.
        """
        row = list(values)
        for place, codes, types, otherwise in self._codes:
            value = row[place]
            code = codes.get(value, otherwise) if type(value) in types else _gap(value)
            if code is None:
                return None
            row[place] = code
        for place, kind, aware in self._times:
            seconds = _seconds(row[place], kind, aware=aware)
            if seconds is None:
                return None
            row[place] = seconds
        if not _NUMBERS.issuperset(map(type, row)):
            row = [_NAN if is_missing(value) else value for value in row]
            if not _NUMBERS.issuperset(map(type, row)):
                return None
        try:
            return array("d", row)
        except OverflowError:  # an integer beyond every float
            return None


def _seconds(value: Any, kind: Kind, *, aware: bool) -> float | None:
    try:
        return seconds_of_value(value, kind, aware=aware)
    except (OverflowError, ValueError):  # further from 1970 than nanoseconds can count
        return None


def _gap(value: Any) -> float | None:
    return -1.0 if is_missing(value) else None


def _are_plain(schema: FeatureSchema) -> bool:
    if Kind.TEXT in schema.kinds:  # no number stands for a text
        return False
    return all(levels is None or _are_plain_levels(levels) for levels in schema.levels)


def _are_plain_levels(levels: Levels) -> bool:
    """Tell whether levels stay what they are when a row of mixed numbers becomes floats."""
    if len(levels) == 0:
        return False
    return levels.type is not LevelType.NUMBER or all(
        -_EXACT < level < _EXACT for level in levels.values if not isinstance(level, str)
    )


def column_of_value(name: str, value: Any) -> Column:
    """Make a column of one value of any kind."""
    cell = np.empty(1, object)  # filled afterwards: NumPy would look into a value that has parts
    cell[0] = value
    return read_objects(name, cell)


def table_of_row(schema: FeatureSchema, values: Sequence[Any]) -> Table:
    """Make a table of one row, of values of any kind, in the order of the features."""
    columns = [
        column_of_value(name, value) for name, value in zip(schema.names, values, strict=True)
    ]
    return Table(1, columns, names_given=schema.names_given)


def plain_table_of_row(schema: FeatureSchema, values: Sequence[Any]) -> Any:
    """Make a table of one row that other libraries can read, as they were given those of training.

    A pandas frame if the features have names; without pandas, or without names, an array.
    """
    if schema.names_given:
        try:
            return nw.from_dict(
                {name: [value] for name, value in zip(schema.names, values, strict=True)},
                backend="pandas",
            ).to_native()
        except ImportError:
            pass
    is_numbers = all(isinstance(value, numbers.Real) for value in values)
    row = np.empty((1, len(values)), np.float64 if is_numbers else object)
    row[0] = values
    return row
