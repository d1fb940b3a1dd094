"""Losses in full precision: derivatives, constants, steps; against native code and brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.data.fixed_point import exact_sums
from spinney.errors import InvalidParameter
from spinney.losses.line_search import best_quantile_step, best_steps
from spinney.losses.loss import BINARY_LOSSES, REGRESSION_LOSSES
from spinney.losses.multinomial import MultinomialLoss
from spinney.losses.row_loss import LONGEST_MOVE, MultinomialRowLoss, PointRowLoss, ScoredRows
from spinney.losses.user_loss import UserLoss

POINTS = {**REGRESSION_LOSSES, **BINARY_LOSSES}
KINKED = ("absolute", "quantile")


def rows_for(name, n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows) * 3
    if name in REGRESSION_LOSSES and REGRESSION_LOSSES[name].domain != "any":
        y = rng.gamma(2.0, size=n_rows)
    if name in BINARY_LOSSES:
        y = rng.integers(0, 2, n_rows).astype(float)
    return ScoredRows(y, rng.normal(size=(n_rows, 1)), rng.integers(1, 4, n_rows).astype(float))


@pytest.mark.parametrize("name", POINTS)
def test_formulas_are_those_of_native_code(name):
    rows, point = rows_for(name), POINTS[name]
    loss = PointRowLoss(point)
    native = point.derivatives(rows.y, rows.scores, 1).gradients[0]
    assert loss.gradients(rows.y, rows.scores)[:, 0] == pytest.approx(native, rel=1e-6, abs=1e-6)
    total = point.total(rows.y, rows.scores, rows.weights, 1)
    assert (rows.weights * loss.values(rows.y, rows.scores)).sum() == pytest.approx(
        total, rel=1e-12
    )
    assert loss.mean(rows) == pytest.approx(total / rows.weights.sum(), rel=1e-12)


@pytest.mark.parametrize("name", POINTS)
def test_gradients_are_differences_of_values(name):
    rows, loss = rows_for(name), PointRowLoss(POINTS[name])
    up, down = (loss.values(rows.y, rows.scores + shift) for shift in (1e-6, -1e-6))
    gradients = loss.gradients(rows.y, rows.scores)[:, 0]
    assert (up - down) / 2e-6 == pytest.approx(gradients, rel=1e-6, abs=1e-7)


def test_several_classes_agree_with_native_code_and_with_differences():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, 30).astype(float), rng.normal(size=(30, 4)) * 50
    loss, native = MultinomialRowLoss(4), MultinomialLoss(4)
    gradients = loss.gradients(y, scores)
    assert gradients == pytest.approx(native.derivatives(y, scores, 1).gradients.T, abs=1e-6)
    assert loss.values(y, scores).sum() == pytest.approx(
        native.total(y, scores, None, 1), rel=1e-12
    )
    for k in range(4):
        shift = 1e-6 * np.eye(4)[k]
        rise = loss.values(y, scores + shift) - loss.values(y, scores - shift)
        assert rise / 2e-6 == pytest.approx(gradients[:, k], abs=1e-6)


@pytest.mark.parametrize("name", POINTS)
def test_no_constant_is_better_than_the_start(name):
    rows, loss = rows_for(name), PointRowLoss(POINTS[name])
    start = loss.start(rows.y, rows.weights)

    def total(shift):
        return (rows.weights * loss.values(rows.y, np.tile(start + shift, (60, 1)))).sum()

    assert min(total(1e-4), total(-1e-4)) >= total(0.0) * (1 - 1e-14)
    if name not in KINKED:
        slope = (rows.weights * loss.gradients(rows.y, np.tile(start, (60, 1)))[:, 0]).sum()
        assert abs(slope) < 1e-9 * rows.weights.sum()


# Steps


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(POINTS)))
def test_no_step_is_better_than_the_one_found(seed, name):
    rows, loss = rows_for(name, seed=seed), PointRowLoss(POINTS[name])
    directions = np.random.default_rng(seed).normal(size=(60, 1))
    starts = np.array([0, 1, 20])  # one row, few rows, many
    steps = loss.steps(rows, directions, starts)
    for first, last, step in zip(starts, [1, 20, 60], steps, strict=True):
        some, along = rows.take(np.arange(first, last)), directions[first:last]

        def total(t, some=some, along=along):
            return (some.weights * loss.values(some.y, some.scores + t * along)).sum()

        longest = LONGEST_MOVE / np.abs(along).max() if loss.link != "identity" else np.inf
        for nearby in step * (1 + np.array([-1e-3, 1e-3])):
            if abs(nearby) <= longest:
                assert total(step) <= total(nearby) + 1e-12 * abs(total(0.0))
        if name not in KINKED and abs(step) < 0.999 * longest:
            slopes = loss.gradients(some.y, some.scores + step * along) * along
            slopes = some.weights * slopes[:, 0]
            assert abs(slopes.sum()) <= 1e-9 * np.abs(slopes).sum() + 1e-12


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.1, 0.5, 0.9]))
def test_quantile_steps_are_the_best_of_all_corners(n_rows, seed, level):
    rng = np.random.default_rng(seed)
    residuals = rng.integers(-3, 4, n_rows).astype(float)
    directions = rng.integers(-2, 3, n_rows).astype(float)
    weights = rng.integers(1, 4, n_rows).astype(float)

    def total(step):
        left = residuals - step * directions
        return (weights * np.maximum(level * left, (level - 1) * left)).sum()

    corners = [r / d for r, d in zip(residuals, directions, strict=True) if d] or [0.0]
    step = best_quantile_step(residuals, directions, weights, level)
    assert total(step) == pytest.approx(min(map(total, corners)), abs=1e-12)


def test_a_flat_bottom_is_met_in_its_middle():
    two = np.array([1.0, 3.0])
    assert best_quantile_step(two, np.ones(2), np.ones(2), 0.5) == 2.0


def test_steps_stop_before_numbers_overflow():
    scale = np.array([1.0])
    steps = best_steps(
        lambda t: np.where(t < 3, -1.0, np.nan) * scale,
        lambda t: np.where(t < 3, -t, np.nan) * scale,
        first=np.array([1.0]),
        most=np.array([np.inf]),
    )
    assert 2.99 < steps[0] < 3


def test_steps_over_a_ridge_are_shortened_until_the_loss_is_no_larger():
    # Down, over a ridge and up: the slope is negative at both ends of the first bracket.
    def loss(t):
        return np.where(t <= 1, -np.sin(4 * t), 5.0 + (t - 3) ** 2)

    def slope(t):
        return np.where(t <= 1, -4 * np.cos(4 * t), 2 * (t - 3))

    steps = best_steps(slope, loss, first=np.array([2.0]), most=np.array([np.inf]))
    assert loss(steps)[0] <= 0
    assert steps[0] > 0


# Sums


def test_sums_do_not_depend_on_the_order_nor_on_repetition():
    rng = np.random.default_rng(0)
    values, counts = rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, 50), rng.integers(1, 5, 50)
    start = np.zeros(1, np.int64)
    expected = exact_sums(counts.astype(float), values, start)
    order = rng.permutation(50)
    assert np.array_equal(exact_sums(counts[order].astype(float), values[order], start), expected)
    again = np.repeat(values, counts)
    assert np.array_equal(exact_sums(np.ones(len(again)), again, start), expected)


def test_small_sums_beside_large_ones_keep_their_digits():
    values = np.array([1e-30, 2e-30, 1e30, 2e30])
    sums = exact_sums(np.ones(4), values, np.array([0, 2]))
    assert sums == pytest.approx([3e-30, 3e30], rel=1e-14)


# Losses of users


def test_a_loss_of_users_starts_where_it_is_least():
    loss = UserLoss(lambda y, s: (np.cosh(s - y), np.sinh(s - y)), link="identity")
    y = np.array([1.0, 2.0, 6.0])
    loss.check(y)
    (start,) = loss.start(y, np.ones(3))
    assert np.sinh(start - y).sum() == pytest.approx(0.0, abs=1e-9)


def test_a_gradient_of_the_wrong_sign_is_found():
    loss = UserLoss(lambda y, s: ((s - y) ** 2, 2 * (y - s)), link="identity")
    with pytest.raises(InvalidParameter, match="Check the formulas"):
        loss.check(np.arange(5.0))
