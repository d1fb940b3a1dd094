"""Ranks, normalised losses and times of defaults, from the file of losses that ``run`` keeps.

    python -m benchmarks.defaults.summary [--results FILE] [--keep]

Only tables and folds on which every contender has been tried count, for losses and for seconds, and
none that our default was chosen on: second folds of half of the tables. A
fit that was ended because it took too long says nothing of its loss: its fold does not count for
anybody, and is named. A loss is normalised to 0 for the best contender of the table and 1 for the
best constant (and for anything worse, and for fits that fail), after folds are averaged. Intervals
are 95 % by a bootstrap of the tables.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.defaults.run import RESULTS, TOO_LONG, done
from benchmarks.defaults.tables import N_FOLDS, chose_settings
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


Cell = tuple[str, str]
"""A table and a fold."""


def cells_of(lines: list[dict]) -> dict[Cell, dict[str, dict]]:
    """Lines by cell and contender."""
    cells: dict[Cell, dict[str, dict]] = {}
    for line in lines:
        cells.setdefault((line["table"], line["fold"]), {})[line["contender"]] = line
    return cells


def is_endless(line: dict) -> bool:
    """Tell whether a fit was ended before its loss was known."""
    return line["error"].startswith(TOO_LONG)


def compared(lines: list[dict], contenders: list[str]) -> dict[Cell, dict[str, dict]]:
    """Cells that say something of every contender."""
    return {
        cell: found
        for cell, found in cells_of(lines).items()
        if not chose_settings(cell[0], int(cell[1]))
        and all(name in found and not is_endless(found[name]) for name in contenders)
    }


def mean_losses(cells: dict[Cell, dict[str, dict]], contenders: list[str]) -> dict[str, np.ndarray]:
    """Mean losses per table: one per contender, then the constant's. Failures cost the constant."""
    per_table: dict[str, list[list[float]]] = {}
    for (name, _), found in cells.items():
        constant = float(found[contenders[0]]["constant_loss"])
        losses = [float(found[contender]["loss"]) for contender in contenders]
        filled = [value if np.isfinite(value) else max(constant, 1e-12) for value in losses]
        per_table.setdefault(name, []).append([*filled, constant])
    return {name: np.mean(rows, axis=0) for name, rows in per_table.items()}


def cpu_seconds(cells: dict[Cell, dict[str, dict]], contenders: list[str]) -> dict[str, float]:
    """CPU seconds of the fits of all cells, the same cells for everybody."""
    return {
        name: sum(float(found[name]["fit_cpu_seconds"] or 0) for found in cells.values())
        for name in contenders
    }


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
        cells = compared([line for line in lines if belongs(line)], contenders)
        losses = mean_losses(cells, contenders)
        if len(losses) < 2:
            continue
        seconds = cpu_seconds(cells, contenders)
        found.append(group_table(title, np.array(list(losses.values())), contenders, seconds))
    return found


def told(lines: list[dict]) -> str:
    """Say what was compared, what was left out, and in which versions."""
    contenders = list(dict.fromkeys(line["contender"] for line in lines))
    cells = compared(lines, contenders)
    n_tables = len({table for table, _ in cells})
    versions = sorted({f"{line['contender']} {line['version']}" for line in lines})
    counted = f"{len(cells)} of {N_FOLDS * n_tables} folds of {n_tables} tables"
    counted += ", none that our default was chosen on"
    found = [f"Defaults against defaults, one thread, {counted}: {', '.join(versions)}."]
    endless = [
        f"{line['contender']} on fold {line['fold']} of {line['table']}"
        for line in lines
        if is_endless(line)
    ]
    if endless:
        found.append(f"Left out, because a fit was ended: {', '.join(endless)}.")
    return "\n\n".join(found) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--keep", action="store_true", help="write summary.md beside the losses")
    parser.add_argument("--without", action="append", default=[], metavar="CONTENDER")
    chosen = parser.parse_args()
    lines = [line for line in done(chosen.results) if line["contender"] not in chosen.without]
    text = "\n".join([*pages(lines), told(lines)])
    print(text)
    if chosen.keep:
        replace(chosen.results.with_name("summary.md"), text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
