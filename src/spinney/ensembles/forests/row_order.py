"""Rows in an order that what they hold decides, not where they stand."""

from dataclasses import replace
from hashlib import blake2b

import numpy as np

from spinney.data.table import Table
from spinney.ensembles.fitting import Reading
from spinney.ensembles.sharing import bits_of, mix_bits, mixed_bits
from spinney.typing import AnyArray, FloatArray

MOST_COLUMNS = 1024
"""Columns up to which all are mixed where the order of draws does not need it.

A walk over more would take longer than many a fit.
"""
DIGEST_BYTES = 16


def order_of_rows(table: Table, y: FloatArray) -> AnyArray:
    """Put rows in an order that depends on what stands in them, not on where they stand.

    Draws are draws of places. With this order the same rows are drawn whatever order they came in,
    and a row that stands there twice has the two places that one of weight 2 has.
    """
    return order_of_keys(row_keys(table, y), None)


def order_of_keys(keys: AnyArray, weights: FloatArray | None) -> AnyArray:
    """Put rows in the order of their keys, those that hold the same in that of their weights.

    Examples
    --------
    >>> order_of_keys(np.array([5, 3, 5]), np.array([0.4, 1.0, 0.2])).tolist()
    [1, 2, 0]
    """
    return np.argsort(keys, kind="stable") if weights is None else np.lexsort((weights, keys))


def row_keys(table: Table, y: FloatArray) -> AnyArray:
    """Mix what stands in each row, and its target, to 64 bits."""
    return _mixed_with(mixed_bits(table), y)


def target_keys(y: FloatArray) -> AnyArray:
    """Mix the target of each row to 64 bits."""
    return _mixed_with(np.zeros(len(y), np.uint64), y)


def _mixed_with(mixed: AnyArray, y: FloatArray) -> AnyArray:
    for output in y.reshape(len(mixed), -1).T:
        mix_bits(mixed, bits_of(output))
    return mixed


def rows_digest(keys: AnyArray, weights: FloatArray | None, *, in_order: bool) -> str:
    """Tell rows and what they weigh from others, by 128 bits; None for weights: all are 1.

    Where rows stand matters only if they are drawn ``in_order``.

    Examples
    --------
    >>> keys = np.array([3, 5], np.uint64)
    >>> rows_digest(keys, None, in_order=False) == rows_digest(keys[::-1], None, in_order=False)
    True
    """
    mixed = _mixed_with(keys.copy(), np.ones(len(keys)) if weights is None else weights)
    if not in_order:
        mixed.sort()
    return blake2b(mixed.astype("<u8").tobytes(), digest_size=DIGEST_BYTES).hexdigest()


def groups_by_content(codes: AnyArray, keys: AnyArray) -> AnyArray:
    """Give groups numbers by the keys of their rows, so that neither labels nor places matter.

    Examples
    --------
    >>> groups_by_content(np.array([0, 0, 1, 2]), np.array([9, 5, 7, 1])).tolist()
    [1, 1, 2, 0]
    """
    order = np.lexsort((keys, codes))
    ends = np.cumsum(np.bincount(codes))[:-1]
    held = [np.unique(own).tolist() for own in np.split(keys[order], ends)]
    numbers = np.empty(len(held), np.int32)
    numbers[sorted(range(len(held)), key=held.__getitem__)] = np.arange(len(held))
    return numbers[codes]


def in_order_of_targets(reading: Reading) -> tuple[Reading, AnyArray]:
    """Sort rows by their (first) target, equal ones by what else stands in them and they weigh.

    Returns
    -------
    tuple
        The reading in that order, and for each row that was given its new number; -1: of weight 0.
    """
    first, *others = reading.y.reshape(len(reading.y), -1).T
    weights = () if reading.weights is None else (reading.weights,)
    order = np.lexsort((*weights, *others, mixed_bits(reading.table), first))
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    if reading.kept is not None:
        given = np.full(reading.n_given, -1, np.int32)
        given[reading.kept] = place
        place = given
    return taken(reading, order), place


def taken(reading: Reading, order: AnyArray) -> Reading:
    """Give the rows in another order."""
    return replace(
        reading,
        table=reading.table.take(order),
        y=reading.y[order],
        weights=None if reading.weights is None else reading.weights[order],
        kept=None,
    )
