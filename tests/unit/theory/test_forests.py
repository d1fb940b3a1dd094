"""Strength and correlation by their definitions; variances against brute force and targets."""

import math

import numpy as np
import pytest

from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory import forest_strength, forest_variance

RNG = np.random.default_rng(0)


def by_definition(votes, unseen, y, n_classes):
    """Breiman (2001), appendix II, in loops."""
    margins, rivals, rows = [], [], []
    for i in range(len(y)):
        asked = [votes[i, t] for t in range(votes.shape[1]) if unseen[i, t]]
        if not asked:
            continue
        shares = [asked.count(k) / len(asked) for k in range(n_classes)]
        others = [(share, -k) for k, share in enumerate(shares) if k != y[i]]
        rows.append(i)
        rivals.append(-max(others)[1])
        margins.append(shares[y[i]] - max(others)[0])
    deviations = []
    for t in range(votes.shape[1]):
        own = [(i, j) for i, j in zip(rows, rivals, strict=True) if unseen[i, t]]
        p1 = np.mean([votes[i, t] == y[i] for i, _ in own])
        p2 = np.mean([votes[i, t] == j for i, j in own])
        deviations.append(math.sqrt(p1 + p2 - (p1 - p2) ** 2))
    s = np.mean(margins)
    return s, np.var(margins) / np.mean(deviations) ** 2, np.mean(np.array(margins) < 0)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_strength_and_correlation_follow_their_definition(n_classes):
    y = RNG.integers(0, n_classes, 60)
    votes = np.where(RNG.random((60, 25)) < 0.6, y[:, None], RNG.integers(0, n_classes, (60, 25)))
    unseen = RNG.random((60, 25)) < 0.37
    found = forest_strength(votes, unseen, y)
    s, rho, error = by_definition(votes, unseen, y, n_classes)
    assert (found.strength, found.correlation, found.error) == pytest.approx((s, rho, error))
    assert found.bound == pytest.approx(rho * (1 - s**2) / s**2)
    assert found.ratio == pytest.approx(rho / s**2)


