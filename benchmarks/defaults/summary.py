"""Ranks, normalised losses and times of defaults, from the file of losses that ``run`` keeps.

    python -m benchmarks.defaults.summary [--results FILE] [--keep]

Only tables and folds on which every contender has been tried count. A loss is normalised to 0 for
the best contender of the table and 1 for the best constant (and for anything worse), after folds
are averaged. Intervals are 95 % by a bootstrap of the tables.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.defaults.run import RESULTS, done
from benchmarks.keeping import replace, table

N_RESAMPLES = 2_000
GROUPS: dict[str, Callable[[dict], bool]] = {
    "all tables": lambda line: True,  # noqa: ARG005 - every line
    "with categories": lambda line: int(line["categorical"]) > 0,
    "numbers only": lambda line: int(line["categorical"]) == 0,
    "< 2 k rows": lambda line: line["size_class"] == "< 2 k",
    "2 to 20 k rows": lambda line: line["size_class"] == "2-20 k",
    "> 20 k rows": lambda line: line["size_class"] == "> 20 k",
    "binary": lambda line: line["task"] == "binary",
    "multi-class": lambda line: line["task"] == "multiclass",
    "regression": lambda line: line["task"] == "regression",
}


def mean_losses(lines: list[dict], contenders: list[str]) -> dict[str, np.ndarray]:
    """Mean losses per table: one per contender, then the constant's. Failures cost the constant."""
    cells: dict[tuple[str, str], dict[str, dict]] = {}
    for line in lines:
        cells.setdefault((line["table"], line["fold"]), {})[line["contender"]] = line
    per_table: dict[str, list[list[float]]] = {}
    for (name, _), found in cells.items():
        if any(contender not in found for contender in contenders):
            continue
        constant = float(next(iter(found.values()))["constant_loss"])
        losses = [float(found[contender]["loss"]) for contender in contenders]
        filled = [value if np.isfinite(value) else max(constant, 1e-12) for value in losses]
        per_table.setdefault(name, []).append([*filled, constant])
    return {name: np.mean(rows, axis=0) for name, rows in per_table.items()}


def ranks(losses: np.ndarray) -> np.ndarray:
    """Ranks within each row, 1 the best; equal losses share theirs."""
    from scipy.stats import rankdata

    return rankdata(losses, axis=1)


def normalised(losses: np.ndarray, constant: np.ndarray) -> np.ndarray:
    """0 for the best of a row, 1 for the constant or worse."""
    best = losses.min(axis=1, keepdims=True)
    span = np.maximum(constant[:, None] - best, 1e-12)
    return np.clip((losses - best) / span, 0.0, 1.0)


def interval(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Percentile interval of the mean over tables, per contender."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(values), size=(N_RESAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5], axis=0)
    return low, high


def group_table(title: str, losses: np.ndarray, contenders: list[str], seconds: dict) -> str:
    """One table of a group of tables, best mean rank first."""
    of_ranks, of_losses = ranks(losses[:, :-1]), normalised(losses[:, :-1], losses[:, -1])
    (low, high), means = interval(of_ranks), of_losses.mean(axis=0)
    n_best = np.sum(of_ranks == of_ranks.min(axis=1, keepdims=True), axis=0)
    rows = [
        [
            contenders[k],
            f"{of_ranks[:, k].mean():.2f} ({low[k]:.2f} to {high[k]:.2f})",
            f"{means[k]:.4f}",
            f"{np.median(of_losses[:, k]):.4f}",
            str(n_best[k]),
            f"{seconds[contenders[k]]:.0f}",
        ]
        for k in np.argsort(of_ranks.mean(axis=0), kind="stable")
    ]
    header = [
        "contender",
        "mean rank",
        "mean normalised loss",
        "median",
        "best on",
        "CPU s of fits",
    ]
    return table(f"{title}: {len(losses)}", header, rows)


def pages(lines: list[dict]) -> list[str]:
    """The tables of all groups that have tables."""
    contenders = list(dict.fromkeys(line["contender"] for line in lines))
    found = []
    for title, belongs in GROUPS.items():
        chosen = [line for line in lines if belongs(line)]
        losses = mean_losses(chosen, contenders)
        if len(losses) < 2:
            continue
        seconds = {
            name: sum(
                float(line["fit_cpu_seconds"] or 0)
                for line in chosen
                if line["contender"] == name and line["table"] in losses
            )
            for name in contenders
        }
        found.append(group_table(title, np.array(list(losses.values())), contenders, seconds))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--keep", action="store_true", help="write summary.md beside the losses")
    parser.add_argument("--without", action="append", default=[], metavar="CONTENDER")
    chosen = parser.parse_args()
    lines = [line for line in done(chosen.results) if line["contender"] not in chosen.without]
    versions = sorted({f"{line['contender']} {line['version']}" for line in lines})
    n_folds = len({line["fold"] for line in lines})
    told = f"Defaults against defaults, {n_folds} of 5 folds, one thread: {', '.join(versions)}.\n"
    text = "\n".join([*pages(lines), told])
    print(text)
    if chosen.keep:
        replace(chosen.results.with_name("summary.md"), text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
