"""Distributions that give no row more than a multiple of its share, and programs over them."""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import Bounds, minimize
from scipy.special import rel_entr

from spinney.ensembles.margin.linear_programs import soft_margin_program
from spinney.typing import FloatArray

_SLACK = 1e-6
"""What a solver may leave undone of an edge."""


class _ProvedError(Exception):
    """There is no such distribution."""


def capped_softmax(scores: FloatArray, prior: FloatArray, most: float) -> FloatArray:
    """Give the distribution d_i = prior_i min(most, s e^score_i), with s such that it sums to 1.

    It is the one nearest to ``prior e^scores`` in relative entropy among those with
    d_i <= most prior_i.

    Parameters
    ----------
    scores : (n,) array
        Any finite numbers, of any size.
    prior : (n,) array
        Shares of the rows, sum 1.
    most : float
        At least 1; infinity for no cap.

    Examples
    --------
    >>> capped_softmax(np.log([8.0, 1.0, 1.0]), np.full(3, 1 / 3), most=1.5)
    array([0.5 , 0.25, 0.25])
    """
    counts = np.flatnonzero(prior > 0.0)
    order = counts[np.argsort(-scores[counts], kind="stable")]
    falling, shares = scores[order], prior[order]
    # With the first k rows at their cap, the others share what is left in proportion to e^score.
    tails = np.logaddexp.accumulate((np.log(shares) + falling)[::-1])[::-1]
    left = np.ones(1) if math.isinf(most) else 1.0 - most * (np.cumsum(shares) - shares)
    left = left[left > 0.0]
    log_scales = np.log(left) - tails[: len(left)]
    fits = falling[: len(left)] + log_scales <= math.log(most)
    k = int(np.argmax(fits)) if fits.any() else len(left) - 1
    result = np.zeros(len(scores))
    result[order] = shares * np.exp(np.minimum(falling + log_scales[k], math.log(most)))
    result /= result.sum()
    return result


def soft_margin(margins: FloatArray, caps: FloatArray) -> float:
    """Give the least mean of margins under distributions of at most ``caps``.

    With caps of 1 it is the least margin; with caps of 1 / (nu n) the mean of the nu n least.

    Examples
    --------
    >>> soft_margin(np.array([0.5, -1.0, 0.2]), np.full(3, 0.5))
    -0.4
    """
    order = np.argsort(margins, kind="stable")
    before = np.cumsum(caps[order]) - caps[order]
    shares = np.clip(1.0 - before, 0.0, caps[order])
    return float(shares @ margins[order] / shares.sum())


def smooth_soft_margin(
    margins: FloatArray, prior: FloatArray, most: float, eta: float = 1.0
) -> tuple[float, FloatArray]:
    """Give the least d·margins + KL(d, prior) / eta over capped distributions d, and that d."""
    worst = capped_softmax(-eta * margins, prior, most)
    return float(worst @ margins + rel_entr(worst, prior).sum() / eta), worst


def project_below_edges(
    matrix: FloatArray, highest: float, prior: FloatArray, most: float, start: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Find the capped distribution nearest to ``prior`` under which no edge exceeds ``highest``.

    By the dual, over a multiplier for each edge. Its values are lower bounds of the relative
    entropy, which is never more than ln most: a higher value proves that there is no such
    distribution.

    Parameters
    ----------
    matrix : (n, k) array
        Votes of the hypotheses.
    highest : float
        What no edge may exceed.
    prior, most
        As in ``capped_softmax``.
    start : (k,) array
        Multipliers to start from.

    Returns
    -------
    (distribution, multipliers) or None
        None if there is no such distribution.

    Examples
    --------
    >>> votes = np.array([[1.0], [1.0], [-1.0], [1.0]])
    >>> found, _ = project_below_edges(votes, 0.0, np.full(4, 0.25), 4.0, np.zeros(1))
    >>> found.round(6)
    array([0.166667, 0.166667, 0.5     , 0.166667])
    """
    farthest = math.log(most)

    def negative(multipliers: FloatArray) -> tuple[float, FloatArray]:
        value, worst = smooth_soft_margin(matrix @ multipliers, prior, most)
        value -= highest * float(multipliers.sum())
        if value > farthest + 1e-9:
            raise _ProvedError
        return -value, highest - worst @ matrix

    try:
        multipliers = _minimise(negative, start)
    except _ProvedError:
        return None
    _, worst = smooth_soft_margin(matrix @ multipliers, prior, most)
    if np.max(worst @ matrix) > highest + _SLACK:  # neither found nor proved: on the edge of both
        game = soft_margin_program(matrix, np.minimum(prior * most, 1.0))
        if game.value > highest:
            return None
    return worst, multipliers


def regularised_game(
    matrix: FloatArray, prior: FloatArray, most: float, eta: float, start: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Find weights whose smooth soft margin is largest.

    Weights are v / sum v with v >= 0: the function of v has no stationary points but those of the
    concave function of the weights, so that bounds are all the solver must know of the simplex.

    Parameters
    ----------
    matrix : (n, k) array
        Votes of the hypotheses.
    prior, most
        As in ``capped_softmax``.
    eta : float
        How little entropy counts.
    start : (k,) array
        Weights to start from, sum 1.

    Returns
    -------
    (value, distribution, weights)
    """

    def negative(free: FloatArray) -> tuple[float, FloatArray]:
        total = max(float(free.sum()), 1e-12)
        value, worst = smooth_soft_margin(matrix @ free / total, prior, most, eta)
        slope = worst @ matrix
        slope = (slope - slope @ free / total) / total
        return 0.5 * (total - 1.0) ** 2 - value, total - 1.0 - slope

    free = _minimise(negative, start)
    weights = free / free.sum()
    value, worst = smooth_soft_margin(matrix @ weights, prior, most, eta)
    return value, worst, weights


def _minimise(
    function: Callable[[FloatArray], tuple[float, FloatArray]], start: FloatArray
) -> FloatArray:
    """Run L-BFGS-B over non-negative numbers."""
    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(0.0, np.inf),
        options={"maxiter": 500, "maxcor": 20, "ftol": 1e-14, "gtol": 1e-8},
    )
    return np.asarray(found.x)
