"""Prediction against the peers: milliseconds per table, microseconds per row, and ratios.

    python -m benchmarks.duels.predicting [--only NAME ...] [--turns N] [--quick]

Every contender predicts the probabilities of rows it has not seen, with a model of its own fitted
with the settings of benchmarks/duels/peers.py; CatBoost's trees have the depth that gives about as
many leaves. Reading the table is part of predicting. The fastest of interleaved turns counts; of
single rows a turn is the mean of many calls.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import CONTENDERS, Task
from benchmarks.duels.program import run_workloads
from benchmarks.duels.stopwatch import take_turns
from benchmarks.duels.tables import (
    Table,
    categorical_table,
    draw_binary,
    draw_classes,
    numeric_table,
)
from benchmarks.keeping import table

RESULTS = Path(__file__).parent / "results/predicting.json"
NOISY = draw_binary(sharpness=1.5)
PREDICTORS = {name: make for name, make in CONTENDERS.items() if "quantised" not in name}


@dataclass(frozen=True)
class Workload:
    """A table to predict, how often, and what to reach: a ratio per peer, or microseconds."""

    make: Callable[..., Table]  # of the number of rows
    task: Task
    n_rows: int
    to_reach: Mapping[str, float]
    n_train: int = 100_000
    turns: int = 15
    calls: int = 1  # in a turn

    def reduced(self) -> "Workload":
        """The same, small enough to show in seconds that everything runs."""
        small = replace(self.task, rounds=3)
        rows = min(self.n_rows, 100)
        return replace(self, n_rows=rows, n_train=1_000, task=small, turns=1, calls=1)


def numeric(n_features: int, draw) -> Callable[..., Table]:
    return partial(numeric_table, n_features=n_features, draw=draw)


LOGISTIC, LARGE, SEVEN = (
    Task("logistic"),
    Task("logistic", leaves=255),
    Task("multinomial", rounds=50),
)
WORKLOADS = {
    "100 k x 28, 100 trees x 31 leaves": Workload(
        numeric(28, NOISY),
        LOGISTIC,
        100_000,
        {"CatBoost": 3, "hessboost": 4.5, "XGBoost": 12, "HistGB": 35, "LightGBM": 40},
    ),
    "100 k x 28, 100 trees x 255 leaves": Workload(
        numeric(28, NOISY),
        LARGE,
        100_000,
        {"CatBoost": 1.2, "XGBoost": 10, "HistGB": 15, "LightGBM": 20},
    ),
    "40 k x 54, 7 classes x 50 rounds": Workload(
        numeric(54, draw_classes(7)),
        SEVEN,
        40_000,
        {"CatBoost": 2, "XGBoost": 12, "HistGB": 40, "LightGBM": 40},
        n_train=40_000,
    ),
    "one NumPy row": Workload(
        numeric(28, NOISY), LOGISTIC, 1, {"spinney": 25, "spinney compiled": 5}, calls=300
    ),
    "one pandas row with 6 categories": Workload(
        categorical_table, LOGISTIC, 1, {"spinney": 200}, calls=30
    ),
}


def call_each(predict: Callable[[object], object], tables: list) -> None:
    for one in tables:
        predict(one)


def duel(workload: Workload) -> dict:
    train, held_out = workload.make(workload.n_train + workload.n_rows).split(workload.n_train)
    rows = held_out.X
    # Fresh tables for every call of a turn: a frame remembers what it was asked.
    tables = [train.X[i : i + 1] for i in range(workload.calls)] if workload.n_rows == 1 else [rows]
    contenders = {}
    for name, make in PREDICTORS.items():
        model = make(workload.task).fit(train.X, train.y)
        contenders[name] = partial(call_each, model.predict_proba, tables)
        if name == "spinney" and workload.n_rows == 1:
            frames = not isinstance(rows, np.ndarray)
            ones = [one.iloc[0].to_dict() if frames else one[0] for one in tables]
            contenders["spinney compiled"] = partial(call_each, model.compile(), ones)
    turns = take_turns(contenders, workload.turns)
    seconds = {name: taken / workload.calls for name, taken in turns.fastest().items()}
    return {
        "to_reach": dict(workload.to_reach),
        "n_rows": workload.n_rows,
        "seconds": seconds,
        "others": turns.others,
    }


def details(name: str, entry: Mapping) -> str:
    """Every contender, fastest first, with what was to be reached."""
    seconds, single = entry["seconds"], entry["n_rows"] == 1
    rows = []
    for peer, taken in sorted(seconds.items(), key=lambda item: item[1]):
        goal = entry["to_reach"].get(peer)
        reach = "" if goal is None else (f"≤ {goal:g} µs" if single else f"≥ {goal:g}")
        shown = f"{1e6 * taken:.1f} µs" if single else f"{1e3 * taken:.2f} ms"
        rows.append([peer, shown, f"{taken / seconds['spinney']:.2f}", reach])
    title = f"{name} (other processes took {entry['others']:.0%} of the machine)"
    return table(title, ["contender", "time", "ratio to spinney", "to reach"], rows)


def tables(entries: Mapping[str, dict]) -> list[str]:
    return [details(name, entry) for name, entry in entries.items()]


if __name__ == "__main__":
    run_workloads(__doc__, RESULTS, WORKLOADS, duel, tables)
