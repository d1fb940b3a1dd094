"""Weights of rows under exponential loss: exact sums, and no bit that order or threads decide."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax

from spinney._native import _ext
from spinney.errors import InvalidInput
from spinney.losses.row_weights import MarginWeights, RowCounts, RowWeights, Vote

few = settings(max_examples=50, deadline=None, derandomize=True)
INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]


@st.composite
def problems(draw):
    """Margins of any size, and how often rows count: once, some times, or by fractions."""
    n_rows = draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([0.0, 1.0, 30.0, 1e4]))
    margins = rng.normal(size=n_rows) * scale + draw(st.sampled_from([0.0, -500.0, 1e5]))
    weights = {
        "once": np.ones(n_rows),
        "whole": rng.integers(1, 9, n_rows).astype(float),
        "parts": rng.random(n_rows) + 0.01,
    }[draw(st.sampled_from(["once", "whole", "parts"]))]
    return margins, weights


@few
@given(problems())
def test_distribution_is_the_softmax(problem):
    margins, weights = problem
    D = MarginWeights(margins, RowCounts(weights)).distribution
    expected = softmax(-margins + np.log(weights))
    # The logarithm of the weights costs a rounding; the rest is the last bit of exp and division
    np.testing.assert_allclose(D, expected, rtol=4e-15 * (1 + np.abs(margins).max()), atol=1e-15)
    assert D.sum() == pytest.approx(1.0, abs=1e-15 * len(D) + 1e-15)
    assert (D >= 0).all()


@few
@given(problems())
def test_mean_exponential_is_exact(problem):
    margins, weights = problem
    mean = MarginWeights(margins, RowCounts(weights))
    log_mean = logsumexp(-margins, b=weights) - math.log(weights.sum())
    assert mean.log_mean_exp == pytest.approx(log_mean, abs=1e-9 * (1 + abs(log_mean)))
    if abs(log_mean) < 700:
        assert mean.mean_exp == pytest.approx(math.exp(log_mean), rel=1e-9)


@few
@given(problems(), st.integers(0, 2**32))
def test_order_and_threads_do_not_matter(problem, seed):
    margins, weights = problem
    rng = np.random.default_rng(seed)
    order, chosen = rng.permutation(len(margins)), rng.random(len(margins)) < 0.5
    given_order = MarginWeights(margins, RowCounts(weights))
    other = MarginWeights(margins[order], RowCounts(weights[order], n_threads=3))
    assert given_order.distribution[order].tobytes() == other.distribution.tobytes()
    assert given_order.whole[order].tolist() == other.whole.tolist()
    assert given_order.mean_exp == other.mean_exp
    assert given_order.share_of(chosen) == other.share_of(chosen[order])


@few
@given(problems())
def test_a_weight_of_three_is_three_rows(problem):
    margins, _ = problem
    counts = np.arange(len(margins)) % 3 + 1.0
    copies = np.repeat(np.arange(len(margins)), counts.astype(int))
    weighted = MarginWeights(margins, RowCounts(counts))
    repeated = MarginWeights(margins[copies], RowCounts(np.ones(len(copies))))
    assert weighted.mean_exp == repeated.mean_exp
    chosen = np.arange(len(margins)) % 2 == 0
    assert weighted.share_of(chosen) == repeated.share_of(chosen[copies])
    assert weighted.whole.tolist() == np.bincount(copies, repeated.whole).astype(int).tolist()
    np.testing.assert_allclose(
        weighted.distribution, np.bincount(copies, repeated.distribution), rtol=1e-15
    )


@few
@given(problems())
def test_shares_add_up_without_a_rounding(problem):
    margins, weights = problem
    rows = MarginWeights(margins, RowCounts(weights))
    chosen = np.arange(len(margins)) % 3 == 0
    parts = Fraction(rows.share_of(chosen)) + Fraction(rows.share_of(~chosen))
    assert abs(parts - 1) <= Fraction(1, 2**52)
    assert rows.share_of(np.ones(len(margins), bool)) == 1.0
    assert rows.share_of(np.zeros(len(margins), bool)) == 0.0
    assert rows.share_of(chosen) == pytest.approx(rows.distribution[chosen].sum(), abs=1e-14)


@few
@given(problems())
def test_whole_numbers_stand_in_the_ratio_of_the_weights(problem):
    margins, weights = problem
    rows = MarginWeights(margins, RowCounts(weights))
    assert (rows.whole >= 0).all()
    assert rows.whole.max() > 0
    ratio = rows.whole / rows.whole.sum()
    np.testing.assert_allclose(ratio, rows.distribution, atol=len(margins) * 2.0**-29)


def test_a_hundred_thousand_rounds_do_not_underflow():
    """Margins grow like sums of logarithms; their differences are what counts."""
    margins = 1e5 * 0.3 + np.linspace(-5, 5, 11)
    rows = MarginWeights(margins, RowCounts(np.ones(11)))
    np.testing.assert_allclose(rows.distribution, softmax(-np.linspace(-5, 5, 11)), rtol=1e-10)
    assert rows.mean_exp == 0.0  # beyond the range of floats, and no error
    far = MarginWeights(-margins, RowCounts(np.ones(11)))
    np.testing.assert_allclose(far.distribution.sum(), 1.0, rtol=1e-15)


def test_margins_below_the_range_of_exp_give_infinite_loss():
    rows = MarginWeights(np.full(3, -1e4), RowCounts(np.ones(3)))
    np.testing.assert_array_equal(rows.distribution, 1 / 3)
    assert rows.mean_exp == math.inf


@pytest.mark.parametrize("kind", ["once", "whole", "parts"])
def test_instruction_sets_and_threads_give_the_same_bytes(kind):
    rng = np.random.default_rng(0)
    margins = rng.normal(size=30_001) * 20
    weights = {
        "once": np.ones(30_001),
        "whole": rng.integers(1, 5, 30_001).astype(float),
        "parts": rng.random(30_001) + 1e-3,
    }[kind]
    chosen, before, seen = rng.random(30_001) < 0.3, _ext.active_isa(), set()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            for n_threads in (1, 2, 3, 7):
                rows = MarginWeights(margins, RowCounts(weights, n_threads=n_threads))
                content = rows.distribution.tobytes() + rows.whole.tobytes()
                seen.add((content, rows.mean_exp, rows.share_of(chosen)))
    finally:
        _ext.use_isa(before)
    assert len(seen) == 1


def test_counts_tell_repetitions_from_fractions():
    assert len(RowCounts(np.ones(3)).repetitions) == 0
    assert len(RowCounts(np.ones(3)).factors) == 0
    assert RowCounts(np.array([1.0, 3.0])).repetitions.tolist() == [1, 3]
    parts = RowCounts(np.array([0.5, 2.0]))
    assert parts.factors.tolist() == [0.25, 1.0]
    assert parts.total == 2.5
    assert len(RowCounts(np.array([2.0**31, 1.0])).repetitions) == 0  # more rows no table has


@few
@given(problems())
def test_a_given_distribution_is_rounded_for_one_repetition(problem):
    margins, weights = problem
    D = softmax(-margins / (1 + np.abs(margins).max()) + np.log(weights))
    rows = RowWeights(D, RowCounts(weights))
    np.testing.assert_array_equal(rows.distribution, D)
    np.testing.assert_allclose(rows.whole / rows.whole.sum(), D, atol=len(D) * 2.0**-29)
    if np.array_equal(weights, np.rint(weights)):
        assert (rows.whole % weights.astype(int) == 0).all()


@few
@given(problems(), st.integers(0, 2**32), st.floats(-3, 3), st.floats(-3, 3))
def test_a_vote_in_the_same_pass_is_a_vote_before_it(problem, seed, if_right, if_wrong):
    margins, weights = problem
    right = np.random.default_rng(seed).random(len(margins)) < 0.7
    signs = np.where(np.random.default_rng(seed + 1).random(len(margins)) < 0.5, 1, -1)
    counts = RowCounts(weights)
    together = MarginWeights(margins, counts, signs=signs.astype(np.int8))
    before = together.distribution
    verdict = together.judge(right)
    assert verdict.error == pytest.approx(before[~right].sum(), abs=1e-13)
    moved = margins + np.where(right, if_right, if_wrong)
    vote = verdict.vote(if_right, if_wrong)
    assert vote.least == moved.min()
    together.move(vote)
    apart = MarginWeights(moved, counts)
    assert margins.tobytes() == moved.tobytes()  # moved in place
    assert together.distribution.tobytes() == apart.distribution.tobytes()
    assert together.mean_exp == apart.mean_exp
    assert together.whole.tolist() == apart.whole.tolist()
    if together.cells is None:
        assert len(counts.repetitions) > 0
    else:
        ones = MarginWeights(moved, counts, signs=np.ones(len(signs), np.int8)).cells
        assert together.cells.signed.tolist() == (signs * ones.signed).tolist()
        assert together.cells.total == ones.signed.sum() == ones.total
        np.testing.assert_allclose(ones.signed / ones.total, apart.distribution, atol=1e-7)


@few
@given(problems(), st.integers(0, 2**32))
def test_the_opposite_of_a_voter_is_wrong_where_it_is_right(problem, seed):
    margins, weights = problem
    right = np.random.default_rng(seed).random(len(margins)) < 0.7
    rows = MarginWeights(margins, RowCounts(weights))
    reversed_, opposite = rows.judge(right).reversed(), rows.judge(~right)
    assert reversed_.error == pytest.approx(opposite.error, abs=1e-15)
    assert reversed_.least_right == opposite.least_right
    assert reversed_.least_wrong == opposite.least_wrong
    assert reversed_.right.tolist() == opposite.right.tolist()


def test_arrays_of_other_lengths_are_refused():
    rows = MarginWeights(np.zeros(3), RowCounts(np.ones(3)))
    with pytest.raises(InvalidInput, match="differ in length"):
        rows.judge(np.ones(2, bool))
    with pytest.raises(InvalidInput, match="differ in length"):
        rows.move(Vote(np.ones(2, bool), 0.1, -0.1, -0.1))
    with pytest.raises(InvalidInput, match="differ in length"):
        MarginWeights(np.zeros(3), RowCounts(np.ones(3)), signs=np.ones(2, np.int8))
