"""Exact trees take the best of all splits, and are the same for every thread and order."""

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.reference.exact_tree import all_gains, node_rows

from spinney.data.binning import Binner
from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.errors import InvalidInput
from spinney.model import Policy, TreeForest
from spinney.model.forest import Output, TreeSum, join_trees
from spinney.trees.exact import SortedTable
from spinney.trees.settings import TreeSettings

few = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
CRITERIA = ["squared", "error", "exponential", "hamming"]


def limits(depth, leaf=0.0):
    return TreeSettings(max_depth=depth, min_samples_split=0.0, min_samples_leaf=leaf)


class Rows:
    """A table that is sorted, and what a tree on it predicts."""

    def __init__(self, X, *, categorical="from_dtype", n_threads=1, repetitions=None):
        self.schema, self.table = FeatureSchema.learn(read_table(X), categorical)
        binner = Binner.of_categories(self.table, None)
        self.sorted = SortedTable(self.table, binner, repetitions=repetitions, n_threads=n_threads)

    def grow(self, targets, weights, depth=None, *, leaf=0.0, **parameters):
        targets = targets.reshape(len(weights), -1)
        return self.sorted.grow(targets, weights, limits(depth, leaf), unit=1.0, **parameters)

    def leaves(self, tree):
        width = tree.values.shape[1]  # noqa: PD011 - of a tree, not of a frame
        forest = TreeForest.from_trees(
            TreeSum(join_trees([tree], width=width), np.zeros(width)),
            self.schema,
            Target("regression", n_outputs=width),
            self.sorted.features,
            output=Output(link="identity", aggregate="sum"),
            policy=Policy(),
        )
        return forest.leaf_ids(self.table, n_threads=1, estimator_name="test")[:, 0]


def check_tree(problem, grown, depth):
    """Hold every node of a tree against all splits there are."""
    X, targets, weights, criterion = problem
    tree, rows_of = grown.tree, node_rows(grown.tree, grown.leaf_of_row)
    depths = np.zeros(len(tree), int)
    for node, rows in enumerate(rows_of):
        w, t = weights[rows], targets[rows]
        assert tree.count[node] == rows.sum()
        assert tree.weight[node] == w.sum()
        mean = (w[:, None] * t).sum(axis=0) / w.sum()
        np.testing.assert_allclose(tree.values[node], mean)  # noqa: PD011
        gains = all_gains(X[rows].astype(float), t, w, criterion)
        best = max((float(gain) for gain, *_ in gains), default=0.0)
        if tree.right[node] < 0:
            assert depths[node] == depth or best <= 1e-9 * max(w.sum(), 1)
            continue
        left = rows_of[node + 1][rows]
        depths[node + 1] = depths[tree.right[node]] = depths[node] + 1
        chosen = [g for g in gains if g[1] == tree.feature[node] and (g[2] == left).all()]
        assert chosen, "no such split"
        assert float(chosen[0][0]) == pytest.approx(best, rel=1e-9, abs=1e-9)
        assert tree.gain[node] == pytest.approx(best, rel=1e-9, abs=1e-9)
        if criterion in ("error", "hamming"):  # exact: the first of equals
            first = next(g for g in gains if float(g[0]) == best)
            assert first[1] == tree.feature[node]
            assert (first[2] == left).all()
        column = X[rows][:, tree.feature[node]].astype(float)
        check_threshold(tree.threshold[node], column, left)


def check_threshold(threshold, column, left):
    present = ~np.isnan(column)
    below = column[left & present]
    above = column[~left & present]
    if len(above) == 0:  # only missing values go right
        assert threshold == np.inf
        return
    assert below.max() <= threshold < above.min()
    assert threshold == pytest.approx((below.max() + above.min()) / 2, rel=1e-15)


@st.composite
def problems(draw):
    """Whole numbers with ties and gaps, in float32 or float64; targets for the criterion."""
    n_rows, n_features = draw(st.integers(1, 24)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, draw(st.sampled_from([2, 5, 50])), (n_rows, n_features)).astype(float)
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.25] = np.nan
    criterion = draw(st.sampled_from(CRITERIA))
    width = 1 if criterion == "exponential" else draw(st.sampled_from([1, 3]))
    if criterion in ("hamming", "exponential") or width == 1:
        targets = rng.choice([-1, 1], (n_rows, width))
    else:
        targets = np.eye(width, dtype=np.int64)[rng.integers(0, width, n_rows)]
    weights = rng.integers(1, draw(st.sampled_from([2, 4, 2**30])), n_rows)
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return X.astype(dtype), targets.astype(np.int64), weights, criterion


