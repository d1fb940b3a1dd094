"""Rademacher complexity of stumps: exact for each draw, close to printed values, never above."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory import (
    log_growth,
    massart_complexity,
    matrix_rademacher,
    stump_rademacher,
    vc_complexity,
    vc_dimension,
)
from spinney.theory.complexity import best_stumps, sorted_features


def all_stumps(X):
    """What every stump says of the rows, one in each column; both polarities."""
    columns = [np.ones(len(X))]
    for column in X.T:
        values = np.unique(column)
        columns += [np.where(column > cut, 1.0, -1.0) for cut in (values[1:] + values[:-1]) / 2]
    return np.column_stack([*columns, *(-column for column in columns)])


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 3), st.integers(1, 6), st.integers(0, 2**31))
def test_the_best_stump_is_the_best_of_all(n_rows, n_features, n_values, seed):
    """With few different values most neighbours are tied, and no cut may part them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_rows, n_features)).astype(float)
    signs = rng.choice([-1, 1], (20, n_rows)).astype(np.int8)
    slow = (signs @ all_stumps(X)).max(axis=1)
    np.testing.assert_array_equal(best_stumps(signs, sorted_features(X)), slow)


def test_the_mean_is_the_expectation_over_all_signs_to_within_its_slack():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (10, 2)).astype(float)
    signs = np.array(list(itertools.product([-1, 1], repeat=10)))
    truth = (signs @ all_stumps(X)).max(axis=1).mean() / 10
    found = [stump_rademacher(X, n_draws=100, failure=0.1, random_state=s) for s in range(100)]
    assert np.mean([one.estimate for one in found]) == pytest.approx(truth, abs=0.006)
    assert np.mean([one.value < truth for one in found]) <= 0.1
    assert found[0].value - found[0].estimate == pytest.approx(
        math.sqrt(2 * math.log(10) / (100 * 10))
    )


def test_listed_hypotheses_have_the_complexity_of_the_stumps_that_they_are():
    X = np.random.default_rng(1).normal(size=(30, 2)).round(1)
    stumps = stump_rademacher(X, n_draws=50, random_state=3)
    listed = matrix_rademacher(all_stumps(X), n_draws=50, random_state=3)
    np.testing.assert_allclose(stumps.draws, listed.draws, rtol=1e-14)


@pytest.mark.parametrize(
    ("n_rows", "n_features", "exact", "error", "massart"),
    [(2000, 10, 0.0631, 0.0007, 0.1029), (200, 2, 0.1506, 0.004, 0.2585)],
)
def test_values_of_gaussian_rows(n_rows, n_features, exact, error, massart):
    """Printed values; the error is that of a mean over draws, and samples differ."""
    estimates = []
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(n_rows, n_features))
        found = stump_rademacher(X, n_draws=100, random_state=seed)
        bound = massart_complexity(("stumps", n_features), n_rows).value
        assert found.value <= bound
        assert bound == pytest.approx(massart, abs=5e-5)
        estimates.append(found.estimate)
    assert np.mean(estimates) == pytest.approx(exact, abs=3 * error)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 9), st.integers(1, 3), st.integers(0, 2**31))
