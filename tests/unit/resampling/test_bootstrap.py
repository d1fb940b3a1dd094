"""The bootstrap: slow twins, published numbers, identities, and what users see."""

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.reference.resampling import leave_out, slow_bca, slow_draw, slow_quantile

from spinney.datasets import load_law_school, load_spatial_test
from spinney.resampling import DrawBlocks, DrawRows, Interval, bootstrap
from spinney.resampling import statistic as statistic_module
from spinney.resampling.leaving import acceleration_without

FLOATS = st.floats(-100, 100, allow_nan=False, width=32)


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


def test_law_school_gives_the_published_numbers():
    """N20, Efron and Tibshirani (1993): r = .776, its standard error about .13."""
    answer = bootstrap(correlation, *load_law_school().arrays, n_resamples=4999, random_state=0)
    assert answer.estimate == pytest.approx(0.776374, abs=1e-6)
    assert answer.standard_error == pytest.approx(0.134, abs=0.005)


@pytest.mark.parametrize(
    ("method", "low", "high"), [("percentile", 100.8, 233.9), ("bca", 115.8, 259.6)]
)
def test_spatial_test_gives_the_published_intervals(method, low, high):
    """N21, Efron and Tibshirani (1993), chapter 14: 90 % of a variance, by 2000 resamples."""
    scores = load_spatial_test()["A"]
    answer = bootstrap(
        np.var, scores, method=method, level=0.9, n_resamples=9999, vectorized=True, random_state=1
    )
    assert answer.estimate == pytest.approx(171.534, abs=1e-3)
    assert (answer.low, answer.high) == pytest.approx((low, high), abs=4)


