"""Results on disk: one JSON file of named entries and one page of tables per benchmark.

An entry is replaced only when its own workload was measured again, and every file is replaced in
one step, so that neither a partial run nor a crash loses what an earlier run found.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import describe


class Book:
    """The entries of one benchmark by workload, in a JSON file; ``kept=False`` writes nothing."""

    def __init__(self, path: Path, *, kept: bool = True) -> None:
        self.path = path
        self.kept = kept
        self.measured: dict[str, dict] = {}

    def entries(self) -> dict[str, dict]:
        """Everything known: what is on disk, and what this run measured in its place."""
        known = json.loads(self.path.read_text()) if self.kept and self.path.exists() else {}
        return {**known, **self.measured}

    def put(self, name: str, entry: Mapping) -> None:
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        self.measured[name] = {**entry, "when": when, "machine": describe()}
        if self.kept:
            replace(self.path, json.dumps(self.entries(), indent=1) + "\n")

    def publish(self, tables: Iterable[str]) -> None:
        """Print the tables, with what they were measured on, and keep them beside the entries."""
        text = "\n".join([*tables, where_measured(self.entries())])
        print(text)
        if self.kept:
            replace(self.path.with_suffix(".md"), text)


def replace(path: Path, text: str) -> None:
    """Write a file so that readers see the old text or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.write_text(text)
    draft.replace(path)


def in_order(entries: Mapping[str, dict], names: Iterable[str]) -> dict[str, dict]:
    """Those of the named entries that exist, in the order of the names."""
    return {name: entries[name] for name in names if name in entries}


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"## {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def where_measured(entries: Mapping[str, dict]) -> str:
    """One line per machine and day, with the workloads measured there."""
    places: dict[str, list[str]] = {}
    for name, entry in entries.items():
        machine = ", ".join(f"{key} {value}" for key, value in entry["machine"].items())
        day = entry.get("when", "at an unknown time").split(" ")[0]
        places.setdefault(f"{day}, {machine}", []).append(name)
    if len(places) == 1:
        return f"Measured {next(iter(places))}.\n"
    return "".join(f"Measured {place}: {'; '.join(names)}.\n" for place, names in places.items())
