"""What ``spinney train`` did to make a model: kept in its file, beside the model."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from spinney.errors import InvalidFile
from spinney.model.sections import Contents

_KEY = "training"
"""Its name in the header of a file; absent if nothing is known of the training."""
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FORM = re.compile(r"(%[aBbdHIMmpSYy]|[-/., :]){2,30}")
_MOST_ROWS = 2**48


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """Which rows a model learnt from, and how its columns were read."""

    target: str
    """Name of the column that is predicted."""
    n_rows: int
    """Rows with a target that the file had."""
    digest: str
    """SHA-256 of the table, in 64 hexadecimal digits; another order of rows has another one."""
    seed: int
    test_share: float
    """Share of the rows that was held out; 0: none."""
    n_held_out: int
    has_test_file: bool = False
    """Whether the rows to measure on came from another file."""
    is_refitted: bool = False
    """Whether the model learnt from the rows held out, too, after it was measured on them."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """How text of columns was read as dates, in the directives of ``strptime``."""

    def to_state(self) -> dict[str, Any]:
        """Give it as JSON has it."""
        return asdict(self) | {"dates": dict(self.dates)}

    @classmethod
    def from_state(cls, state: Any) -> "TrainingRecord":
        """Inverse of ``to_state``; what no training can have left is refused."""
        names = {one.name for one in fields(cls)}
        if not isinstance(state, dict) or set(state) != names:
            raise InvalidFile(f"{_WRONG} expected an object with {', '.join(sorted(names))}.")
        for name, (is_right, expected) in _EXPECTED.items():
            if not is_right(state[name]):
                raise InvalidFile(f"{_WRONG} {name} is {state[name]!r:.80}, expected {expected}.")
        record = cls(**state)
        contradicts = record.n_held_out >= record.n_rows
        contradicts |= bool(record.n_held_out) != bool(record.test_share)
        contradicts |= bool(record.n_held_out) and record.has_test_file
        if contradicts:
            raise InvalidFile(
                f"{_WRONG} it tells of {record.n_held_out} of {record.n_rows} rows held out, by a "
                f"share of {record.test_share!r}, which contradicts itself."
            )
        return record


_WRONG = "What the file tells of its training is wrong:"


def _is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _are_dates(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(form, str) and _FORM.fullmatch(form) is not None for form in value.values()
    )


_EXPECTED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "target": (lambda value: isinstance(value, str), "a text"),
    "n_rows": (lambda value: _is_whole(value, 1, _MOST_ROWS), "a number of rows"),
    "digest": (
        lambda value: isinstance(value, str) and _DIGEST.fullmatch(value) is not None,
        "64 hexadecimal digits",
    ),
    "seed": (lambda value: _is_whole(value, 0, 2**32 - 1), "a whole number below 2**32"),
    "test_share": (
        lambda value: type(value) is float and math.isfinite(value) and 0.0 <= value < 1.0,
        "a number from 0 to below 1",
    ),
    "n_held_out": (lambda value: _is_whole(value, 0, _MOST_ROWS), "a number of rows"),
    "has_test_file": (lambda value: isinstance(value, bool), "true or false"),
    "is_refitted": (lambda value: isinstance(value, bool), "true or false"),
    "dates": (_are_dates, "directives of dates, such as '%d/%m/%Y', by column"),
}


def add_record(meta: Mapping[str, Any], record: TrainingRecord | None) -> dict[str, Any]:
    """Put a record into the header of a file."""
    return dict(meta) if record is None else {**meta, _KEY: record.to_state()}


def part_record(contents: Contents) -> tuple[Contents, TrainingRecord | None]:
    """Take the record out of what a file holds, so that the readers of models need not know it."""
    if _KEY not in contents.meta:
        return contents, None
    meta = dict(contents.meta)
    record = TrainingRecord.from_state(meta.pop(_KEY))
    return replace(contents, meta=meta), record
