"""Drawings of trees."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from spinney import DecisionTreeClassifier, DecisionTreeRegressor, GradientBoostingRegressor
from spinney.errors import InvalidInputType, InvalidParameter
from spinney.plots import plot_tree
from spinney.trees.structure import levels

IRIS = load_iris()


def boxes_of(ax):
    return [text for text in ax.texts if text.get_bbox_patch() is not None]


def test_every_node_has_a_box_and_every_edge_a_line():
    tree = DecisionTreeClassifier().fit(IRIS.data, IRIS.target)
    ax = plot_tree(tree)
    n_nodes = tree.tree_.node_count
    assert len(boxes_of(ax)) == n_nodes
    assert len(ax.get_lines()) == n_nodes - 1
    sides = [text.get_text() for text in ax.texts if text.get_bbox_patch() is None]
    assert sorted(sides) == ["no"] * (n_nodes // 2) + ["yes"] * (n_nodes // 2)
    places = np.array([box.xy for box in boxes_of(ax)])
    assert len(np.unique(places, axis=0)) == n_nodes
    assert places[:, 1].min() == -tree.get_depth()
    ax.figure.canvas.draw()


def test_parents_stand_between_their_children_and_yes_is_left():
    tree = DecisionTreeRegressor(max_depth=3).fit(IRIS.data[:, :3], IRIS.data[:, 3])
    boxes, nodes = boxes_of(plot_tree(tree)), tree.tree_
    order = np.concatenate(levels(tree.model_[0]))
    across = dict(zip(order.tolist(), (box.xy[0] for box in boxes), strict=True))
    leaves = np.flatnonzero(nodes.children_left < 0).tolist()
    assert [across[leaf] for leaf in leaves] == list(range(len(leaves)))
    for node in set(across) - set(leaves):
        yes, no = across[nodes.children_left[node]], across[nodes.children_right[node]]
        assert across[node] == (yes + no) / 2
        assert yes < no


def test_depth_is_a_limit_and_what_is_cut_is_marked():
    tree = DecisionTreeClassifier().fit(IRIS.data, IRIS.target)
    boxes = boxes_of(plot_tree(tree, max_depth=1))
    assert len(boxes) == 3
    assert [box.get_text().endswith("…") for box in boxes] == [False, False, True]
    assert len(boxes_of(plot_tree(tree, max_depth=0))) == 1


def test_pure_boxes_are_fuller():
    ax = plot_tree(DecisionTreeClassifier(max_depth=1).fit(IRIS.data, IRIS.target))
    root, pure, mixed = (sum(box.get_bbox_patch().get_facecolor()[:3]) for box in boxes_of(ax))
    assert pure < mixed < root


def test_trees_of_forests_given_axes_and_others():
    boosted = GradientBoostingRegressor(max_iter=3).fit(IRIS.data[:, :3], IRIS.data[:, 3])
    ax = Figure().subplots()
    assert plot_tree(boosted, tree=2, ax=ax) is ax
    assert len(boxes_of(ax)) == len(boosted.model_[2])
    with pytest.raises(InvalidInputType, match="has no trees to draw"):
        plot_tree("oak")


def test_digits_and_levels_that_are_no_counts_are_refused_by_name():
    tree = DecisionTreeRegressor().fit([[1.0], [2.0]], [1 / 3, 2 / 3])
    with pytest.raises(InvalidParameter, match="digits='x' of plot_tree: expected an integer"):
        plot_tree(tree, digits="x")
    with pytest.raises(InvalidParameter, match="max_depth=-1 of plot_tree: expected an integer"):
        plot_tree(tree, max_depth=-1)
