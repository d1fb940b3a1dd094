"""The conformal quantile: exact ranks, weights as repetitions, groups, and what it refuses."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, kstest

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.uncertainty import conformal_quantile, conformal_rank, group_quantiles
from spinney.uncertainty.quantiles import Groups, few_enough

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail."""
LEVELS = st.sampled_from([0.05, 0.1, 0.5, 0.55, 0.7, 0.8, 0.9, 0.95, 0.99])
SCORES = st.lists(st.integers(0, 8), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("n", "level", "rank"),
    [(19, 0.9, 18), (9, 0.9, 9), (8, 0.9, 9), (19, 0.55, 11), (99, 0.07, 7), (10, 0.1, 2)],
)
def test_ranks_are_those_of_exact_arithmetic(n, level, rank):
    """0.55 * 20 is 11.000000000000002 in floats: its ceiling would be one too many."""
    assert conformal_rank(n, level) == rank


@PATIENT
@given(SCORES, LEVELS)
def test_quantile_is_the_score_of_its_rank_or_infinite(scores, level):
    rank = math.ceil(Fraction(str(level)) * (len(scores) + 1))
    expected = math.inf if rank > len(scores) else sorted(scores)[rank - 1]
    assert conformal_quantile(scores, level) == expected


@PATIENT
@given(SCORES.filter(lambda s: len(s) > 1), LEVELS)
def test_one_of_exchangeable_rows_is_covered_as_often_as_promised(scores, level):
    """Exact and without chance: each of n + 1 rows in turn is the new one.

    Covered are the rows up to the k-th smallest of all: k of n + 1 if no two are equal (which is
    checked with numbers 0, 1, 2, ... in their place), more with ties.
    """
    n = len(scores) - 1

    def covered(values):
        others = [values[:i] + values[i + 1 :] for i in range(len(values))]
        limits = [conformal_quantile(rest, level) for rest in others]
        return sum(value <= limit for value, limit in zip(values, limits, strict=True))

    rank = min(conformal_rank(n, level), n + 1)
    assert covered(scores) >= rank
    assert covered(list(range(n + 1))) == rank


def test_coverage_given_the_calibration_rows_has_its_beta_distribution():
    """Of uniform scores the quantile is the coverage itself: Beta(k, n + 1 - k).

    Kolmogorov-Smirnov with 2000 sets; seeded, and a p-value below 1e-6 would be a false alarm once
    in a million seeds.
    """
    n, level = 47, 0.9
    rank = conformal_rank(n, level)
    draws = np.random.default_rng(0).random((2000, n))
    found = [conformal_quantile(row, level) for row in draws]
    assert kstest(found, beta(rank, n + 1 - rank).cdf).pvalue > 1e-6
    assert kstest(found, beta(rank - 1, n + 2 - rank).cdf).pvalue < 1e-6  # one rank off is seen


@PATIENT
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1), LEVELS)
def test_weight_counts_as_repetition_and_zero_as_absence(rows, level):
    scores, weights = np.array(rows).T
    repeated = np.repeat(scores, weights)
    if len(repeated) == 0:
        with pytest.raises(InvalidInput):
            conformal_quantile(scores, level, sample_weight=weights)
        return
    assert conformal_quantile(scores, level, sample_weight=weights) == conformal_quantile(
        repeated, level
    )


@PATIENT
@given(SCORES, st.integers(0, 9), LEVELS)
def test_counting_lower_scores_is_comparing_with_the_quantile(scores, new, level):
    below = sum(score < new for score in scores)
    exact = Fraction(str(level))
    counted = few_enough(np.array(below), exact, None, len(scores))
    assert bool(counted) == (new <= conformal_quantile(scores, level))


def test_groups_have_the_quantile_of_their_own_rows():
    rng = np.random.default_rng(0)
    scores, groups = rng.random(60), rng.choice(["a", "b", "c"], 60)
    found = group_quantiles(scores, groups, 0.8)
    assert found == {g: conformal_quantile(scores[groups == g], 0.8) for g in "abc"}
    few = group_quantiles([1.0, 2.0], ["a", "b"], 0.8)
    assert few == {"a": math.inf, "b": math.inf}


@PATIENT
@given(st.lists(st.sampled_from("xyz"), min_size=1))
def test_groups_code_their_labels(labels):
    groups = Groups(labels)
    assert groups.labels[groups.codes].tolist() == labels
    assert np.array_equal(groups.codes_of(labels), groups.codes)


def test_unseen_group_is_refused_by_name():
    with pytest.raises(InvalidInput, match="Row 1 is of the group 'c'"):
        Groups(["a", "b"]).codes_of(["a", "c"])
    with pytest.raises(InvalidInput, match="group 7"):
        Groups([1, 2]).codes_of([7])
    with pytest.raises(InvalidInput, match="is of the group"):
        Groups(["a", "b"]).codes_of([1])
    with pytest.raises(InvalidInput, match="nan"):
        Groups([1.0, math.nan])
    for none in (None, math.nan):
        with pytest.raises(InvalidInput, match=rf"groups\[1\] is {none}: expected a label"):
            group_quantiles([1.0, 2.0], np.array(["a", none], dtype=object), 0.5)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, math.nan, math.inf, True, None, "0.9", [0.9]])
def test_level_outside_its_range_is_refused(level):
    with pytest.raises(InvalidParameter, match="level="):
        conformal_quantile([1.0, 2.0], level)


def test_scores_that_are_no_numbers_are_refused():
    for bad in ([], [[1.0]], [math.nan, 1.0], [math.inf]):
        with pytest.raises(InvalidInput):
            conformal_quantile(bad, 0.5)
    with pytest.raises(InvalidInputType):
        conformal_quantile(["a"], 0.5)
    with pytest.raises(InvalidInput, match="sample_weight"):
        conformal_quantile([1.0, 2.0], 0.5, sample_weight=[1.0])
    with pytest.raises(InvalidInput, match="groups has 1"):
        group_quantiles([1.0, 2.0], ["a"], 0.5)
