"""Exponentials and logarithms of our own: the same bits on every machine.

Those of NumPy and of C libraries differ in the last digit between processors, and a digit can
decide a tie between two splits. The formulas are ``native/base/elementary.hpp``.
"""

import numpy as np

from spinney._native import _ext
from spinney.typing import AnyArray, FloatArray


def exp_of(numbers: AnyArray) -> FloatArray:
    """Give e to each number, at least e**-708 and at most e**709.

    Examples
    --------
    >>> exp_of(np.array([0.0, 1.0])).round(12).tolist()
    [1.0, 2.718281828459]
    """
    flat = np.ascontiguousarray(numbers, np.float64)
    return np.asarray(_ext.exact_exp_of(flat.reshape(-1))).reshape(flat.shape)


def log_of(numbers: AnyArray) -> FloatArray:
    """Give the natural logarithm of each positive number.

    Examples
    --------
    >>> log_of(np.array([1.0, 10.0])).round(12).tolist()
    [0.0, 2.302585092994]
    """
    flat = np.ascontiguousarray(numbers, np.float64)
    return np.asarray(_ext.exact_log_of(flat.reshape(-1))).reshape(flat.shape)


def exact_exp(number: float) -> float:
    """Give e to a number."""
    return float(_ext.exact_exp(number))


def exact_log(number: float) -> float:
    """Give the natural logarithm of a positive number."""
    return float(_ext.exact_log(number))
