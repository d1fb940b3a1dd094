"""What the models of every kind learn from: few rows, every kind of column, no generator."""

from typing import Any

import numpy as np
import pandas as pd

N_ROWS = 60
TOWNS = np.array(["Aachen", "Bonn", "Cölln", "Dürn", "Ems", "Fürth"])


def numbers(n_columns: int = 3) -> Any:
    """Numbers without a generator: the fractional parts of multiples of an irrational number."""
    places = np.arange(1, N_ROWS * n_columns + 1).reshape(N_ROWS, n_columns)
    return np.float32(np.modf(places * 0.6180339887498949)[0] * 10)


def target() -> Any:
    """Something to learn from the numbers."""
    X = numbers().astype(np.float64)
    return np.round(X[:, 0] + np.abs(X[:, 1] - 5) * X[:, 2] / 4, 3)


def classes(labels: Any) -> Any:
    """Cut the target into as many classes as there are labels."""
    places = np.argsort(np.argsort(target())) * len(labels) // N_ROWS
    return np.asarray(labels)[places]


def frame() -> pd.DataFrame:
    """Every kind of column, with missing values in each."""
    X = numbers()
    late = pd.Timestamp("2024-02-29 12:00") + pd.to_timedelta(np.round(X[:, 2] * 1000), unit="min")
    table = pd.DataFrame(
        {
            "größe": X[:, 0],
            "town": TOWNS[(X[:, 1] * 0.6).astype(int)].astype(object),
            "married": pd.array(X[:, 2] > 5, dtype="boolean"),
            "late": late,
            "born": late.tz_localize("UTC"),
            "took": pd.to_timedelta(np.round(X[:, 0] * 100), unit="s"),
        }
    )
    for place, name in enumerate(table.columns):
        table.loc[place::9, name] = None
    return table
