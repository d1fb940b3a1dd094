"""Cubic splines by their level, slope and second derivatives."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from tests.reference.smoothing_splines import natural_spline, root_of_roughness

from spinney.model.natural_splines import NaturalSplines


def coefficients_through(splines, values):
    """Level, slope and second derivatives of the spline through points, in our units."""
    curve = CubicSpline(splines.places, values, bc_type="natural")
    return np.array([curve(0.0), curve(0.0, 1), *curve(splines.places[1:-1], 2)])[:, np.newaxis]


@pytest.mark.parametrize("n_knots", [3, 4, 7, 20])
def test_splines_are_those_of_scipy_with_straight_ends(n_knots):
    rng = np.random.default_rng(n_knots)
    knots, values = np.sort(rng.normal(3, 10, n_knots)), rng.normal(size=n_knots)
    splines = NaturalSplines(knots)
    found = coefficients_through(splines, values)
    x = np.concatenate([knots, np.linspace(knots[0] - 20, knots[-1] + 20, 500)])
    expected = natural_spline(knots, values)(x)
    assert splines.values(found, x)[:, 0] == pytest.approx(expected, abs=1e-9)


def test_two_knots_make_a_line():
    splines = NaturalSplines(np.array([1.0, 3.0]))
    x = np.array([-7.0, 1.0, 2.0, 3.0, 11.0])
    line = splines.values(np.array([[5.0], [4.0]]), x)[:, 0]
    assert line == pytest.approx(5 + 4 * (x - 3) / 2)


def test_missing_values_give_nothing_and_infinite_ones_follow_the_line():
    splines = NaturalSplines(np.array([0.0, 1.0, 2.0]))
    curves = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    values = splines.values(curves, np.array([np.nan, np.inf, -np.inf]))
    assert values[:, 0].tolist() == [0.0, np.inf, -np.inf]
    assert values[0, 1] == 0.0


def test_roughness_is_the_integral_of_squared_second_derivatives():
    knots = np.array([0.0, 0.1, 0.4, 0.5, 0.9, 1.0])
    splines, values = NaturalSplines(knots), np.array([1.0, -2.0, 0.5, 3.0, 1.0, 0.0])
    bends = coefficients_through(splines, values)[2:, 0]
    expected = ((root_of_roughness(knots) @ values) ** 2).sum()
    assert bends @ splines.roughness() @ bends == pytest.approx(expected, rel=1e-12)


def test_each_row_is_evaluated_by_itself():
    rng = np.random.default_rng(0)
    splines = NaturalSplines(np.sort(rng.normal(size=9)))
    curve, x = rng.normal(size=(9, 1)), 2 * rng.normal(size=101)
    together = splines.values(curve, x)[:, 0]
    assert together.tolist() == [splines.values(curve, x[i : i + 1])[0, 0] for i in range(101)]


@pytest.mark.parametrize(
    "knots",
    [[0.0], [1.0, 1.0], [0.0, 2.0, 1.0], [2.0, 1.0, 0.0], [-1e308, 1e308], [0.0, 1e-320, 1e10]],
)
def test_knots_that_do_not_increase_are_known(knots):
    assert not NaturalSplines(np.array(knots)).are_proper
    assert NaturalSplines(np.array([0.0, 5e-324])).are_proper
