"""Rows that occur twice: within a table, and in two tables."""

import hashlib
from dataclasses import dataclass

import numpy as np

from spinney.data.table import Column, Kind, Table
from spinney.typing import AnyArray

_ODD = 0x9E3779B97F4A7C15
_MISSING = np.uint64(0x7FF8000000000000)


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many rows are there more than once."""

    n_repeated: int
    """Rows that are equal to an earlier one."""
    n_contradictory: int
    """Rows whose features are equal to those of a row with another target."""
    n_shared: int | None
    """Rows that are in the training table too; None if that is not known."""
    examples: tuple[tuple[int, int], ...]
    """Pairs of equal rows: the first, and a later one."""


def row_keys(table: Table) -> AnyArray:
    """Give 64 bits for each row; rows with the same values have the same bits.

    Rows with different values have different bits but for a chance of about n² / 2⁶⁵.
    """
    keys = np.full(table.n_rows, _ODD, np.uint64)
    for column in table.columns:
        keys = _mixed(keys ^ _bits(column, table.n_rows))
    return keys


def find_repeats(table: Table, target: AnyArray | None, train: Table | None) -> Repeats:
    """Look for rows that are there more than once."""
    keys = row_keys(table)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    later = np.flatnonzero(first[group] != np.arange(len(keys)))
    examples = tuple((int(first[group[row]]), int(row)) for row in later[:5])
    contradictory = 0
    if target is not None:
        targets = target if target.ndim == 1 else target[:, 0]
        differs = targets != targets[first[group]]
        n_of_group = np.bincount(group)
        in_conflict = np.bincount(group, differs) > 0
        contradictory = int(n_of_group[in_conflict].sum())
    shared = None if train is None else int(np.isin(keys, row_keys(train)).sum())
    return Repeats(len(later), contradictory, shared, examples)


def _bits(column: Column, n_rows: int) -> AnyArray:
    """Give the values of a column as integers: equal numbers have equal ones."""
    values = column.dense(n_rows)
    if column.kind is Kind.TEXT and column.levels is not None:  # its codes are of this table alone
        texts = [_text_bits(str(text)) for text in column.levels.values]
        return np.array([*texts, _MISSING], np.uint64)[values]
    if column.levels is not None:
        return values.astype(np.int64).view(np.uint64)
    numbers = values.astype(np.float64) + 0.0  # minus zero becomes zero
    bits: AnyArray = numbers.view(np.uint64).copy()
    bits[np.isnan(numbers)] = _MISSING
    return bits


def _text_bits(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _mixed(keys: AnyArray) -> AnyArray:
    """Stir bits: the finaliser of a well-known hash, on wrapping integers."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((keys ^ (keys >> np.uint64(31))) + np.uint64(_ODD))