@pytest.mark.parametrize("vectorized", [False, True])
def test_resamples_and_bca_are_those_of_the_slow_twin(vectorized):
    x = np.array([0.0, 1.5, 2.0, 7.0, 9.5, 11.0, 20.0])
    answer = bootstrap(np.mean, x, n_resamples=99, vectorized=vectorized, random_state=5)
    slow = [float(np.mean(x[slow_draw(5, b, 7)])) for b in range(99)]
    assert answer.distribution == pytest.approx(slow, rel=1e-14)
    without = leave_out(x.tolist(), lambda rows: float(np.mean(rows)))
    values = answer.distribution.tolist()
    ends = slow_bca(values, answer.estimate, without, 0.95)
    assert (answer.low, answer.high) == pytest.approx(ends, rel=1e-10)
    basic = bootstrap(np.mean, x, n_resamples=99, method="basic", level=0.8, random_state=5)
    mirrored = [2 * x.mean() - slow_quantile(values, p) for p in (0.9, 0.1)]
    assert (basic.low, basic.high) == pytest.approx(mirrored, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(arrays(float, st.integers(3, 12), elements=FLOATS), st.integers(0, 2**32))
def test_intervals_move_with_the_data(x, seed):
    assume(np.ptp(x) > 1e-3)
    for method in ("percentile", "basic", "normal", "bca"):
        one = bootstrap(np.mean, x, method=method, n_resamples=49, random_state=seed)
        two = bootstrap(np.mean, 3 * x + 1000, method=method, n_resamples=49, random_state=seed)
        if "not defined" in one.method + two.method or method == "bca":
            continue  # ties with the estimate are broken by rounding
        assert two.low == pytest.approx(3 * one.low + 1000, abs=1e-8)
        assert two.high == pytest.approx(3 * one.high + 1000, abs=1e-8)
        mirrored = bootstrap(np.mean, -x, method=method, n_resamples=49, random_state=seed)
        assert (-mirrored.high, -mirrored.low) == pytest.approx((one.low, one.high), abs=1e-8)
        assert mirrored.standard_error == pytest.approx(one.standard_error, abs=1e-9)


def test_chunks_change_nothing(monkeypatch):
    x = np.random.default_rng(0).normal(size=(40, 3))
    draws = (DrawRows(balanced=True), DrawBlocks(length=4, kind="stationary"), "rows")
    whole = [bootstrap(_column_means, x, draw=d, random_state=3).distribution for d in draws]
    monkeypatch.setattr(statistic_module, "_MOST_NUMBERS", 1000)
    for known, draw in zip(whole, draws, strict=True):
        pieces = bootstrap(_column_means, x, draw=draw, random_state=3)
        assert np.array_equal(pieces.distribution, known)
        vectorized = bootstrap(np.mean, x, draw=draw, vectorized=True, random_state=3)
        assert vectorized.distribution == pytest.approx(known, rel=1e-12)


def _column_means(table):
    return table.mean(axis=0)


def test_more_resamples_keep_the_first_ones():
    x = np.arange(20.0)
    few, many = (bootstrap(np.mean, x, n_resamples=b, random_state=1) for b in (50, 200))
    assert np.array_equal(few.distribution, many.distribution[:50])


def test_same_seed_gives_the_same_answer_and_another_another():
    x = np.random.default_rng(3).normal(size=25)
    one, two, other = (bootstrap(np.mean, x, random_state=s) for s in (1, 1, 2))
    assert one.interval == two.interval
    assert one.interval != other.interval


def test_wider_level_gives_a_wider_interval():
    x = np.random.default_rng(1).normal(size=60)
    widths = []
    for level in (0.5, 0.8, 0.95):
        interval = bootstrap(np.mean, x, level=level, random_state=2).interval
        assert interval.low <= interval.estimate <= interval.high
        assert interval.level == level
        widths.append(interval.high - interval.low)
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
@pytest.mark.parametrize("method", ["percentile", "basic", "normal", "bca", "studentised"])
def test_sample_without_variation_gives_one_point(value, method):
    answer = bootstrap(np.median, np.full(30, value), method=method, random_state=0)
    assert answer.low == answer.high == answer.estimate == pytest.approx(value)
    assert answer.standard_error == 0 == answer.bias
    if method == "bca":
        assert answer.method == "bca (percentile where that is not defined)"


def test_perfect_predictions_give_one_point_without_a_warning():
    def accuracy(truth, guess):
        return float(np.mean(truth == guess))

    labels = np.array(["a", "b"] * 10)
    answer = bootstrap(accuracy, labels, labels, random_state=0)
    assert str(answer.interval) == "1.0000 [1.0000, 1.0000]"


def test_rows_are_drawn_together():
    x = np.arange(50.0)
    assert bootstrap(correlation, x, 2 * x + np.sin(x), random_state=0).low > 0.9


def test_acceleration_of_many_rows_is_near_that_of_single_rows():
    """Above 1000 rows some leave together; the third moments stay."""
    x = np.random.default_rng(0).exponential(size=4000)
    a = acceleration_without([((x.sum() - x) / 3999)[:, np.newaxis]])[0]
    answer = bootstrap(np.mean, x, vectorized=True, random_state=0)
    assert answer.method == "bca"
    from spinney.resampling.leaving import leave_each_out, some_together
    from spinney.resampling.statistic import Statistic

    units = some_together(answer.resamples.units, seed=0)
    assert [part.number for part in units] == [1000]
    values = leave_each_out(Statistic(np.mean, vectorized=True), (x,), units)
    assert acceleration_without(values)[0] == pytest.approx(a, abs=0.002)


def test_statistic_of_several_numbers_has_an_interval_for_each():
    table = np.random.default_rng(0).normal(size=(30, 2)) * [1, 5]
    answer = bootstrap(_column_means, table, random_state=0)
    alone = bootstrap(lambda t: t[:, 1].mean(), table, random_state=0)
    assert answer.low[1] == pytest.approx(alone.low, rel=1e-12)
    assert answer.distribution.shape == (999, 2)
    frame = answer.to_frame()
    assert frame["part"].tolist() == ["0", "1"]
    assert frame["high"].tolist() == answer.high.tolist()
    with pytest.raises(ValueError, match="interval for each part"):
        _ = answer.interval
    with pytest.raises(ValueError, match="read-only"):
        answer.low[0] = 1


def test_matrix_statistic_names_its_parts():
    answer = bootstrap(lambda t: np.cov(t.T), np.random.default_rng(1).normal(size=(20, 2)))
    assert answer.to_frame()["part"].tolist() == ["0, 0", "0, 1", "1, 0", "1, 1"]


def test_answer_is_printed_as_a_table():
    answer = bootstrap(np.mean, np.arange(10.0), random_state=0)
    title, names, numbers = str(answer).splitlines()
    assert title == "Bootstrap, 999 resamples; 95 % interval by bca"
    assert names.split() == ["estimate", "bias", "standard_error", "low", "high"]
    assert numbers.split()[0] == "4.5"
    assert str(Interval(0.5, 0.25, 0.75, 0.95)) == "0.5000 [0.2500, 0.7500]"


def test_answer_survives_pickling():
    answer = bootstrap(np.mean, np.arange(10.0), random_state=0)
    again = pickle.loads(pickle.dumps(answer))
    assert np.array_equal(again.distribution, answer.distribution)
    assert again.interval == answer.interval
    drawn = [list(a.resamples.samples(range(3)))[2].arrays[0] for a in (answer, again)]
    assert np.array_equal(*drawn)
