"""Pruning against its definitions: the best of all pruned subtrees of small trees."""

import math

import numpy as np
import pytest
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom
from sklearn.base import clone

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.ensembles.trees.growing import CLASS_CRITERIA, NUMBER_CRITERIA
from spinney.errors import InvalidInput, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes
from spinney.trees.pruning import description_lengths, pessimistic_errors, weakest_links

examples = settings(max_examples=40, deadline=None, derandomize=True)
BOTH = (DecisionTreeClassifier, DecisionTreeRegressor)


def rows(seed, n_rows=60, noise=0.25):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    z = np.nan_to_num(X)
    y = (z[:, 0] + z[:, 1] * z[:, 2] > 0).astype(int)
    return X, np.where(rng.random(n_rows) < noise, 1 - y, y)


def subtrees(tree, node=0):
    """Every pruned subtree, as the tuple of its leaves."""
    found = [(node,)]
    if tree.right[node] >= 0:
        left, right = subtrees(tree, node + 1), subtrees(tree, int(tree.right[node]))
        found += [a + b for a in left for b in right]
    return found


def leaves_of(pruned, original):
    """The leaves of a pruned tree, as nodes of the tree it was cut from."""
    found, stack = [], [(0, 0)]
    small, large = pruned.model_[0], original.model_[0]
    while stack:
        a, b = stack.pop()
        assert small.weight[a] == large.weight[b]
        assert np.array_equal(small.values[a], large.values[b])
        if small.right[a] < 0:
            found.append(b)
        else:
            assert small.feature[a] == large.feature[b]
            assert small.threshold[a] == large.threshold[b]
            stack += [(a + 1, b + 1), (int(small.right[a]), int(large.right[b]))]
    return tuple(sorted(found))


def cheapest(tree, cost_of_leaves):
    """The subtree of least cost; of equals the smallest."""
    costs = [(cost_of_leaves(leaves), len(leaves), leaves) for leaves in subtrees(tree)]
    least = min(cost for cost, _, _ in costs)
    ties = [c for c in costs if c[0] <= least + 1e-9 * max(abs(least), 1)]
    return tuple(sorted(min(ties, key=lambda c: c[1])[2]))


# Cost complexity


@pytest.mark.parametrize("kind", BOTH)
@examples
@given(st.integers(0, 10_000), st.floats(0, 0.2))
def test_the_tree_of_each_alpha_is_the_cheapest_of_all_subtrees(kind, seed, alpha):
    X, y = rows(seed)
    tree = kind(max_leaf_nodes=8).fit(X, y)
    cost = tree.tree_.impurity * tree.tree_.weighted_n_node_samples / len(y)

    def price(leaves):
        return sum(cost[leaf] for leaf in leaves) + alpha * len(leaves)

    assert leaves_of(tree.pruned(alpha=alpha), tree) == cheapest(tree.model_[0], price)


@pytest.mark.parametrize(
    ("kind", "criterion"),
    [(DecisionTreeClassifier, c) for c in sorted(CLASS_CRITERIA)]
    + [(DecisionTreeRegressor, c) for c in sorted(NUMBER_CRITERIA)],
)
def test_trees_of_a_path_are_nested_and_are_those_of_fit(kind, criterion):
    X, y = rows(1, n_rows=150)
    tree = kind(criterion=criterion, max_leaf_nodes=25)
    path = tree.cost_complexity_pruning_path(X, y)
    assert path.ccp_alphas[0] == 0.0
    assert np.all(np.diff(path.ccp_alphas) > 0)
    assert np.all(np.diff(path.impurities) >= -1e-12)
    assert np.all(np.diff(path.n_leaves) < 0)
    assert path.n_leaves[-1] == 1
    assert path["impurities"] is path.impurities
    grown = tree.fit(X, y).model_
    before = tree
    for place, alpha in enumerate(path.ccp_alphas):
        pruned = tree.pruned(alpha=alpha)
        if place:
            fitted = clone(tree).set_params(ccp_alpha=alpha).fit(X, y)
            assert fitted.model_ == pruned.model_
        assert pruned.get_n_leaves() == path.n_leaves[place]
        nodes = pruned.tree_
        is_leaf = nodes.children_left < 0
        lost = (nodes.weighted_n_node_samples * nodes.impurity)[is_leaf].sum() / len(y)
        assert lost == pytest.approx(path.impurities[place], abs=1e-9)
        assert len(leaves_of(pruned, before)) == path.n_leaves[place]  # lies inside the one before
        before = pruned
    assert tree.model_ is grown  # as it was


