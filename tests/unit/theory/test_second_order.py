"""Similarity, output and gain: the printed toy, the calculus behind them, and wrong input."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory.second_order import leaf_output, similarity, split_gain

# StatQuest's toy: y = -10, 7, 8, -7 and a first prediction of 0.5.
RESIDUALS = np.array([-10.0, 7.0, 8.0, -7.0]) - 0.5
LEFT, MIDDLE, RIGHT = RESIDUALS[:1], RESIDUALS[1:3], RESIDUALS[3:]


@pytest.mark.parametrize(
    ("l2", "similarities", "gains"),
    [
        (0.0, (4.0, 110.25, 169 / 12), (361 / 3, 841 / 6)),
        (1.0, (3.2, 55.125, 10.5625), (62.4875, 3979 / 48)),
    ],
)
def test_published_toy(l2, similarities, gains):
    """169 / 12 is printed as 14.08, 361 / 3 as 120.33, 841 / 6 as 140.17, 3979 / 48 as 82.8958."""
    found = [similarity(rows, l2=l2) for rows in (RESIDUALS, LEFT, RESIDUALS[1:])]
    np.testing.assert_allclose(found, similarities, rtol=1e-14)
    found = [split_gain(LEFT, RESIDUALS[1:], l2=l2), split_gain(MIDDLE, RIGHT, l2=l2)]
    np.testing.assert_allclose(found, gains, rtol=1e-14)


@pytest.mark.parametrize(
    ("l2", "leaves"), [(0.0, (-3.15, 2.1, -2.25)), (1.0, (-1.575, 1.4, -1.125))]
)
def test_published_leaves(l2, leaves):
    found = [0.3 * leaf_output(rows, l2=l2) for rows in (LEFT, MIDDLE, RIGHT)]
    np.testing.assert_allclose(found, leaves, rtol=1e-15)


ROWS = st.lists(
    st.tuples(st.floats(-20.0, 20.0), st.floats(0.01, 5.0)), min_size=1, max_size=8
).map(np.array)
PENALTIES = st.tuples(st.floats(0.0, 4.0), st.floats(0.0, 4.0))


def removed(rows, w, l2, l1):
    """Loss that the output w removes, term by term."""
    r, h = rows.T
    return np.sum(r * w - h * w**2 / 2) - l2 * w**2 / 2 - l1 * abs(w)


@settings(max_examples=60, deadline=None)
@given(ROWS, PENALTIES, st.floats(-50.0, 50.0))
def test_the_output_is_the_best_and_the_similarity_twice_what_it_removes(rows, penalties, other):
    best = leaf_output(*rows.T, *penalties)
    scale = 1.0 + np.abs(rows[:, 0]).sum() * abs(best)
    score = similarity(*rows.T, *penalties)
    assert score == pytest.approx(2 * removed(rows, best, *penalties), abs=1e-10 * scale)
    assert score == pytest.approx(similarity(*rows.T, *penalties, output=best), abs=1e-10 * scale)
    assert removed(rows, other, *penalties) <= score / 2 + 1e-10 * (scale + other**2)


@settings(max_examples=40, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=5), st.floats(0.0, 4.0), st.floats(0.0, 9.0))
def test_a_tree_lowers_the_objective_by_half_its_similarities_minus_its_penalty(leaves, l2, gamma):
    """Objective of a tree: sum of (-r w + h w²/2) + l2/2 sum of w² + gamma times its leaves."""
    outputs = [leaf_output(*rows.T, l2) for rows in leaves]
    objective = -sum(removed(rows, w, l2, 0.0) for rows, w in zip(leaves, outputs, strict=True))
    objective += gamma * len(leaves)
    scores = [similarity(*rows.T, l2) for rows in leaves]
    wanted = -sum(scores) / 2 + gamma * len(leaves)
    assert objective == pytest.approx(wanted, rel=1e-10, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(ROWS, ROWS, PENALTIES)
def test_gain_is_what_splitting_adds_and_never_negative_without_penalties(left, right, penalties):
    l2, l1 = penalties
    both = np.concatenate([left, right])
    hessians = left[:, 1], right[:, 1]
    gain = split_gain(left[:, 0], right[:, 0], *hessians, l2=l2, l1=l1)
    parts = [similarity(*rows.T, l2, l1) for rows in (left, right, both)]
    scale = 1.0 + sum(parts)
    assert gain == pytest.approx(parts[0] + parts[1] - parts[2], abs=1e-10 * scale)
    assert split_gain(left[:, 0], right[:, 0], *hessians) >= -1e-10 * (
        1.0 + similarity(*left.T) + similarity(*right.T)
    )


def test_only_sums_count_and_no_order():
    rng = np.random.default_rng(0)
    r, h = rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, 50), rng.random(50)
    for order in (np.arange(50)[::-1], rng.permutation(50)):
        assert similarity(r[order], h[order], 0.5) == similarity(r, h, 0.5)
    assert similarity(-2.0, 4.0, 1.0) == similarity([-3.0, 1.0], [3.0, 1.0], 1.0) == 0.8
    assert split_gain(-10.5, 6.5, 1.0, 3.0) == split_gain(LEFT, RESIDUALS[1:])


def test_nothing_to_divide_by_is_nothing_removed():
    assert similarity([]) == leaf_output([]) == similarity(3.0, 0.0) == leaf_output(3.0, 0.0) == 0.0


def test_l1_draws_the_sum_to_zero_and_no_farther():
    assert leaf_output([-3.0], l1=1.0) == -2.0
    assert similarity([-3.0], l1=1.0) == 4.0
    for total, l1 in itertools.product((-1.0, 1.0), (1.0, 2.0)):
        assert leaf_output([total], l1=l1) == similarity([total], l1=l1) == 0.0


@pytest.mark.parametrize(
    ("wrong", "named", "error", "message"),
    [
        (([1.0, np.nan],), {}, InvalidInput, "residuals hold a value that is not finite"),
        (([1.0], [np.inf]), {}, InvalidInput, "hessians hold"),
        (([1.0, 2.0], [1.0]), {}, InvalidInput, "2 residuals but 1 hessians"),
        (([1.0], [-0.5]), {}, InvalidInput, "-0.5 is negative"),
        (([1.0],), {"l2": -1.0}, InvalidParameter, "l2=-1.0"),
        (([1.0],), {"l1": np.nan}, InvalidParameter, "l1=nan"),
    ],
)
def test_wrong_input_is_named(wrong, named, error, message):
    for function in (similarity, leaf_output):
        with pytest.raises(error, match=message):
            function(*wrong, **named)
