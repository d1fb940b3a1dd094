"""Tickets drawn for the trees of a forest, with replacement or without."""

import math

import numpy as np

from spinney.data.fixed_point import fixed_weights
from spinney.randomness import RowBits, Stream, random_bits
from spinney.typing import AnyArray, FloatArray

_MOST_REPETITIONS = 100
"""Mean of whole weights up to which rows are drawn as if they stood there so often."""


def draw_tickets(
    n_tickets: int, n_draws: int, *, seed: int, trees: range, replace: bool
) -> AnyArray:
    """Draw tickets for each of some trees; a draw depends on the seed and the tree alone.

    Parameters
    ----------
    n_tickets : how many there are, less than 2**53
    n_draws : how many each tree gets
    seed : of the forest
    trees : their numbers
    replace : whether a ticket can be drawn again; if not, there are at least ``n_draws``

    Returns
    -------
    ndarray
        (n_trees, n_draws) int64.

    Examples
    --------
    >>> draw_tickets(5, 5, seed=0, trees=range(1), replace=False).tolist()
    [[0, 1, 2, 3, 4]]
    >>> draw_tickets(1000, 3, seed=0, trees=range(2), replace=False).shape
    (2, 3)
    """
    if not replace and n_draws == n_tickets:
        return np.tile(np.arange(n_tickets), (len(trees), 1))
    draw = _with_replacement if replace else _without_replacement
    drawn = np.empty((len(trees), n_draws), np.int64)
    bits = RowBits(n_draws if replace else 2 * n_draws + 16)
    for place, tree in enumerate(trees):
        drawn[place] = draw(n_tickets, n_draws, random_bits(seed, Stream.ROWS, tree), bits)
    return drawn


def rows_of_tickets(tickets: AnyArray, last_ticket: AnyArray | None) -> AnyArray:
    """Give the rows tickets belong to; ``last_ticket`` says where those of each row end."""
    if last_ticket is None:
        return tickets
    return np.searchsorted(last_ticket, tickets, side="right")


def tickets_of_weights(weights: FloatArray | None, n_rows: int) -> tuple[AnyArray | None, int, int]:
    """Give each row tickets: one, or by its weight.

    A whole weight is a repetition and has as many tickets. Other weights, and whole ones of more
    than a hundred on average, have so many that drawing without replacement hardly differs from
    drawing with it.

    Returns
    -------
    tuple
        Where the tickets of each row end (None: one each), how many tickets there are, and how
        many rows these stand for.

    Examples
    --------
    >>> tickets_of_weights(np.array([2.0, 1.0]), 2)
    (array([2, 3]), 3, 3)
    """
    if weights is None:
        return None, n_rows, n_rows
    integers, exponent = fixed_weights(weights, bits=52)
    last = np.cumsum(integers)
    total = math.ldexp(float(last[-1]), exponent)
    if total <= _MOST_REPETITIONS * n_rows and bool(np.all(weights == np.rint(weights))):
        last = np.ldexp(last.astype(np.float64), exponent).astype(np.int64)
        return last, int(last[-1]), int(last[-1])
    return last, int(last[-1]), n_rows


def _with_replacement(n_tickets: int, n_draws: int, seed: int, bits: RowBits) -> AnyArray:
    return _tickets(bits(seed, Stream.ROWS, range(n_draws)), n_tickets)


def _without_replacement(n_tickets: int, n_draws: int, seed: int, bits: RowBits) -> AnyArray:
    """Draw until there are enough different tickets; of most, draw which are left out."""
    if 2 * n_draws > n_tickets:
        left_out = _without_replacement(n_tickets, n_tickets - n_draws, seed, bits)
        stays = np.ones(n_tickets, bool)
        stays[left_out] = False
        return np.flatnonzero(stays)
    n_tried = math.ceil(1.5 * n_draws) + 16
    while True:
        tried = _tickets(bits(seed, Stream.ROWS, range(n_tried)), n_tickets)
        first = np.unique(tried, return_index=True)[1]
        if len(first) >= n_draws:
            return tried[np.sort(first)[:n_draws]]
        n_tried *= 2
        bits = RowBits(n_tried)


def _tickets(bits: AnyArray, n_tickets: int) -> AnyArray:
    """Make numbers below ``n_tickets`` of random bits: 53 of them, as ``random_unit`` takes."""
    units = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.minimum((units * n_tickets).astype(np.int64), n_tickets - 1)