def distinct(path):
    """Alphas that differ, and the impurity of the last tree at each."""
    alphas, impurities = np.asarray(path.ccp_alphas), np.asarray(path.impurities)
    last = np.append(np.diff(alphas) > 1e-9, True)
    return alphas[last], impurities[last]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        ("DecisionTreeClassifier", "gini"),
        ("DecisionTreeClassifier", "entropy"),
        ("DecisionTreeRegressor", "squared_error"),
        ("DecisionTreeRegressor", "absolute_error"),
        ("DecisionTreeRegressor", "poisson"),
    ],
)
def test_path_is_scikit_learns(name, criterion, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=200) / 2
    y = (y > 0).astype(int) if name.endswith("Classifier") else np.exp(y / 3)
    w = rng.uniform(1, 2, len(y))  # no ties
    kind = {k.__name__: k for k in BOTH}[name]
    ours = kind(criterion=criterion, max_leaf_nodes=30).cost_complexity_pruning_path(X, y, w)
    tree = getattr(sklearn.tree, name)(criterion=criterion, max_leaf_nodes=30, random_state=0)
    theirs = tree.cost_complexity_pruning_path(X, y, w)
    for mine, other in zip(distinct(ours), distinct(theirs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)


def test_path_of_two_targets_is_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3)).astype(np.float32)
    Y = np.column_stack([X[:, 0] + rng.normal(size=150), X[:, 1] * X[:, 2]])
    limits = {"max_leaf_nodes": 20, "min_impurity_decrease": 0.002}
    ours = DecisionTreeRegressor(**limits).cost_complexity_pruning_path(X, Y)
    tree = sklearn.tree.DecisionTreeRegressor(random_state=0, **limits)
    theirs = tree.cost_complexity_pruning_path(X, Y)
    for mine, other in zip(distinct(ours), distinct(theirs), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)


def test_links_of_a_tree_by_hand():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 6.0, 9.0]
    tree = DecisionTreeRegressor().fit(X, y).model_[0]
    # root: 54 - 5 = 49 in one split; left 0.5, right 4.5. 0.5 goes first, then 4.5, then 49.
    expected = [49.0, 0.5, math.inf, math.inf, 4.5, math.inf, math.inf]
    assert weakest_links(tree, tree.gain).tolist() == expected


# Reduced error


@pytest.mark.parametrize("kind", BOTH)
@examples
@given(st.integers(0, 10_000))
def test_reduced_error_finds_the_subtree_with_the_fewest_errors(kind, seed):
    X, y = rows(seed)
    V, v = rows(seed + 1, n_rows=40)
    w = np.random.default_rng(seed).integers(0, 3, len(v)).astype(float)
    w[0] = 1
    tree = kind(max_leaf_nodes=8).fit(X, y)
    values, path = tree.model_[0].values, tree.decision_path(V).toarray().astype(bool)

    def errors(leaves):
        wrong = 0.0
        for leaf in leaves:
            here = path[:, leaf]
            if kind is DecisionTreeClassifier:
                wrong += (w[here] * (v[here] != values[leaf].argmax())).sum()
            else:
                wrong += (w[here] * (v[here] - values[leaf, 0]) ** 2).sum()
        return wrong

    pruned = tree.pruned("reduced_error", X=V, y=v, sample_weight=w)
    assert leaves_of(pruned, tree) == cheapest(tree.model_[0], errors)
    again = pruned.pruned("reduced_error", X=V, y=v, sample_weight=w)
    assert again.model_ == pruned.model_


