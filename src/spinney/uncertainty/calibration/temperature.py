"""One number that makes all probabilities bolder or more timid."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from spinney.typing import AnyArray, FloatArray
from spinney.uncertainty.checks import read_array, read_codes, read_row_weights

_COLDEST, _HOTTEST = 0.01, 100.0


@dataclass(frozen=True, slots=True)
class TemperatureCurve:
    """Probabilities softmax(z / temperature) of scores z; which class is likeliest stays.

    Examples
    --------
    >>> TemperatureCurve(1.0)([[0.0, 0.0]]).tolist()
    [[0.5, 0.5]]
    """

    temperature: float

    def __call__(self, scores: Any) -> FloatArray:
        """Give probabilities; (n_rows, n_classes)."""
        given = read_array("scores", scores, n_axes=2)
        return np.asarray(softmax(given / self.temperature, axis=1))


def temperature_curve(scores: Any, y: Any, *, sample_weight: Any = None) -> TemperatureCurve:
    """Find the temperature at which what happened is likeliest, from 0.01 to 100.

    The log loss is convex in 1 / temperature, so where its derivative is 0 is the minimum.

    Parameters
    ----------
    scores : (n, n_classes) numbers
        Logarithms of probabilities, or any scores whose differences are log-odds, of rows that
        were not learnt from.
    y : n integers
        The column of each row's class.
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    TemperatureCurve

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017), On calibration of modern neural networks, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.log([[0.9, 0.1]] * 4)
    >>> temperature_curve(scores, [0, 0, 0, 1])(scores)[0].round(6).tolist()
    [0.75, 0.25]
    """
    given = read_array("scores", scores, n_axes=2)
    codes = read_codes(y, len(given), given.shape[1])
    known = read_row_weights(sample_weight, len(given))
    weights = np.ones(len(given)) if known is None else known
    least, most = (_slope(end, given, codes, weights) for end in (1 / _HOTTEST, 1 / _COLDEST))
    if least >= 0:
        return TemperatureCurve(_HOTTEST)
    if most <= 0:
        return TemperatureCurve(_COLDEST)
    found = brentq(
        _slope, 1 / _HOTTEST, 1 / _COLDEST, args=(given, codes, weights), xtol=1e-14, rtol=1e-14
    )
    return TemperatureCurve(float(1 / found))


def _slope(coldness: float, scores: FloatArray, codes: AnyArray, weights: FloatArray) -> float:
    """Give the derivative of the log loss by 1 / temperature."""
    expected = (softmax(coldness * scores, axis=1) * scores).sum(axis=1)
    return float((weights * (expected - scores[np.arange(len(codes)), codes])).sum())
