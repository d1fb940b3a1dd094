"""Every road, instruction set, thread count and layout gives the scores of the slow twin."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reference.traverse import slow_leaf, slow_scores

from spinney import (
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from spinney._native import _ext
from spinney.data.binning import native_columns
from spinney.model import TreeForest
from spinney.model.forest import TreeSum, join_trees

INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]
ROADS = ["best", "sliced", "clumped", "keyed", "walked"]


def bins_of_codes(forest):
    starts, bins = forest.arrays["category_start"], forest.arrays["category_bins"]
    return [bins[first:last] for first, last in pairwise(starts)]


def rows_of(forest, X):
    table = forest.conform(X, "the model")
    return list(
        zip(*(column.dense(table.n_rows).tolist() for column in table.columns), strict=True)
    )


def scores_by(forest, X, road, n_threads=1):
    columns = native_columns(forest.conform(X, "the model"))
    return np.asarray(forest._native.predict(columns, 1.0, "identity", n_threads, road))


def leaves_by(forest, X, road, n_threads=1):
    columns = native_columns(forest.conform(X, "the model"))
    return np.asarray(forest._native.leaf_ids(columns, n_threads, road))


def check_all_roads(forest, X, expected):
    """All of them, bit for bit."""
    active = _ext.active_isa()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            for road in ROADS:
                for n_threads in (1, 3):
                    assert np.array_equal(scores_by(forest, X, road, n_threads), expected), road
    finally:
        _ext.use_isa(active)


@st.composite
def boosted(draw):
    """A boosted model of a frame with gaps and categories, and a frame to predict on."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.sampled_from([40, 300, 1100]))
    frame = pd.DataFrame(rng.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    frame["kind"] = rng.integers(0, draw(st.sampled_from([2, 40, 250])), n_rows).astype(str)
    frame["tree"] = rng.choice(["ash", "oak", "elm"], n_rows)
    y = frame["a"] * (frame["tree"] == "oak") + frame["kind"].str.len() + rng.normal(size=n_rows)
    frame = frame.mask(rng.random(frame.shape) < draw(st.sampled_from([0.0, 0.2])))
    settings = {
        "max_iter": draw(st.sampled_from([1, 4])),
        "max_leaf_nodes": draw(st.sampled_from([2, 31, 200, None])),
        "min_samples_leaf": draw(st.sampled_from([1, 10])),
    }
    if draw(st.booleans()):
        labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
        fitted = GradientBoostingClassifier(**settings).fit(frame, labels)
    else:
        fitted = GradientBoostingRegressor(**settings).fit(frame, y)
    n_shown = draw(st.sampled_from([1, 7, 20, 40]))
    return fitted.model_, frame.mask(rng.random(frame.shape) < 0.1).iloc[:n_shown]


@given(boosted())
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_all_roads_give_the_scores_of_the_slow_twin(case):
    forest, frame = case
    rows, bins = rows_of(forest, frame), bins_of_codes(forest)
    check_all_roads(forest, frame, np.array(slow_scores(forest, rows, bins)))
    leaves = [[slow_leaf(tree, row, bins) for tree in forest] for row in rows]
    for road in ROADS:
        assert np.array_equal(leaves_by(forest, frame, road), leaves)


@pytest.mark.parametrize("n_rows", [1, 15, 16, 191, 192, 193, 577, 2000])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_any_number_of_rows_and_outputs(n_rows, n_classes):
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(2000, 5))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]).argsort().argsort() * n_classes // 2000
    forest = GradientBoostingClassifier(max_iter=3).fit(X, y).model_
    some = X[:n_rows]
    check_all_roads(forest, some, scores_by(forest, some, "walked"))
    one_by_one = [scores_by(forest, some[i : i + 1], "best")[0] for i in range(0, n_rows, 97)]
    assert np.array_equal(scores_by(forest, some, "best")[::97], one_by_one)


def test_layouts_and_types_agree():
    rng = np.random.default_rng(3)
    narrow = rng.normal(size=(700, 6)).astype(np.float32)
    narrow[rng.random(narrow.shape) < 0.4] = 0.0
    y = narrow[:, 0] * narrow[:, 1] + narrow[:, 2]
    forest = GradientBoostingRegressor(max_iter=5, min_samples_leaf=2).fit(narrow, y).model_
    expected = np.array(slow_scores(forest, narrow.astype(float).tolist(), bins_of_codes(forest)))
    wide = narrow.astype(np.float64)
    for X in (narrow, wide, np.asfortranarray(narrow), narrow[::-1][::-1], sp.csr_array(narrow)):
        check_all_roads(forest, X, expected)
    columns = pd.DataFrame(wide).astype({0: np.float32, 3: np.float32})  # two types in one table
    columns.columns = [f"x{i}" for i in range(6)]
    named = GradientBoostingRegressor(max_iter=5, min_samples_leaf=2).fit(columns, y).model_
    check_all_roads(named, columns, expected)


