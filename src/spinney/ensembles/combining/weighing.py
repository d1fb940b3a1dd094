"""Weights of members: by theory, or the best ones for rows that members have not seen."""

from typing import Any

import numpy as np
from scipy.optimize import minimize, nnls

from spinney.data.fixed_point import exact_sum
from spinney.errors import InvalidInput, NotSolved
from spinney.typing import AnyArray, FloatArray

_SLACK = 1e-6
"""By how much a gradient may miss the conditions of an optimum, relative to its size."""


def products(columns: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Sum products of columns over rows, to the same numbers in every order of the rows.

    Parameters
    ----------
    columns : (n_columns, n_rows)
    weights : (n_rows,), positive; None: one each
    """
    n_columns, n_rows = columns.shape
    row_weights = np.ones(n_rows) if weights is None else weights
    sums = np.empty((n_columns, n_columns))
    for i in range(n_columns):
        for j in range(i + 1):
            sums[i, j] = sums[j, i] = exact_sum(row_weights, columns[i] * columns[j])
    return sums


def simplex_weights(errors: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Find weights that are not negative, sum to 1 and make the squared error least.

    With weights that sum to 1 the error of a mixture is the mixture of the errors, so the best one
    is the point of their convex hull that is nearest to 0. That point is a solution of non-negative
    least squares: minimise ``|E v|² + (sum(v) - 1)²``, then divide by the sum. (For ``v = t w``
    the best t leaves ``|E w|² / (1 + |E w|²)``, which grows with ``|E w|²``.)

    Parameters
    ----------
    errors : (n_members, n_rows)
        Of answers to rows that the members have not seen.
    weights : (n_rows,), optional

    Examples
    --------
    >>> simplex_weights(np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([0.5, 0.5])
    >>> simplex_weights(np.array([[1.0, 1.0], [2.0, 3.0]]))
    array([1., 0.])
    """
    squares = products(errors, weights)
    n_members, size = len(squares), float(np.trace(squares))
    if not size > 0:  # all are perfect
        return np.full(n_members, 1.0 / n_members)
    root = _root(squares * (n_members / size))
    found, _ = nnls(np.vstack([root, np.ones(n_members)]), np.eye(n_members + 1)[n_members])
    return np.asarray(found / found.sum())


def nonnegative_weights(
    answers: FloatArray, y: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Find weights that are not negative and make the squared error of the weighted sum least.

    Breiman's stacked regressions: no constant, and the weights need not sum to 1.

    Parameters
    ----------
    answers : (n_members, n_rows)
        To rows that the members have not seen.
    y : (n_rows,)
    weights : (n_rows,), optional

    References
    ----------
    Breiman (1996), Stacked regressions, Machine Learning 24.

    Examples
    --------
    >>> members = np.array([[1.0, 2.0, 3.0], [1.0, 0.0, 0.0]])
    >>> nonnegative_weights(members, np.array([2.0, 4.0, 6.0])).round(12)
    array([2., 0.])
    """
    sums = products(np.vstack([answers, y]), weights)
    squares, target = sums[:-1, :-1], sums[:-1, -1]
    size = float(np.trace(squares))
    if not size > 0:
        return np.zeros(len(squares))
    values, vectors = np.linalg.eigh(squares / size)
    is_some = values > len(values) * np.finfo(float).eps * values[-1]
    roots = np.sqrt(values[is_some])
    directions = vectors[:, is_some].T
    found, _ = nnls(roots[:, np.newaxis] * directions, (directions @ (target / size)) / roots)
    return np.asarray(found)


def likelihood_weights(shares: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Find weights that are not negative, sum to 1 and make the log loss of the mixture least.

    Parameters
    ----------
    shares : (n_members, n_rows)
        The probability each member gives to the right class.
    weights : (n_rows,), optional

    Examples
    --------
    >>> likelihood_weights(np.array([[0.9, 0.8], [0.5, 0.4]])).round(6)
    array([1., 0.])
    """
    n_members, n_rows = shares.shape
    row_weights = np.ones(n_rows) if weights is None else weights
    parts = row_weights / row_weights.sum()
    kept = np.maximum(shares, 1e-15)

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        mixture = (w[:, np.newaxis] * kept).sum(axis=0).clip(1e-300)
        return float(-(parts * np.log(mixture)).sum()), -(kept * (parts / mixture)).sum(axis=1)

    ones = np.ones(n_members)
    found: Any = minimize(
        loss,
        ones / n_members,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n_members,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda _: ones},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    best = np.maximum(np.asarray(found.x), 0.0)
    best /= best.sum()
    slope = -loss(best)[1]  # at the optimum: 1 where there is weight, at most 1 elsewhere
    if slope.max() > 1 + 1e3 * _SLACK:
        raise NotSolved(
            f"Weights of least log loss were not found: {found.message}. Use loss='squared_error'."
        )
    return np.asarray(best)


def log_odds_weights(accuracies: Any, n_classes: int = 2) -> FloatArray:
    """Give the weights by which votes of independent members are worth most.

    A member that is right with probability p, and otherwise says any wrong class alike, has the
    weight ``log(p (K - 1) / (1 - p))``: then the weighted vote is Bayes' decision. Below chance it
    is negative.

    Parameters
    ----------
    accuracies : one number per member, strictly between 0 and 1
    n_classes : K

    References
    ----------
    Nitzan and Paroush (1982), Optimal decision rules in uncertain dichotomous choice situations,
    International Economic Review 23.

    Examples
    --------
    >>> log_odds_weights([0.5, 0.9, 0.1]).round(3)
    array([ 0.   ,  2.197, -2.197])
    """
    p = np.asarray(accuracies, np.float64)
    if p.ndim != 1 or not ((p > 0) & (p < 1)).all():
        raise InvalidInput(
            f"accuracies={p.tolist()}: expected numbers strictly between 0 and 1. Who is never "
            "wrong would outvote everybody; count (hits + 1/2) / (rows + 1)."
        )
    return np.asarray(np.log(p * (n_classes - 1) / (1 - p)))


def _root(squares: FloatArray) -> FloatArray:
    """Give R with RᵀR = squares."""
    values, vectors = np.linalg.eigh(squares)
    root: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    return root


def is_best_on_simplex(squares: AnyArray, weights: FloatArray, *, slack: float = _SLACK) -> bool:
    """Tell whether weights fulfil the conditions of Karush, Kuhn and Tucker for the simplex.

    The gradient of ``wᵀ squares w`` is the same wherever there is weight, and nowhere less.

    Examples
    --------
    >>> is_best_on_simplex(np.eye(2), np.array([0.5, 0.5]))
    True
    >>> is_best_on_simplex(np.eye(2), np.array([0.9, 0.1]))
    False
    """
    gradient = squares @ weights
    level = float(weights @ gradient)
    room = slack * max(float(np.abs(squares).max()), np.finfo(float).tiny)
    used = weights > slack
    return bool((gradient >= level - room).all() and (np.abs(gradient[used] - level) <= room).all())
