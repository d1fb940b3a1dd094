"""Curves from scores to probabilities: optimal, rising, and as they are defined."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.isotonic import IsotonicRegression
from tests.reference.venn_abers import venn_abers

from spinney.errors import InvalidInput
from spinney.uncertainty import (
    BetaCurve,
    PlattCurve,
    VennAbers,
    beta_curve,
    isotonic_curve,
    log_loss,
    merge_folds,
    platt_curve,
    temperature_curve,
)
from spinney.uncertainty.calibration.logistic import platt_targets

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail."""
RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=300)
HITS = (RNG.random(300) < expit(1.5 * SCORES - 0.5)).astype(int)
CURVES = [platt_curve, isotonic_curve, lambda s, y, **k: beta_curve(expit(s), y, **k)]


def cross_entropy(chance, targets):
    return -np.sum(targets * np.log(chance) + (1 - targets) * np.log1p(-chance))


def test_platts_targets_are_his():
    y = np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    assert platt_targets(y, np.ones(5)).tolist() == [4 / 5] * 3 + [1 / 4] * 2
    assert platt_targets(y, np.array([1, 1, 0, 2, 1.0])).tolist() == [3 / 4] * 3 + [1 / 5] * 2


def test_platt_curve_is_the_optimum_for_his_targets():
    curve = platt_curve(SCORES, HITS)
    targets = platt_targets(HITS.astype(float), np.ones(300))
    found = minimize(
        lambda p: cross_entropy(expit(p[0] * SCORES + p[1]), targets), [1.0, 0.0], tol=1e-12
    )
    assert (curve.slope, curve.intercept) == pytest.approx(found.x, abs=1e-4)
    chance = expit(curve.slope * SCORES + curve.intercept)
    assert abs(np.sum(chance - targets)) < 1e-8  # the gradient is 0
    assert abs(np.sum((chance - targets) * SCORES)) < 1e-8


@pytest.mark.parametrize(("scale", "shift"), [(1e-8, 0.0), (1e8, 0.0), (1.0, 1e6)])
def test_platt_curve_does_not_mind_the_units(scale, shift):
    plain = platt_curve(SCORES, HITS)(SCORES)
    moved = SCORES * scale + shift
    assert np.allclose(platt_curve(moved, HITS)(moved), plain, atol=1e-7)


def test_platt_curve_is_finite_where_scores_tell_all_and_where_they_tell_nothing():
    curve = platt_curve([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    assert 0 < curve.slope < 10
    flat = platt_curve([3.0, 3.0, 3.0], [0, 1, 1])
    targets = platt_targets(np.array([0.0, 1.0, 1.0]), np.ones(3))
    assert flat([3.0])[0] == pytest.approx(targets.mean())
    one = platt_curve([1.0, 2.0], [1, 1])
    assert one([1.5])[0] == pytest.approx(3 / 4)


def test_beta_family_holds_the_identity_and_finds_it():
    p = np.linspace(0.01, 0.99, 50)
    assert np.allclose(BetaCurve(1.0, 1.0, 0.0)(p), p, atol=1e-12)
    many = RNG.random(200_000)
    curve = beta_curve(many, RNG.random(200_000) < many)
    assert (curve.a, curve.b, curve.c) == pytest.approx((1.0, 1.0, 0.0), abs=0.05)


def test_beta_curve_is_the_optimum():
    p = expit(SCORES)
    curve = beta_curve(p, HITS)
    found = minimize(
        lambda t: cross_entropy(expit(t[0] * np.log(p) - t[1] * np.log1p(-p) + t[2]), HITS),
        [1.0, 1.0, 0.0],
        tol=1e-12,
    )
    assert (curve.a, curve.b, curve.c) == pytest.approx(found.x, abs=1e-3)


def test_beta_curve_never_falls():
    p = RNG.random(200)
    curve = beta_curve(p, RNG.random(200) < (1 - p))
    assert curve.a == 0.0 or curve.b == 0.0
    assert min(curve.a, curve.b) >= 0.0
    assert (np.diff(curve(np.linspace(0, 1, 100))) >= 0).all()
    edge = beta_curve([0.0, 1.0, 0.5, 0.0, 1.0], [0, 1, 1, 1, 0])
    assert np.isfinite([edge.a, edge.b, edge.c]).all()


def test_isotonic_curve_is_scikit_learns():
    curve = isotonic_curve(SCORES, HITS)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(SCORES, HITS)
    new = np.linspace(-5, 5, 101)
    assert np.array_equal(curve(new), theirs.predict(new))


@PATIENT
@given(st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=2, max_size=40))
def test_all_curves_are_monotone_within_0_and_1(rows):
    scores = np.array([score for score, _ in rows])
    y = np.array([hit for _, hit in rows])
    grid = np.linspace(-6, 6, 60)
    for fit in CURVES:
        curve = fit(scores, y)
        said = curve(expit(grid) if isinstance(curve, BetaCurve) else grid)
        assert (said >= 0).all()
        assert (said <= 1).all()
        if isinstance(curve, PlattCurve) and curve.slope < 0:
            said = said[::-1]  # Platt's curve may fall, where scores do
        assert (np.diff(said) >= -1e-12).all()


@pytest.mark.parametrize("fit", [*CURVES, VennAbers.of])
def test_weights_are_repetitions(fit):
    weights = RNG.integers(0, 4, 300)
    grid = np.linspace(0.05, 0.95, 30)
    weighted = fit(SCORES, HITS, sample_weight=weights)
    repeated = fit(np.repeat(SCORES, weights), np.repeat(HITS, weights))
    assert np.allclose(weighted(grid), repeated(grid), atol=1e-7)


# Venn-Abers


@pytest.mark.parametrize("seed", range(6))
def test_venn_abers_is_two_isotonic_fits_per_score(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 12, 40) / 4  # with ties
    y = (rng.random(40) < expit(2 * scores - 3)).astype(float)
    new = np.concatenate([np.arange(-1, 14) / 4, rng.random(10) * 3])
    low, high = VennAbers.of(scores, y).bounds(new)
    expected_low, expected_high = venn_abers(scores, y, new)
    assert np.allclose(low, expected_low, atol=1e-12)
    assert np.allclose(high, expected_high, atol=1e-12)


def test_venn_abers_with_weights_is_two_isotonic_fits():
    weights = RNG.integers(0, 4, 50).astype(float)
    new = np.linspace(-3, 3, 20)
    low, high = VennAbers.of(SCORES[:50], HITS[:50], sample_weight=weights).bounds(new)
    there = weights > 0
    expected = venn_abers(SCORES[:50][there], HITS[:50][there], new, weights[there])
    assert np.allclose([low, high], expected, atol=1e-12)


@PATIENT
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=30))
def test_venn_abers_bounds_are_in_order_and_rise(rows):
    scores, y = np.array(rows, float).T
    abers = VennAbers.of(scores, y)
    low, high = abers.bounds(np.arange(-1, 11) + 0.5)
    merged = abers(np.arange(-1, 11) + 0.5)
    assert (low <= merged).all()
    assert (merged <= high).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    assert (low < high).all()


