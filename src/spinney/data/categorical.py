"""Which features are categorical: by their types, and by what the user says."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from spinney.data.levels import Levels, LevelType
from spinney.data.table import Column, Kind, Table
from spinney.errors import InvalidInput, InvalidInputType, nearest_names, shorten
from spinney.typing import AnyArray

_EXPECTED = (
    "Expected 'from_dtype', None, a boolean per feature, or the positions or names of features."
)


def apply_categorical_features(table: Table, chosen: Any) -> list[Column]:
    """Give the columns of ``table`` with the user's choice applied.

    ``"from_dtype"`` keeps what the types say. None asks for no categorical feature: categories
    that are numbers become numbers, and text is refused. Otherwise the chosen features are made
    categorical, besides those that already are.
    """
    if chosen is None:
        return [_as_number(column) for column in table.columns]
    if isinstance(chosen, str):
        if chosen != "from_dtype":
            raise InvalidInput(f"categorical_features={chosen!r}. {_EXPECTED}")
        return list(table.columns)
    wanted = named_features(table, chosen)
    return [
        as_categorical(column, table.n_rows) if place in wanted else column
        for place, column in enumerate(table.columns)
    ]


def as_categorical(column: Column, n_rows: int) -> Column:
    """Make each distinct value of a numeric or boolean column a level."""
    if column.kind is Kind.CATEGORICAL:
        return column
    if column.kind not in {Kind.NUMERIC, Kind.BOOLEAN}:
        raise InvalidInputType(
            f"Column {column.name!r} is a {column.kind} and cannot be categorical. Extract what "
            "repeats, for instance the month or the weekday, and pass that."
        )
    values = column.dense(n_rows)
    check_distinguishable(column.name, values)
    distinct: list[Any] = np.unique(values[~np.isnan(values)]).tolist()
    if column.kind is Kind.BOOLEAN:
        distinct = [bool(value) for value in distinct]
    levels = Levels.of(distinct, column=column.name)
    return Column(column.name, Kind.CATEGORICAL, levels.codes_of(values), levels)


def check_distinguishable(name: str, values: AnyArray) -> None:
    """Refuse numbers as categories where float64 cannot tell neighbouring integers apart."""
    beyond = np.abs(values) >= 2.0**53
    beyond &= np.isfinite(values)
    if beyond.any():
        row = int(np.argmax(beyond))
        raise InvalidInput(
            f"Column {name!r}, row {row}: {values[row]:.0f} as a category. Integers of 2**53 and "
            "more are read as the nearest float64, so neighbours would become one category. Make "
            "the column text, for instance with .astype(str), in fit and in predict."
        )


def _as_number(column: Column) -> Column:
    levels = column.levels
    if levels is None:
        return column
    if levels.type is LevelType.TEXT and len(levels):
        raise InvalidInput(
            f"categorical_features=None, but column {column.name!r} holds text such as "
            f"{levels.values[0]!r}. Use categorical_features='from_dtype', or encode the column."
        )
    numbers_of = np.array([*map(float, levels.values), np.nan])
    kind = Kind.BOOLEAN if levels.type is LevelType.BOOLEAN else Kind.NUMERIC
    return Column(column.name, kind, numbers_of[column.values])


def named_features(table: Table, chosen: Any) -> frozenset[int]:
    """Find the features that a mask, positions or names choose."""
    try:
        items = list(np.asarray(chosen, dtype=object).ravel())
    except (TypeError, ValueError):
        raise InvalidInput(f"categorical_features={chosen!r}. {_EXPECTED}") from None
    if not items:
        return frozenset()
    if all(isinstance(item, bool | np.bool_) for item in items):
        return _from_mask(table, items)
    if all(isinstance(item, str) for item in items):
        return frozenset(_from_name(table, name) for name in items)
    if all(_is_position(item) for item in items):
        return _from_positions(table, items)
    kinds = ", ".join(sorted({type(item).__name__ for item in items}))
    try:
        types = np.asarray(chosen).dtype
    except ValueError:  # parts of different length
        found = kinds
    else:
        found = types.name if types.kind != "O" else kinds
    raise InvalidInput(
        "categorical_features must be an array-like of bool, int or str, got: "
        f"{found}. categorical_features holds {shorten(items)}. {_EXPECTED}"
    )


def _is_position(item: object) -> bool:
    return isinstance(item, numbers.Integral) and not isinstance(item, bool)


def _from_mask(table: Table, mask: Sequence[Any]) -> frozenset[int]:
    if len(mask) != table.n_features:
        raise InvalidInput(
            "categorical_features set as a boolean mask must have shape (n_features,). It is a "
            f"mask of {len(mask)} booleans, but X has {table.n_features} features."
        )
    return frozenset(place for place, is_chosen in enumerate(mask) if is_chosen)


def _from_name(table: Table, name: str) -> int:
    if not table.names_given:
        raise InvalidInput(
            "categorical_features should be passed as an array of integers or as a boolean mask "
            "when the model is fitted on data without feature names. It names "
            f"{name!r}, but X has no feature names. Give positions, or pass a data frame."
        )
    if name not in table.names:
        raise InvalidInput(
            f"categorical_features has an item value {name!r} which is not a valid feature name "
            f"of the training data.{nearest_names(name, table.names)}"
        )
    return table.names.index(name)


def _from_positions(table: Table, items: Sequence[Any]) -> frozenset[int]:
    outside = [int(item) for item in items if not 0 <= item < table.n_features]
    if outside:
        raise InvalidInput(
            "categorical_features set as integer indices must be in [0, n_features - 1]. "
            f"categorical_features holds {shorten(outside)}, but X has {table.n_features} features:"
            f" expected positions from 0 to {table.n_features - 1}."
        )
    return frozenset(int(item) for item in items)
