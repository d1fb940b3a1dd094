"""What the user asks for: features by name or position, bounds, groups, rows to speak about."""

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spinney.data.calendar import CalendarPart, calendar_part
from spinney.data.compatibility import conform_column
from spinney.data.derivation import Rule
from spinney.data.schema import FeatureSchema
from spinney.data.sources.objects import is_missing, read_objects
from spinney.data.table import Kind
from spinney.ensembles.constraints import interaction_groups
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, shorten
from spinney.explain.choosing import find_place
from spinney.explain.verification.cells import CategoryCells, CellSpace, FeatureCells, NumericCells

UNDERIVED = (
    "fit with category_encoding='sets', category_pairs=None, date_features=False and "
    "text_features=False"
)
"""How trees come to see the features of X alone."""
MAY_NOT_EXIST = f"no row found that has such derived features; {UNDERIVED}"
"""Why a claim stays open where a search is over derived features in any combination."""


def feature_positions(given: Any, schema: FeatureSchema, where: str) -> list[int]:
    """Find several features; a single name or position may stand alone."""
    alone = isinstance(given, str | numbers.Integral)
    if not alone and not isinstance(given, Iterable):
        raise InvalidInputType(
            f"{where}={given!r}: expected features, by name or position, for example "
            f"{where}=[{schema.names[0]!r}]."
        )
    items = [given] if alone else list(given)
    return list(dict.fromkeys(find_place(item, schema.names, where) for item in items))


def ordered_features(given: Any, schema: FeatureSchema, where: str) -> list[int]:
    """Find features whose values have an order."""
    found = feature_positions(given, schema, where)
    for feature in found:
        if schema.kinds[feature] is Kind.TEXT:
            raise InvalidInput(
                f"{where}: {schema.names[feature]!r} is text, and texts have no order. Ask about "
                "numeric features."
            )
        if schema.kinds[feature] is Kind.CATEGORICAL:
            raise InvalidInput(
                f"{where}: {schema.names[feature]!r} is categorical, and categories have no order. "
                "Ask about numeric features."
            )
    return found


def groups_of(given: Any, schema: FeatureSchema) -> tuple[tuple[int, ...], ...] | None:
    """Read groups of features as ``interaction_cst`` is read, or with names in place of numbers."""
    if given is None or isinstance(given, str):
        return interaction_groups(given, schema.n_features)
    if not isinstance(given, Iterable):
        raise InvalidInputType(
            f"interactions={given!r}: expected 'no_interactions', 'pairwise' or groups of features."
        )
    groups = [feature_positions(group, schema, "interactions") for group in given]
    return interaction_groups(groups, schema.n_features)


def read_bounds(given: Any) -> tuple[float | None, float | None]:
    """Read a pair of bounds, either of which may be None."""
    pair = _pair(given, "bounds", "bounds=(0, None) or bounds=(0, 1)")
    low, high = (_bound(value) for value in pair)
    if low is not None and high is not None and low > high:
        raise InvalidInput(
            f"bounds={given!r}: the lower bound is above the upper one. Give (lower, upper)."
        )
    return low, high


def _bound(value: Any) -> float | None:
    if value is None:
        return None
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise InvalidInputType(f"bounds: {value!r} is not a number. Give numbers, or None.")
    if math.isnan(value):
        raise InvalidInput("bounds: NaN is no bound. Give a number, or None for no bound.")
    return float(value)


def _pair(given: Any, where: str, example: str) -> tuple[Any, Any]:
    is_pair = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str)
    if not is_pair or len(given) != 2:
        raise InvalidInputType(f"{where}={given!r}: expected two ends, for example {example}.")
    return given[0], given[1]


def read_budget(given: Any) -> int:
    """Read the number of boxes to open."""
    if not isinstance(given, numbers.Integral) or isinstance(given, bool) or given < 1:
        raise InvalidParameter(f"budget={given!r}: expected a whole number of boxes, at least 1.")
    return int(given)


