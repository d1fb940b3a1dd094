"""What all robust boosters have in common: weights, refusals, the shape of the result."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from tests.reference.stump_oracle import StumpOracle
from tests.unit.ensembles.robust.problems import blobs

from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.settings import ALGORITHMS, RobustSettings
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.errors import InvalidInput, InvalidParameter

SUMS = [name for name in ALGORITHMS if name != "martingale"]


def settings_for(algorithm, **more):
    values = {"n_rounds": 12, "target_error": 0.2, "largest_step": 0.5, "least_node_weight": 5}
    return RobustSettings(algorithm=algorithm, **(values | more))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_weight_is_so_many_copies(algorithm):
    problem = blobs(6, n=50, noise=0.1)
    times = np.random.default_rng(0).integers(0, 4, 50)
    X, signs = np.repeat(problem.X, times, axis=0), np.repeat(problem.signs, times)
    settings = settings_for(algorithm)
    weighted = boost_robustly(problem.oracle, problem.signs, settings, times)
    # the same thresholds for both: the oracle of the copies keeps rows that weigh nothing
    X_all = np.concatenate([X, problem.X])
    signs_all = np.concatenate([signs, problem.signs])
    ones = np.concatenate([np.ones(len(X)), np.zeros(50)])
    copied = boost_robustly(StumpOracle(X_all, signs_all), signs_all, settings, ones)
    assert weighted.members == copied.members
    if algorithm == "martingale":
        np.testing.assert_array_equal(weighted.answers, copied.answers)
        np.testing.assert_allclose(weighted.shares, copied.shares, atol=1e-12)
    else:
        np.testing.assert_allclose(weighted.weights, copied.weights, rtol=1e-7)
        np.testing.assert_allclose(weighted.potentials, copied.potentials, rtol=1e-9)
        least = [boost.trace.min_margins for boost in (weighted, copied)]
        np.testing.assert_allclose(*least, atol=1e-8)


@pytest.mark.parametrize("algorithm", SUMS)
def test_rows_that_weigh_nothing_have_no_margin(algorithm):
    signs = np.array([1.0, -1.0, 1.0])
    answers = np.array([1.0, -1.0, -1.0])  # wrong on the row that does not count
    boost = boost_robustly(
        lambda _: Hypothesis(answers=answers.copy(), member=None),
        signs,
        settings_for(algorithm, n_rounds=1),
        [1, 1, 0],
    )
    assert boost.trace.min_margins[0] == pytest.approx(1.0)


@pytest.mark.parametrize("algorithm", SUMS)
def test_the_scale_of_the_weights_does_not_matter(algorithm):
    problem = blobs(6, n=50, noise=0.1)
    one = boost_robustly(problem.oracle, problem.signs, settings_for(algorithm))
    other = boost_robustly(
        problem.oracle, problem.signs, settings_for(algorithm), np.full(50, 1e-200)
    )
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-8)


@pytest.mark.parametrize("algorithm", SUMS)
def test_results_are_frozen_tables_with_a_number_for_every_round(algorithm):
    problem = blobs(1, noise=0.1)
    settings = settings_for(algorithm, keep_distributions=True)
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    n = len(boost)
    assert n == len(boost.weights) == len(boost.trace) == len(boost.potentials) - 1
    assert boost.times.shape == boost.potentials.shape
    np.testing.assert_allclose(boost.trace.distributions.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(boost.trace.errors, (1 - boost.trace.edges) / 2)
    np.testing.assert_allclose(boost.trace.objective, boost.potentials[1:])
    assert boost.stop_reason in str(boost)
    assert len(boost.to_frame()) == n
    with pytest.raises(FrozenInstanceError):
        boost.members = ()
    with pytest.raises(ValueError, match="read-only"):
        boost.weights[0] = 0.0


@pytest.mark.parametrize("algorithm", SUMS)
def test_thousands_of_rounds_stay_finite(algorithm):
    """Margins grow without end: one learner is right on all rows but a few of tiny weight."""
    signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    answers = signs * np.array([1.0, 1.0, 1.0, 0.5, 0.01])
    boost = boost_robustly(
        lambda _: Hypothesis(answers=answers.copy(), member=None),
        signs,
        settings_for(algorithm, n_rounds=2000, largest_step=1e3),
        np.array([1, 1e-3, 1, 1, 1e-30]),
    )
    for array in (boost.weights, boost.potentials, boost.trace.min_margins):
        assert np.isfinite(array).all()
    assert boost.trace.min_margins[-1] > 0


@pytest.mark.parametrize(
    ("signs", "weights", "message"),
    [
        ([], None, "one number for each row"),
        ([[1.0, -1.0]], None, "one number for each row"),
        ([0.0, 1.0], None, "expected 1 for rows of the second class"),
        ([np.nan, 1.0], None, "signs hold"),
        ([1.0, -1.0], [1.0], "Give one per row"),
        ([1.0, -1.0], [1.0, -1.0], "not negative"),
        ([1.0, -1.0], [0.0, 0.0], "all weights are zero"),
        ([1.0, -1.0], [np.nan, 1.0], "NaN"),
        ([1.0, -1.0], [np.inf, 1.0], "finite"),
    ],
)
def test_hostile_rows_are_refused(signs, weights, message):
    with pytest.raises(InvalidInput, match=message):
        boost_robustly(None, np.array(signs), RobustSettings(), weights)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (np.ones(3), "shape"),
        (np.ones((4, 1)), "shape"),
        (np.array([1.0, np.nan, 1.0, 1.0]), "answers nan for row 1: expected numbers from -1 to 1"),
        (np.array([1.0, 2.0, 1.0, 1.0]), "Divide its answers by their largest"),
    ],
)
@pytest.mark.parametrize("algorithm", ["robust", "martingale"])
def test_hostile_answers_are_refused(algorithm, answers, message):
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    settings = RobustSettings(algorithm=algorithm, n_rounds=3, least_node_weight=0)
    with pytest.raises(InvalidInput, match=message):
        boost_robustly(lambda _: Hypothesis(answers=answers, member=None), signs, settings)


@pytest.mark.parametrize(
    "bad",
    [
        {"algorithm": "adaboost"},
        {"n_rounds": 0},
        {"n_rounds": 2.5},
        {"target_error": 0.0},
        {"target_error": 1.0},
        {"target_error": np.nan},
        {"goal_margin": np.inf},
        {"sigma_final": 0.0},
        {"smoothness": 0.0},
        {"smoothness": 1.0},
        {"edge": 0.5},
        {"least_edge": 0.0},
        {"steepness": -1.0},
        {"in_hull": 1},
        {"largest_step": 0.0},
        {"least_node_weight": -1},
    ],
)
def test_hostile_settings_are_refused(bad):
    with pytest.raises(InvalidParameter, match=f"{next(iter(bad))}=.*expected"):
        RobustSettings(**bad)


def test_a_target_that_guessing_reaches_is_refused():
    with pytest.raises(InvalidParameter, match="Lower target_error or raise goal_margin"):
        boost_robustly(None, np.array([1.0, -1.0]), RobustSettings(target_error=0.6))
