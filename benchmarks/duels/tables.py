"""Synthetic tables that look like real ones: mixed kinds of columns, interactions, honest noise.

Every row starts as a vector of standard normal numbers with neighbours correlated. Columns are what
an observer records of them: the number itself, its exponential, a rounded count, one of five
levels, a heavy-tailed cube. Targets depend on the hidden numbers, so that coarse columns also cost
information. Rows are made in chunks, each from a seed of its own: memory stays near the table's.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

CHUNK = 20_000
LEVELS = (2, 5, 12, 40, 100, 250)  # of the categorical columns
COVER_GROUPS = (4, 40)  # one-hot columns of forest cover: wilderness areas, soil types

Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray]


class Table(NamedTuple):
    X: object
    y: np.ndarray

    def split(self, n_rows: int) -> tuple["Table", "Table"]:
        """The first rows to train on, and the others."""
        rows = self.X.iloc if hasattr(self.X, "iloc") else self.X
        return Table(rows[:n_rows], self.y[:n_rows]), Table(rows[n_rows:], self.y[n_rows:])


def hidden_numbers(rng: np.random.Generator, n_rows: int, n_features: int) -> np.ndarray:
    hidden = rng.standard_normal((n_rows, n_features))
    n_pairs = n_features // 2
    hidden[:, 1 : 2 * n_pairs : 2] *= np.sqrt(0.75)
    hidden[:, 1 : 2 * n_pairs : 2] += 0.5 * hidden[:, 0 : 2 * n_pairs : 2]
    return hidden


def record(hidden: np.ndarray, columns: np.ndarray) -> None:
    """Write what is observed of the hidden numbers; the kind of a column is its position mod 5."""
    columns[:] = hidden
    columns[:, 1::5] = np.exp(hidden[:, 1::5])
    columns[:, 2::5] = np.floor(40 + 12 * hidden[:, 2::5])
    columns[:, 3::5] = np.clip(np.round(1.2 * hidden[:, 3::5]), -2, 2)
    columns[:, 4::5] = hidden[:, 4::5] ** 3


def score(hidden: np.ndarray) -> np.ndarray:
    """A smooth part, steps, interactions, and many weak effects; of mean 0 and deviation near 1."""
    h = hidden.T
    strong = h[0] + np.abs(h[1]) + np.sin(2 * h[2]) + h[3] * (h[4] > 0) + 0.7 * h[5] * h[6]
    weak = h[7:40].sum(axis=0) * 0.1
    return (strong + weak + 0.5 * (h[0] > 1) - 0.88) / 2


def draw_binary(sharpness: float, shift: float = 0.0) -> Draw:
    def draw(hidden, rng):
        chance = 1 / (1 + np.exp(-sharpness * (score(hidden) - shift)))
        return (rng.random(len(hidden)) < chance).astype(np.int64)

    return draw


def draw_classes(n_classes: int) -> Draw:
    """Classes of shrinking frequency; each depends on another stretch of the hidden numbers."""

    def draw(hidden, rng):
        scores = [
            1.5 * score(np.roll(hidden[:, :10], -k, axis=1)) - 0.4 * k for k in range(n_classes)
        ]
        return np.argmax(np.stack(scores, axis=1) + rng.gumbel(size=(len(hidden), n_classes)), 1)

    return draw


def draw_squared(hidden: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return score(hidden) + rng.standard_normal(len(hidden))


def chunks(n_rows: int, seed: int):
    """Slices of rows, each with a generator of its own."""
    for start in range(0, n_rows, CHUNK):
        yield slice(start, min(n_rows, start + CHUNK)), np.random.default_rng([seed, start])


def numeric_table(n_rows: int, n_features: int, draw: Draw, seed: int = 0) -> Table:
    """``n_features`` columns of five kinds, float32, C order."""
    X = np.empty((n_rows, n_features), np.float32)
    y = None
    for rows, rng in chunks(n_rows, seed):
        hidden = hidden_numbers(rng, rows.stop - rows.start, n_features)
        record(hidden, X[rows])
        part = draw(hidden, rng)
        y = np.empty(n_rows, part.dtype) if y is None else y
        y[rows] = part
    return Table(X, y)


def draw_levels(rng: np.random.Generator, n_rows: int, n_levels: int) -> np.ndarray:
    """Levels of unequal frequency: the square of a uniform number favours the first."""
    return np.minimum((rng.random(n_rows) ** 2 * n_levels).astype(np.int64), n_levels - 1)


def cover_table(n_rows: int, n_classes: int, seed: int = 0) -> Table:
    """Like forest cover: 10 numeric columns and 44 of zeros and ones, one 1 in each group."""
    X = np.zeros((n_rows, 10 + sum(COVER_GROUPS)), np.float32)
    y = np.empty(n_rows, np.int64)
    effects = [np.random.default_rng(7).normal(size=(n, n_classes)) for n in COVER_GROUPS]
    base = draw_classes(n_classes)
    for rows, rng in chunks(n_rows, seed):
        n = rows.stop - rows.start
        hidden = hidden_numbers(rng, n, 10)
        record(hidden, X[rows, :10])
        first = 10
        pull = np.zeros((n, n_classes))
        for n_levels, effect in zip(COVER_GROUPS, effects, strict=True):
            level = draw_levels(rng, n, n_levels)
            X[np.arange(rows.start, rows.stop), first + level] = 1
            pull += effect[level]
            first += n_levels
        elsewhere = np.argmax(pull + rng.gumbel(size=(n, n_classes)), axis=1)
        y[rows] = np.where(rng.random(n) < 0.3, elsewhere, base(hidden, rng))
    return Table(X, y)


def one_hot_table(n_rows: int, n_variables: int, n_levels: int, seed: int = 0) -> Table:
    """Variables of many levels, a column of zeros and ones per level; two classes."""
    X = np.zeros((n_rows, n_variables * n_levels), np.float32)
    y = np.empty(n_rows, np.int64)
    effects = np.random.default_rng(7).normal(scale=0.4, size=(n_variables, n_levels))
    for rows, rng in chunks(n_rows, seed):
        n = rows.stop - rows.start
        total = np.zeros(n)
        for j, effect in enumerate(effects):
            level = draw_levels(rng, n, n_levels)
            X[np.arange(rows.start, rows.stop), j * n_levels + level] = 1
            total += effect[level]
        y[rows] = rng.random(n) < 1 / (1 + np.exp(-total))
    return Table(X, y)


def categorical_table(n_rows: int, seed: int = 0) -> Table:
    """Six pandas categoricals of 2 to 250 levels and six numeric columns; two classes."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    hidden = hidden_numbers(rng, n_rows, 10)  # ten decide; six are seen
    numeric = np.empty((n_rows, 6), np.float32)
    record(hidden[:, :6], numeric)
    columns = {f"n{j}": numeric[:, j] for j in range(6)}
    total = score(hidden)
    truth = np.random.default_rng(7)  # the same effects in every table
    for j, n_levels in enumerate(LEVELS):
        level = draw_levels(rng, n_rows, n_levels)
        effect, slope = truth.normal(scale=0.6, size=(2, n_levels))
        total = total + effect[level] + 0.5 * slope[level] * hidden[:, j]
        names = [f"level {k}" for k in range(n_levels)]
        columns[f"c{j}"] = pd.Categorical.from_codes(level, names)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-1.5 * total))
    return Table(pd.DataFrame(columns), y.astype(np.int64))
