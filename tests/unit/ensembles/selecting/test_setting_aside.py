"""Rows set aside: shares, classes, copies, order."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.ensembles.fitting import IntakeSettings, read_rows
from spinney.ensembles.selecting.setting_aside import set_aside
from spinney.errors import InvalidInput


def read(X, y, weights=None, task="classification"):
    return read_rows(X, y, weights, IntakeSettings(estimator_name="Test", task=task))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 0.9), st.integers(2, 4))
def test_every_class_gives_its_share_and_keeps_a_row(seed, share, n_classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=60)
    train, aside = set_aside(read(rng.normal(size=(60, 2)), y), share, seed)
    assert train.weights is None
    assert sorted([*train.rows, *aside.rows]) == list(range(60))
    for code in np.unique(y):
        count = (y == code).sum()
        assert (y[aside.rows] == code).sum() == int(share * count + 1e-9)
        assert (y[train.rows] == code).any()


def test_a_class_of_one_row_trains():
    y = np.array([0] * 20 + [1])
    train, aside = set_aside(read(np.arange(21.0).reshape(-1, 1), y), 0.9, 0)
    assert 20 in train.rows
    assert len(aside.rows) == 18


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_order_and_repetitions_do_not_matter(seed, grouped):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(6, size=(40, 2)).astype(float), rng.integers(2, size=40)
    weights = rng.integers(0, 4, size=40)
    weights[:20] = 1
    groups = rng.permutation(np.arange(40) % 5)

    def outside(X, y, groups, weights=None):
        kept = np.flatnonzero(weights) if weights is not None else np.arange(len(y))
        of_kept = np.unique(groups[kept], return_inverse=True)[1] if grouped else None
        train, aside = set_aside(read(X, y, weights), 0.4, 7, of_kept)
        counts = Counter()
        for side, name in ((train, "train"), (aside, "aside")):
            each = np.ones(len(side.rows)) if side.weights is None else side.weights
            for row, weight in zip(kept[side.rows], each, strict=True):
                counts[(name, *X[row], y[row])] += weight
        return counts

    order = rng.permutation(40)
    repeated = np.repeat(np.arange(40), weights)
    expected = outside(X, y, groups, weights)
    assert outside(X[order], y[order], groups[order], weights[order]) == expected
    assert outside(X[repeated], y[repeated], groups[repeated]) == expected
    assert sum(expected.values()) == weights.sum()


def test_copies_of_a_row_are_divided_as_rows_are():
    """Else a table of few different rows would teach only some of them."""
    X = np.repeat(np.arange(10.0), 8).reshape(-1, 1)
    train, aside = set_aside(read(X, np.zeros(80, int)), 0.25, 3)
    assert np.unique(X[aside.rows], return_counts=True)[1].tolist() == [2] * 10
    weighted = read(X[::8], np.zeros(10, int), np.full(10, 8.0))
    train, aside = set_aside(weighted, 0.25, 3)
    assert aside.weights.tolist() == [2.0] * 10
    assert train.weights.tolist() == [6.0] * 10


def test_rows_of_weights_that_are_not_whole_stay_whole():
    reading = read(np.arange(20.0).reshape(-1, 1), np.zeros(20, int), np.full(20, 1.5))
    train, aside = set_aside(reading, 0.5, 3)
    assert len(train.rows) == len(aside.rows) == 10
    assert set(train.weights) == set(aside.weights) == {1.5}


def test_another_seed_sets_other_rows_aside():
    reading = read(np.arange(50.0).reshape(-1, 1), np.zeros(50), task="regression")
    asides = {tuple(set_aside(reading, 0.5, seed)[1].rows) for seed in range(5)}
    assert len(asides) == 5


def test_groups_go_as_a_whole():
    groups = np.repeat(np.arange(7), 6)
    reading = read(np.arange(42.0).reshape(-1, 1), np.arange(42) % 2)
    train, aside = set_aside(reading, 0.5, 1, groups)
    assert set(groups[train.rows]).isdisjoint(groups[aside.rows])
    assert len(set(groups[aside.rows])) in (3, 4)


def test_nothing_to_set_aside_is_an_error():
    with pytest.raises(InvalidInput, match="n_samples=3"):
        set_aside(read(np.arange(3.0).reshape(-1, 1), np.arange(3)), 0.5, 0)
