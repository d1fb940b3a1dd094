"""How often intervals cover the truth, against theory."""

import numpy as np
import pytest
from scipy import stats

from spinney.resampling import DrawBlocks, bootstrap, jackknife

LEVEL = 0.9
METHODS = ("percentile", "basic", "normal", "bca", "studentised")


def mean_error(x, axis):
    return x.std(axis=axis, ddof=1) / np.sqrt(x.shape[axis])


def coverage(draw_data, truth, n_sets, *, method, **settings):
    covered = 0
    rng = np.random.default_rng(0)
    error = mean_error if method == "studentised" else None
    for seed in range(n_sets):
        answer = bootstrap(
            np.mean, draw_data(rng), method=method, level=LEVEL, vectorized=True, error=error,
            random_state=seed, **settings,
        )  # fmt: skip
        covered += answer.low <= truth <= answer.high
    return covered / n_sets


def expected_of_normal_means(n):
    """Coverage of z times the standard deviation with divisor n, for normal data: by Student."""
    reach = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt((n - 1) / n)
    return 1 - 2 * stats.t.sf(reach, n - 1)


def within(share, expected, n_sets, *, off=0.0):
    """Three and a half standard errors, and what theory leaves open."""
    return abs(share - expected) < 3.5 * np.sqrt(expected * (1 - expected) / n_sets) + off


@pytest.mark.parametrize("method", ["percentile", "normal", "studentised"])
def test_coverage_of_means_of_normal_numbers(method):
    n, n_sets = 10, 400
    share = coverage(lambda r: r.normal(size=n), 0.0, n_sets, method=method, n_resamples=399)
    expected = LEVEL if method == "studentised" else expected_of_normal_means(n)
    assert within(share, expected, n_sets)


def test_jackknife_covers_means_of_normal_numbers():
    rng = np.random.default_rng(0)
    answers = [jackknife(np.mean, rng.normal(size=8), level=LEVEL) for _ in range(600)]
    share = np.mean([a.low <= 0 <= a.high for a in answers])
    assert within(share, LEVEL, 600)  # Student's interval: exact


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [10, 40])
def test_long_coverage_of_means_of_normal_numbers(method, n):
    n_sets = 4000
    share = coverage(lambda r: r.normal(size=n), 0.0, n_sets, method=method, n_resamples=999)
    expected = LEVEL if method == "studentised" else expected_of_normal_means(n)
    assert within(share, expected, n_sets, off=0.01)


@pytest.mark.long
def test_long_coverage_of_means_of_skewed_numbers():
    """Exponential numbers: studentised is nearest to its level, then BCa, then percentiles."""
    n_sets, shares = 4000, {}
    for method in METHODS:
        shares[method] = coverage(
            lambda r: r.exponential(size=20), 1.0, n_sets, method=method, n_resamples=999
        )
    assert within(shares["studentised"], LEVEL, n_sets, off=0.01)
    assert shares["studentised"] > shares["bca"] > shares["percentile"] > shares["basic"]
    assert shares["basic"] > 0.8


@pytest.mark.long
def test_long_coverage_of_means_of_dependent_rows():
    """Autoregression of 0.5: rows cover far too seldom, blocks nearly as often as they say."""

    def series(rng):
        x, noise = np.zeros(450), rng.normal(size=450)
        for i in range(1, 450):
            x[i] = 0.5 * x[i - 1] + noise[i]
        return x[50:]

    settings = {"method": "basic", "n_resamples": 399}
    rows = coverage(series, 0.0, 1000, **settings)
    expected = 1 - 2 * stats.norm.sf(stats.norm.ppf(0.95) / np.sqrt(3))
    assert within(rows, expected, 1000, off=0.01)
    for kind in ("moving", "circular", "stationary"):
        draw = DrawBlocks(length=15, kind=kind)
        assert within(coverage(series, 0.0, 1000, draw=draw, **settings), 0.87, 1000)


@pytest.mark.long
@pytest.mark.parametrize("draw", ["rows", "balanced"])
def test_long_coverage_of_the_difference_of_two_samples(draw):
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(1000):
        one, two = rng.normal(1, 1, 30), rng.normal(0, 2, 50)
        if draw == "rows":
            answer = bootstrap(
                _difference, one, two, draw="separate", level=LEVEL, vectorized=True,
                random_state=seed,
            )  # fmt: skip
        else:
            answer = bootstrap(
                np.mean, one, draw=draw, level=LEVEL, vectorized=True, random_state=seed
            )
        covered += answer.low <= 1 <= answer.high
    assert within(covered / 1000, LEVEL, 1000, off=0.02)


def _difference(one, two, axis):
    return one.mean(axis=axis) - two.mean(axis=axis)
