"""The command line that duels of named workloads share."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.duels.peers import limit_threads
from benchmarks.keeping import Book, in_order


def run_workloads(
    description: str,
    path: Path,
    workloads: Mapping[str, object],
    duel: Callable[[object], dict],
    tables: Callable[[Mapping[str, dict]], Iterable[str]],
) -> None:
    """Measure the chosen workloads, show each as it ends, keep them, and show all that are kept.

    A workload has ``turns`` and a ``reduced()`` form; ``tables`` shows entries by name.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="a part of its name does")
    parser.add_argument("--turns", type=int, help="of each contender, instead of the default")
    parser.add_argument("--quick", action="store_true", help="tiny tables; nothing is kept")
    chosen = parser.parse_args()
    limit_threads()
    book = Book(path, kept=not chosen.quick)
    for name, workload in workloads.items():
        if chosen.only and not any(part in name for part in chosen.only):
            continue
        now = workload.reduced() if chosen.quick else workload
        book.put(name, duel(replace(now, turns=chosen.turns or now.turns)))
        print(*tables({name: book.measured[name]}), sep="\n", flush=True)
    book.publish(tables(in_order(book.entries(), workloads)))
