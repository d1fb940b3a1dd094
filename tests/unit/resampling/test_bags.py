"""Bags of trees: what each sampler promises, and the laws they share."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from spinney.errors import InvalidModel
from spinney.resampling.bags import Bags, Bootstrap
from spinney.resampling.bags_drawn import (
    BalancedBootstrap,
    BayesianBootstrap,
    BlockBootstrap,
    ClassBalancedBags,
    GroupBootstrap,
    StratifiedBootstrap,
    Subsample,
    WeighedBags,
)
from spinney.resampling.bags_recipe import SAMPLERS, BagRecipe

N = 500
LABELS = np.arange(N, dtype=np.int32) % 7


def recipe(sampler, **changes):
    known = {"n_rows": N, "seed": 3, "sampler": sampler, "n_draws": N, "block_length": 8}
    if sampler == "subsample":
        known["n_draws"] = 200
    if sampler in ("stratified", "group"):
        known["labels"] = LABELS
    return BagRecipe(**(known | changes))


@pytest.mark.parametrize("weights", [None, "whole", "any"])
@pytest.mark.parametrize("sampler", [None, *SAMPLERS])
def test_bag_is_a_function_of_seed_and_tree_alone(sampler, weights):
    rng = np.random.default_rng(0)
    given = {None: None, "whole": rng.integers(1, 4, N) + 0.0, "any": rng.random(N) + 0.1}[weights]
    made = recipe(sampler, weights=given).bags()
    again = recipe(sampler, weights=given).bags()
    assert np.array_equal(made.counts(range(4, 9))[1:3], again.counts(range(5, 7)))
    assert np.array_equal(made.given(range(4, 9))[1:3], again.given(range(5, 7)))
    other = recipe(sampler, weights=given, seed=4).bags()
    if sampler not in (None, "bayesian"):
        assert not np.array_equal(other.counts(range(3)), made.counts(range(3)))
        assert not np.array_equal(made.counts(range(1)), made.counts(range(1, 2)))
    for trees in (range(1), range(3, 7)):
        units = made.given(trees)
        assert not len(units) or int(units.sum(axis=1).max()) <= made.most
        assert made.most < 2**31


@pytest.mark.parametrize("sampler", [s for s in SAMPLERS if s != "bayesian"])
def test_rows_are_drawn_equally_often(sampler):
    counts = recipe(sampler).bags().counts(range(2000)).astype(float)
    shares = counts.mean(axis=0) / counts.mean()
    inner = slice(20, -20) if sampler == "block" else slice(None)  # ends are in fewer blocks
    assert np.abs(shares[inner] - shares[inner].mean()).max() < 0.2
    assert recipe(sampler).bags().leaves_rows_out
    assert (counts == 0).any()


def test_bootstrap_multiplicities_are_binomial():
    """Counts of a row are Binomial(n, 1/n): N29's share of rows left out is (1 - 1/n)^n."""
    counts = Bootstrap(N, N, seed=1).counts(range(400))
    assert (counts.sum(axis=1) == N).all()
    assert counts.mean() == 1.0
    assert counts.var() == pytest.approx(1 - 1 / N, rel=0.02)
    expected = stats.binom.pmf(np.arange(6), N, 1 / N) * counts.size
    found = np.bincount(counts.reshape(-1), minlength=6)[:6]
    assert (np.abs(found - expected) < 5 * np.sqrt(expected)).all()
    assert (counts == 0).mean() == pytest.approx((1 - 1 / N) ** N, abs=0.004)


def test_weights_are_chances_and_whole_weights_are_repetitions():
    weights = np.array([1.0, 3.0, 0.5, 5.5])
    counts = Bootstrap(4, 1000, seed=0, weights=weights).counts(range(200))
    assert counts.mean(axis=0) == pytest.approx(weights / weights.sum() * 1000, rel=0.02)
    whole = np.array([2.0, 1.0, 4.0])
    repeated = Bootstrap(7, 7, seed=5).counts(range(50))
    summed = np.add.reduceat(repeated, [0, 2, 3], axis=1)
    assert np.array_equal(Bootstrap(3, 7, seed=5, weights=whole).counts(range(50)), summed)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**64 - 1), st.data())
