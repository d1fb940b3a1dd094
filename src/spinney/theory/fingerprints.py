"""Fingerprints of rows: by them a certificate knows again what it was made of.

A fingerprint is 64 bits of the values of a row. The source of the table does not matter, nor do
the names of its columns: what counts is the values, in the order of the columns.
"""

import hashlib
from typing import Any

import numpy as np

from spinney.data.intake import read_table
from spinney.data.table import Column, Kind
from spinney.errors import InvalidInput, InvalidInputType
from spinney.randomness import mix_words
from spinney.typing import AnyArray, FloatArray, TableLike

_NUMBERS = bool | int | float
_SAME = 1e-9
"""How far the weight of the same rows may differ between two computations."""


def row_prints(X: TableLike) -> AnyArray | None:
    """Give the fingerprint of each row; None for what is no table.

    Examples
    --------
    >>> once, again = row_prints([[1, 2], [3, 4]]), row_prints(np.array([[3.0, 4.0], [1.0, 2.0]]))
    >>> bool((once == again[::-1]).all())
    True
    """
    try:
        table = read_table(X)
    except (InvalidInput, InvalidInputType):  # what foreign learners take may be anything
        return None
    prints = np.full(table.n_rows, table.n_features, np.uint64)
    for column in table.columns:
        prints = mix_words(mix_words(prints) ^ _words(column, table.n_rows))
    return prints


def label_prints(labels: AnyArray) -> AnyArray:
    """Give the fingerprint of each label; equal numbers are alike, whatever their type."""
    different, codes = np.unique(labels, return_inverse=True)
    plain = [float(one) if isinstance(one, _NUMBERS) else one for one in different.tolist()]
    words = np.array([_text_word(repr(one)) for one in plain], np.uint64)
    return words[codes]


def joined_prints(rows: AnyArray, labels: AnyArray) -> AnyArray:
    """Give the fingerprint of each row with its label."""
    return mix_words(mix_words(rows) ^ labels)


def difference(
    made_of: AnyArray, weights: FloatArray, given: AnyArray, given_weights: FloatArray
) -> str:
    """Say how rows differ from those that something was made of; nothing if they do not.

    Their order is no matter, and a weight is a repetition.
    """
    ours, totals = _totals(made_of, weights)
    theirs, given_totals = _totals(given, given_weights)
    strange = np.flatnonzero(~np.isin(given, ours))
    if len(strange):
        others = f", as are {len(strange) - 1} others" if len(strange) > 1 else ""
        return f"row {strange[0]} of X is none of those it was made of{others}"
    if len(ours) != len(theirs):
        return f"{len(ours) - len(theirs)} of the different rows it was made of are not in X"
    odd = np.abs(totals - given_totals) > _SAME * np.maximum(totals, given_totals)
    if odd.any():
        row = int(np.flatnonzero(np.isin(given, theirs[odd]))[0])
        at = int(np.searchsorted(theirs, given[row]))
        return (
            f"row {row} of X has a share of {given_totals[at]:g} of all weight, not of "
            f"{totals[at]:g}; give the sample_weight it was made with"
        )
    return ""


def order_of(made_of: AnyArray, given: AnyArray) -> AnyArray | None:
    """Give the rows of a table in the order of the same rows; None if they are not as many."""
    if len(made_of) != len(given):
        return None
    order = np.empty(len(given), np.int64)
    order[np.argsort(made_of, kind="stable")] = np.argsort(given, kind="stable")
    return order


def prints_to_text(prints: AnyArray) -> str:
    """Give fingerprints as text, 16 digits each."""
    return prints.astype(">u8").tobytes().hex()


def prints_from_text(name: str, text: Any, n_rows: int) -> AnyArray:
    """Read what ``prints_to_text`` gave."""
    try:
        prints = np.frombuffer(bytes.fromhex(text), ">u8")
    except (TypeError, ValueError):
        prints = np.empty(0)
    if len(prints) != n_rows:
        raise InvalidInput(
            f"{name}={str(text)[:20]!r}…: expected 16 hexadecimal digits for each of {n_rows} "
            "rows. Give what Certificate.to_dict() returned."
        )
    return prints.astype(np.uint64)


def _totals(prints: AnyArray, weights: FloatArray) -> tuple[AnyArray, FloatArray]:
    different, codes = np.unique(prints, return_inverse=True)
    return different, np.bincount(codes, weights, len(different)).astype(np.float64)


def _words(column: Column, n_rows: int) -> AnyArray:
    """Give 64 bits for each value of a column."""
    if column.kind is Kind.CATEGORICAL and column.levels is not None:
        levels = [_text_word(repr(level)) for level in column.levels.values]
        return np.array([*levels, 1], np.uint64)[column.dense(n_rows)]  # a code of -1 is the last
    numbers = column.dense(n_rows).astype(np.float64) + 0.0  # no zero is negative
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)


def _text_word(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