def test_massart_and_vc_are_above_the_exact_complexity(n_rows, n_features, seed):
    """Identity 43, with the expectation over all signs."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_features))
    signs = np.array(list(itertools.product([-1, 1], repeat=n_rows)))
    answers = all_stumps(X)
    exact = (signs @ answers).max(axis=1).mean() / n_rows
    stumps = ("stumps", n_features)
    assert exact <= massart_complexity(stumps, n_rows).value
    assert exact <= vc_complexity(stumps, n_rows).value
    n_answers = len(np.unique(answers, axis=1).T)
    assert math.log(n_answers) <= log_growth(stumps, n_rows) + 1e-12
    assert exact <= massart_complexity(("finite", n_answers), n_rows).value


def test_growth_of_stumps_is_reached_by_one_feature():
    X = np.arange(7.0)[:, None]
    assert math.exp(log_growth(("stumps", 1), 7)) == pytest.approx(
        len(np.unique(all_stumps(X), axis=1).T)
    )


def test_growth_of_trees_is_above_the_number_of_trees():
    """All trees of three leaves on five rows of one feature: three runs of signs."""
    n, runs = 5, set()
    for first, second in itertools.combinations_with_replacement(range(n + 1), 2):
        for signs in itertools.product([-1, 1], repeat=3):
            runs.add(
                (signs[0],) * first + (signs[1],) * (second - first) + (signs[2],) * (n - second)
            )
    assert math.log(len(runs)) <= log_growth(("trees", 1, 3), n)
    one_leaf = log_growth(("trees", 4, 1), 50)
    assert one_leaf == pytest.approx(math.log(2))
    expected = 3 * math.log(4 * 50) + math.log(5) + 4 * math.log(2)
    assert log_growth(("trees", 4, 4), 50) == pytest.approx(expected)


def test_vc_dimensions_are_the_last_that_growth_allows():
    assert [vc_dimension(("stumps", n)) for n in (1, 2, 10, 100)] == [2, 3, 6, 10]
    assert [vc_dimension(("finite", n)) for n in (1, 2, 8, 1000)] == [1, 1, 3, 9]
    d = vc_dimension(("trees", 10, 8))
    raw = 7 * math.log(10 * d) + math.log(429) + 8 * math.log(2)
    beyond = 7 * math.log(10 * (d + 1)) + math.log(429) + 8 * math.log(2)
    assert raw >= d * math.log(2)
    assert beyond < (d + 1) * math.log(2)


def test_two_points_are_shattered_by_one_threshold_and_three_are_not():
    for n, shattered in ((2, True), (3, False)):
        patterns = {tuple(column) for column in all_stumps(np.arange(float(n))[:, None]).T}
        assert (len(patterns) == 2**n) is shattered


def test_draws_are_addressed_by_their_number():
    X = np.random.default_rng(2).normal(size=(50, 2))
    few, many = (stump_rademacher(X, n_draws=n, random_state=5) for n in (10, 30))
    np.testing.assert_array_equal(few.draws, many.draws[:10])
    other = stump_rademacher(X, n_draws=10, random_state=6)
    assert not np.array_equal(few.draws, other.draws)
    assert str(massart_complexity(("stumps", 1), 100)).startswith(
        "Rademacher complexity, of any rows, is at most 0.32"
    )


def test_chunks_do_not_change_draws(monkeypatch):
    X = np.random.default_rng(2).normal(size=(50, 2))
    whole = stump_rademacher(X, n_draws=30)
    monkeypatch.setattr("spinney.theory.complexity._SIGNS_AT_ONCE", 120)
    np.testing.assert_array_equal(stump_rademacher(X, n_draws=30).draws, whole.draws)


def test_a_constant_feature_leaves_the_constant_answers():
    found = stump_rademacher(np.ones((4, 1)), n_draws=500, random_state=1)
    assert set(np.unique(found.draws)) == {0.0, 0.5, 1.0}


@pytest.mark.parametrize(
    "X", [[[np.nan], [1.0]], [[np.inf], [1.0]], [1.0, 2.0], [], np.empty((0, 3)), np.empty((3, 0))]
)
def test_tables_without_plain_numbers_are_refused(X):
    with pytest.raises(InvalidInput, match="missing values"):
        stump_rademacher(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda: massart_complexity(("stumps",), 10),
        lambda: massart_complexity(("stumps", 0), 10),
        lambda: massart_complexity(("stumps", 2.5), 10),
        lambda: massart_complexity(("trees", 2), 10),
        lambda: massart_complexity(("forests", 2), 10),
        lambda: massart_complexity(None, 10),
        lambda: massart_complexity(("stumps", 2), 0),
        lambda: vc_complexity(("stumps", 2), -1),
        lambda: vc_dimension("stumps"),
        lambda: stump_rademacher([[1.0]], n_draws=0),
        lambda: stump_rademacher([[1.0]], failure=0.0),
        lambda: stump_rademacher([[1.0]], failure=1.0),
        lambda: stump_rademacher([[1.0]], random_state="luck"),
    ],
)
def test_classes_and_counts_that_are_none_are_refused(call):
    with pytest.raises(InvalidParameter, match="expected"):
        call()


def test_answers_beyond_one_are_refused():
    with pytest.raises(InvalidInput, match=r"answers\[0, 1\] is 2.0"):
        matrix_rademacher([[1.0, 2.0]])
