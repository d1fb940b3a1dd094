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
from spinney.data.texts import FEWEST_TEXTS, TextWords, looks_like_text
from spinney.ensembles.fitting import Reading
from spinney.ensembles.sharing import mixed_bits
from spinney.errors import InvalidInput, InvalidParameter, nearest_names, shorten
from spinney.typing import AnyArray, FloatArray

_EXPECTED = "expected 'auto', True, False, or a list of columns of text, by name or position."
_MOST_GROUPS = 16
"""Classes of a target that words are judged by."""
_GROUPS_OF_ALL = 64
"""The same of all targets together, as far as two of each are enough: each costs a pass."""
_QUARTERS = 4
"""Parts of the rows by a target that is a number."""


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
        targets = (
            (_rows_of_levels(self._column, repeats * is_in, train) for is_in in groups)
            for groups in _groups_by_target(reading, repeats, train)
        )
        return self._words.most_telling(rows, targets)


def _groups_by_target(
    reading: Reading, repeats: FloatArray, train: AnyArray
) -> Iterator[Iterator[AnyArray]]:
    """Tell of each target which rows are of each class, or of each quarter of the rows."""
    targets = reading.y[train].reshape(len(train), -1).T
    most = max(2, min(_MOST_GROUPS, _GROUPS_OF_ALL // len(targets)))
    groups = _classes if reading.target.has_classes else _parts
    return (groups(target, repeats, most) for target in targets)


def _classes(codes: FloatArray, repeats: FloatArray, most: int) -> Iterator[AnyArray]:
    heaviest = np.argsort(-np.bincount(codes.astype(np.int64), repeats), kind="stable")[:most]
    return (codes == code for code in heaviest.tolist())


def _parts(numbers_of_rows: FloatArray, repeats: FloatArray, most: int) -> Iterator[AnyArray]:
    n_parts = min(most, _QUARTERS)
    order = np.argsort(numbers_of_rows, kind="stable")
    passed = np.cumsum(repeats[order])
    cuts = np.searchsorted(passed, passed[-1] * np.arange(1, n_parts) / n_parts)
    ends = [-np.inf, *numbers_of_rows[order[cuts]].tolist(), np.inf]
    return ((above < numbers_of_rows) & (numbers_of_rows <= to) for above, to in pairwise(ends))


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
    named = _named_categories(params, reading)
    if isinstance(wish, list | tuple):
        places = sorted({_place(item, reading) for item in wish})
        _check_texts(places, strings, named, schema.names)
        return places
    if not isinstance(wish, bool | np.bool_) and not (isinstance(wish, str) and wish == "auto"):
        raise InvalidParameter(f"text_features={wish!r}: {_EXPECTED}")
    if not wish:
        return []
    # Few levels are no texts; to look into the columns would copy rows of a shared table.
    fewest = FEWEST_TEXTS if wish == "auto" else 1
    free = [p for p in strings if p not in named and len(schema.levels[p] or ()) >= fewest]
    free = [p for p in free if not reading.table.columns[p].is_category_type]
    return free if wish != "auto" else [p for p in free if _is_text(reading, p)]


def _check_texts(
    places: Sequence[int], strings: Sequence[int], named: Mapping[int, str], names: Sequence[str]
) -> None:
    """Refuse to read what is no text, and what another parameter calls a category."""
    for place in places:
        if place not in strings:
            texts = [names[p] for p in strings]
            raise InvalidInput(
                f"text_features names {names[place]!r}, which is no column of text. "
                f"Columns of text: {shorten(texts) if texts else 'none'}."
            )
        if place in named:
            raise InvalidParameter(
                f"text_features and {named[place]} both name {names[place]!r}: it is read as a "
                "text, or it is a category. Leave it out of one of them."
            )


def _is_text(reading: Reading, place: int) -> bool:
    column = reading.table.columns[place]
    rows = reading.table.take(np.flatnonzero(column.values >= 0))
    # Neither copies of rows nor weights make a text a name that comes again.
    return looks_like_text(_texts(column), len(np.unique(mixed_bits(rows))))


def _named_categories(params: Mapping[str, Any], reading: Reading) -> dict[int, str]:
    """Find the features that the user calls categories, and the parameter that does."""
    named: dict[int, str] = {}
    chosen, pairs = params["categorical_features"], params["category_pairs"]
    if isinstance(pairs, list | tuple):
        flat = [item for pair in pairs if isinstance(pair, Sequence) for item in pair]
        names = reading.schema.names
        places = [names.index(item) for item in flat if isinstance(item, str) and item in names]
        places += [int(item) for item in flat if isinstance(item, numbers.Integral)]
        named |= dict.fromkeys(places, "category_pairs")
    if chosen is not None and not isinstance(chosen, str):
        named |= dict.fromkeys(named_features(reading.table, chosen), "categorical_features")
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
