"""Where every value has a bin of its own, our trees are those of XGBoost's exact greedy search."""

import json

import numpy as np
import pytest
import xgboost

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.data.binning import Binner
from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.model.forest import cut_tree
from spinney.trees.gradient import GradientGrower, GradientTreeSettings, GrownTrees


def dumped(booster, number):
    """(feature, threshold, gain, value) of the nodes of a tree in preorder; None where absent."""
    nodes = []

    def walk(node):
        if "leaf" in node:
            nodes.append((None, None, None, node["leaf"]))
            return
        feature = int(node["split"][1:])
        nodes.append((feature, node["split_condition"], node["gain"], None))
        children = {child["nodeid"]: child for child in node["children"]}
        walk(children[node["yes"]])
        walk(children[node["no"]])

    walk(json.loads(booster.get_dump(dump_format="json", with_stats=True)[number]))
    return nodes


def assert_same_tree(tree, nodes, X, rtol):
    """The same rows at every node, twice our gain, the same leaves.

    A threshold may lie anywhere in the gap between two values of a node, and two features may cut
    a few rows alike: rows are compared, not numbers.
    """
    assert len(tree) == len(nodes)
    pending = [(0, np.arange(len(X)), np.arange(len(X)))]
    while pending:
        i, our_rows, their_rows = pending.pop()
        assert np.array_equal(our_rows, their_rows)
        feature, threshold, gain, value = nodes[i]
        if feature is None:
            assert tree.feature[i] == -1
            np.testing.assert_allclose(tree.values[i, 0], value, rtol=rtol, atol=1e-6)
            continue
        np.testing.assert_allclose(2 * tree.gain[i], gain, rtol=rtol, atol=1e-5)
        ours = X[our_rows, tree.feature[i]] <= tree.threshold[i]
        theirs = X[their_rows, feature] < threshold
        pending.append((i + 1, our_rows[ours], their_rows[theirs]))
        pending.append((tree.right[i], our_rows[~ours], their_rows[~theirs]))


def tiny_table(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, size=(n, 3)).astype(float)
    return X, X[:, 0] / 10 + np.sin(X[:, 1]) + rng.normal(size=n)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("l2", "l1"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.7)])
@pytest.mark.parametrize("task", ["squared", "logistic"])
def test_boosted_trees_are_those_of_xgboost(seed, l2, l1, task):
    X, y = tiny_table(seed)
    objective = {"squared": "reg:squarederror", "logistic": "binary:logistic"}[task]
    make = {"squared": GradientBoostingRegressor, "logistic": GradientBoostingClassifier}[task]
    if task == "logistic":
        y = (y > np.median(y)).astype(int)
    ours = make(
        loss=task,
        max_iter=4,
        learning_rate=0.3,
        max_depth=3,
        max_leaf_nodes=None,
        growth="level_wise",
        min_samples_leaf=1,
        min_child_weight=0.01,
        l2_regularization=l2,
        l1_regularization=l1,
    ).fit(X, y)
    settings = {
        "objective": objective,
        "tree_method": "exact",
        "eta": 0.3,
        "max_depth": 3,
        "lambda": l2,
        "alpha": l1,
        "min_child_weight": 0.01,
        "base_score": float(y.mean()),
        "nthread": 1,
    }
    theirs = xgboost.train(settings, xgboost.DMatrix(X, y), num_boost_round=4)
    for number, tree in enumerate(ours.model_):
        assert_same_tree(tree, dumped(theirs, number), X, rtol=1e-3)


