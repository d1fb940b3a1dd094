"""Other ways down than one column at a time: all end where they should, and prove it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from spinney.ensembles.adaptive.matrix import boost_matrix
from spinney.losses import MARGIN_LOSSES

SMOOTH_CONVEX = [n for n, loss in MARGIN_LOSSES.items() if loss.is_convex and loss.is_smooth]
SEEDS = st.integers(0, 10_000)
few = settings(max_examples=6, deadline=None)


def noisy_votes(seed, n_rows=40, n_columns=5, *, real=False):
    """Votes that no weights separate: the first two rows contradict each other."""
    rng = np.random.default_rng(seed)
    votes = rng.uniform(-1, 1, (n_rows, n_columns))
    votes = votes if real else np.where(votes > -0.2, 1.0, -1.0)
    votes[1] = -votes[0]
    return votes


def slow_optimum(votes, loss, mass=None, *, signed=False, radius=None):
    """The objective at the optimum, by somebody else's optimiser."""
    mass = np.full(len(votes), 1 / len(votes)) if mass is None else mass / mass.sum()
    phi = MARGIN_LOSSES[loss]
    lifted = np.hstack([votes, -votes]) if signed else votes
    budget = (
        []
        if radius is None
        else [
            {"type": "ineq", "fun": lambda a: radius - a.sum(), "jac": lambda a: -np.ones(len(a))}
        ]
    )
    found = minimize(
        lambda a: mass @ phi.value(lifted @ a),
        np.full(lifted.shape[1], 1e-3),
        jac=lambda a: lifted.T @ (mass * phi.derivative(lifted @ a)),
        bounds=[(0, None)] * lifted.shape[1],
        constraints=budget,
        method="L-BFGS-B" if radius is None else "SLSQP",
        options={"ftol": 1e-15, "maxiter": 5000},
    )
    return found.fun


@pytest.mark.parametrize("loss", SMOOTH_CONVEX)
@given(seed=SEEDS, signed=st.booleans(), real=st.booleans())
@few
def test_newton_finds_the_optimum_and_its_conditions(loss, seed, signed, real):
    votes = noisy_votes(seed, real=real)
    boosted = boost_matrix(votes, loss=loss, solver="newton", symmetric=signed, tol=1e-9)
    assert boosted.objective <= slow_optimum(votes, loss, signed=signed) + 1e-10
    assert np.abs(boosted.edges[boosted.weights != 0]).max(initial=0.0) <= 1e-8
    if signed:
        assert np.abs(boosted.edges).max() <= 1e-8
    else:
        assert boosted.edges.max() <= 1e-8
        assert (boosted.weights >= 0).all()
    assert (np.diff(boosted.trace.objective) <= 1e-12).all()


@pytest.mark.parametrize("loss", SMOOTH_CONVEX)
def test_many_sweeps_over_coordinates_end_at_the_same_optimum(loss):
    for seed in range(3):
        votes = noisy_votes(seed)
        weights = np.random.default_rng(seed).random(len(votes)) + 0.5
        given_weights = {"sample_weight": weights, "loss": loss, "symmetric": True}
        optimum = boost_matrix(votes, solver="newton", **given_weights)
        swept = boost_matrix(votes, n_rounds=5000, **given_weights)
        assert swept.trace.stop_reason == "no column has an edge"
        assert swept.objective == pytest.approx(optimum.objective, abs=1e-12)
        np.testing.assert_allclose(swept.weights, optimum.weights, atol=1e-7)


@pytest.mark.parametrize("loss", SMOOTH_CONVEX)
def test_correcting_all_weights_is_never_worse_than_one_at_a_time(loss):
    for seed in range(4):
        votes = noisy_votes(seed, n_rows=120, n_columns=8)
        corrected = boost_matrix(votes, loss=loss, solver="totally_corrective")
        stagewise = boost_matrix(votes, loss=loss)
        length = min(len(corrected.trace), len(stagewise.trace))
        assert length >= 2
        slack = corrected.trace.objective[:length] - stagewise.trace.objective[:length]
        assert slack.max() <= 1e-12
        optimum = boost_matrix(votes, loss=loss, solver="newton")
        assert corrected.objective == pytest.approx(optimum.objective, abs=1e-12)
        assert corrected.trace.stop_reason.startswith("the weights are optimal")
        assert len(set(corrected.chosen.tolist())) == len(corrected.chosen)


def test_corrected_columns_have_no_edge_left():
    votes = noisy_votes(7, n_columns=8)
    for n_rounds in range(1, 5):
        boosted = boost_matrix(votes, solver="totally_corrective", n_rounds=n_rounds)
        kept = boosted.weights > 0
        assert set(np.flatnonzero(kept)) <= set(boosted.chosen.tolist())
        assert np.abs(boosted.edges[kept]).max() <= 1e-10
        assert boosted.edges[boosted.chosen].max() <= 1e-10


