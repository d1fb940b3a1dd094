import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.ensembles.robust.potentials import BrownPotential, RobustPotential, largest_target
from spinney.ensembles.robust.settings import RobustSettings
from spinney.errors import InvalidParameter
from spinney.losses import MARGIN_LOSSES


def slopes(function, u, step=1e-6):
    return (function(u + step) - function(u - step)) / (2 * step)


@given(st.floats(1e-12, 0.99))
@settings(max_examples=30, deadline=None)
def test_browns_potential_starts_at_the_target_error(target):
    potential = BrownPotential.of(target)
    start = potential.values(np.array([potential.total_time]))
    np.testing.assert_allclose(start, target, rtol=1e-9)


@given(st.floats(1e-9, 0.49), st.floats(0, 2), st.floats(1e-3, 2))
@settings(max_examples=30, deadline=None)
def test_robust_potential_starts_at_the_target_error_and_ends_at_the_goal(target, goal, width):
    potential = RobustPotential.of(
        RobustSettings(target_error=target, goal_margin=goal, sigma_final=width)
    )
    np.testing.assert_allclose(potential.values(np.zeros(1), 0.0), target, rtol=1e-7)
    assert potential.centre(1.0) == pytest.approx(goal, abs=1e-9)
    assert potential.width(1.0) == pytest.approx(width, rel=1e-6)


@pytest.mark.parametrize("time", [0.0, 0.4, 1.0])
def test_weights_are_slopes_of_the_robust_potential(time):
    potential = RobustPotential.of(RobustSettings(target_error=0.1, goal_margin=0.2))
    u = np.linspace(-2, 2, 41)
    slope = -slopes(lambda m: potential.values(m, time), u)
    bell = np.exp(potential.log_weights(u, time)) / (np.sqrt(np.pi) * potential.width(time))
    np.testing.assert_allclose(slope, bell, atol=1e-8)


def test_weights_are_slopes_of_browns_potential():
    potential = BrownPotential.of(0.2)
    u = np.linspace(-2, 2, 41)
    bell = 2 * np.exp(potential.log_weights(u)) / (np.sqrt(np.pi) * potential.root)
    np.testing.assert_allclose(-slopes(potential.values, u), bell, atol=1e-8)


@pytest.mark.parametrize("name", ["savage", "sigmoid", "tangent", "ramp"])
def test_margin_potentials_are_bounded_and_quiet_far_away(name):
    potential = MARGIN_LOSSES[name]
    far = np.array([-1e300, -800.0, 800.0, 1e150])
    assert np.isfinite(potential.value(far)).all()
    assert potential.value(far).max() <= (np.pi + 1) ** 2 + 1e-9
    np.testing.assert_allclose(potential.derivative(far[1:]), 0.0, atol=1e-4)


@pytest.mark.parametrize(("target", "goal"), [(0.5, 0.0), (0.7, 0.0), (0.4, -1.0), (0.1, -5.0)])
def test_a_target_that_guessing_reaches_is_refused_with_a_remedy(target, goal):
    with pytest.raises(InvalidParameter, match="Lower target_error or raise goal_margin") as error:
        RobustPotential.of(RobustSettings(target_error=target, goal_margin=goal))
    assert f"target_error={target}" in str(error.value)


@pytest.mark.parametrize("goal", [-1.0, 0.0, 0.5])
def test_the_limit_of_the_target_error_is_exact(goal):
    limit = largest_target(RobustSettings(goal_margin=goal))
    accepted = RobustSettings(goal_margin=goal, target_error=limit * (1 - 1e-9))
    assert RobustPotential.of(accepted).drift > 0
    with pytest.raises(InvalidParameter):
        RobustPotential.of(RobustSettings(goal_margin=goal, target_error=limit * (1 + 1e-9)))
