"""Boosting over a matrix: AdaBoost's identities, published numbers, hostile input."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize_scalar
from scipy.special import logsumexp

from spinney.ensembles.adaptive.matrix import boost_matrix
from spinney.losses import MARGIN_LOSSES
from spinney.theory.trace import TRACE_ARRAYS

RUDIN = np.array(
    [
        [-1, 1, 1, 1, 1, -1, -1, 1],
        [-1, 1, 1, -1, -1, 1, 1, 1],
        [1, -1, 1, 1, 1, -1, 1, 1],
        [1, -1, 1, 1, -1, 1, 1, 1],
        [1, -1, 1, -1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, 1, -1],
        [1, 1, -1, 1, 1, 1, -1, 1],
        [1, 1, 1, 1, -1, -1, 1, -1],
    ]
)
ROOT = np.sqrt(5)
RUDIN_START = np.array([(3 - ROOT) / 8] * 2 + [1 / 6] * 3 + [(ROOT - 1) / 8] * 2 + [0])


def literal_adaboost(matrix, start, n_rounds):
    """AdaBoost as the books write it: weights are multiplied, round by round."""
    weights, chosen, alphas, errors = start / start.sum(), [], [], []
    history = [weights]
    for _ in range(n_rounds):
        error = (weights[:, np.newaxis] * (matrix < 0)).sum(axis=0)
        best = int(np.argmax(error <= error.min() + 1e-12))
        if 1 - 2 * error[best] <= 1e-6:
            break
        alpha = 0.5 * np.log((1 - error[best]) / error[best])
        weights = weights * np.exp(-alpha * matrix[:, best])
        weights = weights / weights.sum()
        chosen.append(best)
        alphas.append(alpha)
        errors.append(error[best])
        history.append(weights)
    return chosen, alphas, errors, np.array(history)


def signs(seed, n_rows=20, n_columns=6):
    """Random votes; every column is wrong somewhere, and the first one has an edge."""
    rng = np.random.default_rng(seed)
    votes = np.where(rng.random((n_rows, n_columns)) < 0.6, 1.0, -1.0)
    votes[rng.integers(0, n_rows, n_columns), np.arange(n_columns)] = -1.0
    votes[:, 0] = np.where(np.arange(n_rows) < n_rows // 4, -1.0, 1.0)
    return votes


def best_margin(matrix):
    """Largest least margin of a mixture of columns, by linear programming."""
    n, m = matrix.shape
    solved = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-matrix, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=[np.append(np.ones(m), 0.0)],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
    )
    return -solved.fun


SEEDS = st.integers(0, 10_000)
few = settings(max_examples=25, deadline=None)


@given(seed=SEEDS)
@few
def test_coordinate_descent_on_the_exponential_loss_is_adaboost(seed):
    votes = signs(seed)
    start = np.random.default_rng(seed).random(len(votes)) + 0.1
    boosted = boost_matrix(votes, n_rounds=12, sample_weight=start, tol=1e-6)
    chosen, alphas, errors, history = literal_adaboost(votes, start, 12)
    assert boosted.chosen.tolist() == chosen
    np.testing.assert_allclose(boosted.trace.alphas, alphas, atol=1e-10)
    np.testing.assert_allclose(boosted.trace.errors, errors, atol=1e-12)
    np.testing.assert_allclose(boosted.trace.distributions, history, atol=1e-12)
    assert (boosted.signs == 1).all()


@given(seed=SEEDS)
@few
def test_identities_of_adaboost(seed):
    votes = signs(seed)
    n = len(votes)
    boosted = boost_matrix(votes, n_rounds=10)
    trace, gamma = boosted.trace, 0.5 - boosted.trace.errors
    np.testing.assert_allclose(trace.distributions.sum(axis=1), 1.0, atol=1e-14)
    z = 2 * np.sqrt(trace.errors * (1 - trace.errors))
    np.testing.assert_allclose(trace.normalisers, z, atol=1e-12)
    scores = np.cumsum(trace.alphas * votes[:, boosted.chosen], axis=1)
    np.testing.assert_allclose(np.exp(-scores).mean(axis=0), np.cumprod(z), rtol=1e-10)
    np.testing.assert_allclose(trace.objective, np.cumprod(z), rtol=1e-10)
    np.testing.assert_allclose(np.cumprod(trace.normalisers), np.cumprod(z), rtol=1e-10)
    for t, column in enumerate(boosted.chosen):
        after = trace.distributions[t + 1]
        assert after[votes[:, column] < 0].sum() == pytest.approx(0.5, abs=1e-12)
        closed = np.exp(-scores[:, t]) / (n * np.prod(z[: t + 1]))
        np.testing.assert_allclose(after, closed, rtol=1e-10)
        mistakes = scores[:, t] <= 0
        assert mistakes.mean() <= trace.objective[t] + 1e-12
        assert (after[mistakes] >= 1 / (n * trace.objective[t]) - 1e-12).all()
    assert trace.objective[-1] <= np.exp(-2 * (gamma**2).sum()) + 1e-12
    decreases = -np.diff(trace.objective, prepend=1.0)
    assert (decreases >= -1e-15).all()
    assert (decreases[trace.edges > 1e-6] > 0).all()


@given(seed=SEEDS, theta=st.floats(-0.99, 0.99))
@few
def test_margins_obey_the_theorem_of_schapire_and_others(seed, theta):
    boosted = boost_matrix(signs(seed), n_rounds=10)
    errors = boosted.trace.errors
    bound = np.prod(2 * np.sqrt(errors ** (1 - theta) * (1 - errors) ** (1 + theta)))
    assert (boosted.margins <= theta).mean() <= bound + 1e-12


@given(seed=SEEDS)
@few
def test_slope_and_step_are_those_of_the_objective(seed):
    votes = signs(seed)
    before = boost_matrix(votes, n_rounds=4)
    after = boost_matrix(votes, n_rounds=5)
    if len(after.trace) < 5:
        return
    column, error, alpha = after.chosen[-1], after.trace.errors[-1], after.trace.alphas[-1]

    def mean_loss(step):
        return np.exp(-(before.scores + step * votes[:, column])).mean()

    slope = (mean_loss(1e-5) - mean_loss(-1e-5)) / 2e-5
    assert slope == pytest.approx((2 * error - 1) * mean_loss(0.0), abs=1e-9)
    found = minimize_scalar(mean_loss, bracket=(0, 1), tol=1e-14).x
    assert alpha == pytest.approx(found, abs=1e-6)
    assert before.edges.max() == pytest.approx(1 - 2 * error, abs=1e-12)


def test_rudins_matrix_cycles_for_ever():
    boosted = boost_matrix(RUDIN, sample_weight=RUDIN_START, n_rounds=3000)
    assert boosted.chosen.tolist() == [0, 2, 1] * 1000
    np.testing.assert_allclose(boosted.trace.errors, (3 - ROOT) / 4, atol=1e-9)
    np.testing.assert_allclose(boosted.trace.min_margins[2::3], 1 / 3, atol=1e-9)
    assert boosted.min_margin == pytest.approx(1 / 3, abs=1e-9)
    assert best_margin(RUDIN) == pytest.approx(3 / 8, abs=1e-9)
    assert boosted.distribution[-1] == 0.0


def test_rudins_matrix_from_the_uniform_start():
    began = time.process_time()
    boosted = boost_matrix(RUDIN, n_rounds=10_000)
    assert time.process_time() - began < 1.5
    margins = boosted.trace.min_margins
    found = [margins[n_rounds - 1] for n_rounds in (100, 1000, 10_000)]
    np.testing.assert_allclose(found, [0.3248, 0.33248, 0.33325], atol=5e-5)


def test_a_hundred_thousand_rounds_do_not_underflow():
    boosted = boost_matrix(RUDIN, n_rounds=100_000)
    trace = boosted.trace
    assert len(trace) == 100_000
    assert trace.objective[-1] == 0.0  # it is far below 1e-308 …
    z = 2 * np.sqrt(trace.errors * (1 - trace.errors))
    np.testing.assert_allclose(trace.normalisers, z, atol=1e-9)  # … but its decrease is not
    assert boosted.distribution.sum() == pytest.approx(1.0, abs=1e-12)
    expected = np.exp(-boosted.scores - logsumexp(-boosted.scores))
    np.testing.assert_allclose(boosted.distribution, expected, atol=1e-8)
    np.testing.assert_allclose(trace.errors[-1000:], (3 - ROOT) / 4, atol=1e-4)
    assert boosted.min_margin == pytest.approx(1 / 3, abs=1e-5)


@given(seed=SEEDS)
@few
def test_margins_and_edges_enclose_the_value_of_the_game(seed):
    votes = signs(seed)
    boosted = boost_matrix(votes, n_rounds=50)
    value = best_margin(votes)
    assert boosted.trace.edges.min() >= value - 1e-9
    assert boosted.trace.min_margins.max() <= value + 1e-9


def test_long_and_servedio_by_every_solver():
    gamma = 1 / 24
    points = np.array([[1, 0], [gamma, 5 * gamma], [gamma, -gamma]])
    masses = np.array([0.25, 0.25, 0.5])
    noisy = np.vstack([points, -points])
    weights = np.concatenate([0.9 * masses, 0.1 * masses])
    for solver in ("coordinate", "totally_corrective", "newton"):
        boosted = boost_matrix(noisy, sample_weight=weights, solver=solver, symmetric=True)
        np.testing.assert_allclose(boosted.weights, [1.23992, 2.43139], atol=1e-4)
        assert boosted.scores[2] == pytest.approx(-0.0496, abs=1e-4)
        assert boosted.scores[0] > 0
        assert boosted.scores[1] > 0
    inside = boost_matrix(
        noisy, sample_weight=weights, solver="frank_wolfe", radius=5.0, n_rounds=2000
    )
    np.testing.assert_allclose(inside.weights, [1.23992, 2.43139], atol=1e-4)


def test_without_negatives_adaboost_cannot_go_back():
    noisy = np.array([[1, 0], [0.04, 0.2], [0.04, -0.04]])
    noisy, weights = np.vstack([noisy, -noisy]), [0.9, 0.9, 1.8, 0.1, 0.1, 0.2]
    forward = boost_matrix(noisy, sample_weight=weights)
    assert forward.trace.stop_reason == "no column has an edge"
    assert forward.edges.min() < -1e-3
    optimal = boost_matrix(noisy, sample_weight=weights, solver="newton")
    assert optimal.objective < forward.objective - 1e-6
    assert optimal.trace.stop_reason.startswith("the weights are optimal")


def test_weights_of_rows_of_the_logistic_loss():
    votes = signs(3)
    boosted = boost_matrix(votes, loss="logistic", n_rounds=7)
    shares = 1 / (1 + np.exp(2 * boosted.scores))
    np.testing.assert_allclose(boosted.distribution, shares / shares.sum(), rtol=1e-12)
    last = votes[:, boosted.chosen[-1]]
    assert boosted.distribution @ last == pytest.approx(0.0, abs=1e-13)  # the step was exact


def test_logistic_runs_as_long_as_exponential():
    votes = 1.0 - 2.0 * np.eye(20)
    boosted = boost_matrix(votes, loss="logistic", n_rounds=500)
    assert boosted.scores.min() > 400  # exp(-800) is 0 in 64 bits
    assert boosted.distribution.sum() == pytest.approx(1.0, abs=1e-12)
    last = votes[:, boosted.chosen[-1]]
    assert boosted.distribution @ last == pytest.approx(0.0, abs=1e-10)
    assert boosted.min_margin == pytest.approx(0.9, abs=0.01)


@given(seed=SEEDS)
@few
def test_real_votes_are_minimised_exactly_along_each_column(seed):
    rng = np.random.default_rng(seed)
    votes = rng.uniform(-1, 1, (15, 4))
    weights = rng.random(15)
    boosted = boost_matrix(votes, n_rounds=6, sample_weight=weights)
    trace = boosted.trace
    for t, column in enumerate(boosted.chosen):
        assert trace.distributions[t + 1] @ votes[:, column] == pytest.approx(0.0, abs=1e-12)
        assert trace.errors[t] == pytest.approx((1 - trace.edges[t]) / 2)
        z = (trace.distributions[t] * np.exp(-trace.alphas[t] * votes[:, column])).sum()
        assert trace.normalisers[t] == pytest.approx(z, abs=1e-12)
        assert z <= np.sqrt(1 - trace.edges[t] ** 2) + 1e-12
    wrong = weights[boosted.scores <= 0].sum() / weights.sum()
    assert wrong <= np.prod(trace.normalisers) + 1e-12


def test_abstaining_columns_have_a_closed_form_too():
    votes = np.array([[1, 0], [1, 1], [-1, 0], [0, -1], [0, 1], [0, 1]])
    boosted = boost_matrix(votes, n_rounds=1)
    assert boosted.chosen.tolist() == [1]
    assert boosted.trace.alphas[0] == pytest.approx(0.5 * np.log(3), abs=1e-15)
    assert boosted.trace.normalisers[0] == pytest.approx(2 / 6 + 2 * np.sqrt(3) / 6, abs=1e-14)


def test_a_whole_weight_is_a_repetition_and_weight_zero_is_no_row():
    votes, rng = signs(1), np.random.default_rng(1)
    weights = rng.integers(0, 4, len(votes))
    weighted = boost_matrix(votes, n_rounds=10, sample_weight=weights)
    repeated = boost_matrix(np.repeat(votes, weights, axis=0), n_rounds=10)
    np.testing.assert_array_equal(weighted.chosen, repeated.chosen)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-12)
    assert weighted.min_margin == pytest.approx(repeated.min_margin, abs=1e-12)
    assert weighted.objective == pytest.approx(repeated.objective, abs=1e-12)
    assert len(weighted.margins) == len(votes)
    assert not weighted.distribution[weights == 0].any()


def test_scaling_a_loss_changes_nothing_but_the_objective():
    def threefold(u):
        return 3.0 * np.exp(-u)

    votes = np.random.default_rng(2).uniform(-1, 1, (30, 5))
    one = boost_matrix(votes, n_rounds=20)
    three = boost_matrix(votes, n_rounds=20, loss=threefold)
    np.testing.assert_array_equal(one.chosen, three.chosen)
    np.testing.assert_allclose(one.weights, three.weights, atol=1e-9)
    assert three.objective == pytest.approx(3 * one.objective, rel=1e-12)
    assert three.loss.name == "threefold"


@pytest.mark.parametrize("name", [name for name in MARGIN_LOSSES if name != "zero_one"])
def test_every_loss_goes_down(name):
    votes = signs(5, n_rows=40)
    boosted = boost_matrix(votes, loss=name, n_rounds=30)
    steps = np.diff(boosted.trace.objective, prepend=MARGIN_LOSSES[name].at_zero)
    assert len(steps) >= 1
    assert (steps <= 1e-12).all()
    mean = MARGIN_LOSSES[name].value(boosted.scores).mean()
    assert boosted.objective == pytest.approx(mean, rel=1e-12)
    assert (boosted.weights >= 0).all()


@given(flat=st.permutations(range(6)), seed=SEEDS)
@few
def test_columns_in_another_order_get_the_same_weights(flat, seed):
    votes = np.random.default_rng(seed).uniform(-1, 1, (20, 6))
    there = boost_matrix(votes, n_rounds=8)
    back = boost_matrix(votes[:, flat], n_rounds=8)
    np.testing.assert_allclose(back.weights, there.weights[list(flat)], atol=1e-9)


def test_ties_go_to_the_first_column():
    votes = np.array([[1, 1, 1], [1, 1, 1], [-1, -1, -1]])
    assert boost_matrix(votes, n_rounds=1).chosen.tolist() == [0]
    mirrored = boost_matrix(np.hstack([-votes, votes]), n_rounds=1, symmetric=True)
    assert (mirrored.chosen.tolist(), mirrored.signs.tolist()) == ([0], [-1])
    assert mirrored.weights[0] == pytest.approx(-0.5 * np.log(2))


def test_rounds_on_negatives_of_columns_add_up_to_signed_weights():
    votes = -signs(8, n_rows=60)
    boosted = boost_matrix(votes, n_rounds=40, symmetric=True)
    trace = boosted.trace
    assert {-1, 1} == set(boosted.signs.tolist())
    assert (trace.alphas > 0).all()
    assert (trace.edges > 0).all()
    np.testing.assert_allclose(trace.alphas, np.arctanh(trace.edges), atol=1e-12)
    added = np.bincount(boosted.chosen, boosted.signs * trace.alphas, minlength=6)
    np.testing.assert_allclose(added, boosted.weights, atol=1e-12)
    doubled = boost_matrix(np.hstack([votes, -votes]), n_rounds=40)
    np.testing.assert_allclose(doubled.weights[:6] - doubled.weights[6:], added, atol=1e-12)


def test_a_perfect_column_ends_it():
    votes = signs(4)
    votes[:, 3] = 1.0
    for loss in ("exponential", "logistic", "mada", "savage"):
        boosted = boost_matrix(votes, loss=loss)
        assert boosted.chosen.tolist() == [3]
        assert boosted.trace.alphas[0] == pytest.approx(0.5 * np.log((1 - 1e-10) / 1e-10))
        assert boosted.trace.stop_reason.startswith("column 3 is right on every row")
        assert boosted.min_margin == 1.0
    hinge = boost_matrix(votes, loss="squared_hinge")
    assert hinge.weights[3] == pytest.approx(1.0, abs=1e-12)
    assert hinge.objective == pytest.approx(0.0, abs=1e-24)


def test_columns_without_an_edge_end_it_before_it_begins():
    xor = np.array([[1, -1], [-1, 1], [1, -1], [-1, 1]])
    for solver, radius in (("coordinate", None), ("newton", None), ("frank_wolfe", 1.0)):
        boosted = boost_matrix(xor, solver=solver, radius=radius)
        assert len(boosted.trace) == 0
        assert not boosted.weights.any()
        assert not boosted.margins.any()
        assert boosted.objective == pytest.approx(1.0)
    worse = boost_matrix(-np.ones((3, 2)), n_rounds=5)
    assert worse.trace.stop_reason == "no column has an edge"
    assert boost_matrix(np.zeros((3, 2))).trace.stop_reason == "no column has an edge"
    assert boost_matrix(-np.ones((3, 2)), symmetric=True).min_margin == 1.0


def test_the_answer_prints_and_cannot_be_changed():
    boosted = boost_matrix(RUDIN, n_rounds=9)
    assert "9 rounds of coordinate with exponential loss" in str(boosted)
    assert "ended because all 9 rounds were done" in str(boosted)
    frame = boosted.to_frame()
    assert frame["times chosen"].sum() == 9
    np.testing.assert_array_equal(frame["weight"], boosted.weights)
    with pytest.raises(ValueError, match="read-only"):
        boosted.weights[0] = 1.0
    with pytest.raises(AttributeError):
        boosted.objective = 0.0
    assert all(len(getattr(boosted.trace, name)) == 9 for name in TRACE_ARRAYS)


def test_long_histories_are_left_out():
    assert boost_matrix(np.ones((2, 1)), n_rounds=400_000).trace.distributions is not None
    assert boost_matrix(np.ones((2, 1)), n_rounds=600_000).trace.distributions is None
