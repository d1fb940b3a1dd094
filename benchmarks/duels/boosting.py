"""Gradient boosting against the peers: the table of seconds, ratios and held-out losses.

    python -m benchmarks.duels.boosting [--only NAME ...] [--turns N] [--quick]

Construction and fit together, from float32 in C order (or a pandas frame with categoricals), with
the settings of benchmarks/duels/peers.py. The fastest of interleaved turns counts. Losses are means
over rows that were not trained on; on the small tables, where one table says little about a loss,
also over several training tables.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import (
    CONTENDERS,
    REFERENCES,
    Task,
    held_out_loss,
    start_hessian,
)
from benchmarks.duels.program import run_workloads
from benchmarks.duels.stopwatch import take_turns
from benchmarks.duels.tables import (
    Table,
    categorical_table,
    cover_table,
    draw_binary,
    draw_classes,
    draw_squared,
    numeric_table,
    one_hot_table,
)
from benchmarks.keeping import table

RESULTS = Path(__file__).parent / "results/boosting.json"
NOISY = draw_binary(sharpness=1.5)
EQUAL_LOSS = 1.005  # up to this multiple of our held-out loss a peer counts as as accurate


@dataclass(frozen=True)
class Workload:
    """A table to fit, how often, and the ratio to reach."""

    n_rows: int
    make: Callable[..., Table]  # of the number of rows and a seed
    task: Task
    turns: int
    to_reach: float
    n_held_out: int = 100_000
    n_tables: int = 1  # independent training tables for the loss

    def reduced(self) -> "Workload":
        """The same, small enough to show in seconds that everything runs."""
        small = replace(self.task, rounds=3)
        rows, held_out = min(self.n_rows, 1_000), 1_000
        return replace(
            self,
            n_rows=rows,
            task=small,
            turns=1,
            n_held_out=held_out,
            n_tables=min(2, self.n_tables),
        )


def numeric(n_features: int, draw) -> Callable[..., Table]:
    return partial(numeric_table, n_features=n_features, draw=draw)


LOGISTIC, SEVEN = Task("logistic"), Task("multinomial", rounds=50)
WORKLOADS = {
    "1 M x 28, binary": Workload(1_000_000, numeric(28, NOISY), LOGISTIC, 3, 2),
    "133 k x 28, binary": Workload(133_000, numeric(28, NOISY), LOGISTIC, 5, 2),
    "4.7 k x 20, binary": Workload(4_700, numeric(20, NOISY), LOGISTIC, 15, 3, n_tables=10),
    "1 k x 10, binary": Workload(1_000, numeric(10, NOISY), LOGISTIC, 25, 3, n_tables=20),
    "8 k x 1000, binary, 50 trees": Workload(
        8_000,
        numeric(1000, NOISY),
        Task("logistic", rounds=50),
        3,
        2,
        n_held_out=50_000,
        n_tables=3,
    ),
    "80 k x 54 like forest cover, 7 classes, 50 rounds": Workload(
        80_000, partial(cover_table, n_classes=7), SEVEN, 3, 2
    ),
    "80 k x 54 numeric, 7 classes, 50 rounds": Workload(
        80_000, numeric(54, draw_classes(7)), SEVEN, 3, 2
    ),
    "200 k x 40, squared error": Workload(
        200_000, numeric(40, draw_squared), Task("squared"), 4, 2
    ),
    "200 k x 28, binary, 255 leaves": Workload(
        200_000, numeric(28, NOISY), Task("logistic", leaves=255), 3, 2
    ),
    "100 k x 6 categorical + 6 numeric, binary": Workload(
        100_000, categorical_table, LOGISTIC, 4, 2
    ),
    "50 k x 2000 one-hot of 20 variables, binary": Workload(
        50_000,
        partial(one_hot_table, n_variables=20, n_levels=100),
        LOGISTIC,
        3,
        2,
        n_held_out=20_000,
    ),
}


def fits(task: Task, train: Table) -> dict[str, Callable[[], object]]:
    """What each contender does in its turn: make a model and fit it."""

    def fit(make):
        return make(task).fit(train.X, train.y)

    return {name: partial(fit, make) for name, make in CONTENDERS.items()}


def duel(workload: Workload) -> dict:
    train, held_out = workload.make(workload.n_rows + workload.n_held_out).split(workload.n_rows)
    task = replace(workload.task, start_hessian=start_hessian(workload.task.loss, train.y))
    for make in CONTENDERS.values():
        make(task)  # imports count for nobody
    turns = take_turns(fits(task, train), workload.turns)
    losses = {
        name: [held_out_loss(task, model, *held_out)] for name, model in turns.results.items()
    }
    for seed in range(1, workload.n_tables):
        another = workload.make(workload.n_rows, seed=seed)
        for name, fit in fits(task, another).items():
            losses[name].append(held_out_loss(task, fit(), *held_out))
    return {
        "to_reach": workload.to_reach,
        "seconds": turns.fastest(),
        "all_seconds": turns.seconds,
        "others": turns.others,
        "losses": losses,
    }


def best_peer(entry: Mapping, most_loss: float = np.inf) -> tuple[str, str]:
    """The fastest peer with a held-out loss of at most ``most_loss`` times ours, and its ratio."""
    seconds, losses = entry["seconds"], entry["losses"]
    limit = most_loss * np.mean(losses["spinney"])
    peers = [name for name in seconds if name != "spinney" and np.mean(losses[name]) <= limit]
    if not peers:
        return "none", "-"
    peer = min(peers, key=seconds.__getitem__)
    return f"{seconds[peer]:.3f} {peer}", f"{seconds[peer] / seconds['spinney']:.2f}"


def relative_loss(losses: Mapping[str, list[float]]) -> tuple[str, float, float]:
    """The best reference, our loss above its in per cent, and the standard error of that."""
    best = min(REFERENCES, key=lambda name: np.mean(losses[name]))
    ours, theirs = np.asarray(losses["spinney"]), np.asarray(losses[best])
    above = 100 * (ours - theirs) / theirs.mean()
    error = above.std(ddof=1) / np.sqrt(len(above)) if len(above) > 1 else 0.0
    return best, float(above.mean()), float(error)


def summary(entries: Mapping[str, dict]) -> str:
    rows = []
    for name, entry in entries.items():
        seconds = entry["seconds"]
        reference, above, error = relative_loss(entry["losses"])
        spread = f" ± {error:.2f}" if error else ""
        rows.append(
            [
                name,
                f"{seconds['spinney']:.3f}",
                *best_peer(entry),
                *best_peer(entry, EQUAL_LOSS),
                f"≥ {entry['to_reach']:g}",
                f"{above:+.2f}{spread} ({reference})",
            ]
        )
    header = ["workload", "spinney s", "best peer s", "ratio"]
    header += ["best as accurate s", "ratio", "to reach"]
    return table("Boosting", [*header, "held-out loss above the best, %"], rows)


def details(name: str, entry: Mapping) -> str:
    """Every contender, fastest first."""
    seconds, losses = entry["seconds"], entry["losses"]
    rows = [
        [
            peer,
            f"{taken:.3f}",
            f"{taken / seconds['spinney']:.2f}",
            f"{np.median(entry['all_seconds'][peer]):.3f}",
            f"{np.mean(losses[peer]):.5f}",
        ]
        for peer, taken in sorted(seconds.items(), key=lambda item: item[1])
    ]
    title = f"{name} (other processes took {entry['others']:.0%} of the machine)"
    return table(title, ["contender", "s", "ratio to spinney", "median s", "held-out loss"], rows)


def tables(entries: Mapping[str, dict]) -> list[str]:
    return [summary(entries), *(details(name, entry) for name, entry in entries.items())]


if __name__ == "__main__":
    run_workloads(__doc__, RESULTS, WORKLOADS, duel, tables)
