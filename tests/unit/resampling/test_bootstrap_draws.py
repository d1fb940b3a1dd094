"""Ways to draw: each against what it must give on average, computed exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score
from tests.reference.resampling import every_resample, slow_draw, slow_stationary

from spinney.datasets import load_mouse_survival
from spinney.errors import InvalidParameter
from spinney.resampling import (
    DrawBlocks,
    DrawFewer,
    DrawGroups,
    DrawRows,
    DrawSimulated,
    bootstrap,
)
from spinney.resampling.resamples import (
    BalancedResamples,
    BlockResamples,
    GroupResamples,
    RowResamples,
)
from spinney.resampling.resamples_free import WeightResamples

X = np.random.default_rng(0).exponential(size=60)
B = 4000
"""Resamples; a standard error of theirs is off by 1.1 % (one standard deviation)."""


def spread(draw, *arrays, statistic=np.mean, vectorized=True, n_resamples=B):
    arrays = arrays or (X,)
    settings = {"draw": draw, "vectorized": vectorized, "method": "normal", "random_state": 11}
    return bootstrap(statistic, *arrays, n_resamples=n_resamples, **settings).standard_error


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=2, max_size=5))
def test_all_resamples_together_have_the_variance_of_the_mean(x):
    """(n - 1) / n * s² / n, by enumeration."""
    n = len(x)
    means = [np.mean(resample) for resample in every_resample(x)]
    assert np.var(means) == pytest.approx((n - 1) / n * np.var(x, ddof=1) / n, abs=1e-9)
    assert np.mean(means) == pytest.approx(np.mean(x), abs=1e-9)


def test_every_resample_is_as_likely_as_any_other():
    rows = RowResamples((np.arange(3),), None, 5).indices(range(27_000))
    seen = np.bincount(rows @ [9, 3, 1], minlength=27)
    assert len(seen) == 27
    assert stats.chisquare(seen).pvalue > 1e-3


@pytest.mark.parametrize("n", [2, 7, 100])
def test_draws_are_those_of_the_slow_twin(n):
    rows = RowResamples((np.arange(n),), None, 9).indices(range(3, 6))
    assert rows.tolist() == [slow_draw(9, number, n) for number in (3, 4, 5)]


@pytest.mark.parametrize(("n", "share"), [(10, 0.3487), (100, 0.3660), (1000, 0.3677)])
def test_share_of_rows_that_a_resample_lacks(n, share):
    lacking = RowResamples((np.arange(n),), None, 1).omitted(range(40_000 // n))
    assert lacking.mean() == pytest.approx((1 - 1 / n) ** n, abs=0.008)
    assert (1 - 1 / n) ** n == pytest.approx(share, abs=5e-5)


def test_rows():
    assert spread("rows") == pytest.approx(X.std() / np.sqrt(60), rel=0.04)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 40), st.integers(2, 60), st.integers(0, 2**63), st.booleans())
def test_balanced_resamples_hold_every_row_equally_often(n, n_resamples, seed, by_strata):
    strata = np.arange(n) % 3 if by_strata and n > 3 else None
    resamples = BalancedResamples((np.arange(n),), strata, seed, n_resamples)
    rows = resamples.indices(range(n_resamples))
    assert np.bincount(rows.ravel(), minlength=n).tolist() == [n_resamples] * n
    if strata is not None:
        expected = np.bincount(strata)
        assert all((np.bincount(strata[row]) == expected).all() for row in rows)


def test_balanced_mean_has_no_bias_at_all():
    answer = bootstrap(np.mean, X, draw="balanced", n_resamples=237, random_state=3)
    assert answer.distribution.mean() == pytest.approx(X.mean(), rel=1e-14)
    assert abs(answer.bias) < 1e-14
    assert spread("balanced") == pytest.approx(X.std() / np.sqrt(60), rel=0.04)
    ordinary = bootstrap(np.mean, X, n_resamples=237, random_state=3)
    assert abs(ordinary.bias) > 1e-4


def test_balanced_cycles_of_a_long_table_are_balanced_too():
    n = 200_000
    resamples = BalancedResamples((np.arange(n),), None, 1, 23)
    counts = sum(np.bincount(resamples.indices(range(b, b + 1))[0], minlength=n) for b in range(23))
    assert (counts == 23).all()


def test_strata():
    strata = np.repeat(["a", "b", "c"], [10, 20, 30])
    x = X + np.repeat([0, 10, 20], [10, 20, 30])
    exact = sum((len(p) / 60) ** 2 * p.var() / len(p) for p in np.split(x, [10, 30]))
    assert spread(DrawRows(strata=strata), x) == pytest.approx(np.sqrt(exact), rel=0.04)
    shuffled = np.random.default_rng(0).permutation(60)
    draw = DrawRows(strata=strata[shuffled])
    assert spread(draw, x[shuffled]) == pytest.approx(np.sqrt(exact), rel=0.04)
    assert spread("rows", x) > 3 * np.sqrt(exact)


def test_strata_make_the_bca_interval_of_two_samples():
    """A stratum each, or an array each: the same acceleration, so nearly the same interval."""
    days, group = load_mouse_survival().arrays
    parts = [days[group == name] for name in ("treatment", "control")]

    def difference(days, group):
        return days[group == "treatment"].mean() - days[group == "control"].mean()

    one = bootstrap(difference, days, group, draw=DrawRows(strata=group), random_state=0)
    two = bootstrap(lambda a, b: a.mean() - b.mean(), *parts, draw="separate", random_state=0)
    assert one.estimate == pytest.approx(two.estimate) == pytest.approx(30.63, abs=0.01)
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=8)
    exact = np.sqrt(sum(part.var() / len(part) for part in parts))
    assert one.standard_error == pytest.approx(exact, rel=0.08)
    assert two.standard_error == pytest.approx(exact, rel=0.08)


def test_separate_samples_are_drawn_independently():
    table = bootstrap(
        lambda a, b: [a.mean(), b.mean()], X[:20], X[:20], draw="separate", random_state=0
    ).distribution
    assert abs(np.corrcoef(table.T)[0, 1]) < 0.12


@pytest.mark.parametrize("sizes", [[5] * 12, [1, 2, 3, 4, 5, 6, 7, 8, 9, 15]])
def test_groups(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.random.default_rng(1).permutation(60)
    x = X + np.random.default_rng(2).normal(0, 3, len(sizes))[groups]
    totals = np.bincount(groups, x)
    exact = np.sqrt(totals.var() * len(sizes))  # of the sum of all rows
    answer = spread(
        DrawGroups(groups[shuffled]), x[shuffled], statistic=np.sum, vectorized=sizes[0] == 5
    )
    assert answer == pytest.approx(exact, rel=0.05)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=25).filter(lambda g: len(set(g)) > 1))
def test_groups_are_never_divided(labels):
    _, codes = np.unique(labels, return_inverse=True)
    resamples = GroupResamples((np.arange(len(labels)),), codes, 3)
    for sample, lacking in zip(
        resamples.samples(range(5)), resamples.omitted(range(5)), strict=True
    ):
        counts = np.bincount(sample.arrays[0], minlength=len(labels))
        per_group = [set(counts[codes == g].tolist()) for g in range(codes.max() + 1)]
        assert all(len(times) == 1 for times in per_group)
        assert sum(times.pop() for times in per_group) == codes.max() + 1
        assert lacking.tolist() == [bool((counts[codes == g] == 0).all()) for g in set(codes)]


def test_group_of_each_row_is_the_ordinary_bootstrap():
    one = bootstrap(np.mean, X, random_state=4)
    two = bootstrap(np.mean, X, draw=DrawGroups(np.arange(60)), random_state=4)
    assert one.interval == two.interval


def block_means(x, length, *, circular):
    n = len(x)
    extended = np.concatenate([x, x[: length - 1]]) if circular else x
    n_starts = n if circular else n - length + 1
    return np.array([extended[i : i + length].mean() for i in range(n_starts)])


@pytest.mark.parametrize("kind", ["moving", "circular"])
def test_blocks_have_the_variance_of_block_means(kind):
    x = np.cumsum(X - X.mean())
    means = block_means(x, 5, circular=kind == "circular")
    exact = means.std() / np.sqrt(60 / 5)
    assert spread(DrawBlocks(length=5, kind=kind), x) == pytest.approx(exact, rel=0.04)
    assert spread("rows", x) < exact / 1.5


def test_stationary_blocks_have_the_variance_of_politis_and_romano():
    n, length = 60, 4
    x = np.cumsum(X - X.mean())
    centred = x - x.mean()
    lags = np.arange(1, n)
    covariances = np.array([np.mean(centred * np.roll(centred, -lag)) for lag in lags])
    weights = (1 - lags / n) * (1 - 1 / length) ** lags
    exact = np.sqrt((centred.var() + 2 * (weights * covariances).sum()) / n)
    draw = DrawBlocks(length=length, kind="stationary")
    assert spread(draw, x) == pytest.approx(exact, rel=0.04)


def test_stationary_blocks_are_those_of_the_slow_twin():
    resamples = BlockResamples((np.arange(30),), np.arange(30), 3, "stationary", 8)
    rows = resamples.indices(range(4))
    assert rows.tolist() == [slow_stationary(8, b, 30, 3) for b in range(4)]


@pytest.mark.parametrize("kind", ["moving", "circular", "stationary"])
def test_blocks_of_one_row_are_rows_and_time_puts_them_in_order(kind):
    resamples = BlockResamples((np.arange(50),), np.arange(50), 1, kind, 8)
    rows = resamples.indices(range(400))
    assert np.bincount(rows.ravel()).std() < 60  # 400 each, standard deviation 20
    order = np.random.default_rng(0).permutation(50)
    draw = DrawBlocks(length=7, kind=kind)
    timed = DrawBlocks(length=7, kind=kind, time=np.arange(50)[order])
    one = bootstrap(np.mean, X[:50], draw=draw, random_state=2)
    two = bootstrap(np.mean, X[:50][order], draw=timed, random_state=2)
    assert one.distribution == pytest.approx(two.distribution, rel=1e-12)


@pytest.mark.parametrize("kind", ["moving", "circular", "stationary"])
@pytest.mark.parametrize("sizes", [[2] * 30, [1, 2, 3] * 10])
def test_blocks_keep_rows_of_the_same_time_together(kind, sizes):
    time = np.repeat(np.arange(30), sizes)
    order = np.random.default_rng(0).permutation(len(time))
    draw = DrawBlocks(length=5, kind=kind, time=time[order])
    rows = np.arange(len(time))
    seen = []
    bootstrap(lambda own: seen.append(own) or own.mean(), rows, draw=draw, n_resamples=20)
    for own in seen[1:]:  # the first is the data
        counts = np.bincount(own, minlength=len(time))
        assert all(len(set(counts[time[order] == when])) == 1 for when in range(30))
        drawn = time[order][own]
        steps = np.diff(drawn)[np.diff(drawn) != 0]
        assert np.isin(steps, [1, -29]).mean() > 0.5  # within blocks one time follows the other


def test_blocks_know_the_error_of_a_mean_that_rows_do_not():
    """Autoregression of 0.6: the variance of the mean is four times that of independent rows."""
    rng = np.random.default_rng(4)
    x = np.zeros(4000)
    for i, noise in enumerate(rng.normal(size=4000)):
        x[i] = 0.6 * x[i - 1] + noise
    truth = 1 / 0.4 / np.sqrt(4000)
    rows = spread("rows", x, n_resamples=1000)
    assert rows == pytest.approx(truth / 2, rel=0.1)
    for kind in ("moving", "circular", "stationary"):
        error = spread(DrawBlocks(length=40, kind=kind), x, n_resamples=1000)
        assert error == pytest.approx(truth, rel=0.2)


@pytest.mark.parametrize("size", [10, 30, 59])
def test_fewer_rows_are_scaled_back(size):
    exact = X.std() / np.sqrt(60)
    assert spread(DrawFewer(size=size)) == pytest.approx(exact, rel=0.04)
    without = X.std(ddof=1) / np.sqrt(60)
    assert spread(DrawFewer(size=size, replace=False)) == pytest.approx(without, rel=0.04)


@pytest.mark.parametrize("replace", [True, False])
def test_bias_and_intervals_of_fewer_rows_are_scaled_back(replace):
    """The variance with divisor n is too small by a part 1/n, whatever the size."""
    draw = DrawFewer(size=20, replace=replace)
    settings = {"n_resamples": 10_000, "vectorized": True, "random_state": 0}
    exact = -X.var(ddof=1 - replace) / 60
    many = settings | {"n_resamples": 60_000}
    assert bootstrap(np.var, X, draw=draw, **many).bias == pytest.approx(exact, rel=0.15)
    for method in ("percentile", "basic"):
        whole = bootstrap(np.mean, X, method=method, **settings)
        fewer = bootstrap(np.mean, X, method=method, draw=draw, **settings)
        assert fewer.low == pytest.approx(whole.low, abs=0.04)
        assert fewer.high == pytest.approx(whole.high, abs=0.04)


def test_as_many_rows_as_there_are_is_the_ordinary_bootstrap():
    one = bootstrap(np.mean, X, method="percentile", random_state=4)
    two = bootstrap(np.mean, X, draw=DrawFewer(size=60), method="percentile", random_state=4)
    assert one.interval == two.interval


def test_rate_scales_the_largest_of_uniform_numbers():
    """Its error falls with n: subsamples say by how much; the ordinary percentiles never cover."""
    rng = np.random.default_rng(1)
    subsamples = DrawFewer(size=20, replace=False, rate=1)
    covered = {"basic": 0, "percentile": 0}
    for seed in range(150):
        x = rng.random(200)
        for method, draw in ((None, subsamples), ("percentile", "rows")):
            settings = {"draw": draw, "method": method, "level": 0.8, "vectorized": True}
            answer = bootstrap(np.max, x, n_resamples=199, random_state=seed, **settings)
            covered[answer.method] += answer.low <= 1 <= answer.high
    assert covered["basic"] / 150 == pytest.approx(0.8, abs=0.12)
    assert covered["percentile"] == 0


def test_bayesian_weights_are_dirichlet():
    resamples = WeightResamples((X,), 3)
    weights = resamples.weights(range(B))
    assert weights.sum(axis=1) == pytest.approx(np.full(B, 60.0))
    assert weights.mean(axis=0) == pytest.approx(np.ones(60), abs=0.1)
    assert weights.var() == pytest.approx(59 / 61, rel=0.05)
    assert stats.kstest(weights[:, 7] / 60, stats.beta(1, 59).cdf).pvalue > 1e-3
    assert spread("bayesian", statistic=np.average) == pytest.approx(
        X.std() / np.sqrt(61), rel=0.04
    )


def test_bayesian_bootstrap_of_a_score_with_sample_weight():
    truth = np.arange(40) % 2
    guess = np.where(np.arange(40) < 30, truth, 1 - truth)
    answer = bootstrap(
        accuracy_score, truth, guess, draw="bayesian", n_resamples=399, random_state=0
    )
    assert answer.estimate == 0.75
    assert answer.method == "percentile"
    assert answer.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 41), rel=0.1)


def test_bayesian_needs_a_statistic_that_takes_weights():
    with pytest.raises(InvalidParameter, match="median has no parameter 'weights'"):
        bootstrap(np.median, X, draw="bayesian")


def test_simulated_samples():
    def simulate(generator):
        return generator.normal(X.mean(), X.std(), 60)

    for vectorized in (False, True):
        answer = spread(DrawSimulated(simulate), vectorized=vectorized)
        assert answer == pytest.approx(X.std() / np.sqrt(60), rel=0.04)
    two = bootstrap(
        lambda a, b: a.mean() - b.mean(),
        X[:10],
        X[10:],
        draw=DrawSimulated(lambda g: (g.exponential(1, 10), g.exponential(1, 50))),
        random_state=0,
    )
    assert two.standard_error == pytest.approx(np.sqrt(1 / 10 + 1 / 50), rel=0.08)


def test_simulated_samples_may_differ_in_length():
    answer = bootstrap(
        np.mean,
        X,
        draw=DrawSimulated(lambda g: g.normal(size=g.integers(2, 9))),
        vectorized=True,
        random_state=0,
    )
    assert answer.distribution.shape == (999,)
