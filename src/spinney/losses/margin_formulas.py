"""Formulas of the margin losses: value, slope and curvature of each, without overflow.

Every formula takes margins u and an order: 0 for φ(u), 1 for φ'(u), 2 for φ''(u). A logarithm takes
the same and gives ln φ, ln(-φ') and ln φ'': there margins of any size keep their proportions, long
after φ itself is 0 or infinity in 64 bits. At a kink slopes and curvatures are those to its right.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import expit, logit

from spinney.typing import AnyArray, FloatArray

Formula: TypeAlias = Callable[[FloatArray, int], FloatArray]
LN_2 = math.log(2.0)
_STEP = 2.0**-10
"""Distance of the points of numerical derivatives; a power of two, so that u + step is exact."""


def exponential(u: FloatArray, order: int) -> FloatArray:
    """exp(-u), of AdaBoost."""
    with np.errstate(over="ignore"):  # infinity is what the number is in 64 bits
        power: FloatArray = np.exp(-u)
    return -power if order == 1 else power


def exponential_logarithm(u: FloatArray, order: int) -> FloatArray:  # noqa: ARG001 - all the same
    """-u for all orders."""
    return -u


def logistic(u: FloatArray, order: int) -> FloatArray:
    """ln(1 + exp(-2u)), of LogitBoost: half the log-odds minimise it, as for the exponential."""
    if order == 0:
        return _softplus(-2.0 * u)
    slope = -2.0 * _share(-2.0 * u)
    return slope if order == 1 else -2.0 * slope * _share(2.0 * u)


def logistic_logarithm(u: FloatArray, order: int) -> FloatArray:
    """Ln ln(1 + x) is ln x once x = exp(-2u) is small beside 1."""
    if order == 0:
        return np.where(u > 20.0, -2.0 * u, np.log(_softplus(-2.0 * np.minimum(u, 20.0))))
    slope = LN_2 - _softplus(2.0 * u)
    return slope if order == 1 else LN_2 + slope - _softplus(-2.0 * u)


def hinge(u: FloatArray, order: int) -> FloatArray:
    """max(0, 1 - u), of support vector machines."""
    return np.maximum(1.0 - u, 0.0) if order == 0 else np.where(u < 1.0, -1.0, 0.0)


def squared_hinge(u: FloatArray, order: int) -> FloatArray:
    """max(0, 1 - u)²."""
    short = np.maximum(1.0 - u, 0.0)
    if order == 2:
        return np.where(u < 1.0, 2.0, 0.0)
    return -2.0 * short if order == 1 else short * short


def squared(u: FloatArray, order: int) -> FloatArray:
    """(1 - u)²: least squares on labels -1 and 1; it rises again beyond 1."""
    if order == 2:
        return np.full_like(u, 2.0)
    return 2.0 * (u - 1.0) if order == 1 else (1.0 - u) ** 2


def huberised_hinge(u: FloatArray, order: int) -> FloatArray:
    """max(0, 1 - u)² down to u = -1, from there on its tangent -4u."""
    near = squared_hinge(np.maximum(u, -1.0), order)
    far = {0: -4.0 * u, 1: np.full_like(u, -4.0), 2: np.zeros_like(u)}[order]
    return np.where(u < -1.0, far, near)


def mada(u: FloatArray, order: int) -> FloatArray:
    """1 - u below 0, exp(-u) above: no row ever weighs more than at the start."""
    power: FloatArray = np.exp(-np.maximum(u, 0.0))
    if order == 2:
        return np.where(u < 0.0, 0.0, power)
    return -power if order == 1 else np.where(u < 0.0, 1.0 - u, power)


def mada_logarithm(u: FloatArray, order: int) -> FloatArray:
    """Of a line below 0, of an exponential above."""
    below = {0: np.log1p(-np.minimum(u, 0.0)), 1: np.zeros_like(u), 2: np.full_like(u, -np.inf)}
    return np.where(u < 0.0, below[order], -u)


def savage(u: FloatArray, order: int) -> FloatArray:
    """1 / (1 + exp(2u))²: far on the wrong side a row hardly pulls any more."""
    share = _share(-2.0 * u)
    if order == 0:
        return share * share
    slope = -4.0 * share * share * _share(2.0 * u)
    return slope if order == 1 else -2.0 * slope * (2.0 - 3.0 * share)


def savage_logarithm(u: FloatArray, order: int) -> FloatArray:
    """Of value and slope; the curvature changes its sign."""
    value = -2.0 * _softplus(2.0 * u)
    return value if order == 0 else 2.0 * LN_2 + value - _softplus(-2.0 * u)


def tangent(u: FloatArray, order: int) -> FloatArray:
    """(2 arctan(u) - 1)²: bounded, and it rises again beyond tan(½)."""
    angle = 2.0 * np.arctan(u) - 1.0
    if order == 0:
        return angle * angle
    spread = 1.0 + u * u
    return 4.0 * angle / spread if order == 1 else 8.0 * (1.0 - u * angle) / spread**2


def zero_one(u: FloatArray, order: int) -> FloatArray:  # noqa: ARG001 - it has no slope
    """1 where u ≤ 0."""
    return np.where(u <= 0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Ramp:
    """min(2, max(0, 1 - λu)): it falls straight through 0, and no row costs more than 2."""

    sharpness: float = 1.0
    """λ"""

    def __call__(self, u: FloatArray, order: int) -> FloatArray:
        """Give it by order; there is no curvature."""
        steep = self.sharpness * u
        if order == 0:
            return np.clip(1.0 - steep, 0.0, 2.0)
        return np.where((steep >= -1.0) & (steep < 1.0), -self.sharpness, 0.0)

    def end(self, p: FloatArray) -> FloatArray:
        """Give the end of the slope on the side of the label of more than half; 0 at ½."""
        return side(p) / self.sharpness


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """1 - tanh(λu), of DOOM II."""

    sharpness: float = 1.0
    """λ"""

    def __call__(self, u: FloatArray, order: int) -> FloatArray:
        """Give it by order."""
        share = _share(-2.0 * self.sharpness * u)
        if order == 0:
            return 2.0 * share
        slope = -4.0 * self.sharpness * share * _share(2.0 * self.sharpness * u)
        return slope if order == 1 else -2.0 * self.sharpness * slope * (1.0 - 2.0 * share)


@dataclass(frozen=True, slots=True)
class SigmoidLogarithm:
    """Of value and slope of the sigmoid; the curvature changes its sign."""

    sharpness: float = 1.0

    def __call__(self, u: FloatArray, order: int) -> FloatArray:
        """Give it by order."""
        value = LN_2 - _softplus(2.0 * self.sharpness * u)
        if order == 0:
            return value
        return math.log(2.0 * self.sharpness) + value - _softplus(-2.0 * self.sharpness * u)


@dataclass(frozen=True, slots=True)
class Numerical:
    """Somebody's φ, its derivatives by differences unless the first is given.

    Five points a thousandth apart: for a φ as smooth as exp(-u) slopes have 12 digits and
    curvatures 9.
    """

    phi: Callable[[FloatArray], AnyArray]
    slope: Callable[[FloatArray], AnyArray] | None = None

    def __call__(self, u: FloatArray, order: int) -> FloatArray:
        """Give it by order."""
        with np.errstate(all="ignore"):  # steps that go too far are taken back by who made them
            if order == 0:
                return np.asarray(self.phi(u), np.float64)
            if order == 1 and self.slope is not None:
                return np.asarray(self.slope(u), np.float64)
            if order == 1:
                return _slope(self.phi, u)
            return _curvature(self.phi, u) if self.slope is None else _slope(self.slope, u)


def _slope(f: Callable[[FloatArray], AnyArray], u: FloatArray) -> FloatArray:
    near = f(u + _STEP) - f(u - _STEP)
    far = f(u + 2.0 * _STEP) - f(u - 2.0 * _STEP)
    return np.asarray((8.0 * near - far) / (12.0 * _STEP), np.float64)


def _curvature(f: Callable[[FloatArray], AnyArray], u: FloatArray) -> FloatArray:
    near = f(u + _STEP) + f(u - _STEP)
    far = f(u + 2.0 * _STEP) + f(u - 2.0 * _STEP)
    return np.asarray((16.0 * near - far - 30.0 * f(u)) / (12.0 * _STEP**2), np.float64)


def half_log_odds(p: FloatArray) -> FloatArray:
    """½ ln(p / (1 - p))."""
    return 0.5 * log_odds(p)


def log_odds(p: FloatArray) -> FloatArray:
    """ln(p / (1 - p))."""
    odds: FloatArray = logit(p)
    return odds


def twice_minus_one(p: FloatArray) -> FloatArray:
    """2p - 1: the mean of labels -1 and 1."""
    return 2.0 * p - 1.0


def side(p: FloatArray) -> FloatArray:
    """Sign of the label of more than half; 0 at ½."""
    return np.sign(2.0 * p - 1.0)


def far_side(p: FloatArray) -> FloatArray:
    """As far as can be towards the label of more than half; 0 at ½."""
    return np.where(p == 0.5, 0.0, np.copysign(np.inf, p - 0.5))


def centred_tangent(p: FloatArray) -> FloatArray:
    """tan(p - ½)."""
    return np.tan(p - 0.5)


def _softplus(x: FloatArray) -> FloatArray:
    """ln(1 + exp(x))."""
    return np.logaddexp(0.0, x)


def _share(x: FloatArray) -> FloatArray:
    """1 / (1 + exp(-x))."""
    share: FloatArray = expit(x)
    return share
