"""What training rows say about all rows, with a stated chance of being wrong."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.errors import InvalidInput, InvalidParameter
from spinney.results import Result, read_only
from spinney.theory.checks import choice, count, inside, margin_array, number_array
from spinney.theory.complexity import Complexity
from spinney.typing import FloatArray

RHOS = tuple(float(rho) for rho in np.geomspace(0.01, 1.0, 25).round(6))
"""Margins that ``margin_risk`` tries unless told otherwise: fixed before any data is seen."""
_TERMS = ("rhos", "margin_losses", "complexity_terms", "deviations", "bounds")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MarginRisk(Result):
    """Upper bounds of the chance of an error on a new row, one for each margin ``rho``.

    With a chance of 1 - ``delta`` over the training rows all of them hold. A bound is the sum of
    the three terms before it.
    """

    rhos: FloatArray
    margin_losses: FloatArray
    """What is lost on the training rows by margins below rho."""
    complexity_terms: FloatArray
    deviations: FloatArray
    bounds: FloatArray
    delta: float
    complexity: Complexity

    def __post_init__(self) -> None:
        for name in _TERMS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def best(self) -> float:
        """The least of the bounds."""
        return float(self.bounds.min())

    @property
    def best_rho(self) -> float:
        """The margin that gives it."""
        return float(self.rhos[self.bounds.argmin()])

    @property
    def vacuous(self) -> bool:
        """Whether the best bound is 1 or more, and so says nothing."""
        return self.best >= 1.0

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the terms and the bound for each margin."""
        names = ("rho", "margin_loss", "complexity", "deviation", "bound")
        return {n: getattr(self, t).tolist() for n, t in zip(names, _TERMS, strict=True)}

    def title(self) -> str:
        """Say in a line what the table shows."""
        worth = " (vacuous)" if self.vacuous else ""
        return (
            f"Risk is at most {self.best:.4g}{worth}, with a chance of {1 - self.delta:g}; margin "
            f"{self.best_rho:g}, complexity by {self.complexity.method}"
        )


def margin_risk(
    margins: Any,
    complexity: Complexity,
    rhos: Any = RHOS,
    *,
    delta: float = 0.05,
    over: str = "grid",
    loss: str = "ramp",
) -> MarginRisk:
    """Bound the risk of a vote by its training margins (Koltchinskii and Panchenko).

    The margin loss, plus 2/rho times the Rademacher complexity R of the base learners, plus
    sqrt(ln(1/δ) / 2n). The number of rounds does not appear. Where R is that of the sample, known
    from drawn signs, the last term is 3 sqrt(ln(2/δ) / 2n) and the chance that the drawing failed
    comes off δ.

    Parameters
    ----------
    margins : numbers in [-1, 1]
        Normalised margins of the training rows, which must be independent draws, each counted once.
    complexity : Complexity
        Of the class of base learners.
    rhos : float or numbers in (0, 1]
    delta : float in (0, 1)
        Chance that a bound is wrong.
    over : "grid", "fixed" or "uniform"
        "grid": the margins were fixed before the data was seen and share ``delta``; "fixed": the
        same for one margin; "uniform": margins may have been chosen by looking at the data, which
        costs 4/rho instead of 2/rho and sqrt(ln log2(2/rho) / n).
    loss : "ramp" or "fraction"
        A row loses 1 - margin/rho, within [0, 1]; or 1 when its margin is rho or less.

    Returns
    -------
    MarginRisk

    References
    ----------
    Koltchinskii, Panchenko (2002), Empirical margin distributions and bounding the generalization
    error of combined classifiers, Annals of Statistics 30. Mohri, Rostamizadeh, Talwalkar (2018),
    Foundations of Machine Learning, chapters 5 and 7.

    Examples
    --------
    >>> from spinney.theory import massart_complexity
    >>> stumps = massart_complexity(("stumps", 2), 100_000)
    >>> found = margin_risk(np.full(100_000, 0.4), stumps, 0.4, over="fixed")
    >>> round(found.best, 4), found.vacuous
    (0.0842, False)
    """
    values = margin_array(margins)
    grid = _read_rhos(rhos, choice("over", over, ("grid", "fixed", "uniform")))
    _check_rows(len(values), complexity)
    losses = _margin_losses(values, grid, choice("loss", loss, ("ramp", "fraction")))
    left = inside("delta", delta, 0.0, 1.0) - complexity.failure
    if left <= 0.0:
        raise InvalidParameter(
            f"delta={delta!r} is not above {complexity.failure!r}, the chance that the complexity "
            "is wrong: expected more. Raise delta, or estimate with a smaller failure=."
        )
    share = left / {"grid": len(grid), "fixed": 1, "uniform": 2}[over]
    terms = (4.0 if over == "uniform" else 2.0) * complexity.value / grid
    spread = np.full(len(grid), _deviation(share, len(values), of_sample=complexity.of_sample))
    if over == "uniform":
        spread += np.sqrt(np.log(np.log2(2.0 / grid)) / len(values))
    return MarginRisk(grid, losses, terms, spread, losses + terms + spread, delta, complexity)


