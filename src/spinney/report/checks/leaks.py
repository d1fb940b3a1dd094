"""Features that know the answer: each alone, on rows it did not learn from."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from spinney.data.table import Column, Table
from spinney.report.scores.metrics import area_under_roc
from spinney.report.subject import draw_rows
from spinney.typing import AnyArray, FloatArray

_MOST_ROWS = 20_000
_BINS = 64
NEARLY_PERFECT = 0.98
"""From here on a feature alone is told of: share of what there is to know."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A feature that alone says nearly everything about the target."""

    name: str
    power: float
    """R²; for classes how much of the way from guessing to certainty, by ROC or by accuracy."""
    is_copy: bool
    """Whether it is the target itself, or goes up and down with it on a line."""


def single_powers(table: Table, target: AnyArray, n_classes: int, seed: int) -> FloatArray:
    """Say for each feature how well it alone predicts the target, from 0 to 1.

    Half of the rows teach the mean of each bin of the feature, the other half measure it.
    """
    rows = draw_rows(table.n_rows, _MOST_ROWS, seed)
    some, y = table.take(rows), target[rows]
    learns = np.random.default_rng(seed).random(len(rows)) < 0.5
    if n_classes != 2 or y.ndim > 1:
        y = y.reshape(len(y), -1)
        if n_classes:
            y = np.eye(n_classes)[y[:, 0]]
    powers = [_power(_bins(column, len(rows)), y, learns, n_classes) for column in some.columns]
    if n_classes == 0:
        ranked = [_rank_power(column, y[:, 0]) for column in some.columns]
        powers = np.maximum(powers, ranked).tolist()
    return np.array(powers)


def find_leaks(table: Table, target: AnyArray, n_classes: int, seed: int) -> tuple[Leak, ...]:
    """Name the features that alone know nearly everything, the worst first."""
    if table.n_rows < 40:
        return ()
    powers = single_powers(table, target, n_classes, seed)
    leaks = []
    for place in np.argsort(-powers, kind="stable"):
        if powers[place] < NEARLY_PERFECT:
            break
        column = table.columns[place]
        is_copy = _is_copy(column, target, table.n_rows)
        leaks.append(Leak(column.name, float(powers[place]), is_copy))
    return tuple(leaks)


def _rank_power(column: Column, y: FloatArray) -> float:
    """Give the square of Spearman's correlation: few bins hide a copy with a long tail."""
    values = column.dense(len(y))
    if column.levels is not None or np.isnan(values).any():
        return 0.0
    ranks = [rankdata(part) - (len(y) + 1) / 2 for part in (values, y)]
    spread = float((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum())
    return float((ranks[0] * ranks[1]).sum()) ** 2 / spread if spread > 0 else 0.0


def _is_copy(column: Column, target: AnyArray, n_rows: int) -> bool:
    """Tell whether values and targets stand for each other, one by one or on a line."""
    values = column.dense(n_rows)
    y = target if target.ndim == 1 else target[:, 0]
    if column.levels is None and np.isnan(values).any():
        return False
    if column.levels is None and target.ndim > 1:
        x = values.astype(np.float64)
        spread = x.std() * y.std()
        if not np.isfinite(spread) or spread == 0:
            return False
        return bool(abs(np.mean((x - x.mean()) * (y - y.mean())) / spread) > 1 - 1e-9)
    n_pairs = len(np.unique(np.stack([values.astype(np.float64), y.astype(np.float64)]), axis=1).T)
    return n_pairs == len(np.unique(values)) == len(np.unique(y))


def _bins(column: Column, n_rows: int) -> AnyArray:
    values = column.dense(n_rows)
    if column.levels is not None:
        return values.astype(np.int64) + 1
    there = values[~np.isnan(values)]
    if not len(there):
        return np.zeros(n_rows, np.int64)
    cuts = np.unique(np.quantile(there, np.linspace(0, 1, _BINS + 1), method="lower"))
    bins = np.searchsorted(cuts, values, side="right")
    return np.where(np.isnan(values), 0, bins + 1)


def _power(bins: AnyArray, y: AnyArray, learns: AnyArray, n_classes: int) -> float:
    n_bins = int(bins.max()) + 1
    known = np.bincount(bins[learns], minlength=n_bins)
    parts = y.reshape(len(y), -1).astype(np.float64)
    overall = parts[learns].mean(axis=0)
    said = np.empty((int((~learns).sum()), parts.shape[1]))
    for k in range(parts.shape[1]):
        sums = np.bincount(bins[learns], parts[learns, k], minlength=n_bins)
        means = np.where(known > 0, sums / np.maximum(known, 1), overall[k])
        said[:, k] = means[bins[~learns]]
    truth = parts[~learns]
    if n_classes == 2 and y.ndim == 1:
        if len(np.unique(truth)) < 2:
            return 0.0
        return max(0.0, 2 * area_under_roc(truth[:, 0], said[:, 0]) - 1)
    if n_classes:
        hits = float(np.mean(said.argmax(axis=1) == truth.argmax(axis=1)))
        guess = float(truth.mean(axis=0).max())
        return max(0.0, (hits - guess) / (1 - guess)) if guess < 1 else 0.0
    spread = float(((truth - overall) ** 2).sum())
    return max(0.0, 1 - float(((truth - said) ** 2).sum()) / spread) if spread > 0 else 0.0
