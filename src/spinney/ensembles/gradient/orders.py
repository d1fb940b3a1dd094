"""Training rows as several orders tell them, behind each other in one table of bins.

A statistic that one order tells is noise for the rows that stand first in it. So rounds take turns:
each grows its trees on the rows as one order tells them, from derivatives at the scores that the
sum gives to what this order tells. Rows of all orders have scores of their own.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spinney.data.binning import BinnedTable, Binner
from spinney.data.table import Table
from spinney.ensembles.gradient.rows import BoostingRows, Part
from spinney.typing import AnyArray

N_ORDERS = 4
"""Orders that rounds take turns with."""


def with_orders(rows: BoostingRows, told: Sequence[Table], n_threads: int) -> BoostingRows:
    """Put the training rows behind all others, once for each table that tells them otherwise.

    Bins of a sparse table stay as they are, with one order: in full they might not fit.
    """
    bins = rows.binned.bins
    if not told or not isinstance(bins, np.ndarray):
        return rows
    n, train = rows.n_rows, _numbers(rows)
    binner = Binner(rows.binned.features)
    more = [binner.transform(table, n_threads=n_threads).dense(n_threads) for table in told]

    def repeat(values: AnyArray) -> AnyArray:
        return np.asfortranarray(np.concatenate([values] + [values[train]] * len(told)))

    starts = [n + len(train) * number for number in range(len(told))]
    behind = [np.arange(start, start + len(train), dtype=np.uint32) for start in starts]
    validation = rows.validation
    if validation is not None and validation.weights is not None:
        nothing = np.zeros(len(train) * len(told))
        validation = replace(validation, weights=np.append(validation.weights, nothing))
    return replace(
        rows,
        binned=BinnedTable(np.concatenate([bins, *more]), binner.features),
        tables=[*rows.tables, *told],
        y=repeat(rows.y),
        weights=None if rows.weights is None else repeat(rows.weights),
        factors=None if rows.factors is None else repeat(rows.factors),
        offset=None if rows.offset is None else repeat(rows.offset),
        train=Part(
            None if rows.train.rows is None else np.concatenate([train, *behind]),
            None if rows.train.weights is None else repeat(rows.train.weights),
            rows.train.is_weighted,
        ),
        validation=validation,
        orders=(train, *behind),
    )


def _numbers(rows: BoostingRows) -> AnyArray:
    return rows.train.take(np.arange(rows.n_rows, dtype=np.uint32))
