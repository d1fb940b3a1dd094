"""Table: what every source becomes, column by column, without copying floats."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spinney.data.levels import Levels
from spinney.errors import InvalidInput, nearest_names
from spinney.typing import AnyArray


class Kind(enum.StrEnum):
    """What the values of a column mean."""

    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    CATEGORICAL = "categorical"
    DATE = "date"
    DATETIME = "datetime"
    DURATION = "duration"
    TEXT = "text"


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One feature: its values and what they mean.

    ``values`` is 1-D with any stride. CATEGORICAL: int32 codes into ``levels``, -1 for missing.
    TEXT: the same, but the levels are those of this table, which no model knows. Every other
    kind: float32 or float64, NaN for missing; dates and datetimes are seconds since 1970-01-01
    UTC, durations are seconds. ``rows`` is None for a dense column; otherwise the values stand at
    these strictly increasing rows and all other rows are zero.
    """

    name: str
    kind: Kind
    values: AnyArray
    levels: Levels | None = None
    rows: AnyArray | None = None
    timezone_aware: bool | None = None
    is_category_type: bool = False
    """Whether the source itself calls the column one of categories, and not just of strings."""

    @classmethod
    def from_dictionary(cls, name: str, codes: AnyArray, values: Sequence[Any]) -> "Column":
        """Make a categorical column of codes into ``values``; a negative code is missing.

        Only values that occur become levels, so neither the order of a source's categories nor
        the ones it declares but never uses can change a model.
        """
        if codes.max(initial=-1) >= len(values):
            row = int(np.argmax(codes >= len(values)))
            raise InvalidInput(
                f"Column {name!r}, row {row}: code {codes[row]} is outside its dictionary of "
                f"{len(values)} values. The dictionary encoding is damaged; build it again."
            )
        used = np.zeros(len(values) + 1, bool)  # the last place takes the negative codes
        used[np.where(codes < 0, len(values), codes)] = True
        levels = Levels.of(
            (value for value, seen in zip(values, used.tolist(), strict=False) if seen),
            column=name,
        )
        recode = np.append(levels.codes_of(list(values)), np.int32(-1))
        return cls(name, Kind.CATEGORICAL, recode[codes.clip(-1)], levels)

    def dense(self, n_rows: int) -> AnyArray:
        """Give one value per row, filling in the zeros of a sparse column."""
        if self.rows is None:
            return self.values
        full = np.zeros(n_rows, self.values.dtype)
        full[self.rows] = self.values
        return full

    def take(self, rows: AnyArray) -> "Column":
        """Copy the chosen rows (non-negative row numbers, in any order, repeats allowed)."""
        if self.rows is None:
            return replace(self, values=self.values[rows])
        place = np.searchsorted(self.rows, rows)
        place[place == len(self.rows)] = 0
        hit = self.rows[place] == rows if len(self.rows) else np.zeros(len(rows), bool)
        return replace(
            self, values=self.values[place[hit]], rows=np.flatnonzero(hit).astype(np.int32)
        )

    def keep(self, rows: AnyArray, places: AnyArray) -> "Column":
        """Copy increasing rows; ``places`` is where each row of the table goes, -1 for nowhere.

        Of a sparse column only its stored values are looked at, and not every row.
        """
        if self.rows is None:
            return self.take(rows)
        to = places[self.rows]
        kept = to >= 0
        return replace(self, values=self.values[kept], rows=to[kept])

    def forget_unused_levels(self) -> "Column":
        """Keep only the levels that occur; those that lost their rows are as if never seen."""
        codes, levels = self.values, self.levels
        used = np.unique(codes[codes >= 0]) if levels is not None else codes
        if levels is None or len(used) == len(levels):
            return self
        kept = Levels.of([levels.values[code] for code in used], column=self.name)
        recode = np.full(len(levels) + 1, -1, np.int32)  # the last place is for missing
        recode[used] = np.arange(len(used), dtype=np.int32)  # levels keep their order
        return replace(self, values=recode[codes], levels=kept)

    def is_all_missing(self) -> bool:
        """Tell whether no row has a value."""
        if self.kind in (Kind.CATEGORICAL, Kind.TEXT):
            return bool((self.values < 0).all())
        return self.rows is None and bool(np.isnan(self.values).all())


