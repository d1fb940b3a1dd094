"""Trees as text and as Graphviz source."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.errors import InvalidParameter

IRIS = load_iris(as_frame=True)


def iris_tree(**limits):
    return DecisionTreeClassifier(**limits).fit(IRIS.data, IRIS.target_names[IRIS.target])


def test_text_has_a_line_for_every_node_and_a_question_for_every_split():
    tree = iris_tree()
    lines = tree.to_text().splitlines()
    nodes = tree.tree_
    assert len(lines) == nodes.node_count
    assert sum(" <= " in line for line in lines) == nodes.node_count - nodes.n_leaves
    depth = [re.search(r"[a-z]", line).start() // 3 for line in lines]
    assert max(depth) == tree.get_depth()
    assert iris_tree(max_depth=1).to_text().splitlines() == [
        "petal length (cm) <= 2.45",
        "├─ yes: setosa (100%), 50 rows",
        "└─ no:  versicolor (50%), 100 rows",
    ]


def test_depth_and_digits_are_limits_of_the_text():
    tree = DecisionTreeRegressor().fit([[1.23456], [2.0], [3.0]], [1.0, 2.0, 3.14159])
    assert len(tree.to_text(max_depth=1).splitlines()) == 3
    assert "…" in tree.to_text(max_depth=1)
    assert "3.14159" in tree.to_text(digits=8)
    assert "3.1," in tree.to_text(digits=2)
    assert tree.to_text(max_depth=0) == "2.047, 3 rows, …"


NO_DIGITS = ["x", "4", 0, -1, 18, 10**30, 2.0, float("nan"), None, True, [4]]
NO_DEPTH = ["x", -1, 1.0, float("nan"), False, [1]]


@pytest.mark.parametrize("method", ["to_text", "to_graphviz"])
def test_digits_and_levels_that_are_no_counts_are_refused_by_name(method):
    tell = getattr(DecisionTreeRegressor().fit([[1.0], [2.0]], [1 / 3, 2 / 3]), method)
    for wrong in NO_DIGITS:
        told = rf"digits={re.escape(repr(wrong))} of {method}: expected an integer from 1 to 17"
        with pytest.raises(InvalidParameter, match=told):
            tell(digits=wrong)
    for wrong in NO_DEPTH:
        told = rf"max_depth={re.escape(repr(wrong))} of {method}: expected .* at least 0, or None"
        with pytest.raises(InvalidParameter, match=told):
            tell(max_depth=wrong)
    assert "0.33333333333333331" in tell(digits=17)
    assert tell(digits=np.int64(2), max_depth=np.int32(1)) == tell(digits=2)


def test_categories_dates_and_weights_are_told_in_words():
    X = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-03-01", "2024-03-05"]),
            "town": ["Rome", "Oslo", "Rome", None],
        }
    )
    by_town = DecisionTreeClassifier().fit(X[["town"]], [0, 1, 0, 1])
    assert by_town.to_text().splitlines()[0] == "town in {Rome}"
    by_day = DecisionTreeRegressor().fit(X[["day"]], [0.0, 0.0, 5.0, 5.0], [1, 1, 1, 0.5])
    assert by_day.to_text().splitlines()[0].startswith("day <= 2024-02-01 00:00:00")
    assert "1.5" in by_day.to_text().splitlines()[-1]


def test_graphviz_names_every_node_and_edge():
    tree = iris_tree()
    source = tree.to_graphviz()
    nodes = tree.tree_
    assert source.startswith("digraph tree {")
    assert source.endswith("}")
    assert len(re.findall(r"^  n\d+ \[label=", source, re.MULTILINE)) == nodes.node_count
    edges = re.findall(r"^  n(\d+) -> n(\d+) \[label=\"(yes|no)\"\];$", source, re.MULTILINE)
    expected = {
        (str(n), str(child), word)
        for n in range(nodes.node_count)
        for child, word in ((nodes.children_left[n], "yes"), (nodes.children_right[n], "no"))
        if child >= 0
    }
    assert set(edges) == expected
    assert len(iris_tree().to_graphviz(max_depth=1).splitlines()) == 4 + 3 + 2


def test_names_cannot_break_out_of_labels():
    evil = 'a"]; n9 [label="\\'
    X = pd.DataFrame({evil: [0.0, 1.0], "new\nline": [0.0, 0.0]})
    source = DecisionTreeClassifier().fit(X, ['say "x"', "y\\"]).to_graphviz()
    labels = [line for line in source.splitlines() if "[label=" in line]
    assert all(
        re.fullmatch(r'  n\d+( -> n\d+)? \[label="(\\.|[^"\\])*"\];', line) for line in labels
    )
    assert len(labels) == 5


def test_unfitted_trees_have_no_text():
    for method in ("to_text", "to_graphviz", "regions"):
        with pytest.raises(NotFittedError):
            getattr(DecisionTreeClassifier(), method)()


def test_text_of_a_deep_chain_needs_no_recursion():
    n = 3000
    y = np.cumsum(np.arange(n) * 1.0) ** 2
    tree = DecisionTreeRegressor(min_samples_leaf=1).fit(np.arange(n, dtype=float)[:, None], y)
    assert len(tree.to_text().splitlines()) == 2 * n - 1
