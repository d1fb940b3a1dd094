"""How far two tables differ, column by column and all columns together."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2_contingency, kstwo

from spinney.data.table import Column, Kind, Table
from spinney.ensembles.gradient.classifier import GradientBoostingClassifier
from spinney.report.scores.metrics import area_under_roc
from spinney.report.subject import draw_rows
from spinney.typing import AnyArray, FloatArray

_MOST_ROWS = 5_000
"""Rows of each table that a booster tells apart."""


@dataclass(frozen=True, slots=True)
class ColumnDrift:
    """How far a column differs between two tables."""

    name: str
    distance: float
    """From 0 (alike) to 1: the largest difference of the shares of rows up to some value; of
    categories, half the sum of the differences of their shares; of texts, by their lengths.
    Missing is a value of its own."""
    p_value: float
    """Chance of such a distance if rows of both tables are draws from the same."""


def column_drifts(table: Table, train: Table) -> tuple[ColumnDrift, ...]:
    """Compare the columns of two tables of the same schema."""
    pairs = zip(map(_comparable, table.columns), map(_comparable, train.columns), strict=True)
    n_rows = table.n_rows, train.n_rows
    return tuple(_of_column(new, old, n_rows) for new, old in pairs)


def tell_apart(table: Table, train: Table, seed: int) -> float:
    """Give the area under the ROC curve of a booster that tells rows of two tables apart.

    Half of the drawn rows teach it, the other half measure it: 0.5 is a guess.
    """
    chosen = [draw_rows(part.n_rows, _MOST_ROWS, seed + k) for k, part in enumerate((train, table))]
    columns = [
        _numbers(_comparable(old), _comparable(new), chosen)
        for old, new in zip(train.columns, table.columns, strict=True)
    ]
    X = np.column_stack(columns)
    y = np.repeat([0, 1], [len(rows) for rows in chosen])
    learns = np.random.default_rng(seed).random(len(y)) < 0.5
    if min(len(np.unique(y[learns])), len(np.unique(y[~learns]))) < 2:
        return 0.5
    booster = GradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, random_state=0)
    booster.fit(X[learns], y[learns])
    scores = booster.predict_proba(X[~learns])[:, 1]
    return area_under_roc(y[~learns].astype(float), scores)


def _comparable(column: Column) -> Column:
    """Give the lengths of texts, as each table has texts of its own; all else as it is."""
    if column.kind is not Kind.TEXT or column.levels is None:
        return column
    lengths = np.array([*(len(str(text)) for text in column.levels.values), np.nan])
    return Column(column.name, Kind.NUMERIC, lengths[column.values])


def _numbers(old: Column, new: Column, chosen: list[AnyArray]) -> FloatArray:
    """Put the chosen values of two columns behind each other; codes of categories as numbers."""
    parts = [
        part.take(rows).dense(len(rows)) for part, rows in zip((old, new), chosen, strict=True)
    ]
    joined = np.concatenate(parts).astype(np.float64)
    return np.where(joined < 0, np.nan, joined) if old.levels is not None else joined


def _of_column(new: Column, old: Column, n_rows: tuple[int, int]) -> ColumnDrift:
    a, b = new.dense(n_rows[0]), old.dense(n_rows[1])
    if new.levels is not None:
        distance, p_value = _of_categories(a, b, len(new.levels))
    else:
        distance, p_value = _of_numbers(a.astype(np.float64), b.astype(np.float64))
    return ColumnDrift(new.name, distance, p_value)


def _of_categories(a: AnyArray, b: AnyArray, n_levels: int) -> tuple[float, float]:
    counts = np.array([np.bincount(codes + 1, minlength=n_levels + 1) for codes in (a, b)])
    counts = counts[:, counts.sum(axis=0) > 0]
    shares = counts / counts.sum(axis=1, keepdims=True)
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    if counts.shape[1] < 2:
        return distance, 1.0
    return distance, float(chi2_contingency(counts, correction=False).pvalue)


def _of_numbers(a: FloatArray, b: FloatArray) -> tuple[float, float]:
    lost = -np.inf  # before every number; infinities of the user's own are rare enough
    a, b = (np.sort(np.where(np.isnan(x), lost, x)) for x in (a, b))
    values = np.union1d(a, b)
    shares = [np.searchsorted(x, values, side="right") / len(x) for x in (a, b)]
    distance = float(np.abs(shares[0] - shares[1]).max())
    n_together = len(a) * len(b) / (len(a) + len(b))
    return distance, float(kstwo.sf(distance, max(1, round(n_together))))
