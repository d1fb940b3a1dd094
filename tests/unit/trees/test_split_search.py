"""Splits of single trees against the slow twin, for every criterion and every kind of search."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.split_search import all_splits

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.ensembles.trees.growing import CLASS_CRITERIA, NUMBER_CRITERIA

examples = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def tables(draw, *, most_levels=12):
    """Few rows with ties and missing values; a number, three classes and whole weights."""
    n_rows, n_columns = draw(st.integers(2, 22)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(2, most_levels)), (n_rows, n_columns)).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.25]))] = np.nan
    y = rng.integers(0, draw(st.sampled_from([3, 50])), n_rows).astype(float)
    return X, y, rng.integers(1, 4, n_rows).astype(float)


def root_split(tree, X):
    """The gain of the root, and the rows that go left; None for a leaf."""
    if tree.get_n_leaves() == 1:
        return None
    nodes = tree.model_[0]
    return float(nodes.gain[0]), tree.apply(X) < nodes.right[0]


def check(tree, X, y, w, criterion, *, targets, **limits):
    """The root is one of the best splits of the twin, and gains what the twin says."""
    tree.set_params(max_depth=1, criterion=criterion).fit(X, y, w)
    name = {**CLASS_CRITERIA, **NUMBER_CRITERIA}[criterion]
    found = root_split(tree, X)
    if (targets == targets[0]).all():
        assert found is None
        return
    splits = [s for s in all_splits(X, targets, w, name, **limits) if s[0] > -np.inf]
    if not splits:
        assert found is None
        return
    best = max(gain for gain, _ in splits)
    room = 1e-9 * max(w.sum() * np.abs(targets).max() ** 2, 1)
    assert found[0] == pytest.approx(max(best, 0.0), rel=1e-9, abs=room)
    near = [left for gain, left in splits if gain >= best - 2 * room]
    same = [np.array_equal(found[1], s) or np.array_equal(~found[1], s) for s in near]
    assert any(same)


@pytest.mark.parametrize("criterion", sorted(CLASS_CRITERIA))
@examples
@given(tables(), st.sampled_from([1, 3]), st.booleans())
def test_split_of_classes_is_the_twins(criterion, table, min_leaf, categorical):
    X, y, w = table
    y = np.searchsorted(np.unique(y), y) % (2 if CLASS_CRITERIA[criterion] in TWO else 3)
    targets = np.eye(3)[y][:, np.unique(y)]
    every = list(range(X.shape[1])) if categorical else []
    limits = {"min_leaf": min_leaf if min_leaf > 1 else 0.0, "categorical": every}
    tree = DecisionTreeClassifier(min_samples_leaf=min_leaf, categorical_features=every)
    check(tree, X, y, w, criterion, targets=targets, **limits)


TWO = ("dkm", "hellinger")


@pytest.mark.parametrize("criterion", sorted(NUMBER_CRITERIA))
@examples
@given(tables(), st.sampled_from([1, 3]), st.booleans())
def test_split_of_numbers_is_the_twins(criterion, table, min_leaf, categorical):
    X, y, w = table
    y = y + (criterion == "poisson" and not y.any())
    every = list(range(X.shape[1])) if categorical else []
    limits = {"min_leaf": min_leaf if min_leaf > 1 else 0.0, "categorical": every}
    tree = DecisionTreeRegressor(min_samples_leaf=min_leaf, categorical_features=every)
    check(tree, X, y, w, criterion, targets=y[:, np.newaxis], **limits)


@pytest.mark.parametrize("criterion", sorted(NUMBER_CRITERIA))
@examples
@given(tables(), st.sampled_from(["exact", "adaptive"]), st.integers(2, 3), st.booleans())
def test_split_of_several_numbers_is_the_twins(criterion, table, search, n_outputs, categorical):
    X, y, w = table
    rng = np.random.default_rng(int(y.sum()))
    targets = np.column_stack([y, *rng.integers(0, 9, (n_outputs - 1, len(y)))]).astype(float)
    targets[0, 0] += not targets.any()
    every = list(range(X.shape[1])) if categorical else []
    tree = DecisionTreeRegressor(search=search, categorical_features=every)
    spans = [slice(k, k + 1) for k in range(n_outputs)]
    check(tree, X, targets, w, criterion, targets=targets, spans=spans, categorical=every)


@pytest.mark.parametrize("criterion", sorted(CLASS_CRITERIA))
@examples
@given(tables(), st.sampled_from([1, 3]), st.booleans())
def test_split_of_several_labels_is_the_twins(criterion, table, min_leaf, categorical):
    X, y, w = table
    most = 2 if CLASS_CRITERIA[criterion] in TWO else 3
    rng = np.random.default_rng(int(y.sum()))
    codes = [y.astype(int) % most, *rng.integers(0, (most, 2), (len(y), 2)).T]
    codes = [np.unique(own, return_inverse=True)[1] for own in codes]
    hot = [np.eye(own.max() + 1)[own] for own in codes]
    ends = np.cumsum([0, *(own.shape[1] for own in hot)])
    spans = [slice(a, b) for a, b in itertools.pairwise(ends)]
    every = list(range(X.shape[1])) if categorical else []
    limits = {"min_leaf": min_leaf if min_leaf > 1 else 0.0, "categorical": every, "spans": spans}
    tree = DecisionTreeClassifier(min_samples_leaf=min_leaf, categorical_features=every)
    check(tree, X, np.column_stack(codes), w, criterion, targets=np.hstack(hot), **limits)


# Searches agree where they must


CRITERIA = [(DecisionTreeClassifier, c) for c in sorted(CLASS_CRITERIA)]
CRITERIA += [(DecisionTreeRegressor, c) for c in sorted(NUMBER_CRITERIA)]
every_criterion = pytest.mark.parametrize(("kind", "criterion"), CRITERIA)


def rows(n_rows=300, n_values=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n_rows, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) * 2 > np.nan_to_num(X[:, 1])).astype(int)
    return X, np.where(rng.random(n_rows) < 0.15, 1 - y, y)


def nodes_of(tree):
    names = ("feature", "threshold", "right", "missing_left", "category_sets", "values", "gain")
    return [getattr(tree.model_[0], name).tobytes() for name in names]


@every_criterion
@pytest.mark.parametrize("search", ["adaptive", "histogram"])
def test_bins_find_what_sorting_finds_where_every_value_has_a_bin(kind, criterion, search):
    X, y = rows(2500)
    exact = kind(criterion=criterion, max_leaf_nodes=40).fit(X, y)
    other = kind(criterion=criterion, max_leaf_nodes=40, search=search).fit(X, y)
    assert nodes_of(other) == nodes_of(exact)
    assert exact.get_n_leaves() == 40


@every_criterion
def test_weights_are_repetitions(kind, criterion):
    X, y = rows(150)
    weights = np.random.default_rng(3).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weights)
    limits = {"criterion": criterion, "min_samples_leaf": 4, "min_impurity_decrease": 1e-4}
    weighted = kind(**limits).fit(X, y, weights)
    repeated = kind(**limits).fit(X[copies], y[copies])
    assert nodes_of(weighted) == nodes_of(repeated)
    assert weighted.get_n_leaves() > 3
    assert weighted.model_[0].weight.tolist() == repeated.model_[0].count.tolist()


@every_criterion
def test_one_random_cut_per_feature_lies_between_the_values(kind, criterion):
    X, y = rows(200)
    same = [kind(criterion=criterion, splitter="random", random_state=5).fit(X, y) for _ in "ab"]
    again = kind(criterion=criterion, search="random", random_state=5).fit(X, y)
    assert nodes_of(same[0]) == nodes_of(same[1]) == nodes_of(again)
    other = kind(criterion=criterion, splitter="random", random_state=6).fit(X, y)
    assert nodes_of(other) != nodes_of(again)
    nodes = again.model_[0]
    inner = nodes.right >= 0
    cuts = nodes.threshold[inner]  # at 39, or beyond, between values and missing ones
    assert np.all((cuts >= 0) & ((cuts <= 39) | (cuts == np.inf)))
    assert np.mean(cuts < 39) > 0.9
    assert again.score(X, y) > 0.9 or criterion in ("poisson", "absolute_error")


@every_criterion
def test_a_random_cut_tells_one_value_from_missing_ones(kind, criterion):
    X = np.array([[np.nan, 5.0], [3.0, 5.0], [np.nan, 5.0], [3.0, np.nan]] * 3)
    y = np.array([2, 1, 2, 1] * 3)
    trees = (kind(criterion=criterion, splitter="random", random_state=s) for s in range(4))
    for tree in trees:
        assert np.array_equal(tree.fit(X, y).predict(X), y)
        assert tree.get_n_leaves() == 2
        assert not tree.model_[0].missing_left[0]
    alone = kind(criterion=criterion, splitter="random").fit(X[:, 1:] * np.nan, y)
    assert alone.get_n_leaves() == 1


def test_limited_and_unlimited_growth_give_the_same_full_tree():
    X, y = rows(150)
    for criterion in NUMBER_CRITERIA:
        full = DecisionTreeRegressor(criterion=criterion).fit(X, y)
        limited = DecisionTreeRegressor(criterion=criterion, max_leaf_nodes=10_000).fit(X, y)
        assert full.model_ == limited.model_


def test_constant_columns_cost_a_draw_but_do_not_end_the_search():
    rng = np.random.default_rng(0)
    X = np.zeros((60, 30))
    X[:, 17] = rng.permutation(60)
    for kind in (DecisionTreeClassifier, DecisionTreeRegressor):
        for criterion in ("gini",) if kind is DecisionTreeClassifier else ("absolute_error",):
            tree = kind(max_features=1, random_state=0, criterion=criterion)
            tree.fit(X, X[:, 17] > 29)
            assert tree.get_n_leaves() == 2
