"""From raw scores to what the user asked for; the formulas are ``native/model/links.inl``."""

import numpy as np

from spinney._native import _ext
from spinney.typing import FloatArray

LINKS = ("identity", "logistic", "double_logistic", "softmax", "log", "increasing")
"""Inverse links: numbers, or class shares that already are probabilities; one raw score, the
log-odds of the second class; half of them, what exponential loss estimates; one raw score per
class; positive numbers; numbers put in increasing order, which are quantiles that do not cross."""

BINARY_LINKS = frozenset({"logistic", "double_logistic"})
"""Links from one raw score to the probabilities of two classes."""


def apply_link(link: str, scores: FloatArray, *, n_threads: int = 1) -> FloatArray:
    """Turn (n_rows, n_raw) raw scores into (n_rows, n_predictions).

    Examples
    --------
    >>> import numpy as np
    >>> apply_link("logistic", np.array([[0.0], [800.0]])).tolist()
    [[0.5, 0.5], [3.3075530036384083e-308, 1.0]]
    """
    flat = np.ascontiguousarray(scores, np.float64).reshape(-1)
    return np.asarray(_ext.apply_link(link, flat, scores.shape[1], n_threads))
