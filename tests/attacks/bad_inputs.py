"""Bad inputs by name, and a safe place to try them: each one runs in a child process of its own.

A case is a small function that must raise. ``bad`` registers it with the pattern its message must
match, so that the message names the offending thing. The cases are in ``bad_tables.py``,
``bad_targets.py``, ``bad_parameters.py``, ``bad_boosting.py`` and ``bad_files.py``.

``python -m tests.attacks.bad_inputs`` reads names of cases and answers each with one line of JSON.
It imports everything, calls nothing, and forks: no thread of a pool exists yet, so a fork is safe,
and a crash or an endless loop costs only its own case.
"""

import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

SECONDS = 20
MODULES = ("bad_tables", "bad_targets", "bad_parameters", "bad_boosting", "bad_files")
GUESTS = ("pandas", "polars", "pyarrow", "scipy.sparse", "sklearn", "spinney.cli.__main__")


@dataclass(frozen=True)
class Case:
    """One bad input: what to do, what the message must say, and of which class it must be."""

    name: str
    attempt: Callable[[], Any]
    pattern: str
    raises: str
    """Name of an exception class; "" for any SpinneyError that is a ValueError or TypeError."""


CASES: dict[str, Case] = {}


def bad(pattern: str, *, raises: str = "") -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a function without arguments as a bad input."""

    def register(attempt: Callable[[], Any]) -> Callable[[], Any]:
        add(attempt.__name__, attempt, pattern, raises=raises)
        return attempt

    return register


def add(name: str, attempt: Callable[[], Any], pattern: str, *, raises: str = "") -> None:
    """Register one row of a table of bad inputs."""
    if name in CASES:
        raise AssertionError(f"two bad inputs are called {name}")
    CASES[name] = Case(name, attempt, pattern, raises)


def collect() -> dict[str, Case]:
    """Import every module of cases."""
    for module in MODULES:
        importlib.import_module(f"tests.attacks.{module}")
    return CASES


# What the cases share

X4 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 2.0]])
LABELS = np.array(["no", "no", "yes", "yes"])
NUMBERS = np.array([0.5, 1.5, 2.5, 3.5])


def classify(X: Any = X4, y: Any = LABELS, sample_weight: Any = None, **parameters: Any) -> Any:
    """Fit a classifier."""
    import spinney

    return spinney.DecisionTreeClassifier(**parameters).fit(X, y, sample_weight)


def regress(X: Any = X4, y: Any = NUMBERS, sample_weight: Any = None, **parameters: Any) -> Any:
    """Fit a regressor."""
    import spinney

    return spinney.DecisionTreeRegressor(**parameters).fit(X, y, sample_weight)


# The runner


def serve() -> None:
    """Try every case whose name is read from the standard input."""
    collect()
    for guest in (*GUESTS, "spinney.ensembles.trees.decision_tree", "spinney.io"):
        importlib.import_module(guest)
    for line in iter(sys.stdin.readline, ""):
        sys.stdout.write(json.dumps(_in_child(CASES[line.strip()])) + "\n")
        sys.stdout.flush()


def _in_child(case: Case) -> dict[str, Any]:
    receiver, sender = os.pipe()
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(receiver)
        os.write(sender, json.dumps(_attempt(case)).encode())
        os._exit(0)
    os.close(sender)
    answer = b"".join(iter(lambda: os.read(receiver, 65536), b""))
    os.close(receiver)
    _, status = os.waitpid(child, 0)
    seconds = time.monotonic() - start
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        ending = "hung" if number in (signal.SIGALRM, signal.SIGXCPU) else "crashed"
        return {"ending": ending, "message": signal.Signals(number).name, "seconds": seconds}
    if not answer:
        return {"ending": "crashed", "message": f"exit status {status}", "seconds": seconds}
    return {**json.loads(answer), "seconds": seconds}


def _attempt(case: Case) -> dict[str, Any]:
    """Inside the child. The alarms have no handler on purpose: they end even native code."""
    signal.alarm(SECONDS)
    # Where both limits are reached at once the system kills, and a hang would look like a crash.
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    with suppress(OSError), open(os.devnull, "w", encoding="utf-8") as silence:  # noqa: PTH123
        os.dup2(silence.fileno(), 1)
        os.dup2(silence.fileno(), 2)
    warnings.simplefilter("ignore")  # a warning is not enough, and must not hide what follows
    try:
        result = case.attempt()
    except BaseException as error:  # noqa: BLE001 - every kind is a finding
        return {
            "ending": "raised",
            "type": type(error).__name__,
            "bases": [base.__name__ for base in type(error).__mro__],
            "message": str(error)[:4000],
            "trace": "".join(traceback.format_exception(error)[-4:])[-2000:],
        }
    return {"ending": "accepted", "message": repr(result)[:200]}


if __name__ == "__main__":
    # This file is __main__ here; the cases register themselves with its importable twin.
    importlib.import_module("tests.attacks.bad_inputs").serve()
    sys.exit(0)
