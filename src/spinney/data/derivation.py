"""From the features of the user to those that trees split on: copies, levels, dates, texts.

A derivation is data, no code: of each derived feature a rule, the features it is made of and, where
levels are looked up, a table of numbers. It stands in the model beside the trees.
"""

import enum
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spinney.data.calendar import CalendarPart, calendar_part
from spinney.data.levels import pack_texts
from spinney.data.schema import FeatureSchema
from spinney.data.table import Column, Kind, Table
from spinney.data.texts import TextPart, WordCounts, text_part
from spinney.typing import AnyArray, FloatArray, IntArray

UNSEEN = -2
"""The code of a level that training did not know; that of a missing one is -1."""


class Rule(enum.IntEnum):
    """How a derived feature is made; the numbers stand in files: add at the end, never change."""

    COPY = 0
    TARGET = 1
    """A statistic of the target at the level; how many there are is the number of targets."""
    COUNT = 2
    """The weight of the training rows at the level."""
    CALENDAR = 3
    """``CALENDAR + part``: a part of a date."""
    ELAPSED = 32
    """Seconds from one date to another."""
    TEXT = 33
    """``TEXT + part``: a part of a text."""
    WORD = 64
    """How often a word is in a text."""


def part_of(rule: int) -> CalendarPart | TextPart | None:
    """Give the part of a date or a text that a rule asks for; None if it asks for none."""
    for first, parts in ((Rule.CALENDAR, CalendarPart), (Rule.TEXT, TextPart)):
        if first <= rule <= first + max(parts):
            return parts(rule - first)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """One derived feature."""

    rule: int
    places: tuple[int, ...]
    """The features it is made of: one, or two whose levels are looked up together, or two dates."""
    number: int = 0
    """Which of the statistics of these features it is, counted from 0."""
    table: FloatArray | None = None
    """The number of each level, of unseen ones and of missing ones, where levels are looked up."""
    word: str = ""
    """The word that is counted, where one is."""

    def name(self, schema: FeatureSchema, *, is_only: bool) -> str:
        """Say what it is, by the names of the features."""
        of = " and ".join(schema.names[place] for place in self.places)
        if self.rule == Rule.COPY:
            return of
        if self.rule == Rule.TARGET:
            return f"{of} (target)" if is_only else f"{of} (target {self.number})"
        if self.rule == Rule.COUNT:
            return f"{of} (count)"
        if self.rule == Rule.ELAPSED:
            return f"{of} (elapsed)"
        part = part_of(self.rule)
        return f"{of} (word {self.word})" if part is None else f"{of} ({part.name.lower()})"


