"""Linear programs of many rows, from the answer of the round before."""

import numpy as np
import pytest

from spinney.ensembles.margin import linear_programs
from spinney.ensembles.margin.linear_programs import Solution, soft_margin_program


def votes(n_rows: int, n_columns: int, seed: int) -> np.ndarray:
    return np.sign(np.random.default_rng(seed).normal(0.15, 1.0, (n_rows, n_columns)))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("nu", [0.02, 0.1, 0.6])
def test_the_answer_of_the_round_before_changes_no_value(seed, nu):
    n_rows = 700
    matrix, caps = votes(n_rows, 24, seed), np.full(n_rows, 1 / (nu * n_rows))
    last: Solution | None = None
    for n_columns in range(2, 25, 2):
        some = matrix[:, :n_columns]
        last = soft_margin_program(some, caps, last)
        cold = soft_margin_program(some, caps)
        assert last.value == pytest.approx(cold.value, abs=1e-8)
        # Both sides prove it: no column has a higher edge, and the margins are worth as much.
        assert np.max(last.distribution @ some) <= last.value + 1e-8
        margins = some @ last.weights
        short = np.maximum(last.threshold - margins, 0.0)
        assert last.threshold - caps @ short == pytest.approx(last.value, abs=1e-8)


def test_most_rows_are_not_solved_for_again(monkeypatch):
    n_rows, sizes = 2_000, []
    solve = linear_programs._solve

    def counted(matrix, caps, free, held):
        sizes.append(len(free))
        return solve(matrix, caps, free, held)

    monkeypatch.setattr(linear_programs, "_solve", counted)
    matrix, caps = votes(n_rows, 31, seed=3), np.full(n_rows, 10 / n_rows)
    last = soft_margin_program(matrix[:, :30], caps)
    sizes.clear()
    soft_margin_program(matrix, caps, last)
    assert max(sizes) < n_rows / 2
