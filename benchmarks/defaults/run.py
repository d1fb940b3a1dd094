"""Fit every contender's default on real tables, fold after fold, and keep each loss at once.

    python -m benchmarks.defaults.run FOLDER [--contender NAME ...] [--only TABLE ...]
                                      [--folds N] [--most-seconds CPU] [--again]

A run goes on where the last one stopped: what the file of results has is not fitted again, unless
``--again`` drops the lines of the chosen contenders first. All tables get their first fold before
any gets its second. Fits happen in a process of their own: one that takes longer than
``--most-seconds`` of CPU ends with it, and so does one that runs out of memory; the line says so,
and the next fit has a new process. ``python -m benchmarks.defaults.summary`` reads the file.
"""

import argparse
import contextlib
import csv
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterable
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.defaults import tables
from benchmarks.defaults.contenders import CONTENDERS, N_THREADS, PACKAGES

RESULTS = Path(__file__).parent / "results/losses.csv"
TOO_LONG = "took longer than"
"""How the error of a fit begins that was ended: nobody knows its loss."""
FIELDS = (
    "table",
    "task",
    "rows",
    "size_class",
    "categorical",
    "fold",
    "contender",
    "version",
    "loss",
    "constant_loss",
    "fit_seconds",
    "fit_cpu_seconds",
    "predict_seconds",
    "error",
)


def done(path: Path) -> list[dict[str, str]]:
    """The lines of the file; none when there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, lines: Iterable[dict]) -> None:
    """Replace the file in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    with draft.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(lines)
    draft.replace(path)


def append(path: Path, line: dict) -> None:
    """Add one line and see it to the disk."""
    if not path.exists():
        write(path, [])
    with path.open("a", newline="") as file:
        csv.DictWriter(file, FIELDS).writerow(line)
        file.flush()
        os.fsync(file.fileno())


def measure(entry: tables.Entry, contender: str, X, y, rows: tuple) -> dict:
    """Fit on the training rows, predict the others; an error is kept in place of the loss."""
    found, (train, test) = {"loss": "nan", "error": ""}, rows
    X_train, X_test, y_train, y_test = X.iloc[train], X.iloc[test], y[train], y[test]
    classes = None if entry.task == "regression" else np.unique(y_train)
    began, began_cpu = time.perf_counter(), time.process_time()
    try:
        predict = CONTENDERS[contender](entry.task, X_train, y_train)
        found["fit_seconds"] = f"{time.perf_counter() - began:.3f}"
        found["fit_cpu_seconds"] = f"{time.process_time() - began_cpu:.3f}"
        began = time.perf_counter()
        predicted = np.asarray(predict(X_test), dtype=np.float64)
        found["predict_seconds"] = f"{time.perf_counter() - began:.3f}"
        found["loss"] = f"{tables.loss(entry, y_test, predicted, classes):.8g}"
    except Exception as error:  # noqa: BLE001 - a peer that fails is a result
        found["error"] = f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
    return found


def work(orders: Connection, folder: Path, most_seconds: int | None) -> None:
    """Measure what is ordered, one fit after the other, until the other end closes.

    The first answer to an order is what is known before the fit. Each fit may use so many CPU
    seconds; the system ends the process of one that uses more, wherever it is.
    """
    warnings.simplefilter("ignore")
    held: tuple[Any, ...] = ()
    warm: set[str] = set()
    while True:
        try:
            entry, fold, contender = orders.recv()
        except EOFError:
            return
        if not held or held[0] != entry:
            held = (entry, *tables.read(folder, entry))
        _, X, y = held
        if contender not in warm:
            warm_up(contender)
            warm.add(contender)
        rows = list(tables.folds(entry, y))[fold]
        orders.send({"constant_loss": f"{tables.constant_loss(entry, *[y[r] for r in rows]):.8g}"})
        allow_seconds(most_seconds)
        found = measure(entry, contender, X, y, rows)
        allow_seconds(None)
        orders.send(found)


def warm_up(contender: str) -> None:
    """Fit a few rows, so that no table pays for what is loaded once."""
    import pandas as pd

    X = pd.DataFrame({"number": np.arange(200.0), "other": np.arange(200.0) % 7})
    with contextlib.suppress(Exception):  # what cannot be fitted says so on the table
        CONTENDERS[contender]("regression", X, X["other"].to_numpy())(X)


def allow_seconds(most: int | None) -> None:
    """Let this process use so many CPU seconds from now on; None: as many as it likes."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard if most is None else int(time.process_time()) + 1 + most
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


class Worker:
    """A process that fits; when a fit ends it, the next one begins another."""

    def __init__(self, folder: Path, most_seconds: int | None) -> None:
        self._about = (folder, most_seconds)
        self._process: Any = None

    def measured(self, entry: tables.Entry, fold: int, contender: str) -> dict:
        """Give the loss and the times of a fit, or what ended it."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._orders, theirs = context.Pipe()
            about = (theirs, *self._about)
            self._process = context.Process(target=work, args=about, daemon=True)
            self._process.start()
            theirs.close()
        self._orders.send((entry, fold, contender))
        known = self._orders.recv()
        try:
            return {**known, **self._orders.recv()}
        except EOFError:
            self._process.join()
            code, self._process = self._process.exitcode, None
            error = f"the process ended with code {code}"
            if code == -signal.SIGXCPU:
                error = f"{TOO_LONG} {self._about[1]} CPU seconds"
            return {**known, "loss": "nan", "error": error}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--contender", action="append", choices=list(CONTENDERS))
    parser.add_argument("--only", action="append", metavar="TABLE")
    parser.add_argument("--folds", type=int, default=tables.N_FOLDS)
    parser.add_argument("--most-seconds", type=int, metavar="CPU")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    names = chosen.contender or list(CONTENDERS)
    os.environ.setdefault("OMP_NUM_THREADS", str(N_THREADS))  # the worker inherits it
    entries = [e for e in tables.read_index(chosen.folder) if e.name in (chosen.only or [e.name])]
    lines = done(chosen.results)
    if chosen.again:
        gone = {entry.name for entry in entries}
        lines = [r for r in lines if r["contender"] not in names or r["table"] not in gone]
        write(chosen.results, lines)
    known = {(line["table"], line["fold"], line["contender"]) for line in lines}
    worker = Worker(chosen.folder, chosen.most_seconds)
    for fold in range(min(chosen.folds, tables.N_FOLDS)):
        for entry in entries:
            missing = [name for name in names if (entry.name, str(fold), name) not in known]
            for name in missing:
                found = worker.measured(entry, fold, name)
                line = {
                    "table": entry.name,
                    "task": entry.task,
                    "rows": entry.n_rows,
                    "size_class": entry.size_class,
                    "categorical": entry.n_categorical,
                    "fold": fold,
                    "contender": name,
                    "version": metadata.version(PACKAGES[name]),
                    **found,
                }
                append(chosen.results, line)
                print(entry.name, fold, name, found["loss"], found["error"], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