def test_vector_leaves_of_deep_trees():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(3000, 4))
    Y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2], rng.normal(size=3000)])
    deep = DecisionTreeRegressor(min_samples_leaf=1).fit(X, Y).model_
    assert len(deep[0]) > 600  # more than 256 leaves: only walking will do
    some = rng.normal(size=(300, 4))
    expected = np.array(slow_scores(deep, some.tolist(), bins_of_codes(deep)))
    check_all_roads(deep, some, expected)
    small = DecisionTreeRegressor(max_leaf_nodes=256).fit(X, Y).model_
    expected = np.array(slow_scores(small, some.tolist(), bins_of_codes(small)))
    check_all_roads(small, some, expected)


def test_more_thresholds_than_a_byte_counts():
    """Many small trees on many subsets of rows: their thresholds on a feature are over 254."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20_000, 1))
    X[::50] = np.nan
    y = np.sin(5 * np.nan_to_num(X[:, 0], nan=3.0))
    parts = [
        DecisionTreeRegressor(max_leaf_nodes=200).fit(X[i::10], y[i::10]).model_ for i in range(10)
    ]
    one = parts[0]
    grown = TreeSum(join_trees([part[0] for part in parts], width=1), np.zeros(1))
    forest = TreeForest.from_trees(
        grown, one.schema, one.target, [None], output=one.output, policy=one.policy
    )
    thresholds = np.unique(forest.arrays["threshold"][forest.arrays["feature"] >= 0])
    assert len(thresholds) > 600
    some = np.append(rng.choice(thresholds, 200), [np.nan, np.inf, -np.inf, 0.0, -0.0])[:, None]
    expected = np.array(slow_scores(forest, some.tolist(), bins_of_codes(forest)))
    check_all_roads(forest, some, expected)


@pytest.mark.parametrize("missing_left", [0, 1])
@pytest.mark.parametrize("threshold", [np.inf, 3.0e38, 0.0, -0.0, 1.0 + 2**-30, -np.inf])
def test_thresholds_at_the_edges(threshold, missing_left):
    fitted = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [0.0, 1.0])
    forest = fitted.model_
    arrays = dict(forest.arrays)
    arrays["threshold"] = np.array([threshold, 0.0, 0.0])
    arrays["missing_left"] = np.array([missing_left, 0, 0], np.uint8)
    edited = TreeForest(
        forest.schema, forest.target, arrays, output=forest.output, policy=forest.policy
    )
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1.0 + 2**-23, -1.0, 3e38, -3e38]
    for kind in (np.float32, np.float64):
        X = np.array(values, kind)[:, np.newaxis]
        expected = np.array(slow_scores(edited, X.astype(float).tolist(), []))
        check_all_roads(edited, X, expected)
        many = np.repeat(X, 20, axis=0)
        check_all_roads(edited, many, np.repeat(expected, 20, axis=0))


def odd_numbers(shape, seed):
    """Float32 with gaps, both zeros, both infinities and the smallest numbers there are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape).astype(np.float32).round(2)
    odd = np.array([np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45], np.float32)
    is_odd = rng.random(shape) < 0.2
    X[is_odd] = rng.choice(odd, int(is_odd.sum()))
    return X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_deep_trees_on_odd_numbers(dtype):
    X = odd_numbers((3000, 3), 6).astype(dtype)
    y = np.random.default_rng(7).normal(size=3000)
    forest = DecisionTreeRegressor(min_samples_leaf=1).fit(X, y).model_
    assert len(forest[0]) > 600
    some = odd_numbers((2500, 3), 8).astype(dtype)  # several blocks, the last one not full
    rows, bins = rows_of(forest, some[::50]), bins_of_codes(forest)
    expected = scores_by(forest, some, "walked")
    assert np.array_equal(expected[::50], slow_scores(forest, rows, bins))
    check_all_roads(forest, some, expected)
    for n_threads in (1, 3):
        found = leaves_by(forest, some, "keyed", n_threads)
        assert np.array_equal(found, leaves_by(forest, some, "walked"))


