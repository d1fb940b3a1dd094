"""Votes: by counting all outcomes, by linear programs, and numbers of the papers."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import betabinom

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, SpinneyError
from spinney.theory import majority_accuracy, majority_limits, vote_error
from spinney.theory.majority import _alike

FEW = settings(max_examples=50, deadline=None)


def by_counting(shares):
    """Add the chances of all patterns of right and wrong; a tie counts half."""
    total = Fraction(0)
    for pattern in product((0, 1), repeat=len(shares)):
        chance = Fraction(1)
        for right, share in zip(pattern, shares, strict=True):
            chance *= share if right else 1 - share
        total += chance * (Fraction(1, 2) if 2 * sum(pattern) == len(pattern) else 0)
        total += chance if 2 * sum(pattern) > len(pattern) else 0
    return total


def test_dietterichs_committee():
    """N28: 21 independent classifiers that err with a chance of 0.3, and 11 with 0.25."""
    assert 1 - majority_accuracy(0.7, 21) == pytest.approx(0.02639, abs=5e-6)
    assert 1 - majority_accuracy(0.75, 11) == pytest.approx(0.03433, abs=5e-6)
    assert majority_accuracy(0.6, 3) == pytest.approx(0.648, abs=1e-15)


@FEW
@given(st.lists(st.integers(0, 10), min_size=1, max_size=7))
def test_independent_voters_by_counting(tenths):
    exact = by_counting([Fraction(tenth, 10) for tenth in tenths])
    found = majority_accuracy([tenth / 10 for tenth in tenths])
    assert abs(found - float(exact)) <= 1e-12


@FEW
@given(st.integers(0, 20), st.integers(1, 9))
def test_alike_voters_are_a_case_of_different_ones(twentieths, n_voters):
    one, each = twentieths / 20, [twentieths / 20] * n_voters
    assert majority_accuracy(one, n_voters) == pytest.approx(majority_accuracy(each), abs=1e-12)


def test_condorcet():
    odd = range(1, 60, 2)
    good, bad = ([majority_accuracy(p, m) for m in odd] for p in (0.6, 0.4))
    assert (np.diff(good) > 0).all()
    assert (np.diff(bad) < 0).all()
    assert majority_accuracy(0.6, 10_001) == pytest.approx(1.0, abs=1e-12)
    assert [majority_accuracy(0.5, m) for m in (1, 2, 7)] == pytest.approx([0.5] * 3, abs=1e-14)


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("n_voters", [1, 2, 5, 20])
def test_correlated_voters_are_beta_binomial(rho, n_voters):
    p = 0.7
    a, b = p * (1 / rho - 1), (1 - p) * (1 / rho - 1)
    chances = _alike(p, n_voters, rho)
    np.testing.assert_allclose(
        chances, betabinom.pmf(np.arange(n_voters + 1), n_voters, a, b), atol=1e-11
    )
    k = np.arange(n_voters + 1)
    assert chances @ k == pytest.approx(p * n_voters, abs=1e-11)
    if n_voters > 1:  # the chance that two given voters are right, hence their correlation
        both = chances @ (k * (k - 1)) / (n_voters * (n_voters - 1))
        assert (both - p**2) / (p * (1 - p)) == pytest.approx(rho, abs=1e-11)


def test_correlation_at_its_ends():
    assert majority_accuracy(0.7, 21, correlation=1.0) == pytest.approx(0.7)
    assert majority_accuracy(0.7, 21, correlation=1e-13) == pytest.approx(
        majority_accuracy(0.7, 21), abs=1e-10
    )
    rates = [majority_accuracy(0.7, 21, correlation=rho) for rho in np.linspace(0, 1, 11)]
    assert (np.diff(rates) < 0).all()
    assert majority_accuracy(0.0, 3) == 0.0
    assert majority_accuracy(1.0, 4, correlation=0.3) == 1.0
    # Members without end do not help: the beta distribution above one half.
    from scipy.stats import beta

    limit = beta.sf(0.5, 0.7 * 4, 0.3 * 4)
    assert majority_accuracy(0.7, 4001, correlation=0.2) == pytest.approx(limit, abs=2e-4)


@pytest.mark.parametrize("n_voters", range(1, 9))
@pytest.mark.parametrize("accuracy", [0.0, 0.2, 0.5, 0.6, 0.85, 1.0])
def test_limits_are_those_of_a_linear_program(n_voters, accuracy):
    """Over all joint distributions: only the chances of k right votes matter."""
    k = np.arange(n_voters + 1)
    wins = np.where(2 * k > n_voters, 1.0, np.where(2 * k == n_voters, 0.5, 0.0))
    sides = {"A_eq": [np.ones(n_voters + 1), k], "b_eq": [1.0, n_voters * accuracy]}
    low, high = linprog(wins, **sides).fun, -linprog(-wins, **sides).fun
    assert majority_limits(accuracy, n_voters) == pytest.approx((low, high), abs=1e-9)


PATTERNS = {
    "success": (["110"] * 3 + ["101"] * 3 + ["011"] * 3 + ["000"], 0.9),
    "failure": (["111"] * 4 + ["100"] * 2 + ["010"] * 2 + ["001"] * 2, 0.4),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_of_kuncheva_reach_the_limits(name):
    """N23: three voters with 60 % each, 90 % or 40 % together."""
    rows, accuracy = PATTERNS[name]
    votes = np.array([[int(bit) for bit in row] for row in rows]).T
    found = vote_error(votes, np.ones(10, int))
    assert found.average == pytest.approx(0.4, abs=1e-15)
    assert 1 - found.vote == pytest.approx(accuracy, abs=1e-15)
    assert accuracy == pytest.approx(majority_limits(0.6, 3)[name == "success"])


@FEW
@given(st.integers(1, 5), st.integers(1, 8), st.integers(2, 4), st.data())
def test_good_and_bad_disagreement(n_members, n_rows, n_classes, data):
    label = st.integers(0, n_classes - 1)
    line = st.lists(label, min_size=n_rows, max_size=n_rows)
    votes = np.array(data.draw(st.lists(line, min_size=n_members, max_size=n_members)))
    y = np.array(data.draw(line))
    weights = data.draw(st.lists(st.integers(1, 4), min_size=n_members, max_size=n_members))
    found = vote_error(votes, y, weights=weights)
    assert abs(found.average - found.good + found.bad - found.vote) <= 1e-12
    winners = [
        np.argmax(
            [sum(w for w, v in zip(weights, column, strict=True) if v == k) for k in range(4)]
        )
        for column in votes.T
    ]
    assert found.vote == pytest.approx(np.mean(np.array(winners) != y), abs=1e-12)
    if n_classes == 2 and n_members % 2 and len(set(weights)) == 1:
        # Where the vote is wrong more than half are, and where it is right less than half.
        assert found.bad <= found.vote / 2
        assert found.good <= (1 - found.vote) / 2


def test_labels_are_what_the_user_has_and_ties_go_to_the_first():
    votes = [["yes", "no"], ["no", "no"]]
    assert vote_error(votes, ["no", "no"]).vote == 0.0
    assert vote_error(votes, ["yes", "no"]).vote == 0.5
    assert vote_error(votes, ["yes", "no"], weights=[2, 1]).vote == 0.0
    third = [0.1, 0.2, 0.3]  # 0.1 + 0.2 is not 0.3 in binary, and a tie all the same
    assert vote_error([[0], [0], [1]], [0], weights=third).vote == 0.0
    assert vote_error([[1], [1], [0]], [0], weights=third).vote == 0.0
    one = vote_error([[True, False]], [True, True])
    assert (one.average, one.vote, one.good, one.bad) == (0.5, 0.5, 0.0, 0.0)
    assert "vote of 1 voter on 2 rows" in str(one)
    assert one.to_frame()["quantity"].tolist()[-1] == "error of the vote"


def test_a_weight_is_a_repetition():
    rng = np.random.default_rng(0)
    votes, y, counts = rng.integers(0, 3, (5, 20)), rng.integers(0, 3, 20), rng.integers(0, 3, 20)
    short = vote_error(votes, y, sample_weight=counts)
    long = vote_error(np.repeat(votes, counts, axis=1), np.repeat(y, counts))
    for name in ("average", "vote", "good", "bad"):
        assert getattr(short, name) == pytest.approx(getattr(long, name), abs=1e-14)


@pytest.mark.parametrize(
    ("votes", "y", "words"),
    [
        ([1, 0], [1, 0], r"votes has the shape \(2,\)"),
        ([[1, 0]], [1, 0, 1], r"y has the shape \(3,\)"),
        ([["1", "0"]], [1, 0], "votes holds text and y numbers"),
        ([[1.0, math.nan]], [1.0, 0.0], r"votes\[0, 1\] is nan"),
        ([[1, None]], [1, 0], r"votes\[0, 1\] is None"),
        (np.array([["a", 1]], object), ["a", "b"], "both text and other labels"),
        ([[1j, 0]], [1, 0], "complex128"),
    ],
)
def test_hostile_votes(votes, y, words):
    with pytest.raises(SpinneyError, match=words):
        vote_error(votes, y)


def test_hostile_voters():
    with pytest.raises(InvalidParameter, match="n_voters=None"):
        majority_accuracy(0.7)
    with pytest.raises(InvalidParameter, match="n_voters=0"):
        majority_accuracy(0.7, 0)
    with pytest.raises(InvalidParameter, match=r"correlation=-0\.1"):
        majority_accuracy(0.7, 3, correlation=-0.1)
    with pytest.raises(InvalidParameter, match="independent voters"):
        majority_accuracy([0.7, 0.6], correlation=0.1)
    with pytest.raises(InvalidParameter, match="as many as there are numbers"):
        majority_accuracy([0.7, 0.6], 3)
    with pytest.raises(InvalidInput, match=r"accuracy\[0\] is 1.2"):
        majority_accuracy(1.2, 3)
    with pytest.raises(InvalidInputType):
        majority_accuracy("often", 3)
    with pytest.raises(InvalidParameter, match="accuracy=nan"):
        majority_limits(math.nan, 3)
