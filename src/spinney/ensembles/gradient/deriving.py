"""Which features boosting derives, and learning them from the rows that train.

Statistics of the target are the only thing in front of the trees that looks at it. So everybody
who holds rows out (a validation split, the folds of a curve) has them learnt anew from its own
training rows; rows that do not train are told what ``predict`` would tell them.
"""

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from spinney.data.binning import MAX_VALUE_BINS
from spinney.data.calendar import CalendarPart
from spinney.data.derivation import Derivation, Derived, Rule, pair_keys
from spinney.data.schema import FeatureSchema
from spinney.data.table import Column, Kind, Table
from spinney.data.target_statistics import LevelSums, StatisticGrid, TargetSums
from spinney.data.texts import TextPart
from spinney.ensembles.fitting import IntakeSettings, Reading
from spinney.ensembles.gradient.labels import class_indicators
from spinney.ensembles.gradient.offsets import without_offset
from spinney.ensembles.gradient.orders import with_orders
from spinney.ensembles.gradient.reading_texts import TextColumn
from spinney.ensembles.gradient.rows import BoostingRows, HeldOut
from spinney.errors import InvalidInput, InvalidParameter, nearest_names, shorten
from spinney.trees.gradient import GradientTreeSettings
from spinney.typing import AnyArray, FloatArray, IntArray

_DATES = (Kind.DATE, Kind.DATETIME)
_DAY = 86_400.0
_MOST_DATES = 5
"""Of more dates there are too many pairs to derive the time between any two."""
MOST_PAIRS = 50
"""Pairs of categories that are looked at unasked: each costs as much as a feature or two."""
MOST_TOLD_OF_PAIRS = 250
"""And no more than so many targets told of pairs: of a hundred classes a pair is a hundred."""
_EXPECTED_PAIRS = (
    "expected 'auto', None, 'all', or a list of pairs of features, such as [('a', 'b')]."
)


