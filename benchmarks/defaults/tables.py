"""The real tables of the comparison of defaults: rows, folds, and losses.

A folder holds Parquet files with a column ``target`` and an INDEX.csv (name, task). Categories are
dictionaries of text; what is missing is null. Rows are shuffled; tables beyond ``MAX_ROWS`` are
cut.
"""

import csv
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MAX_ROWS = 40_000
N_FOLDS = 5
_OF_STATISTICS = ("amazon_access", "insteval")
TASKS = ("binary", "multiclass", "regression")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the index."""

    name: str
    task: str
    n_rows: int
    n_categorical: int

    @property
    def size_class(self) -> str:
        """The size class by rows of the whole table."""
        if self.n_rows < 2_000:
            return "< 2 k"
        return "2-20 k" if self.n_rows <= 20_000 else "> 20 k"


def read_index(folder: Path) -> list[Entry]:
    """Every table that has a loss here, smallest first, so that a run soon has much to show."""
    with (folder / "INDEX.csv").open() as file:
        lines = [row for row in csv.DictReader(file) if row["task"] in TASKS]
    entries = [
        Entry(row["name"], row["task"], int(row["rows"]), int(row["categorical_columns"]))
        for row in lines
    ]
    return sorted(entries, key=lambda entry: (entry.n_rows, entry.name))


def read(folder: Path, entry: Entry) -> tuple[Any, np.ndarray]:
    """The features as a pandas frame with categoricals, and the target."""
    import pandas as pd

    frame = pd.read_parquet(folder / f"{entry.name}.parquet")
    rng = np.random.default_rng(zlib.crc32(entry.name.encode()))
    frame = frame.iloc[rng.permutation(len(frame))[:MAX_ROWS]].reset_index(drop=True)
    y = frame.pop("target").to_numpy()
    for name in frame:
        column = frame[name]
        if not isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.kind not in "biuf":
            frame[name] = column.astype("category")
        elif column.dtype.kind == "b":
            frame[name] = column.astype(np.int8)
    return frame, y


def folds(entry: Entry, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Train and test rows; classes are stratified."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if entry.task == "regression" else StratifiedKFold
    yield from kind(N_FOLDS, shuffle=True, random_state=0).split(np.zeros((len(y), 1)), y)


def loss(entry: Entry, y: np.ndarray, predicted: np.ndarray, classes: np.ndarray | None) -> float:
    """Log-loss of classes (probabilities of zero cost 1e-15), root of the mean squared error."""
    if entry.task == "regression":
        return float(np.sqrt(np.mean((y - predicted) ** 2)))
    column = np.searchsorted(classes, y)
    chosen = predicted[np.arange(len(y)), column]
    return float(-np.mean(np.log(np.clip(chosen, 1e-15, 1.0))))


def chose_settings(name: str, fold: int) -> bool:
    """Tell whether a fold of a table was looked at when our default was chosen.

    That were second folds of half of the tables; ``variants.md`` is the log. Two tables of many
    levels had a say on their second and fourth folds. Nothing of them is reported.
    """
    if name in _OF_STATISTICS and fold in (1, 3):
        return True
    return fold == 1 and zlib.crc32(b"dev" + name.encode()) % 2 == 0


def constant_loss(entry: Entry, y_train: np.ndarray, y_test: np.ndarray) -> float:
    """The loss of the best constant: shares of classes, or the mean."""
    if entry.task == "regression":
        return loss(entry, y_test, np.full(len(y_test), y_train.mean()), None)
    classes, counts = np.unique(y_train, return_counts=True)
    shares = np.broadcast_to(counts / counts.sum(), (len(y_test), len(classes)))
    return loss(entry, y_test, shares, classes)
