"""Numbers as integers on a power-of-two grid, so that sums do not depend on their order."""

import math

import numpy as np

from spinney.typing import FloatArray, IntArray


def fixed_weights(weights: FloatArray, *, bits: int) -> tuple[IntArray, int]:
    """Find integers k >= 1 with ``weight ≈ k * 2**exponent`` and a sum below ``2**bits``.

    Integer weights come out exact (times a power of two), and the exponent depends on the total
    only, so a weight of 3 and the row three times give the same integers and the same sums.

    Examples
    --------
    >>> fixed_weights(np.array([1.0, 2.0, 0.5]), bits=5)
    (array([4, 8, 2]), -2)
    """
    exponent = total_exponent(weights) - bits + 1
    grid = np.rint(_scaled(weights, -exponent)).astype(np.int64)
    return np.maximum(grid, 1), exponent


def exact_total(weights: FloatArray) -> float:
    """Sum weights to the same number in every order.

    Examples
    --------
    >>> exact_total(np.array([0.1, 0.2, 0.3])) == exact_total(np.array([0.3, 0.2, 0.1]))
    True
    """
    integers, exponent = fixed_weights(weights, bits=62)
    return math.ldexp(float(int(integers.sum())), exponent)


def are_repeats(weights: FloatArray) -> bool:
    """Tell whether weights are whole, and few enough in all to be counted like rows.

    Examples
    --------
    >>> are_repeats(np.array([1.0, 3.0])), are_repeats(np.array([1.0, 0.5]))
    (True, False)
    """
    return bool(np.all(weights % 1.0 == 0.0)) and exact_total(weights) < 2.0**31


def total_exponent(weights: FloatArray) -> int:
    """Find the smallest e with ``sum(weights) < 2**e``, the same for every order of the weights.

    A floating-point sum could land on either side of a power of two, depending on its order;
    40-bit integers summed exactly cannot.
    """
    unit = 40 - math.frexp(float(weights.max()))[1]
    parts = np.rint(_scaled(weights, unit)).astype(np.int64)
    total = int((parts >> 20).sum()) * 2**20 + int((parts & (2**20 - 1)).sum())
    return total.bit_length() - unit


def fixed_products(weights: FloatArray, values: FloatArray) -> tuple[IntArray, int]:
    """Find integers k with ``weight * value ≈ k * 2**exponent``, no sum of which leaves 62 bits.

    With integer weights that add up to at most ``2**31`` (more rows no table has) the values are
    put on the grid before they are multiplied: the product is exact, and a weight of 3 and the
    row three times give the same sum. Other products are rounded once.

    Parameters
    ----------
    weights : (n_rows,), positive
    values : (n_rows, n_outputs), finite
    """
    magnitude = math.frexp(float(np.abs(values).max(initial=0.0)))[1]  # |value| < 2**magnitude
    total = total_exponent(weights)
    if are_repeats(weights):
        # 53 bits are all a float64 has: a finer grid would add nothing.
        exponent = magnitude - min(62 - total, 53)
        grid = np.rint(np.ldexp(values, -exponent)).astype(np.int64)
        return weights[:, np.newaxis].astype(np.int64) * grid, exponent
    shares = np.ldexp(weights, -total)[:, np.newaxis]
    integers = np.rint(np.ldexp(shares * values, 62 - magnitude)).astype(np.int64)
    return integers, magnitude + total - 62


def exact_sums(weights: FloatArray, values: FloatArray, starts: IntArray) -> FloatArray:
    """Sum ``weight * value`` over consecutive rows, to the same numbers in every order of them.

    Each sum has a grid of its own, so a sum of small numbers beside one of large ones keeps its
    digits. Where values are not finite, neither are sums.

    Parameters
    ----------
    weights : (n_rows,), positive
    values : (n_rows,)
    starts : (n_sums,), where the rows of each sum begin; the first is 0

    Examples
    --------
    >>> exact_sums(np.ones(4), np.array([1.0, 2.0, 0.25, 0.5]), np.array([0, 2]))
    array([3.  , 0.75])
    """
    if not np.isfinite(values).all():
        return np.add.reduceat(weights * values, starts)
    exponents = np.frexp(np.maximum.reduceat(np.abs(values), starts))[1]
    lengths = np.diff(starts, append=len(values))
    scaled = np.ldexp(values, np.repeat(-exponents, lengths))
    products, exponent = fixed_products(weights, scaled[:, np.newaxis])
    sums: FloatArray = np.add.reduceat(products[:, 0], starts).astype(np.float64)
    return np.asarray(np.ldexp(sums, exponents + exponent), np.float64)


def exact_sum(weights: FloatArray, values: FloatArray) -> float:
    """Sum ``weight * value`` over all rows, as ``exact_sums`` does."""
    return float(exact_sums(weights, values, np.zeros(1, np.int64))[0])


def _scaled(numbers: FloatArray, exponent: int) -> FloatArray:
    """Give ``numbers * 2**exponent``: ``np.ldexp``, ten times as fast where 2**exponent is a float.

    Both round once, so they agree to the last bit.
    """
    if -1022 <= exponent <= 1023:
        return numbers * math.ldexp(1.0, exponent)
    scaled: FloatArray = np.ldexp(numbers, exponent)
    return scaled
