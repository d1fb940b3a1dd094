"""Diversity: the numbers of Kuncheva and Whitaker, definitions in fractions, identities."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.errors import SpinneyError
from spinney.theory import diversity, vote_error

FEW = settings(max_examples=80, deadline=None)
PATTERNS = {
    "success": ["110"] * 3 + ["101"] * 3 + ["011"] * 3 + ["000"],
    "failure": ["111"] * 4 + ["100"] * 2 + ["010"] * 2 + ["001"] * 2,
}
PUBLISHED = {  # N23
    "success": {
        "q_statistic": -0.5,
        "disagreement": 0.6,
        "kohavi_wolpert": 0.2,
        "kappa": -0.25,
        "entropy": 0.9,
        "difficulty": 0.04,
    },
    "failure": {
        "q_statistic": 1 / 3,
        "disagreement": 0.4,
        "kohavi_wolpert": 2 / 15,
        "kappa": 1 / 6,
        "entropy": 0.6,
        "difficulty": 8 / 75,
    },
}


def oracle(rows):
    return np.array([[bit == "1" for bit in row] for row in rows]).T


@st.composite
def oracles(draw):
    n_members, n_rows = draw(st.integers(2, 6)), draw(st.integers(1, 9))
    line = st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)
    return np.array(draw(st.lists(line, min_size=n_members, max_size=n_members)))


def in_fractions(right):
    """The overall measures by the definitions of the paper, exactly; None: divides by 0."""
    n_members, n_rows = right.shape
    counts = right.sum(axis=0).tolist()
    p = Fraction(int(right.sum()), n_members * n_rows)
    pairs = [
        [
            Fraction(int(((one == i) & (other == j)).sum()), n_rows)
            for i, j in ((1, 1), (1, 0), (0, 1), (0, 0))
        ]
        for one, other in combinations(right, 2)
    ]
    qs = [(a * d - b * c) / (a * d + b * c) for a, b, c, d in pairs if a * d + b * c]
    wrong = [
        Fraction(sum(n_members - k == i for k in counts), n_rows) for i in range(n_members + 1)
    ]
    once = sum(Fraction(i, n_members) * w for i, w in enumerate(wrong))
    twice = sum(Fraction(i * (i - 1), n_members * (n_members - 1)) * w for i, w in enumerate(wrong))
    split = sum(k * (n_members - k) for k in counts)
    mean = Fraction(sum(counts), n_rows * n_members)
    half = n_members - math.ceil(n_members / 2)
    chance = n_members * n_rows * (n_members - 1) * p * (1 - p)
    spread = [Fraction(k, n_members) - mean for k in counts]
    apart = sum(Fraction(n_members - i, n_members - 1) * w for i, w in enumerate(wrong) if i)
    return {
        "q_statistic": sum(qs) / len(qs) if qs else None,
        "disagreement": sum(b + c for _, b, c, _ in pairs) / len(pairs),
        "double_fault": sum(d for *_, d in pairs) / len(pairs),
        "kohavi_wolpert": Fraction(split, n_rows * n_members**2),
        "kappa": 1 - split / chance if chance else None,
        "entropy": Fraction(sum(min(k, n_members - k) for k in counts), n_rows * half),
        "difficulty": sum(s**2 for s in spread) / n_rows,
        "generalised": 1 - twice / once if once else None,
        "coincident_failure": apart / (1 - wrong[0]) if wrong[0] < 1 else Fraction(0),
    }


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_of_success_and_of_failure(name):
    found = diversity(oracle(PATTERNS[name]))
    for measure, published in PUBLISHED[name].items():
        assert getattr(found, measure) == pytest.approx(published, abs=1e-12), measure
    assert found.accuracies.tolist() == pytest.approx([0.6] * 3)


@FEW
@given(oracles())
def test_measures_are_their_definitions(right):
    found = diversity(right)
    for measure, exact in in_fractions(right).items():
        value = getattr(found, measure)
        if exact is None:
            assert math.isnan(value), measure
        else:
            assert abs(value - float(exact)) <= 1e-12, measure


@FEW
@given(oracles())
def test_identities(right):
    """Identity 32, exactly in fractions and to 1e-12 in floating point."""
    exact, n = in_fractions(right), len(right)
    p = Fraction(int(right.sum()), right.size)
    assert exact["kohavi_wolpert"] == Fraction(n - 1, 2 * n) * exact["disagreement"]
    assert exact["difficulty"] == p * (1 - p) - exact["kohavi_wolpert"]
    if exact["kappa"] is not None:
        assert exact["kappa"] == 1 - exact["disagreement"] / (2 * p * (1 - p))
    if exact["generalised"] is not None:
        assert exact["generalised"] == 1 - exact["double_fault"] / (1 - p)
    # Of two members one is wrong where they disagree, and both at a double fault.
    assert exact["disagreement"] == 2 * (1 - p - exact["double_fault"])
    found = diversity(right)
    assert abs(found.kohavi_wolpert - (n - 1) / (2 * n) * found.disagreement) <= 1e-12
    spread = found.accuracy * (1 - found.accuracy)
    assert abs(found.difficulty + found.kohavi_wolpert - spread) <= 1e-12
    if spread > 0:
        assert abs(found.kappa - (1 - found.disagreement / (2 * spread))) <= 1e-11


@FEW
@given(oracles())
def test_pairs_are_symmetric_and_correlate_as_numpy_says(right):
    found = diversity(right)
    for matrix in (found.disagreements, found.q_statistics, found.correlations, found.kappas):
        np.testing.assert_array_equal(matrix, matrix.T)
    varied = right.any(axis=1) & ~right.all(axis=1)
    if varied.sum() > 1:
        slow = np.corrcoef(right[varied].astype(float))
        np.testing.assert_allclose(found.correlations[np.ix_(varied, varied)], slow, atol=1e-12)
    assert np.isnan(found.correlations[~varied]).all()


def test_kappa_of_a_pair_is_cohens():
    from sklearn.metrics import cohen_kappa_score

    right = np.random.default_rng(0).random((4, 50)) < 0.6
    found = diversity(right)
    for i, j in combinations(range(4), 2):
        assert found.kappas[i, j] == pytest.approx(cohen_kappa_score(right[i], right[j]), abs=1e-12)


def test_independent_members_are_at_zero():
    right = np.random.default_rng(1).random((5, 100_000)) < 0.7
    found = diversity(right)
    assert abs(found.q_statistic) < 0.02
    assert abs(found.correlation) < 0.01
    assert abs(found.kappa) < 0.01
    assert found.double_fault == pytest.approx(0.09, abs=0.005)
    assert found.generalised == pytest.approx(0.7, abs=0.01)


def test_a_copy_adds_no_diversity():
    one = np.array([True, True, False, True, False])
    found = diversity(np.stack([one, one, one]))
    assert (found.disagreement, found.kohavi_wolpert, found.entropy) == (0.0, 0.0, 0.0)
    assert (found.q_statistic, found.coincident_failure) == (1.0, 0.0)
    assert found.generalised == pytest.approx(0.0, abs=1e-15)
    assert found.correlation == pytest.approx(1.0)
    assert found.kappa == pytest.approx(1.0)


def test_what_divides_by_zero_is_not_a_number():
    perfect = diversity(np.ones((3, 4), bool))
    assert math.isnan(perfect.q_statistic)
    assert math.isnan(perfect.correlation)
    assert math.isnan(perfect.kappa)
    assert math.isnan(perfect.generalised)
    assert (perfect.coincident_failure, perfect.disagreement) == (0.0, 0.0)
    assert "nan" in str(perfect)
    # Seventeen rows: 1/17 added seventeen times is not 1, and members are perfect all the same.
    assert math.isnan(diversity(np.ones((2, 17), bool)).correlation)


def test_labels_or_what_is_right():
    rng = np.random.default_rng(2)
    y = rng.choice(["ash", "elm", "oak"], 60)
    votes = np.where(rng.random((4, 60)) < 0.7, y, "elm")
    by_labels, by_rights = diversity(votes, y), diversity(votes == y)
    assert str(by_labels) == str(by_rights)
    np.testing.assert_array_equal(by_labels.both_wrong, by_rights.both_wrong)
    assert by_labels.accuracy == pytest.approx(1 - vote_error(votes, y).average)


def test_a_weight_is_a_repetition():
    rng = np.random.default_rng(3)
    right, counts = rng.random((4, 30)) < 0.6, rng.integers(0, 4, 30)
    short = diversity(right, sample_weight=counts)
    long = diversity(np.repeat(right, counts, axis=1))
    for measure, value in zip(*list(short.columns().values())[:2], strict=True):
        other = dict(zip(*list(long.columns().values())[:2], strict=True))[measure]
        assert value == pytest.approx(other, abs=1e-13), measure


@pytest.mark.parametrize(
    ("votes", "y", "words"),
    [
        ([[True, False]], None, "votes has 1 member"),
        ([[1, 0]], [1, 0], "votes has 1 member"),
        ([True, False], None, r"votes has the shape \(2,\)"),
        ([[1, 0], [1, 1]], None, "there is no y"),
        ([["a", "b"], ["a", "b"]], None, "there is no y"),
        ([[1, 0], [1, 1]], [1], r"y has the shape \(1,\)"),
        ([[1, 0], [1, 1]], ["1", "0"], "text"),
        ([[1.0, math.nan], [1.0, 1.0]], [1.0, 1.0], r"votes\[0, 1\] is nan"),
        ([[1.0, 0.0], [1.0, 1.0]], [1.0, math.nan], r"y\[1\] is nan"),
        (np.empty((2, 0), bool), None, r"\(2, 0\)"),
    ],
)
def test_hostile_votes(votes, y, words):
    with pytest.raises(SpinneyError, match=words):
        diversity(votes, y)
    with pytest.raises(SpinneyError, match="sample_weight"):
        diversity([[True], [False]], sample_weight=[0.0])
