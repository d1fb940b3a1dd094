"""Which fold each row is in: functions of numbers and labels alone."""

import heapq

import numpy as np

from spinney.errors import InvalidInput
from spinney.randomness import RowBits, Stream
from spinney.typing import BoolArray, FloatArray, IntArray


def consecutive_folds(n_rows: int, n_folds: int) -> IntArray:
    """Cut the rows into runs of equal length; the first runs may have one row more.

    Examples
    --------
    >>> consecutive_folds(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    sizes = np.full(n_folds, n_rows // n_folds)
    sizes[: n_rows % n_folds] += 1
    return np.repeat(np.arange(n_folds), sizes)


def shuffled_folds(n_rows: int, n_folds: int, *, seed: int) -> IntArray:
    """Give each of every ``n_folds`` consecutive rows another fold, at random.

    Examples
    --------
    >>> shuffled_folds(8, 4, seed=1).tolist()
    [3, 1, 0, 2, 1, 3, 2, 0]
    >>> shuffled_folds(6, 4, seed=1).tolist()
    [3, 1, 0, 2, 1, 3]
    """
    n_runs = -(-n_rows // n_folds)
    n_all = n_runs * n_folds  # as if the last run were whole: its rows are where they would be then
    bits = RowBits(n_all)(seed, Stream.ROWS, range(n_all)).reshape(n_runs, n_folds)
    return np.argsort(np.argsort(bits, axis=1), axis=1).reshape(-1)[:n_rows]


def consecutive_folds_of_strata(strata: IntArray, n_folds: int) -> IntArray:
    """Cut each stratum into runs, so that strata and folds differ by one row at most.

    Examples
    --------
    >>> consecutive_folds_of_strata(np.array([0, 0, 1, 1, 1, 1]), 2).tolist()
    [0, 1, 0, 0, 1, 1]
    """
    _, first, codes = np.unique(strata, return_index=True, return_inverse=True)
    codes = np.argsort(np.argsort(first))[codes]  # strata by their first row, as in scikit-learn
    ordered = np.sort(codes)
    n_strata = len(first)
    share = np.array([np.bincount(ordered[f::n_folds], minlength=n_strata) for f in range(n_folds)])
    folds = np.empty(len(strata), np.int64)
    for stratum in range(n_strata):
        folds[codes == stratum] = np.repeat(np.arange(n_folds), share[:, stratum])
    return folds


def shuffled_folds_of_strata(strata: IntArray, n_folds: int, *, seed: int) -> IntArray:
    """Give each of every ``n_folds`` consecutive rows of a stratum another fold, at random.

    Examples
    --------
    >>> folds = shuffled_folds_of_strata(np.array([0, 0, 1, 1, 1, 1]), 2, seed=3)
    >>> sorted(folds[:2].tolist()), sorted(folds[2:].tolist())
    ([0, 1], [0, 0, 1, 1])
    """
    n_rows = len(strata)
    order = np.argsort(strata, kind="stable")
    sizes = np.bincount(strata)
    place = np.arange(n_rows) - (np.cumsum(sizes) - sizes)[strata[order]]
    bits = RowBits(n_rows)(seed, Stream.ROWS, range(n_rows))[order]
    order = order[np.lexsort((bits, place // n_folds, strata[order]))]
    folds = np.empty(n_rows, np.int64)
    # Counting on from stratum to stratum, so that what is left over goes to other folds each time.
    folds[order] = np.arange(n_rows) % n_folds
    return folds


def folds_of_groups(
    groups: IntArray, n_folds: int, *, strata: IntArray | None = None, seed: int | None = None
) -> IntArray:
    """Place groups, the largest first, where they are needed most.

    Without strata that is the smallest fold, with strata the one that lacks most of what the group
    has. Groups of equal size come in random order, or by their codes without a seed.

    Examples
    --------
    >>> folds_of_groups(np.array([0, 0, 0, 1, 1, 2]), 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    sizes = np.bincount(groups)
    n_groups = len(sizes)
    tie = np.arange(n_groups)
    if seed is not None:
        tie = RowBits(n_groups)(seed, Stream.ROWS, range(n_groups))
    order = np.lexsort((tie, -sizes))
    if strata is None:
        return _smallest_first(sizes, order, n_folds)[groups]
    n_strata = int(strata.max()) + 1
    counts = np.bincount(groups * n_strata + strata, minlength=n_groups * n_strata)
    return _neediest_first(counts.reshape(n_groups, n_strata), order, n_folds)[groups]


def _smallest_first(sizes: IntArray, order: IntArray, n_folds: int) -> IntArray:
    placed = np.empty(len(sizes), np.int64)
    heap = [(0, fold) for fold in range(n_folds)]
    for group in order.tolist():
        size, fold = heap[0]
        placed[group] = fold
        heapq.heapreplace(heap, (size + int(sizes[group]), fold))
    return placed


def _neediest_first(counts: IntArray, order: IntArray, n_folds: int) -> IntArray:
    """Keep the sum over folds and strata of (rows in the fold)² / (rows in all) small."""
    placed = np.empty(len(counts), np.int64)
    totals = np.maximum(counts.sum(axis=0), 1)
    filled = np.zeros((n_folds, counts.shape[1]), np.int64)
    n_empty = n_folds
    for left, group in zip(range(len(order), 0, -1), order.tolist(), strict=True):
        # One after the other, so that equal sums are equal on every machine.
        cost = np.cumsum(filled * (counts[group] / totals), axis=1)[:, -1]
        size = filled.sum(axis=1)
        if left == n_empty:  # no fold stays empty
            cost = np.where(size > 0, np.inf, cost)
        fold = int(np.lexsort((size, cost))[0])
        n_empty -= int(size[fold] == 0)
        placed[group] = fold
        filled[fold] += counts[group]
    return placed


def latest_rows(ranks: IntArray, share: float, weights: FloatArray | None = None) -> BoolArray:
    """Mark about a share of the rows, by weight: the latest ones, rows of the same time together.

    Examples
    --------
    >>> latest_rows(np.array([2, 0, 1, 2, 0]), 0.4).tolist()
    [True, False, False, True, False]
    """
    times, places = np.unique(ranks, return_inverse=True)
    if len(times) < 2:
        raise InvalidInput(
            "All rows are of the same time: expected two times at least, to learn from the earlier "
            "one. Give other times, or leave time out."
        )
    sizes = np.bincount(places, weights)[::-1]
    held = (np.cumsum(sizes) - sizes / 2 < share * sizes.sum())[::-1]
    held[0], held[-1] = False, True
    marked: BoolArray = held[places]
    return marked


def drawn_groups(
    groups: IntArray, share: float, weights: FloatArray | None = None, *, seed: int
) -> BoolArray:
    """Mark about a share of the rows, by weight: whole groups, in an order that the seed draws.

    Examples
    --------
    >>> drawn_groups(np.array([0, 1, 1, 2, 0]), 0.4, seed=3).tolist()
    [False, False, False, True, False]
    """
    codes, places = np.unique(groups, return_inverse=True)
    if len(codes) < 2:
        raise InvalidInput(
            "All rows are of the same group: expected two groups at least, to learn from one of "
            "them. Give other groups, or leave groups out."
        )
    order = np.argsort(RowBits(len(codes))(seed, Stream.ROWS, range(len(codes))), kind="stable")
    sizes = np.bincount(places, weights)[order]
    held = np.empty(len(codes), bool)
    held[order] = np.cumsum(sizes) - sizes / 2 < share * sizes.sum()
    held[order[0]], held[order[-1]] = True, False
    marked: BoolArray = held[places]
    return marked