def restricted(space: CellSpace, within: Any) -> CellSpace:
    """Ask about rows alone whose features lie within the given ends or categories."""
    if within is None:
        return space
    if not isinstance(within, Mapping):
        raise InvalidInputType(
            f"within={within!r}: expected a dict from features to what they may be, for example "
            "within={'age': (18, 99)}."
        )
    schema, features = space.model.schema, list(space.features)
    for key, given in within.items():
        place = find_place(key, schema.names, "within")
        number = space.ordered_number(place)
        if number is None:
            raise InvalidInput(
                f"within[{schema.names[place]!r}]={given!r}: the trees know it by what was derived "
                f"from it, which cannot be narrowed down to that. Leave it out, or {UNDERIVED}."
            )
        cells = features[number]
        if isinstance(cells, CategoryCells):
            features[number] = _some_levels(cells, given, schema, place)
        else:
            features[number] = _some_numbers(cells, given, schema, place)
            if space.plain_number(place) is None:
                _narrow_years(space, place, features[number], features)
    return space.with_features(features)


def rows_within(space: CellSpace, within: Mapping[Any, Any] | None) -> str:
    """Say which rows a space is about that was restricted to these."""
    told, names = [], space.model.schema.names
    for key, given in (within or {}).items():
        place = find_place(key, names, "within")
        number = space.ordered_number(place)
        cells = None if number is None else space.features[number]
        if isinstance(cells, CategoryCells):
            kept = sorted(level for levels in cells.levels.values() for level in levels)
            told.append(f"{names[place]} in {shorten(kept)}")
        else:
            ends = zip(("from", "to"), given, strict=True)
            words = " ".join(f"{word} {end}" for word, end in ends if end is not None)
            told.append(f"{names[place]} {words or 'not missing'}")
    return f"rows with {', '.join(told)}" if told else "all rows"


def _narrow_years(
    space: CellSpace, place: int, dates: FeatureCells, features: list[FeatureCells]
) -> None:
    """Keep to the years of the dates that are asked about; other parts come again in any year."""
    year = Rule.CALENDAR + CalendarPart.YEAR
    for number, derived in enumerate(space.derivation.features):
        cells = features[number]
        if derived.rule != year or derived.places != (place,):
            continue
        if isinstance(cells, NumericCells) and isinstance(dates, NumericCells):
            ends = calendar_part(np.array([dates.low, dates.high]), CalendarPart.YEAR)
            low, high = np.where(np.isnan(ends), [-np.inf, np.inf], ends).tolist()
            # Of moments that no calendar has, the year is missing.
            features[number] = NumericCells(
                cells.cuts, low, high, missing=bool(np.isnan(ends).any())
            )


def _some_numbers(
    cells: NumericCells, given: Any, schema: FeatureSchema, place: int
) -> FeatureCells:
    where = f"within[{schema.names[place]!r}]"
    ends = _pair(given, where, "(0, 10), or (None, 10)")
    low, high = (_number(end, schema, place) for end in ends)
    low, high = (-math.inf if low is None else low), (math.inf if high is None else high)
    if low > high:
        raise InvalidInput(f"{where}={given!r}: no number is that. Give (lower, upper).")
    return NumericCells(cells.cuts, low, high, missing=False)


def _number(end: Any, schema: FeatureSchema, place: int) -> float | None:
    """Read an end as a value of the feature is read: a number, a date, a duration."""
    if end is None:
        return None
    if is_missing(end):
        raise InvalidInput(
            f"within[{schema.names[place]!r}]: {end!r} is no end. Give None instead."
        )
    column = read_objects(schema.names[place], np.array([end, None], object)[:1])
    return float(conform_column(column, schema.feature(place), 1, unseen="error").values[0])


def _some_levels(
    cells: CategoryCells, given: Any, schema: FeatureSchema, place: int
) -> FeatureCells:
    name = schema.names[place]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputType(f"within[{name!r}]={given!r}: expected a list of categories.")
    wanted = list(given)
    known = [level for levels in cells.levels.values() for level in levels]
    strangers = [level for level in wanted if level not in known]
    if strangers or not wanted:
        raise InvalidInput(
            f"within[{name!r}]: {shorten(strangers) or 'nothing'} is not among the categories of "
            f"the model: {shorten(known)}."
        )
    kept = {
        number: [level for level in levels if level in wanted]
        for number, levels in cells.levels.items()
    }
    return CategoryCells({number: some for number, some in kept.items() if some}, missing=False)
