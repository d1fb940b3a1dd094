"""Bounds of the training error and of margins: printed values, limits, hostile input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.theory.boosters import RUDIN, Stumps, noisy_rows

from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory import (
    guaranteed_margin,
    margin_markov,
    margin_theorem,
    rounds_needed,
    training_error_bounds,
    upsilon,
)

FEW = settings(max_examples=50, deadline=None)


def test_rounds_of_the_lecture_notes():
    assert rounds_needed(0.1, 0.01) == 231
    assert rounds_needed(0.1, 0.01, exact=True) == 226
    assert rounds_needed(0.5, 0.01, exact=True) == 1
    assert rounds_needed(0.5, 0.01) == 10


@FEW
@given(st.floats(0.01, 0.49), st.floats(1e-6, 0.9), st.booleans())
def test_rounds_needed_are_enough_and_one_less_is_not(gamma, delta, exact):
    bounds = training_error_bounds(np.full(rounds_needed(gamma, delta, exact=exact), 0.5 - gamma))
    reached = bounds.power if exact else bounds.exponential
    assert reached[-1] <= delta * (1 + 1e-9)
    assert len(reached) == 1 or reached[-2] > delta * (1 - 1e-9)


def test_upsilon_of_rudin_and_its_limits():
    assert upsilon(3 / 8) == pytest.approx(0.19221, abs=5e-6)
    assert upsilon(3 / 8) <= 1 / 3
    assert (upsilon(0.0), upsilon(1.0)) == (0.0, 1.0)
    assert upsilon(1e-8) == pytest.approx(5e-9, rel=1e-6)


@FEW
@given(st.floats(0, 1))
def test_upsilon_is_at_least_half_of_the_edge(edge):
    """Identity 12; and it is no more than the edge."""
    assert edge / 2 * (1 - 1e-12) <= upsilon(edge) <= edge * (1 + 1e-12)
    assert (np.diff(upsilon(np.linspace(0, 1, 101))) > 0).all()


def test_below_upsilon_the_margin_theorem_goes_to_nothing_and_above_it_does_not():
    edge = 0.375
    errors = np.full(20_000, (1 - edge) / 2)
    assert margin_theorem(errors, upsilon(edge) - 1e-2) < 1e-10
    assert margin_theorem(errors, upsilon(edge) + 1e-2) > 1


def test_adaboost_on_rudins_matrix_has_the_margin_it_is_promised():
    """Optimal columns: the margin goes to 1/3, above upsilon(3/8), below 3/8."""
    scores, alphas, normalisers = np.zeros(8), [], []
    for _ in range(300):
        weights = np.exp(-scores) / np.exp(-scores).sum()
        best = int((weights @ RUDIN).argmax())
        edge = weights @ RUDIN[:, best]
        alphas.append(np.arctanh(edge))
        normalisers.append(np.sqrt(1 - edge**2))
        scores = scores + alphas[-1] * RUDIN[:, best]
    margin = scores.min() / sum(alphas)
    assert margin == pytest.approx(1 / 3, abs=5e-3)
    assert upsilon(3 / 8) - np.log(8) / sum(alphas) <= guaranteed_margin(alphas, normalisers, 8)
    assert guaranteed_margin(alphas, normalisers, 8) <= margin < 3 / 8


@pytest.mark.parametrize("n_rounds", [1, 5, 40])
def test_no_training_margin_is_below_the_guarantee(n_rounds):
    X, y, _ = noisy_rows(40)
    booster = Stumps(X, y, n_rounds)
    promised = guaranteed_margin(booster.trace_.alphas, booster.trace_.normalisers, len(y))
    assert booster.margins(X, y).min() >= promised - 1e-12


def test_a_reversed_learner_counts_as_its_opposite():
    one, other = training_error_bounds([0.3, 0.8]), training_error_bounds([0.7, 0.2])
    for name in ("product", "power", "exponential_sum", "exponential"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-14)
    assert margin_theorem([0.7], 0.3) == pytest.approx(margin_theorem([0.3], 0.3))


def test_ends_of_the_range_are_numbers():
    bounds = training_error_bounds([0.0, 0.5, 1.0])
    assert bounds.product.tolist() == [0.0, 0.0, 0.0]
    assert bounds.power.tolist() == [0.0, 1.0, 1.0]
    assert margin_theorem([0.0], 0.5) == 0.0
    assert margin_theorem([0.0], [1.0]).tolist() == [2.0]
    assert margin_theorem([0.5], [-1.0, 0.0, 1.0]).tolist() == pytest.approx([1.0] * 3)
    many = training_error_bounds(np.full(100_000, 0.1))
    assert many.product[-1] == 0.0
    assert margin_theorem(np.full(100_000, 0.1), 1.0) == np.inf


def test_other_votes_have_only_the_product():
    alphas, errors = np.array([0.1, 0.2]), np.array([0.3, 0.2])
    actual = (1 - errors) * np.exp(-alphas) + errors * np.exp(alphas)
    bounds = training_error_bounds(errors, actual)
    np.testing.assert_allclose(bounds.product, np.cumprod(actual), rtol=1e-14)
    assert margin_markov(alphas, actual, 0.0) == pytest.approx(actual.prod())
    assert margin_markov(alphas, actual, [1.0, -1.0]).tolist() == pytest.approx(
        [actual.prod() * np.exp(0.3), actual.prod() * np.exp(-0.3)]
    )


def test_bounds_print_round_by_round():
    text = str(training_error_bounds([0.25, 0.25]))
    assert text.splitlines()[0] == "Bounds of the training error over 2 rounds"
    assert text.splitlines()[-1].split() == ["2", "0.75", "0.75", "0.7788", "0.7788"]


@pytest.mark.parametrize("function", [training_error_bounds, lambda e: margin_theorem(e, 0.1)])
@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ([0.2, 1.2], r"errors\[1\] is 1.2: expected a number in \[0, 1\]. Give each round"),
        ([-0.1], r"errors\[0\] is -0.1"),
        ([0.1, np.nan], r"errors\[1\] is nan"),
        ([], "none of them empty"),
    ],
)
def test_errors_that_are_none_are_refused(function, errors, message):
    with pytest.raises(InvalidInput, match=message):
        function(errors)


@pytest.mark.parametrize(
    "call",
    [
        lambda: margin_theorem([0.1], 1.5),
        lambda: margin_theorem([0.1], np.nan),
        lambda: upsilon(1.5),
        lambda: upsilon(-0.1),
        lambda: upsilon([]),
        lambda: training_error_bounds([0.1, 0.2], [0.5]),
        lambda: training_error_bounds([0.1], [-0.5]),
        lambda: margin_markov([0.0], [0.5], 0.1),
        lambda: margin_markov([1.0], [0.0], 0.1),
        lambda: margin_markov([1.0, 1.0], [0.5], 0.1),
    ],
)
def test_numbers_without_a_bound_are_refused(call):
    with pytest.raises(InvalidInput, match="expected"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: rounds_needed(0.0, 0.1),
        lambda: rounds_needed(0.6, 0.1),
        lambda: rounds_needed(0.1, 0.0),
        lambda: rounds_needed(0.1, 1.0),
        lambda: rounds_needed(np.nan, 0.1),
        lambda: rounds_needed("0.1", 0.1),
        lambda: guaranteed_margin([1.0], [0.5], 0),
        lambda: guaranteed_margin([1.0], [0.5], 2.5),
    ],
)
def test_parameters_out_of_range_are_refused(call):
    with pytest.raises(InvalidParameter, match="expected"):
        call()
