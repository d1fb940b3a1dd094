"""The jackknife: theorems, slow twins, published numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.metrics import accuracy_score
from tests.reference.resampling import leave_out, slow_delete_m, slow_jackknife

from spinney.datasets import load_law_school, load_mouse_survival
from spinney.errors import InvalidInput, InvalidParameter
from spinney.resampling import (
    DrawBlocks,
    DrawFewer,
    DrawGroups,
    DrawRows,
    bootstrap,
    jackknife,
    jackknife_after_bootstrap,
)

SAMPLES = arrays(float, st.integers(2, 9), elements=st.floats(-100, 100))


def weighted_variance(x, weights):
    mean = np.average(x, weights=weights)
    return np.average((x - mean) ** 2, weights=weights)


@settings(max_examples=50, deadline=None)
@given(SAMPLES, st.booleans())
def test_mean_has_its_classical_error_and_no_bias(x, vectorized):
    answer = jackknife(np.mean, x, vectorized=vectorized)
    assert answer.standard_error == pytest.approx(x.std(ddof=1) / np.sqrt(len(x)), abs=1e-9)
    assert answer.bias == pytest.approx(0, abs=1e-9)
    assert answer.pseudo_values == pytest.approx(x, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(SAMPLES)
def test_corrected_variance_is_the_unbiased_one(x):
    answer = jackknife(np.var, x)
    assert answer.corrected == pytest.approx(x.var(ddof=1), abs=1e-7)
    assert answer.pseudo_values.mean() == pytest.approx(answer.corrected, abs=1e-7)
    error = answer.pseudo_values.std(ddof=1) / np.sqrt(len(x))
    assert answer.standard_error == pytest.approx(error, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(SAMPLES, st.data())
def test_every_size_of_sets_gives_the_error_of_the_mean(x, data):
    delete = data.draw(st.integers(1, len(x) - 1))
    answer = jackknife(np.mean, x, delete=delete)
    assert len(answer.values) == math.comb(len(x), delete)
    assert answer.standard_error == pytest.approx(x.std(ddof=1) / np.sqrt(len(x)), abs=1e-9)
    assert answer.bias == pytest.approx(0, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(SAMPLES.filter(lambda x: len(x) > 3), st.integers(1, 2))
def test_sets_are_those_of_the_slow_twin(x, delete):
    answer = jackknife(np.median, x, delete=delete)
    values = leave_out(x.tolist(), lambda rows: float(np.median(rows)), delete)
    bias, error = slow_jackknife(values, float(np.median(x)), len(x), delete)
    assert answer.values.tolist() == values
    assert answer.bias == pytest.approx(bias, abs=1e-9)
    assert answer.standard_error == pytest.approx(error, abs=1e-9)


def test_law_school_gives_the_published_numbers():
    """N20, Efron and Tibshirani (1993): .142; further digits by the definition."""
    answer = jackknife(lambda x, y: np.corrcoef(x, y)[0, 1], *load_law_school().arrays)
    assert answer.standard_error == pytest.approx(0.142519, abs=1e-6)
    assert answer.bias == pytest.approx(-0.006474, abs=1e-6)


def test_mice_give_the_published_errors():
    """Efron and Tibshirani (1993), table 2.1: 25.24; the other is 14.16, where they print 14.14."""
    days, group = load_mouse_survival().arrays
    for name, error in (("treatment", 25.24), ("control", 14.16)):
        assert jackknife(np.mean, days[group == name]).standard_error == pytest.approx(
            error, abs=0.005
        )


def test_random_sets_come_near_all_of_them():
    x = np.random.default_rng(0).exponential(size=14)
    exact = jackknife(np.var, x, delete=4)
    assert exact.kind == "without 4 rows, all 1001 sets"
    some = jackknife(np.var, x, delete=4, n_subsets=900, vectorized=True, random_state=1)
    assert some.kind == "without 4 rows, 900 sets"
    assert some.standard_error == pytest.approx(exact.standard_error, rel=0.08)
    assert some.pseudo_values is None
    again = jackknife(np.var, x, delete=4, n_subsets=900, random_state=1)
    assert again.values == pytest.approx(some.values)
    many = jackknife(np.mean, np.arange(100.0), delete=20, random_state=0)
    assert len(many.values) == 1000
    assert many.standard_error == pytest.approx(stats.sem(np.arange(100.0)), rel=0.08)


def test_random_sets_are_right_on_average():
    """The mean of the squared errors over seeds is that of all sets, not less by 1/N."""
    x = np.random.default_rng(0).normal(size=12)
    squares = [
        jackknife(np.mean, x, delete=3, n_subsets=4, vectorized=True, random_state=seed)
        .standard_error**2
        for seed in range(1500)
    ]  # fmt: skip
    assert np.mean(squares) == pytest.approx(x.var(ddof=1) / 12, rel=0.07)


def test_deleting_one_misses_the_median_and_deleting_more_does_not():
    """Of 400 normal numbers the median has a variance of about pi / 2 / n."""
    rng = np.random.default_rng(3)
    one, more = [], []
    for seed in range(60):
        x = rng.normal(size=400)
        settings = {"vectorized": True, "random_state": seed}
        one.append(jackknife(np.median, x, vectorized=True).standard_error ** 2)
        answer = jackknife(np.median, x, delete=120, n_subsets=100, **settings)
        more.append(answer.standard_error**2)
    truth = np.pi / 2 / 400
    assert np.mean(more) == pytest.approx(truth, rel=0.25)
    assert np.std(one) > 2 * np.std(more)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 6), st.integers(1, 4))
def test_groups_are_left_out_together(n_groups, size):
    rng = np.random.default_rng(n_groups)
    groups = rng.permutation(np.repeat(np.arange(n_groups), size))
    x = rng.normal(size=len(groups))
    means = np.array([x[groups == g].mean() for g in range(n_groups)])
    answer = jackknife(np.mean, x, groups=groups)
    assert answer.standard_error == pytest.approx(stats.sem(means), abs=1e-12)
    assert answer.pseudo_values == pytest.approx(means)
    assert answer.kind == "without each group"


def test_groups_of_different_sizes_and_sets_of_groups():
    groups = ["a", "a", "a", "b", "c", "c"]
    x = np.arange(6.0)
    for vectorized in (False, True):
        answer = jackknife(np.mean, x, groups=groups, vectorized=vectorized)
        assert answer.values.tolist() == [4.0, pytest.approx(2.4), 1.5]
        two = jackknife(np.mean, x, groups=groups, delete=2, vectorized=vectorized)
        assert two.values.tolist() == [4.5, 3.0, 1.0]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=6), st.integers(0, 99))
def test_groups_that_count_by_their_rows_are_the_slow_twin(sizes, seed):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=len(codes))
    mix = rng.permutation(len(codes))
    for statistic in (np.mean, np.var):
        answer = jackknife(statistic, x[mix], groups=codes[mix])
        by_rows = answer.by_rows()
        split = [x[codes == group].tolist() for group in range(len(sizes))]
        corrected, error = slow_delete_m(statistic, split)
        assert by_rows.corrected == pytest.approx(corrected, abs=1e-9)
        assert by_rows.standard_error == pytest.approx(error, abs=1e-9)
        assert by_rows.sizes.tolist() == sizes
        weighted = np.average(by_rows.pseudo_values, weights=sizes)
        assert weighted == pytest.approx(corrected, abs=1e-9)
        if len(set(sizes)) == 1:
            assert by_rows.standard_error == pytest.approx(answer.standard_error, abs=1e-9)
            assert by_rows.bias == pytest.approx(answer.bias, abs=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_which_groups_count_how_depends_on_what_was_drawn(correlation):
    """Groups of 100 and of 5 rows; errors of the mean against those over 600 tables."""
    rng, codes = np.random.default_rng(0), np.repeat(np.arange(16), [100, *[5] * 15])
    means, as_drawn, by_rows = [], [], []
    for _ in range(600):
        x = np.sqrt(correlation) * rng.normal(size=16)[codes]
        x += np.sqrt(1 - correlation) * rng.normal(size=175)
        answer = jackknife(np.mean, x, groups=codes)
        means.append(answer.estimate)
        as_drawn.append(answer.standard_error**2)
        by_rows.append(answer.by_rows().standard_error ** 2)
    truth = np.var(means)
    if correlation == 0.0:
        assert 0.85 < np.mean(by_rows) / truth < 1.15  # rows were drawn
        assert np.mean(as_drawn) / truth > 1.3  # safe, and more than need be
    else:
        assert 0.8 < np.mean(as_drawn) / truth < 1.2  # groups were drawn
        assert np.mean(by_rows) / truth < 0.3


def test_only_groups_that_were_left_out_one_by_one_count_by_their_rows():
    x = np.arange(6.0)
    for answer in (jackknife(np.mean, x, delete=2), jackknife(np.average, x, infinitesimal=True)):
        with pytest.raises(InvalidInput, match="left out one at a time"):
            answer.by_rows()
    pair = jackknife(lambda a: np.array([a.mean(), a.var()]), x, groups=[0, 0, 0, 1, 1, 2])
    assert pair.by_rows().standard_error.shape == (2,)
    assert jackknife(np.var, x).by_rows().corrected == pytest.approx(x.var(ddof=1))


@settings(max_examples=50, deadline=None)
@given(SAMPLES)
def test_infinitesimal_jackknife_of_mean_and_variance(x):
    n = len(x)
    answer = jackknife(np.average, x, infinitesimal=True)
    assert answer.influence == pytest.approx(x - x.mean(), abs=1e-6)
    assert answer.standard_error == pytest.approx(x.std() / np.sqrt(n), abs=1e-6)
    assert answer.bias == pytest.approx(0, abs=1e-4)
    answer = jackknife(weighted_variance, x, infinitesimal=True)
    assert answer.influence == pytest.approx((x - x.mean()) ** 2 - x.var(), abs=1e-3)
    assert answer.bias == pytest.approx(-x.var() / n, abs=1e-2)


def test_infinitesimal_jackknife_of_groups_and_scores():
    truth = np.arange(20) % 2
    guess = np.where(np.arange(20) < 15, truth, 1 - truth)
    score = jackknife(accuracy_score, truth, guess, infinitesimal=True)
    assert score.standard_error == pytest.approx(np.sqrt(0.75 * 0.25 / 20), rel=1e-6)
    groups = np.arange(20) // 4
    means = np.array([(truth == guess)[groups == g].mean() for g in range(5)])
    grouped = jackknife(accuracy_score, truth, guess, infinitesimal=True, groups=groups)
    assert grouped.standard_error == pytest.approx(means.std() / np.sqrt(5), rel=1e-6)
    assert grouped.kind == "infinitesimal"
    with pytest.raises(InvalidParameter, match="has no parameter 'weights'"):
        jackknife(np.median, np.arange(4.0), infinitesimal=True)
    with pytest.raises(InvalidParameter, match="leaves nothing out"):
        jackknife(np.average, np.arange(4.0), infinitesimal=True, delete=2)


def test_interval_is_students():
    x = np.random.default_rng(0).normal(size=12)
    answer = jackknife(np.mean, x, level=0.9)
    exact = stats.t.interval(0.9, 11, x.mean(), stats.sem(x))
    assert (answer.low, answer.high) == pytest.approx(exact)


def test_statistic_of_several_numbers():
    table = np.random.default_rng(0).normal(size=(10, 3))
    answer = jackknife(lambda t: t.mean(axis=0), table)
    assert answer.pseudo_values == pytest.approx(table)
    assert answer.to_frame("polars")["standard_error"].to_list() == pytest.approx(
        stats.sem(table).tolist()
    )
    first = str(jackknife(np.mean, table[:, 0])).splitlines()[0]
    assert first == "Jackknife, without each row; 95 % interval by Student's t"


def test_after_bootstrap_is_the_definition():
    x = np.random.default_rng(0).exponential(size=12)
    answer = bootstrap(np.median, x, n_resamples=500, random_state=0)
    after = jackknife_after_bootstrap(answer, lambda values: np.quantile(values, 0.9))
    rows = [sample.arrays[0] for sample in answer.resamples.samples(range(500))]
    values = [
        np.quantile(
            [v for v, r in zip(answer.distribution, rows, strict=True) if gone not in r], 0.9
        )
        for gone in x
    ]
    assert after.values.tolist() == values
    assert after.standard_error == pytest.approx(
        slow_jackknife(values, after.estimate, 12)[1], rel=1e-12
    )
    assert jackknife_after_bootstrap(answer).estimate == answer.standard_error


def test_after_bootstrap_of_bagged_means_has_the_known_bias():
    """Wager, Hastie and Efron (2014): (e - 1) n v / B, with n = 50 and B = 200."""
    x = np.random.default_rng(1).normal(size=50)
    squares = []
    for seed in range(200):
        answer = bootstrap(np.mean, x, n_resamples=200, vectorized=True, random_state=seed)
        squares.append(jackknife_after_bootstrap(answer, np.mean).standard_error ** 2)
    expected = x.var(ddof=1) / 50 + (np.e - 1) * 50 * (x.var() / 50) / 200
    assert np.mean(squares) == pytest.approx(expected, rel=0.05)


def test_after_bootstrap_of_groups_and_strata():
    x = np.random.default_rng(1).normal(size=40)
    groups = np.arange(40) // 4
    grouped = bootstrap(np.mean, x, draw=DrawGroups(groups), random_state=0)
    after = jackknife_after_bootstrap(grouped, np.mean)
    assert len(after.values) == 10
    means = x.reshape(10, 4).mean(axis=1)
    assert after.standard_error == pytest.approx(stats.sem(means), rel=0.2)
    strata = np.array([0] * 15 + [1] * 24 + [2])
    stratified = bootstrap(
        np.mean,
        x,
        draw=DrawRows(strata=strata),
        n_resamples=20_000,
        vectorized=True,
        random_state=0,
    )
    after = jackknife_after_bootstrap(stratified, np.mean)
    exact = sum((len(p) / 40) ** 2 * p.var(ddof=1) / len(p) for p in (x[:15], x[15:39]))
    assert after.standard_error == pytest.approx(np.sqrt(exact), rel=0.05)


def test_after_bootstrap_refuses_what_it_cannot_tell():
    x = np.arange(10.0)
    for draw in (DrawBlocks(length=2), DrawFewer(size=5)):
        with pytest.raises(InvalidInput, match="as many rows or groups as there are"):
            jackknife_after_bootstrap(bootstrap(np.mean, x, draw=draw))
    with pytest.raises(InvalidInput, match="Draw more resamples"):
        jackknife_after_bootstrap(bootstrap(np.mean, x[:2], n_resamples=3, random_state=0))
    with pytest.raises(InvalidInput, match="expected what bootstrap"):
        jackknife_after_bootstrap(x)
    with pytest.raises(InvalidParameter, match="level=2"):
        jackknife_after_bootstrap(bootstrap(np.mean, x), level=2)
