"""Boxes of leaves: they divide the space, and say what the tree does."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import DecisionTreeClassifier, DecisionTreeRegressor
from spinney.trees.regions import Categories, Interval

examples = settings(max_examples=60, deadline=None, derandomize=True)
LEVELS = np.array(["ash", "elm", "fir", "oak", "yew", None], object)


def table(rng, n_rows, *, odd=False):
    """Numbers with infinities and holes, texts, a truth value; ``odd`` adds unseen categories."""
    numbers = rng.choice([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf, np.nan], n_rows)
    if odd:
        numbers = np.where(rng.random(n_rows) < 0.5, rng.normal(size=n_rows) * 3, numbers)
    texts = rng.choice(LEVELS, n_rows)
    if odd:
        texts[rng.random(n_rows) < 0.2] = "palm"
    more = rng.normal(size=n_rows)
    return pd.DataFrame({"n": numbers, "t": texts, "m": more, "b": rng.random(n_rows) < 0.5})


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
@examples
@given(st.integers(0, 100_000), st.integers(2, 40), st.sampled_from(["exact", "random"]))
def test_every_row_is_in_the_one_box_of_its_leaf(kind, seed, n_leaves, search):
    rng = np.random.default_rng(seed)
    X, y = table(rng, 60), rng.integers(0, 3, 60)
    tree = kind(max_leaf_nodes=n_leaves, search=search, random_state=seed).fit(X, y)
    regions = tree.regions()
    leaves = np.array([region.leaf for region in regions.regions])
    assert leaves.tolist() == np.flatnonzero(tree.tree_.children_left < 0).tolist()
    for rows in (X, table(rng, 300, odd=True)):
        inside = regions.contains(rows)
        assert np.all(inside.sum(axis=1) == 1)
        assert np.array_equal(leaves[inside.argmax(axis=1)], tree.apply(rows))
    counts = regions.contains(X).sum(axis=0)
    for region, count in zip(regions.regions, counts, strict=True):
        assert (region.count, region.weight) == (count, float(count))
        assert np.array_equal(region.value, tree.tree_.value[region.leaf].ravel())


def test_boxes_by_hand():
    X = pd.DataFrame({"size": [1.0, 2.0, 4.0, 4.0], "wood": ["ash", "fir", "ash", None]})
    tree = DecisionTreeRegressor().fit(X, [0.0, 5.0, 29.0, 32.0])
    regions = tree.regions()
    assert len(regions) == 4
    small, middle, *_ = regions.regions
    # No value was missing: those go to the larger child, of equals to the right one.
    assert small.sides == {"size": Interval(None, 1.5, missing=False)}
    assert middle.sides["size"] == Interval(1.5, 3.0, missing=False)
    one_of = [r.sides["wood"] for r in regions.regions if "wood" in r.sides]
    assert one_of[0] == Categories(frozenset({0}), ("ash",), missing=False)
    assert one_of[1] == Categories(frozenset({1}), ("fir",), missing=True)
    text = str(regions)
    assert "4 regions" in text
    assert "1.5 < size <= 3" in text
    assert "(wood in {fir} or missing)" in text
    frame = regions.to_frame()
    assert frame.columns.tolist() == ["leaf", "region", "prediction", "weight"]
    assert frame["weight"].sum() == 4
    with pytest.raises(AttributeError):
        small.leaf = 7


def test_a_leaf_alone_is_everything():
    regions = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"]).regions()
    assert regions.to_frame()["region"].tolist() == ["everything"]
    assert regions.contains([[np.nan], [np.inf]]).tolist() == [[True], [True]]


def test_missing_values_alone_may_be_a_side():
    tree = DecisionTreeRegressor().fit([[1.0], [2.0], [np.nan]], [0.0, 0.0, 9.0])
    there, missing = tree.regions().regions
    assert there.sides == {"x0": Interval(None, None, missing=False)}
    assert missing.sides["x0"].missing
    assert tree.regions().contains([[np.nan], [5.0], [np.inf]]).tolist() == [
        [False, True],
        [True, False],
        [True, False],
    ]
    assert tree.regions().to_frame()["region"].tolist() == ["x0 is not missing", "x0 is missing"]
