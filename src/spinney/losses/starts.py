"""Where boosting begins: the raw scores of a constant that predicts the mean."""

import numpy as np

from spinney._native import _ext
from spinney.data.fixed_point import exact_total, fixed_products
from spinney.typing import FloatArray


def link_start(link: str, y: FloatArray, weights: FloatArray | None, n_raw: int = 1) -> FloatArray:
    """Raw scores under which a link gives the mean of y; of classes, their shares.

    Parameters
    ----------
    link : from raw scores to predictions
    y : (n_rows,), numbers or codes of classes
    weights : (n_rows,), positive; None: all 1
    n_raw : raw scores of a row

    Examples
    --------
    >>> link_start("logistic", np.array([0.0, 1.0, 1.0, 1.0]), None)
    array([1.09861229])
    """
    if link == "softmax":
        shares = [weighted_mean((y == k).astype(float), weights) for k in range(n_raw)]
        return np.array([_ext.exact_log(max(share, 1e-15)) for share in shares])
    mean = weighted_mean(y, weights)
    if link == "identity":
        return np.array([mean])
    if link == "log":
        return np.array([_ext.exact_log(mean) if mean > 0.0 else 0.0])
    # Both classes of a classifier are present, unless there is one only.
    share = min(max(mean, 1e-15), 1.0 - 1e-15)
    log_odds = _ext.exact_log(share / (1.0 - share))
    return np.array([0.5 * log_odds if link == "double_logistic" else log_odds])


def weighted_mean(y: FloatArray, weights: FloatArray | None) -> float:
    """Mean from exact integer sums, so that neither row order nor repetition changes it."""
    y = y.astype(np.float64, copy=False)
    if weights is None and np.abs(y).max() * len(y) < 2.0**53 and np.array_equal(y, np.rint(y)):
        return float(y.sum()) / len(y)  # codes of classes and counts: every order is exact
    ones = np.ones(len(y)) if weights is None else weights
    products, exponent = fixed_products(ones, y[:, np.newaxis])
    total = int(products.sum())
    return float(np.ldexp(float(total), exponent)) / exact_total(ones)
