"""Rows set aside by what stands in them, so that neither their order nor repetitions matter."""

from dataclasses import dataclass

import numpy as np

from spinney.ensembles.fitting import Reading
from spinney.ensembles.sharing import mixed_bits
from spinney.errors import InvalidInput
from spinney.randomness import Stream, random_bits
from spinney.resampling.assigning import latest_rows
from spinney.typing import AnyArray, FloatArray, IntArray

_MOST_REPETITIONS = 100
"""Mean of whole weights up to which rows are divided as if they stood there so often."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The rows on one side of a split."""

    rows: AnyArray
    """Their numbers, increasing."""
    weights: FloatArray | None
    """What of their weight is on this side; None: all weigh 1."""


def set_aside(
    reading: Reading,
    share: float,
    seed: int,
    groups: AnyArray | None = None,
    time: IntArray | None = None,
) -> tuple[Side, Side]:
    """Split rows in two: those that train, and a share that is set aside.

    Of every class its share is set aside, rounded down, so that a class keeps a row that trains. A
    row of weight 2 is two rows, which may be divided. With ``groups`` whole groups are set aside,
    with ``time`` the latest rows.

    Parameters
    ----------
    reading : the rows
    share : of the rows, above 0 and below 1
    seed : decides which rows
    groups : (n_rows,) codes of groups, or None
    time : (n_rows,) ranks of times, or None

    Returns
    -------
    tuple
        The side that trains, and the one set aside.
    """
    n_rows = len(reading.y)
    weights = np.ones(n_rows) if reading.weights is None else reading.weights
    if time is not None:
        if groups is not None:
            raise InvalidInput(
                "By time the latest rows are set aside, which would divide groups. Give groups or "
                "time to fit, not both."
            )
        aside = np.where(latest_rows(time, share, weights), weights, 0.0)
    elif groups is None:
        aside = _of_rows(reading, weights, share, seed)
    else:
        aside = _of_groups(groups, weights, share, seed)
    if not aside.any():
        kept = "group trains" if groups is not None else "row of a class trains"
        raise InvalidInput(
            f"No rows can be set aside of n_samples={n_rows}, since one {kept}. Give more rows, or "
            "set a larger share aside."
        )
    is_weighted = reading.weights is not None
    return _side(weights - aside, weighted=is_weighted), _side(aside, weighted=is_weighted)


def _side(weights: FloatArray, *, weighted: bool) -> Side:
    rows = np.flatnonzero(weights)
    return Side(rows, weights[rows] if weighted else None)


def _of_rows(reading: Reading, weights: FloatArray, share: float, seed: int) -> FloatArray:
    """Give the weight of each row that is set aside: every so many-th, in an order of hashes."""
    n_rows = len(weights)
    is_whole = bool((weights == np.rint(weights)).all())
    repeats = is_whole and weights.sum() <= _MOST_REPETITIONS * n_rows
    places = weights if repeats else np.ones(n_rows)
    strata = reading.y if reading.target.classes is not None else np.zeros(n_rows)
    order = np.lexsort((_content_bits(reading, seed), strata))
    ends = np.cumsum(places[order])
    starts = ends - places[order]
    first = starts[np.searchsorted(strata[order], strata[order])]
    passed = np.floor(share * (ends - first) + _ROUNDING)
    passed -= np.floor(share * (starts - first) + _ROUNDING)
    aside = np.empty(n_rows)
    aside[order] = passed * (weights / places)[order]
    return aside


def _of_groups(groups: AnyArray, weights: FloatArray, share: float, seed: int) -> FloatArray:
    """Set whole groups aside, in an order of hashes, while they fit better inside than outside."""
    order = np.argsort(_stirred(np.arange(groups.max() + 1), seed), kind="stable")
    totals = np.bincount(groups, weights)[order]
    middles = np.cumsum(totals) - totals / 2
    chosen = (middles < share * totals.sum()) & (np.arange(len(order)) < len(order) - 1)
    return np.where(np.isin(groups, order[chosen]), weights, 0.0)


def _content_bits(reading: Reading, seed: int) -> AnyArray:
    bits = _stirred(mixed_bits(reading.table), seed)
    for output in reading.y.reshape(len(reading.y), -1).T:
        one_zero = np.ascontiguousarray(output) + 0.0
        bits = _stirred(bits ^ one_zero.view(np.uint64), seed)
    return bits


def _stirred(keys: AnyArray, seed: int) -> AnyArray:
    """Turn keys into random bits that depend on the key and the seed alone."""
    bits = keys.astype(np.uint64) ^ np.uint64(random_bits(seed, Stream.ROWS, 0))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    return bits
