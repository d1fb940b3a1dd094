"""Intervals against their definitions, and what holds for all of them."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.reference.conformal import after_bootstrap, jackknife_plus, split_interval

from spinney.errors import InvalidInput
from spinney.uncertainty import (
    PredictionIntervals,
    after_bootstrap_intervals,
    jackknife_plus_intervals,
    out_of_bag_means,
    quantile_intervals,
    quantile_scores,
    split_intervals,
)
from spinney.uncertainty.out_of_bag import LeftOut

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail."""
RNG = np.random.default_rng(0)
NUMBERS = st.floats(-100, 100, width=32)
LEVELS = st.sampled_from([0.1, 0.5, 0.55, 0.8, 0.9, 0.95])


def least_squares(X, y):
    coefficients = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]
    return lambda new: np.column_stack([np.ones(len(new)), new]) @ coefficients


@PATIENT
@given(arrays(float, st.integers(1, 25), elements=st.floats(0, 50, width=32)), NUMBERS, LEVELS)
def test_split_intervals_are_their_definition(residuals, centre, level):
    found = split_intervals([centre], residuals, level)
    assert (found.lower[0], found.upper[0]) == split_interval(residuals, centre, level)


def test_scale_stretches_intervals_row_by_row():
    scores = np.arange(1.0, 20.0)
    found = split_intervals([0.0, 0.0], scores, 0.9, scale=[1.0, 3.0])
    assert found.upper.tolist() == [18.0, 54.0]
    with pytest.raises(InvalidInput, match="scale"):
        split_intervals([0.0], scores, 0.9, scale=[0.0])


@pytest.mark.parametrize("folds", [None, np.arange(14) % 4])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_plus_intervals_are_the_definition_with_all_fits(folds, level):
    X = RNG.normal(size=(14, 2))
    y = X @ [1.0, -2.0] + RNG.normal(size=14)
    new = RNG.normal(size=(5, 2))
    own = np.arange(14) if folds is None else folds
    models = [least_squares(X[own != own[i]], y[own != own[i]]) for i in range(14)]
    residuals = [abs(y[i] - models[i](X[i : i + 1])[0]) for i in range(14)]
    left_out = np.column_stack([model(new) for model in models])
    found = jackknife_plus_intervals(left_out, residuals, level)
    for row in range(5):
        expected = jackknife_plus(least_squares, X, y, new[row], level, folds=folds)
        assert (found.lower[row], found.upper[row]) == pytest.approx(expected, abs=1e-12)


@PATIENT
@given(
    st.integers(2, 12).flatmap(
        lambda n: st.tuples(
            arrays(float, (3, n), elements=NUMBERS),
            arrays(float, n, elements=st.floats(0, 50, width=32)),
        )
    ),
    LEVELS,
)
def test_jackknife_plus_is_within_minmax(given_rows, level):
    left_out, residuals = given_rows
    plus = jackknife_plus_intervals(left_out, residuals, level)
    wide = jackknife_plus_intervals(left_out, residuals, level, minmax=True)
    assert (wide.lower <= plus.lower).all()
    assert (plus.upper <= wide.upper).all()


def test_one_model_makes_the_jackknife_plus_a_split():
    """If leaving rows out changes nothing, left-out models are one model."""
    residuals = RNG.random(30)
    left_out = np.full((1, 30), 5.0)
    plus = jackknife_plus_intervals(left_out, residuals, 0.9)
    split = split_intervals([5.0], residuals, 0.9)
    assert (plus.lower[0], plus.upper[0]) == pytest.approx((split.lower[0], split.upper[0]))


@PATIENT
@given(st.lists(st.integers(0, 3), min_size=4, max_size=9), LEVELS)
def test_weights_of_plus_intervals_are_repetitions(weights, level):
    n = len(weights)
    if sum(weights) == 0:
        return
    rng = np.random.default_rng(n)
    left_out, residuals = rng.normal(size=(4, n)), rng.random(n)
    for minmax in (False, True):
        weighted = jackknife_plus_intervals(
            left_out, residuals, level, minmax=minmax, sample_weight=weights
        )
        repeated = jackknife_plus_intervals(
            np.repeat(left_out, weights, axis=1),
            np.repeat(residuals, weights),
            level,
            minmax=minmax,
        )
        assert np.array_equal(weighted.lower, repeated.lower)
        assert np.array_equal(weighted.upper, repeated.upper)


def test_conformalised_quantiles_follow_their_definition():
    low, high, y = RNG.normal(size=(3, 40))
    scores = quantile_scores(low, high, y)
    assert scores.tolist() == [max(a - t, t - b) for a, b, t in zip(low, high, y, strict=True)]
    reach = sorted(scores)[math.ceil(0.8 * 41) - 1]
    found = quantile_intervals([0.0], [1.0], scores, 0.8)
    assert (found.lower[0], found.upper[0]) == (-reach, 1.0 + reach)
    assert found.prediction.tolist() == [0.5]