class Derivation:
    """The derived features of a model, in the order in which trees number them."""

    def __init__(
        self,
        schema: FeatureSchema,
        features: Sequence[Derived],
        keys: Mapping[tuple[int, ...], IntArray],
    ) -> None:
        self.inputs = schema
        self.features = tuple(features)
        self.keys = dict(keys)
        """Of each pair of features the pairs of levels that are known, as increasing numbers."""

    @cached_property
    def schema(self) -> FeatureSchema:
        """The derived features as trees know them."""
        inputs = self.inputs
        is_only = all(not feature.number for feature in self.features)
        names: list[str] = []
        for feature in self.features:
            name = feature.name(inputs, is_only=is_only)
            while name in names or (feature.rule != Rule.COPY and name in inputs.names):
                name += "'"
            names.append(name)
        copied = [f.places[0] if f.rule == Rule.COPY else None for f in self.features]
        return FeatureSchema(
            tuple(names),
            tuple(Kind.NUMERIC if place is None else inputs.kinds[place] for place in copied),
            tuple(None if place is None else inputs.levels[place] for place in copied),
            tuple(None if place is None else inputs.timezone_aware[place] for place in copied),
            names_given=True,
        )

    def of_table(self, table: Table) -> Table:
        """Derive the features of a table that conforms to ``inputs``, unseen levels apart."""
        n, columns = table.n_rows, table.columns
        lookup = _Lookup(self, lambda place: columns[place].dense(n), columns)
        derived = [
            _copied(columns[feature.places[0]], name)
            if feature.rule == Rule.COPY
            else _made(name, feature, lookup.values(feature))
            for name, feature in zip(self.schema.names, self.features, strict=True)
        ]
        return Table(n, derived, names_given=True)

    def of_rows(self, rows: AnyArray) -> FloatArray:
        """Derive the features of plain rows, (n_rows, n_inputs) with codes among the numbers.

        There are no plain rows with texts: no number stands for a text.
        """
        derived = np.empty((len(rows), len(self.features)))
        lookup = _Lookup(self, lambda place: rows[:, place])
        for place, feature in enumerate(self.features):
            copied = feature.rule == Rule.COPY
            derived[:, place] = rows[:, feature.places[0]] if copied else lookup.values(feature)
        return derived

    def codes(self, places: tuple[int, ...], known: Sequence[AnyArray]) -> AnyArray:
        """Give the codes of levels, or of pairs of them by the codes of each."""
        if len(places) == 1:
            return known[0]
        keys = self.keys[places]
        wanted = pair_keys(known, self.n_levels(places[1]))
        found = np.searchsorted(keys, wanted)
        found[found == len(keys)] = 0
        is_known = keys[found] == wanted if len(keys) else np.zeros(len(wanted), bool)
        return np.where(is_known, found, UNSEEN)

    @cached_property
    def plain(self) -> dict[int, int]:
        """The features of the user that trees see as they are and in no other way, and where."""
        seen = Counter(place for feature in self.features for place in feature.places)
        return {
            feature.places[0]: number
            for number, feature in enumerate(self.features)
            if feature.rule == Rule.COPY and seen[feature.places[0]] == 1
        }

    def n_levels(self, place: int) -> int:
        """Count the levels of a feature of the user."""
        levels = self.inputs.levels[place]
        return 0 if levels is None else len(levels)

    def shared_out(self, values: AnyArray, axis: int) -> FloatArray:
        """Add what is said of derived features up by the features of the user.

        What is said of a pair is divided between its two features.
        """
        along = np.moveaxis(values, axis, 0)
        sums = np.zeros((self.inputs.n_features, *along.shape[1:]))
        for numbers, feature in zip(along, self.features, strict=True):
            for place in feature.places:
                sums[place] += numbers / len(feature.places)
        return np.moveaxis(sums, 0, axis)

    @cached_property
    def players(self) -> tuple[AnyArray, int]:
        """Who speaks for each derived feature: the feature of the user, or the pair itself.

        Behind the features of the user stands a player for every pair of them; their number is
        the second part.
        """
        n_inputs = self.inputs.n_features
        pairs = [f.places for f in self.features if len(f.places) > 1]
        number = {places: n_inputs + n for n, places in enumerate(dict.fromkeys(pairs))}
        speaking = [number.get(f.places, f.places[0]) for f in self.features]
        return np.array(speaking, np.int32), n_inputs + len(number)

    def of_users(self, values: AnyArray, axis: int) -> FloatArray:
        """Give what players got to the features of the user, half of what a pair got to each."""
        along = np.moveaxis(values, axis, 0)
        sums = along[: self.inputs.n_features].copy()
        speaking, _ = self.players
        for player in range(len(sums), len(along)):
            pair = self.features[int(np.argmax(speaking == player))].places
            for place in pair:
                sums[place] += along[player] / len(pair)
        return np.moveaxis(sums, 0, axis)

    def words(self, place: int) -> tuple[str, ...]:
        """Give the words that are counted in a feature of the user."""
        return tuple(f.word for f in self.features if f.rule == Rule.WORD and f.places[0] == place)

    def signs(self, of_inputs: Sequence[int] | None) -> tuple[int, ...] | None:
        """Give monotone signs of the derived features: those of copies."""
        if of_inputs is None:
            return None
        return tuple(of_inputs[f.places[0]] if f.rule == Rule.COPY else 0 for f in self.features)

    def groups(
        self, of_inputs: Sequence[Sequence[int]] | None
    ) -> tuple[tuple[int, ...], ...] | None:
        """Give groups of derived features, each with all that is made of a group of the user's."""
        if of_inputs is None:
            return None
        return tuple(
            tuple(n for n, f in enumerate(self.features) if set(f.places) <= set(group))
            for group in of_inputs
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Derivation) or self.inputs != other.inputs:
            return False
        mine, others = self.to_arrays(), other.to_arrays()
        return set(mine) == set(others) and all(
            np.array_equal(mine[name], others[name]) for name in mine
        )

    def __hash__(self) -> int:
        return hash((self.inputs, len(self.features)))

    def to_arrays(self) -> dict[str, AnyArray]:
        """Give the derivation as arrays, for a file."""
        tables = [np.empty(0) if f.table is None else f.table for f in self.features]
        pairs = list(self.keys)
        words = [f.word for f in self.features if f.rule == Rule.WORD]
        offsets, text = pack_texts(words)
        of_words = {"word_offsets": offsets, "word_text": text} if words else {}
        return of_words | {
            "rule": np.array([f.rule for f in self.features], np.uint8),
            "first": np.array([f.places[0] for f in self.features], np.int32),
            "second": np.array([(*f.places, -1)[1] for f in self.features], np.int32),
            "number": np.array([f.number for f in self.features], np.int32),
            "table_start": np.cumsum([0, *map(len, tables)], dtype=np.int64),
            "tables": np.concatenate([np.empty(0), *tables]),
            "pairs": np.array(pairs, np.int32).reshape(len(pairs), 2),
            "key_start": np.cumsum([0, *(len(self.keys[p]) for p in pairs)], dtype=np.int64),
            "keys": np.concatenate([np.empty(0, np.int64), *(self.keys[p] for p in pairs)]),
        }


