"""Hölder duality: a margin is a distance from a hyperplane, in the dual norm."""

import math
from typing import Any

import numpy as np

from spinney.errors import InvalidInput
from spinney.theory.checks import inside, number_array
from spinney.typing import FloatArray


def dual_exponent(q: float) -> float:
    """Give p with 1/p + 1/q = 1.

    Examples
    --------
    >>> dual_exponent(2), dual_exponent(1), dual_exponent(float("inf"))
    (2.0, inf, 1.0)
    """
    exponent = inside("q", q, 1.0, math.inf, closed="low high")
    if exponent == 1.0:
        return math.inf
    return 1.0 if math.isinf(exponent) else exponent / (exponent - 1.0)


def dual_norm(weights: Any, q: float) -> float:
    """Give the norm that is dual to the l_q norm: the largest w·v over v of l_q norm 1.

    Examples
    --------
    >>> dual_norm([3.0, -4.0], 2), dual_norm([3.0, -4.0], float("inf"))
    (5.0, 7.0)
    """
    w = number_array("weights", weights)
    return float(np.linalg.norm(w, dual_exponent(q)))


def lq_distance(weights: Any, point: Any, offset: float = 0.0, q: float = math.inf) -> Any:
    """Give the l_q distance of points from the hyperplane w·x + offset = 0.

    It is |w·x + offset| divided by the dual norm of w. With q = inf, w the alphas and x the answers
    of the base learners it is the absolute margin of boosting; with q = 2 that of a support
    vector machine.

    Parameters
    ----------
    weights : numbers, not all 0
    point : numbers
        One point, or one in each row.
    offset : float
    q : float in [1, inf]

    Returns
    -------
    distance : float, or an array with one for each point

    Examples
    --------
    >>> lq_distance([3.0, 4.0], [1.0, 1.0], offset=-2.0, q=2)
    1.0
    >>> lq_distance([0.5, 1.5], [[1.0, -1.0], [1.0, 1.0]]).tolist()
    [0.5, 1.0]
    """
    w, points, level = _plane(weights, point, offset)
    distances = np.abs(points @ w + level) / dual_norm(w, q)
    return float(distances[0]) if np.ndim(point) == 1 else distances


def nearest_on_plane(
    weights: Any, point: Any, offset: float = 0.0, q: float = math.inf
) -> FloatArray:
    """Give a point of the hyperplane at that distance: the witness that none is nearer.

    Parameters
    ----------
    weights : numbers, not all 0
    point : numbers
    offset : float
    q : float in [1, inf]

    Examples
    --------
    >>> nearest_on_plane([1.0, 3.0], [2.0, 2.0], q=1).tolist()
    [2.0, -0.6666...]
    """
    w, points, level = _plane(weights, np.atleast_2d(np.asarray(point)), offset)
    direction = _steepest(w, q)
    steps = (points[0] @ w + level) / (w @ direction)
    nearest: FloatArray = points[0] - steps * direction
    return nearest


def _steepest(w: FloatArray, q: float) -> FloatArray:
    """Give a direction in which w·x grows fastest for its l_q norm: equality in Hölder."""
    p = dual_exponent(q)
    if math.isinf(p):
        return np.where(np.arange(len(w)) == np.abs(w).argmax(), np.sign(w), 0.0)
    # Divided by the largest, powers neither overflow nor vanish altogether.
    steepest: FloatArray = np.sign(w) * (np.abs(w) / np.abs(w).max()) ** (p - 1.0)
    return steepest


def _plane(weights: Any, point: Any, offset: float) -> tuple[FloatArray, FloatArray, float]:
    w = number_array("weights", weights)
    points = number_array("point", point, n_axes=2 if np.ndim(point) == 2 else 1)
    level = inside("offset", offset, -math.inf, math.inf)
    if points.shape[-1] != len(w):
        raise InvalidInput(
            f"point has {points.shape[-1]} coordinates and weights {len(w)}: expected as many."
        )
    if not w.any():
        raise InvalidInput("weights is all 0: that is no hyperplane. Give a direction.")
    return w, np.atleast_2d(points), level