@dataclass(frozen=True, slots=True, eq=False)
class Deriving:
    """How features are derived, as far as it does not depend on which rows train."""

    reading: Reading
    told: tuple[FloatArray, FloatArray | None]
    """What statistics are means of, (n_rows, n_targets), and how heavy each row is in them."""
    encoded: tuple[tuple[int, ...], ...]
    """Features, and pairs of them, whose levels are told as statistics."""
    parts: Mapping[int, tuple[CalendarPart, ...]]
    """The parts of each date that are derived."""
    spans: tuple[tuple[int, ...], ...]
    """Pairs of dates, the time between which is derived."""
    texts: Mapping[int, TextColumn]
    """Features that are texts; which words are counted is learnt from targets."""
    seed: int
    n_orders: int = 1
    """How many orders tell training rows of the rows before them."""

    @classmethod
    def of(
        cls,
        params: Mapping[str, Any],
        reading: Reading,
        tree: GradientTreeSettings,
        seed: int,
        n_orders: int = 1,
        *,
        offset: tuple[FloatArray, str] | None = None,
    ) -> "Deriving | None":
        """Choose what is derived; None if trees split on the features as they are.

        Beside an offset stands the link that raw scores go through.
        """
        schema = reading.schema
        wish = params["category_encoding"]
        least = {"auto": MAX_VALUE_BINS + 1, "target": 0}.get(wish, np.inf)
        levels = [-1 if one is None else len(one) for one in schema.levels]
        encoded: list[tuple[int, ...]] = [(p,) for p, n in enumerate(levels) if n >= least]
        many = [p for (p,) in encoded if levels[p] > MAX_VALUE_BINS]
        pairs = params["category_pairs"]
        if isinstance(pairs, str) and pairs == "auto":
            if many:  # without them there are no pairs, and targets need not be laid out
                n_targets = _targets(reading).shape[1]
                encoded += _usual_pairs(many, schema, tree.interactions, n_targets)
        else:
            encoded += read_pairs(pairs, schema)
        kinds = list(enumerate(schema.kinds))
        parts = {}
        if params["date_features"]:
            parts = {
                place: _parts(reading.table.columns[place])
                for place, kind in kinds
                # A prediction that may only rise with a date must not fall with its month.
                if kind in _DATES and not (tree.monotone and tree.monotone[place])
            }
        together = tree.interactions is None and len(parts) <= _MOST_DATES
        spans = tuple(combinations(parts, 2)) if together else ()
        texts = {p: TextColumn(reading.table.columns[p]) for p, kind in kinds if kind is Kind.TEXT}
        if not (encoded or parts or texts):
            return None
        told = _targets(reading), reading.weights
        told = told if offset is None else without_offset(*told, *offset)
        n_orders = n_orders if encoded else 1  # dates and texts are told alike in every order
        return cls(reading, told, tuple(encoded), parts, spans, texts, seed, n_orders)

    @property
    def looks_at_targets(self) -> bool:
        """Whether what is derived depends on the targets of the rows that train."""
        return bool(self.encoded or self.texts)

    def learn(self, train: AnyArray | None) -> tuple[Derivation, Table, list[Table]]:
        """Learn from some rows, by their numbers, and derive the features of all; None: from all.

        The rows that are learnt from are told of rows before them only. Behind the table of all
        rows stand tables of these rows alone, as they are told in the other orders.
        """
        reading = self.reading
        chosen = np.arange(len(reading.y)) if train is None else train
        targets, weights = self.told
        of_chosen = None if weights is None else weights[chosen]
        first = TargetSums.of(targets[chosen], of_chosen, seed=self.seed)
        orders = [first, *(first.in_order(self.seed, n) for n in range(1, self.n_orders))]
        features: list[Derived] = []
        told: list[list[FloatArray] | None] = []  # of each feature, in each order
        keys: dict[tuple[int, ...], IntArray] = {}
        for places in self._sources():
            if places not in self.encoded:
                made = self._as_it_is(places[0], chosen)
                features += made
                told += [None] * len(made)
                continue
            codes, known = self._codes(places, chosen)
            if len(places) == 2:
                keys[places] = known
            sums = [of_order.at(codes, len(known) + 1) for of_order in orders]
            grid = StatisticGrid.of(sums[0])
            made = self._statistics(places, sums[0], grid)
            features += made
            before = [grid.rounded(of_order.before()) for of_order in sums]
            told += [
                [b[:, f.number] for b in before] if f.rule == Rule.TARGET else None for f in made
            ]
        features += [Derived(Rule.ELAPSED, places) for places in self.spans]
        told += [None] * len(self.spans)
        derivation = Derivation(reading.schema, features, keys)
        table = derivation.of_table(reading.table)
        others = [_told_alone(table, told, number, chosen) for number in range(1, len(orders))]
        return derivation, _with_told(table, told, chosen), others

    def _statistics(
        self, places: tuple[int, ...], sums: LevelSums, grid: StatisticGrid
    ) -> list[Derived]:
        """Make the features that are told of levels; unseen ones are as if without rows."""
        n_levels = len(sums.starts) - 2  # and one of rows where it is missing
        of_level = np.insert(sums.of_levels(), n_levels, sums.of_nothing(), axis=0)
        of_level = grid.rounded(of_level)
        made = [
            Derived(Rule.TARGET, places, number, table)
            for number, table in enumerate(np.ascontiguousarray(of_level.T))
        ]
        made.append(Derived(Rule.COUNT, places, 0, np.insert(sums.counts(), n_levels, 0.0)))
        return made

    def apply(
        self, held_out: AnyArray | HeldOut | None
    ) -> tuple[Reading, AnyArray | HeldOut | None, dict[str, Any], list[Table]]:
        """Derive the features of everything that was read.

        Returns the reading and the held-out rows with derived tables, what ``BoostingRows``
        keep of the derivation, and the training rows as other orders tell them.
        """
        derivation, table, others = self.learn(training_rows(len(self.reading.y), held_out))
        inputs = [self.reading.table]
        if isinstance(held_out, HeldOut):
            inputs.append(held_out.table)
            held_out = replace(held_out, table=derivation.of_table(held_out.table))
        kept = {"derivation": derivation, "inputs": inputs}
        return replace(self.reading, table=table), held_out, kept, others

    def for_folds(
        self, folds: Sequence[BoostingRows], settings: IntakeSettings
    ) -> list[BoostingRows]:
        """Give every fold a table of its own, learnt from its training rows alone."""
        if not self.looks_at_targets:
            return list(folds)
        derived = []
        for rows in folds:
            derivation, table, others = self.learn(rows.train.rows)
            reading = replace(self.reading, table=table)
            binned = reading.binner(settings, rows.train.rows).transform(
                table, n_threads=settings.n_threads
            )
            of_fold = replace(rows, binned=binned, derivation=derivation)
            of_fold = with_orders(of_fold, others, settings.n_threads)
            derived.append(replace(of_fold, tables=rows.tables))  # bins are all that folds need
        return derived

    def _sources(self) -> list[tuple[int, ...]]:
        singles: list[tuple[int, ...]] = [(p,) for p in range(self.reading.schema.n_features)]
        return singles + [places for places in self.encoded if len(places) == 2]

    def _as_it_is(self, place: int, train: AnyArray) -> list[Derived]:
        if place in self.texts:
            words = self.texts[place].words_to_count(self.reading, train)
            counted = [Derived(Rule.WORD, (place,), word=word) for word in words]
            return [*(Derived(Rule.TEXT + part, (place,)) for part in TextPart), *counted]
        parts = self.parts.get(place, ())
        copied = Derived(Rule.COPY, (place,))
        return [copied, *(Derived(Rule.CALENDAR + part, (place,)) for part in parts)]

    def _codes(self, places: tuple[int, ...], rows: AnyArray) -> tuple[IntArray, IntArray]:
        """Give the codes of rows, missing ones behind the last, and the known levels or pairs."""
        schema, columns = self.reading.schema, self.reading.table.columns
        of_rows = [columns[place].values[rows] for place in places]
        n_levels = [len(schema.levels[place] or ()) for place in places]
        if len(places) == 1:
            known = np.arange(n_levels[0])
            return np.where(of_rows[0] < 0, len(known), of_rows[0]).astype(np.int64), known
        known, codes = np.unique(pair_keys(of_rows, n_levels[1]), return_inverse=True)
        return codes.astype(np.int64), known


