"""Shapley values are those of the definition, add up, and do not depend on threads or machines."""

import numpy as np
import pytest
import scipy.sparse
from tests.reference import shapley as slow
from tests.reference.random_forest import (
    draw_chain,
    draw_forest,
    draw_rows,
    forest_of,
    plain_rows,
)

from spinney import DecisionTreeRegressor, GradientBoostingRegressor
from spinney._native import _ext
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain import shap_importance, shap_interactions, shap_values
from spinney.model import TreeForest

SHAPES = [
    pytest.param({}, id="one output"),
    pytest.param({"n_outputs": 3, "n_trees": 5}, id="trees of one output each"),
    pytest.param({"n_outputs": 3, "vectors": True}, id="vector leaves"),
    pytest.param({"n_outputs": 2, "vectors": True, "mean": True}, id="mean of trees"),
    pytest.param({"depth": 9, "n_trees": 2}, id="features many times on a path"),
    pytest.param({"depth": 0, "n_trees": 2}, id="nothing but roots"),
    pytest.param({"n_trees": 0}, id="no tree"),
]


def divisor(forest):
    is_mean = forest.output.aggregate == "mean"
    return forest.arrays["tree_weight"].sum() if is_mean else 1.0


def raw_scores(fitted, X):
    forest = getattr(fitted, "model_", fitted)
    return forest.raw_scores(forest.conform(X, "it"))


def assert_adds_up(found, fitted, X):
    scores = raw_scores(fitted, X)
    size = np.abs(found.base) + np.abs(found.values).sum(
        axis=tuple(range(1, found.values.ndim - 1))
    )
    assert (np.abs(found.raw_scores() - scores) <= 1e-12 * np.maximum(size, 1e-300)).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", SHAPES)
def test_values_are_those_of_the_definition(shape, seed):
    forest, table = draw_forest(seed, **shape), draw_rows(seed, 11)
    rows, bins = plain_rows(forest, table)
    found = shap_values(forest, table)
    for row, values in zip(rows, found.values, strict=True):
        expected = slow.shapley(5, lambda s, r=row: slow.expected_scores(forest, r, s, bins))
        np.testing.assert_allclose(values, expected / divisor(forest), rtol=1e-12, atol=1e-13)
    none_known = slow.expected_scores(forest, rows[0], set(), bins) / divisor(forest)
    np.testing.assert_allclose(found.base, none_known, rtol=1e-12, atol=1e-14)
    assert_adds_up(found, forest, table)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES)
def test_interactions_are_those_of_the_definition(shape, seed):
    forest, table = draw_forest(seed, **shape), draw_rows(seed, 5)
    rows, bins = plain_rows(forest, table)
    found = shap_interactions(forest, table)
    for row, values in zip(rows, found.values, strict=True):
        expected = slow.shapley_interactions(
            5, lambda s, r=row: slow.expected_scores(forest, r, s, bins)
        )
        np.testing.assert_allclose(values, expected / divisor(forest), rtol=1e-12, atol=1e-13)
    assert (found.values == found.values.swapaxes(1, 2)).all()
    singles = shap_values(forest, table).values
    np.testing.assert_allclose(found.values.sum(axis=2), singles, rtol=1e-12, atol=1e-13)
    assert_adds_up(found, forest, table)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES)
def test_values_against_a_background_are_those_of_the_definition(shape, seed):
    forest, table, others = draw_forest(seed, **shape), draw_rows(seed, 5), draw_rows(seed + 50, 7)
    weights = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 1.0, 3.0])
    rows, bins = plain_rows(forest, table)
    background = (plain_rows(forest, others)[0], weights)
    found = shap_values(forest, table, background=others, background_weight=weights)
    for row, values in zip(rows, found.values, strict=True):
        expected = slow.shapley(
            5, lambda s, r=row: slow.mixed_scores(forest, r, s, background, bins)
        )
        np.testing.assert_allclose(values, expected / divisor(forest), rtol=1e-12, atol=1e-13)
    assert_adds_up(found, forest, table)