@few
@given(problems(), st.sampled_from([1, 2, 4, None]))
def test_every_split_is_the_best_of_all(problem, depth):
    X, targets, weights, criterion = problem
    rows = Rows(X)
    grown = rows.grow(targets, weights, depth, criterion=criterion)
    check_tree(problem, grown, depth)
    np.testing.assert_array_equal(rows.leaves(grown.tree), grown.leaf_of_row)
    values = grown.tree.values  # noqa: PD011
    np.testing.assert_array_equal(grown.answers, values[grown.leaf_of_row])


@few
@given(problems(), st.integers(0, 2**32))
def test_threads_and_the_order_of_rows_do_not_matter(problem, seed):
    X, targets, weights, criterion = problem
    trees = [
        Rows(X, n_threads=n).grow(targets, weights, criterion=criterion).tree for n in (1, 2, 3, 7)
    ]
    order = np.random.default_rng(seed).permutation(len(weights))
    trees.append(Rows(X[order]).grow(targets[order], weights[order], criterion=criterion).tree)
    assert len({bytes_of(tree) for tree in trees}) == 1


def bytes_of(tree):
    names = ("feature", "threshold", "right", "missing_left", "values", "count", "weight", "gain")
    return b"".join(np.ascontiguousarray(getattr(tree, name)).tobytes() for name in names)


@few
@given(problems())
def test_a_weight_is_a_repetition(problem):
    X, targets, weights, criterion = problem
    weights = weights % 3 + 1
    copies = np.repeat(np.arange(len(weights)), weights)
    weighted = Rows(X).grow(targets, weights, criterion=criterion).tree
    ones = np.ones(len(copies), np.int64)
    repeated = Rows(X[copies]).grow(targets[copies], ones, criterion=criterion).tree
    for name in ("feature", "threshold", "right", "missing_left", "values", "weight", "gain"):
        ours, theirs = getattr(weighted, name), getattr(repeated, name)
        assert ours.tobytes() == theirs.tobytes(), name
    assert repeated.count.tolist() == repeated.weight.tolist()


@few
@given(problems())
def test_a_number_is_a_repetition_too(problem):
    """Targets that are no whole numbers: rounded for one row, then repeated."""
    X, targets, weights, _ = problem
    weights = weights % 3 + 1
    numbers = targets[:, 0] * 0.1 + np.linspace(0, 1 / 3, len(weights))
    copies = np.repeat(np.arange(len(weights)), weights)
    weighted = Rows(X, repetitions=weights).grow(numbers, weights).tree
    ones = np.ones(len(copies), np.int64)
    repeated = Rows(X[copies]).grow(numbers[copies], ones).tree
    mean = np.average(numbers, weights=weights)
    assert weighted.values[0, 0] == pytest.approx(mean, rel=1e-12)  # noqa: PD011
    for name in ("feature", "threshold", "right", "values", "weight", "gain"):
        assert getattr(weighted, name).tobytes() == getattr(repeated, name).tobytes(), name


