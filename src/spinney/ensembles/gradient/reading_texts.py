"""Which columns of strings boosting reads as texts, and not as categories."""

import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from spinney.data.categorical import named_features
from spinney.data.levels import LevelType
from spinney.data.table import Column, Kind, Table
from spinney.data.texts import TextWords, looks_like_text
from spinney.ensembles.fitting import Reading
from spinney.ensembles.sharing import mixed_bits
from spinney.errors import InvalidInput, InvalidParameter, nearest_names, shorten
from spinney.typing import AnyArray, FloatArray

_EXPECTED = "expected 'auto', True, False, or a list of columns of text, by name or position."
_MOST_GROUPS = 16
"""Classes, or quarters of the rows by each target, that words are judged by."""


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


class TextColumn:
    """A column of texts, whose words are found once for all who learn from some of its rows."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._words = TextWords(_texts(column))

    def words_to_count(self, reading: Reading, train: AnyArray) -> tuple[str, ...]:
        """Choose the words that tell most of the targets of the rows that train.

        A row counts as often as a whole weight repeats it.
        """
        repeats = _repeats(reading)[train]
        rows = _rows_of_levels(self._column, repeats, train)
        groups = [
            _rows_of_levels(self._column, repeats * is_in, train)
            for is_in in _groups(reading, repeats, train)
        ]
        return self._words.most_telling(rows, groups)


def _groups(reading: Reading, repeats: FloatArray, train: AnyArray) -> Iterator[AnyArray]:
    """Tell which rows are of each class, or of each quarter of the rows by each target."""
    y = reading.y[train]
    if reading.target.classes is not None:
        codes = y.astype(np.int64).reshape(-1)
        heaviest = np.argsort(-np.bincount(codes, repeats), kind="stable")[:_MOST_GROUPS]
        yield from (codes == code for code in heaviest.tolist())
        return
    for numbers_of_rows in y.reshape(len(y), -1).T[: _MOST_GROUPS // 4]:
        order = np.argsort(numbers_of_rows, kind="stable")
        passed = np.cumsum(repeats[order])
        quarters = np.searchsorted(passed, passed[-1] * np.array([0.25, 0.5, 0.75]))
        ends = [-np.inf, *numbers_of_rows[order[quarters]].tolist(), np.inf]
        for above, up_to in pairwise(ends):
            yield (above < numbers_of_rows) & (numbers_of_rows <= up_to)


def _repeats(reading: Reading) -> FloatArray:
    weights = reading.weights
    if weights is None or (weights % 1.0 != 0.0).any():
        return np.ones(len(reading.y))
    return weights


def _rows_of_levels(column: Column, repeats: FloatArray, rows: AnyArray) -> FloatArray:
    n_levels = 0 if column.levels is None else len(column.levels)
    counts = np.bincount(column.values[rows] + 1, repeats, n_levels + 1)
    return counts[1:].astype(np.float64)


def _texts(column: Column) -> list[str]:
    return [] if column.levels is None else [str(level) for level in column.levels.values]


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
    column = reading.table.columns[place]
    rows = reading.table.take(np.flatnonzero(column.values >= 0))
    # Neither copies of rows nor weights make a text a name that comes again.
    return looks_like_text(_texts(column), len(np.unique(mixed_bits(rows))))


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
