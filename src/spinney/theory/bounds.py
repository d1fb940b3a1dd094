"""What the errors of the rounds say about the training rows: no probability, only arithmetic.

Throughout, ε is the weighted error of a round and gamma = ½ - ε; the edge 2 gamma is on the scale
of margins. A learner of error above ½ is as good as its opposite, of error 1 - ε.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlog1py, xlogy

from spinney.errors import InvalidInput
from spinney.results import Result, read_only
from spinney.theory.checks import count, error_array, inside, number_array
from spinney.typing import FloatArray

_BOUNDS = ("product", "power", "exponential_sum", "exponential")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrainingErrorBounds(Result):
    """Upper bounds of the training error after each round, each weaker than the first.

    The product is at most the power, which is at most the exponential; the product is at most the
    exponential of the sum, which is at most the exponential.
    """

    product: FloatArray
    """Product of the normalisers Z."""
    power: FloatArray
    """(1 - 4 gamma²)^(t/2), gamma the least so far."""
    exponential_sum: FloatArray
    """exp(-2 times the sum of gamma²)."""
    exponential: FloatArray
    """exp(-2 gamma² t), gamma the least so far."""

    def __post_init__(self) -> None:
        for name in _BOUNDS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the bounds, a row for each round."""
        rounds: dict[str, Sequence[Any]] = {"round": range(1, len(self.product) + 1)}
        return rounds | {name: getattr(self, name).tolist() for name in _BOUNDS}

    def title(self) -> str:
        """Say in a line what the table shows."""
        return f"Bounds of the training error over {len(self.product)} rounds"


def training_error_bounds(errors: Any, normalisers: Any = None) -> TrainingErrorBounds:
    """Bound the training error of AdaBoost after every round.

    Parameters
    ----------
    errors : numbers in [0, 1]
        The weighted error of each round.
    normalisers : positive numbers, optional
        What the weights were divided by; as a default 2 sqrt(ε (1 - ε)), as when each vote is
        ½ ln((1 - ε) / ε). With other votes only the product is a bound.

    Returns
    -------
    TrainingErrorBounds

    References
    ----------
    Freund, Schapire (1997), A decision-theoretic generalization of on-line learning and an
    application to boosting, Journal of Computer and System Sciences 55, theorem 6.

    Examples
    --------
    >>> bounds = training_error_bounds([0.3, 0.2142857, 0.1363636])
    >>> round(float(bounds.product[-1]), 5)
    0.51623
    """
    epsilon = error_array(errors)
    gamma = np.abs(0.5 - epsilon)
    least, rounds = np.minimum.accumulate(gamma), np.arange(1, len(gamma) + 1)
    logs = _log_normalisers(normalisers, epsilon)
    return TrainingErrorBounds(
        product=np.exp(np.cumsum(logs)),
        power=np.maximum(1.0 - 4.0 * least**2, 0.0) ** (rounds / 2.0),
        exponential_sum=np.exp(-2.0 * np.cumsum(gamma**2)),
        exponential=np.exp(-2.0 * least**2 * rounds),
    )


def rounds_needed(gamma: float, delta: float, *, exact: bool = False) -> int:
    """Count the rounds after which the training error is ``delta`` or less, for sure.

    Parameters
    ----------
    gamma : float in (0, ½]
        Every round's error is ½ - gamma or less.
    delta : float in (0, 1)
        The error to reach; below 1 / n_rows it means none.
    exact : bool
        Count by (1 - 4 gamma²)^(t/2) instead of exp(-2 gamma² t), which is larger.

    Examples
    --------
    >>> rounds_needed(0.1, 0.01), rounds_needed(0.1, 0.01, exact=True)
    (231, 226)
    """
    edge = inside("gamma", gamma, 0.0, 0.5, closed="high")
    wanted = -math.log(inside("delta", delta, 0.0, 1.0))
    if not exact:
        return math.ceil(wanted / (2.0 * edge**2))
    return 1 if edge == 0.5 else math.ceil(-2.0 * wanted / math.log1p(-4.0 * edge**2))


