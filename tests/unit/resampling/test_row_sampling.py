"""Rows drawn by their derivatives or counted by chance: slow twins, sums, weights, threads."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.reference.row_sampling import (
    bayesian_factor,
    minimal_variance_probabilities,
    one_side_probabilities,
    poisson_count,
    sizes_of_derivatives,
)

from spinney.randomness import Stream, random_bits
from spinney.resampling.row_sampling import STEP_SHARE, RowSampling, SampledRows, _factorial

BY_SIZE = ("one_side", "minimal_variance")


def derivatives(n_rows, n_outputs=1, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    gradients = rng.standard_t(2, size=(n_outputs, n_rows)).astype(np.float32)
    if ties:
        gradients = np.round(gradients)
    hessians = rng.uniform(0.01, 1.0, size=(n_outputs, n_rows)).astype(np.float32)
    return gradients, hessians


def probabilities(sampling, at, weights):
    if sampling.sampler == "one_side":
        return one_side_probabilities(at[0], weights, sampling.top_rate, sampling.share)
    sizes = sizes_of_derivatives(*at, np.asarray(weights, float), STEP_SHARE)
    return minimal_variance_probabilities(sizes, weights, sampling.share)


@pytest.mark.parametrize("sampler", BY_SIZE)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_outputs", "ties"), [(1, False), (1, True), (3, False), (3, True)])
def test_rows_are_drawn_with_the_probabilities_of_the_slow_twin(sampler, weighted, n_outputs, ties):
    at = derivatives(300, n_outputs, ties=ties)
    weights = np.random.default_rng(1).integers(1, 6, 300) if weighted else np.ones(300, int)
    sampling = RowSampling(sampler, 0.4)
    wanted = probabilities(sampling, at, weights.tolist())
    assert math.isclose(wanted @ weights, 0.4 * weights.sum())
    for number in range(5):
        drawn = sampling.draw(number, 7, SampledRows(300, None, weights if weighted else None), at)
        seed = random_bits(7, Stream.ROWS, number)
        bits = np.array([random_bits(seed, Stream.ROWS, row) for row in range(300)])
        assert drawn.rows.tolist() == np.flatnonzero(bits < wanted * 2.0**64).tolist()
        factors = np.ones(300)
        factors[drawn.rows] = 1.0 / wanted[drawn.rows]
        assert np.allclose(drawn.factors, factors, rtol=1e-6)


@pytest.mark.parametrize("sampler", BY_SIZE)
def test_sums_of_drawn_rows_are_those_of_all_rows_on_average(sampler):
    at = derivatives(2000, seed=3)
    group = np.arange(2000) < 700
    sampling = RowSampling(sampler, 0.3)
    for numbers in at:
        sums = []
        for number in range(400):
            drawn = sampling.draw(number, 11, SampledRows(2000), at)
            kept = drawn.rows[group[drawn.rows]]
            sums.append(float(numbers[0, kept].astype(float) @ drawn.factors[kept]))
        error = np.std(sums) / math.sqrt(400)
        assert abs(np.mean(sums) - numbers[0, group].sum()) < 3.5 * error


def test_minimal_variance_varies_less_than_one_side_and_one_side_less_than_uniform():
    at = derivatives(2000, seed=5)
    spread = {}
    for sampler in ("uniform", "one_side", "minimal_variance"):
        sampling, sums = RowSampling(sampler, 0.3), []
        for number in range(300):
            drawn = sampling.draw(number, 2, SampledRows(2000), at)
            factors = np.full(2000, 1 / 0.3) if drawn.factors is None else drawn.factors
            sums.append(float(at[0][0, drawn.rows].astype(float) @ factors[drawn.rows]))
        spread[sampler] = np.std(sums)
    assert spread["minimal_variance"] < 0.9 * spread["one_side"] < 0.8 * spread["uniform"]


@pytest.mark.parametrize("sampler", BY_SIZE)
def test_probabilities_of_a_weighted_row_are_those_of_its_repetitions(sampler):
    """What holds of whole weights: each repetition would be drawn with this probability."""
    gradients, hessians = derivatives(400, seed=8)
    weights = np.random.default_rng(2).integers(1, 4, 400)
    sampling = RowSampling(sampler, 0.5)
    by_weight = probabilities(sampling, (gradients, hessians), weights.tolist())
    at = tuple(np.repeat(numbers, weights, axis=1) for numbers in (gradients, hessians))
    repeated = probabilities(sampling, at, [1] * int(weights.sum()))
    differ = ~np.isclose(np.repeat(by_weight, weights), repeated, rtol=5e-3)
    # Of one-side sampling the row at the edge of the top may be divided, where it stands apart.
    assert differ.sum() <= (3 if sampler == "one_side" else 0)


@pytest.mark.parametrize("sampler", BY_SIZE)
def test_only_candidates_are_looked_at(sampler):
    gradients, hessians = derivatives(1000, seed=4)
    some = np.flatnonzero(np.arange(1000) % 3 > 0).astype(np.uint32)
    sampling = RowSampling(sampler, 0.3)
    drawn = sampling.draw(2, 3, SampledRows(1000, some), (gradients, hessians))
    gradients[:, ::3], hessians[:, ::3] = np.inf, np.nan
    again = sampling.draw(2, 3, SampledRows(1000, some), (gradients, hessians))
    assert np.isin(drawn.rows, some).all()
    assert np.array_equal(drawn.rows, again.rows)
    assert np.array_equal(drawn.factors, again.factors)


@pytest.mark.parametrize("sampler", [*BY_SIZE, "bayesian", "poisson"])
def test_threads_do_not_change_a_draw(sampler):
    at = derivatives(300_000, 2, seed=6)
    weights = np.random.default_rng(3).integers(1, 9, 300_000)
    of = SampledRows(300_000, None, weights)
    sampling = RowSampling(sampler, 0.35, temperature=0.5)
    one, four = (sampling.draw(1, 5, of, at, n_threads) for n_threads in (1, 4))
    for name in ("rows", "factors", "repeats"):
        assert np.array_equal(getattr(one, name), getattr(four, name))


def test_factors_of_the_loss_count_like_larger_derivatives():
    gradients, hessians = derivatives(500, seed=9)
    factors = np.where(np.arange(500) % 2, 4.0, 1.0).astype(np.float32)
    for sampler in BY_SIZE:
        sampling = RowSampling(sampler, 0.3)
        by_factor = sampling.draw(0, 1, SampledRows(500, factors=factors), (gradients, hessians))
        multiplied = (gradients * factors, hessians * factors)
        as_they_are = sampling.draw(0, 1, SampledRows(500), multiplied)
        assert np.array_equal(by_factor.rows, as_they_are.rows)
        assert np.allclose(by_factor.factors, as_they_are.factors, rtol=1e-5)


def test_equal_derivatives_are_drawn_uniformly_and_no_gradient_is_no_failure():
    ones = np.ones((1, 1000), np.float32)
    nothing = np.empty((1, 0), np.float32)
    for gradients in (ones, np.zeros_like(ones)):
        drawn = RowSampling("minimal_variance", 0.25).draw(
            0, 1, SampledRows(1000), (gradients, nothing)
        )
        assert np.allclose(drawn.factors[drawn.rows], 4.0, rtol=1e-6)
        uniform = RowSampling("uniform", 0.25).draw(0, 1, SampledRows(1000))
        assert np.array_equal(drawn.rows, uniform.rows)
    top = RowSampling("one_side", 0.5).draw(0, 1, SampledRows(1000), (ones, nothing))
    assert np.all(top.factors[:200] == 1.0)  # of equal rows the first are on top
    assert np.allclose(top.factors[top.rows[top.rows >= 200]], 0.8 / 0.3)


@pytest.mark.parametrize("sampler", [*BY_SIZE, "poisson"])
def test_there_is_always_a_row(sampler):
    at = derivatives(3)
    sampling = RowSampling(sampler, 1e-9, top_rate=0.0)
    for number in range(5):
        some = np.array([1, 2], np.uint32)
        drawn = sampling.draw(number, 0, SampledRows(3, some), at)
        assert len(drawn.rows) == 1
        assert drawn.rows[0] in (1, 2)


def test_tiny_derivatives_beside_large_ones_keep_their_share():
    gradients = np.full((1, 1000), 1e-30, np.float32)
    gradients[0, :100] = 1e6
    hessians = np.full((1, 1000), 1e-30, np.float32)
    drawn = RowSampling("minimal_variance", 0.5).draw(
        0, 1, SampledRows(1000), (gradients, hessians)
    )
    assert abs(len(drawn.rows) - 500) < 60


def test_poisson_counts_equal_their_slow_twin_and_their_distribution():
    counts = RowSampling("poisson", 0.8).draw(3, 5, SampledRows(400)).repeats
    seed = random_bits(5, Stream.ROWS, 3)
    assert counts.tolist() == [poisson_count(seed, row, 0.8) for row in range(400)]
    many = RowSampling("poisson", 0.8).draw(0, 1, SampledRows(100_000)).repeats
    expected = stats.poisson(0.8).pmf(np.arange(6)) * 100_000
    observed = np.bincount(np.minimum(many, 5))
    expected[5] = 100_000 - expected[:5].sum()
    assert stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize("weight", [3, 50])
def test_poisson_counts_of_a_weight_are_those_of_so_many_rows(weight):
    """In distribution: a sum of Poisson numbers is one, of the sum of their means."""
    sampling = RowSampling("poisson", 0.7)
    weighted = sampling.draw(0, 2, SampledRows(20_000, None, np.full(20_000, weight))).repeats
    repeated = sampling.draw(1, 2, SampledRows(20_000 * weight)).repeats
    sums = repeated.reshape(-1, weight).sum(axis=1)
    assert stats.ks_2samp(weighted, sums).pvalue > 1e-3
    assert abs(weighted.mean() - 0.7 * weight) < 4 * math.sqrt(0.7 * weight / 20_000)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_bayesian_factors_equal_their_slow_twin_and_have_mean_one(temperature):
    sampling = RowSampling("bayesian", temperature=temperature)
    factors = sampling.draw(4, 9, SampledRows(200_000)).factors
    seed = random_bits(9, Stream.ROW_FACTORS, 4)
    slow = [bayesian_factor(seed, row, temperature) for row in range(300)]
    assert np.allclose(factors[:300], slow, rtol=1e-6)
    error = factors.astype(float).std() / math.sqrt(200_000)
    assert abs(factors.astype(float).mean() - 1.0) < 4 * error


def test_temperature_zero_makes_all_factors_one():
    assert RowSampling("bayesian", temperature=0.0).draw(0, 1, SampledRows(5)).factors is None


def test_mean_of_powers_is_the_gamma_function():
    for power in (0.0, 0.1, 0.5, 1.0, 3.7, 10.0):
        assert math.isclose(_factorial(power), math.gamma(1.0 + power), rel_tol=1e-12)
