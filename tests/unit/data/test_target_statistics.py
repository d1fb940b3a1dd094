"""Ordered statistics against going through the rows one by one."""

import numpy as np
import pytest
from tests.reference.target_statistics import grid_of, statistics

from spinney.data.target_statistics import GROUPS, HALVES, PRIORS, StatisticGrid, TargetSums


def some_rows(seed, n_rows=300, n_levels=40):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_levels, n_rows)
    return codes, rng.normal(size=(n_rows, 2)), rng.integers(1, 4, n_rows).astype(float)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", ["not", "whole", "any"])
@pytest.mark.parametrize("number", [0, 3])
def test_rows_are_told_what_the_slow_twin_says(seed, weighted, number):
    codes, targets, weights = some_rows(seed)
    if weighted == "any":
        weights *= 0.3
    given = None if weighted == "not" else weights
    sums = TargetSums.of(targets, given, seed=seed).in_order(seed, number)
    told, of_levels = sums.at(codes, 50).before(), sums.at(codes, 50).of_levels()
    ones = np.ones(len(codes)) if given is None else given
    for k, (prior, target) in enumerate((p, t) for p in PRIORS for t in range(2)):
        slow, mean = statistics(
            codes, targets[:, target], ones, seed=seed, number=number, prior=prior
        )
        np.testing.assert_allclose(told[:, k], slow, rtol=1e-12, atol=1e-13)
        levels = [mean(code) for code in range(50)]
        np.testing.assert_allclose(of_levels[:, k], levels, rtol=1e-12, atol=1e-13)
    assert told.shape[1] == of_levels.shape[1] == 2 * len(PRIORS)


def test_no_row_is_told_its_own_target_or_those_behind_it():
    codes, targets, _ = some_rows(5)
    sums = TargetSums.of(targets, None, seed=1)
    told = sums.at(codes, 40).before()
    places = np.argsort(sums.order)
    for row in (3, 17, 299):
        # two rows swap their targets, so that the mean of all stays what it is
        later = max(np.flatnonzero(places > places[row]), key=places.__getitem__)
        other = targets.copy()
        other[[row, later]] = other[[later, row]]
        again = TargetSums.of(other, None, seed=1).at(codes, 40).before()
        before = places <= places[row]
        np.testing.assert_array_equal(again[before], told[before])
        behind = (places > places[row]) & (codes == codes[row])
        assert not behind.any() or not np.array_equal(again[behind], told[behind])


def test_levels_without_rows_are_told_the_mean_of_all_less_and_more():
    codes, targets, _ = some_rows(6)
    sums = TargetSums.of(targets, None, seed=0)
    told = sums.at(codes, 60).of_levels()[50]
    np.testing.assert_allclose(sums.mean, targets.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(sums.deviation, targets.std(axis=0), rtol=1e-13)
    np.testing.assert_allclose(told[:2], sums.mean, rtol=1e-13)
    np.testing.assert_allclose(told[2:4], sums.mean - sums.deviation, rtol=1e-13)
    np.testing.assert_allclose(told[4:], sums.mean + sums.deviation, rtol=1e-13)
    np.testing.assert_array_equal(sums.at(codes, 60).of_nothing(), told)
    assert sums.at(codes, 60).counts()[50] == 0


def test_a_whole_weight_is_a_repetition_in_all_that_is_told_of_levels():
    codes, targets, weights = some_rows(7)
    times = weights.astype(int)
    weighted = TargetSums.of(targets, weights, seed=0)
    repeated = TargetSums.of(np.repeat(targets, times, axis=0), None, seed=0)
    again = np.repeat(codes, times)
    assert weighted.mean.tobytes() == repeated.mean.tobytes()
    assert weighted.deviation.tobytes() == repeated.deviation.tobytes()
    for one, other in (
        (weighted.at(codes, 40).of_levels(), repeated.at(again, 40).of_levels()),
        (weighted.at(codes, 40).counts(), repeated.at(again, 40).counts()),
    ):
        assert one.tobytes() == other.tobytes()


def test_a_weighted_row_is_told_what_copies_are_that_do_not_see_each_other():
    codes, targets, weights = some_rows(8, 80, 6)
    sums = TargetSums.of(targets, weights, seed=3)
    told = sums.at(codes, 6).before()
    for row in range(80):
        place = np.flatnonzero(sums.order == row)[0]
        earlier = [r for r in sums.order[:place] if codes[r] == codes[row]]
        copies = np.repeat(earlier, weights[earlier].astype(int)) if earlier else []
        mean = ((targets[copies].sum(axis=0) if len(copies) else 0.0) + sums.mean) / (
            len(copies) + 1
        )
        np.testing.assert_allclose(told[row][:2], mean, rtol=1e-12, atol=1e-13)


def test_the_order_depends_on_the_seed_and_on_nothing_else():
    _, targets, _ = some_rows(9)
    orders = [
        TargetSums.of(t, None, seed=s).order
        for t, s in ((targets, 0), (targets * 3, 0), (targets, 1))
    ]
    assert np.array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])


def test_targets_of_any_size_are_summed():
    codes, targets, _ = some_rows(10)
    for scale in (1e-300, 1e300):
        sums = TargetSums.of(targets * scale, None, seed=0)
        unit = TargetSums.of(targets, None, seed=0)
        np.testing.assert_allclose(
            sums.at(codes, 40).before() / scale, unit.at(codes, 40).before(), rtol=1e-9, atol=1e-12
        )


def test_a_constant_target_is_told_as_it_is():
    codes, targets, _ = some_rows(11)
    told = TargetSums.of(np.full_like(targets, 0.1), None, seed=0).at(codes, 40).before()
    np.testing.assert_allclose(told, 0.1, rtol=1e-15)


def test_orders_of_a_seed_differ():
    _, targets, _ = some_rows(12)
    first = TargetSums.of(targets, None, seed=0)
    orders = [first.order, *(first.in_order(0, number).order for number in (1, 2))]
    assert np.array_equal(first.in_order(0, 0).order, first.order)
    assert not any(np.array_equal(orders[a], orders[b]) for a, b in ((0, 1), (0, 2), (1, 2)))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_levels", [3, 40, 250])
def test_statistics_are_rounded_to_those_of_equal_shares_of_the_rows(seed, n_levels):
    codes, targets, weights = some_rows(seed, 600, n_levels)
    sums = TargetSums.of(targets, weights, seed=seed).at(codes, n_levels)
    grid, of_levels = StatisticGrid.of(sums), sums.of_levels()
    heavy = np.bincount(codes, weights, n_levels)
    rounded = grid.rounded(of_levels)
    for k, values in enumerate(grid.values):
        assert values.tolist() == grid_of(of_levels[:, k], heavy, GROUPS, HALVES)
        nearest = [
            min(values, key=lambda value, own=own: abs(value - own)) for own in of_levels[:, k]
        ]
        np.testing.assert_allclose(
            abs(rounded[:, k] - of_levels[:, k]), abs(nearest - of_levels[:, k]), atol=1e-15
        )


def test_a_weight_is_a_repetition_for_the_grid():
    codes, targets, weights = some_rows(13)
    times = weights.astype(int)
    one = TargetSums.of(targets, weights, seed=0).at(codes, 40)
    other = TargetSums.of(np.repeat(targets, times, axis=0), None, seed=5)
    grids = [StatisticGrid.of(one), StatisticGrid.of(other.at(np.repeat(codes, times), 40))]
    for a, b in zip(grids[0].values, grids[1].values, strict=True):
        assert a.tobytes() == b.tobytes()
