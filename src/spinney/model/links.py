"""From raw scores to what the user asked for."""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import expit, softmax

from spinney.typing import FloatArray


def _identity(raw: FloatArray) -> FloatArray:
    return raw


def _logistic(raw: FloatArray) -> FloatArray:
    positive = expit(raw[:, 0])
    return np.column_stack([1.0 - positive, positive])


def _double_logistic(raw: FloatArray) -> FloatArray:
    return _logistic(2.0 * raw)


def _softmax(raw: FloatArray) -> FloatArray:
    probabilities: FloatArray = softmax(raw, axis=1)
    return probabilities


def _log(raw: FloatArray) -> FloatArray:
    return np.exp(raw)


LINKS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "identity": _identity,  # regression; or class shares that already are probabilities
    "logistic": _logistic,  # one raw score, the log-odds of the second class
    "double_logistic": _double_logistic,  # half the log-odds: what exponential loss estimates
    "softmax": _softmax,  # one raw score per class
    "log": _log,  # positive targets: counts, amounts
}
"""Inverse links by name: (n_rows, n_raw) raw scores to (n_rows, n_predictions)."""

BINARY_LINKS = frozenset({"logistic", "double_logistic"})
"""Links from one raw score to the probabilities of two classes."""