def test_classes_the_tree_never_saw_are_errors():
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    kept = tree.pruned("reduced_error", X=[[0.0], [1.0], [1.0]], y=["a", "b", "z"])
    assert kept.get_n_leaves() == 2
    gone = tree.pruned("reduced_error", X=[[0.0], [1.0], [1.0]], y=["a", "z", "z"])
    assert gone.get_n_leaves() == 1


def test_labels_none_of_which_is_a_class_are_refused():
    tree = DecisionTreeClassifier().fit([[0], [1], [2]], [0, 1, 2])
    with pytest.raises(InvalidInput, match=r"labels '0', '1', none of .* there are 0, 1, 2\. Give"):
        tree.pruned("reduced_error", X=[[0], [1]], y=["0", "1"])


# Pessimistic


@pytest.mark.parametrize("confidence", [0.1, 0.25, 0.5])
def test_upper_limit_is_the_rate_at_which_so_few_errors_are_as_rare(confidence):
    X, y = rows(2, n_rows=100)
    tree = DecisionTreeClassifier(max_leaf_nodes=12).fit(X, y).model_[0]
    fears = pessimistic_errors(tree, confidence)
    for node in range(len(tree)):
        n = int(tree.weight[node])
        wrong = round(n * (1 - tree.values[node].max()))
        rate = brentq(lambda p: binom.cdf(wrong, n, p) - confidence, 1e-12, 1 - 1e-12)  # noqa: B023
        assert fears[node] == pytest.approx(n * rate, rel=1e-6)


@examples
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.25, 0.6]))
def test_pessimistic_finds_the_subtree_with_the_least_fear(seed, confidence):
    X, y = rows(seed)
    tree = DecisionTreeClassifier(max_leaf_nodes=8).fit(X, y)
    fears = pessimistic_errors(tree.model_[0], confidence)
    pruned = tree.pruned("pessimistic", confidence=confidence)
    expected = cheapest(tree.model_[0], lambda leaves: sum(fears[leaf] for leaf in leaves))
    assert leaves_of(pruned, tree) == expected


def test_c45_of_the_book():
    """Quinlan (1993): leaves of 6, 9 and 1 rows without errors become a leaf of 16 with one."""
    X = np.array([[0.0]] * 6 + [[1.0]] * 9 + [[2.0]])
    y = np.array(["democrat"] * 15 + ["republican"])
    nodes = DecisionTreeClassifier().fit(X[y == "democrat"], y[y == "democrat"]).model_[0]
    assert pessimistic_errors(nodes, 0.25) / 15 == pytest.approx(1 - 0.25 ** (1 / 15))
    fears = [n * (1 - 0.25 ** (1 / n)) for n in (6, 9, 1)]
    assert np.round(np.array(fears) / [6, 9, 1], 3).tolist() == [0.206, 0.143, 0.75]
    root = DecisionTreeClassifier().fit(X, y).model_[0]
    assert pessimistic_errors(root, 0.25)[0] < sum(fears)


# Description length


def bits_of(tree, leaves, n_features):
    """The message, part by part."""
    total, k = 0.0, tree.values.shape[1]
    inner = {n for n in range(len(tree)) if tree.right[n] >= 0}
    for leaf in leaves:
        counts = tree.weight[leaf] * tree.values[leaf]
        n = counts.sum()
        total += 1 + sum(c * math.log2(n / c) for c in counts if c)
        total += (k - 1) / 2 * math.log2(max(n, 2) / 2)
        total += math.log2(math.pi ** (k / 2) / math.gamma(k / 2))
    stack = [0]
    while stack:
        node = stack.pop()
        if node in leaves:
            continue
        assert node in inner
        total += 1 + math.log2(n_features) + math.log2(max(tree.weight[node] - 1, 1))
        stack += [node + 1, int(tree.right[node])]
    return total


