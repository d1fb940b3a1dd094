"""Held-out loss on difficult targets: Spinney against LightGBM, XGBoost and scikit-learn.

    python -m benchmarks.duels.accuracy [--only NAME ...] [--quick]

Equal settings (benchmarks/duels/peers.py), five pairs of training and held-out tables. Differences
are paired: of the losses on one table, then the mean over tables with its standard error. The mean
squared error of a heavy-tailed target is decided by few rows, so the absolute error of the same
fits stands beside it. XGBoost bounds the hessian of a leaf where the others bound its rows, which
decides the loss of rare classes: these are fitted a second time with the same bound for all that
have it. Weights are drawn independently of the rows; held-out means are unweighted,
which has the same expectation and less noise.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import (
    CONTENDERS,
    REFERENCES,
    Task,
    held_out_loss,
    limit_threads,
    predicted,
    start_hessian,
)
from benchmarks.duels.tables import Draw, Table, draw_binary, draw_squared, numeric_table, score
from benchmarks.keeping import Book, in_order, table

RESULTS = Path(__file__).parent / "results/accuracy.json"
N_ROWS, N_HELD_OUT, N_FEATURES, N_SEEDS = 50_000, 100_000, 20, 5


def positive_mean(hidden: np.ndarray) -> np.ndarray:
    return np.exp(0.7 * score(hidden))


def draw_log_normal(hidden, rng):
    return np.exp(score(hidden) + 2 * rng.standard_normal(len(hidden)))


def draw_student(hidden, rng):
    return score(hidden) + rng.standard_t(2, len(hidden))


def draw_poisson(hidden, rng):
    return rng.poisson(positive_mean(hidden)).astype(np.float64)


def draw_gamma(hidden, rng):
    return rng.gamma(2.0, positive_mean(hidden) / 2.0)


def draw_tweedie(hidden, rng):
    """Sums of a Poisson number of gamma amounts: many zeros, the rest skewed."""
    counts = rng.poisson(0.7 * positive_mean(hidden))
    return np.where(counts > 0, rng.gamma(2.0 * np.maximum(counts, 1), 0.7), 0.0)


def six_decades(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    return 10 ** rng.uniform(-3, 3, n_rows)


@dataclass(frozen=True)
class Target:
    """What is drawn and which loss is fitted to it."""

    loss: str
    draw: Draw
    weights: Callable[[np.random.Generator, int], np.ndarray] | None = None
    min_hessian: float = 1e-3


TARGETS = {
    "squared, normal": Target("squared", draw_squared),
    "squared, log-normal of sigma 2": Target("squared", draw_log_normal),
    "squared, Student t of 2 degrees": Target("squared", draw_student),
    "squared, weights over 6 decades": Target("squared", draw_squared, six_decades),
    "squared, Student t, weights over 6 decades": Target("squared", draw_student, six_decades),
    "gamma": Target("gamma", draw_gamma),
    "gamma, log-normal of sigma 2": Target("gamma", draw_log_normal),
    "Poisson": Target("poisson", draw_poisson),
    "Tweedie 1.5": Target("tweedie", draw_tweedie),
    "binary": Target("logistic", draw_binary(1.5)),
    "binary, weights over 6 decades": Target("logistic", draw_binary(1.5), six_decades),
    "binary, 0.5 % positive": Target("logistic", draw_binary(1.5, shift=4.25)),
    "binary, 0.5 % positive, hessian of a leaf ≥ 1": Target(
        "logistic", draw_binary(1.5, shift=4.25), min_hessian=1.0
    ),
    "binary, near separable": Target("logistic", draw_binary(30.0)),
}


def peers_of(target: Target) -> tuple[str, ...]:
    """Those that can be told to do it: HistGB has no Tweedie loss and no bound for hessians."""
    hist_can = target.loss != "tweedie" and target.min_hessian == 1e-3
    return tuple(name for name in REFERENCES if name != "HistGB" or hist_can)


def measure(target: Target, n_rows: int, n_held_out: int, n_seeds: int) -> dict:
    """Losses, and absolute errors of regressions, by contender, one per seed."""
    names = ("spinney", *peers_of(target))
    losses: dict[str, list[float]] = {name: [] for name in names}
    absolute: dict[str, list[float]] = {name: [] for name in names}
    for seed in range(n_seeds):
        rows = numeric_table(n_rows + n_held_out, N_FEATURES, target.draw, seed=seed)
        train, held_out = rows.split(n_rows)
        draws = np.random.default_rng([seed, 1])
        weights = target.weights(draws, n_rows) if target.weights else None
        start = start_hessian(target.loss, train.y)
        task = Task(target.loss, min_hessian=target.min_hessian, start_hessian=start)
        for name in names:
            model = CONTENDERS[name](task).fit(train.X, train.y, sample_weight=weights)
            losses[name].append(held_out_loss(task, model, *held_out))
            if not task.is_classes:
                absolute[name].append(absolute_error(model, held_out))
    found = {"losses": losses}
    return found if task.is_classes else {**found, "absolute_errors": absolute}


def absolute_error(model, rows: Table) -> float:
    return float(np.abs(rows.y - predicted(model, rows.X)).mean())


def paired(ours: list[float], theirs: list[float]) -> str:
    """Our value above theirs in per cent, mean and standard error over the tables."""
    above = 100 * (np.asarray(ours) / np.asarray(theirs) - 1)
    error = above.std(ddof=1) / np.sqrt(len(above))
    return f"{above.mean():+.2f} ± {error:.2f}"


def row(name: str, measure_name: str, values: Mapping[str, list[float]]) -> list[str]:
    ours = values["spinney"]
    peers = [peer for peer in REFERENCES if peer in values]
    best = min(peers, key=lambda peer: np.mean(values[peer]))
    each = [paired(ours, values[peer]) if peer in values else "cannot" for peer in REFERENCES]
    against_best = f"{paired(ours, values[best])} ({best})"
    return [name, measure_name, f"{np.mean(ours):.5g}", *each, against_best]


def summary(entries: Mapping[str, dict]) -> str:
    rows = []
    for name, entry in entries.items():
        is_squared = TARGETS[name].loss == "squared"
        rows.append(row(name, "squared error" if is_squared else "deviance", entry["losses"]))
        if "absolute_errors" in entry:
            rows.append(row("", "absolute error", entry["absolute_errors"]))
    above = [f"above {peer}, %" for peer in REFERENCES]
    header = ["target", "held-out mean", "spinney", *above, "above the best, %"]
    return table("Accuracy on difficult targets", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="a part of its name does")
    parser.add_argument("--quick", action="store_true", help="tiny tables; nothing is kept")
    chosen = parser.parse_args()
    limit_threads()
    book = Book(RESULTS, kept=not chosen.quick)
    sizes = (2_000, 2_000, 2) if chosen.quick else (N_ROWS, N_HELD_OUT, N_SEEDS)
    for name, target in TARGETS.items():
        if chosen.only and not any(part in name for part in chosen.only):
            continue
        book.put(name, measure(target, *sizes))
    book.publish([summary(in_order(book.entries(), TARGETS))])


if __name__ == "__main__":
    main()