def test_more_features_than_two_bytes_count():
    """Or more nodes: then a node of the keyed road takes twelve bytes instead of eight."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(120, 4200)).astype(np.float32)
    forest = DecisionTreeRegressor(min_samples_leaf=1).fit(X, rng.normal(size=120)).model_
    assert len(forest[0]) > 50
    check_all_roads(forest, X, scores_by(forest, X, "walked"))


def test_leaves_of_equal_value_keep_their_own_numbers():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(2000, 3)).astype(np.float32)
    forest = DecisionTreeRegressor(min_samples_leaf=1).fit(X, rng.integers(0, 2, 2000)).model_
    assert len(np.unique(forest.arrays["values"][forest.arrays["right"] < 0])) == 2
    leaves = leaves_by(forest, X, "keyed")
    assert len(np.unique(leaves)) == forest[0].n_leaves
    assert np.array_equal(leaves, leaves_by(forest, X, "walked"))


def deep_forest(X, seed, n_trees=3):
    y = np.random.default_rng(seed).normal(size=(len(X), 2))
    grown = [
        DecisionTreeRegressor(min_samples_leaf=1, max_features=0.5, random_state=t).fit(X, y).model_
        for t in range(n_trees)
    ]
    trees = join_trees([forest[0] for forest in grown], width=2)
    one = grown[0]
    return TreeForest.from_trees(
        TreeSum(trees, np.array([0.5, -0.5])),
        one.schema,
        one.target,
        [None] * X.shape[1],
        output=one.output,
        policy=one.policy,
    )


@pytest.mark.parametrize("n_features", [1, 16, 17, 32, 33, 64, 65])
@pytest.mark.parametrize("any_missing", [False, True])
def test_clumps_of_as_many_features_as_vectors_hold(n_features, any_missing):
    """Keys of a row fill one, two or four vectors; where they do not fit, rows are walked."""
    X = np.random.default_rng(n_features).normal(size=(1500, n_features)).astype(np.float32)
    if any_missing:
        X[np.random.default_rng(11).random(X.shape) < 0.05] = np.nan
    forest = deep_forest(X, 12)
    asked = np.unique(forest.arrays["feature"])
    assert len(asked) == n_features + 1  # all of them, and leaves
    assert np.diff(forest.arrays["tree_start"]).min() > 600
    for some in (X[:1], X[:31], X[:200], X):
        check_all_roads(forest, some, scores_by(forest, some, "walked"))
    rows, bins = rows_of(forest, X[:20]), bins_of_codes(forest)
    assert np.array_equal(scores_by(forest, X[:20], "clumped"), slow_scores(forest, rows, bins))


def test_doubles_between_two_floats_find_their_side():
    """Thresholds that are floats are asked by floats; a tree with another by doubles."""
    rng = np.random.default_rng(13)
    X = rng.normal(size=(1500, 2))
    near = 1.0 + np.arange(600) * 2.0**-40  # neighbours without a float between them
    X[:600, 0] = rng.permutation(near)
    forest = deep_forest(X, 14)
    asked = forest.arrays["feature"] >= 0
    thresholds = forest.arrays["threshold"][asked]
    narrow = thresholds.astype(np.float32).astype(np.float64) == thresholds
    assert 100 < narrow.sum() < len(narrow) - 100
    edges = thresholds[forest.arrays["feature"][asked] == 0]
    some = np.zeros((3 * len(edges) + 4, 2))
    some[:-4, 0] = np.r_[edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]
    some[-4:, 0] = [1e300, -1e300, 1e-300, -1e-300]
    some[:, 1] = rng.normal(size=len(some))
    check_all_roads(forest, some, scores_by(forest, some, "walked"))
    floats = DecisionTreeRegressor(min_samples_leaf=1).fit(X[600:], X[600:].sum(axis=1)).model_
    check_all_roads(floats, some, scores_by(floats, some, "walked"))


def test_one_leaf_and_chains_pass_as_clumps():
    stump = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [0.0, 1.0]).model_
    rows = np.linspace(-1, 2, 100)[:, None]
    check_all_roads(stump, rows, scores_by(stump, rows, "walked"))
    constant = DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 1.0]).model_
    check_all_roads(constant, rows, scores_by(constant, rows, "walked"))
    grown = np.exp(0.05 * np.arange(700.0))  # every split takes the largest number away
    chain = DecisionTreeRegressor(min_samples_leaf=1).fit(np.arange(700.0)[:, None], grown).model_
    some = np.random.default_rng(15).uniform(-1, 701, size=(300, 1))
    check_all_roads(chain, some, scores_by(chain, some, "walked"))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_forests_whose_leaves_say_few_different_things(n_classes, min_samples_leaf):
    """Up to 32 of them lie in registers, up to 256 are told apart by a byte."""
    rng = np.random.default_rng(16)
    X = rng.normal(size=(3000, 5)).astype(np.float32)
    y = rng.integers(0, n_classes, 3000)
    fitted = RandomForestClassifier(
        5, min_samples_leaf=min_samples_leaf, max_leaf_nodes=None, random_state=0
    )
    forest = fitted.fit(X, y).model_
    arrays = forest.arrays
    leaves = arrays["right"] < 0
    values = [
        arrays["values"][first:last][leaves[first:last]]
        for first, last in pairwise(arrays["tree_start"])
    ]
    kinds = [len(np.unique(own, axis=0)) for own in values]
    assert max(kinds) <= 32 if min_samples_leaf == 1 else min(kinds) > 8
    for some in (X[:50], X[:193], X):
        check_all_roads(forest, some, scores_by(forest, some, "walked"))
