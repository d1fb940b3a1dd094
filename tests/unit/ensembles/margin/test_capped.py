"""Capped distributions: optimality conditions, extremes, and programs against direct ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize
from tests.reference.margins import RUDIN, best_soft_margin

from spinney.ensembles.margin.capped import (
    capped_softmax,
    project_below_edges,
    regularised_game,
    smooth_soft_margin,
    soft_margin,
)
from spinney.ensembles.margin.linear_programs import soft_margin_program

UNIFORM = np.full(8, 0.125)


@given(
    scores=hnp.arrays(float, st.integers(1, 12), elements=st.floats(-30, 30)),
    most=st.floats(1.0, 20.0),
    data=st.data(),
)
@settings(deadline=None, max_examples=60)
def test_capped_softmax_satisfies_its_optimality_conditions(scores, most, data):
    weights = hnp.arrays(float, len(scores), elements=st.floats(0.1, 5.0))
    prior = data.draw(weights)
    prior /= prior.sum()
    found = capped_softmax(scores, prior, most)
    ratios = found / prior
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert ratios.max() <= most * (1 + 1e-9)
    # d_i = prior_i s e^score_i with one s where it is free, and not more than that at the cap
    log_scales = np.log(ratios) - scores
    free = ratios < most * (1 - 1e-9)
    if free.any():
        assert np.ptp(log_scales[free]) <= 1e-8
        assert np.all(log_scales[~free] <= log_scales[free].min() + 1e-8)


def test_capped_softmax_of_scores_that_no_exponential_holds():
    prior = np.full(4, 0.25)
    found = capped_softmax(np.array([1e6, 0.0, -1e6, -2e6]), prior, 2.0)
    assert found == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert capped_softmax(np.array([1e6, 0.0, 0.0, -1e6]), prior, np.inf)[0] == 1.0
    assert capped_softmax(np.array([3.0, 2.0, 1.0, 0.0]), prior, 1.0) == pytest.approx(prior)


def test_rows_without_weight_get_nothing():
    found = capped_softmax(np.array([50.0, 1.0, 0.0]), np.array([0.0, 0.5, 0.5]), 1.2)
    assert found == pytest.approx([0.0, 0.6, 0.4])


def test_soft_margin_is_the_least_mean_of_a_share():
    margins = np.array([0.4, -0.2, 0.9, 0.1])
    assert soft_margin(margins, np.ones(4)) == -0.2
    assert soft_margin(margins, np.full(4, 0.5)) == pytest.approx(-0.05)
    assert soft_margin(margins, np.full(4, 0.25)) == pytest.approx(margins.mean())


@pytest.mark.parametrize("nu", [1e-9, 0.3, 0.6, 1.0])
def test_both_sides_of_the_program_agree(nu):
    matrix = np.random.default_rng(4).uniform(-1, 1, size=(15, 9))
    caps = np.minimum(1.0, np.full(15, 1 / 15) / nu)
    found = soft_margin_program(matrix, caps)
    value, _ = best_soft_margin(matrix, caps)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert soft_margin(matrix @ found.weights, caps) == pytest.approx(value, abs=1e-9)
    assert np.max(found.distribution @ matrix) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("most", [8.0, 2.0])
def test_projection_is_what_a_general_solver_finds(most):
    highest = 0.4
    found, multipliers = project_below_edges(RUDIN, highest, UNIFORM, most, np.zeros(8))
    constraints = [
        {"type": "eq", "fun": lambda d: d.sum() - 1.0},
        {"type": "ineq", "fun": lambda d: highest - d @ RUDIN},
    ]
    bounds = [(1e-12, most / 8)] * 8
    slow = minimize(
        lambda d: np.sum(d * np.log(d / UNIFORM)), UNIFORM, bounds=bounds, constraints=constraints
    )
    assert slow.success
    assert found == pytest.approx(slow.x, abs=1e-4)
    edges = found @ RUDIN
    assert edges.max() <= highest + 1e-6
    assert np.all((multipliers < 1e-6) | (edges > highest - 1e-6))


def test_projection_below_the_value_of_the_game_does_not_exist():
    start = np.zeros(8)
    assert project_below_edges(RUDIN, 0.375 - 1e-6, UNIFORM, 8.0, start) is None
    assert project_below_edges(RUDIN, 0.375 + 1e-3, UNIFORM, 8.0, start) is not None
    # caps make the game harder for the rows: some edge exceeds what was possible without them
    assert project_below_edges(RUDIN, 0.45, UNIFORM, 1.0, start) is None


@pytest.mark.parametrize("eta", [1.0, 30.0, 400.0])
def test_regularised_game_is_solved(eta):
    matrix = np.random.default_rng(0).choice([-1.0, 1.0], size=(40, 12))
    prior = np.full(40, 1 / 40)
    start = np.eye(12)[0]
    value, worst, weights = regularised_game(matrix, prior, 4.0, eta, start)
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0)
    # the highest edge under the worst distribution proves that no weights are better
    gap = np.max(worst @ matrix) - worst @ matrix @ weights
    assert gap <= 1e-5
    assert smooth_soft_margin(matrix @ weights, prior, 4.0, eta)[0] == value
