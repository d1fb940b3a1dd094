"""AnyBoost with potentials that are not convex."""

import numpy as np
import pytest
from tests.reference.stump_oracle import stump_sum
from tests.unit.ensembles.robust.problems import blobs, four_points

from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.nonconvex import _Line
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.losses import MARGIN_LOSSES

POTENTIALS = {name: MARGIN_LOSSES[name] for name in ("savage", "sigmoid", "tangent", "ramp")}


@pytest.mark.parametrize("in_hull", [False, True])
@pytest.mark.parametrize("name", POTENTIALS)
def test_every_step_lowers_the_cost(name, in_hull):
    problem = blobs(0, n=80, noise=0.1)
    settings = RobustSettings(algorithm=name, n_rounds=20, in_hull=in_hull, largest_step=0.5)
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    assert len(boost) > 0
    assert (np.diff(boost.potentials) < 0).all()
    margins = problem.signs * stump_sum(boost, problem.X)
    cost = POTENTIALS[name].value(margins).mean()
    assert boost.potentials[-1] == pytest.approx(cost, rel=1e-10)
    assert np.mean(margins <= 0) <= np.prod(boost.trace.normalisers) + 1e-12
    if in_hull:
        assert np.abs(boost.weights).sum() <= 1 + 1e-12


@pytest.mark.parametrize("name", POTENTIALS)
def test_line_search_finds_the_best_step(name):
    problem = blobs(7, n=50, noise=0.2)
    settings = RobustSettings(algorithm=name, n_rounds=1, largest_step=4.0)
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    agree = problem.signs * boost.members[0].answers(problem.X)
    sizes = np.linspace(0, 4, 4001)
    costs = [POTENTIALS[name].value(size * agree).mean() for size in sizes]
    assert boost.potentials[-1] <= min(costs) + 1e-12


@pytest.mark.parametrize("name", ["savage", "sigmoid", "ramp"])
@pytest.mark.parametrize("lost", [0.05, 0.3])
def test_line_search_takes_the_deepest_of_several_valleys(name, lost):
    """A step of 2 saves some rows, one of 4 loses others, one of 12 saves those far behind."""
    rows = SignedRows.of(np.ones(3), [0.3, 0.35, lost])
    margins, away = np.array([0.0, 3.0, -9.0]), np.array([1.0, -1.0, 1.0])
    line = _Line(POTENTIALS[name], rows, margins, away)
    sizes = np.linspace(0, 20, 20001)
    costs = np.array([line.cost(size) for size in sizes])
    assert line.cost(line.lowest(20.0)) <= costs.min() + 1e-9


def test_hopeless_rows_lose_their_weight():
    problem = blobs(0, n=80, noise=0.1)
    settings = RobustSettings(algorithm="savage", n_rounds=30, keep_distributions=True)
    boost = boost_robustly(problem.oracle, problem.signs, settings)
    margins = problem.signs * stump_sum(boost, problem.X)
    last = boost.trace.distributions[-1]
    assert margins.min() < -1.5
    assert last[margins < -1.5].max() < last[np.abs(margins) < 0.5].min()


@pytest.mark.parametrize(
    ("name", "finds"), [("savage", True), ("sigmoid", True), ("ramp", True), ("tangent", False)]
)
def test_on_the_four_points(name, finds):
    ask, signs, weights, places = four_points()
    boost = boost_robustly(ask, signs, RobustSettings(algorithm=name), weights)
    coefficients = np.zeros(2)
    for (j, sign), weight in zip(boost.members, boost.weights, strict=True):
        coefficients[j] += sign * weight
    assert (places @ coefficients > 0).tolist() == [True, True, finds]
    if name == "savage":  # its optimum is half the log-odds of a label that is right
        np.testing.assert_allclose(places[1:] @ coefficients, 0.5 * np.log(9), atol=1e-5)


@pytest.mark.parametrize("name", POTENTIALS)
@pytest.mark.parametrize("in_hull", [False, True])
def test_a_perfect_and_a_useless_learner(name, in_hull):
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    settings = RobustSettings(algorithm=name, in_hull=in_hull)
    right = Hypothesis(answers=signs.copy(), member="right")
    boost = boost_robustly(lambda _: right, signs, settings)
    assert boost.trace.min_margins[-1] > 0
    assert np.isfinite(boost.potentials).all()
    useless = Hypothesis(answers=np.ones(4), member="+")
    assert len(boost_robustly(lambda _: useless, signs, settings)) == 0
