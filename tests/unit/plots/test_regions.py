"""Regions are what classifiers say; rings are what they get wrong."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from tests.unit.plots.drawings import mesh_of, shades_at

from spinney import DecisionTreeClassifier
from spinney.datasets import make_moons
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.plots import plot_decision_regions
from spinney.plots.canvas import class_shades

MOONS = make_moons(60, random_state=0)
TREE = DecisionTreeClassifier(max_depth=2).fit(MOONS.X, MOONS.y)
NEAR = KNeighborsClassifier(1).fit(MOONS.X[:30], MOONS.y[:30])
LINE = LogisticRegression().fit(MOONS.X, MOONS.y)


def ringed_of(ax):
    """Points with a ring."""
    rings = [
        one for one in ax.collections if one is not mesh_of(ax) and one.get_linewidths()[0] > 0.5
    ]
    return {tuple(point) for one in rings for point in np.asarray(one.get_offsets())}


def test_panels_of_a_table_of_classifiers():
    axes = plot_decision_regions(
        [[TREE, NEAR], [LINE, TREE]], MOONS.X, MOONS.y, names=["up", "down"]
    )
    assert axes.shape == (2, 2)
    for (line, column), fitted in np.ndenumerate(np.array([[TREE, NEAR], [LINE, TREE]], object)):
        ax = axes[line, column]
        wrong = fitted.predict(MOONS.X) != MOONS.y
        assert ax.get_title() == f"{('up', 'down')[line]}: error {wrong.mean():.2f}"
        assert ringed_of(ax) == {tuple(point) for point in MOONS.X[wrong]}
        drawn = [some.get_offsets() for some in ax.collections if some is not mesh_of(ax)]
        assert sum(map(len, drawn)) == 60
    assert axes[0, 0].get_ylabel() == "x1"
    assert axes[1, 1].get_xlabel() == "x0"


def test_colours_are_the_answers():
    ax = plot_decision_regions(LINE, MOONS.X, MOONS.y)[0, 0]
    grid = np.random.default_rng(1).uniform([-1, -0.5], [2, 1], (200, 2))
    sure = np.abs(LINE.decision_function(grid)) > 0.2  # a cell has one colour
    codes = (LINE.predict(grid) == 1).astype(int)
    np.testing.assert_allclose(shades_at(ax, grid)[sure], class_shades(2)[codes[sure]])


def test_frames_keep_their_names_and_labels_their_text():
    frame = pd.DataFrame(MOONS.X, columns=["across", "up"])
    labels = np.where(MOONS.y == 1, "lower", "upper")
    fitted = DecisionTreeClassifier(max_depth=3).fit(frame, labels)
    (ax,) = plot_decision_regions([fitted], frame, labels)[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("across", "up")
    assert ax.get_title().startswith("DecisionTreeClassifier: error 0.")


def test_it_draws_where_it_is_told():
    axes = plot_decision_regions([TREE, NEAR], MOONS.X, MOONS.y)
    again = plot_decision_regions([TREE, NEAR], MOONS.X, MOONS.y, axes=axes.ravel())
    assert again[0, 1] is axes[0, 1]
    with pytest.raises(InvalidInput, match=r"axes holds 2 axes: expected 1"):
        plot_decision_regions(TREE, MOONS.X, MOONS.y, axes=axes)


def test_some_rows_are_drawn_and_all_are_counted():
    whole, some = (
        plot_decision_regions(NEAR, MOONS.X, MOONS.y, n_shown=n)[0, 0] for n in (None, 10)
    )
    assert whole.get_title() == some.get_title()
    assert ringed_of(some) == ringed_of(whole) & {tuple(point) for point in MOONS.X[:10]}
    with pytest.raises(InvalidParameter, match="n_shown=0"):
        plot_decision_regions(NEAR, MOONS.X, MOONS.y, n_shown=0)


@pytest.mark.parametrize(
    ("fitted", "X", "y", "error", "words"),
    [
        ([], MOONS.X, MOONS.y, InvalidInput, "none of them empty"),
        ([[TREE], [TREE, NEAR]], MOONS.X, MOONS.y, InvalidInput, "same length"),
        (DecisionTreeClassifier(), MOONS.X, MOONS.y, InvalidInputType, "no fitted classifier"),
        (TREE, MOONS.X, MOONS.y[1:], InvalidInput, "59 labels"),
        (TREE, np.ones((60, 3)), MOONS.y, InvalidInput, "two features"),
        (TREE, MOONS.X, ["upper"] * 60, InvalidInputType, "text"),
    ],
)
def test_hostile_panels(fitted, X, y, error, words):
    with pytest.raises(error, match=words):
        plot_decision_regions(fitted, X, y)


def test_names_are_one_for_each_row():
    with pytest.raises(InvalidInput, match="2 names: expected 1"):
        plot_decision_regions([TREE, NEAR], MOONS.X, MOONS.y, names=["tree", "near"])
