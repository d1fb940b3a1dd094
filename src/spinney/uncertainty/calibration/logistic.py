"""Logistic curves in few parameters, fitted to the last digit: Platt's and the beta family."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from spinney.typing import AnyArray, FloatArray
from spinney.uncertainty.checks import read_array, read_binary, read_probability, read_row_weights

LEAST_SHARE = 1e-12
"""Probabilities are kept this far from 0 and 1 before a logarithm is taken of them."""
_RIDGE = 1e-6
"""Penalty of squared parameters that keeps them finite where scores tell classes apart fully."""
_MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class PlattCurve:
    """p(s) = 1 / (1 + exp(-(slope s + intercept))).

    Examples
    --------
    >>> PlattCurve(2.0, 0.0)([0.0]).tolist()
    [0.5]
    """

    slope: float
    intercept: float

    def __call__(self, scores: Any) -> FloatArray:
        """Give the probability of each score."""
        return np.asarray(expit(self.slope * read_array("scores", scores) + self.intercept))


@dataclass(frozen=True, slots=True)
class BetaCurve:
    """p(s) = 1 / (1 + exp(-(a ln s - b ln(1 - s) + c))): with a = b = 1 and c = 0 the identity.

    Examples
    --------
    >>> BetaCurve(1.0, 1.0, 0.0)([0.25, 0.75]).round(6).tolist()
    [0.25, 0.75]
    """

    a: float
    b: float
    c: float

    def __call__(self, probability: Any) -> FloatArray:
        """Give the calibrated probability of each."""
        return np.asarray(expit(_beta_features(probability) @ np.array([self.a, self.b, self.c])))


def platt_curve(scores: Any, y: Any, *, sample_weight: Any = None) -> PlattCurve:
    """Fit a logistic curve to scores, with Platt's smoothed targets.

    With N₊ rows of class 1 and N₋ of class 0 the targets are (N₊ + 1) / (N₊ + 2) and 1 / (N₋ + 2),
    not 1 and 0: what an honest counter says after N rows. So the curve is finite even where scores
    tell the classes apart fully.

    Parameters
    ----------
    scores : n numbers
        Of rows that were not learnt from; larger for class 1.
    y : n numbers, 0 or 1
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    PlattCurve

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines.

    Examples
    --------
    >>> curve = platt_curve([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    >>> curve([-1.0, 0.0, 1.0]).round(3).tolist()
    [0.338, 0.5, 0.662]
    """
    values = read_array("scores", scores)
    hits, weights = _read_rows(y, sample_weight, len(values))
    centre = float(np.average(values, weights=weights))
    spread = float(np.abs(values - centre).max()) or 1.0
    features = np.column_stack([(values - centre) / spread, np.ones(len(values))])
    slope, intercept = _maximum(features, platt_targets(hits, weights), weights, ridge=0.0)
    return PlattCurve(float(slope / spread), float(intercept - slope * centre / spread))


def platt_targets(y: FloatArray, weights: FloatArray) -> FloatArray:
    """Give Platt's targets of rows of class 1 and of class 0."""
    n_hits = float(weights[y == 1].sum())
    n_misses = float(weights[y == 0].sum())
    return np.where(y == 1, (n_hits + 1) / (n_hits + 2), 1 / (n_misses + 2))


def beta_curve(probability: Any, y: Any, *, sample_weight: Any = None) -> BetaCurve:
    """Fit a curve of the beta family, which can also leave probabilities as they are.

    Parameters
    ----------
    probability : n numbers from 0 to 1
        Of class 1, for rows that were not learnt from.
    y : n numbers, 0 or 1
    sample_weight : n numbers, optional
        A weight of k counts as the row k times.

    Returns
    -------
    BetaCurve
        Rising: a parameter that would be negative is 0, and the others are fitted again.

    References
    ----------
    Kull, Silva Filho & Flach (2017), Beta calibration, AISTATS.

    Examples
    --------
    >>> beta_curve([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])([0.2]) > 0.2
    array([ True])
    """
    features = _beta_features(probability)
    hits, weights = _read_rows(y, sample_weight, len(features))
    free = np.array([True, True, True])
    while True:
        found = np.zeros(3)
        found[free] = _maximum(features[:, free], hits, weights, ridge=_RIDGE)
        falls = (found < 0) & np.array([True, True, False])
        if not falls.any():
            return BetaCurve(*map(float, found))
        free[int(np.argmin(np.where(falls, found, 0.0)))] = False


def _beta_features(probability: Any) -> FloatArray:
    given = np.clip(read_probability(probability), LEAST_SHARE, 1 - LEAST_SHARE)
    return np.column_stack([np.log(given), -np.log1p(-given), np.ones(len(given))])


def _read_rows(y: Any, sample_weight: Any, n_rows: int) -> tuple[FloatArray, FloatArray]:
    hits = read_binary(y, n_rows)
    weights = read_row_weights(sample_weight, n_rows)
    return hits, np.ones(n_rows) if weights is None else weights


def _maximum(
    features: FloatArray, targets: FloatArray, weights: FloatArray, *, ridge: float
) -> FloatArray:
    """Maximise the likelihood of a logistic curve by Newton's steps, halved until they help."""
    found = np.zeros(features.shape[1])
    loss = _loss(features @ found, targets, weights) + ridge * found @ found / 2
    for _ in range(_MOST_STEPS):
        chance = expit(features @ found)
        gradient = features.T @ (weights * (chance - targets)) + ridge * found
        curvature = (features.T * (weights * chance * (1 - chance))) @ features
        curvature += ridge * np.eye(len(found))
        step: AnyArray = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        size = 1.0
        while size > 1e-10:
            new = found - size * step
            lower = _loss(features @ new, targets, weights) + ridge * new @ new / 2
            if lower < loss:
                break
            size /= 2
        else:
            return found
        found, loss = new, lower
    return found


def _loss(raw: FloatArray, targets: FloatArray, weights: FloatArray) -> float:
    softplus = np.logaddexp(0.0, raw)
    return float((weights * (softplus - targets * raw)).sum())
