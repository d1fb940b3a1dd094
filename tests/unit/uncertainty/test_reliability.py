"""Reliability, Brier score and calibration errors: identities, and scikit-learn's numbers."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve

from spinney.errors import InvalidInput, InvalidParameter
from spinney.uncertainty import (
    brier_decomposition,
    brier_score,
    expected_calibration_error,
    log_loss,
    reliability_curve,
)

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail."""
RNG = np.random.default_rng(0)
P = RNG.random(500)
Y = (RNG.random(500) < P**2).astype(int)
ROWS = st.lists(
    st.tuples(st.integers(0, 20), st.booleans(), st.integers(0, 3)), min_size=1, max_size=60
)


@PATIENT
@given(ROWS, st.sampled_from([None, 1, 2, 5, 10]), st.sampled_from(["width", "mass"]))
def test_brier_score_is_the_sum_of_its_parts(rows, n_bins, strategy):
    p, y, weights = (np.array(column) for column in zip(*rows, strict=True))
    if weights.sum() == 0:
        return
    parts = brier_decomposition(y, p / 20, n_bins=n_bins, strategy=strategy, sample_weight=weights)
    total = parts.reliability - parts.resolution + parts.uncertainty + parts.within
    assert total == pytest.approx(parts.score, abs=1e-12)
    assert parts.score == pytest.approx(brier_score(y, p / 20, sample_weight=weights), abs=1e-12)
    if n_bins is None:
        assert abs(parts.within) < 1e-15
    assert min(parts.reliability, parts.resolution, parts.uncertainty) >= 0
    assert parts.resolution <= parts.uncertainty + 1e-12


@PATIENT
@given(ROWS)
def test_weights_are_repetitions(rows):
    p, y, weights = (np.array(column) for column in zip(*rows, strict=True))
    if weights.sum() == 0:
        return
    p = p / 20
    again, hits = np.repeat(p, weights), np.repeat(y, weights)
    for strategy in ("width", "mass"):
        weighted = reliability_curve(y, p, strategy=strategy, sample_weight=weights)
        repeated = reliability_curve(hits, again, strategy=strategy)
        for name, values in weighted.columns().items():
            assert values == pytest.approx(repeated.columns()[name]), name


def test_scores_are_those_of_scikit_learn():
    weights = RNG.random(500)
    assert brier_score(Y, P) == pytest.approx(metrics.brier_score_loss(Y, P))
    theirs = metrics.brier_score_loss(Y, P, sample_weight=weights)
    assert brier_score(Y, P, sample_weight=weights) == pytest.approx(theirs)
    assert log_loss(Y, P) == pytest.approx(metrics.log_loss(Y, P))
    shares = RNG.dirichlet([1, 2, 3], 500)
    codes = RNG.integers(0, 3, 500)
    assert log_loss(codes, shares) == pytest.approx(metrics.log_loss(codes, shares))
    squares = ((shares - np.eye(3)[codes]) ** 2).sum(axis=1).mean()
    assert brier_score(codes, shares) == pytest.approx(squares)


def test_curve_of_equal_widths_is_scikit_learns():
    observed, predicted = calibration_curve(Y, P, n_bins=10)
    curve = reliability_curve(Y, P, n_bins=10)
    assert curve.observed == pytest.approx(observed)
    assert curve.predicted == pytest.approx(predicted)
    assert curve.weight.sum() == 500
    assert curve.to_frame().shape == (10, 5)


def test_bins_of_equal_mass_have_equal_mass_and_keep_equals_together():
    curve = reliability_curve(Y, P, n_bins=10, strategy="mass")
    assert curve.weight.tolist() == [50.0] * 10
    assert (np.diff(curve.low) > 0).all()
    tied = reliability_curve([0, 1, 1, 0], [0.5] * 4, n_bins=3, strategy="mass")
    assert tied.weight.tolist() == [4.0]


def test_calibration_error_by_hand():
    """Two bins: said 0.2, happened in 1 of 2; said 0.9, happened in 2 of 2."""
    curve = reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.9, 0.9], n_bins=2)
    assert curve.expected_error == pytest.approx((0.3 + 0.1) / 2)
    assert curve.largest_error == pytest.approx(0.3)
    shares = np.array([[0.8, 0.2], [0.8, 0.2], [0.1, 0.9], [0.1, 0.9]])
    top = expected_calibration_error([0, 1, 1, 1], shares, n_bins=1)
    assert top == pytest.approx(abs(0.85 - 0.75))


def test_honest_probabilities_have_little_error_and_squared_ones_have_more():
    p = RNG.random(20_000)
    y = RNG.random(20_000) < p
    assert expected_calibration_error(y, p) < 0.02 < expected_calibration_error(y, p**2)
    assert brier_decomposition(y, p, n_bins=20).reliability < 1e-3


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidInput, match="predict_proba"):
        brier_score([0, 1], [0.5, 1.5])
    with pytest.raises(InvalidInput, match="1 where it happened"):
        reliability_curve([0, 3], [0.5, 0.5])
    with pytest.raises(InvalidInput, match="finite"):
        log_loss([0, 1], [0.5, np.nan])
    with pytest.raises(InvalidParameter, match="n_bins"):
        reliability_curve([0, 1], [0.5, 0.5], n_bins=0)
    with pytest.raises(InvalidParameter, match="strategy"):
        reliability_curve([0, 1], [0.5, 0.5], strategy="uniform")
