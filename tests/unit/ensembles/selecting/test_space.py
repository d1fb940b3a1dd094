"""Rows as points, and the nearest of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from tests.reference import selecting as twin

from spinney.data.intake import read_table
from spinney.ensembles.selecting.space import Neighbourhood, Space

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.sampled_from([1, 2, 30]),
    st.booleans(),
)
def test_neighbours_are_the_nearest_and_the_first_of_ties(seed, k, width, on_a_grid):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, width))
    queries = rng.normal(size=(7, width))
    if on_a_grid:  # many ties, and many copies
        points, queries = points.round(), queries.round()
    found = Neighbourhood(points, None, k).around(queries)
    for row, query in enumerate(queries):
        assert found.rows[row].tolist() == twin.nearest(points, query, k)
    assert (found.shares == 1).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_weights_fill_the_neighbourhood(seed, k):
    rng = np.random.default_rng(seed)
    points, queries = rng.normal(size=(20, 2)), rng.normal(size=(5, 2))
    weights = rng.choice([0.3, 1.0, 2.0, 5.0], size=20)
    found = Neighbourhood(points, weights, k).around(queries)
    assert found.shares.sum(axis=1) == pytest.approx(np.full(5, min(k, weights.sum())))
    for row, query in enumerate(queries):
        order = twin.nearest(points, query, 20)
        left = float(k)
        for place, known in enumerate(order[: found.rows.shape[1]]):
            assert found.rows[row, place] == known
            assert found.shares[row, place] == pytest.approx(max(0, min(left, weights[known])))
            left -= weights[known]


def test_more_neighbours_than_rows_are_all_rows():
    found = Neighbourhood(np.arange(4.0).reshape(-1, 1), None, 7).around(np.array([[0.2]]))
    assert found.rows.tolist() == [[0, 1, 2, 3]]


def test_space_measures_numbers_in_standard_deviations_and_categories_as_ones():
    frame = pd.DataFrame(
        {
            "size": [1.0, 3.0, np.nan, np.inf],
            "colour": ["red", "blue", None, "red"],
            "constant": [5.0, 5.0, 5.0, 5.0],
            "truth": [True, False, True, True],
        }
    )
    space = Space.learn(read_table(frame), None)
    points = space.points(read_table(frame))
    assert points.shape == (4, 4)  # size, two colours, truth; what is constant has no place
    assert points[:, 0] == pytest.approx([-1.0, 1.0, 0.0, 1.0])
    assert points[:, 1:3].tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    assert points[:, 3].std() == pytest.approx(1.0)
    assert np.isfinite(points).all()


def test_space_takes_numbers_of_any_size():
    frame = pd.DataFrame({"huge": [1e300, -1e300, 5e299], "tiny": [1e-300, 2e-300, 3e-300]})
    points = Space.learn(read_table(frame), None).points(read_table(frame))
    assert points.std(axis=0) == pytest.approx([1.0, 1.0], 1e-6)


def test_only_frequent_levels_have_a_place():
    rng = np.random.default_rng(0)
    levels = [f"level {number}" for number in range(300)]
    column = [*levels, *rng.choice(levels[:50], 2000)]
    table = read_table(pd.DataFrame({"c": column}))
    points = Space.learn(table, None).points(table)
    assert points.shape[1] == 100
    assert points[:50].sum() == 50
