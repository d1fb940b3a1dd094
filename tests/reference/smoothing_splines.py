"""Penalised natural splines as matrices: values at knots, and solvers of SciPy."""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq


def natural_spline(knots, values):
    """The natural cubic spline through points, for numbers anywhere."""
    if len(knots) == 2:
        return lambda x: values[0] + (x - knots[0]) * (values[1] - values[0]) / np.ptp(knots)
    curve = CubicSpline(knots, values, bc_type="natural")
    low, high = knots[0], knots[-1]

    def evaluate(x):
        within = np.clip(x, low, high)
        slope = np.where(x < low, curve(low, 1), curve(high, 1))
        return curve(within) + slope * (x - within)

    return evaluate


def root_of_roughness(knots):
    """R with |R v|² the integral of the squared second derivative, of the spline through v."""
    if len(knots) == 2:
        return np.zeros((2, 2))
    bends = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")(knots, 2)
    products = np.zeros((len(knots), len(knots)))  # integrals of products of hats
    for k, gap in enumerate(np.diff(knots)):
        products[k : k + 2, k : k + 2] += gap / 6 * np.array([[2, 1], [1, 2]])
    return np.linalg.cholesky(products).T @ bends


def hat_matrix(x, weights, degrees, knots):
    """The smoother without its mean, n by n; missing values are neither used nor fitted."""
    known = ~np.isnan(x)
    values = np.column_stack([natural_spline(knots, one)(x[known]) for one in np.eye(len(knots))])
    roots = np.sqrt(weights[known])
    penalty = root_of_roughness((knots - knots[0]) / np.ptp(knots))

    def hat(size):
        # Least squares of rows and penalty together: normal equations would lose half the digits.
        both = np.linalg.qr(np.vstack([roots[:, np.newaxis] * values, np.exp(size) * penalty]))[0]
        upper = both[: len(roots)]
        return upper @ upper.T

    full = hat(-np.inf)
    if degrees < len(knots):
        full = hat(brentq(lambda s: np.trace(hat(s)) - degrees, -25, 10, xtol=1e-14, rtol=1e-14))
    matrix = np.zeros((len(x), len(x)))
    matrix[np.ix_(known, known)] = full * roots / roots[:, np.newaxis]
    matrix[np.ix_(known, known)] -= weights[known] / weights[known].sum()
    return matrix
