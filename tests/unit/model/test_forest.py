import copy
import hashlib
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.traverse import slow_scores

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.data.binning import CategoryBins
from spinney.errors import InvalidModel
from spinney.model import Policy, TreeForest
from spinney.model.forest import Output, TreeSum, join_trees, narrowest
from spinney.model.state import model_from_bytes


def mixed_table(seed, n=120):
    """Two numbers with missing values, one text column with missing values."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 2)).round(1)
    numbers[rng.random((n, 2)) < 0.1] = np.nan
    text = rng.choice(np.array(["ash", "oak", "elm", "yew", None], object), n)
    table = np.column_stack([numbers.astype(object), text])
    y = np.nan_to_num(numbers[:, 0]) + np.array([len(t or "") == 3 and t > "b" for t in text])
    return table, y + rng.normal(0, 0.1, n)


def forest_of(seeds, *, weights=None, n_outputs=1):
    """Several trees on one table, as one forest with given tree weights."""
    table, y = mixed_table(0)
    targets = np.column_stack([y * (k + 1) for k in range(n_outputs)])
    rng = np.random.default_rng(1)
    fits = [
        DecisionTreeRegressor(max_leaf_nodes=8, max_features=2, random_state=seed).fit(
            table, targets if n_outputs > 1 else y, rng.integers(1, 4, len(y))
        )
        for seed in seeds
    ]
    model = fits[0].model_
    features = [
        CategoryBins(np.arange(len(levels), dtype=np.uint8)) if levels is not None else None
        for levels in model.schema.levels
    ]
    forest = TreeForest.from_trees(
        TreeSum(
            join_trees([fit.model_[0] for fit in fits], width=n_outputs), np.full(n_outputs, 0.5)
        ),
        model.schema,
        model.target,
        features,
        output=Output(),
        policy=Policy(),
    )
    if weights is not None:
        arrays = dict(forest.arrays) | {"tree_weight": np.array(weights, float)}
        forest = TreeForest(forest.schema, forest.target, arrays, output=Output(), policy=Policy())
    return forest, table


def rows_of(forest, table):
    conformed = forest.schema.conform(table)
    columns = [column.values.tolist() for column in conformed.columns]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores_equal_the_slow_twin_bit_for_bit(n_outputs):
    forest, table = forest_of(range(5), weights=[1.0, 0.5, 2.0, -1.0, 0.1], n_outputs=n_outputs)
    bin_of_code = {2: np.arange(4)}
    expected = np.array(slow_scores(forest, rows_of(forest, table), bin_of_code))
    for n_threads in (1, 3):
        assert (forest.predictions(table, n_threads=n_threads) == expected).all()


def test_scalar_trees_add_to_their_own_output():
    forest, table = forest_of(range(4))
    arrays = dict(forest.arrays)
    arrays["tree_output"] = np.array([0, 1, 0, 1], np.int32)
    arrays["baseline"] = np.array([1.0, 2.0])
    both = TreeForest(forest.schema, forest.target, arrays, output=Output(), policy=Policy())
    scores = both.raw_scores(forest.schema.conform(table))
    single = [forest[t : t + 1].predictions(table)[:, 0] - 0.5 for t in range(4)]
    assert np.allclose(scores[:, 0], 1.0 + single[0] + single[2])
    assert np.allclose(scores[:, 1], 2.0 + single[1] + single[3])


def test_a_slice_is_a_model_and_slices_add_up():
    forest, table = forest_of(range(6))
    assert len(forest[:4]) == 4
    total = forest[:4].predictions(table) + forest[4:].predictions(table) - 0.5
    assert np.allclose(total, forest.predictions(table))
    assert (forest[:0].predictions(table) == 0.5).all()
    assert forest[:6] == forest
    assert forest[:6].fingerprint == forest.fingerprint
    assert forest[:5] != forest
    assert [len(tree) for tree in forest] == [len(forest[i]) for i in range(6)]
    assert len(forest[-1]) == len(forest[5])
    with pytest.raises(IndexError):
        forest[6]


def test_bytes_are_canonical_and_the_fingerprint_is_their_digest():
    forest, table = forest_of(range(3))
    data = forest.to_bytes()
    assert forest.fingerprint == hashlib.sha256(data).hexdigest()
    again = model_from_bytes(data)
    assert again.to_bytes() == data
    assert (again.predictions(table) == forest.predictions(table)).all()


@pytest.mark.parametrize("through", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_carry_the_same_bytes(through):
    forest, _ = forest_of(range(3))
    assert through(forest).to_bytes() == forest.to_bytes()
    assert forest.to_bytes() in pickle.dumps(forest, protocol=5)


def test_arrays_are_read_only():
    forest, _ = forest_of(range(2))
    for array in forest.arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        forest[0].values[...] = 0


@pytest.mark.parametrize(
    ("thresholds", "kind"),
    [([0.5, np.inf, 2.0**100], np.float32), ([0.1, 0.5], np.float64), ([1e300], np.float64)],
)
def test_thresholds_are_float32_exactly_when_they_all_fit(thresholds, kind):
    assert narrowest(np.array(thresholds)).dtype == kind


def test_thresholds_of_float32_tables_are_float32_and_others_may_be_float64():
    narrow = np.array([[1.0], [2.0], [3.0]], np.float32)
    wide = np.array([[1.0], [1.0 + 2**-40], [1.0 + 2**-39]])
    y = [0.0, 1.0, 5.0]
    of_narrow = DecisionTreeRegressor().fit(narrow, y)
    of_wide = DecisionTreeRegressor().fit(wide, y)
    assert of_narrow.model_.arrays["threshold"].dtype == np.float32
    assert of_wide.model_.arrays["threshold"].dtype == np.float64
    assert of_wide.predict(wide).tolist() == y


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_node_sums_add_up(seed):
    table, y = mixed_table(seed, n=60)
    weights = np.random.default_rng(seed).integers(1, 5, 60).astype(float)
    tree = DecisionTreeRegressor(max_depth=5).fit(table, y, weights).model_[0]
    for node in np.flatnonzero(tree.right >= 0):
        left, right = node + 1, tree.right[node]
        assert tree.count[node] == tree.count[left] + tree.count[right]
        assert tree.weight[node] == tree.weight[left] + tree.weight[right]
        mean = tree.weight[left] * tree.values[left] + tree.weight[right] * tree.values[right]
        assert np.allclose(mean / tree.weight[node], tree.values[node], atol=1e-12)
    assert tree.weight[0] == weights.sum()
    assert np.isclose(tree.values[0, 0], np.average(y, weights=weights), atol=1e-12)


CORRUPTIONS = {
    "feature out of range": ("feature", lambda a: np.where(a >= 0, 99, a)),
    "right child before its parent": ("right", lambda a: np.where(a >= 0, 0, a)),
    "right child beyond the tree": ("right", lambda a: np.where(a >= 0, len(a), a)),
    "two nodes share a child": ("right", lambda a: np.where(a >= 0, a.max(), a)),
    "a leaf with a feature": ("feature", np.zeros_like),
    "a NaN threshold": ("threshold", lambda a: np.full_like(a, np.nan)),
    "an infinite value": ("values", lambda a: np.full_like(a, np.inf)),
    "a negative count": ("count", lambda a: a - 1000),
    "a negative weight": ("weight", np.negative),
    "a direction that is neither": ("missing_left", lambda a: a + 2),
    "a category set that does not exist": ("category_set", lambda a: a + 1),
    "a tree without nodes": ("tree_start", lambda a: np.repeat(a, 2)[: len(a)]),
    "an output that does not exist": ("tree_output", lambda a: a + 2),
    "nodes missing": ("gain", lambda a: a[:-1]),
    "a category in the bin of missing values": ("category_bins", lambda a: a + 255 - a),
    "a numeric feature with categories": ("categorical", np.zeros_like),
}


@pytest.mark.parametrize("corruption", CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_contradictory_arrays_are_refused(corruption):
    name, change = corruption
    forest, _ = forest_of(range(2))
    arrays = dict(forest.arrays)
    arrays[name] = change(arrays[name]).astype(arrays[name].dtype)
    with pytest.raises(InvalidModel):
        TreeForest(forest.schema, forest.target, arrays, output=Output(), policy=Policy())


def test_class_shares_sum_to_one_and_follow_the_leaf():
    table, y = mixed_table(3)
    labels = np.where(y > 0.5, "high", np.where(y > -0.5, "middle", "low"))
    tree = DecisionTreeClassifier(max_leaf_nodes=6).fit(table, labels)
    shares = tree.predict_proba(table)
    leaves = tree.apply(table)
    assert np.allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    for leaf in np.unique(leaves):
        inside = labels[leaves == leaf]
        expected = [(inside == name).mean() for name in tree.classes_]
        assert np.allclose(shares[leaves == leaf], expected, atol=1e-12)
