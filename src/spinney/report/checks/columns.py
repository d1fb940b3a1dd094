"""What each column holds: how much is missing, how many values, which."""

from dataclasses import dataclass

import numpy as np

from spinney.data.intake import read_table
from spinney.data.levels import Level
from spinney.data.matching import match_by_name
from spinney.data.schema import FeatureSchema
from spinney.data.table import Column, Kind, Table
from spinney.typing import AnyArray, FloatArray, TableLike

N_BINS = 16
"""Bars of the small histogram of a column."""


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """The facts of one column."""

    name: str
    kind: Kind
    missing_share: float
    n_distinct: int
    """Different values that are not missing."""
    quartiles: tuple[float, ...]
    """Least, quartiles and largest number; none for categories."""
    top: tuple[tuple[str, float], ...]
    """The most frequent categories and their shares; none for numbers."""
    histogram: tuple[float, ...]
    """Shares of rows in bins, or of the most frequent categories."""
    train_histogram: tuple[float, ...] | None
    is_id: bool
    """Whether it numbers or names the rows and nothing else."""

    @property
    def is_constant(self) -> bool:
        """Whether it has one value at most, counting missing as one."""
        return self.n_distinct + (self.missing_share > 0) <= 1


def summarise(table: Table, train: Table | None) -> tuple[ColumnSummary, ...]:
    """Look at every column, and at the same one of the training table."""
    known = None if train is None else [other.dense(train.n_rows) for other in train.columns]
    return tuple(
        _summary(column, None if known is None else known[place], table.n_rows)
        for place, column in enumerate(table.columns)
    )


def unseen_levels(schema: FeatureSchema, X: TableLike) -> dict[str, tuple[int, list[Level]]]:
    """Find categories the model has never seen: how many rows have some, and which."""
    table = read_table(X)
    given = schema.names_given and table.names_given
    columns = match_by_name(table, schema.names, ignore_extra=True) if given else table.columns
    found: dict[str, tuple[int, list[Level]]] = {}
    for name, levels, column in zip(schema.names, schema.levels, columns, strict=False):
        if levels is None or column.levels is None or len(levels) == 0:
            continue
        is_known = levels.codes_of(column.levels.values) >= 0
        unknown = np.flatnonzero(~is_known)
        counts = np.bincount(column.values[column.values >= 0], minlength=len(is_known))
        n_rows = int(counts[unknown].sum())
        if n_rows:
            found[name] = (n_rows, [column.levels.values[code] for code in unknown])
    return found


def same_columns(table: Table) -> list[tuple[str, str]]:
    """Find pairs of columns that hold the same in every row."""
    seen: dict[bytes, str] = {}
    pairs = []
    for column in table.columns:
        values = column.dense(table.n_rows)
        exact = values if column.levels is not None else values.astype(np.float64) + 0.0
        if column.levels is not None:
            exact = np.append(exact, len(column.levels))
        if len(np.unique(exact[~np.isnan(exact)] if exact.dtype.kind == "f" else exact)) <= 1:
            continue  # constants are told of by themselves
        key = exact.tobytes()
        if key in seen:
            pairs.append((seen[key], column.name))
        else:
            seen[key] = column.name
    return pairs


def _summary(column: Column, train: AnyArray | None, n_rows: int) -> ColumnSummary:
    values = column.dense(n_rows)
    if column.levels is not None:
        return _of_categories(column, values, train)
    numbers = values[~np.isnan(values)].astype(np.float64)
    n_distinct = len(np.unique(numbers))
    finite = numbers[np.isfinite(numbers)]
    quartiles = np.quantile(finite, [0, 0.25, 0.5, 0.75, 1]) if len(finite) else np.empty(0)
    bins = _edges(finite, train)
    return ColumnSummary(
        column.name,
        column.kind,
        1.0 - len(numbers) / n_rows,
        n_distinct,
        tuple(quartiles.tolist()),
        (),
        _shares(finite, bins),
        None if train is None else _shares(train, bins),
        _numbers_rows(numbers, n_distinct, n_rows),
    )


def _numbers_rows(numbers: FloatArray, n_distinct: int, n_rows: int) -> bool:
    """Tell whether whole numbers, each there once, count on from row to row or nearly fill up."""
    if n_rows < 50 or n_distinct < 0.99 * n_rows or not np.all(numbers == np.rint(numbers)):
        return False
    steps = np.diff(numbers)
    in_order = max(np.mean(steps > 0), np.mean(steps < 0)) > 0.99
    spread = float(numbers.max() - numbers.min()) + 1.0
    return bool(in_order or n_distinct > 0.5 * spread)


def _of_categories(column: Column, codes: AnyArray, train: AnyArray | None) -> ColumnSummary:
    levels = () if column.levels is None else column.levels.values
    counts = np.bincount(codes[codes >= 0], minlength=max(1, len(levels)))
    order = np.argsort(-counts, kind="stable")
    n_distinct = int((counts > 0).sum())
    top = [(str(levels[k]), counts[k] / len(codes)) for k in order[:3] if counts[k]]
    shown = order[:N_BINS]
    others = None
    if train is not None and len(train) and column.kind is not Kind.TEXT:  # whose codes differ
        known = np.bincount(train[train >= 0], minlength=max(1, len(levels)))
        others = tuple((known[shown] / len(train)).tolist())
    n_present = int((codes >= 0).sum())
    names_rows = n_present >= 50 and n_distinct >= 0.95 * n_present
    return ColumnSummary(
        column.name,
        column.kind,
        1.0 - n_present / len(codes),
        n_distinct,
        (),
        tuple((name, float(share)) for name, share in top),
        tuple((counts[shown] / len(codes)).tolist()),
        others,
        names_rows and column.kind is not Kind.TEXT,  # of which a model reads the words
    )


def _edges(finite: FloatArray, train: AnyArray | None) -> FloatArray:
    """Divide the middle of the numbers evenly: outliers would leave one bar."""
    known = finite if train is None else np.concatenate([finite, train[np.isfinite(train)]])
    if not len(known):
        return np.array([0.0, 1.0])
    low, high = np.quantile(known, [0.01, 0.99])
    if not low < high:
        low, high = float(known.min()), float(known.max())
    if not low < high:
        return np.array([low - 0.5, low + 0.5])
    return np.linspace(low, high, N_BINS + 1)


def _shares(values: AnyArray, edges: FloatArray) -> tuple[float, ...]:
    there = values[~np.isnan(values)].astype(np.float64)
    counts = np.histogram(np.clip(there, edges[0], edges[-1]), edges)[0]
    return tuple((counts / max(1, len(values))).tolist())