class _Lookup:
    """Numbers of derived features of some rows; codes and words are found once for all."""

    def __init__(
        self,
        derivation: Derivation,
        values_of: Callable[[int], AnyArray],
        columns: Sequence[Column] = (),
    ) -> None:
        self._derivation, self._values_of, self._columns = derivation, values_of, columns
        self._codes: dict[tuple[int, ...], AnyArray] = {}
        self._texts: dict[int, _Texts] = {}

    def values(self, feature: Derived) -> FloatArray:
        places, part = feature.places, part_of(feature.rule)
        if isinstance(part, CalendarPart):
            return calendar_part(self._values_of(places[0]), part)
        if feature.rule == Rule.ELAPSED:
            start, end = (self._values_of(place) for place in places)
            return elapsed(start, end)
        if feature.table is None:
            if places[0] not in self._texts:
                words = self._derivation.words(places[0])
                self._texts[places[0]] = _Texts(self._columns[places[0]], words)
            return self._texts[places[0]].values(feature)
        if places not in self._codes:
            known = [self._values_of(place).astype(np.int64) for place in places]
            self._codes[places] = self._derivation.codes(places, known)
        values: FloatArray = feature.table[self._codes[places]]
        return values


class _Texts:
    """The texts of a column, each read once however many rows have it."""

    def __init__(self, column: Column, words: Sequence[str]) -> None:
        used, places = np.unique(column.values.clip(-1), return_inverse=True)
        levels = () if column.levels is None else column.levels.values
        self._texts = [str(levels[code]) for code in used.tolist() if code >= 0]
        self._places = places - (len(used) - len(self._texts))  # -1, the last, is missing
        self._counts = WordCounts(self._texts, words)

    def values(self, feature: Derived) -> FloatArray:
        part = part_of(feature.rule)
        if isinstance(part, TextPart):
            of_texts = np.array([text_part(text, part) for text in self._texts])
        else:
            of_texts = self._counts.of(feature.word)
        values: FloatArray = np.append(of_texts, np.nan)[self._places]
        return values


def elapsed(start: AnyArray, end: AnyArray) -> FloatArray:
    """Give the seconds from one moment to another; missing where one of them is."""
    with np.errstate(invalid="ignore"):
        return np.asarray(end, np.float64) - np.asarray(start, np.float64)


def pair_keys(codes: Sequence[AnyArray], n_second: int) -> IntArray:
    """Give pairs of codes of two features a number each; the second has so many levels."""
    first, second = (one.astype(np.int64) - UNSEEN for one in codes)
    return np.asarray(first * (n_second - UNSEEN) + second, np.int64)


def _copied(column: Column, name: str) -> Column:
    if column.kind is Kind.CATEGORICAL and column.values.min(initial=0) < -1:
        return replace(column, name=name, values=column.values.clip(-1))  # unseen ones are missing
    return column if column.name == name else replace(column, name=name)


def _made(name: str, feature: Derived, values: FloatArray) -> Column:
    """Make a column; of a word, which few texts have, only what is not zero."""
    if feature.rule != Rule.WORD:
        return Column(name, Kind.NUMERIC, values)
    rows = np.flatnonzero(values).astype(np.int32)
    return Column(name, Kind.NUMERIC, values[rows], rows=rows)
