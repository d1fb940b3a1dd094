"""Rows in an order that what they hold decides, not where they stand."""

from dataclasses import replace

import numpy as np

from spinney.data.table import Table
from spinney.ensembles.fitting import Reading
from spinney.typing import AnyArray

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xFF51AFD7ED558CCD)


def in_order_of_content(reading: Reading) -> tuple[Reading, AnyArray]:
    """Sort rows by their (first) target, equal ones by a hash of their features.

    Bootstrap draws go by the number of a row. In this order a table gives the same forest however
    its rows are shuffled, and a row of weight 3 the same as the row three times.

    Returns
    -------
    tuple
        The reading in that order, and for each row that was given its new number; -1: of weight 0.
    """
    first = reading.y.reshape(len(reading.y), -1)[:, 0]
    order = np.lexsort((row_hashes(reading.table), first))
    return _taken(reading, order), _places(reading, order)


def row_hashes(table: Table) -> AnyArray:
    """Give 64 bits for each row that depend on its values and nothing else."""
    hashes = np.zeros(table.n_rows, np.uint64)
    for column in table.columns:
        numbers = column.dense(table.n_rows).astype(np.float64) + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan  # one of the many
        hashes = (hashes ^ numbers.view(np.uint64)) * _ODD
        hashes = (hashes ^ (hashes >> np.uint64(33))) * _MIX
    return np.asarray(hashes ^ (hashes >> np.uint64(29)))


def _taken(reading: Reading, order: AnyArray) -> Reading:
    weights = None if reading.weights is None else reading.weights[order]
    return replace(reading, table=reading.table.take(order), y=reading.y[order], weights=weights)


def _places(reading: Reading, order: AnyArray) -> AnyArray:
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    if reading.kept is None:
        return place
    given = np.full(reading.n_given, -1, np.int32)
    given[reading.kept] = place
    return given