def combined_vc_dimension(vc: int, n_rounds: int) -> float:
    """Bound the VC dimension of votes of ``n_rounds`` base learners of VC dimension ``vc``.

    2 (d + 1) (T + 1) log2(e (T + 1)).

    References
    ----------
    Freund, Schapire (1997), theorem 8, for d of 2 or more; a smaller one is taken as 2.

    Examples
    --------
    >>> round(combined_vc_dimension(2, 1), 2)
    29.31
    """
    d, t = max(count("vc", vc), 2), count("n_rounds", n_rounds)
    return 2.0 * (d + 1) * (t + 1) * math.log2(math.e * (t + 1))


def vc_risk(training_error: float, n_rows: int, n_rounds: int, vc: int, delta: float) -> float:
    """Bound the risk of a vote by its training error and its number of rounds.

    The training error plus 2 sqrt((d (ln(2n/d) + 1) + ln(9/δ)) / n), d being the VC dimension of
    the votes. It grows with the rounds; margins explain why the risk often does not.

    Parameters
    ----------
    training_error : float in [0, 1]
    n_rows : int
    n_rounds : int
    vc : int
        VC dimension of the base learners.
    delta : float in (0, 1)
        Chance that the bound is wrong.

    Returns
    -------
    bound : float; 1 or more says nothing

    References
    ----------
    Freund, Schapire (1997), theorems 7 and 8.

    Examples
    --------
    >>> round(vc_risk(0.0, 1_000_000, 10, 2, 0.05), 4)
    0.1123
    """
    error = inside("training_error", training_error, 0.0, 1.0, closed="low high")
    n, chance = count("n_rows", n_rows), inside("delta", delta, 0.0, 1.0)
    d = combined_vc_dimension(vc, n_rounds)
    if d >= n:  # the theorem needs more rows than dimensions; any error is possible
        return error + 1.0
    inner = d * (math.log(2.0 * n / d) + 1.0) + math.log(9.0 / chance)
    return error + 2.0 * math.sqrt(inner / n)


def sample_complexity(
    epsilon: float, delta: float, *, n_hypotheses: int | None = None, vc: int | None = None
) -> int:
    """Count the rows after which a hypothesis without training errors is good, most likely.

    A hypothesis of the class that makes no error on that many independent rows has a risk of
    ``epsilon`` or less, with a chance of 1 - ``delta``.

    Parameters
    ----------
    epsilon : float in (0, 1)
    delta : float in (0, 1)
    n_hypotheses : int, optional
        Size of a finite class: (ln(size) + ln(1/δ)) / ε rows.
    vc : int, optional
        Or its VC dimension: the larger of (4/ε) log2(2/δ) and (8 d/ε) log2(13/ε) rows.

    References
    ----------
    Blumer, Ehrenfeucht, Haussler, Warmuth (1989), Learnability and the Vapnik-Chervonenkis
    dimension, Journal of the ACM 36.

    Examples
    --------
    >>> sample_complexity(0.1, 0.05, n_hypotheses=1000), sample_complexity(0.1, 0.05, vc=2)
    (100, 1124)
    """
    risk, chance = inside("epsilon", epsilon, 0.0, 1.0), inside("delta", delta, 0.0, 1.0)
    if (n_hypotheses is None) == (vc is None):
        raise InvalidParameter(
            f"n_hypotheses={n_hypotheses!r}, vc={vc!r}: expected exactly one of them. Give the "
            "size of a finite class, or the VC dimension of any."
        )
    if n_hypotheses is not None:
        return math.ceil(math.log(count("n_hypotheses", n_hypotheses) / chance) / risk)
    few, many = 4.0 * math.log2(2.0 / chance), 8.0 * count("vc", vc) * math.log2(13.0 / risk)
    return math.ceil(max(few, many) / risk)


def _read_rhos(rhos: Any, over: str) -> FloatArray:
    grid = number_array("rhos", np.atleast_1d(rhos), low=0.0, high=1.0)
    if grid.min() <= 0.0:
        raise InvalidInput(f"rhos holds {float(grid.min())}: expected margins in (0, 1].")
    if over == "fixed" and len(grid) != 1:
        raise InvalidParameter(
            f'over="fixed" is for one margin, but there are {len(grid)}. Use over="grid", which '
            "lets them share delta."
        )
    return grid


def _check_rows(n_rows: int, complexity: Complexity) -> None:
    if n_rows != complexity.n_rows:
        raise InvalidInput(
            f"There are {n_rows} margins, but the complexity is that of {complexity.n_rows} rows: "
            "expected the same rows."
        )


def _margin_losses(margins: FloatArray, rhos: FloatArray, loss: str) -> FloatArray:
    if loss == "ramp":
        losses = [np.clip(1.0 - margins / rho, 0.0, 1.0).mean() for rho in rhos]
    else:
        losses = [(margins <= rho).mean() for rho in rhos]
    return np.array(losses, np.float64)


def _deviation(share: float, n_rows: int, *, of_sample: bool) -> float:
    if of_sample:  # the loss and the complexity of the sample both stray
        return 3.0 * math.sqrt(math.log(2.0 / share) / (2.0 * n_rows))
    return math.sqrt(math.log(1.0 / share) / (2.0 * n_rows))
