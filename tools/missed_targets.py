"""Read the tables of the duels and find what fell short of what was to be reached."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

NUMBER = r"[-+]?\d+(?:\.\d+)?"
AT_LEAST = re.compile(rf"^≥ ({NUMBER})$")
AT_MOST = re.compile(rf"^≤ ({NUMBER})(?: µs)?$")
BETWEEN = re.compile(rf"^({NUMBER}) to ({NUMBER})$")
AROUND = re.compile(rf"^({NUMBER}) ± ({NUMBER})$")
WITH_BOUND = re.compile(rf"^({NUMBER}) \((≤ {NUMBER})\)$")
MEASURED = ("ratio", "slope")


class Miss(NamedTuple):
    """A line of a table that fell short."""

    table: str
    line: str
    what: str
    measured: str
    to_reach: str


def missed(folder: Path) -> list[Miss]:
    """Give every line of the tables that fell short, file by file."""
    return [
        miss
        for path in sorted(folder.glob("*.md"))
        for title, head, rows in tables(path.read_text(encoding="utf-8"))
        for miss in misses(title, head, rows)
    ]


def missed_table(folder: Path) -> str:
    """Give the misses as a table of a page."""
    head = ["| table | line | what | measured | to reach |", "|---|---|---|---|---|"]
    return "\n".join([*head, *("| " + " | ".join(miss) + " |" for miss in missed(folder))])


def tables(text: str) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Give the tables of a page with their titles and heads."""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = re.sub(r" \(other processes .*\)$", "", part.split("\n", 1)[0])
        lines = [line for line in part.splitlines() if line.startswith("|")]
        cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
        if cells:
            yield title, cells[0], cells[2:]


def misses(title: str, head: list[str], rows: list[list[str]]) -> Iterator[Miss]:
    """Give the misses of one table."""
    if "within" in head:
        outside = [row[0] for row in rows if row[head.index("within")] == "no"]
        if outside:
            lines, many = ", ".join(outside), f"{len(outside)} of {len(rows)}"
            yield Miss(
                title.split(":", maxsplit=1)[0], lines, "not within one standard error", many, "0"
            )
        return
    for row in rows:
        line = f"{row[0]}, against {row[head.index('peer')]}" if "peer" in head else row[0]
        for what, value, bound in comparisons(head, row):
            if "missed" in row or ("reached" not in row and not holds(value, bound)):
                yield Miss(title, line, what, value, bound)


def comparisons(head: list[str], row: list[str]) -> Iterator[tuple[str, str, str]]:
    """Give what a line compares: what, the number, and the bound it has to keep."""
    for name, cell in zip(head, row, strict=True):
        if found := WITH_BOUND.match(cell):
            yield name, found[1], found[2]
    named = dict(zip(head, row, strict=True))
    if bound := named.get("bound MB"):
        yield "peak in MB", named["peak above it MB"], f"≤ {bound}"
    if bound := named.get("to reach"):
        if bound.endswith("µs"):
            yield "time", named["time"], bound
        else:
            before = list(zip(head, row, strict=True))[: head.index("to reach")]
            yield next((n, v, bound) for n, v in reversed(before) if is_measured(n, v))


def is_measured(name: str, value: str) -> bool:
    """Whether a column holds the number that is compared."""
    return name.startswith(MEASURED) and re.match(NUMBER, value) is not None


def holds(value: str, bound: str) -> bool:
    """Whether a number keeps its bound.

    Examples
    --------
    >>> holds("1.84", "≥ 2"), holds("4.8 µs", "≤ 5 µs"), holds("1.02", "0.9 to 1.1")
    (False, True, True)
    """
    number = float(re.match(NUMBER, value)[0])
    if found := AT_LEAST.match(bound):
        return number >= float(found[1])
    if found := AT_MOST.match(bound):
        return number <= float(found[1])
    if found := BETWEEN.match(bound):
        return float(found[1]) <= number <= float(found[2])
    if found := AROUND.match(bound):
        return abs(number - float(found[1])) <= float(found[2]) + 1e-9
    raise ValueError(f"{bound!r} is no bound that is known here")
