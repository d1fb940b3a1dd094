"""Poisson bags, pasting and draws of features: by definition, and as draws must be."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spinney.resampling.bags_recipe import BagRecipe
from spinney.resampling.bags_repeated import Pasting, PoissonBags, poisson_draws, repetitions
from spinney.resampling.feature_draws import FeatureDraws


def test_poisson_counts_have_the_frequencies_of_their_law():
    drawn = poisson_draws(3, range(200_000))
    counts = np.bincount(drawn, minlength=9)
    wanted = [math.exp(-1) / math.factorial(k) for k in range(8)]
    wanted.append(1 - sum(wanted))
    counts = np.r_[counts[:8], counts[8:].sum()]
    assert stats.chisquare(counts, np.array(wanted) * 200_000).pvalue > 1e-4


def test_ends_of_poisson_draws_are_those_of_the_distribution():
    from spinney.resampling.bags_repeated import _ENDS

    shares = _ENDS.astype(np.float64) / 2.0**64
    assert shares == pytest.approx(stats.poisson(1).cdf(np.arange(len(_ENDS))), abs=1e-15)


@given(cuts=st.lists(st.integers(1, 99), max_size=5), key=st.integers(0, 2**64 - 1))
def test_draws_do_not_depend_on_the_portions_in_which_rows_arrive(cuts, key):
    ends = [0, *sorted(cuts), 100]
    parts = [poisson_draws(key, range(a, b)) for a, b in itertools.pairwise(ends) if b > a]
    assert np.concatenate(parts).tolist() == poisson_draws(key, range(100)).tolist()


REPEATS = st.lists(st.integers(1, 4), min_size=1, max_size=12).map(np.array)


@given(repeats=REPEATS, seed=st.integers(0, 99), tree=st.integers(0, 5))
def test_a_row_of_weight_k_is_drawn_as_the_row_k_times(repeats, seed, tree):
    rows = np.repeat(np.arange(len(repeats)), repeats)
    for make in (
        lambda n, again: PoissonBags(n, seed=seed, repeats=again),
        lambda n, again: Pasting(n, (len(rows) + 1) // 2, seed=seed, repeats=again),
    ):
        together = make(len(repeats), repeats).count(tree)
        each = make(len(rows), None).count(tree)
        assert together.tolist() == np.bincount(rows, each, len(repeats)).tolist()


@given(repeats=REPEATS, seed=st.integers(0, 99), share=st.floats(0.1, 1.0))
def test_pasting_draws_as_many_as_asked_and_none_too_often(repeats, seed, share):
    n_draws = max(1, int(share * repeats.sum()))
    bags = Pasting(len(repeats), n_draws, seed=seed, repeats=repeats)
    counts = bags.counts(range(3))
    assert (counts.sum(axis=1) == n_draws).all()
    assert (counts <= repeats).all()
    assert bags.leaves_rows_out == (n_draws < repeats.sum())


def test_no_poisson_bag_is_empty():
    counts = PoissonBags(1, seed=0).counts(range(300))
    assert counts.min() == 1
    assert counts.max() > 1


def test_repetitions_are_whole_and_moderate():
    assert repetitions(None) is None
    assert repetitions(np.array([1.0, 2.5])) is None
    assert repetitions(np.array([1000.0, 1000.0])) is None
    assert repetitions(np.array([3.0, 1.0])).tolist() == [3, 1]


def test_recipes_of_weights_that_are_no_repetitions_weigh_the_draws():
    weights = np.array([0.5, 2.0, 1.0, 1.5])
    bags = BagRecipe(n_rows=4, seed=1, sampler="poisson", weights=weights).bags()
    plain = BagRecipe(n_rows=4, seed=1, sampler="poisson").bags()
    wanted = plain.counts(range(5)) * weights / weights.mean()
    assert bags.given(range(5)) / bags.unit == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("sampler", ["poisson", "pasting"])
def test_recipes_survive_their_state(sampler):
    weights = np.array([2.0, 1.0, 3.0])
    recipe = BagRecipe(n_rows=3, seed=5, sampler=sampler, n_draws=4, weights=weights)
    again = BagRecipe.from_state(*recipe.to_state())
    assert np.array_equal(again.bags().counts(range(9)), recipe.bags().counts(range(9)))


@given(
    n=st.integers(1, 12),
    share=st.floats(0.01, 1),
    seed=st.integers(0, 2**63),
    replace=st.booleans(),
)
def test_features_are_drawn_in_order_and_as_many_as_wanted(n, share, seed, replace):
    n_drawn = max(1, int(share * n))
    draws = FeatureDraws(n, n_drawn, seed, replace)
    drawn = draws.draw(4)
    assert len(drawn) == n_drawn
    assert (np.diff(drawn) >= (0 if replace else 1)).all()
    assert 0 <= drawn[0] <= drawn[-1] < n
    marks = draws.allowed(range(3, 6))
    if draws.takes_all:
        assert marks.size == 0
    else:
        assert np.flatnonzero(marks[1]).tolist() == sorted(set(drawn.tolist()))


@pytest.mark.parametrize("replace", [False, True])
def test_every_feature_is_equally_likely(replace):
    draws = FeatureDraws(5, 2, 7, replace)
    counts = np.bincount(np.concatenate([draws.draw(m) for m in range(5000)]), minlength=5)
    assert stats.chisquare(counts).pvalue > 1e-4
