"""From the features of the user to those that trees split on: copies, numbers of levels, dates.

A derivation is data, no code: of each derived feature a rule, the features it is made of and, where
levels are looked up, a table of numbers. It stands in the model beside the trees.
"""

import enum
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from spinney.data.calendar import CalendarPart, calendar_part
from spinney.data.schema import FeatureSchema
from spinney.data.table import Column, Kind, Table
from spinney.errors import InvalidModel
from spinney.typing import AnyArray, FloatArray, IntArray

UNSEEN = -2
"""The code of a level that training did not know; that of a missing one is -1."""
_BESIDES = 2
"""Entries of a table of numbers behind those of the levels: one for unseen ones, one for missing
ones, so that their codes are places from the end."""
_DATES = frozenset({Kind.DATE, Kind.DATETIME})


class Rule(enum.IntEnum):
    """How a derived feature is made; the numbers stand in files: add at the end, never change."""

    COPY = 0
    TARGET = 1
    """A statistic of the target at the level; how many there are is the number of targets."""
    COUNT = 2
    """The weight of the training rows at the level."""
    CALENDAR = 3
    """``CALENDAR + part``: a part of a date."""


_LAST_RULE = Rule.CALENDAR + max(CalendarPart)


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """One derived feature."""

    rule: int
    places: tuple[int, ...]
    """The features it is made of: one, or two whose levels are looked up together."""
    number: int = 0
    """Which of the statistics of these features it is, counted from 0."""
    table: FloatArray | None = None
    """The number of each level, of unseen ones and of missing ones, where levels are looked up."""

    def name(self, schema: FeatureSchema, *, is_only: bool) -> str:
        """Say what it is, by the names of the features."""
        of = " and ".join(schema.names[place] for place in self.places)
        if self.rule == Rule.COPY:
            return of
        if self.rule == Rule.TARGET:
            return f"{of} (target)" if is_only else f"{of} (target {self.number})"
        if self.rule == Rule.COUNT:
            return f"{of} (count)"
        return f"{of} ({CalendarPart(self.rule - Rule.CALENDAR).name.lower()})"


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
        lookup = _Lookup(self, lambda place: columns[place].dense(n))
        derived = [
            _copied(columns[feature.places[0]], name)
            if feature.rule == Rule.COPY
            else Column(name, Kind.NUMERIC, lookup.values(feature))
            for name, feature in zip(self.schema.names, self.features, strict=True)
        ]
        return Table(n, derived, names_given=True)

    def of_rows(self, rows: AnyArray) -> FloatArray:
        """Derive the features of plain rows, (n_rows, n_inputs) with codes among the numbers."""
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
        return all(np.array_equal(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((self.inputs, len(self.features)))

    def to_arrays(self) -> dict[str, AnyArray]:
        """Give the derivation as arrays, for a file."""
        tables = [np.empty(0) if f.table is None else f.table for f in self.features]
        pairs = list(self.keys)
        return {
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

    @classmethod
    def from_arrays(cls, schema: FeatureSchema, arrays: Mapping[str, AnyArray]) -> "Derivation":
        """Rebuild a derivation from a file, believing nothing: InvalidModel if anything is off."""
        if set(arrays) != set(_ARRAYS) or any(
            arrays[name].dtype != kind or arrays[name].ndim != (2 if name == "pairs" else 1)
            for name, kind in _ARRAYS.items()
        ):
            raise InvalidModel("Derivation: parts are missing, unknown or of another type.")
        n = len(arrays["rule"])
        if n == 0 or any(len(arrays[name]) != n for name in ("first", "second", "number")):
            raise InvalidModel("Derivation: there is not one entry per derived feature.")
        keys = _read_keys(schema, arrays)
        tables = _pieces(arrays, "table_start", "tables", n)
        if not np.isfinite(arrays["tables"]).all():
            raise InvalidModel("Derivation: a number of a level is not finite.")
        features = []
        for place, table in enumerate(tables):
            rule, first, second, number = (
                int(arrays[name][place]) for name in ("rule", "first", "second", "number")
            )
            places = (first,) if second == -1 else (first, second)
            looks_up = rule in (Rule.TARGET, Rule.COUNT)
            feature = Derived(rule, places, number, table if looks_up else None)
            _check_feature(schema, feature, keys, len(table))
            features.append(feature)
        if {f.places for f in features if len(f.places) == 2} != set(keys):
            raise InvalidModel("Derivation: pairs of features that nothing is derived from.")
        return cls(schema, features, keys)


_ARRAYS = {
    "rule": "|u1",
    "first": "<i4",
    "second": "<i4",
    "number": "<i4",
    "table_start": "<i8",
    "tables": "<f8",
    "pairs": "<i4",
    "key_start": "<i8",
    "keys": "<i8",
}


class _Lookup:
    """Numbers of derived features of some rows; codes are made once for all that need them."""

    def __init__(self, derivation: Derivation, values_of: Callable[[int], AnyArray]) -> None:
        self._derivation, self._values_of = derivation, values_of
        self._codes: dict[tuple[int, ...], AnyArray] = {}

    def values(self, feature: Derived) -> FloatArray:
        if feature.table is None:
            part = CalendarPart(feature.rule - Rule.CALENDAR)
            return calendar_part(self._values_of(feature.places[0]), part)
        places = feature.places
        if places not in self._codes:
            known = [self._values_of(place).astype(np.int64) for place in places]
            self._codes[places] = self._derivation.codes(places, known)
        values: FloatArray = feature.table[self._codes[places]]
        return values


def pair_keys(codes: Sequence[AnyArray], n_second: int) -> IntArray:
    """Give pairs of codes of two features a number each; the second has so many levels."""
    first, second = (one.astype(np.int64) - UNSEEN for one in codes)
    return np.asarray(first * (n_second - UNSEEN) + second, np.int64)


def _copied(column: Column, name: str) -> Column:
    if column.kind is Kind.CATEGORICAL and column.values.min(initial=0) < -1:
        return replace(column, name=name, values=column.values.clip(-1))  # unseen ones are missing
    return column if column.name == name else replace(column, name=name)


def _check_feature(
    schema: FeatureSchema,
    feature: Derived,
    keys: Mapping[tuple[int, ...], IntArray],
    n_entries: int,
) -> None:
    """Refuse a feature that its rule, its places and its table tell different stories about."""
    rule, places = feature.rule, feature.places
    if not all(0 <= place < schema.n_features for place in places) or rule > _LAST_RULE:
        raise InvalidModel("Derivation: a rule or a feature that does not exist.")
    kinds = {schema.kinds[place] for place in places}
    if feature.table is None:
        fits = len(places) == 1 and n_entries == 0 and (rule == Rule.COPY or kinds <= _DATES)
    else:
        fits = kinds == {Kind.CATEGORICAL} and (len(places) == 1 or places in keys)
        if fits:
            fits = n_entries == _BESIDES + _n_known(schema, places, keys)
    if not fits or feature.number < 0 or (feature.number > 0 and rule != Rule.TARGET):
        raise InvalidModel("Derivation: a derived feature does not fit what it is made of.")


def _n_known(
    schema: FeatureSchema, places: tuple[int, ...], keys: Mapping[tuple[int, ...], IntArray]
) -> int:
    if len(places) == 2:
        return len(keys[places])
    levels = schema.levels[places[0]]
    return 0 if levels is None else len(levels)


def _read_keys(
    schema: FeatureSchema, arrays: Mapping[str, AnyArray]
) -> dict[tuple[int, ...], IntArray]:
    pairs = arrays["pairs"]
    exist = (pairs >= 0) & (pairs < schema.n_features)
    if pairs.shape[1] != 2 or not exist.all():
        raise InvalidModel("Derivation: a pair of features that do not exist.")
    found: dict[tuple[int, ...], IntArray] = {}
    pieces = _pieces(arrays, "key_start", "keys", len(pairs))
    for (first, second), keys in zip(pairs.tolist(), pieces, strict=True):
        sizes = [_n_known(schema, (place,), {}) - UNSEEN for place in (first, second)]
        if (
            not first < second
            or (first, second) in found
            or np.any(keys[1:] <= keys[:-1])
            or (len(keys) and not 0 <= int(keys[0]) <= int(keys[-1]) < sizes[0] * sizes[1])
        ):
            raise InvalidModel("Derivation: the known pairs of levels are damaged.")
        found[first, second] = keys
    return found


def _pieces(arrays: Mapping[str, AnyArray], starts: str, values: str, n: int) -> list[AnyArray]:
    """Cut an array at its starts, of which there is one more than pieces."""
    start, whole = arrays[starts], arrays[values]
    spans = len(start) == n + 1 and start[0] == 0 and start[-1] == len(whole)
    if not spans or np.any(start[1:] < start[:-1]):
        raise InvalidModel(f"Derivation: {starts} does not divide {values}.")
    return [whole[a:b] for a, b in pairwise(start.tolist())]
