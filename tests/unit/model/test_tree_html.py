"""Trees in notebooks: nested, foldable, bounded."""

import numpy as np
from tests.unit.test_markup import HOSTILE, Reader

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.model.tree_html import TreeNumbers, tree_html
from spinney.trees.words import TreeWords


def test_every_split_folds_and_every_leaf_is_a_line():
    rng = np.random.default_rng(0)
    tree = DecisionTreeRegressor(max_depth=4).fit(rng.normal(size=(80, 3)), rng.normal(size=80))
    model = tree.model_[0]
    read = Reader.of(tree_html(TreeWords.of(tree.model_)))
    assert read.tags.count("details") == len(model) - model.n_leaves
    assert read.tags.count("div") == model.n_leaves
    assert read.attributes.count("open") == 3  # the root and what is below it
    assert read.text.count("yes ") == read.text.count("no ") == (len(model) - 1) // 2


def test_a_leaf_alone_and_hostile_names():
    leaf = DecisionTreeClassifier().fit([[1.0], [2.0]], [HOSTILE, HOSTILE])
    read = Reader.of(tree_html(TreeWords.of(leaf.model_)))
    assert read.tags == ["div"]
    assert "<script>" in read.text


def test_of_deep_trees_the_upper_levels_are_written():
    X = np.arange(3000.0)[:, np.newaxis]
    tree = DecisionTreeRegressor().fit(X, np.exp2(np.arange(3000) % 900 / 3.0))
    words = TreeNumbers(tree.model_[0])
    page = tree_html(words, most=50)
    read = Reader.of(page)
    assert read.tags.count("details") + read.tags.count("div") <= 50
    assert ", …" in read.text
    assert len(tree.model_[0]._repr_html_()) < 200_000


def test_a_tree_by_itself_knows_numbers_only():
    X = [[1.0, "ash"], [1.0, "fir"], [2.0, "fir"], [2.0, "ash"]]
    tree = DecisionTreeRegressor().fit(X, [0.0, 1.0, 3.0, 2.0]).model_[0]
    read = Reader.of(tree._repr_html_())
    assert "x0 <= 1.5" in read.text
    assert "x1 in set 0" in read.text
    assert repr(tree) in read.text
