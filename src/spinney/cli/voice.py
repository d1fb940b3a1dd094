"""What a command says, and where: answers on stdout, remarks on stderr."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from spinney.cli.tables import print_table


class Voice:
    """Says answers as text or as JSON, and remarks unless it is told to be quiet."""

    def __init__(self, *, as_json: bool = False, is_quiet: bool = False) -> None:
        self.as_json = as_json
        self.is_quiet = is_quiet

    def remark(self, text: str) -> None:
        """Say something that is no part of the answer."""
        if not self.is_quiet:
            print(text, file=sys.stderr)

    def line(self, text: str = "") -> None:
        """Say a line of the answer."""
        if not self.as_json:
            print(text)

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[Any]], *, most: int | None = None
    ) -> None:
        """Say a table of the answer; ``most`` rows of it."""
        if self.as_json:
            return
        print_table(header, [[_cell(cell) for cell in row] for row in rows[:most]])
        if most is not None and len(rows) > most:
            print(f"… and {len(rows) - most} more; --top {len(rows)} or --json shows them all")

    def document(self, answer: Mapping[str, Any]) -> None:
        """Say the whole answer to a machine."""
        if self.as_json:
            print(json.dumps(plain(answer), ensure_ascii=False, indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """Turn an answer into what JSON has: no NumPy, and null for numbers that are none.

    Examples
    --------
    >>> plain({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
