"""MadaBoost and SmoothBoost."""

import numpy as np
import pytest
from tests.reference.stump_oracle import stump_sum
from tests.unit.ensembles.robust.problems import agreements, blobs

from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import Hypothesis

ROUNDING = 1e-12


def test_mada_boost_is_ada_boost_with_cut_weights():
    problem = blobs(0, n=90, noise=0.1)
    settings = RobustSettings(algorithm="mada", n_rounds=30, keep_distributions=True)
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    agree, D = agreements(problem, boost), boost.trace.distributions
    margins = np.zeros(90)
    for t, alpha in enumerate(boost.trace.alphas):
        cut = np.minimum(1.0, np.exp(-margins))
        np.testing.assert_allclose(D[t], cut / cut.sum(), rtol=1e-10)
        assert D[t].max() <= 1.0 / cut.sum() + ROUNDING
        error = D[t][agree[t] < 0].sum()
        assert alpha == pytest.approx(0.5 * np.log((1 - error) / error), rel=1e-9)
        margins += alpha * agree[t]
        cost = np.where(margins < 0, 1 - margins, np.exp(-np.maximum(margins, 0)))
        assert boost.trace.objective[t] == pytest.approx(cost.mean(), rel=1e-12)
    assert len(D) == len(boost) + 1 == 31
    assert np.mean(margins <= 0) <= np.prod(boost.trace.normalisers)
    assert np.isnan(boost.time_left)


def test_mada_boost_stops_at_a_learner_without_mistakes():
    signs = np.array([1.0, -1.0, 1.0])
    boost = boost_robustly(
        lambda _: Hypothesis(answers=signs.copy(), member="right"),
        signs,
        RobustSettings(algorithm="mada"),
    )
    assert boost.members == ("right",)
    assert boost.stop_reason == "a learner makes no mistake"
    assert np.isfinite(boost.weights).all()


@pytest.mark.parametrize("kappa", [0.05, 0.15, 0.3])
@pytest.mark.parametrize("gamma", [0.03, 0.1])
def test_smooth_boost_is_smooth_and_keeps_its_promise(kappa, gamma):
    problem = blobs(1, n=100)
    settings = RobustSettings(
        algorithm="smooth", smoothness=kappa, edge=gamma, n_rounds=800, keep_distributions=True
    )
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    asked = boost.trace.distributions[:-1]
    assert asked.max() <= 1.0 / (kappa * 100) + ROUNDING
    np.testing.assert_allclose(boost.weights, 1.0 / len(boost), rtol=1e-9)
    margins = problem.signs * stump_sum(boost, problem.X)
    theta = gamma / (2 + gamma)
    assert np.mean(margins < theta) < kappa or "rounds were done" in boost.stop_reason
    if boost.trace.edges.min() >= 2 * gamma:  # the learner was as good as promised
        assert len(boost) <= 2 / (kappa * gamma**2 * np.sqrt(1 - gamma)) + 1


def test_smooth_boost_ends_by_itself_where_the_learner_is_good():
    problem = blobs(1, n=100)
    settings = RobustSettings(algorithm="smooth", smoothness=0.15, edge=0.03, n_rounds=800)
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    assert "all but a share 0.15" in boost.stop_reason
    assert boost.potentials[0] == pytest.approx(1.0)
    assert boost.potentials[-1] < 0.15 <= boost.potentials[:-1].min()


def test_smooth_boosts_weights_follow_the_paper():
    problem = blobs(4, n=60, noise=0.1)
    gamma = 0.1
    settings = RobustSettings(
        algorithm="smooth", smoothness=0.01, edge=gamma, n_rounds=25, keep_distributions=True
    )
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    lead = np.zeros(60)
    for agree, D in zip(agreements(problem, boost), boost.trace.distributions, strict=False):
        measure = np.where(lead < 0, 1.0, (1 - gamma) ** (lead / 2))
        np.testing.assert_allclose(D, measure / measure.sum(), rtol=1e-9)
        lead += agree - gamma / (2 + gamma)
    assert len(boost) == 25