class Table:
    """The features of ``n_rows`` rows, read-only by agreement.

    ``names_given`` is False when the source had no names; features are then called ``x0``,
    ``x1``, … ``matrix`` is the source's own 2-D float array when it was one (any strides), so
    that native code can take it whole; its columns are made on first use, because a prediction
    for one row of a wide array should not pay for them.
    """

    __slots__ = ("_columns", "_kind", "_matrix", "_names", "n_rows", "names_given")

    def __init__(self, n_rows: int, columns: Sequence[Column], *, names_given: bool) -> None:
        self.n_rows = n_rows
        self.names_given = names_given
        self._matrix: AnyArray | None = None
        self._columns: tuple[Column, ...] | None = tuple(columns)
        self._names: tuple[str, ...] | None = None
        self._kind = Kind.NUMERIC

    @classmethod
    def from_matrix(
        cls, matrix: AnyArray, *, kind: Kind = Kind.NUMERIC, names: Sequence[str] | None = None
    ) -> "Table":
        """Wrap a 2-D float32 or float64 array whose columns are all of one kind."""
        table = cls(matrix.shape[0], (), names_given=names is not None)
        table._matrix = matrix
        table._columns = None
        table._names = None if names is None else tuple(names)
        table._kind = kind
        return table

    @property
    def matrix(self) -> AnyArray | None:
        """The whole table as one array, if the source was one."""
        return self._matrix

    @property
    def is_sparse(self) -> bool:
        """Whether every column is numbers of which only some are stored, the others being zero."""
        return self.matrix is None and all(
            column.rows is not None and column.kind is not Kind.CATEGORICAL
            for column in self.columns
        )

    @property
    def n_features(self) -> int:
        """How many columns there are."""
        return len(self.columns) if self.matrix is None else int(self.matrix.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, given or made up."""
        if self._names is None:
            if self._columns is None:
                self._names = made_up_names(self.n_features)
            else:
                self._names = tuple(column.name for column in self._columns)
        return self._names

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in the order of the source."""
        if self._columns is None and self.matrix is not None:
            views = zip(self.names, self.matrix.T, strict=True)
            self._columns = tuple(Column(name, self._kind, view) for name, view in views)
        return self._columns or ()

    def take(self, rows: Any) -> "Table":
        """Copy the chosen rows: row numbers, a boolean mask or a slice."""
        chosen = np.arange(self.n_rows)[rows]
        if self.matrix is not None:
            names = self.names if self.names_given else None
            return Table.from_matrix(self.matrix[chosen], kind=self._kind, names=names)
        places = np.full(self.n_rows, -1, np.int32)
        if len(chosen) < 2 or bool((np.diff(chosen) > 0).all()):
            places[chosen] = np.arange(len(chosen), dtype=np.int32)
            columns = [column.keep(chosen, places) for column in self.columns]
        else:
            columns = [column.take(chosen) for column in self.columns]
        return Table(len(chosen), columns, names_given=self.names_given)

    def forget_unused_levels(self) -> "Table":
        """Keep only the levels that occur, in every column."""
        if self.matrix is not None:
            return self
        columns = [column.forget_unused_levels() for column in self.columns]
        return Table(self.n_rows, columns, names_given=self.names_given)

    def select(self, features: Sequence[int | str]) -> "Table":
        """Choose features by position or by name, in the order asked; values are shared."""
        positions = [self._position(feature) for feature in features]
        columns = [self.columns[position] for position in positions]
        return Table(self.n_rows, columns, names_given=self.names_given)

    def _position(self, feature: int | str) -> int:
        if not isinstance(feature, str):
            return int(feature)
        if feature not in self.names:
            raise InvalidInput(
                f"There is no column {feature!r}.{nearest_names(feature, self.names)}"
            )
        return self.names.index(feature)

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows, {self.n_features} features)"


def made_up_names(n_features: int) -> tuple[str, ...]:
    """Name features that came without names, as scikit-learn does.

    Examples
    --------
    >>> made_up_names(3)
    ('x0', 'x1', 'x2')
    """
    return tuple(f"x{position}" for position in range(n_features))