def _targets(reading: Reading) -> FloatArray:
    """Give what statistics are means of: numbers, or what tells the classes of each label."""
    if not reading.target.has_classes:
        return reading.y.reshape(len(reading.y), -1)
    return class_indicators(reading.y, reading.target)


def _usual_pairs(
    many: Sequence[int],
    schema: FeatureSchema,
    groups: Sequence[Sequence[int]] | None,
    n_targets: int,
) -> list[tuple[int, ...]]:
    """Pair features of many levels with all categories they may meet, unless that is too much."""
    pairs = [
        pair
        for pair in combinations(_categorical(schema), 2)
        if not set(pair).isdisjoint(many)
        and (groups is None or any(set(pair) <= set(group) for group in groups))
    ]
    is_too_much = len(pairs) > MOST_PAIRS or len(pairs) * n_targets > MOST_TOLD_OF_PAIRS
    return [] if is_too_much else list(pairs)


def _categorical(schema: FeatureSchema) -> list[int]:
    return [p for p, kind in enumerate(schema.kinds) if kind is Kind.CATEGORICAL]


def read_pairs(given: Any, schema: FeatureSchema) -> list[tuple[int, ...]]:
    """Read ``category_pairs``: pairs of categorical features, by position or by name."""
    if given is None:
        return []
    categorical = _categorical(schema)
    if isinstance(given, str):
        if given != "all":
            raise InvalidParameter(f"category_pairs={given!r}: {_EXPECTED_PAIRS}")
        return list(combinations(categorical, 2))
    if not isinstance(given, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in given
    ):
        raise InvalidParameter(f"category_pairs={given!r}: {_EXPECTED_PAIRS}")
    pairs = set()
    for pair in given:
        places = sorted(_place(feature, schema) for feature in pair)
        if places[0] == places[1] or not set(places) <= set(categorical):
            raise InvalidInput(
                f"category_pairs holds {pair!r}: expected two different categorical features. "
                f"Categorical: {shorten([schema.names[p] for p in categorical]) or 'none'}."
            )
        pairs.add(tuple(places))
    return sorted(pairs)


