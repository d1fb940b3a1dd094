import numpy as np
import pytest
from tests.reference.stump_oracle import StumpOracle, stump_sum
from tests.unit.ensembles.robust.problems import blobs

from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.search import choose_parameter, search_target_error
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.errors import InvalidParameter


def one_threshold(noise, n=200):
    """Labels of a threshold with a share of them turned around, spread evenly."""
    x = np.arange(float(n))
    signs = np.where(x >= n // 2, 1.0, -1.0)
    signs[:: round(1 / noise)] *= -1
    return x[:, None], signs


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
def test_the_search_finds_a_target_just_above_the_noise(noise):
    X, signs = one_threshold(noise)
    right = np.where(X[:, 0] >= 100, 1.0, -1.0)

    def ask(_):
        return Hypothesis(answers=right.copy(), member="threshold")

    found = search_target_error(ask, signs, RobustSettings())
    assert found.reached
    assert noise / 2 < found.target_error < 1.5 * noise
    assert found.boost.time_left == 0.0
    assert len(found.tried) <= 8
    again = boost_robustly(ask, signs, RobustSettings(target_error=found.target_error))
    np.testing.assert_array_equal(again.weights, found.boost.weights)


def test_every_target_below_the_one_found_was_missed():
    problem = blobs(0, n=100, noise=0.1)
    found = search_target_error(problem.oracle, problem.signs, RobustSettings(n_rounds=60))
    reached = found.times_left == 0.0
    assert found.target_error == found.tried[reached].min()
    assert found.tried[~reached].max(initial=0.0) < found.target_error
    assert found.columns()["target_error"][0] == 0.4


def test_fits_are_bounded_and_the_tolerance_is_kept():
    problem = blobs(0, n=60, noise=0.1)
    settings = RobustSettings(n_rounds=30)
    short = search_target_error(problem.oracle, problem.signs, settings, n_fits=3)
    assert len(short.tried) == 3
    rough = search_target_error(problem.oracle, problem.signs, settings, tolerance=0.1)
    assert len(rough.tried) <= 3
    assert len(search_target_error(problem.oracle, problem.signs, settings, n_fits=1).tried) == 1


def test_where_no_target_can_be_reached_the_search_says_so():
    signs = np.array([1.0, -1.0] * 10)
    useless = Hypothesis(answers=np.ones(20), member="+")
    found = search_target_error(lambda _: useless, signs, RobustSettings())
    assert not found.reached
    assert len(found.tried) == 1
    assert found.boost.time_left == 1.0
    assert len(found.boost) == 0


def test_brown_boosts_target_is_found_by_its_clock_too():
    problem = blobs(0, n=100, noise=0.1)
    settings = RobustSettings(algorithm="brown", n_rounds=60)
    found = search_target_error(problem.oracle, problem.signs, settings)
    assert found.reached
    assert found.target_error == found.tried[found.times_left == 0.0].min() < 0.4
    wrong = np.mean(problem.signs * stump_sum(found.boost, problem.X) <= 0)
    assert wrong <= found.target_error  # what BrownBoost promises when its time is up
    with pytest.raises(InvalidParameter, match="algorithm='savage' has no clock"):
        search_target_error(None, problem.signs, RobustSettings(algorithm="savage"))


def test_a_negative_goal_lowers_where_the_search_begins():
    problem = blobs(0, n=60, noise=0.1)
    settings = RobustSettings(goal_margin=-1.0, n_rounds=20)
    assert search_target_error(problem.oracle, problem.signs, settings, n_fits=2).tried[0] < 0.1


@pytest.mark.parametrize("bad", [{"n_fits": 0}, {"tolerance": 0.0}, {"tolerance": np.nan}])
def test_hostile_searches_are_refused(bad):
    with pytest.raises(InvalidParameter, match="at least one fit"):
        search_target_error(None, np.ones(3), RobustSettings(), **bad)


def test_a_parameter_is_chosen_by_rows_held_out():
    problem = blobs(0, n=200, noise=0.2)
    parts = np.array_split(np.random.default_rng(0).permutation(200), 4)

    def fit(target, held):
        kept = np.setdiff1d(np.arange(200), held)
        oracle = StumpOracle(problem.X[kept], problem.signs[kept])
        settings = RobustSettings(algorithm="brown", target_error=target, n_rounds=50)
        boost = boost_robustly(oracle, problem.signs[kept], settings)
        return np.mean(stump_sum(boost, problem.X[held]) * problem.signs[held] > 0)

    choice = choose_parameter(fit, [0.1, 0.3, 0.5], parts)
    assert choice.scores.shape == (3, 4)
    means = choice.scores.mean(axis=1)
    assert choice.best == choice.parameters[means.argmax()]
    assert means.max() > 0.6
    assert "of 3 on 4 folds" in str(choice)


def test_of_equal_parameters_the_first_is_taken():
    assert choose_parameter(lambda *_: 1.0, [0.3, 0.1], [np.arange(2)]).best == 0.3


@pytest.mark.parametrize(
    ("fit", "parameters", "held"),
    [
        (lambda *_: 1.0, [], [np.arange(2)]),
        (lambda *_: 1.0, [0.1], []),
        (lambda *_: np.nan, [0.1], [np.arange(2)]),
    ],
)
def test_hostile_choices_are_refused(fit, parameters, held):
    with pytest.raises(InvalidParameter, match="expected"):
        choose_parameter(fit, parameters, held)
