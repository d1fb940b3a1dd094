"""Sets of classes against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reference.conformal import aps_score, aps_set, cross_set

from spinney.errors import InvalidInput, InvalidParameter
from spinney.uncertainty import PredictionSets, SetScore, conformal_sets, set_scores, sets
from spinney.uncertainty.checks import read_level
from spinney.uncertainty.sets import plus_members

PATIENT = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no reason to fail."""
RNG = np.random.default_rng(0)


def shares(n, k, rng=RNG):
    """Probabilities in steps of a 16th, so that sums are exact and ties occur."""
    cuts = np.sort(rng.integers(0, 17, (n, k - 1)), axis=1)
    return np.diff(np.column_stack([np.zeros(n), cuts, np.full(n, 16)]), axis=1) / 16


def with_tie(score, place):
    """A score on the grid, and the millionth of a millionth by which places break ties."""
    return score + place * 2.0**-52


@pytest.mark.parametrize("k", [2, 3, 6, 7, 12])
def test_scores_are_their_definitions(k):
    given_shares, labels, draws = shares(50, k), RNG.integers(0, k, 50), RNG.random(50)
    rows = list(zip(given_shares, labels, draws, strict=True))
    plain = set_scores(given_shares, labels)
    assert plain.tolist() == [with_tie(*aps_score(p, y)) for p, y, _ in rows]
    drawn = set_scores(given_shares, labels, draws=draws)
    assert drawn == pytest.approx([aps_score(p, y, u)[0] for p, y, u in rows])
    long = set_scores(given_shares, labels, method="raps", penalty=0.25, free=2)
    assert long == pytest.approx([aps_score(p, y, 0.0, 0.25, 2)[0] for p, y, _ in rows])
    whole = SetScore(including=True).of_labels(given_shares, labels)
    assert whole.tolist() == [aps_score(p, y, 1.0)[0] for p, y, _ in rows]
    alone = set_scores(given_shares, labels, method="lac")
    assert alone.tolist() == [1 - p[y] for p, y, _ in rows]