@pytest.mark.parametrize("loss", SMOOTH_CONVEX)
@given(seed=SEEDS, signed=st.booleans(), radius=st.floats(0.05, 3.0))
@settings(max_examples=6, deadline=None)
def test_the_gap_of_frank_wolfe_bounds_what_is_missing(loss, seed, signed, radius):
    votes = noisy_votes(seed, real=True)
    optimum = slow_optimum(votes, loss, signed=signed, radius=radius)
    ball = {"loss": loss, "solver": "frank_wolfe", "radius": radius, "symmetric": signed}
    for n_rounds in (1, 3, 10):
        early = boost_matrix(votes, n_rounds=n_rounds, **ball)
        assert early.gap >= early.objective - optimum - 1e-9
        assert early.gap >= 0
        assert np.abs(early.weights).sum() <= radius + 1e-12
    late = boost_matrix(votes, n_rounds=5000, tol=1e-7, **ball)
    assert late.gap <= 1e-7
    assert late.objective <= optimum + 1e-7
    assert late.trace.stop_reason == "the duality gap is below tol"
    assert (np.diff(late.trace.objective) <= 1e-14).all()


def test_a_large_ball_holds_the_optimum():
    votes = noisy_votes(11)
    optimum = boost_matrix(votes, solver="newton")
    needed = optimum.weights.sum()
    inside = boost_matrix(votes, solver="frank_wolfe", radius=2 * needed, n_rounds=3000, tol=1e-12)
    np.testing.assert_allclose(inside.weights, optimum.weights, atol=1e-5)
    edge = boost_matrix(votes, solver="frank_wolfe", radius=needed / 2, n_rounds=3000)
    assert edge.weights.sum() == pytest.approx(needed / 2)
    assert edge.objective > optimum.objective + 1e-6


@pytest.mark.parametrize("solver", ["newton", "totally_corrective"])
@pytest.mark.parametrize("loss", SMOOTH_CONVEX)
def test_separable_rows_end_with_a_word_about_it(solver, loss):
    votes = np.array([[1.0, 1, -1], [1, -1, 1], [-1, 1, 1]])
    boosted = boost_matrix(votes, loss=loss, solver=solver)
    assert boosted.trace.stop_reason.startswith(
        ("the columns separate the rows", "every row is beyond")
    )
    assert boosted.objective <= 1e-10
    assert 0 < boosted.min_margin <= 1 / 3 + 1e-12
    assert np.isfinite(boosted.weights).all()


def test_rows_that_are_separated_only_in_part_have_an_infimum_that_is_reached():
    votes = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.0, 1.0]])
    infimum = 2 * np.sqrt(2) / 4  # the first row costs nothing in the end
    for solver in ("newton", "totally_corrective", "coordinate"):
        boosted = boost_matrix(votes, solver=solver)
        assert boosted.objective == pytest.approx(infimum, abs=1e-9)
        assert boosted.weights[1] == pytest.approx(0.5 * np.log(2), abs=1e-9)
        assert np.isfinite(boosted.weights).all()


@pytest.mark.parametrize("loss", SMOOTH_CONVEX)
def test_repeated_columns_and_more_columns_than_rows(loss):
    votes = noisy_votes(2)
    once = boost_matrix(votes, loss=loss, solver="newton")
    twice = boost_matrix(np.hstack([votes, votes]), loss=loss, solver="newton")
    assert twice.objective == pytest.approx(once.objective, abs=1e-10)
    wide = noisy_votes(3, n_rows=12, n_columns=40)
    boosted = boost_matrix(wide, loss=loss, solver="newton", symmetric=True)
    assert boosted.objective <= slow_optimum(wide, loss, signed=True) + 1e-9


def test_a_function_of_the_user_by_every_solver():
    def quartic(u):
        return np.maximum(0.0, 1.0 - u) ** 4

    votes = noisy_votes(5)
    objectives = [
        boost_matrix(
            votes, loss=quartic, solver=solver, n_rounds=3000, tol=1e-8, symmetric=True
        ).objective
        for solver in ("coordinate", "totally_corrective", "newton")
    ]
    assert np.ptp(objectives) <= 1e-10
    inside = boost_matrix(
        votes, loss=quartic, solver="frank_wolfe", radius=9.0, n_rounds=3000, tol=1e-8,
        symmetric=True,
    )  # fmt: skip
    assert inside.objective == pytest.approx(objectives[0], abs=1e-7)


def test_newton_is_quick_and_says_which_way_it_went():
    boosted = boost_matrix(noisy_votes(6), solver="newton", symmetric=True)
    assert len(boosted.trace) <= 6
    start = np.full(40, 1 / 40) @ noisy_votes(6)
    assert boosted.chosen[0] == np.argmax(np.abs(start))
    assert boosted.trace.edges[0] == pytest.approx(np.abs(start).max(), abs=1e-14)


def test_frank_wolfe_moves_weights_along_their_slopes():
    ball = {"solver": "frank_wolfe", "radius": 0.5, "tol": 1e-9}
    first = boost_matrix(noisy_votes(6), n_rounds=1, **ball)
    np.testing.assert_array_equal(first.weights[first.chosen], first.trace.alphas)
    moved = boost_matrix(noisy_votes(6), n_rounds=200, **ball)
    assert (moved.trace.edges * moved.trace.alphas > 0).all()
    assert moved.gap <= 1e-9
