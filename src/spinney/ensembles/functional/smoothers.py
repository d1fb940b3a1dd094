"""Penalised cubic splines of one feature as linear smoothers with few degrees of freedom."""

from dataclasses import dataclass

import numpy as np

from spinney.model.natural_splines import NaturalSplines
from spinney.typing import FloatArray

N_KNOTS = 20
"""Knots of a feature, if it has as many distinct values."""


@dataclass(frozen=True, slots=True, eq=False)
class Smoother:
    """Splines that are orthonormal on the rows, each shrunk by itself (Demmler and Reinsch 1975).

    With Q their values times the roots of weights, as ``smoother_of`` gives it beside, the smoother
    is Q diag(shares) Qᵀ. The mean is no part of it.
    """

    splines: NaturalSplines
    coefficients: FloatArray
    """(n_knots, n_curves); the line comes first."""
    shares: FloatArray
    """How much of each is kept, above 0 and up to 1; all of the line."""


def smoother_of(
    x: FloatArray, weights: FloatArray, degrees: float
) -> tuple[Smoother, FloatArray] | None:
    """Make the smoother of a feature without missing values, and its Q; None if it is constant.

    It gives the spline with the least sum of weighted squares and penalty: the integral of its
    squared second derivative, times what makes the trace ``degrees`` with the mean counted. With a
    knot at every value it is the smoothing spline. Fewer values than degrees are fitted each by
    itself; of two, that is a line.
    """
    distinct, place = np.unique(x, return_inverse=True)
    splines = _splines_on(distinct) if len(distinct) else None
    if splines is None:
        return None
    roots = np.sqrt(np.bincount(place, weights))[:, np.newaxis]
    coefficients = _with_squares_as_penalty(splines)
    columns = splines.values(coefficients, distinct) * roots
    units, triangle = _orthonormal(columns)
    turns, sizes, back = np.linalg.svd(triangle[2:, 2:])
    # So little beside mean and line is rounding.
    sizes = sizes[sizes > 1e-8 * np.sqrt(np.square(columns).sum(axis=0).max())]
    shares = _shares_of(np.square(sizes), degrees - 2.0)
    shares = shares[shares > 0]
    n_bent = len(shares)
    straight = coefficients[:, :2] @ np.linalg.inv(triangle[:2, :2])
    bent = coefficients[:, 2:] - straight @ triangle[:2, 2:]
    turned = np.einsum("ij,jk->ik", units[:, 2:], turns[:, :n_bent])
    values = np.column_stack([units[:, 1], turned]) / roots
    coefficients = np.column_stack([straight[:, 1], bent @ back[:n_bent].T / sizes[:n_bent]])
    smoother = Smoother(splines, coefficients, np.append(1.0, shares))
    return smoother, values[place] * np.sqrt(weights)[:, np.newaxis]


def _splines_on(distinct: FloatArray) -> NaturalSplines | None:
    """Put knots evenly among the values, the least and the largest included."""
    least, largest = float(distinct[0]), float(distinct[-1])
    # Of a constant only rounding is left, which is not worth fitting; and a difference can be
    # beyond all doubles.
    if not 1e-12 * max(-least, largest) < largest - least < np.inf:
        return None
    n_knots = min(N_KNOTS, len(distinct))
    chosen = np.arange(n_knots) * (len(distinct) - 1) // (n_knots - 1)
    splines = NaturalSplines(distinct[chosen])
    while not splines.are_proper:  # some lie too close for the length of all
        splines = NaturalSplines(splines.knots[np.append(True, splines.gaps > 0)])
    return splines


def _with_squares_as_penalty(splines: NaturalSplines) -> FloatArray:
    """Give a constant, a line, and splines such that a sum's penalty is the sum of squared factors.

    The penalty of second derivatives b is bᵀ L Lᵀ b, so these are the columns of L⁻ᵀ.
    """
    coefficients = np.eye(len(splines.knots))
    coefficients[2:, 2:] = np.linalg.inv(np.linalg.cholesky(splines.roughness())).T
    return coefficients


def _orthonormal(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give Q and the triangle R of columns = Q R, by Gram and Schmidt, twice.

    Without BLAS, whose sums vary. Once leaves Q as far from orthonormal as columns are close to
    each other.
    """
    units, triangle = np.array(columns, order="F"), np.eye(columns.shape[1])
    for _ in range(2):
        step = np.zeros_like(triangle)
        for place in range(len(step)):
            unit, later = units[:, place], units[:, place + 1 :]
            size = np.sqrt(np.square(unit).sum())
            unit /= size if size > 0 else 1.0
            products = np.einsum("ij,i->j", later, unit)
            later -= unit[:, np.newaxis] * products
            step[place, place:] = np.append(size, products)
        triangle = step @ triangle
    return units, triangle


def _shares_of(sizes: FloatArray, degrees: float) -> FloatArray:
    """Give size / (size + penalty), with the penalty that makes the sum ``degrees``."""
    if degrees >= len(sizes):
        return np.ones(len(sizes))
    low, high = 0.0, float(sizes.sum()) / degrees if degrees > 0 else np.inf
    while low < (penalty := low + (high - low) / 2) < high:
        if (sizes / (sizes + penalty)).sum() > degrees:
            low = penalty
        else:
            high = penalty
    shares: FloatArray = sizes / (sizes + high)
    return shares
