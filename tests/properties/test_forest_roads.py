"""Two ways to search the nodes of a tree, and two orders of growth: the same trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.data.binning import Binner
from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.resampling.bags import Bootstrap
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings

MORE_THAN_ROWS = 10**6


def grown(X, target, **limits):
    schema, table = FeatureSchema.learn(read_table(X), "from_dtype")
    assert len(schema.names) == X.shape[1]
    ranked = RankedTable(table, Binner.of_categories(table, None))
    search = limits.pop("search")
    tree = TreeSettings(min_samples_split=0.0, seed=7, **limits)
    how = ForestSettings(tree=tree, search=search, shuffle=True)
    return ranked.grow(target, how, Bootstrap(len(X), len(X), seed=7), range(3))


@st.composite
def problems(draw):
    """Rows with ties and gaps, and targets of every kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.sampled_from([2, 5, 30, 400, 1500]))
    n_features = draw(st.sampled_from([4, 40]))  # more than one vector of ranks
    X = rng.normal(size=(n_rows, n_features))
    X[:, 0] = X[:, 0].round(1)
    X[:, 1] = np.where(rng.random(n_rows) < 0.8, 0.0, X[:, 1])
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nan_to_num(X[:, 2]) + np.nan_to_num(X[:, 0]) ** 2 + rng.normal(size=n_rows)
    kind = draw(st.sampled_from(["numbers", "few values", "far away", "two", "three", "several"]))
    if kind in ("two", "three"):
        n_classes = 2 if kind == "two" else 3
        codes = np.digitize(signal, [0.5] if n_classes == 2 else [0.0, 1.0])
        return X, TreeTarget.of_classes(codes, n_classes, None, criterion="gini")
    if kind == "few values":
        signal = signal.round()
    numbers = signal[:, np.newaxis] + (1e9 if kind == "far away" else 0.0)
    if kind == "several":
        numbers = np.hstack([numbers, -(numbers**2)])
    weights = draw(st.sampled_from([None, "whole", "any"]))
    if weights is not None:
        weights = (
            rng.integers(1, 4, n_rows) if weights == "whole" else rng.uniform(0.1, 3.0, n_rows)
        )
        weights = weights.astype(np.float64)
    return X, TreeTarget.of_numbers(numbers, weights, criterion="squared")


@settings(max_examples=80, deadline=None, derandomize=True)
@given(problems(), st.sampled_from(["adaptive", "exact"]), st.sampled_from([0.0, 4.0]))
def test_sorting_subtrees_once_finds_the_trees_that_sorting_every_node_finds(
    problem, search, min_samples_leaf
):
    # Subtrees are sorted at once when growth is depth first and every feature is looked at.
    X, target = problem
    limits = {"search": search, "min_samples_leaf": min_samples_leaf}
    at_once = grown(X, target, **limits)
    one_by_one = grown(X, target, max_leaf_nodes=MORE_THAN_ROWS, **limits)
    assert at_once.keys() == one_by_one.keys()
    for name, array in at_once.items():
        np.testing.assert_array_equal(array, one_by_one[name], err_msg=name)


@pytest.mark.parametrize("search", ["adaptive", "exact", "random"])
def test_draws_belong_to_the_path_so_best_first_growth_prunes_the_same_tree(search):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 6))
    codes = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.int64)
    target = TreeTarget.of_classes(codes, 2, None, criterion="gini")
    limits = {"search": search, "min_samples_leaf": 0.0, "max_features": 2}
    whole = grown(X, target, **limits)
    best_first = grown(X, target, max_leaf_nodes=MORE_THAN_ROWS, **limits)
    for name, array in whole.items():
        np.testing.assert_array_equal(array, best_first[name], err_msg=name)