def test_bounds_that_cross_hold_nothing_and_have_no_width():
    found = quantile_intervals([0.0], [1.0], [-2.0, -3.0], 0.5)
    assert found.lower[0] > found.upper[0]
    assert found.width.tolist() == [0.0]
    assert found.coverage([0.5]) == 0.0


# Out of bag


def test_after_bootstrap_is_its_definition():
    n, members, new = 12, 9, 4
    train, answers = RNG.normal(size=(n, members)), RNG.normal(size=(new, members))
    unseen = RNG.random((n, members)) < 0.4
    unseen[3] = False  # a row that everyone saw
    y = RNG.normal(size=n)
    residuals = np.abs(y - out_of_bag_means(train, unseen))
    assert np.isnan(residuals[3])
    found = after_bootstrap_intervals(answers, residuals, unseen, 0.8)
    for row in range(new):
        expected = after_bootstrap(train, answers[row], unseen, y, 0.8)
        assert (found.lower[row], found.upper[row]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e200])
def test_means_over_members_are_exact_whatever_the_order(scale):
    answers = RNG.normal(size=(7, 40)) * scale
    unseen = RNG.random((25, 40)) < 0.5
    means = LeftOut(unseen, float(np.abs(answers).max())).joint(answers)
    order = RNG.permutation(40)
    again = LeftOut(unseen[:, order], float(np.abs(answers).max())).joint(answers[:, order])
    assert np.array_equal(means, again)
    plain = [[np.mean(row[lacks]) for lacks in unseen] for row in answers]
    assert np.allclose(means, plain, rtol=1e-12, atol=1e-12 * scale)


def test_grids_of_single_rows_are_exact_too():
    answers = RNG.normal(size=(7, 40)) * 10.0 ** np.arange(-9, 12, 3)[:, np.newaxis]
    unseen = RNG.random((25, 40)) < 0.5
    order = RNG.permutation(40)
    joint = LeftOut(unseen).joint(answers)
    assert np.array_equal(joint, LeftOut(unseen[:, order]).joint(answers[:, order]))
    assert np.array_equal(joint[2:3], LeftOut(unseen).joint(answers[2:3]))
    plain = [[np.mean(row[lacks]) for lacks in unseen] for row in answers]
    assert np.allclose(joint, plain, rtol=1e-9, atol=0)


def test_members_that_know_nothing_say_nothing_to_add():
    assert LeftOut(np.ones((2, 3), bool), 0.0).joint(np.zeros((1, 3))).tolist() == [[0.0, 0.0]]


# What comes out


def test_results_are_frozen_tables():
    found = split_intervals([1.0, 2.0], np.arange(1.0, 30.0), 0.9)
    assert found.to_frame().columns.tolist() == ["prediction", "lower", "upper"]
    assert len(found) == 2
    assert "90 %" in str(found)
    with pytest.raises(AttributeError):
        found.level = 0.5
    with pytest.raises(ValueError, match="read-only"):
        found.lower[0] = 0.0


def test_coverage_counts_ends_and_weights():
    found = PredictionIntervals.of([0.0, 0.0], [-1.0, -1.0], [1.0, 1.0], 0.9)
    assert found.coverage([1.0, 2.0]) == 0.5
    assert found.coverage([1.0, 2.0], sample_weight=[3, 1]) == 0.75
    assert found.covers([-1.0, 0.5]).all()
    with pytest.raises(InvalidInput, match="y has 1"):
        found.coverage([1.0])
    with pytest.raises(InvalidInput, match="nan"):
        found.coverage([math.nan, 1.0])


def test_too_few_rows_promise_everything_and_hold_everything():
    found = split_intervals([1.0], [1.0, 2.0, 3.0], 0.9)
    assert (found.lower[0], found.upper[0]) == (-math.inf, math.inf)
    assert found.coverage([1e300]) == 1.0


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="residuals has 2"):
        jackknife_plus_intervals([[1.0, 2.0, 3.0]], [1.0, 2.0], 0.5)
    with pytest.raises(InvalidInput, match="left_out has the shape"):
        jackknife_plus_intervals([1.0, 2.0], [1.0, 2.0], 0.5)
    with pytest.raises(InvalidInput, match="left_out"):
        jackknife_plus_intervals([[1.0, math.nan]], [1.0, 2.0], 0.5)
    with pytest.raises(InvalidInput, match="unseen"):
        after_bootstrap_intervals([[1.0, 2.0]], [1.0], [[True]], 0.5)
    with pytest.raises(InvalidInput, match="residuals"):
        after_bootstrap_intervals([[1.0, 2.0]], [1.0, 2.0], [[True, False]], 0.5)
    with pytest.raises(InvalidInput, match="answers has 1 rows"):
        out_of_bag_means([[1.0]], [[True], [True]])
