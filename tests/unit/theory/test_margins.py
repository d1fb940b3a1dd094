"""Margins of two and of many classes, their distribution, and distances that they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, SpinneyError
from spinney.theory import (
    binary_margins,
    dual_exponent,
    dual_norm,
    lq_distance,
    margin_distribution,
    nearest_on_plane,
    vote_margins,
)

FEW = settings(max_examples=30, deadline=None)


def test_two_votes_per_row_give_the_binary_margin():
    rng = np.random.default_rng(0)
    alphas, says = rng.uniform(0, 2, 7), rng.choice([-1, 1], (50, 7))
    y = rng.choice([-1, 1], 50)
    binary = binary_margins(y, says @ alphas, alphas)
    np.testing.assert_allclose(binary, y * (says @ alphas) / alphas.sum(), rtol=1e-14)
    votes = np.stack([((says == side) * alphas).sum(axis=1) for side in (-1, 1)], axis=1)
    np.testing.assert_allclose(vote_margins(y, votes), binary, atol=1e-12)
    # Neither the scale of the votes nor a second copy of the whole vote changes a margin.
    np.testing.assert_allclose(binary_margins(y, 3 * says @ alphas, 3 * alphas), binary)
    twice = binary_margins(y, 2 * says @ alphas, np.tile(alphas, 2))
    np.testing.assert_allclose(twice, binary)


def test_labels_are_what_the_user_has():
    scores, alphas = [1.0, -1.0], [2.0]
    assert binary_margins([1, 0], scores, alphas).tolist() == [0.5, 0.5]
    assert binary_margins([True, False], scores, alphas).tolist() == [0.5, 0.5]
    assert binary_margins(["b", "a"], scores, alphas).tolist() == [0.5, 0.5]
    assert binary_margins(["b", "a"], scores, alphas, classes=["b", "a"]).tolist() == [-0.5] * 2
    assert binary_margins([1, 1], scores, alphas).tolist() == [0.5, -0.5]
    assert binary_margins(["b", "b"], scores, alphas, classes="ab").tolist() == [0.5, -0.5]


def test_a_negative_alpha_counts_by_its_size():
    assert binary_margins([1, -1], [1.0, -3.0], [-2.0, 2.0]).tolist() == [0.25, 0.75]


def test_a_multi_class_margin_is_positive_just_where_the_vote_is_right():
    rng = np.random.default_rng(1)
    votes = rng.dirichlet(np.ones(4), 200)
    y = rng.integers(0, 4, 200)
    margins = vote_margins(y, 17 * votes)
    assert ((margins > 0) == (votes.argmax(axis=1) == y)).all()
    slow = [votes[i, y[i]] - max(np.delete(votes[i], y[i])) for i in range(200)]
    np.testing.assert_allclose(margins, slow, atol=1e-12)
    assert vote_margins([0], [[0.0, 3.0]], classes=[0, 1]).tolist() == [-1.0]
    assert vote_margins([0], [[2.0, 2.0]], classes=[0, 1]).tolist() == [0.0]


@FEW
@given(st.lists(st.integers(-8, 8), min_size=1, max_size=30), st.integers(0, 8))
def test_the_distribution_counts(eighths, tenth):
    margins = np.array(eighths) / 8
    found = margin_distribution(margins)
    for theta in (-1.0, -0.25, 0.0, 0.125, 1.0):
        assert found.cdf(theta) == pytest.approx((margins <= theta).mean(), abs=1e-12)
    assert found.minimum == margins.min() == found.quantile(0.0)
    assert found.quantile(1.0) == margins.max()
    enough = [m for m in sorted(margins) if 10 * (margins <= m).sum() >= tenth * len(margins)]
    assert found.quantile(tenth / 10) == enough[0]
    np.testing.assert_array_equal(found.cdf([-2.0, 2.0]), [0.0, 1.0])


def test_a_weight_is_a_repetition():
    repeated = margin_distribution([0.5, -0.5, -0.5, -0.5, 0.25])
    weighted = margin_distribution([0.5, -0.5, 0.25, 0.9], sample_weight=[1, 3, 1, 0])
    for theta in (-0.5, 0.0, 0.25, 0.5):
        assert weighted.cdf(theta) == pytest.approx(repeated.cdf(theta))
    for share in (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        assert weighted.quantile(share) == repeated.quantile(share)


@pytest.mark.parametrize("n", [9, 10, 49])
def test_sums_of_shares_do_not_pass_over_a_row(n):
    margins = np.arange(n) / n
    found = margin_distribution(margins)
    assert [found.quantile(k / n) for k in range(1, n + 1)] == margins.tolist()


def test_a_row_without_weight_is_not_there():
    found = margin_distribution([-0.9, 0.2, 0.4], sample_weight=[0.0, 1.0, 1.0])
    assert (found.minimum, found.cdf(0.0), len(found.margins)) == (0.2, 0.0, 2)


def test_a_distribution_prints_its_quantiles_and_cannot_be_written():
    found = margin_distribution([0.5, -0.25])
    assert str(found).startswith("Margins of 2 rows: least -0.25, 50.00% not above 0\n")
    with pytest.raises(ValueError, match="read-only"):
        found.margins[0] = 1.0


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ([0.0, 1.5], r"margins\[1\] is 1.5: expected a number in \[-1, 1\]. Divide y F"),
        ([np.nan], r"margins\[0\] is nan"),
        ([np.inf], r"margins\[0\] is inf"),
        ([], "shape"),
        ([[0.1]], "shape"),
    ],
)
def test_margins_that_are_none_are_refused(margins, message):
    with pytest.raises(InvalidInput, match=message):
        margin_distribution(margins)


def test_words_are_no_margins():
    with pytest.raises(InvalidInputType, match="cannot be read as numbers"):
        margin_distribution(["much"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: binary_margins([1, -1], [1.0, 2.0], [0.5]), "answer within"),
        (lambda: binary_margins([1, -1], [0.0, 0.0], [0.0]), "all 0"),
        (lambda: binary_margins([1], [0.0, 0.0], [1.0]), "one label for each of 2 rows"),
        (lambda: binary_margins([0, 1, 2], [0.0] * 3, [1.0]), "3 classes .*expected 2"),
        (lambda: binary_margins([0, 0], [0.0] * 2, [1.0]), "1 classes"),
        (lambda: binary_margins([0.0, np.nan], [0.0] * 2, [1.0]), r"y\[1\] is nan"),
        (lambda: binary_margins(["x"], [0.0], [1.0], classes="ab"), "label 'x'"),
        (lambda: vote_margins([0, 1], [[1.0, -0.5], [0.0, 1.0]]), r"votes\[0, 1\] is -0.5"),
        (lambda: vote_margins([0, 1], [[1.0, 0.5], [0.0, 0.0]]), r"votes\[1\] is all 0"),
        (lambda: vote_margins([0], [[1.0]]), "at least two classes"),
        (lambda: margin_distribution([0.1], sample_weight=[0.0]), "not all of them zero"),
        (lambda: margin_distribution([0.1], sample_weight=[1.0, 1.0]), "expected 1, one for"),
        (lambda: lq_distance([0.0, 0.0], [1.0, 1.0]), "no hyperplane"),
        (lambda: lq_distance([1.0], [1.0, 1.0]), "2 coordinates and weights 1"),
    ],
)
def test_votes_that_are_none_are_refused(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()


@pytest.mark.parametrize("q", [0.5, -1, np.nan, "2", True, None])
def test_norms_that_are_none_are_refused(q):
    with pytest.raises(InvalidParameter, match="q="):
        dual_exponent(q)
    with pytest.raises(SpinneyError):
        margin_distribution([0.1]).quantile(1.5)


def drawn_plane(seed, n=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(size=n), float(rng.normal())


@FEW
@given(st.integers(0, 2**31), st.sampled_from([1, 1.3, 2, 3.5, 40, np.inf]))
def test_the_distance_is_reached_and_never_undercut(seed, q):
    """Identity 44: the least l_q distance is |w·x + b| over the dual norm, and has a witness."""
    w, x, b = drawn_plane(seed)
    distance = lq_distance(w, x, b, q)
    nearest = nearest_on_plane(w, x, b, q)
    assert w @ nearest + b == pytest.approx(0.0, abs=1e-10)
    assert np.linalg.norm(x - nearest, q) == pytest.approx(distance, rel=1e-10)
    rng = np.random.default_rng(seed)
    for v in rng.normal(size=(50, 4)):  # other points of the plane are no nearer
        other = x + v - (w @ (x + v) + b) / (w @ w) * w
        assert np.linalg.norm(x - other, q) >= distance * (1 - 1e-12)
        assert w @ v <= dual_norm(w, q) * np.linalg.norm(v, q) * (1 + 1e-12)
    assert 1 / q + 1 / dual_exponent(q) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_distance_is_what_an_optimiser_finds(seed):
    """The same by programs that know nothing of duality: linear for 1 and inf, smooth for 2."""
    w, x, b = drawn_plane(seed)
    n = len(w)
    on_plane, level = (
        np.r_[w, np.zeros(n)],
        [-b - w @ x],
    )  # variables: z - x, and sizes of its parts
    sides = np.block([[np.eye(n), -np.eye(n)], [-np.eye(n), -np.eye(n)]])
    free = [(None, None)] * n + [(0, None)] * n
    taxi = linprog(
        np.r_[np.zeros(n), np.ones(n)], sides, np.zeros(2 * n), [on_plane], level, bounds=free
    )
    assert taxi.fun == pytest.approx(lq_distance(w, x, b, 1), abs=1e-9)
    largest = linprog(
        np.r_[np.zeros(n), 1.0],
        np.c_[sides[:, :n], -np.ones(2 * n)],
        np.zeros(2 * n),
        [np.r_[w, 0.0]],
        level,
        bounds=free[: n + 1],
    )
    assert largest.fun == pytest.approx(lq_distance(w, x, b), abs=1e-9)
    line = {"type": "eq", "fun": lambda z: w @ z + b}
    round_one = minimize(
        lambda z: ((z - x) ** 2).sum(), np.zeros(n), constraints=line, options={"ftol": 1e-14}
    )
    assert round_one.fun**0.5 == pytest.approx(lq_distance(w, x, b, 2), abs=1e-6)


def test_boosting_margins_are_distances():
    rng = np.random.default_rng(3)
    alphas, says, y = rng.uniform(0, 1, 5), rng.choice([-1, 1], (20, 5)), rng.choice([-1, 1], 20)
    margins = binary_margins(y, says @ alphas, alphas)
    np.testing.assert_allclose(lq_distance(alphas, says), np.abs(margins), atol=1e-12)
