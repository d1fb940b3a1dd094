"""Interval arithmetic: SciPy's levels, theorems of symmetry, and studentised intervals."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.reference.resampling import slow_quantile

from spinney.datasets import load_law_school, load_spatial_test
from spinney.errors import InvalidInput, InvalidParameter
from spinney.resampling import DrawFewer, DrawRows, bootstrap
from spinney.resampling.intervals import (
    bca_interval,
    bca_levels,
    percentile_interval,
    quantiles,
    tail_levels,
)
from spinney.resampling.leaving import acceleration_without, leave_each_out
from spinney.resampling.resamples import RowResamples
from spinney.resampling.resamples_free import SeparateResamples
from spinney.resampling.statistic import Statistic


def mean_error(x, axis=0):
    return x.std(axis=axis, ddof=1) / np.sqrt(x.shape[axis])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_quantiles_are_those_of_the_slow_twin(values, p):
    got = quantiles(np.array(values)[:, np.newaxis], np.array([p, p]))
    assert got[0] == pytest.approx([slow_quantile(values, p)] * 2, rel=1e-9, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.5, 0.99), st.integers(1, 60))
def test_bca_without_bias_and_acceleration_is_the_percentile_interval(level, half):
    one_side = np.linspace(0.1, 5, half)
    distribution = np.concatenate([-one_side, [0.0], one_side])[:, np.newaxis]
    zero = np.zeros(1)
    assert bca_levels(distribution, zero, zero, level)[0] == pytest.approx(tail_levels(level))
    ends, defined = bca_interval(distribution, zero, zero, level)
    assert defined
    assert ends == pytest.approx(percentile_interval(distribution, level), abs=1e-12)


@pytest.mark.parametrize("kind", ["one", "paired", "two"])
def test_bca_levels_are_those_of_scipy(kind):
    """With 1, 2, ..., B for resamples a quantile tells its own level."""
    rng = np.random.default_rng(0)
    data = {
        "one": (rng.exponential(300, 30),),
        "paired": (rng.exponential(300, 25), rng.exponential(100, 25)),
        "two": (rng.exponential(400, 18), rng.exponential(100, 33)),
    }[kind]

    def statistic(*samples):
        return float(np.mean(samples[0]) + (np.var(samples[1]) / 300 if samples[1:] else 0))

    distribution = rng.permutation(np.arange(1.0, 1000))
    theirs = stats.bootstrap(
        data,
        statistic,
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=distribution),
        paired=kind == "paired",
        vectorized=False,
        method="BCa",
        confidence_level=0.9,
    ).confidence_interval
    make = SeparateResamples(data, 0) if kind == "two" else RowResamples(data, None, 0)
    values = leave_each_out(Statistic(statistic, vectorized=False), data, make.units)
    a, estimate = acceleration_without(values), np.array([statistic(*data)])
    levels = bca_levels(distribution[:, np.newaxis], estimate, a, 0.9)[0]
    positions = (np.array(theirs) - 1) / 998
    assert levels == pytest.approx(positions, rel=1e-9)
    assert abs(a[0]) > 0.005  # else the levels would say little


def test_law_school_has_the_known_acceleration():
    """N20: a = -.0757."""
    data = load_law_school().arrays
    units = RowResamples(data, None, 0).units
    statistic = Statistic(lambda x, y: np.corrcoef(x, y)[0, 1], vectorized=False)
    assert acceleration_without(leave_each_out(statistic, data, units))[0] == pytest.approx(
        -0.0757, abs=5e-5
    )


def test_spatial_test_has_the_published_acceleration():
    """N21, Efron and Tibshirani (1993), chapter 14: a = .061."""
    data = (load_spatial_test()["A"],)
    values = leave_each_out(
        Statistic(np.var, vectorized=True), data, RowResamples(data, None, 0).units
    )
    assert acceleration_without(values)[0] == pytest.approx(0.0612, abs=5e-5)


@pytest.mark.parametrize(
    ("distribution", "estimate", "a"),
    [([1.0, 1.0, 1.0], 1.0, np.nan), ([1.0, 2.0, 3.0], 9.0, 0.1), ([1.0, 2.0, 3.0], 2.0, 5.0)],
)
def test_where_bca_is_not_defined_percentiles_stand_in(distribution, estimate, a):
    column = np.array(distribution)[:, np.newaxis]
    ends, defined = bca_interval(column, np.array([estimate]), np.array([a]), 0.8)
    assert not defined
    assert np.array_equal(ends, percentile_interval(column, 0.8))


def test_normal_interval_is_the_corrected_estimate_and_its_error():
    x = load_spatial_test()["A"]
    answer = bootstrap(np.var, x, method="normal", level=0.9, random_state=0)
    z = stats.norm.ppf(0.95)
    middle = answer.estimate - answer.bias
    assert answer.low == pytest.approx(middle - z * answer.standard_error)
    assert answer.high == pytest.approx(middle + z * answer.standard_error)


def test_studentised_interval_is_the_definition():
    x = np.random.default_rng(2).exponential(size=15)
    answer = bootstrap(
        np.mean, x, method="studentised", error=mean_error, n_resamples=199, random_state=7
    )
    resamples = [sample.arrays[0] for sample in answer.resamples.samples(range(199))]
    t = [(r.mean() - x.mean()) / mean_error(r) for r in resamples]
    ends = [x.mean() - mean_error(x) * slow_quantile(t, p) for p in (0.975, 0.025)]
    assert (answer.low, answer.high) == pytest.approx(ends, rel=1e-12)


def test_error_by_the_jackknife_is_that_of_the_formula_for_a_mean():
    x = np.random.default_rng(2).exponential(size=15)
    settings = {"method": "studentised", "n_resamples": 99, "random_state": 7}
    given_error = bootstrap(np.mean, x, error=mean_error, **settings)
    for vectorized in (False, True):
        own = bootstrap(np.mean, x, vectorized=vectorized, **settings)
        assert (own.low, own.high) == pytest.approx((given_error.low, given_error.high), rel=1e-9)


def test_error_of_many_rows_by_resamples_of_resamples_is_about_the_same():
    x = np.random.default_rng(2).normal(size=60)
    settings = {"method": "studentised", "vectorized": True, "random_state": 7}
    exact = bootstrap(np.mean, x, error=mean_error, **settings)
    nested = bootstrap(np.mean, x, **settings)
    width = exact.high - exact.low
    assert nested.high - nested.low == pytest.approx(width, rel=0.12)


def test_studentised_interval_of_two_samples():
    rng = np.random.default_rng(0)
    one, two = rng.normal(5, 1, 12), rng.normal(0, 3, 9)

    def difference(x, y):
        return x.mean() - y.mean()

    def error(x, y):
        return np.hypot(mean_error(x), mean_error(y))

    settings = {"draw": "separate", "method": "studentised", "n_resamples": 199, "random_state": 3}
    by_formula = bootstrap(difference, one, two, error=error, **settings)
    by_jackknife = bootstrap(difference, one, two, **settings)
    assert by_formula.low == pytest.approx(by_jackknife.low, rel=1e-9)
    assert by_formula.low < 5 < by_formula.high


def test_studentised_pivots_of_fewer_rows_are_scaled():
    """Without replacement resamples are nearer to the data than samples to the truth."""
    x = np.random.default_rng(0).normal(size=400)
    widths = {}
    for name, draw in {
        "all": "rows",
        "fewer": DrawFewer(size=200),
        "subsample": DrawFewer(size=200, replace=False),
    }.items():
        answer = bootstrap(
            np.mean, x, draw=draw, method="studentised", error=mean_error, n_resamples=1999,
            vectorized=True, random_state=1,
        )  # fmt: skip
        widths[name] = answer.high - answer.low
    assert widths["fewer"] == pytest.approx(widths["all"], rel=0.08)
    assert widths["subsample"] == pytest.approx(widths["all"], rel=0.08)


def test_resamples_without_variation_have_no_studentised_interval_only_if_there_are_many():
    few = np.array([0.0] * 10 + [1.0] * 10)
    answer = bootstrap(np.mean, few, method="studentised", error=mean_error, random_state=0)
    assert np.isfinite([answer.low, answer.high]).all()
    many = np.array([0.0] * 19 + [1.0])
    with pytest.raises(InvalidInput, match=r"The standard error is 0 in \d+ of 999 resamples"):
        bootstrap(np.mean, many, method="studentised", error=mean_error, random_state=0)


def test_studentised_needs_an_error_where_resamples_do_not_tell():
    x = np.arange(12.0)
    draw = DrawRows(strata=np.arange(12) % 2)
    with pytest.raises(InvalidParameter, match="Give error="):
        bootstrap(np.mean, x, draw=draw, method="studentised", random_state=0)
    bootstrap(np.mean, x, draw=draw, method="studentised", error=mean_error, random_state=0)
    with pytest.raises(InvalidInput, match="negative or not a number"):
        bootstrap(np.mean, x, method="studentised", error=lambda _: -1.0)
    with pytest.raises(InvalidInput, match="error gives 2 numbers, the statistic 1"):
        bootstrap(np.mean, x, method="studentised", error=lambda _: [1.0, 1.0])
    with pytest.raises(InvalidParameter, match=r"rate=0\.5"):
        bootstrap(np.max, x, draw=DrawFewer(size=4, rate=1), method="studentised")
