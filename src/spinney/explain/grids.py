"""The values of a feature that a model is asked about.

A forest is constant between its thresholds, so one value from each interval says everything there
is to know about a numeric feature, unless there are more intervals than values are wanted; of
categories every level is asked, and missing values.
"""

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from spinney.data.compatibility import conform_column
from spinney.data.sources.numpy import read_array
from spinney.data.table import Column, Kind, Table
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain.bins import ForestBins
from spinney.explain.reading import Askable
from spinney.typing import AnyArray, FloatArray

_EXPECTED = "a number of points of at least 2, or the values to ask about"
MOST_LEVELS = 255
"""Levels of a feature that is told as statistics which are asked about without being named."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Points of one feature."""

    feature: int
    column: Column
    """The points as the model reads them, one row each."""
    bins: AnyArray
    """The bin of each."""

    @property
    def labels(self) -> AnyArray:
        """The points in the user's terms."""
        return labels_of(self.column)


def grid_of_rows(
    forest: Askable, place: int, wanted: Any, table: Table, *, has_missing: bool
) -> Grid:
    """Choose points of a feature of a model that is asked: values of rows, or those given.

    Every point has a bin of its own: no splits on the feature itself say what is told apart.
    """
    described = forest.schema.feature(place)
    if not isinstance(wanted, numbers.Integral) or isinstance(wanted, bool):
        column = _given_points(described, wanted)
        return Grid(place, column, np.arange(len(column.values)))
    if wanted < 2:
        raise InvalidParameter(f"grid={wanted!r}: expected {_EXPECTED}.")
    if described.kind is Kind.TEXT:
        raise InvalidParameter(
            f"{described.name!r} is text, and there is no end of texts to ask about. Give grid=, a "
            "list of those that matter."
        )
    values = table.columns[place].dense(table.n_rows)
    known = np.unique(values[values >= 0] if described.levels is not None else values)
    known = known[~np.isnan(known)]
    if described.levels is not None and len(known) > MOST_LEVELS:
        raise InvalidParameter(
            f"X has {len(known)} levels of {described.name!r}, and the model would be asked about "
            "all rows once for each. Give grid=, a list of the levels that matter, or fewer rows."
        )
    if described.levels is None and len(known) > wanted:
        known = known[np.rint(np.linspace(0, len(known) - 1, int(wanted))).astype(np.intp)]
    missing = [-1 if described.levels is not None else np.nan]
    points = np.append(known, np.array(missing, known.dtype)) if has_missing else known
    return Grid(place, replace(described, values=points), np.arange(len(points)))


def make_grid(
    forest: Askable,
    bins: ForestBins,
    feature: int,
    wanted: Any,
    *,
    has_missing: bool,
) -> Grid:
    """Choose the points of a feature, or read those that are given.

    Parameters
    ----------
    forest, bins : the model
    feature : position
    wanted : how many numbers at most, or the values themselves
    has_missing : whether missing values are asked about, unless values are given
    """
    described = forest.schema.feature(feature)
    if isinstance(wanted, numbers.Integral) and not isinstance(wanted, bool):
        if wanted < 2:
            raise InvalidParameter(f"grid={wanted!r}: expected {_EXPECTED}.")
        column = _default_points(described, bins[feature].cuts, int(wanted), has_missing)
    else:
        column = _given_points(described, wanted)
    return Grid(feature, column, bins[feature].of(column.values))


def labels_of(column: Column) -> AnyArray:
    """Give the values of a dense column in the user's terms; missing is NaN, NaT or None.

    Times are UTC.

    Examples
    --------
    >>> labels_of(Column("seen", Kind.DATE, np.array([86400.0, np.nan])))
    array(['1970-01-02T00:00:00.000000', 'NaT'], dtype='datetime64[us]')
    """
    values = column.values
    if column.levels is not None:
        levels: Sequence[Any] = column.levels.values
        return _objects([levels[code] if code >= 0 else None for code in values.tolist()])
    if column.kind is Kind.BOOLEAN and np.isin(values[~np.isnan(values)], (0, 1)).all():
        return _objects([None if np.isnan(value) else bool(value) for value in values])
    if column.kind in {Kind.NUMERIC, Kind.BOOLEAN}:
        return np.asarray(values, np.float64)
    unit = "timedelta64[us]" if column.kind is Kind.DURATION else "datetime64[us]"
    missing = np.isnan(values)
    ticks = np.where(missing, 0, np.rint(np.where(missing, 0, values) * 1e6)).astype(np.int64)
    return np.where(missing, np.array("NaT", unit), ticks.astype(unit))


def between(cuts: FloatArray, most: int) -> FloatArray:
    """Give one number from each interval that cuts make, thinned evenly to at most ``most``.

    Examples
    --------
    >>> between(np.array([1.0, 2.0, 4.0]), 10)
    array([0.5, 1.5, 3. , 5. ])
    """
    if len(cuts) == 0:
        return np.zeros(1)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = cuts[:-1] / 2 + cuts[1:] / 2
        inside = np.where(cuts[:-1] < middle, middle, cuts[1:])
        steps = np.diff(cuts) / 2
        step = (steps[0], steps[-1]) if len(steps) else (1.0, 1.0)
        first = np.fmin(cuts[0] - step[0], cuts[0])  # NaN where a cut is infinite
        last = cuts[-1] + step[1]
        if not cuts[-1] < last < np.inf:
            last = np.nextafter(cuts[-1], np.inf)
    points = np.array([first, *inside, last])
    if len(points) <= most:
        return points
    return points[np.rint(np.linspace(0, len(points) - 1, most)).astype(np.intp)]


def _default_points(feature: Column, cuts: FloatArray, most: int, has_missing: bool) -> Column:
    if feature.levels is not None:
        codes = np.arange(len(feature.levels), dtype=np.int32)
        return replace(feature, values=np.append(codes, np.int32(-1)) if has_missing else codes)
    points = np.array([0.0, 1.0]) if feature.kind is Kind.BOOLEAN else between(cuts, most)
    return replace(feature, values=np.append(points, np.nan) if has_missing else points)


def _given_points(feature: Column, wanted: Any) -> Column:
    """Read values that the user asks about as the model would read a column of them."""
    known = nw.from_native(wanted, series_only=True, pass_through=True)
    values = known.to_list() if isinstance(known, nw.Series) else wanted
    if isinstance(values, list | tuple | range):
        values = _objects(list(values))
    if not isinstance(values, np.ndarray) or values.ndim != 1 or not len(values):
        raise InvalidParameter(f"grid={wanted!r} of {feature.name!r}: expected {_EXPECTED}.")
    return _in_words_of_grid(feature, lambda: _conformed(feature, values))


def _conformed(feature: Column, values: AnyArray) -> Column:
    aware = bool(feature.timezone_aware)
    column = read_array(feature.name, values, timezone_aware=aware)
    return conform_column(column, feature, len(values), unseen="error")


def _in_words_of_grid(feature: Column, read: Callable[[], Column]) -> Column:
    try:
        return read()
    except (InvalidInput, InvalidInputType) as error:
        raise type(error)(f"In the grid of {feature.name!r}: {error}") from error


def _objects(values: Sequence[Any]) -> AnyArray:
    array = np.empty(len(values), object)
    array[:] = values
    return array
