"""Tables in a terminal."""

import re
import unicodedata
from collections.abc import Sequence

_NUMBER = re.compile(r"[-+]?(\d[\d,]*\.?\d*|\.\d+|inf|nan)([eE][-+]?\d+)?( ?%| ?s| ?ms)?")
_WIDEST = 60
"""Columns of a cell at most: a hostile cell does not fill the screen."""


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print aligned columns under a header: text to the left, numbers to the right.

    Examples
    --------
    >>> print_table(("what", "value"), [("leaves", "12"), ("depth", "3")])
    what    value
    ------  -----
    leaves     12
    depth       3
    """
    lines = [[one_line(cell) for cell in line] for line in (header, *rows)]
    widths = [max(width_of(line[i]) for line in lines) for i in range(len(header))]
    to_right = [
        any(line[i] for line in lines[1:])
        and all(_NUMBER.fullmatch(line[i]) or not line[i] for line in lines[1:])
        for i in range(len(header))
    ]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        cells = (
            _padded(cell, width, right=right)
            for cell, width, right in zip(line, widths, to_right, strict=True)
        )
        print("  ".join(cells).rstrip())


def one_line(text: str) -> str:
    r"""Make text fit a cell: no control characters, and not too long.

    Examples
    --------
    >>> one_line("a\nb\x1b[31m")
    'a b [31m'
    """
    shown = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text)
    return shown if len(shown) <= _WIDEST else shown[: _WIDEST - 1] + "…"


def width_of(text: str) -> int:
    """Count the places that text takes in a terminal.

    Examples
    --------
    >>> width_of("naïve"), width_of("価格")
    (5, 4)
    """
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - width_of(text))
    return blanks + text if right else text + blanks
