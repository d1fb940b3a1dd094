"""Bags whose draws know that a row may stand there several times."""

import math
from fractions import Fraction

import numpy as np

from spinney.randomness import RowBits, Stream, random_bits
from spinney.resampling.bags_drawn import DrawnBags
from spinney.resampling.tickets import draw_tickets, rows_of_tickets
from spinney.typing import AnyArray, FloatArray

MOST_REPETITIONS = 100
"""Mean of whole weights up to which rows are drawn as if they stood there so often."""


def repetitions(weights: FloatArray | None) -> AnyArray | None:
    """Give whole weights of a moderate mean as repetitions of rows; None: they are none.

    Examples
    --------
    >>> repetitions(np.array([2.0, 1.0])), repetitions(np.array([0.5, 1.0]))
    (array([2, 1]), None)
    """
    if weights is None or float(weights.mean()) > MOST_REPETITIONS:
        return None
    whole: AnyArray = weights.astype(np.int64)
    return whole if bool((whole == weights).all()) else None


def _poisson_ends() -> AnyArray:
    """Give where, among 64-bit numbers, the draws of 0, 1, 2, ... of a Poisson of mean 1 end.

    By rational numbers: no machine's logarithm can move an end.
    """
    inverse_e = sum((Fraction((-1) ** k, math.factorial(k)) for k in range(40)), Fraction(0))
    ends, total = [], Fraction(0)
    for k in range(20):
        total += inverse_e * Fraction(1, math.factorial(k))
        ends.append(int(total * 2**64))
    return np.array([end for end in ends if end < 2**64], np.uint64)


_ENDS = _poisson_ends()


def poisson_draws(key: int, numbers: range) -> AnyArray:
    """Draw from a Poisson distribution of mean 1 for each of some consecutive numbers.

    A draw depends on the key and its own number alone: rows may arrive in any portions.

    Examples
    --------
    >>> poisson_draws(7, range(6)).tolist()
    [0, 0, 0, 1, 0, 2]
    >>> poisson_draws(7, range(2, 4)).tolist()
    [0, 1]
    """
    bits = RowBits(len(numbers))(key, Stream.ROWS, numbers)
    return np.searchsorted(_ENDS, bits, side="right")


class PoissonBags(DrawnBags):
    """Every member counts each row by a Poisson draw of mean 1: a bootstrap of rows that arrive.

    A row that stands there k times has k draws, which are added.

    References
    ----------
    Oza and Russell (2001), Online bagging and boosting, Artificial Intelligence and Statistics.

    Examples
    --------
    >>> counts = PoissonBags(1000, seed=0).counts(range(1))[0]
    >>> bool(abs(counts.mean() - 1) < 0.1), bool(abs((counts == 0).mean() - 0.368) < 0.05)
    (True, True)
    """

    def __init__(self, n_rows: int, *, seed: int, repeats: AnyArray | None = None) -> None:
        super().__init__(n_rows, seed=seed)
        self._n_tickets = n_rows if repeats is None else int(repeats.sum())
        self._starts = None if repeats is None else np.cumsum(repeats) - repeats

    @property
    def most(self) -> int:
        """More is drawn less than once in 10**17 bags, whatever the number of rows."""
        return 2 * self._n_tickets + 60

    @property
    def size(self) -> float:
        """The expected number."""
        return float(self._n_tickets)

    def count(self, tree: int) -> AnyArray:
        """Draw for each repetition of each row, and add up; an empty bag gets one row."""
        key = random_bits(self._seed, Stream.ROWS, tree)
        drawn = poisson_draws(key, range(self._n_tickets))
        if not drawn.any():
            drawn[key % self._n_tickets] = 1
        if self._starts is None:
            return drawn.astype(np.uint32)
        return np.add.reduceat(drawn, self._starts).astype(np.uint32)


class Pasting(DrawnBags):
    """Every member draws rows without replacement; of a row that stands there k times at most k.

    References
    ----------
    Breiman (1999), Pasting small votes for classification in large databases and on-line, Machine
    Learning 36.

    Examples
    --------
    >>> bags = Pasting(4, 3, seed=0, repeats=np.array([2, 1, 1, 1]))
    >>> bags.counts(range(2)).tolist()
    [[1, 1, 0, 1], [2, 0, 1, 0]]
    """

    def __init__(
        self, n_rows: int, n_draws: int, *, seed: int, repeats: AnyArray | None = None
    ) -> None:
        super().__init__(n_rows, seed=seed)
        self._last_ticket = None if repeats is None else np.cumsum(repeats)
        self._n_tickets = n_rows if repeats is None else int(repeats.sum())
        self.n_draws = min(n_draws, self._n_tickets)
        self.leaves_rows_out = self.n_draws < self._n_tickets

    @property
    def most(self) -> int:
        """As many as are drawn."""
        return self.n_draws

    @property
    def size(self) -> float:
        """As many as are drawn."""
        return float(self.n_draws)

    def count(self, tree: int) -> AnyArray:
        """Draw tickets, of which a row has as many as it stands there."""
        some = range(tree, tree + 1)
        drawn = draw_tickets(
            self._n_tickets, self.n_draws, seed=self._seed, trees=some, replace=False
        )[0]
        rows = rows_of_tickets(drawn, self._last_ticket)
        return np.bincount(rows, minlength=self.n_rows).astype(np.uint32)