@pytest.mark.parametrize(
    ("l2", "gains", "leaves"),
    [
        (0.0, (120.3333, 140.1667), (-3.15, 2.1, -2.25)),
        (1.0, (62.4875, 82.8958), (-1.575, 1.4, -1.125)),
    ],
)
def test_published_toy_of_four_rows(l2, gains, leaves):
    """StatQuest's example: similarities, gains and leaves as printed, and as XGBoost has them."""
    X, y = np.array([[10.0], [20.0], [25.0], [35.0]]), np.array([-10.0, 7.0, 8.0, -7.0])
    tree = grow_toy(X, y, GradientTreeSettings(max_depth=2, min_samples_leaf=1, l2=l2))
    inner = tree.feature >= 0
    np.testing.assert_allclose(2 * tree.gain[inner], gains, atol=5e-5)
    np.testing.assert_allclose(tree.values[~inner, 0], leaves, rtol=1e-6)
    np.testing.assert_allclose(tree.threshold[inner], [15.0, 30.0])
    settings = {"tree_method": "exact", "eta": 0.3, "max_depth": 2, "lambda": l2, "base_score": 0.5}
    booster = xgboost.train({**settings, "nthread": 1}, xgboost.DMatrix(X, y), num_boost_round=1)
    assert_same_tree(tree, dumped(booster, 0), X, rtol=1e-5)


@pytest.mark.parametrize(("gamma", "n_nodes"), [(139, 5), (141, 1)])
def test_weak_split_stays_above_a_strong_one(gamma, n_nodes):
    """The root's gain of 120.3 is below gamma; what is below it, with 140.2, decides for both."""
    X, y = np.array([[10.0], [20.0], [25.0], [35.0]]), np.array([-10.0, 7.0, 8.0, -7.0])
    settings = GradientTreeSettings(max_depth=2, min_samples_leaf=1, prune_gain=gamma / 2)
    tree = grow_toy(X, y, settings)
    assert len(tree) == n_nodes
    if n_nodes == 1:
        np.testing.assert_allclose(tree.values[0, 0], -0.3)
    assert_same_tree(tree, boosted_toy(X, y, "exact", gamma), X, rtol=1e-5)


@pytest.mark.parametrize(("gamma", "n_nodes"), [(120, 5), (121, 1), (139, 1)])
def test_gamma_of_xgboosts_histograms_refuses_the_weak_split_at_once(gamma, n_nodes):
    """There it is twice ``min_split_gain``, and the strong split below is never looked at."""
    X, y = np.array([[10.0], [20.0], [25.0], [35.0]]), np.array([-10.0, 7.0, 8.0, -7.0])
    settings = GradientTreeSettings(max_depth=2, min_samples_leaf=1, min_split_gain=gamma / 2)
    tree = grow_toy(X, y, settings)
    assert len(tree) == n_nodes
    assert_same_tree(tree, boosted_toy(X, y, "hist", gamma), X, rtol=1e-5)


def boosted_toy(X, y, method, gamma):
    """The one tree of XGBoost."""
    settings = {"tree_method": method, "gamma": gamma, "eta": 0.3, "max_depth": 2, "lambda": 0}
    settings |= {"base_score": 0.5, "nthread": 1}
    return dumped(xgboost.train(settings, xgboost.DMatrix(X, y), num_boost_round=1), 0)


def grow_toy(X, y, settings):
    _, table = FeatureSchema.learn(read_table(X), None)
    binned = Binner.learn(table, None, max_bins=255).transform(table)
    gradients = (0.5 - y).astype(np.float32)
    trees = GrownTrees()
    GradientGrower(binned, settings, learning_rate=0.3).grow(gradients, None, trees)
    return cut_tree(trees.arrays(), 0)


def test_pruned_models_are_those_of_xgboost():
    X, y = tiny_table(5)
    ours = GradientBoostingRegressor(
        max_iter=3,
        learning_rate=0.3,
        max_depth=4,
        max_leaf_nodes=None,
        growth="level_wise",
        min_samples_leaf=1,
        min_child_weight=0.01,
        prune_gain=1.5,
    ).fit(X, y)
    settings = {"tree_method": "exact", "eta": 0.3, "max_depth": 4, "lambda": 0, "gamma": 3.0}
    settings |= {"min_child_weight": 0.01, "base_score": float(y.mean()), "nthread": 1}
    theirs = xgboost.train(settings, xgboost.DMatrix(X, y), num_boost_round=3)
    sizes = [len(tree) for tree in ours.model_]
    assert min(sizes) < 31
    for number, tree in enumerate(ours.model_):
        assert_same_tree(tree, dumped(theirs, number), X, rtol=1e-3)