def problem(n_rows=400, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    known = np.nan_to_num(X)
    return X, known[:, 0] * known[:, 1] + np.sin(3 * known[:, 2]) + rng.normal(0, 0.1, n_rows)


X, Y = problem()


@pytest.mark.parametrize(("n_features", "depth"), [(1, 50), (3, 120), (70, 130), (200, 200)])
def test_deep_trees_add_up(n_features, depth):
    rng = np.random.default_rng(n_features)
    chain = draw_chain(rng, n_features=n_features, depth=depth)
    assert chain.depth == depth
    forest = forest_of([chain], rng, shape=(n_features, 0))
    table = rng.normal(size=(60, n_features)) + 1.5
    table[rng.random(table.shape) < 0.02] = np.nan
    assert_adds_up(shap_values(forest, table), forest, table)
    assert_adds_up(shap_values(forest, table, background=table[::7]), forest, table)
    assert_adds_up(shap_interactions(forest, table[:5]), forest, table[:5])


def everything(forest, table, n_jobs):
    found = [
        shap_values(forest, table, n_jobs=n_jobs),
        shap_interactions(forest, table, n_jobs=n_jobs),
        shap_values(forest, table, background=table[::3], n_jobs=n_jobs),
    ]
    return b"".join(part.values.tobytes() + part.base.tobytes() for part in found)


@pytest.mark.parametrize("shape", SHAPES[:5])
def test_bits_are_the_same_for_every_number_of_threads(shape):
    forest, table = draw_forest(1, **shape), draw_rows(1, 700)
    assert len({everything(forest, table, n) for n in (1, 2, 3, 7)}) == 1


@pytest.mark.parametrize("shape", SHAPES[:5])
def test_bits_are_the_same_for_every_instruction_set(shape):
    forest, table = draw_forest(2, **shape), draw_rows(2, 100)
    sets = ["portable", "avx2", "avx512"]
    before, seen = _ext.active_isa(), set()
    try:
        for name in sets[: sets.index(_ext.best_isa()) + 1]:
            _ext.use_isa(name)
            seen.add(everything(forest, table, 1))
    finally:
        _ext.use_isa(before)
    assert len(seen) == 1


def test_a_row_is_explained_the_same_in_every_company():
    forest, table = draw_forest(3), draw_rows(3, 90)
    others = draw_rows(4, 20)
    together = shap_values(forest, table).values
    against = shap_values(forest, table, background=others).values
    pairs = shap_interactions(forest, table).values
    for row in (0, 7, 31, 32, 89):
        alone = table[row : row + 1]
        assert (shap_values(forest, alone).values[0] == together[row]).all()
        assert (shap_values(forest, alone, background=others).values[0] == against[row]).all()
        assert (shap_interactions(forest, alone).values[0] == pairs[row]).all()


def test_features_that_do_the_same_get_the_same():
    """Both features must be 1 for the leaf of 1; the tree asks for one before the other."""
    table = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, float)
    both = DecisionTreeRegressor().fit(table, table.all(axis=1))
    for found in (shap_values(both, [[1, 1]]), shap_values(both, [[1, 1]], background=table)):
        np.testing.assert_allclose(found.values[0, :, 0], [0.375, 0.375], rtol=1e-15)
        assert found.base == [0.25]


def test_a_feature_the_trees_do_not_ask_for_gets_exactly_nothing():
    table = np.column_stack([X[:, 0], X[:, 0]])  # the copy is never asked for
    fitted = GradientBoostingRegressor(max_iter=20).fit(table, Y)
    assert not (fitted.model_.arrays["feature"] == 1).any()
    assert (shap_values(fitted, table).values[:, 1] == 0.0).all()
    assert (shap_values(fitted, table, background=table[:9]).values[:, 1] == 0.0).all()
    pairs = shap_interactions(fitted, table).values
    assert (pairs[:, 1] == 0.0).all()
    assert (pairs[:, :, 1] == 0.0).all()