@few
@given(problems())
def test_rows_of_no_weight_count_for_nothing_but_thresholds(problem):
    X, targets, weights, criterion = problem
    more = np.vstack([X, X])
    zeros = np.r_[weights, np.zeros(len(X), np.int64)]
    both = np.vstack([targets, -targets if criterion != "error" else targets])
    one = Rows(X).grow(targets, weights, criterion=criterion).tree
    other = Rows(more).grow(both, zeros, criterion=criterion).tree
    for name in ("feature", "threshold", "right", "values", "weight"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


# Ties


def test_equal_columns_and_equal_cuts_go_to_the_first():
    column = np.array([1.0, 2.0, 3.0, 4.0])
    X = np.column_stack([np.ones(4), column, column, -column])
    for criterion in CRITERIA:
        signs = np.array([-1, 1, 1, -1])  # cuts at 1.5 and 3.5 are as good as each other
        tree = Rows(X).grow(signs, np.ones(4, np.int64), 1, criterion=criterion).tree
        assert (tree.feature[0], tree.threshold[0]) == (1, 1.5), criterion


def test_missing_values_go_right_when_it_does_not_matter():
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    signs = np.array([-1, 1, -1, 1])
    tree = Rows(X).grow(signs, np.ones(4, np.int64), 1, criterion="squared").tree
    assert tree.threshold[0] == 0.5
    assert not tree.missing_left[0]


@pytest.mark.parametrize("missing_sign", [-1, 1])
def test_missing_values_go_where_they_belong(missing_sign):
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    signs = np.array([-1, 1, missing_sign, missing_sign])
    for criterion in CRITERIA:
        grown = Rows(X).grow(signs, np.ones(4, np.int64), criterion=criterion)
        assert grown.tree.missing_left[0] == (missing_sign == -1)
        np.testing.assert_array_equal(grown.answers[:, 0], signs)


def test_missing_values_may_be_a_side_of_their_own():
    X = np.array([[5.0], [1.0], [np.nan], [np.nan]])
    grown = Rows(X).grow(np.array([1, 1, -1, -1]), np.ones(4, np.int64))
    assert grown.tree.threshold[0] == np.inf
    assert not grown.tree.missing_left[0]
    np.testing.assert_array_equal(grown.answers[:, 0], [1, 1, -1, -1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbouring_numbers_are_told_apart(dtype):
    low = dtype(1.0)
    X = np.array([[low], [np.nextafter(low, dtype(2))]])
    rows = Rows(X)
    grown = rows.grow(np.array([-1, 1]), np.ones(2, np.int64))
    assert float(X[0, 0]) <= grown.tree.threshold[0] < float(X[1, 0])
    np.testing.assert_array_equal(rows.leaves(grown.tree), [1, 2])


@pytest.mark.parametrize("values", [[-np.inf, np.inf], [-1e308, 1e308], [-0.0, 5e-324]])
def test_extreme_numbers(values):
    rows = Rows(np.array(values)[:, None])
    grown = rows.grow(np.array([-1, 1]), np.ones(2, np.int64))
    assert values[0] <= grown.tree.threshold[0] < values[1]
    np.testing.assert_array_equal(rows.leaves(grown.tree), [1, 2])


def test_negative_zero_is_zero():
    rows = Rows(np.array([[-0.0], [0.0], [0.0], [-0.0]]))
    assert len(rows.grow(np.array([-1, 1, 1, -1]), np.ones(4, np.int64)).tree) == 1


def test_a_constant_table_and_a_single_row_are_leaves():
    for X in (np.ones((5, 2)), np.full((5, 2), np.nan), np.ones((1, 1))):
        signs = np.resize([1, -1], len(X))
        grown = Rows(X).grow(signs, np.ones(len(X), np.int64))
        assert len(grown.tree) == 1
        assert grown.answers[0, 0] == signs.mean()
        assert (grown.leaf_of_row == 0).all()


# Tables


@few
@given(st.integers(0, 2**32), st.sampled_from(CRITERIA), st.booleans())
def test_categories_are_split_as_well_as_all_subsets_can(seed, criterion, gaps):
    """Of one sum per row, categories in the order of their means hold the best subset."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 5, 20)
    X = np.column_stack([codes.astype(float), rng.integers(0, 4, 20)]).astype(float)
    if gaps:
        X[rng.random(20) < 0.2, 0] = np.nan
    signs, weights = rng.choice([-1, 1], (20, 1)), rng.integers(1, 5, 20)
    rows = Rows(X, categorical=[0])
    grown = rows.grow(signs, weights, 2, criterion=criterion)
    # A split of categories and its mirror are one: gains are compared, not sides
    tree, rows_of = grown.tree, node_rows(grown.tree, grown.leaf_of_row)
    for node in np.flatnonzero(tree.right >= 0):
        inside = rows_of[node]
        gains = all_gains(X[inside], signs[inside], weights[inside], criterion, categorical=[0])
        best = max(float(gain) for gain, *_ in gains)
        assert tree.gain[node] == pytest.approx(best, rel=1e-9, abs=1e-9)
    np.testing.assert_array_equal(rows.leaves(tree), grown.leaf_of_row)


def test_frames_arrays_and_sparse_tables_give_one_tree():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    signs, weights = rng.choice([-1, 1], 60), rng.integers(1, 9, 60)
    forms = [X, X.astype(np.float32), X.astype(int), pd.DataFrame(X), sparse.csr_matrix(X)]
    forms += [sparse.csc_array(X), np.asfortranarray(X), X.astype(np.uint8), X.tolist()]
    trees = {bytes_of(Rows(form).grow(signs, weights, 4).tree) for form in forms}
    assert len(trees) == 1


def test_text_and_flags_are_split():
    X = pd.DataFrame({"town": ["a", "b", "c", "a", None, "b"], "flag": [True, False] * 3})
    signs = np.array([1, -1, 1, 1, -1, -1])
    rows = Rows(X)
    grown = rows.grow(signs, np.ones(6, np.int64), 1)
    assert grown.tree.feature[0] == 0
    np.testing.assert_array_equal(grown.answers[:, 0], signs)
    np.testing.assert_array_equal(rows.leaves(grown.tree), grown.leaf_of_row)


# Against scikit-learn


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_classes_are_those_of_scikit_learn(depth, n_classes):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1500, 4)).astype(np.float32)
        weights = rng.integers(1, 2**20, 1500)
        score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1500) * 2
        y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
        targets = np.eye(n_classes, dtype=np.int64)[y]
        if n_classes == 2:
            targets = 2 * targets[:, 1:] - 1
        # In leaves of a few rows several features are as good, and scikit-learn takes any
        ours = Rows(X).grow(targets, weights, depth, leaf=0.02 * weights.sum())
        theirs = sklearn.tree.DecisionTreeClassifier(
            max_depth=depth, min_weight_fraction_leaf=0.02, random_state=0
        )
        check_same(ours, theirs.fit(X, y, sample_weight=weights), X)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_trees_of_numbers_are_those_of_scikit_learn(depth):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1500, 4)).astype(np.float32)
        weights = rng.integers(1, 2**20, 1500)
        y = 1e6 + X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1500) * 2
        ours = Rows(X).grow(y, weights, depth, leaf=0.02 * weights.sum())
        theirs = sklearn.tree.DecisionTreeRegressor(
            max_depth=depth, min_weight_fraction_leaf=0.02, random_state=0
        )
        theirs.fit(X, y, sample_weight=weights)
        check_same(ours, theirs, X)
        np.testing.assert_allclose(ours.answers[:, 0], theirs.predict(X), rtol=1e-12)


def check_same(ours, theirs, X):
    """Both trees list nodes in the same order: a parent, then its left side."""
    tree = theirs.tree_
    split = tree.feature >= 0
    np.testing.assert_array_equal(ours.tree.feature[split], tree.feature[split])
    np.testing.assert_array_equal(ours.tree.right >= 0, split)
    np.testing.assert_allclose(ours.tree.threshold[split], tree.threshold[split], rtol=1e-12)
    np.testing.assert_array_equal(ours.leaf_of_row, theirs.apply(X))


def test_threads_share_large_tables():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 900, (30_000, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.05] = np.nan
    signs, weights = rng.choice([-1, 1], 30_000), rng.integers(1, 2**30, 30_000)
    trees = {bytes_of(Rows(X, n_threads=n).grow(signs, weights, 4).tree) for n in (1, 2, 3, 7)}
    assert len(trees) == 1


@pytest.mark.parametrize("criterion", ["squared", "error", "exponential"])
@pytest.mark.parametrize("depth", [1, 3])
def test_cells_of_signs_grow_the_tree_of_signs_and_weights(criterion, depth):
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(5000, 4)).round(2)
    X[rng.random(X.shape) < 0.1] = np.nan
    signs = np.where(rng.random(5000) < 0.5 + 0.2 * np.sign(np.nan_to_num(X[:, 0])), 1, -1)
    weights = rng.integers(0, 2**30, 5000)
    plain = Rows(X).sorted.grow(signs[:, None], weights, limits(depth), criterion=criterion)
    for n_threads in (1, 3):
        cells = (signs * weights).astype(np.int32)
        grown = Rows(X, n_threads=n_threads).sorted.grow_signs(
            cells, limits(depth), unit=1.0 / weights.sum(), criterion=criterion
        )
        for name in grown.tree.__slots__:
            np.testing.assert_array_equal(getattr(grown.tree, name), getattr(plain.tree, name))
        np.testing.assert_array_equal(grown.leaf_of_row, plain.leaf_of_row)
        said = np.arange(len(grown.tree), dtype=np.int8)
        np.testing.assert_array_equal(grown.say(said)[:, 0], plain.leaf_of_row)


def test_cells_with_sums_beyond_floats_are_kept_as_long_numbers():
    X = np.arange(2**21 + 2, dtype=np.float32)[:, np.newaxis]
    signs = np.where(X[:, 0] < 1e6, 1, -1)
    cells = (signs * 2**30).astype(np.int32)
    grown = Rows(X).sorted.grow_signs(cells, limits(1), unit=1.0)
    assert grown.tree.threshold[0] == 999_999.5
    assert grown.tree.weight[0] == len(X) * 2.0**30


def test_rows_and_what_is_said_must_go_together():
    rows = Rows(np.arange(6.0)[:, np.newaxis]).sorted
    grown = rows.grow_signs(np.array([1, 1, 1, -1, -1, -1], np.int32), limits(1), unit=1.0)
    with pytest.raises(InvalidInput, match="leaf that is not there"):
        grown.say(np.zeros(2, np.int8))
    with pytest.raises(InvalidInput, match="differ in length"):
        rows.grow_signs(np.ones(5, np.int32), limits(1), unit=1.0)