def _place(feature: Any, schema: FeatureSchema) -> int:
    """Find a feature that ``category_pairs`` names."""
    if isinstance(feature, str):
        if feature in schema.names and schema.names_given:
            return schema.names.index(feature)
        hint = nearest_names(feature, schema.names) if schema.names_given else " X has no names."
        raise InvalidInput(f"category_pairs names {feature!r}, which is no feature of X.{hint}")
    is_position = isinstance(feature, numbers.Integral) and not isinstance(feature, bool)
    if not is_position or not 0 <= int(feature) < schema.n_features:
        raise InvalidInput(
            f"category_pairs holds {feature!r}: expected names, or positions from 0 to "
            f"{schema.n_features - 1}."
        )
    return int(feature)


def _parts(column: Column) -> tuple[CalendarPart, ...]:
    """Choose the parts of a date: the hour only if there are others than midnight."""
    days = (CalendarPart.YEAR, CalendarPart.MONTH, CalendarPart.DAY, CalendarPart.WEEKDAY)
    known = column.values[np.isfinite(column.values)]
    return (*days, CalendarPart.HOUR) if np.any(known % _DAY) else days


Told: TypeAlias = Sequence[Sequence[FloatArray] | None]
"""What training rows are told of each feature, in each order; None: as all rows are."""


def _with_told(table: Table, told: Told, rows: AnyArray) -> Table:
    """Replace what statistics say of these rows by what the first order tells them."""
    columns = []
    for column, by_order in zip(table.columns, told, strict=True):
        changed = column
        if by_order is not None and len(rows) == table.n_rows:
            changed = replace(column, values=by_order[0])
        elif by_order is not None:
            values = column.values.copy()
            values[rows] = by_order[0]
            changed = replace(column, values=values)
        columns.append(changed)
    return Table(table.n_rows, columns, names_given=table.names_given)


def _told_alone(table: Table, told: Told, order: int, rows: AnyArray) -> Table:
    """Give these rows alone, as an order tells them; what it tells is not copied."""
    columns = [
        column.take(rows) if by_order is None else replace(column, values=by_order[order])
        for column, by_order in zip(table.columns, told, strict=True)
    ]
    return Table(len(rows), columns, names_given=table.names_given)


def tree_settings_for(
    settings: GradientTreeSettings, derivation: Derivation | None
) -> GradientTreeSettings:
    """Lay constraints out over the features that trees split on.

    Every fold derives features of its own, and not as many as others: constraints are laid out
    where trees are grown, never before.
    """
    if derivation is None:
        return settings
    _refuse_parted(derivation, settings.interactions)
    return replace(
        settings,
        monotone=derivation.signs(settings.monotone),
        interactions=derivation.groups(settings.interactions),
    )


def _refuse_parted(derivation: Derivation, groups: Sequence[Sequence[int]] | None) -> None:
    """Refuse pairs of features that no group allows to meet: their statistic is a meeting."""
    if groups is None:
        return
    for feature in derivation.features:
        if not any(set(feature.places) <= set(group) for group in groups):
            names = [derivation.inputs.names[place] for place in feature.places]
            raise InvalidInput(
                f"category_pairs asks for {names[0]!r} with {names[1]!r}, which no group of "
                "interaction_cst has together. Leave the pair out, or put both into a group."
            )


def training_rows(n_rows: int, held_out: AnyArray | HeldOut | None) -> AnyArray | None:
    """Give the numbers of the rows that train; None: all."""
    if held_out is None or isinstance(held_out, HeldOut):
        return None
    return np.setdiff1d(np.arange(n_rows), held_out)
