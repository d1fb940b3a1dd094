"""What a fit of Spinney needs: memory, patience with a busy neighbour, growth with size.

    python -m benchmarks.duels.resources [--only NAME ...] [--quick]

Memory: the highest resident size during the fit less the one before it, in a process of its own,
against 1.2 x the binned matrix in both layouts (2 bytes per value) + 200 MB. The large table also
shows that 10 M rows train, and in what time. Neighbour: median seconds beside a process that never
sleeps over median seconds alone. Growth: slope of log seconds over log size, sizes over a factor
of 8; 1 is linear, and less means that a fixed cost is still visible.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import N_THREADS, Task, limit_threads, spinney_model
from benchmarks.duels.stopwatch import take_turns
from benchmarks.duels.tables import Table, draw_binary, numeric_table
from benchmarks.keeping import Book, in_order, table
from benchmarks.machine import ROOT

RESULTS = Path(__file__).parent / "results/resources.json"
LOGISTIC = Task("logistic")
NOISY = draw_binary(sharpness=1.5)
SLOWDOWN, SLOPE = 2.5, (0.9, 1.1)  # what is to reach
SHORTEST = 0.1  # seconds; below, a fixed cost hides the slope
BUSY = "while True: pass"


def fit(task: Task, rows: Table):
    return spinney_model(task).fit(rows.X, rows.y)


def status_megabytes(key: str) -> float:
    """A size of this process from /proc, in MB of a million bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    raise LookupError(key)


def fit_and_weigh(n_rows: int, n_features: int, rounds: int) -> dict:
    """Of this process, which must be fresh: its peak is remembered for ever."""
    fit(replace(LOGISTIC, rounds=2), numeric_table(2_000, n_features, NOISY))  # loads libraries
    rows = numeric_table(n_rows, n_features, NOISY)
    resident, peak = status_megabytes("VmRSS"), status_megabytes("VmHWM")
    start = time.perf_counter()
    fit(replace(LOGISTIC, rounds=rounds), rows)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "input_mb": (rows.X.nbytes + rows.y.nbytes) / 1e6,
        "peak_before_mb": peak - resident,  # of making the table; hides a fit that needs less
        "above_input_mb": status_megabytes("VmHWM") - resident,
    }


