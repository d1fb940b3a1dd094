"""Which columns of strings boosting reads as texts, and not as categories."""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.data.categorical import named_features
from spinney.data.levels import LevelType
from spinney.data.table import Column, Kind, Table
from spinney.data.texts import looks_like_text, telling_words
from spinney.ensembles.fitting import Reading
from spinney.errors import InvalidInput, InvalidParameter, nearest_names, shorten
from spinney.typing import FloatArray

_EXPECTED = "expected 'auto', True, False, or a list of columns of text, by name or position."


def with_texts(reading: Reading, params: Mapping[str, Any]) -> Reading:
    """Make texts of the columns that ``text_features`` asks for, or finds."""
    places = _asked_for(params, reading)
    if not places:
        return reading
    columns = list(reading.table.columns)
    for place in places:
        columns[place] = replace(columns[place], kind=Kind.TEXT)
    table = Table(reading.table.n_rows, columns, names_given=reading.table.names_given)
    return replace(reading, schema=reading.schema.with_texts(places), table=table)


def words_to_count(column: Column, reading: Reading) -> tuple[str, ...]:
    """Choose the words of a text; a row counts as often as a whole weight repeats it."""
    levels = () if column.levels is None else column.levels.values
    n_rows = _rows_of_levels(column, reading)
    return telling_words([str(level) for level in levels], n_rows)


def _rows_of_levels(column: Column, reading: Reading) -> FloatArray:
    weights = reading.weights
    repeated = None if weights is None or (weights % 1.0 != 0.0).any() else weights
    n_levels = 0 if column.levels is None else len(column.levels)
    return np.bincount(column.values + 1, repeated, n_levels + 1)[1:].astype(np.float64)


def _asked_for(params: Mapping[str, Any], reading: Reading) -> list[int]:
    wish, schema = params["text_features"], reading.schema
    strings = [
        place
        for place, levels in enumerate(schema.levels)
        if levels is not None and levels.type is LevelType.TEXT and len(levels)
    ]
    if isinstance(wish, bool | np.bool_):
        return strings if wish else []
    if isinstance(wish, str):
        if wish != "auto":
            raise InvalidParameter(f"text_features={wish!r}: {_EXPECTED}")
        named = _named_categories(params, reading)
        return [p for p in strings if p not in named and _is_text(reading, p)]
    if not isinstance(wish, list | tuple):
        raise InvalidParameter(f"text_features={wish!r}: {_EXPECTED}")
    places = sorted({_place(item, reading) for item in wish})
    for place in places:
        if place not in strings:
            texts = [schema.names[p] for p in strings]
            raise InvalidInput(
                f"text_features names {schema.names[place]!r}, which is no column of text. "
                f"Columns of text: {shorten(texts) if texts else 'none'}."
            )
    return places


def _is_text(reading: Reading, place: int) -> bool:
    column, levels = reading.table.columns[place], reading.schema.levels[place]
    if levels is None:
        return False
    texts = [str(level) for level in levels.values]
    return looks_like_text(texts, float(_rows_of_levels(column, reading).sum()))


def _named_categories(params: Mapping[str, Any], reading: Reading) -> frozenset[int]:
    """Find the features that the user calls categories; those are none to be read."""
    named: frozenset[int] = frozenset()
    chosen, pairs = params["categorical_features"], params["category_pairs"]
    if chosen is not None and not isinstance(chosen, str):
        named |= named_features(reading.table, chosen)
    if isinstance(pairs, list | tuple):
        flat = [item for pair in pairs if isinstance(pair, Sequence) for item in pair]
        names = reading.schema.names
        named |= {names.index(item) for item in flat if isinstance(item, str) and item in names}
        named |= {int(item) for item in flat if isinstance(item, numbers.Integral)}
    return named


def _place(item: Any, reading: Reading) -> int:
    names, schema = reading.schema.names, reading.schema
    if isinstance(item, str):
        if schema.names_given and item in names:
            return names.index(item)
        hint = nearest_names(item, names) if schema.names_given else " X has no names."
        raise InvalidInput(f"text_features names {item!r}, which is no feature of X.{hint}")
    is_position = isinstance(item, numbers.Integral) and not isinstance(item, bool)
    if not is_position or not 0 <= int(item) < len(names):
        raise InvalidInput(
            f"text_features holds {item!r}: expected names, or positions from 0 to "
            f"{len(names) - 1}."
        )
    return int(item)
