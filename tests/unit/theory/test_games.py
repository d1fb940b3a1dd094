"""Matrix games: von Neumann's equality, known values, Hedge."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.unit.theory.boosters import RUDIN

from spinney.errors import InvalidInput, InvalidParameter, NotSolved
from spinney.theory import (
    hedge_regret_bound,
    play_hedge,
    separability,
    solve_game,
    weak_learnability,
)

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR_LABELS = np.array([1.0, -1.0, -1.0, 1.0])


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**31))
def test_the_largest_margin_is_the_least_edge(n_rows, n_columns, seed):
    """Identity 11: two programs, one value; the strategies prove it by themselves."""
    M = np.random.default_rng(seed).choice([-1.0, 1.0], (n_rows, n_columns))
    game = solve_game(M)
    for mixture in (game.vote, game.distribution):
        assert mixture.min() >= 0
        assert mixture.sum() == pytest.approx(1.0, abs=1e-12)
    assert game.lower == pytest.approx((M @ game.vote).min(), abs=1e-12)
    assert game.upper == pytest.approx((game.distribution @ M).max(), abs=1e-12)
    assert abs(game.gap) <= 1e-9
    assert separability(M).margin == pytest.approx(weak_learnability(M).edge, abs=1e-9)
    assert solve_game(-M.T).value == pytest.approx(-game.value, abs=1e-9)


def test_rudins_matrix_has_the_value_three_eighths():
    game = solve_game(RUDIN)
    assert game.value == pytest.approx(3 / 8, abs=1e-9)
    best = np.array([2, 3, 4, 1, 2, 2, 1, 1]) / 16
    np.testing.assert_allclose(RUDIN @ best, 3 / 8, atol=1e-12)
    found = weak_learnability(RUDIN)
    assert found.gamma == pytest.approx(3 / 16, abs=1e-9)
    assert found.holds
    assert "separates the rows" in str(found)


def test_stumps_cannot_separate_xor_and_trees_can():
    """True or false: AdaBoost always reaches no training error? False: the value is 0."""
    stumps = [np.where(XOR[:, j] > c, s, -s) for j in (0, 1) for c in (-1, 0.5) for s in (1, -1)]
    found = separability(XOR_LABELS[:, None] * np.column_stack(stumps))
    assert found.margin == pytest.approx(0.0, abs=1e-9)
    assert not found.holds
    assert "does not separate" in str(found)
    np.testing.assert_allclose(found.game.distribution, 0.25, atol=1e-9)
    trees = np.array(list(itertools.product([-1.0, 1.0], repeat=4))).T
    assert separability(XOR_LABELS[:, None] * trees).margin == pytest.approx(1.0)


def test_known_games():
    pennies = solve_game([[1.0, -1.0], [-1.0, 1.0]])
    assert pennies.value == pytest.approx(0.0, abs=1e-12)
    rock_paper_scissors = solve_game([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    np.testing.assert_allclose(rock_paper_scissors.vote, 1 / 3, atol=1e-9)
    saddle = solve_game([[3.0, 5.0], [2.0, 1.0], [4.0, 0.0]])
    assert (saddle.value, saddle.vote[0]) == pytest.approx((2.0, 1.0))
    mixed = solve_game([[1.0, 3.0], [4.0, 2.0]])
    assert (mixed.value, mixed.vote[0]) == pytest.approx((2.5, 0.25))
    assert solve_game([[0.0]]).value == 0.0


def test_the_scale_of_the_payoffs_does_not_matter():
    M = np.random.default_rng(0).normal(size=(6, 5))
    value = solve_game(M).value
    for scale in (1e-12, 1e9):
        assert solve_game(scale * M).value == pytest.approx(scale * value, rel=1e-6)
    assert solve_game(M + 7).value == pytest.approx(value + 7)


@pytest.mark.parametrize("n_rounds", [10, 100, 1000])
def test_hedge_is_as_near_as_its_regret_allows(n_rounds):
    game = play_hedge(RUDIN, n_rounds)
    assert game.lower - 1e-12 <= 3 / 8 <= game.upper + 1e-12
    assert game.gap <= hedge_regret_bound(8, n_rounds)
    wider = play_hedge(4 * RUDIN, n_rounds)
    assert wider.gap == pytest.approx(4 * game.gap)
    assert wider.gap <= hedge_regret_bound(8, n_rounds, low=-4, high=4)


ONE_HARD_ROW = np.column_stack([np.r_[-1.0, np.ones(63)], np.r_[1.0, -np.ones(63)]])
"""A row that only the second column gets right, of many: found too late by a slow learner."""


@pytest.mark.parametrize("matrix", [2 * np.eye(8) - 1, ONE_HARD_ROW])
def test_hedge_neither_dawdles_nor_overreacts(matrix):
    value = solve_game(matrix).value
    for n_rounds in (100, 400):
        game = play_hedge(matrix, n_rounds)
        assert game.lower - 1e-12 <= value <= game.upper + 1e-12
        assert game.gap <= hedge_regret_bound(len(matrix), n_rounds)


def test_the_regret_bound_is_the_printed_one():
    assert hedge_regret_bound(8, 50) == pytest.approx(np.sqrt(2 * np.log(8) / 50))
    assert hedge_regret_bound(1, 50) == 0.0


def test_where_multipliers_mislead_the_other_player_is_asked(monkeypatch):
    def without_multipliers(**program):
        answer = linprog(**program)
        answer.ineqlin.marginals = np.zeros_like(answer.ineqlin.marginals)
        return answer

    monkeypatch.setattr("spinney.theory.games.linprog", without_multipliers)
    assert solve_game(RUDIN).gap == pytest.approx(0.0, abs=1e-9)


def test_a_program_without_an_answer_is_reported(monkeypatch):
    answer = SimpleNamespace(x=None, message="tired", ineqlin=None)
    monkeypatch.setattr("spinney.theory.games.linprog", lambda **_: answer)
    with pytest.raises(NotSolved, match="tired"):
        solve_game(RUDIN)
    answer.x = np.append(np.ones(8) / 8, 0.0)
    answer.ineqlin = SimpleNamespace(marginals=np.zeros(8))
    with pytest.raises(NotSolved, match=r"gap of 0\.25"):
        solve_game(RUDIN)


@pytest.mark.parametrize(
    "matrix", [[], [[]], [1.0], [[np.nan]], [[np.inf, 1.0]], np.empty((0, 4)), np.zeros((2, 2, 2))]
)
@pytest.mark.parametrize("function", [solve_game, separability, lambda m: play_hedge(m, 5)])
def test_matrices_that_are_none_are_refused(matrix, function):
    with pytest.raises(InvalidInput, match="matrix"):
        function(matrix)


def test_payoffs_beyond_one_are_no_margins():
    with pytest.raises(InvalidInput, match=r"matrix\[0, 0\] is 2.0.*Give y h\(x\)"):
        weak_learnability([[2.0]])


def test_counts_that_are_none_are_refused():
    for call in (
        lambda: hedge_regret_bound(0, 5),
        lambda: hedge_regret_bound(5, 0),
        lambda: hedge_regret_bound(5, 5, low=1.0, high=1.0),
        lambda: play_hedge([[1.0]], 0),
    ):
        with pytest.raises(InvalidParameter, match="expected"):
            call()
