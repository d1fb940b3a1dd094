"""Deep trees that ask about categories give the same bits on every road."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from tests.properties.test_prediction_roads import (
    bins_of_codes,
    check_all_roads,
    leaves_by,
    rows_of,
    scores_by,
)
from tests.reference.traverse import slow_scores

from spinney import RandomForestRegressor


@pytest.mark.parametrize("n_levels", [1, 7, 8, 9, 64, 255])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_deep_trees_that_ask_about_categories(dtype, n_levels):
    """As many levels as fill bytes of a set, or not; missing ones, and some never seen."""
    rng = np.random.default_rng(n_levels)
    frame = pd.DataFrame(rng.normal(size=(2500, 2)).astype(dtype), columns=["a", "b"])
    for name in ("kind", "sort"):
        levels = rng.integers(0, n_levels, 2500).astype(str).astype(object)
        levels[rng.random(2500) < 0.05] = None
        frame[name] = pd.Series(levels, dtype="str")
    y = rng.normal(size=(2500, 2)) + (frame["kind"] == "0").to_numpy()[:, None]
    forest = RandomForestRegressor(3, max_features=0.5, random_state=0).fit(frame, y).model_
    features = forest.arrays["feature"]
    assert {0, 1, 2, 3} <= set(features[features >= 0]) or n_levels == 1
    assert len(forest[0]) > 600
    some = frame.iloc[rng.permutation(2500)[:700]].reset_index(drop=True)
    some.loc[some.index[::9], "kind"] = "never seen"
    some.loc[some.index[::7], ["a", "sort"]] = None
    expected = scores_by(forest, some, "walked")
    rows, bins = rows_of(forest, some[::20]), bins_of_codes(forest)
    assert np.array_equal(expected[::20], slow_scores(forest, rows, bins))
    check_all_roads(forest, some, expected)
    for n_threads in (1, 3):
        found = leaves_by(forest, some, "keyed", n_threads)
        assert np.array_equal(found, leaves_by(forest, some, "walked"))


def test_trees_with_and_without_categories_in_one_forest():
    """Sets of many trees, and of none: each tree has its own."""
    rng = np.random.default_rng(17)
    frame = pd.DataFrame(rng.normal(size=(2000, 3)), columns=list("abc"))
    frame["kind"] = rng.choice(list("uvwxyz"), 2000)
    y = rng.normal(size=2000) + frame["a"]
    forest = (
        RandomForestRegressor(6, max_features=1, max_features_per_tree=0.5, random_state=1)
        .fit(frame, y)
        .model_
    )
    start, sets = forest.arrays["tree_start"], forest.arrays["category_set"]
    asks = [bool((sets[first:last] >= 0).any()) for first, last in pairwise(start)]
    assert set(asks) == {True, False}
    check_all_roads(forest, frame, scores_by(forest, frame, "walked"))