def test_venn_abers_merges_as_published():
    low, high = np.array([0.2]), np.array([0.5])
    assert merge_folds([(low, high)])[0] == pytest.approx(0.5 / (1 - 0.2 + 0.5))
    two = merge_folds([(low, high), (np.array([0.1]), np.array([0.3]))])[0]
    yes, no = math.sqrt(0.5 * 0.3), math.sqrt(0.8 * 0.9)
    assert two == pytest.approx(yes / (yes + no))
    with pytest.raises(InvalidInput, match="No bounds"):
        merge_folds([])


# Temperature


def test_temperature_is_the_optimum_and_keeps_the_order():
    scores = RNG.normal(size=(400, 3)) * 2
    y = np.array([RNG.choice(3, p=row) for row in softmax(scores / 2.5, axis=1)])
    curve = temperature_curve(scores, y)
    assert curve.temperature == pytest.approx(2.5, rel=0.2)
    losses = [
        log_loss(y, softmax(scores / (curve.temperature * f), axis=1)) for f in (0.99, 1, 1.01)
    ]
    assert min(losses) == losses[1]
    assert np.array_equal(curve(scores).argmax(axis=1), scores.argmax(axis=1))
    weights = RNG.integers(0, 3, 400)
    again = temperature_curve(np.repeat(scores, weights, axis=0), np.repeat(y, weights))
    weighted = temperature_curve(scores, y, sample_weight=weights)
    assert weighted.temperature == pytest.approx(again.temperature, rel=1e-9)


def test_temperature_has_ends():
    sure = np.array([[5.0, 0.0], [0.0, 5.0]])
    assert temperature_curve(sure, [0, 1]).temperature == 0.01
    assert temperature_curve(sure, [1, 0]).temperature == 100.0


@pytest.mark.parametrize("fit", [*CURVES, VennAbers.of])
def test_what_cannot_be_calibrated_is_refused(fit):
    with pytest.raises(InvalidInput, match="1 where it happened"):
        fit([0.5, 0.5], [0, 2])
    with pytest.raises(InvalidInput, match="1 where it happened"):
        fit([0.5, 0.5], ["a", "b"])
    with pytest.raises(InvalidInput):
        fit([0.5, math.nan], [0, 1])
    with pytest.raises(InvalidInput, match="sample_weight"):
        fit([0.5, 0.5], [0, 1], sample_weight=[1, -1])