def margin_theorem(errors: Any, theta: Any) -> Any:
    """Bound the share of training rows whose margin is ``theta`` or less.

    The product over rounds of 2 sqrt(ε^(1-θ) (1-ε)^(1+θ)), for votes of ½ ln((1 - ε) / ε) of
    learners that answer -1 or 1. At θ = 0 it is the product of the normalisers.

    Parameters
    ----------
    errors : numbers in [0, 1]
    theta : float or numbers in [-1, 1]

    Returns
    -------
    bound : float, or an array with one for each ``theta``; above 1 it says nothing

    References
    ----------
    Schapire, Freund, Bartlett, Lee (1998), Boosting the margin, Annals of Statistics 26,
    theorem 5.

    Examples
    --------
    >>> round(margin_theorem([0.2, 0.2], 0.1), 4)
    0.7352
    """
    epsilon = error_array(errors)
    epsilon = np.minimum(epsilon, 1.0 - epsilon)
    thetas = number_array("theta", np.atleast_1d(theta), low=-1.0, high=1.0)
    # xlogy knows that at θ = 1 a round without an error counts ε^0 = 1.
    wrong = xlogy(1.0 - thetas[:, np.newaxis], epsilon)
    right = xlog1py(1.0 + thetas[:, np.newaxis], -epsilon)
    return _shaped(_exp((math.log(2.0) + 0.5 * (wrong + right)).sum(axis=1)), theta)


def margin_markov(alphas: Any, normalisers: Any, theta: Any) -> Any:
    """Bound the share of training rows whose margin is ``theta`` or less, for any votes.

    exp(θ times the sum of |alphas|) times the product of the normalisers: Markov's inequality for
    the exponential loss. With the votes of AdaBoost it is ``margin_theorem``.

    Parameters
    ----------
    alphas : numbers
    normalisers : positive numbers
    theta : float or numbers in [-1, 1]

    Examples
    --------
    >>> round(margin_markov([0.6931472, 0.6931472], [0.8, 0.8], 0.1), 4)
    0.7352
    """
    total, logs = _votes(alphas, normalisers)
    thetas = number_array("theta", np.atleast_1d(theta), low=-1.0, high=1.0)
    return _shaped(_exp(thetas * total + logs), theta)


def guaranteed_margin(alphas: Any, normalisers: Any, n_rows: int) -> float:
    """Give what the least training margin is no less than.

    No row's exp(-y F) exceeds n_rows times the product of the normalisers.

    Parameters
    ----------
    alphas : numbers
    normalisers : positive numbers
    n_rows : int

    Examples
    --------
    >>> round(guaranteed_margin([0.6931472] * 30, [0.8] * 30, 10), 4)
    0.2112
    """
    total, logs = _votes(alphas, normalisers)
    return -(math.log(count("n_rows", n_rows)) + logs) / total


def upsilon(edge: Any) -> Any:
    """Give the margin that AdaBoost reaches in the end if every edge is ``edge`` or more.

    -ln(1 - r²) / ln((1 + r) / (1 - r)) for an edge r: at least half of r, which is the largest
    margin there is if the learner is optimal.

    Parameters
    ----------
    edge : float or numbers in [0, 1]
        The edge 1 - 2ε, on the scale of margins.

    References
    ----------
    Rätsch, Warmuth (2005), Efficient margin maximizing with boosting, JMLR 6.

    Examples
    --------
    >>> round(upsilon(3 / 8), 5)
    0.19221
    """
    r = number_array("edge", np.atleast_1d(edge), low=0.0, high=1.0)
    within = np.where((r > 1e-8) & (r < 1.0), r, 0.5)
    values = -np.log1p(-(within**2)) / (2.0 * np.arctanh(within))
    ends = np.where(r < 1.0, 0.5 * r, 1.0)  # to the last bit, where squares would vanish
    return _shaped(np.where(r == within, values, ends), edge)


def _log_normalisers(normalisers: Any, epsilon: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        if normalisers is None:
            exact: FloatArray = np.log(2.0 * np.sqrt(epsilon * (1.0 - epsilon)))
            return exact
        values = number_array("normalisers", normalisers, low=0.0)
        if len(values) != len(epsilon):
            raise InvalidInput(
                f"There are {len(values)} normalisers and {len(epsilon)} errors: expected as many, "
                "one for each round."
            )
        logs: FloatArray = np.log(values)
        return logs


def _votes(alphas: Any, normalisers: Any) -> tuple[float, float]:
    """Give the sum of |alphas| and of the logarithms of the normalisers."""
    values = np.abs(number_array("alphas", alphas))
    factors = number_array("normalisers", normalisers, low=0.0)
    if len(values) != len(factors) or values.sum() <= 0.0 or factors.min() <= 0.0:
        raise InvalidInput(
            f"There are {len(values)} alphas of sum {float(values.sum())} and {len(factors)} "
            f"normalisers, the least {float(factors.min())}: expected one of each for each round, "
            "some vote, and no normaliser of 0."
        )
    return float(values.sum()), float(np.log(factors).sum())


def _exp(logs: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # a bound beyond all numbers says as little as one above 1
        values: FloatArray = np.exp(logs)
        return values


def _shaped(values: FloatArray, like: Any) -> Any:
    return float(values[0]) if np.ndim(like) == 0 else values
