"""Tickets: distinct where they must be, even, and a function of seed and tree alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.resampling.tickets import draw_tickets, rows_of_tickets, tickets_of_weights


@settings(max_examples=60, deadline=None)
@given(n_tickets=st.integers(1, 300), share=st.floats(0, 1), seed=st.integers(0, 2**64 - 1))
def test_no_ticket_is_drawn_twice_without_replacement(n_tickets, share, seed):
    n_draws = max(1, round(share * n_tickets))
    drawn = draw_tickets(n_tickets, n_draws, seed=seed, trees=range(3), replace=False)
    assert drawn.shape == (3, n_draws)
    assert drawn.min() >= 0
    assert drawn.max() < n_tickets
    assert all(len(set(row)) == n_draws for row in drawn.tolist())


def test_a_tree_does_not_depend_on_the_others():
    together = draw_tickets(10_000, 64, seed=3, trees=range(10), replace=False)
    alone = draw_tickets(10_000, 64, seed=3, trees=range(7, 8), replace=False)
    assert np.array_equal(together[7:8], alone)
    assert not np.array_equal(together[6], together[7])
    assert not np.array_equal(
        alone, draw_tickets(10_000, 64, seed=4, trees=range(7, 8), replace=False)
    )


@pytest.mark.parametrize("n_draws", [3, 10, 17])
@pytest.mark.parametrize("replace", [False, True])
def test_every_ticket_has_the_same_chance(n_draws, replace):
    drawn = draw_tickets(20, n_draws, seed=1, trees=range(4000), replace=replace)
    counts = np.bincount(drawn.ravel(), minlength=20)
    expected = 4000 * n_draws / 20
    spread = np.sqrt(4000 * n_draws / 20)  # of a Poisson number, more than there is
    assert np.abs(counts - expected).max() < 4.5 * spread


def test_pairs_are_as_likely_as_they_should_be():
    drawn = draw_tickets(6, 2, seed=9, trees=range(6000), replace=False)
    pairs = np.bincount(drawn.min(axis=1) * 6 + drawn.max(axis=1), minlength=36)
    assert np.count_nonzero(pairs) == 15
    assert np.abs(pairs[pairs > 0] - 400).max() < 4.5 * 20


def test_whole_weights_are_repetitions_and_others_are_chances():
    last, n_tickets, n_rows = tickets_of_weights(np.array([3.0, 1.0, 2.0]), 3)
    assert (last.tolist(), n_tickets, n_rows) == ([3, 4, 6], 6, 6)
    assert rows_of_tickets(np.arange(6), last).tolist() == [0, 0, 0, 1, 2, 2]
    last, n_tickets, n_rows = tickets_of_weights(np.array([0.5, 1.5, 2.0]), 3)
    assert n_rows == 3
    drawn = draw_tickets(n_tickets, 8000, seed=0, trees=range(1), replace=False)
    shares = np.bincount(rows_of_tickets(drawn[0], last)) / 8000
    assert np.abs(shares - np.array([0.125, 0.375, 0.5])).max() < 0.025
    assert tickets_of_weights(None, 4) == (None, 4, 4)
    assert tickets_of_weights(np.array([1e12, 3e12]), 2)[2] == 2  # nobody draws a million million
