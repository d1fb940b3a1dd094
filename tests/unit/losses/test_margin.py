"""Margin losses: slopes, bounds, calibration, convexity, and functions that users bring."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import MARGIN_LOSSES, MarginLoss, margin_loss
from spinney.losses.margin import ramp, sigmoid

LOSSES = dict(MARGIN_LOSSES) | {"sharp sigmoid": sigmoid(2.5), "flat ramp": ramp(0.37)}
SLOPED = [name for name in LOSSES if name != "zero_one"]
SMOOTH = [name for name in LOSSES if LOSSES[name].is_smooth]
WITH_LOGARITHM = [name for name in LOSSES if LOSSES[name].logarithm is not None]
KINKS = (-1.0, 0.0, 1.0)
GRID = np.setdiff1d(np.linspace(-4.0, 4.0, 161), KINKS)  # 0.05 from every kink
HUGE = np.concatenate([-np.logspace(4, -3, 40), [0.0], np.logspace(-3, 4, 40)])


def central(f, u, step=1e-5):
    return (f(u + step) - f(u - step)) / (2 * step)


def test_the_registry_is_what_was_promised_and_cannot_be_changed():
    assert set(MARGIN_LOSSES) == {
        "zero_one", "exponential", "logistic", "hinge", "squared_hinge", "squared",
        "huberised_hinge", "mada", "savage", "ramp", "tangent", "sigmoid",
    }  # fmt: skip
    assert all(loss.name == name for name, loss in MARGIN_LOSSES.items())
    assert {name for name, loss in MARGIN_LOSSES.items() if loss.is_convex} == {
        "exponential", "logistic", "hinge", "squared_hinge", "squared", "huberised_hinge", "mada",
    }  # fmt: skip
    with pytest.raises(TypeError):
        MARGIN_LOSSES["mine"] = MARGIN_LOSSES["hinge"]
    with pytest.raises(AttributeError):
        MARGIN_LOSSES["hinge"].is_convex = False


@pytest.mark.parametrize(
    ("name", "formula"),
    {
        "exponential": lambda u: np.exp(-u),
        "logistic": lambda u: np.log(1 + np.exp(-2 * u)),
        "squared": lambda u: (1 - u) ** 2,
        "savage": lambda u: 1 / (1 + np.exp(2 * u)) ** 2,
        "tangent": lambda u: (2 * np.arctan(u) - 1) ** 2,
        "sigmoid": lambda u: 1 - np.tanh(u),
        "sharp sigmoid": lambda u: 1 - np.tanh(2.5 * u),
    }.items(),
)
def test_values_are_those_of_the_formula_as_papers_write_it(name, formula):
    np.testing.assert_allclose(LOSSES[name].value(GRID), formula(GRID), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", SLOPED)
def test_derivatives_are_those_of_differences(name):
    loss = LOSSES[name]
    np.testing.assert_allclose(loss.derivative(GRID), central(loss.value, GRID), atol=1e-8)
    if loss.is_smooth:
        second = central(loss.derivative, GRID)
        np.testing.assert_allclose(loss.second_derivative(GRID), second, atol=1e-8)


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_of_smooth_losses_do_not_jump(name):
    loss = LOSSES[name]
    for kink in KINKS:
        below, above = loss.derivative([kink - 1e-9, kink + 1e-9])
        assert below == pytest.approx(above, abs=1e-7)


@pytest.mark.parametrize("name", ["hinge", "ramp"])
def test_slopes_of_the_others_do(name):
    below, above = LOSSES[name].derivative([1.0 - 1e-9, 1.0 + 1e-9])
    assert (below, above) == (-1.0, 0.0)
    assert LOSSES[name].derivative(1.0) == above
    with pytest.raises(InvalidParameter, match="slope jumps"):
        LOSSES[name].second_derivative(0.0)


@pytest.mark.parametrize("name", LOSSES)
def test_scaled_losses_pass_through_one_and_bound_the_zero_one_loss(name):
    loss = LOSSES[name]
    assert loss.scaled(0.0) == 1.0
    assert loss.upper_bounds_01
    assert np.all(loss.scaled(HUGE) >= (HUGE <= 0))


@pytest.mark.parametrize("name", LOSSES)
def test_convexity_by_midpoints(name):
    loss = LOSSES[name]
    a, b = np.meshgrid(GRID, GRID)
    excess = loss.value((a + b) / 2) - (loss.value(a) + loss.value(b)) / 2
    assert (excess.max() <= 1e-12) == loss.is_convex


@pytest.mark.parametrize("name", LOSSES)
def test_the_best_score_has_the_sign_of_the_likelier_label(name):
    loss = LOSSES[name]
    assert loss.is_calibrated
    u = np.linspace(-60.0, 60.0, 24_001)
    for p in (0.01, 0.2, 0.45, 0.55, 0.8, 0.99):
        risk = p * loss.value(u) + (1 - p) * loss.value(-u)
        wrong_sign = u * (2 * p - 1) <= (0.0 if name != "zero_one" else -1e-9)
        assert risk.min() < risk[wrong_sign].min() - 1e-4


@pytest.mark.parametrize("name", LOSSES)
@given(p=st.floats(0.01, 0.99))
def test_no_score_is_better_than_the_bayes_link(name, p):
    loss = LOSSES[name]
    best = loss.bayes_link(p)

    def risk(u):
        return p * loss.value(u) + (1 - p) * loss.value(-u)

    others = np.concatenate([np.linspace(-8, 8, 1601), np.clip(best, -99, 99) + GRID / 100])
    slack = 1e-12 if name != "zero_one" or p != 0.5 else 1.0
    assert risk(best) <= risk(others).min() + slack


def test_links_at_the_ends_and_outside():
    np.testing.assert_array_equal(LOSSES["logistic"].bayes_link([0, 0.5, 1]), [-np.inf, 0, np.inf])
    np.testing.assert_array_equal(LOSSES["sigmoid"].bayes_link([0, 0.5, 1]), [-np.inf, 0, np.inf])
    np.testing.assert_array_equal(LOSSES["hinge"].bayes_link([0, 0.5, 1]), [-1, 0, 1])
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(InvalidInput, match=r"outside \[0, 1\]"):
            LOSSES["logistic"].bayes_link(bad)


@pytest.mark.parametrize("name", LOSSES)
def test_huge_margins_make_no_noise(name):
    loss = LOSSES[name]  # warnings are errors here
    assert not np.isnan(loss.value(HUGE)).any()
    finite = loss.value(HUGE[HUGE > -700])
    assert np.isfinite(finite).all()
    if name != "zero_one":
        assert not np.isnan(loss.derivative(HUGE)).any()
        assert np.isfinite(loss.distribution(HUGE)).all()
    if loss.is_smooth:
        assert not np.isnan(loss.second_derivative(HUGE)).any()
    if name == "exponential":
        assert loss.value(-1e4) == np.inf


@pytest.mark.parametrize("name", WITH_LOGARITHM)
def test_logarithms_are_those_of_the_formula_and_go_on_where_it_ends(name):
    loss = LOSSES[name]
    near = HUGE[np.abs(HUGE) < 100]
    np.testing.assert_allclose(loss.logarithm(near, 0), np.log(loss.value(near)), atol=1e-12)
    np.testing.assert_allclose(loss.logarithm(near, 1), np.log(-loss.derivative(near)), atol=1e-12)
    if loss.is_convex:
        with np.errstate(divide="ignore"):  # straight parts have curvature 0
            expected = np.log(loss.second_derivative(near))
        np.testing.assert_allclose(loss.logarithm(near, 2), expected, atol=1e-12)
    rate = loss.logarithm(np.array([9000.0, 9001.0]), 1)
    assert rate[0] - rate[1] == pytest.approx(-central(partial(loss.logarithm, order=1), 50.0))


@pytest.mark.parametrize("name", SLOPED)
def test_distributions_follow_slopes_and_masses_and_no_scale(name):
    loss, rng = LOSSES[name], np.random.default_rng(0)
    u, mass = rng.normal(size=30), rng.random(30) * (rng.random(30) > 0.2)
    given_weights = loss.distribution(u, mass)
    pulls = -mass * loss.derivative(u)
    np.testing.assert_allclose(given_weights, pulls / np.abs(pulls).sum(), rtol=1e-12)
    assert np.abs(given_weights).sum() == pytest.approx(1.0, abs=1e-14)

    def threefold(u, order):
        return 3.0 * loss.formula(u, order)

    scaled = MarginLoss(
        "threefold", "3φ", threefold, loss.is_convex, loss.is_smooth, upper_bounds_01=True
    )
    np.testing.assert_allclose(scaled.distribution(u, mass), given_weights, rtol=1e-12)
    np.testing.assert_allclose(scaled.scaled(u), loss.scaled(u), rtol=1e-12)


def test_weights_of_the_logistic_loss_are_shares():
    u = np.linspace(-3, 3, 7)
    shares = 1 / (1 + np.exp(2 * u))
    given_weights = LOSSES["logistic"].distribution(u)
    np.testing.assert_allclose(given_weights, shares / shares.sum(), rtol=1e-14)


def test_weights_never_vanish_all_at_once():
    u = 1e6 + np.linspace(0.0, 3.0, 5)
    expected = np.exp(-(u - u[0]) - logsumexp(-(u - u[0])))
    np.testing.assert_allclose(LOSSES["exponential"].distribution(u), expected, rtol=1e-9)
    assert not LOSSES["squared_hinge"].distribution(u).any()


def test_losses_survive_a_pickle():
    for name, loss in LOSSES.items():
        again = pickle.loads(pickle.dumps(loss))
        np.testing.assert_array_equal(again.value(GRID), loss.value(GRID), err_msg=name)


def test_zero_one_is_for_plots():
    with pytest.raises(InvalidParameter, match="there to be plotted"):
        MARGIN_LOSSES["zero_one"].derivative(0.0)


@pytest.mark.parametrize("name", [n for n in SMOOTH if LOSSES[n].is_convex])
def test_a_function_is_as_good_as_the_name(name):
    loss = LOSSES[name]
    mine = margin_loss(loss.value)
    assert mine.is_smooth
    assert mine.upper_bounds_01
    np.testing.assert_allclose(mine.derivative(GRID), loss.derivative(GRID), rtol=1e-9, atol=1e-10)
    scale = np.abs(loss.second_derivative(GRID)).max()
    np.testing.assert_allclose(
        mine.second_derivative(GRID), loss.second_derivative(GRID), atol=1e-8 * scale
    )
    exact = margin_loss(loss.value, derivative=loss.derivative)
    np.testing.assert_array_equal(exact.derivative(GRID), loss.derivative(GRID))


def test_a_function_with_a_kink_is_found_out():
    mine = margin_loss(lambda u: np.maximum(0.0, 1.0 - u))
    assert not mine.is_smooth
    exact = margin_loss(LOSSES["hinge"].value, derivative=LOSSES["hinge"].derivative)
    assert not exact.is_smooth


@pytest.mark.parametrize(
    ("phi", "words"),
    [
        (lambda u: u**2, "falling at 0"),
        (np.exp, "falling at 0"),
        (lambda u: np.full_like(u, 2.0), "falling at 0"),
        (lambda u: -u, "at least 0"),
        (lambda u: 1 - np.tanh(u), "convex"),
        (lambda u: np.where(u > 3, np.inf, 10 - u), "finite"),
        (lambda u: -np.log(u), "finite"),
        (lambda u: np.full_like(u, np.nan), "finite"),
        (lambda u: 1.0, "one number per margin"),  # noqa: ARG005
        (lambda u: u.astype(str), "one number per margin"),
        (lambda u: u[:3], "one number per margin"),
    ],
)
def test_functions_that_are_no_losses_are_refused(phi, words):
    with pytest.raises(InvalidParameter, match=words):
        margin_loss(phi)


def test_a_wrong_derivative_is_found_out():
    with pytest.raises(InvalidParameter, match="differences of the loss say"):
        margin_loss(lambda u: np.exp(-u), derivative=lambda u: np.exp(-u))


def test_names_and_other_things():
    assert margin_loss("hinge") is MARGIN_LOSSES["hinge"]
    assert margin_loss(MARGIN_LOSSES["ramp"]) is MARGIN_LOSSES["ramp"]
    with pytest.raises(InvalidParameter, match="Did you mean 'logistic'"):
        margin_loss("logistik")
    for bad in (None, 3, ["hinge"]):
        with pytest.raises(InvalidParameter, match="name of a margin loss"):
            margin_loss(bad)
    for bad in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InvalidParameter, match="sharpness"):
            sigmoid(bad)
        with pytest.raises(InvalidParameter, match="sharpness"):
            ramp(bad)
    with pytest.raises(InvalidParameter, match="closed form"):
        margin_loss(lambda u: np.exp(-u)).bayes_link(0.5)