def test_both_ways_to_add_up_are_one():
    some = shares(200, 5)
    for one, two in zip(sets._by_pairs(some), sets._by_order(some), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_adaptive_sets_are_their_definition(level):
    calibration, labels, new = shares(30, 4), RNG.integers(0, 4, 30), shares(10, 4)
    scores = set_scores(calibration, labels)
    found = conformal_sets(new, scores, level).sets()
    assert found == [aps_set(calibration, labels, row, level) for row in new]


def votes(n, k, n_members, right, rng):
    """Classes, and shares of votes of members that are right so often, and wrong together."""
    y = rng.integers(0, k, n)
    other = (y + rng.integers(1, k, n)) % k
    is_hard = rng.random(n) > right
    shares_of = np.zeros((n, k))
    for member in range(n_members):
        said = np.where(is_hard & (rng.random(n) < (0.9 if member else 1.0)), other, y)
        shares_of[np.arange(n), said] += 1 / n_members
    return shares_of, y


@pytest.mark.parametrize(("k", "n_members"), [(2, 10), (3, 10), (10, 10), (10, 1)])
def test_sets_of_votes_are_small_where_most_scores_tie(k, n_members):
    # Nine rows in ten are sure of the right class: all that is before it is 0. Of the others,
    # which level=0.95 asks for, some have nothing left for their class.
    rng = np.random.default_rng(k)
    known, labels = votes(2000, k, n_members, 0.9, rng)
    new, truth = votes(2000, k, n_members, 0.9, rng)
    found = conformal_sets(new, set_scores(known, labels), 0.95)
    assert 0.93 < found.coverage(truth) <= 1.0
    assert found.size.min() >= 1
    whole = SetScore(including=True)
    before = conformal_sets(new, whole.of_labels(known, labels), 0.95, score=whole)
    assert before.mean_size == k  # which said nothing
    if n_members > 1:
        assert found.mean_size < 1.3
    elif k > 2:
        assert found.mean_size < 0.8 * k  # half of those who are wrong, by their places


def test_classes_that_nothing_is_left_for_go_by_their_places():
    shares_of = np.array([[0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    scores = SetScore()(shares_of)
    assert np.argsort(scores[0]).tolist() == [1, 0, 2, 3]
    assert (np.diff(np.sort(scores, axis=1)) > 0).all()
    assert scores.round(9).tolist() == [[1, 0, 1, 1], [0, 0.5, 1, 1]]
    many = SetScore()(np.full((1, 9000), 1 / 9000))  # more classes than ties have room for
    assert (np.diff(many[0]) > 0).all()


def test_scores_of_rows_without_an_answer_are_missing():
    for k in (3, 9):
        assert np.isnan(SetScore()(np.full((2, k), np.nan))).all()


@PATIENT
@given(st.integers(0, 1000), st.sampled_from(["aps", "raps", "lac"]))
def test_sets_grow_with_the_level(seed, method):
    rng = np.random.default_rng(seed)
    score = SetScore(method)
    scores = score.of_labels(shares(40, 3, rng), rng.integers(0, 3, 40))
    new = shares(8, 3, rng)
    small, large = (conformal_sets(new, scores, lv, score=score).members for lv in (0.6, 0.9))
    assert (small <= large).all()


def test_draws_of_zero_are_no_draws_and_others_make_scores_larger():
    calibration, labels, new = shares(60, 4), RNG.integers(0, 4, 60), shares(20, 4)
    score = SetScore("aps")
    assert np.array_equal(score(new), score(new, np.zeros(20)))
    assert (score(new, np.full(20, 0.5)) >= score(new)).all()
    scores = score.of_labels(calibration, labels, RNG.random(60))
    drawn = conformal_sets(new, scores, 0.8, draws=RNG.random(20))
    assert drawn.members.shape == (20, 4)


def test_each_class_has_a_limit_of_its_own():
    calibration, labels, new = shares(80, 2), RNG.integers(0, 2, 80), shares(10, 2)
    scores = set_scores(calibration, labels, method="lac")
    score = SetScore("lac")
    found = conformal_sets(new, scores, 0.9, score=score, score_classes=labels).members
    for code in (0, 1):
        own = conformal_sets(new, scores[labels == code], 0.9, score=score).members
        assert np.array_equal(found[:, code], own[:, code])


def test_class_without_calibration_rows_is_in_every_set():
    found = conformal_sets(
        [[0.9, 0.1, 0.0]], np.full(50, 0.5), 0.9, score_classes=np.zeros(50, int)
    )
    assert found.members[0].tolist() == [True, True, True]
    surer = conformal_sets(
        [[0.4, 0.6, 0.0]], np.full(50, 0.5), 0.9, score_classes=np.zeros(50, int)
    )
    assert surer.members[0].tolist() == [False, True, True]


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_cross_sets_are_their_definition_and_weights_repetitions(level):
    n, new, k = 15, 6, 3
    scores, left_out = RNG.random(n), RNG.random((new, n, k))
    exact = read_level(level)
    found = plus_members(scores, left_out, exact, None)
    expected = [cross_set(scores, left_out[row], level) for row in range(new)]
    assert [np.flatnonzero(row).tolist() for row in found] == expected
    weights = RNG.integers(0, 3, n).astype(float)
    times = weights.astype(int)
    again = plus_members(np.repeat(scores, times), np.repeat(left_out, times, axis=1), exact, None)
    assert np.array_equal(plus_members(scores, left_out, exact, weights), again)


def test_sets_say_what_they_hold():
    found = PredictionSets.of([[True, False, True], [False] * 3], ["a", "b", "c"], 0.9)
    assert found.sets() == [["a", "c"], []]
    assert found.covers(["c", "a"]).tolist() == [True, False]
    assert found.coverage(["c", "zebra"]) == 0.5
    assert found.coverage(["c", "a"], sample_weight=[1, 3]) == 0.25
    assert found.to_frame()["size"].tolist() == [2, 0]
    with pytest.raises(InvalidInput, match="y has the shape"):
        found.coverage(["c"])


def test_what_makes_no_sense_is_refused():
    with pytest.raises(InvalidParameter, match="Did you mean 'raps'"):
        SetScore("rasp")
    with pytest.raises(InvalidParameter, match="penalty"):
        SetScore("raps", penalty=-1)
    with pytest.raises(InvalidParameter, match="free"):
        SetScore("raps", free=0.5)
    with pytest.raises(InvalidParameter, match="including"):
        SetScore(including="own")
    with pytest.raises(InvalidInput, match="adds up to"):
        set_scores([[0.5, 0.6]], [0])
    with pytest.raises(InvalidInput, match="numbers from 0 to 1"):
        set_scores([[1.5, -0.5]], [0])
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        set_scores([[0.5, 0.5]], [2])
    with pytest.raises(InvalidInput, match="numbers of classes"):
        set_scores([[0.5, 0.5]], ["a"])
    with pytest.raises(InvalidInput, match="finite"):
        set_scores([[math.nan, 0.5]], [0])
    with pytest.raises(InvalidInput, match="draws"):
        set_scores([[0.5, 0.5]], [0], draws=[2.0])
    with pytest.raises(InvalidParameter, match="level=1"):
        conformal_sets([[0.5, 0.5]], [0.5], 1)
    with pytest.raises(InvalidInput, match="expected 2 names, one for each column"):
        conformal_sets([[0.5, 0.5]], [0.5], 0.5, classes=["a"])
