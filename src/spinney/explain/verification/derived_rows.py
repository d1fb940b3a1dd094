"""Values of a feature that trees know by what was derived from it: levels, moments, texts."""

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from spinney.data.calendar import CalendarPart, calendar_part
from spinney.data.derivation import Derivation, Derived, Rule
from spinney.data.table import Kind
from spinney.explain.verification.cells import CategoryCells, CellSpace, NumericCells
from spinney.typing import AnyArray, FloatArray, IntArray

_DAYS = 1500
"""Days that stand for all moments: some years, with all months and days of the week."""
_HOURS = (0.5, 7.0, 13.0, 20.0)
_DAY = 86_400.0
_BEFORE = 100 * _DAY
"""How long before the first cut of a date the days begin."""
_BETWEEN = 400
"""Moments between the ends that a date is asked about."""
_FIRST_DAY = 10_957 * _DAY
"""2000-01-01, where there is no cut."""
_FARTHEST = 6e10
"""Seconds from 1970 that are written as dates, to the year 70 and 3871."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def nearest_values(
    space: CellSpace,
    place: int,
    chosen: Sequence[list[int]],
    *,
    first_of_all: Collection[int] = (),
    most: int = 1,
) -> list[Any]:
    """Give the values whose derived numbers lie in most of the chosen cells, the nearest first.

    None stands for a missing one. Cells of the derived features in ``first_of_all`` count most.
    """
    derivation = space.derivation
    if not any(place in derived.places for derived in derivation.features):
        return [None]
    if derivation.inputs.kinds[place] is Kind.TEXT:
        return _nearest_texts(space, place, chosen)[:most]
    codes = _candidates(space, derivation, place)
    n_inside = np.zeros(len(codes), np.int64)
    for number, derived in enumerate(derivation.features):
        if derived.places == (place,):
            worth = len(derivation.features) if number in first_of_all else 1
            n_inside += worth * _is_inside(space, number, derived, codes, chosen[number])
    order = np.argsort(-n_inside, kind="stable")[:most]
    return [_shown(derivation, place, codes[one]) for one in order.tolist()]


def _nearest_texts(space: CellSpace, place: int, chosen: Sequence[list[int]]) -> list[Any]:
    """Write texts of the words that the cells demand, also in capitals; then some short ones."""
    demanded = []
    for number, derived in enumerate(space.derivation.features):
        cells, wanted = space.features[number], chosen[number]
        is_counted = derived.places == (place,) and derived.rule == Rule.WORD and wanted
        if is_counted and isinstance(cells, NumericCells) and wanted[0] > cells.cell_of(0.0):
            demanded.append(derived.word)
    joined = " ".join(demanded)
    return [*dict.fromkeys([joined, joined.upper(), *demanded, "", "A", "0"]), None]


def _candidates(space: CellSpace, derivation: Derivation, place: int) -> FloatArray:
    """List codes of levels, with that of missing ones, or seconds since 1970."""
    if derivation.inputs.kinds[place] is Kind.CATEGORICAL:
        return np.append(np.arange(derivation.n_levels(place)), -1).astype(np.float64)
    start, cuts, asked = _FIRST_DAY, np.empty(0), None
    for cells, derived in zip(space.features, derivation.features, strict=True):
        is_copy = derived.places == (place,) and derived.rule == Rule.COPY
        if is_copy and isinstance(cells, NumericCells):
            asked = cells
        if is_copy and isinstance(cells, NumericCells) and len(cells.cuts):
            cuts = cells.cuts[np.abs(cells.cuts) < _FARTHEST]
            start = float(np.floor(cells.cuts[0])) - _BEFORE
    days = min(max(start, -_FARTHEST), _FARTHEST) + _DAY * np.arange(_DAYS)
    moments = (days[:, np.newaxis] + 3600.0 * np.array(_HOURS)).ravel()
    every = np.concatenate([moments, np.floor(cuts), np.ceil(cuts), [np.nan]])
    return every if asked is None else _among(asked, every)


def _among(asked: NumericCells, every: FloatArray) -> FloatArray:
    """Keep the moments that are asked about; between close ends, some of those there are."""
    low, high = max(asked.low, -_FARTHEST), min(asked.high, _FARTHEST)
    every = np.concatenate([every, np.ceil(np.linspace(low, high, _BETWEEN)), [low, high]])
    found: FloatArray = every[
        (np.isnan(every) & asked.missing) | ((low <= every) & (every <= high))
    ]
    return found if len(found) else np.array([asked.low if asked.low > -np.inf else asked.high])


def _is_inside(
    space: CellSpace, number: int, derived: Derived, codes: FloatArray, chosen: list[int]
) -> AnyArray:
    """Tell which candidates have a derived number in one of the cells."""
    cells = space.features[number]
    if isinstance(cells, CategoryCells):
        bin_of = _bins(space, number)
        bins = np.append(bin_of, -1)[codes.astype(np.int64)]
        return np.isin(bins, chosen or [-1])
    values = _numbers(derived, codes)
    places = np.where(np.isnan(values), -1, np.searchsorted(cells.cuts, values, side="left"))
    return np.isin(places, chosen or [-1])


def _bins(space: CellSpace, number: int) -> IntArray:
    start, end = space.forest.arrays["category_start"][number : number + 2]
    return space.forest.arrays["category_bins"][start:end].astype(np.int64)


def _numbers(derived: Derived, codes: FloatArray) -> FloatArray:
    if derived.table is not None:
        numbers: FloatArray = derived.table[codes.astype(np.int64)]
        return numbers
    if derived.rule == Rule.COPY:
        return codes
    return calendar_part(codes, CalendarPart(derived.rule - Rule.CALENDAR))


def _shown(derivation: Derivation, place: int, code: float) -> Any:
    schema = derivation.inputs
    levels = schema.levels[place]
    if levels is not None:
        return None if code < 0 else levels.values[int(code)]
    if np.isnan(code):
        return None
    moment = _EPOCH + dt.timedelta(seconds=float(code))
    if schema.kinds[place] is Kind.DATE:
        return moment.date()
    return moment if schema.timezone_aware[place] else moment.replace(tzinfo=None)
