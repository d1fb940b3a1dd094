"""Boosting as a game: rows against hypotheses, and the value both can secure.

The matrix has what column's hypothesis earns on a row, y h(x): one player mixes columns to earn
much on every row (a margin), the other mixes rows so that no column earns much (an edge).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from spinney.errors import NotSolved
from spinney.results import Result, read_only
from spinney.theory.checks import count, inside, number_array
from spinney.typing import FloatArray

_SOLVED = 1e-7
"""A gap that an optimal pair of strategies may have from rounding, for entries of size 1."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GameSolution(Result):
    """Two strategies, what each of them secures, and so how good they are.

    Whatever the strategies are, the value of the game lies between ``lower`` and ``upper``: the
    two numbers are computed from the matrix and prove themselves.
    """

    vote: FloatArray
    """Weights of the columns: the vote."""
    distribution: FloatArray
    """Weights of the rows: the distribution that is hardest for every column."""
    lower: float
    """What the vote earns on every row at least: the minimum margin (primal value)."""
    upper: float
    """What any column earns at most under the distribution: the largest edge (dual value)."""

    def __post_init__(self) -> None:
        for name in ("vote", "distribution"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def value(self) -> float:
        """The value of the game, to within half of the gap."""
        return 0.5 * (self.lower + self.upper)

    @property
    def gap(self) -> float:
        """By how much the two strategies may miss the value; von Neumann: 0 for the best."""
        return self.upper - self.lower

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the numbers in one row."""
        names = ("lower", "upper", "gap", "value")
        return {name: [getattr(self, name)] for name in names}

    def title(self) -> str:
        """Say in a line what the table shows."""
        rows, columns = len(self.distribution), len(self.vote)
        return f"Game of {rows} rows against {columns} columns: value {self.value:.6g}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Separability(Result):
    """Whether some vote is right on every row, with the proof."""

    game: GameSolution

    @property
    def margin(self) -> float:
        """The largest minimum margin of a vote."""
        return self.game.lower

    @property
    def edge(self) -> float:
        """The best edge on the hardest distribution; equal to the margin."""
        return self.game.upper

    @property
    def gamma(self) -> float:
        """How much better than ½ the best error is, whatever the distribution: half of the edge."""
        return 0.5 * self.game.lower

    @property
    def holds(self) -> bool:
        """Whether the margin is positive: separable, and weakly learnable by these columns."""
        return self.margin > _SOLVED

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give the numbers in one row."""
        names = ("margin", "edge", "gamma", "holds")
        return {name: [getattr(self, name)] for name in names}

    def title(self) -> str:
        """Say in a line what the table shows."""
        verb = "separates" if self.holds else "does not separate"
        return f"A vote of {len(self.game.vote)} columns {verb} the rows"


def solve_game(matrix: Any) -> GameSolution:
    """Solve a matrix game by linear programming.

    One program gives both strategies, the second as its multipliers; what they secure is then
    computed from the matrix, so that nothing rests on the solver.

    Parameters
    ----------
    matrix : numbers of shape (n_rows, n_columns)
        What the column player earns and the row player loses.

    Returns
    -------
    GameSolution

    References
    ----------
    von Neumann (1928), Zur Theorie der Gesellschaftsspiele, Mathematische Annalen 100.

    Examples
    --------
    >>> game = solve_game([[1.0, -1.0], [-1.0, 1.0]])
    >>> round(abs(game.value), 9), game.vote.round(6).tolist()
    (0.0, [0.5, 0.5])
    """
    table = number_array("matrix", matrix, n_axes=2)
    # Divided by the largest entry, the solver's tolerances mean the same for every matrix.
    scale = float(np.abs(table).max()) or 1.0
    vote, hardest = _best_mixtures(table / scale)
    solution = _secured(table, vote, hardest)
    if solution.gap > _SOLVED * scale:  # the other player's program has a mixture of its own
        solution = _secured(table, vote, _best_mixtures(-table.T / scale)[0])
    if solution.gap > _SOLVED * scale:
        raise NotSolved(
            f"The linear programs of the game leave a gap of {solution.gap}: expected at most "
            f"{_SOLVED * scale:g}. Scale the matrix, or drop columns that say nearly the same."
        )
    return solution


def separability(matrix: Any) -> Separability:
    """Find the vote of the largest minimum margin, and so whether one is right on every row.

    Parameters
    ----------
    matrix : numbers in [-1, 1] of shape (n_rows, n_hypotheses)
        y h(x). Votes have weights of 0 or more: list the opposites, too, if they may vote.

    Returns
    -------
    Separability

    Examples
    --------
    >>> separability([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]]).holds
    True
    """
    return Separability(solve_game(_payoffs(matrix)))


def weak_learnability(matrix: Any) -> Separability:
    """Find the distribution on which the best hypothesis is worst, and its edge there.

    By von Neumann's theorem this is ``separability`` seen by the other player: there is a vote
    without errors just when every distribution has a hypothesis with an edge.

    Parameters
    ----------
    matrix : numbers in [-1, 1] of shape (n_rows, n_hypotheses)
        y h(x).

    Returns
    -------
    Separability
        ``gamma`` is the gamma of the weak learning assumption: errors of ½ - gamma or less.

    Examples
    --------
    >>> found = weak_learnability([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])
    >>> round(found.gamma, 6), found.game.distribution.round(4).tolist()
    (0.166667, [0.3333, 0.3333, 0.3333])
    """
    return separability(matrix)


def hedge_regret_bound(
    n_actions: int, n_rounds: int, *, low: float = -1.0, high: float = 1.0
) -> float:
    """Bound by how much Hedge loses more, in a round on average, than the best single action.

    (high - low) sqrt(ln(n_actions) / (2 n_rounds)), for losses in [low, high] and the rate
    sqrt(8 ln(n_actions) / n_rounds) / (high - low).

    References
    ----------
    Freund, Schapire (1999), Adaptive game playing using multiplicative weights, Games and Economic
    Behavior 29. Cesa-Bianchi, Lugosi (2006), Prediction, Learning, and Games, theorem 2.2.

    Examples
    --------
    >>> round(hedge_regret_bound(8, 1000), 6)
    0.064489
    """
    width = inside("high", high, inside("low", low, -math.inf, math.inf), math.inf) - low
    actions, rounds = count("n_actions", n_actions), count("n_rounds", n_rounds)
    return width * math.sqrt(math.log(actions) / (2 * rounds))


def play_hedge(matrix: Any, n_rounds: int) -> GameSolution:
    """Let the rows play Hedge against the best column of each round, as boosting does.

    The mean of the columns' choices and the mean of the rows' distributions miss the value by no
    more than ``hedge_regret_bound``; no linear program is solved.

    Parameters
    ----------
    matrix : numbers of shape (n_rows, n_columns)
    n_rounds : int

    Returns
    -------
    GameSolution

    Examples
    --------
    >>> game = play_hedge([[1.0, -1.0], [-1.0, 1.0]], 100)
    >>> game.gap <= hedge_regret_bound(2, 100)
    True
    """
    table = number_array("matrix", matrix, n_axes=2)
    width = float(table.max() - table.min()) or 1.0
    rate = math.sqrt(8.0 * math.log(len(table)) / count("n_rounds", n_rounds)) / width
    earned, played = np.zeros(len(table)), np.zeros(table.shape[1])
    mean = np.zeros(len(table))
    for _ in range(n_rounds):
        weights = np.exp(-rate * (earned - earned.min()))
        weights /= weights.sum()
        best = int((weights @ table).argmax())
        played[best] += 1.0
        mean += weights
        earned += table[:, best]
    return _secured(table, played / n_rounds, mean / mean.sum())


def _payoffs(matrix: Any) -> FloatArray:
    remedy = "Give y h(x), of answers within [-1, 1]."
    return number_array("matrix", matrix, n_axes=2, low=-1.0, high=1.0, remedy=remedy)


def _best_mixtures(table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the columns' weights that earn the most on the worst row, and the rows' multipliers."""
    n_rows, n_columns = table.shape
    # Variables are the weights and what every row is to earn, which is maximised.
    answer = linprog(
        c=np.append(np.zeros(n_columns), -1.0),
        A_ub=np.column_stack([-table, np.ones(n_rows)]),
        b_ub=np.zeros(n_rows),
        A_eq=np.append(np.ones(n_columns), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n_columns + [(None, None)],
        method="highs",
    )
    if answer.x is None:
        raise NotSolved(
            f"A linear program of a matrix game was not solved: {answer.message} Expected an "
            "optimum, which every game has. Scale the matrix."
        )
    return _mixture(answer.x[:-1]), _mixture(-answer.ineqlin.marginals)


def _mixture(weights: FloatArray) -> FloatArray:
    """Take rounding off: no weight below 0, and a sum of 1."""
    positive = np.maximum(weights, 0.0)
    total = float(positive.sum())
    return positive / total if total > 0.0 else np.full(len(weights), 1.0 / len(weights))


def _secured(table: FloatArray, vote: FloatArray, hardest: FloatArray) -> GameSolution:
    lower, upper = float((table @ vote).min()), float((hardest @ table).max())
    return GameSolution(vote, hardest, lower, upper)
