"""BrownBoost and RobustBoost."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import erfcinv
from tests.reference.stump_oracle import StumpOracle, stump_sum
from tests.unit.ensembles.robust.problems import agreements, blobs, four_points, unsure

from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import Hypothesis

CLOCKS = ["brown", "robust"]


def settings_for(algorithm, target, **more):
    return RobustSettings(algorithm=algorithm, target_error=target, **more)


@pytest.mark.parametrize("algorithm", CLOCKS)
@given(seed=st.integers(0, 10**6), target=st.floats(0.02, 0.4), is_unsure=st.booleans())
@example(seed=450, target=0.125, is_unsure=True)  # the best hypothesis is the one just used up
@example(seed=17, target=0.15, is_unsure=False)  # a place without an edge vanishes on the way
@example(seed=15, target=0.13356252, is_unsure=True)  # a narrow valley on a long way
@settings(max_examples=8, deadline=None)
def test_every_round_keeps_the_potential_and_the_clock_never_runs_back(
    algorithm, seed, target, is_unsure
):
    problem = blobs(seed, noise=0.1)
    ask = unsure(problem.oracle) if is_unsure else problem.oracle
    boost = boost_robustly(ask, problem.signs, settings_for(algorithm, target, n_rounds=40))
    assert len(boost) > 0
    np.testing.assert_allclose(boost.potentials[0], target, rtol=1e-12)
    np.testing.assert_allclose(boost.potentials[:-1], target, atol=1e-8)
    assert boost.potentials[-1] <= target + 1e-8  # the last step may gain what no time is left for
    assert (np.diff(boost.times) > 0).all()
    if boost.time_left > 0 or algorithm == "brown":
        np.testing.assert_allclose(boost.potentials, target, atol=1e-8)


@pytest.mark.parametrize("goal", [0.0, 0.3])
def test_the_potential_is_kept_where_valleys_are_narrow(goal):
    problem = blobs(577, noise=0.1)
    target = 0.21840654031723045
    sharp = settings_for("robust", target, sigma_final=1e-3, goal_margin=goal, n_rounds=40)
    boost = boost_robustly(unsure(problem.oracle), problem.signs, sharp)
    assert len(boost) > 1
    np.testing.assert_allclose(boost.potentials[:-1], target, atol=1e-8)


@pytest.mark.parametrize("algorithm", CLOCKS)
@pytest.mark.parametrize("seed", range(3))
def test_when_the_time_is_up_the_promise_is_kept(algorithm, seed):
    problem = blobs(seed, n=200, noise=0.05)
    boost = boost_robustly(problem.oracle, problem.signs, settings_for(algorithm, 0.3))
    assert boost.time_left == pytest.approx(0.0, abs=1e-12)
    assert "time is up" in boost.stop_reason or "clock has reached 1" in boost.stop_reason
    wrong = np.mean(problem.signs * stump_sum(boost, problem.X) <= 0)
    assert wrong <= 0.3 * (1 if algorithm == "brown" else 2)  # a lost row ends at 1, or at 1/2


@pytest.mark.parametrize(("algorithm", "edge_after"), [("brown", 1e-3), ("robust", 0.0)])
def test_a_step_uses_the_edge_up(algorithm, edge_after):
    problem = blobs(5, n=100, noise=0.1)
    boost = boost_robustly(
        problem.oracle, problem.signs, settings_for(algorithm, 0.1, keep_distributions=True)
    )
    after = (boost.trace.distributions[1:] * agreements(problem, boost)).sum(axis=1)
    assert len(boost) >= 5
    np.testing.assert_allclose(after[:-1], edge_after, atol=1e-8)


def test_weights_are_steps_faded_by_the_clock():
    problem = blobs(2, n=120, noise=0.1)
    boost = boost_robustly(problem.oracle, problem.signs, settings_for("robust", 0.2))
    faded = boost.trace.alphas * np.exp(boost.times[1:] - boost.times[-1])
    np.testing.assert_allclose(boost.weights, faded, rtol=1e-10)
    margins = problem.signs * stump_sum(boost, problem.X)
    least = margins.min() / np.abs(boost.weights).sum()
    assert boost.trace.min_margins[-1] == pytest.approx(least, abs=1e-12)


def test_distributions_follow_from_the_sum():
    problem = blobs(3, n=80, noise=0.1)
    boost = boost_robustly(
        problem.oracle, problem.signs, settings_for("brown", 0.2, keep_distributions=True)
    )
    c = erfcinv(0.2) ** 2
    ahead = problem.signs * stump_sum(boost, problem.X) + boost.time_left * c
    raw = np.exp(-(ahead**2) / c)
    np.testing.assert_allclose(boost.trace.distributions[-1], raw / raw.sum(), rtol=1e-9)
    assert boost.trace.distributions.shape == (len(boost) + 1, 80)


@pytest.mark.parametrize("algorithm", CLOCKS)
def test_a_perfect_learner_ends_the_clock_in_one_round(algorithm):
    x = np.arange(10.0)
    signs = np.where(x > 4, 1.0, -1.0)
    boost = boost_robustly(
        lambda _: Hypothesis(answers=signs.copy(), member="right"),
        signs,
        settings_for(algorithm, 0.1),
    )
    assert boost.members == ("right",)
    assert boost.time_left == 0.0
    assert boost.weights[0] > 0
    assert boost.trace.min_margins[0] == pytest.approx(1.0)


@pytest.mark.parametrize("algorithm", CLOCKS)
@pytest.mark.parametrize("target", [1e-12, 1e-3, 0.45])
def test_a_separable_problem_is_separated(algorithm, target):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (150, 2))
    X = X[np.abs(X.sum(axis=1)) > 0.3]
    signs = np.sign(X.sum(axis=1))
    boost = boost_robustly(
        StumpOracle(X, signs), signs, settings_for(algorithm, target, n_rounds=600)
    )
    assert boost.time_left == pytest.approx(0.0, abs=1e-12)
    wrong = np.mean(signs * stump_sum(boost, X) <= 0)
    assert wrong <= 2 * target


@pytest.mark.parametrize("algorithm", CLOCKS)
def test_a_constant_hypothesis_is_used_up_and_leaves_time(algorithm):
    signs = np.array([1.0, 1.0, 1.0, -1.0])
    boost = boost_robustly(
        lambda _: Hypothesis(answers=np.ones(4), member="+"), signs, settings_for(algorithm, 0.05)
    )
    assert boost.time_left > 0.1
    assert "edge" in boost.stop_reason
    assert (boost.weights > 0).all()


def test_on_the_four_points_robust_boost_ends_and_brown_boost_stalls():
    ask, signs, weights, places = four_points()
    right, left = {}, {}
    for algorithm in CLOCKS:
        boost = boost_robustly(ask, signs, settings_for(algorithm, 0.14), weights)
        coefficients = np.zeros(2)
        for (j, sign), weight in zip(boost.members, boost.weights, strict=True):
            coefficients[j] += sign * weight
        right[algorithm] = places @ coefficients > 0
        left[algorithm] = boost.time_left
    assert right["robust"].all()
    assert left["robust"] == 0.0
    assert right["brown"].tolist() == [True, True, False]  # half of the mass is penalisers
    assert left["brown"] > 0.5