def memory(n_rows: int, n_features: int = 28, *, quick: bool) -> dict:
    n_rows, rounds = (n_rows // 100, 3) if quick else (n_rows, 100)
    call = f"resources.fit_and_weigh({n_rows}, {n_features}, {rounds})"
    code = f"import json; from benchmarks.duels import resources; print(json.dumps({call}))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    bound = 1.2 * 2 * n_rows * n_features / 1e6 + 200
    return {"bound_mb": bound, **json.loads(done.stdout)}


@contextmanager
def busy_neighbour():
    """A process that keeps one core busy for as long as it is let."""
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        time.sleep(0.3)
        yield
    finally:
        process.kill()
        process.wait()


def slowdown(n_rows: int, n_features: int, turns: int, *, quick: bool) -> dict:
    n_rows, turns = (min(n_rows, 2_000), 2) if quick else (n_rows, turns)
    rows = numeric_table(n_rows, n_features, NOISY)
    alone, beside = [], []
    fit(LOGISTIC, rows)  # imports and threads
    for _ in range(turns):
        alone.append(seconds_of_fit(rows))
        with busy_neighbour():
            beside.append(seconds_of_fit(rows))
    ratio = statistics.median(beside) / statistics.median(alone)
    return {"alone": alone, "beside": beside, "ratio": ratio}


def seconds_of_fit(rows: Table) -> float:
    start = time.perf_counter()
    fit(LOGISTIC, rows)
    return time.perf_counter() - start


def by_rows(size: int) -> tuple[Task, Table]:
    return LOGISTIC, numeric_table(size, 28, NOISY)


def by_features(size: int) -> tuple[Task, Table]:
    return LOGISTIC, numeric_table(50_000, size, NOISY)


def by_trees(size: int) -> tuple[Task, Table]:
    return replace(LOGISTIC, rounds=size), numeric_table(100_000, 28, NOISY)


def growth(prepare: Callable[[int], tuple[Task, Table]], smallest: int, *, quick: bool) -> dict:
    smallest = max(10, smallest // 100) if quick else smallest
    sizes = [smallest, 2 * smallest, 4 * smallest, 8 * smallest]
    work = {str(size): partial(fit, *prepare(size)) for size in sizes}
    seconds = take_turns(work, 1 if quick else 5).fastest()
    slope, _ = np.polyfit(np.log(sizes), np.log([seconds[str(size)] for size in sizes]), 1)
    return {"seconds": seconds, "slope": float(slope)}


MEASURES: Mapping[str, Callable[..., dict]] = {
    "memory, 1 M x 28": partial(memory, 1_000_000),
    "memory, 10 M x 28": partial(memory, 10_000_000),
    "neighbour, 200 k x 28": partial(slowdown, 200_000, 28, 7),
    "neighbour, 4.7 k x 20": partial(slowdown, 4_700, 20, 21),
    "growth, rows": partial(growth, by_rows, 125_000),
    "growth, features": partial(growth, by_features, 50),
    # Reading and binning cost as much as 50 trees, and the first few hundred are larger than later.
    "growth, trees": partial(growth, by_trees, 800),
}


def verdict(*, reached: bool) -> str:
    return "reached" if reached else "missed"


def memory_table(entries: Mapping[str, dict]) -> str:
    rows = [
        [
            name,
            f"{entry['input_mb']:.0f}",
            f"{entry['above_input_mb']:.0f}",
            f"{entry['bound_mb']:.0f}",
            verdict(reached=entry["above_input_mb"] <= entry["bound_mb"]),
            f"{entry['seconds']:.2f}",
        ]
        for name, entry in entries.items()
    ]
    header = ["table", "input MB", "peak above it MB", "bound MB", "", "100 trees s"]
    return table("Memory and the large table", header, rows)


def neighbour_table(entries: Mapping[str, dict]) -> str:
    rows = [
        [
            name,
            f"{statistics.median(entry['alone']):.3f}",
            f"{statistics.median(entry['beside']):.3f}",
            f"{max(entry['beside']):.3f}",
            f"{entry['ratio']:.2f}",
            f"≤ {SLOWDOWN}",
            verdict(reached=entry["ratio"] <= SLOWDOWN),
        ]
        for name, entry in entries.items()
    ]
    header = ["table", "alone s", "beside a busy process s", "worst s", "ratio", "to reach", ""]
    return table(f"A busy neighbour, {N_THREADS} threads, medians", header, rows)


def growth_table(entries: Mapping[str, dict]) -> str:
    rows = []
    for name, entry in entries.items():
        points = ", ".join(f"{size}: {taken:.3f}" for size, taken in entry["seconds"].items())
        too_short = min(entry["seconds"].values()) < SHORTEST
        reached = verdict(reached=SLOPE[0] <= entry["slope"] <= SLOPE[1])
        remark = f"{reached}, but times below {SHORTEST} s" if too_short else reached
        rows.append([name, points, f"{entry['slope']:.2f}", "1 ± 0.1", remark])
    return table("Growth", ["with", "size: seconds", "slope", "to reach", ""], rows)


def tables(entries: Mapping[str, dict]) -> list[str]:
    parts = {"memory": memory_table, "neighbour": neighbour_table, "growth": growth_table}
    chosen = {
        part: {name: entry for name, entry in entries.items() if name.startswith(part)}
        for part in parts
    }
    return [make(chosen[part]) for part, make in parts.items() if chosen[part]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="a part of its name does")
    parser.add_argument("--quick", action="store_true", help="tiny tables; nothing is kept")
    chosen = parser.parse_args()
    limit_threads()
    book = Book(RESULTS, kept=not chosen.quick)
    for name, measure in MEASURES.items():
        if not chosen.only or any(part in name for part in chosen.only):
            book.put(name, measure(quick=chosen.quick))
    book.publish(tables(in_order(book.entries(), MEASURES)))


if __name__ == "__main__":
    main()
