"""Dense tables that are mostly zero become sparse ones, which nothing else can tell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from spinney import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from spinney._native import _ext
from spinney.data import nonzero
from spinney.data.nonzero import without_zeros
from spinney.data.table import Table


@pytest.fixture
def any_size(monkeypatch):
    monkeypatch.setattr(nonzero, "LEAST_VALUES", 0)


def mostly_zero(seed, n_rows, n_columns, share=0.05, dtype=np.float32):
    rng = np.random.default_rng(seed)
    values = rng.choice([1.0, -2.5, np.nan, np.inf, 5e-324, 1e-40], (n_rows, n_columns))
    values[rng.random((n_rows, n_columns)) > share] = 0.0
    values[rng.random((n_rows, n_columns)) < 0.1] *= -1  # also zeros: -0.0
    return values.astype(dtype)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shape=st.tuples(st.integers(1, 300), st.integers(1, 70)),
    order=st.sampled_from("CF"),
    dtype=st.sampled_from([np.float32, np.float64]),
    n_threads=st.sampled_from([1, 2, 3]),
)
def test_what_is_listed_is_what_scipy_lists(seed, shape, order, dtype, n_threads):
    matrix = np.asarray(mostly_zero(seed, *shape, dtype=dtype), order=order)
    starts, rows, values = _ext.nonzero_columns(matrix, 1, n_threads)
    expected = sparse.csc_array(matrix)
    assert_array_equal(starts, expected.indptr)
    assert_array_equal(rows, expected.indices)
    assert_array_equal(values, expected.data)
    assert values.dtype == dtype


@pytest.mark.usefixtures("any_size")
def test_tables_with_more_values_than_one_in_so_many_stay_as_they_are():
    matrix = np.zeros((240, 24))
    matrix[:, :2] = 1.0
    assert without_zeros(Table.from_matrix(matrix), 1).is_sparse  # exactly one in twelve
    matrix[-1, 2] = 1.0
    table = Table.from_matrix(matrix)
    assert without_zeros(table, 1) is table


@pytest.mark.usefixtures("any_size")
def test_zeros_at_first_sight_only_are_found_out():
    """All rows that are looked at first are zero; the others are not."""
    matrix = np.ones((6400, 3))
    matrix[::100] = 0.0
    table = Table.from_matrix(matrix)
    assert without_zeros(table, 2) is table


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((1000, 8)),  # too small to bother
        np.zeros((2048, 2048), np.float32)[::2, ::2],  # neither rows nor columns are contiguous
    ],
    ids=["small", "strided"],
)
def test_some_tables_are_not_looked_at(matrix):
    table = Table.from_matrix(matrix)
    assert without_zeros(table, 1) is table


@pytest.mark.usefixtures("any_size")
def test_names_and_rows_are_kept():
    matrix = np.zeros((100, 3))
    matrix[7, 1] = 4.0
    table = without_zeros(Table.from_matrix(matrix, names=["a", "b", "c"]), 1)
    assert (table.names, table.n_rows, table.names_given) == (("a", "b", "c"), 100, True)
    assert_array_equal(np.column_stack([c.dense(100) for c in table.columns]), matrix)
    assert without_zeros(Table.from_matrix(matrix), 1).names == ("x0", "x1", "x2")


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_models_have_the_same_bits(monkeypatch, early_stopping, weighted, order):
    rng = np.random.default_rng(5)
    X = np.asarray(mostly_zero(0, 3000, 40), order=order)
    y = (rng.random(3000) < 0.5) ^ (X[:, 0] > 0)
    weights = rng.integers(1, 4, 3000) if weighted else None
    booster = HistGradientBoostingClassifier(
        max_iter=15, early_stopping=early_stopping, random_state=0
    )
    dense = booster.fit(X, y, weights).predict_proba(X)
    seen = []
    monkeypatch.setattr(nonzero, "LEAST_VALUES", 0)
    look = nonzero._ext.nonzero_columns
    monkeypatch.setattr(
        nonzero._ext, "nonzero_columns", lambda *given: seen.append(look(*given)) or seen[-1]
    )
    assert_array_equal(booster.fit(X, y, weights).predict_proba(X), dense)
    assert len(seen) == 1
    assert len(seen[0]) == 3  # it was sparse


def test_large_tables_of_flags_are_read_so_by_default(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.zeros((20_000, 60), np.float32)
    X[np.arange(20_000), rng.integers(0, 60, 20_000)] = 1.0
    y = X @ rng.normal(size=60)
    assert without_zeros(Table.from_matrix(X), 1).is_sparse
    booster = HistGradientBoostingRegressor(max_iter=5, early_stopping=False)
    by_values = booster.fit(X, y).predict(X)
    monkeypatch.setattr(nonzero, "LEAST_VALUES", 10**9)
    assert_array_equal(booster.fit(X, y).predict(X), by_values)
