"""Bootstrap intervals: their coverage, and samples with nothing to say."""

import numpy as np
import pytest

from spinney.errors import SpinneyError
from spinney.resampling import Interval, bootstrap_interval


def test_interval_of_the_mean_covers_the_truth_as_often_as_it_says():
    """400 samples of 40 exponential numbers: coverage within 3.5 standard errors of BCa's ~0.93."""
    rng = np.random.default_rng(0)
    covered = 0
    for seed in range(400):
        numbers = rng.exponential(size=40)
        interval = bootstrap_interval(np.mean, numbers, n_resamples=199, random_state=seed)
        covered += interval.low <= 1.0 <= interval.high
    assert 0.88 <= covered / 400 <= 0.98


def test_wider_level_gives_a_wider_interval():
    numbers = np.random.default_rng(1).normal(size=60)
    widths = []
    for level in (0.5, 0.8, 0.95):
        interval = bootstrap_interval(np.mean, numbers, level=level, random_state=2)
        assert interval.low <= interval.estimate <= interval.high
        assert interval.level == level
        widths.append(interval.high - interval.low)
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
def test_sample_without_variation_gives_one_point(value):
    interval = bootstrap_interval(np.mean, np.full(30, value), random_state=0)
    assert interval.low == interval.high == interval.estimate == pytest.approx(value)


def test_perfect_predictions_give_one_point_without_a_warning():
    def accuracy(truth, guess):
        return float(np.mean(truth == guess))

    labels = np.array(["a", "b"] * 10)
    assert str(bootstrap_interval(accuracy, labels, labels, random_state=0)) == (
        "1.0000 [1.0000, 1.0000]"
    )


def test_rows_are_drawn_together():
    x = np.arange(50.0)

    def correlation(one, two):
        return float(np.corrcoef(one, two)[0, 1])

    interval = bootstrap_interval(correlation, x, 2 * x + np.sin(x), random_state=0)
    assert interval.low > 0.9


def test_same_seed_gives_the_same_interval_and_another_another():
    numbers = np.random.default_rng(3).normal(size=25)
    one, two, other = (bootstrap_interval(np.mean, numbers, random_state=s) for s in (1, 1, 2))
    assert one == two
    assert one != other


def test_interval_is_shown_with_four_digits():
    assert str(Interval(0.5, 0.25, 0.75, 0.95)) == "0.5000 [0.2500, 0.7500]"


def test_one_row_gives_one_point_or_a_clear_error():
    try:
        interval = bootstrap_interval(np.mean, np.array([2.0]), random_state=0)
    except SpinneyError:
        return
    assert interval.low == interval.high == 2.0