@pytest.mark.parametrize("seed", range(20))
def test_chebyshev_holds_on_the_rows(seed):
    """P(margin < 0) <= variance / strength², whatever the votes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 40)
    votes = np.where(rng.random((40, 15)) < 0.5, y[:, None], rng.integers(0, 3, (40, 15)))
    found = forest_strength(votes, rng.random((40, 15)) < 0.4, y)
    assert found.strength > 0
    assert found.error <= found.margin_variance / found.strength**2


def test_trees_that_agree_are_fully_correlated_and_perfect_trees_are_not_at_all():
    y = np.tile([0, 1], 30)
    one = np.where(RNG.random(60) < 0.8, y, 1 - y)
    same = forest_strength(np.tile(one[:, None], 10), np.ones((60, 10), bool), y)
    assert same.correlation == pytest.approx(1.0)
    right = forest_strength(np.tile(y[:, None], 10), np.ones((60, 10), bool), y)
    assert (right.strength, right.bound, right.error) == (1.0, 0.0, 0.0)
    wrong = forest_strength(np.tile(1 - y[:, None], 10), np.ones((60, 10), bool), y)
    assert wrong.bound == math.inf
    assert "Strength and correlation" in str(same)
    assert same.to_frame()["quantity"].tolist()[0] == "strength"


def test_weights_are_repetitions_of_rows():
    rng = np.random.default_rng(0)
    votes, y = rng.integers(0, 3, (40, 15)), rng.integers(0, 3, 40)
    unseen, weights = rng.random((40, 15)) < 0.4, rng.integers(0, 4, 40)
    rows = np.repeat(np.arange(40), weights)
    weighed = forest_strength(votes, unseen, y, weights)
    repeated = forest_strength(votes[rows], unseen[rows], y[rows])
    for name in ("strength", "correlation", "margin_variance", "tree_deviation", "error"):
        assert getattr(weighed, name) == pytest.approx(getattr(repeated, name)), name
    assert weighed.strength != forest_strength(votes, unseen, y).strength
    with pytest.raises(InvalidInput, match="no margins"):
        forest_strength(votes, unseen & (np.arange(40) > 0)[:, None], y, np.arange(40) == 0)


def test_votes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="do not fit"):
        forest_strength(np.zeros((3, 2)), np.ones((3, 3)), np.zeros(3))
    with pytest.raises(InvalidInput, match="out of its bag"):
        forest_strength(np.zeros((3, 2)), np.zeros((3, 2)), np.zeros(3))
    with pytest.raises(InvalidInput, match="one class"):
        forest_strength(np.zeros((3, 2)), np.ones((3, 2)), np.zeros(3))


def brute_infinitesimal(answers, counts):
    n_trees, n = counts.shape
    mean = answers.mean()
    total = 0.0
    for i in range(n):
        total += np.mean((counts[:, i] - counts[:, i].mean()) * (answers - mean)) ** 2
    return total, total - n / n_trees**2 * ((answers - mean) ** 2).sum()


def brute_jackknife(answers, counts):
    n_trees, n = counts.shape
    mean = answers.mean()
    total = sum((answers[counts[:, i] == 0].mean() - mean) ** 2 for i in range(n))
    raw = (n - 1) / n * total
    noise = (1 / (1 - 1 / n) ** n - 1) * n / n_trees**2
    return raw, raw - noise * ((answers - mean) ** 2).sum()


def test_variances_are_their_formulas():
    counts = RNG.multinomial(30, np.full(30, 1 / 30), size=80)
    answers = RNG.normal(size=(80, 3)) + counts[:, :3]
    for method, brute in (("infinitesimal", brute_infinitesimal), ("jackknife", brute_jackknife)):
        for corrected in (False, True):
            found = forest_variance(answers, counts, method=method, corrected=corrected)
            wanted = [max(brute(a, counts)[corrected], 0.0) for a in answers.T]
            assert found == pytest.approx(wanted, rel=1e-10)


def test_published_bias_of_a_bagged_mean():
    """Wager, Hastie and Efron (2014), N27: n = 50, 200 trees; raw ones are n v / B too high."""
    x = np.random.default_rng(4).normal(size=50)
    x *= math.sqrt(0.01459 * 50 / x.var())  # x.var() / n is the limit
    rng = np.random.default_rng(1)
    found = {}
    for method in ("infinitesimal", "jackknife"):
        for corrected in (False, True):
            runs = []
            for _ in range(150):
                counts = rng.multinomial(50, np.full(50, 0.02), size=200)
                said = (counts @ x / 50)[:, None]
                kind = {"method": method, "corrected": corrected}
                runs.append(forest_variance(said, counts, **kind)[0])
            found[method, corrected] = np.mean(runs)
    assert found["infinitesimal", False] == pytest.approx(0.0182, rel=0.05)
    assert found["infinitesimal", True] == pytest.approx(0.01459, rel=0.05)
    assert found["jackknife", False] == pytest.approx(0.0215, rel=0.05)
    assert found["jackknife", True] == pytest.approx(0.0149, rel=0.05)


def test_subsamples_of_a_mean_reach_the_variance_of_a_mean():
    """Wager and Athey (2018): with their factor the limit is that of s-row means, s² / n."""
    x = np.random.default_rng(4).normal(size=40)
    order = np.random.default_rng(2).random((2000, 40)).argsort(axis=1)
    counts = (order < 16).astype(int)
    said = (counts @ x / 16)[:, None]
    found = forest_variance(said, counts, replacement=False)[0]
    assert found == pytest.approx(x.var(ddof=1) / 40 * 39 / 40, rel=0.1)


def test_weights_stand_for_rows():
    weights = np.array([1, 3, 2])
    repeated = RNG.multinomial(6, np.full(6, 1 / 6), size=4000)
    together = np.add.reduceat(repeated, [0, 1, 4], axis=1)
    said = (together @ np.array([1.0, 5.0, -2.0]) / 6)[:, None]
    found = forest_variance(said, together, weights=weights)[0]
    assert found == pytest.approx(forest_variance(said, repeated)[0], rel=0.1)


def test_chances_give_the_variance_of_a_weighted_mean():
    """The delta method: of a mean with weights p it is the sum of p² (x - mean)²."""
    rng = np.random.default_rng(3)
    x, chances = rng.normal(size=40), rng.uniform(0.2, 3, 40)
    p = chances / chances.sum()
    counts = rng.multinomial(40, p, size=4000)
    said = (counts @ x / 40)[:, None]
    wanted = (p**2 * (x - p @ x) ** 2).sum()
    found = forest_variance(said, counts, chances=chances)[0]
    assert found == pytest.approx(wanted, rel=0.1)
    assert forest_variance(said, counts, chances=chances, corrected=False)[0] > found


def test_what_cannot_be_estimated_is_refused():
    counts = np.ones((4, 5), int)
    with pytest.raises(InvalidParameter, match="expected one of"):
        forest_variance(np.zeros((4, 1)), counts, method="bootstrap")
    with pytest.raises(InvalidInput, match="do not fit"):
        forest_variance(np.zeros((3, 1)), counts)
    with pytest.raises(InvalidInput, match="two trees"):
        forest_variance(np.zeros((1, 1)), counts[:1])
    with pytest.raises(InvalidParameter, match="with replacement"):
        forest_variance(np.zeros((4, 1)), counts, method="jackknife", replacement=False)
