"""Rows that stand for cells: in the user's own terms, and through the road of predictions."""

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from spinney.data.sources.objects import read_objects
from spinney.data.table import Column, Kind, Table
from spinney.explain.verification.cells import (
    MISSING,
    CategoryCells,
    CellSpace,
    NumericCells,
    Verified,
    bins_of_words,
    trees_behind,
)
from spinney.explain.verification.derived_rows import nearest_values
from spinney.model.derived import DerivedForest
from spinney.model.leaf_rows import LeafRowForest
from spinney.model.links import apply_link, prediction_of_score
from spinney.typing import AnyArray, FloatArray

Row: TypeAlias = Mapping[str, Any]
"""A value per feature: a number, a category, an instant, or None where it is missing."""
_DAY = 86400.0
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_INSTANTS = (-6.2e10, 2.5e11)
"""Seconds since 1970 that ``datetime`` has room for, from the year 6 to 9892."""
_DURATIONS = (-8e13, 8e13)
_MOST_VALUES = 64
"""Values of a feature that are tried where a box has no row of its own."""


def row_of(space: CellSpace, witness: Mapping[str, AnyArray], fixed: Mapping[int, int]) -> Row:
    """Choose a row of a box; features of the trees in ``fixed`` take the cell that it names.

    A box over derived features may be without rows: then the row is one that is near.
    """
    chosen = [_chosen_cells(space, witness, fixed, n) for n in range(len(space.features))]
    schema, row = space.model.schema, {}
    for place, name in enumerate(schema.names):
        number = space.plain_number(place)
        if number is None:
            (row[name],) = nearest_values(space, place, chosen, first_of_all=fixed)
        else:
            kind, aware = schema.kinds[place], schema.timezone_aware[place]
            row[name] = _value(space.features[number], chosen[number], kind, aware)
    return row


def better_rows(
    space: CellSpace,
    witness: Mapping[str, AnyArray],
    rows: tuple[Row, ...],
    gain: Callable[[tuple[Row, ...]], float],
    *,
    kept: Collection[int] = (),
) -> tuple[Row, ...]:
    """Try other values of features that trees know by what was derived from them.

    One after the other, the same in all rows; ``kept`` are features of the user that stay.
    """
    if not isinstance(space.model, DerivedForest):
        return rows
    best = gain(rows)
    chosen = [_chosen_cells(space, witness, {}, n) for n in range(len(space.features))]
    for place, name in enumerate(space.model.schema.names):
        if place in kept or space.plain_number(place) is not None:
            continue
        for value in nearest_values(space, place, chosen, most=_MOST_VALUES):
            others = tuple({**row, name: value} for row in rows)
            found = gain(others)
            if found > best:
                best, rows = found, others
    return rows


def _chosen_cells(
    space: CellSpace, witness: Mapping[str, AnyArray], fixed: Mapping[int, int], number: int
) -> list[int]:
    """List the cells of a box; none: the value is missing."""
    if number in fixed:
        return [] if fixed[number] == MISSING else [fixed[number]]
    if isinstance(space.features[number], NumericCells):
        return list(range(int(witness["low"][number]), int(witness["high"][number])))
    return bins_of_words(witness["bins"][4 * number : 4 * number + 4])


def _value(
    cells: NumericCells | CategoryCells, chosen: Sequence[int], kind: Kind, aware: bool | None
) -> Any:
    if not chosen:
        return None
    if isinstance(cells, CategoryCells):
        return cells.levels[chosen[0]][0]
    above, up_to = cells.interval(chosen[0], chosen[-1])
    if kind is Kind.BOOLEAN:
        inside = [truth for truth in (False, True) if above < truth <= up_to]
        return inside[0] if inside else plain_number(above, up_to)
    if kind is Kind.NUMERIC:
        return plain_number(above, up_to)
    return _time(kind, above, up_to, aware=bool(aware))


def plain_number(above: float, up_to: float) -> float:
    """Find a number with few digits in (above, up_to].

    Examples
    --------
    >>> plain_number(0.12345, 0.12999), plain_number(-float("inf"), 3.7), plain_number(5, 5.5)
    (0.127, 3.0, 5.2)
    """
    if above == -np.inf and up_to == np.inf:
        return 0.0
    if above == -np.inf:
        middle = float(np.floor(up_to))
    elif up_to == np.inf:
        middle = float(np.floor(above)) + 1.0
    else:
        middle = above / 2 + up_to / 2
    for digits in range(1, 18):
        candidate = float(f"{middle:.{digits}g}")
        if above < candidate <= up_to:
            return candidate
    return up_to


def _time(kind: Kind, above: float, up_to: float, *, aware: bool) -> Any:
    """Give a date, a datetime or a duration; to the microsecond, if the cell has one."""
    first, last = _DURATIONS if kind is Kind.DURATION else _INSTANTS
    above, up_to = max(above, first), min(up_to, last)
    seconds = above / 2 + up_to / 2
    for unit in (_DAY, 1.0):
        whole = np.floor(seconds / unit) * unit
        if above < whole <= up_to:
            seconds = float(whole)
            break
    span = dt.timedelta(seconds=seconds)
    if kind is Kind.DURATION:
        return span
    instant = _EPOCH + span
    if kind is Kind.DATE and seconds % _DAY == 0:
        return instant.date()
    return instant if aware else instant.replace(tzinfo=None)


def table_of(model: Verified, rows: Sequence[Row]) -> Table:
    """Read rows as a table of any library is read."""
    schema = model.schema
    columns = []
    for name, kind in zip(schema.names, schema.kinds, strict=True):
        values = [row[name] for row in rows]
        if kind in (Kind.CATEGORICAL, Kind.TEXT):
            levels = list(dict.fromkeys(value for value in values if value is not None))
            codes = [MISSING if value is None else levels.index(value) for value in values]
            columns.append(Column.from_dictionary(name, np.array(codes, np.int32), levels))
        else:
            columns.append(read_objects(name, np.array([*values, None], object)[:-1]))
    return Table(len(rows), columns, names_given=schema.names_given)


def scores_at(model: Verified, rows: Sequence[Row], output: int) -> FloatArray:
    """Predict the raw scores of rows, for one output."""
    return trees_behind(model).raw_scores(_conforming(model, rows))[:, output]


def predictions_at(model: Verified, rows: Sequence[Row], output: int) -> tuple[float, ...]:
    """Predict rows: the number, or the probability, that the user sees."""
    table = _conforming(model, rows)
    if isinstance(model, LeafRowForest):
        medians = model.quantiles(table, np.array([0.5]))
        return tuple(float(value) for value in medians[:, 0])
    raw = model.raw_scores(table)
    seen = apply_link(model.output.link, raw)
    column = prediction_of_score(model.output.link, output)
    return tuple(float(value) for value in seen[:, column])


def _conforming(model: Verified, rows: Sequence[Row]) -> Table:
    reader = model.trees if isinstance(model, LeafRowForest) else model
    return reader.conform(table_of(model, rows), "the model")
