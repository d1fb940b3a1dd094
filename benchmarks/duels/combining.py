"""What stacking costs beside the fits it consists of: time and memory over one shared table.

    python -m benchmarks.duels.combining [--only NAME ...] [--quick]

Five ensembles of ours are stacked with five folds. Seconds: against the sum of the same 5 x (5 + 1)
fits one by one, the folds on copies of their rows; the copies are made outside of the time taken,
and nothing is predicted. Processor seconds, of all threads, say the same on a machine that others
use too. Memory: the highest resident size during the fit less the one before it,
against that of the largest single fit on all rows; every measurement in a process of its own.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import N_THREADS, limit_threads
from benchmarks.duels.resources import status_megabytes
from benchmarks.duels.stopwatch import OtherProcesses
from benchmarks.duels.tables import Table, draw_binary, numeric_table
from benchmarks.keeping import Book, in_order, table
from benchmarks.machine import ROOT

RESULTS = Path(__file__).parent / "results/combining.json"
N_FOLDS = 5
TIME, MEMORY = 1.1, 1.5  # what is to reach


def members(*, quick: bool) -> dict[str, object]:
    import spinney

    trees, rounds = (5, 5) if quick else (100, 100)
    return {
        "boosting": spinney.GradientBoostingClassifier(max_iter=rounds, n_jobs=N_THREADS),
        "drop_in": spinney.HistGradientBoostingClassifier(
            max_iter=rounds, early_stopping=False, max_leaf_nodes=63
        ),
        "forest": spinney.RandomForestClassifier(trees, random_state=0, n_jobs=N_THREADS),
        "extra_trees": spinney.ExtraTreesClassifier(trees, random_state=0, n_jobs=N_THREADS),
        "stumps": spinney.AdaBoostClassifier(n_estimators=trees // 2 + 1, n_jobs=N_THREADS),
    }


def rows_of(n_rows: int, n_features: int) -> Table:
    return numeric_table(n_rows, n_features, draw_binary(sharpness=1.5))


def folds(y: np.ndarray):
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(N_FOLDS).split(np.zeros(len(y)), y))


def clocks() -> np.ndarray:
    """Seconds that passed, and seconds of processors that this process used."""
    return np.array([time.perf_counter(), time.process_time()])


def fit_alone(name: str, rows: Table, *, quick: bool) -> np.ndarray:
    """Seconds of the fits of one member: on every fold and on all rows."""
    from sklearn.base import clone

    member, seconds = members(quick=quick)[name], np.zeros(2)
    for train in [*(train for train, _ in folds(rows.y)), None]:
        X, y = (rows.X, rows.y) if train is None else (rows.X[train], rows.y[train])
        own = clone(member)
        start = clocks()
        own.fit(X, y)
        seconds += clocks() - start
        del own, X, y
    return seconds


def fit_stack(rows: Table, *, quick: bool) -> np.ndarray:
    from spinney import StackingClassifier

    stack = StackingClassifier(list(members(quick=quick).items()), cv=N_FOLDS)
    start = clocks()
    stack.fit(rows.X, rows.y)
    return clocks() - start


def fit_once(name: str, rows: Table, *, quick: bool) -> np.ndarray:
    start = clocks()
    members(quick=quick)[name].fit(rows.X, rows.y)
    return clocks() - start


WORK: Mapping[str, Callable[..., np.ndarray]] = {"stack": fit_stack} | {
    f"{how} {name}": partial(fit, name)
    for how, fit in (("once", fit_once), ("alone", fit_alone))
    for name in ("boosting", "drop_in", "forest", "extra_trees", "stumps")
}
"""Who is measured: the stack, each member once on all rows, each member with all its fits."""


def weigh(what: str, n_rows: int, n_features: int, *, quick: bool) -> dict:
    """Of this process, which must be fresh: its peak is remembered for ever."""
    WORK[what](rows_of(1_000, n_features), quick=True)  # loads libraries, starts threads
    rows = rows_of(n_rows, n_features)
    resident, peak = status_megabytes("VmRSS"), status_megabytes("VmHWM")
    others = OtherProcesses()
    seconds, processor = WORK[what](rows, quick=quick).tolist()
    return {
        "seconds": seconds,
        "processor_seconds": processor,
        "input_mb": (rows.X.nbytes + rows.y.nbytes) / 1e6,
        "peak_before_mb": peak - resident,  # of making the table; hides work that needs less
        "above_input_mb": status_megabytes("VmHWM") - resident,
        "others": others.share(),
    }


def apart(what: str, n_rows: int, n_features: int, *, quick: bool) -> dict:
    call = f"combining.weigh({what!r}, {n_rows}, {n_features}, quick={quick})"
    code = (
        "import json\n"
        "from benchmarks.duels.peers import limit_threads\n"
        "limit_threads()\n"
        f"from benchmarks.duels import combining\nprint(json.dumps({call}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return json.loads(done.stdout)


def stacking(n_rows: int, n_features: int, *, turns: int, quick: bool) -> dict:
    n_rows, turns = (2_000, 1) if quick else (n_rows, turns)
    found: dict[str, list[dict]] = {what: [] for what in WORK}
    for _ in range(turns):  # in turns, so that a slow hour is slow for all
        for what, measured in found.items():
            measured.append(apart(what, n_rows, n_features, quick=quick))
    fastest = {
        clock: {what: min(one[clock] for one in all_) for what, all_ in found.items()}
        for clock in ("seconds", "processor_seconds")
    }
    memory = {
        what: statistics.median(one["above_input_mb"] for one in all_)
        for what, all_ in found.items()
    }
    return {
        **fastest,
        "memory_mb": memory,
        "time_ratio": over_all_fits(fastest["seconds"]),
        "processor_ratio": over_all_fits(fastest["processor_seconds"]),
        "memory_ratio": memory["stack"] / largest_fit(memory),
        "others": max(one["others"] for all_ in found.values() for one in all_),
    }


def all_fits(seconds: Mapping[str, float]) -> float:
    return sum(taken for what, taken in seconds.items() if what.startswith("alone "))


def over_all_fits(seconds: Mapping[str, float]) -> float:
    return seconds["stack"] / all_fits(seconds)


def largest_fit(memory: Mapping[str, float]) -> float:
    return max(size for what, size in memory.items() if what.startswith("once "))


MEASURES: Mapping[str, Callable[..., dict]] = {
    "stacking, 50 k x 30": partial(stacking, 50_000, 30),
    "stacking, 200 k x 30": partial(stacking, 200_000, 30),
}


def tables(entries: Mapping[str, dict]) -> list[str]:
    rows, parts = [], []
    for name, entry in entries.items():
        seconds, memory = entry["seconds"], entry["memory_mb"]
        rows.append(
            [
                name,
                f"{all_fits(seconds):.1f}",
                f"{seconds['stack']:.1f}",
                f"{entry['time_ratio']:.2f} (≤ {TIME})",
                f"{entry['processor_ratio']:.2f}",
                f"{largest_fit(memory):.0f}",
                f"{memory['stack']:.0f}",
                f"{entry['memory_ratio']:.2f} (≤ {MEMORY})",
                f"{100 * entry['others']:.0f} %",
            ]
        )
        for what, taken in seconds.items():
            processor = entry["processor_seconds"][what]
            parts.append([name, what, f"{taken:.2f}", f"{processor:.2f}", f"{memory[what]:.0f}"])
    header = ["stack", "all fits s", "stack s", "ratio", "of processor seconds"]
    header += ["largest fit MB", "stack MB", "ratio", "others took"]
    title = f"Stacking five ensembles, five folds, {N_THREADS} threads"
    columns = ["stack", "what", "s", "processor s", "peak above the input MB"]
    return [table(title, header, rows), table("Its parts", columns, parts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="a part of its name does")
    parser.add_argument("--turns", type=int, default=2, help="of which the fastest counts")
    parser.add_argument("--quick", action="store_true", help="tiny tables; nothing is kept")
    chosen = parser.parse_args()
    limit_threads()
    book = Book(RESULTS, kept=not chosen.quick)
    for name, measure in MEASURES.items():
        if not chosen.only or any(part in name for part in chosen.only):
            book.put(name, measure(turns=chosen.turns, quick=chosen.quick))
    book.publish(tables(in_order(book.entries(), MEASURES)))


if __name__ == "__main__":
    main()
