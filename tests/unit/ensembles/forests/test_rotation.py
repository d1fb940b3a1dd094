"""Rotation forests: axes that are axes, trees of planes that say what they say, slanted borders."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from spinney import RotationForestClassifier, RotationForestRegressor
from spinney.ensembles.forests.rotation_axes import (
    ScaledRows,
    Scales,
    principal_axes,
    random_axes,
    random_subsets,
    rotated_axes,
)
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model.projection import PlaneForest

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (500, 5))
SLANTED = X[:, 0] + X[:, 1] - X[:, 2] > 0
TEST = RNG.uniform(-1, 1, (500, 5))
TEST_SLANTED = TEST[:, 0] + TEST[:, 1] - TEST[:, 2] > 0
ROTATIONS = ["pca", "random_combinations"]


# Axes


@settings(max_examples=50, deadline=None)
@given(size=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_principal_axes_are_eigenvectors(size, seed):
    rows = np.random.default_rng(seed).standard_normal((size + 3, size))
    matrix = rows.T @ rows
    axes = principal_axes(matrix)
    assert np.allclose(axes @ axes.T, np.eye(size), atol=1e-12)
    turned = axes @ matrix @ axes.T
    assert np.allclose(turned, np.diag(np.diag(turned)), atol=1e-10 * np.abs(matrix).max())
    assert np.allclose(np.sort(np.diag(turned)), np.linalg.eigvalsh(matrix), rtol=1e-9)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(2), np.diag([1e300, 1e-300])])
def test_matrices_without_correlations_stay_as_they_are(matrix):
    assert np.array_equal(principal_axes(matrix), np.eye(len(matrix)))


def test_subsets_partition_the_features():
    for seed in range(20):
        subsets = random_subsets(11, 3, seed)
        assert sorted(np.concatenate(subsets)) == list(range(11))
        assert [len(subset) for subset in subsets] == [3, 3, 3, 2]
    assert len({tuple(random_subsets(11, 3, seed)[0]) for seed in range(20)}) > 10


def test_rotated_features_hold_all_of_the_scaled_table():
    scales = Scales.of_matrix(X, None)
    rows = ScaledRows(scales.scaled(X), SLANTED.astype(int), None)
    axes = rotated_axes(rows, scales, size=3, seed=4)
    sums = axes.project(X)
    assert sums.shape == X.shape
    # A rotation changes no distance.
    between = np.linalg.norm(rows.scaled[:50, None] - rows.scaled[None, :50], axis=2)
    assert np.allclose(np.linalg.norm(sums[:50, None] - sums[None, :50], axis=2), between)


def test_random_combinations_are_even_and_of_different_features():
    scales = Scales.of_matrix(X, None)
    axes = random_axes(3000, scales, size=3, seed=0)
    assert all(len(set(row)) == 3 for row in axes.feature.tolist())
    weights = axes.normal * scales.std[axes.feature]
    assert np.abs(weights).max() <= 1
    assert abs(weights.mean()) < 0.03
    assert weights.var() == pytest.approx(1 / 3, rel=0.05)


def test_scales_are_means_and_deviations_of_what_is_there():
    table = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    weights = RNG.integers(1, 4, len(X)).astype(float)
    scales = Scales.of_matrix(table, weights)
    repeated = np.repeat(table, weights.astype(int), axis=0)
    assert np.allclose(scales.mean, np.nanmean(repeated, axis=0))
    assert np.allclose(scales.std, np.nanstd(repeated, axis=0))


# Trees of planes


def brute_predictions(model, rows):
    """The definition of trees of planes, row by row."""
    arrays, planes = model.trees.arrays, np.cumsum(model.trees.arrays["right"] >= 0) - 1
    total = np.zeros((len(rows), model.target.n_outputs))
    for first in arrays["tree_start"][:-1]:
        for i, row in enumerate(rows):
            node = 0
            while arrays["right"][first + node] >= 0:
                p = planes[first + node]
                terms = arrays["normal"][p] * (row[arrays["feature"][p]] - arrays["point"][p])
                left = np.nansum(terms) <= arrays["threshold"][p]
                node = node + 1 if left else arrays["right"][first + node]
            total[i] += arrays["value"][first + node]
    return total / len(model)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_predictions_are_those_of_the_definition(rotation):
    forest = RotationForestClassifier(6, rotation=rotation, max_depth=5, random_state=0)
    forest.fit(X, SLANTED)
    some = np.where(RNG.random((60, 5)) < 0.1, np.nan, TEST[:60])
    assert np.allclose(forest.predict_proba(some), brute_predictions(forest.model_, some))


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_full_trees_learn_their_rows_by_heart(rotation):
    """Rows fall on the side of a plane where they were when it was found, to the last bit."""
    y = RNG.integers(0, 3, len(X))
    forest = RotationForestClassifier(3, rotation=rotation, random_state=0).fit(X, y)
    assert forest.score(X, y) == 1.0
    assert np.all(forest.predict_proba(X).max(axis=1) == 1.0)
    numbers = RNG.standard_normal((len(X), 2))
    regressor = RotationForestRegressor(3, rotation=rotation, random_state=0).fit(X, numbers)
    assert np.allclose(regressor.predict(X), numbers, atol=1e-9)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_slanted_borders_are_learnt_better_than_along_the_axes(rotation):
    from sklearn.ensemble import RandomForestClassifier

    forest = RotationForestClassifier(50, rotation=rotation, random_state=0).fit(X, SLANTED)
    straight = RandomForestClassifier(50, random_state=0).fit(X, SLANTED)
    assert forest.score(TEST, TEST_SLANTED) > straight.score(TEST, TEST_SLANTED)
    assert forest.score(TEST, TEST_SLANTED) > 0.92


def test_numbers_are_learnt():
    y = 3 * (X[:, 0] - X[:, 1]) + 0.1 * RNG.standard_normal(len(X))
    forest = RotationForestRegressor(50, random_state=0, min_samples_leaf=3).fit(X, y)
    assert forest.score(TEST, 3 * (TEST[:, 0] - TEST[:, 1])) > 0.93


# Laws


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_weights_are_repetitions_and_neither_order_nor_threads_matter(rotation, bootstrap):
    def fit(rows, y, weights=None, n_jobs=None):
        forest = RotationForestClassifier(
            4, rotation=rotation, bootstrap=bootstrap, random_state=0, n_jobs=n_jobs
        )
        return forest.fit(rows, y, weights)

    weights = RNG.integers(0, 3, len(X))
    repeated = fit(np.repeat(X, weights, axis=0), np.repeat(SLANTED, weights))
    order = RNG.permutation(len(X))
    weighted = fit(X[order], SLANTED[order], weights[order])
    assert np.array_equal(weighted.predict_proba(TEST), repeated.predict_proba(TEST))
    assert fit(X, SLANTED, n_jobs=1).model_ == fit(X[order], SLANTED[order], n_jobs=2).model_


def test_files_carry_the_forest():
    forest = RotationForestClassifier(3, random_state=0).fit(X, np.where(SLANTED, "b", "a"))
    again = from_bytes(to_bytes(forest))
    assert to_bytes(again) == to_bytes(forest)
    assert np.array_equal(again.predict(TEST), forest.predict(TEST))
    first = forest.model_[0]
    assert len(first) == 1
    assert len(forest.model_[1:]) == 2


SPOILED = {
    "a feature beyond the last": ("feature", lambda a: a + 5),
    "a feature below 0": ("feature", lambda a: a - 1),
    "an endless direction": ("normal", lambda a: a + np.inf),
    "a point that is none": ("point", lambda a: a * np.nan),
    "a threshold that is none": ("threshold", lambda a: a * np.nan),
    "too few thresholds": ("threshold", lambda a: a[:-1]),
    "values that are none": ("value", lambda a: a * np.nan),
    "values of another width": ("value", lambda a: a[:, :1]),
    "too few values": ("value", lambda a: a[:-1]),
    "too few planes": ("feature", lambda a: a[:-1]),
    "a right child before its parent": ("right", lambda a: np.where(a > 0, 1, a)),
    "a right child that does not exist": ("right", lambda a: np.where(a > 0, 10**6, a)),
    "a node below -1": ("right", lambda a: np.where(a < 0, -2, a)),
    "no inner node": ("right", lambda a: a * 0 - 1),
    "a tree without nodes": ("tree_start", lambda a: np.sort(np.append(a, 0))),
    "trees that end early": ("tree_start", lambda a: a[:-1]),
    "trees that begin late": ("tree_start", lambda a: a + 1),
    "no tree": ("tree_start", lambda a: a[:1]),
}


@pytest.mark.parametrize("name", SPOILED)
def test_spoiled_models_are_refused(name):
    model = RotationForestClassifier(2, max_depth=3, random_state=0).fit(X, SLANTED).model_
    key, spoil = SPOILED[name]
    arrays = dict(model.trees.arrays)
    arrays[key] = np.ascontiguousarray(spoil(arrays[key]), arrays[key].dtype)
    with pytest.raises(InvalidModel):
        PlaneForest(model.schema, model.target, arrays, policy=model.policy)


# Tables


def test_categories_and_infinities_are_refused_by_name():
    table = pd.DataFrame({"a": [1.0, 2.0], "town": ["x", "y"]})
    with pytest.raises(InvalidInput, match="'town' is categorical"):
        RotationForestClassifier().fit(table, [0, 1])
    with pytest.raises(InvalidInput, match="'x1', row 0: infinite"):
        RotationForestClassifier().fit([[1.0, np.inf], [2.0, 3.0]], [0, 1])
    far = np.arange(40.0).reshape(20, 2)
    far[13, 1] = -np.inf  # by the row that was given, in whatever order rows are drawn
    for table in (far, sparse.csc_array(far)):
        with pytest.raises(InvalidInput, match="'x1', row 13: infinite"):
            RotationForestRegressor().fit(table, -far[:, 0], np.arange(20) % 7)
    with pytest.raises(InvalidParameter, match=r"rotation='pcs'.*Did you mean 'pca'"):
        RotationForestClassifier(rotation="pcs").fit(X, SLANTED)


@pytest.mark.parametrize(
    "table",
    [
        np.ones((6, 2)),
        np.full((6, 2), np.nan),
        np.arange(6.0).reshape(-1, 1),
        np.array([[1e308], [-1e308], [0.0], [1.0], [2.0], [3.0]]),
        np.arange(30.0).reshape(6, 5) * 1e-310,
    ],
)
@pytest.mark.parametrize("rotation", ROTATIONS)
def test_odd_tables_give_a_sensible_model(table, rotation):
    forest = RotationForestRegressor(3, rotation=rotation, random_state=0)
    found = forest.fit(table, np.arange(6.0)).predict(table)
    assert np.all((found >= 0) & (found <= 5))
    found = forest.predict(np.full_like(table, np.inf))
    assert np.isfinite(found).all()


def test_equal_rows_of_different_numbers_are_drawn_in_whatever_order_they_stand():
    rng = np.random.default_rng(2)
    table = rng.integers(0, 3, (50, 2)).astype(float)
    numbers, order = rng.integers(0, 3, (50, 2)), rng.permutation(50)
    forest = RotationForestRegressor(4, bootstrap=True, random_state=0)
    first = forest.fit(table, numbers).predict(table)
    assert np.array_equal(forest.fit(table[order], numbers[order]).predict(table), first)
