"""Errors of committees: identities that hold for any numbers, and what independence would give."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, SpinneyError
from spinney.theory import committee_error, committee_variance, sampling_correlation

FEW = settings(max_examples=60, deadline=None)
WHOLE = st.integers(-50, 50)


@st.composite
def committees(draw, least=1):
    """Predictions, targets, weights of members and of rows."""
    n_members, n_rows = draw(st.integers(least, 6)), draw(st.integers(1, 8))
    line = st.lists(WHOLE, min_size=n_rows, max_size=n_rows)
    said = draw(st.lists(line, min_size=n_members, max_size=n_members))
    weights = draw(st.lists(st.integers(0, 5), min_size=n_members, max_size=n_members))
    counts = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    weights[0], counts[0] = max(weights[0], 1), max(counts[0], 1)
    return np.array(said), np.array(draw(line)), weights, counts


def in_fractions(said, y, weights, counts):
    """E_av, E_c and ambiguity by their definitions, exactly."""
    votes = [Fraction(w, sum(weights)) for w in weights]
    shares = [Fraction(c, sum(counts)) for c in counts]
    average = together = apart = Fraction(0)
    for i, share in enumerate(shares):
        mean = sum(v * int(line[i]) for v, line in zip(votes, said, strict=True))
        together += share * (mean - int(y[i])) ** 2
        for v, line in zip(votes, said, strict=True):
            average += share * v * (int(line[i]) - int(y[i])) ** 2
            apart += share * v * (int(line[i]) - mean) ** 2
    return average, together, apart


@FEW
@given(committees())
def test_the_committee_errs_less_by_its_ambiguity(case):
    """Identity 13, in fractions and in floating point."""
    said, y, weights, counts = case
    average, together, apart = in_fractions(*case)
    assert together == average - apart
    found = committee_error(said, y, weights=weights, sample_weight=counts)
    for value, exact in zip(
        (found.average, found.committee, found.ambiguity), (average, together, apart), strict=True
    ):
        assert abs(value - float(exact)) <= 1e-12 * max(float(average), 1e-300)
    assert found.committee <= found.average * (1 + 1e-12)
    assert abs(found.average - found.ambiguity - found.committee) <= 1e-12 * found.average


@FEW
@given(committees())
def test_the_error_is_a_quadratic_form_of_products_of_errors(case):
    said, y, weights, counts = case
    found = committee_error(said, y, weights=weights, sample_weight=counts)
    w = np.array(weights) / sum(weights)
    form = w @ found.moments @ w
    assert abs(form - found.committee) <= 1e-12 * found.average
    errors = said - y
    slow = [[np.average(a * b, weights=counts) for b in errors] for a in errors]
    np.testing.assert_allclose(found.moments, slow, atol=1e-12 * max(1.0, np.abs(slow).max()))
    np.testing.assert_allclose(
        found.covariances,
        np.cov(errors, ddof=0, fweights=counts).reshape(found.covariances.shape),
        atol=1e-12 * max(1.0, np.abs(slow).max()),
    )
    alone = float((w**2 * np.average(errors**2, axis=1, weights=counts)).sum())
    assert found.uncorrelated == pytest.approx(alone, rel=1e-12, abs=1e-300)


@FEW
@given(committees(least=2))
def test_variance_of_a_mean_by_variance_and_correlation(case):
    """Identity 14: rho σ² + (1 - rho) σ²/M, with the rho and σ² that are told."""
    said, y, _, counts = case
    found = committee_error(said, y, sample_weight=counts)
    spread = np.average(((said - y).mean(axis=0) - found.biases.mean()) ** 2, weights=counts)
    if found.variance > 0:
        formula = committee_variance(found.variance, found.correlation, len(said))
        assert abs(formula - spread) <= 1e-12 * found.variance
    else:
        assert math.isnan(found.correlation)
        assert spread <= 1e-24


def test_errors_that_do_not_go_together_are_divided_by_the_number_of_members():
    """E_c = E_av / M: rows of a Hadamard matrix are orthogonal, and have mean 0 but for one."""
    errors = hadamard(16)[1:6].astype(float)
    found = committee_error(errors + 7.0, np.full(16, 7.0))
    assert found.average == 1.0
    assert found.committee == pytest.approx(1 / 5, rel=1e-15)
    assert found.uncorrelated == pytest.approx(1 / 5, rel=1e-15)
    np.testing.assert_array_equal(found.correlations, np.eye(5))
    assert found.correlation == 0.0


def test_independent_errors_in_the_long_run():
    rng = np.random.default_rng(0)
    for n_members in (2, 10, 50):
        found = committee_error(rng.normal(size=(n_members, 20_000)), np.zeros(20_000))
        assert found.average / found.committee == pytest.approx(n_members, rel=0.05)
        assert abs(found.correlation) < 0.01


def test_members_that_say_the_same_gain_nothing():
    said = np.tile(np.random.default_rng(1).normal(size=30), (4, 1))
    found = committee_error(said, np.zeros(30))
    assert found.committee == pytest.approx(found.average, rel=1e-14)
    assert found.ambiguity == pytest.approx(0.0, abs=1e-30)
    np.testing.assert_allclose(found.correlations, 1.0, atol=1e-14)
    assert found.correlation == pytest.approx(1.0)


def test_a_large_offset_costs_no_digits():
    rng = np.random.default_rng(2)
    errors, y = rng.integers(-9, 10, (3, 40)) / 8, rng.integers(0, 100, 40) / 8
    near, far = committee_error(y + errors, y), committee_error(2.0**40 + y + errors, 2.0**40 + y)
    assert (near.average, near.committee) == (far.average, far.committee)
    np.testing.assert_array_equal(near.correlations, far.correlations)


def test_weights_are_repetitions():
    rng = np.random.default_rng(3)
    said, y = rng.normal(size=(3, 10)), rng.normal(size=10)
    counts, weights = rng.integers(0, 3, 10), [2, 0, 1]
    short = committee_error(said, y, weights=weights, sample_weight=counts)
    long = committee_error(
        np.repeat(np.repeat(said, weights, axis=0), counts, axis=1), np.repeat(y, counts)
    )
    assert short.average == pytest.approx(long.average, rel=1e-13)
    assert short.committee == pytest.approx(long.committee, rel=1e-13)
    assert short.ambiguity == pytest.approx(long.ambiguity, rel=1e-13)


def test_one_member_is_a_committee_of_itself():
    found = committee_error([[1.0, 4.0]], [0.0, 2.0])
    assert (found.average, found.committee, found.ambiguity) == (2.5, 2.5, 0.0)
    assert found.errors.tolist() == [2.5]
    assert math.isnan(found.correlation)
    assert found.title() == "Squared errors of a committee of 1 member on 2 rows"


def test_a_member_whose_error_never_changes_has_no_correlation():
    found = committee_error([[1.0, 1.0], [0.0, 2.0]], [0.0, 0.0])
    assert np.isnan(found.correlations).tolist() == [[True, True], [True, False]]


@FEW
@given(st.integers(2, 5), st.integers(1, 5), st.integers(1, 4), st.data())
def test_members_vary_together_over_training_sets(n_sets, n_members, n_points, data):
    """Identity 14 over training sets, at every point."""
    size = n_sets * n_members * n_points
    flat = data.draw(st.lists(WHOLE, min_size=size, max_size=size))
    said = np.array(flat, float).reshape(n_sets, n_members, n_points)
    found = sampling_correlation(said)
    scale = max(1.0, found.variance)
    np.testing.assert_allclose(
        found.committee_variances, said.mean(axis=1).var(axis=0), atol=1e-12 * scale
    )
    np.testing.assert_allclose(found.variances, said.var(axis=0).mean(axis=0), atol=1e-12 * scale)
    for point in range(n_points):
        joint = np.cov(said[:, :, point].T, ddof=0).reshape(n_members, n_members)
        if n_members > 1:
            pairs = joint[~np.eye(n_members, dtype=bool)].mean()
            assert found.covariances[point] == pytest.approx(pairs, abs=1e-9)
    if n_members > 1 and found.variance > 0:
        formula = committee_variance(found.variance, found.correlation, n_members)
        assert abs(formula - found.committee_variance) <= 1e-12 * scale


def test_members_of_a_shared_draw_are_correlated_as_made():
    rng = np.random.default_rng(4)
    shared, own = rng.normal(size=(20_000, 1, 1)), rng.normal(size=(20_000, 8, 1))
    found = sampling_correlation(math.sqrt(0.3) * shared + math.sqrt(0.7) * own)
    assert found.correlation == pytest.approx(0.3, abs=0.02)
    assert found.variance == pytest.approx(1.0, abs=0.02)
    assert found.limit == pytest.approx(0.3, abs=0.02)
    assert "training sets" in str(found)
    assert found.to_frame()["value"].tolist()[3] == found.variance / 8


def test_the_formula_at_its_ends():
    assert committee_variance(3.0, 0.0, 4) == 0.75
    assert committee_variance(3.0, 1.0, 4) == 3.0
    assert committee_variance(3.0, -1 / 3, 4) == pytest.approx(0.0, abs=1e-15)
    assert committee_variance([1.0, 2.0], 0.5, 2).tolist() == [0.75, 1.5]
    with pytest.raises(InvalidParameter, match=r"\[-0.333333, 1\]"):
        committee_variance(3.0, -0.5, 4)
    with pytest.raises(InvalidParameter, match="n_members=0"):
        committee_variance(3.0, 0.5, 0)
    with pytest.raises(InvalidInput, match="variance"):
        committee_variance(-1.0, 0.5, 2)


@pytest.mark.parametrize(
    ("said", "y", "options", "words"),
    [
        ([1.0, 2.0], [1.0, 2.0], {}, r"predictions has the shape \(2,\)"),
        (np.empty((0, 3)), [1.0] * 3, {}, r"\(0, 3\)"),
        ([[1.0, 2.0]], [1.0], {}, "y has 1 numbers"),
        ([[1.0, math.nan]], [1.0, 2.0], {}, r"predictions\[0, 1\] is nan"),
        ([[1.0, 2.0]], [1.0, math.inf], {}, r"y\[1\] is inf"),
        ([["a", "b"]], [1.0, 2.0], {}, "cannot be read as numbers"),
        ([[1.0, 2.0]], [1.0, 2.0], {"weights": [1.0, 2.0]}, "weights has 2 numbers"),
        ([[1.0, 2.0]], [1.0, 2.0], {"weights": [0.0]}, "not all of them zero"),
        ([[1.0, 2.0]] * 2, [1.0, 2.0], {"weights": [-1.0, 2.0]}, r"weights\[0\] is -1.0"),
        ([[1.0, 2.0]], [1.0, 2.0], {"sample_weight": [1.0]}, "sample_weight has 1"),
    ],
)
def test_hostile_committees(said, y, options, words):
    with pytest.raises(SpinneyError, match=words):
        committee_error(said, y, **options)


def test_hostile_training_sets():
    with pytest.raises(InvalidInput, match="one training set"):
        sampling_correlation([[[1.0], [2.0]]])
    with pytest.raises(InvalidInput, match="3 axes"):
        sampling_correlation([[1.0, 2.0]])
    with pytest.raises(InvalidInputType):
        sampling_correlation("text")


def test_results_are_frozen():
    found = committee_error([[1.0, 2.0], [2.0, 2.0]], [1.0, 2.0])
    with pytest.raises(AttributeError):
        found.average = 0.0
    with pytest.raises(ValueError, match="read-only"):
        found.covariances[0, 0] = 1.0
    assert found.to_frame()["quantity"].tolist()[0] == "E_av, the members"