def test_nodes_without_weight_are_never_expected():
    """Half of the weight goes each way where there is none to say; shares still add up to 1."""
    forest, table = draw_forest(5), draw_rows(5, 20)
    empty = np.zeros(len(forest.arrays["weight"]))
    weightless = TreeForest(
        forest.schema,
        forest.target,
        {**forest.arrays, "weight": empty},
        output=forest.output,
        policy=forest.policy,
    )
    assert_adds_up(shap_values(weightless, table), weightless, table)
    assert_adds_up(shap_interactions(weightless, table), weightless, table)


def test_a_background_is_as_good_as_its_repetitions():
    forest, table, others = draw_forest(6), draw_rows(6, 10), draw_rows(7, 4)
    weights = np.array([1, 0, 3, 2])
    weighted = shap_values(forest, table, background=others, background_weight=weights)
    repeated = shap_values(forest, table, background=np.repeat(others, weights, axis=0))
    np.testing.assert_allclose(weighted.values, repeated.values, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(weighted.base, repeated.base, rtol=1e-13)


def test_a_sparse_table_is_explained_like_a_dense_one():
    dense = np.where(np.abs(X) < 0.8, 0.0, np.nan_to_num(X))
    fitted = GradientBoostingRegressor(max_iter=10).fit(dense, Y)
    sparse = scipy.sparse.csc_array(dense)
    assert (shap_values(fitted, sparse).values == shap_values(fitted, dense).values).all()


def test_importance_is_the_mean_absolute_value():
    forest, table = draw_forest(8, n_outputs=2, vectors=True), draw_rows(8, 30)
    moved = np.abs(shap_values(forest, table).values).sum(axis=2)
    found = shap_importance(forest, table)
    np.testing.assert_allclose(found.values, moved.mean(axis=0))
    np.testing.assert_allclose(found.standard_errors, moved.std(axis=0, ddof=1) / np.sqrt(30))
    assert found.feature_names == forest.schema.names
    assert shap_importance(forest, table[:1]).standard_errors is None


def test_results_name_their_rows_features_and_outputs():
    forest, table = draw_forest(9, n_outputs=2, vectors=True), draw_rows(9, 3)
    found = shap_values(forest, table)
    frame = found.to_frame()
    assert list(frame.columns) == ["row", "feature", "output", "contribution"]
    line = frame[(frame.row == 2) & (frame.feature == "x3") & (frame.output == "output 1")]
    assert line.contribution.item() == found.values[2, 3, 1]
    pairs = shap_interactions(forest, table)
    frame = pairs.to_frame("polars")
    assert frame.columns == ["row", "feature", "other feature", "output", "contribution"]
    assert frame["contribution"].to_list() == pairs.values.ravel().tolist()
    assert frame.row(1)[:4] == (0, "x0", "x0", "output 1")
    assert "base" in str(found).splitlines()[0]
    assert "interactions" in str(pairs).splitlines()[0]


def test_bad_input_is_refused_with_a_remedy():
    forest, table = draw_forest(0), draw_rows(0, 4)
    with pytest.raises(InvalidInput, match="without a background"):
        shap_values(forest, table, background_weight=[1.0])
    with pytest.raises(InvalidInput, match=r"background_weight\.shape .* Give one per row"):
        shap_values(forest, table, background=table, background_weight=[1.0])
    with pytest.raises(InvalidInput, match=r"Row 3 of background_weight is -1\.0"):
        shap_values(forest, table, background=table, background_weight=[1, 2, 3, -1])
    with pytest.raises(InvalidInput, match="is expecting 5 features"):
        shap_values(forest, table, background=table[:, :2])
    with pytest.raises(InvalidInputType, match="no trees"):
        shap_interactions(object(), table)
    with pytest.raises(InvalidParameter, match="n_jobs=0"):
        shap_values(forest, table, n_jobs=0)


def test_numbers_of_a_result_cannot_be_written():
    X = np.arange(40.0).reshape(-1, 1)
    fitted = GradientBoostingRegressor(max_iter=2).fit(X, X[:, 0])
    for found in (shap_values(fitted, X[:3]), shap_interactions(fitted, X[:3])):
        for array in (found.values, found.base):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