@examples
@given(st.integers(0, 10_000))
def test_mdl_finds_the_shortest_message(seed):
    X, y = rows(seed, noise=0.1)
    tree = DecisionTreeClassifier(max_leaf_nodes=8).fit(X, y)
    nodes = tree.model_[0]
    expected = cheapest(nodes, lambda leaves: bits_of(nodes, leaves, 3))
    assert leaves_of(tree.pruned("mdl"), tree) == expected


def test_sets_of_categories_cost_a_bit_for_each():
    X = [["a"], ["b"], ["c"], ["a"]]
    tree = DecisionTreeClassifier().fit(X, [0, 1, 1, 0])
    _, of_split = description_lengths(tree.model_[0], 1, np.array([3]))
    assert of_split[0] == pytest.approx(1 + math.log2(2**3 - 2))


# All of them


def test_noise_is_pruned_away_and_structure_stays():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(600, 5)), rng.integers(0, 2, 600)
    y = np.where(rng.random(600) < 0.1, noise, X[:, 0] > 0)
    for method in ("pessimistic", "mdl"):
        assert DecisionTreeClassifier().fit(X, noise).pruned(method).get_n_leaves() < 120
        pruned = DecisionTreeClassifier().fit(X, y).pruned(method)
        assert 2 <= pruned.get_n_leaves() < 60
        assert pruned.score(X, y) > 0.9
    assert DecisionTreeClassifier().fit(X, noise).pruned("mdl").get_n_leaves() == 1


@pytest.mark.parametrize("kind", BOTH)
def test_a_pruned_tree_is_a_whole_estimator(kind):
    X, y = rows(3, n_rows=120)
    table = np.column_stack([X.astype(object), np.where(X[:, 0] > 0, "up", "down")])
    tree = kind(max_leaf_nodes=20).fit(table, y)
    pruned = tree.pruned(alpha=0.03)
    assert 1 < pruned.get_n_leaves() < 20
    assert pruned.get_params() == tree.get_params()
    again = from_bytes(to_bytes(pruned))
    assert again.model_ == pruned.model_
    assert np.array_equal(again.tree_.impurity, pruned.tree_.impurity)
    assert np.array_equal(again.predict(table), pruned.predict(table))
    everything = tree.pruned(alpha=1e6)
    assert everything.get_n_leaves() == 1
    assert everything.feature_importances_.tolist() == [0.0] * 4
    assert np.array_equal(tree.pruned("cost_complexity").predict(table), tree.predict(table))


def test_splits_that_gain_nothing_go_at_price_zero():
    tree = DecisionTreeClassifier(max_depth=1).fit([[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert tree.get_n_leaves() == 2
    assert tree.pruned().get_n_leaves() == 1


def test_what_cannot_be_done_is_refused():
    X, y = rows(0)
    tree, numbers = (kind(max_depth=2).fit(X, y) for kind in BOTH)
    with pytest.raises(InvalidParameter, match=r"method='mld'.*Did you mean 'mdl'"):
        tree.pruned("mld")
    with pytest.raises(InvalidParameter, match="alpha=-1"):
        tree.pruned(alpha=-1)
    with pytest.raises(InvalidParameter, match=r"confidence=1\.0"):
        tree.pruned("pessimistic", confidence=1.0)
    with pytest.raises(InvalidInput, match="needs rows X, y"):
        tree.pruned("reduced_error")
    with pytest.raises(InvalidInput, match="looks at no rows"):
        tree.pruned("mdl", X=X, y=y)
    with pytest.raises(InvalidInput, match="y has 2 columns"):
        numbers.pruned("reduced_error", X=X, y=np.column_stack([y, y]))
    for method in ("pessimistic", "mdl"):
        with pytest.raises(InvalidParameter, match="counts classes"):
            numbers.pruned(method)
