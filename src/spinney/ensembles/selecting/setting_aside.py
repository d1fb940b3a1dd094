"""Rows set aside by what stands in them, so that neither their order nor repetitions matter."""

import numpy as np

from spinney.ensembles.fitting import Reading
from spinney.ensembles.forests.row_order import mixed_bits
from spinney.errors import InvalidInput
from spinney.randomness import Stream, random_bits
from spinney.typing import AnyArray


def set_aside(
    reading: Reading, share: float, seed: int, groups: AnyArray | None = None
) -> tuple[AnyArray, AnyArray]:
    """Split rows in two: those that train, and a share of the weight that is set aside.

    Of every class its share is set aside, and a class keeps at least one row that trains. Rows that
    hold the same stay together, as a row of weight 2 does; with ``groups`` whole groups do.

    Parameters
    ----------
    reading : the rows
    share : of the weight, above 0 and below 1
    seed : decides which rows
    groups : (n_rows,) codes of groups, or None

    Returns
    -------
    tuple
        Numbers of the rows that train, and of those set aside; both increasing.
    """
    n_rows = len(reading.y)
    is_classes = reading.target.classes is not None and groups is None
    strata = reading.y if is_classes else np.zeros(n_rows)
    bits = _content_bits(reading, seed) if groups is None else _stirred(groups, seed)
    order = np.lexsort((bits, strata))
    weights = np.ones(n_rows) if reading.weights is None else reading.weights[order]
    is_new_stratum = np.diff(strata[order], prepend=-1.0) != 0
    is_new_unit = is_new_stratum | np.append(True, bits[order][1:] != bits[order][:-1])
    starts, stratum_of = np.flatnonzero(is_new_unit), np.cumsum(is_new_stratum)[is_new_unit] - 1
    unit_weights = np.add.reduceat(weights, starts)
    totals = np.bincount(stratum_of, unit_weights)
    before = np.cumsum(unit_weights) - unit_weights
    before -= before[np.searchsorted(stratum_of, stratum_of)]  # from where the stratum begins
    is_last = np.append(np.diff(stratum_of) > 0, True)
    aside = (before + unit_weights / 2 < share * totals[stratum_of]) & ~is_last
    is_aside = np.zeros(n_rows, bool)
    is_aside[order] = np.repeat(aside, np.diff(np.append(starts, n_rows)))
    if not is_aside.any():
        raise InvalidInput(
            f"No rows can be set aside of n_samples={n_rows} that differ enough: every "
            f"{'class' if is_classes else 'group' if groups is not None else 'value'} must keep "
            "one that trains. Give more rows, or set aside a larger share."
        )
    return np.flatnonzero(~is_aside), np.flatnonzero(is_aside)


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