def test_subsample_has_no_repetitions(n_rows, seed, data):
    n_draws = data.draw(st.integers(1, n_rows))
    counts = Subsample(n_rows, n_draws, seed=seed).counts(range(5))
    assert counts.max() == 1
    assert (counts.sum(axis=1) == n_draws).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_block_bootstrap_is_made_of_blocks(n_rows, length, seed):
    counts = BlockBootstrap(n_rows, length, seed=seed).counts(range(3)).astype(int)
    assert (counts.sum(axis=1) == n_rows).all()
    begins = np.diff(counts, axis=1, prepend=0).clip(min=0).sum(axis=1)
    n_blocks = -(-n_rows // min(length, n_rows))
    assert begins.max() <= n_blocks


def test_groups_stay_together_and_strata_keep_their_size():
    counts = GroupBootstrap(LABELS, seed=0).counts(range(20))
    assert all(len(set(row[k == LABELS])) == 1 for row in counts for k in range(7))
    assert all(row[:7].sum() == 7 for row in counts)
    sizes = np.bincount(LABELS)
    for row in StratifiedBootstrap(LABELS, seed=0).counts(range(20)):
        assert np.array_equal(np.bincount(LABELS, row), sizes)


def test_balanced_bootstrap_counts_every_row_ten_times_in_ten_trees():
    bags = BalancedBootstrap(N, seed=2)
    for first in (0, 10, 70):
        assert (bags.counts(range(first, first + 10)).sum(axis=0) == 10).all()
    assert bags.counts(range(10)).var() == pytest.approx(1.0, abs=0.15)


def test_bayesian_weights_are_dirichlet():
    bags = BayesianBootstrap(N, seed=2)
    weights = bags.given(range(40)) / bags.unit
    assert weights.sum(axis=1) == pytest.approx(np.full(40, N), rel=1e-3)
    assert weights.min() > 0
    assert weights.var() == pytest.approx(1 - 2 / N, rel=0.05)  # of n times a Dirichlet share
    assert stats.kstest(weights.reshape(-1), "expon").statistic < 0.02
    assert not bags.leaves_rows_out


def test_factors_multiply_counts_and_whole_ones_exactly():
    inner = Bootstrap(N, N, seed=0)
    whole = np.arange(N) % 3 + 1.0
    bags = WeighedBags(inner, whole)
    assert bags.unit == 1
    assert np.array_equal(bags.given(range(3)), inner.counts(range(3)) * whole.astype(int))
    some = np.random.default_rng(0).random(N) + 0.5
    bags = WeighedBags(inner, some)
    wanted = inner.counts(range(3)) * some / some.mean()
    assert bags.given(range(3)) / bags.unit == pytest.approx(wanted, abs=0.01)


def test_classes_weigh_the_same_in_every_tree():
    classes = np.repeat([0, 1, 2], [400, 90, 10])
    bags = ClassBalancedBags(Bootstrap(N, N, seed=0), classes)
    for units, counts in zip(bags.given(range(9)), bags.counts(range(9)), strict=True):
        totals = np.bincount(classes, units) / bags.unit
        present = np.bincount(classes, counts) > 0
        assert totals[present] == pytest.approx(N / present.sum(), rel=1e-3)


def test_units_leave_room_for_native_sums():
    for most in (10, 10**6, 2**29):
        bags = ClassBalancedBags(Bags(most), np.zeros(1, int))
        assert bags.unit * most <= 2**30


def test_recipe_survives_its_state_and_refuses_others():
    for sampler in (None, *SAMPLERS):
        made = recipe(sampler, weights=np.linspace(1, 2, N))
        meta, arrays = made.to_state()
        again = BagRecipe.from_state(meta, arrays)
        assert np.array_equal(again.bags().counts(range(3)), made.bags().counts(range(3)))
    meta, arrays = recipe("group").to_state()
    for wrong in (
        {"n_rows": 0},
        {"n_rows": 2**40},
        {"n_rows": True},
        {"seed": -1},
        {"seed": 2**64},
        {"sampler": "all"},
        {"n_draws": -1},
        {"block_length": 0},
        {"more": 1},
    ):
        with pytest.raises(InvalidModel, match="missing or unknown"):
            BagRecipe.from_state(meta | wrong, arrays)
    for wrong in (
        {"labels": LABELS[:-1]},
        {"labels": LABELS.astype(np.int64)},
        {"labels": LABELS - 1},
        {"weights": np.full(N, np.nan)},
        {"weights": np.zeros(N)},
        {"other": LABELS},
    ):
        with pytest.raises(InvalidModel, match="missing or unknown"):
            BagRecipe.from_state(meta, arrays | wrong)
