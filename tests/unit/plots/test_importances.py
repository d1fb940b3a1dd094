import numpy as np
import pytest
from matplotlib.figure import Figure

from spinney.errors import InvalidInputType, InvalidParameter
from spinney.explain import Importances
from spinney.plots import plot_importances

FOUND = Importances("gain", ("a", "b", "c"), np.array([0.2, 0.7, -0.1]), np.array([0.1, 0.0, 0.3]))


def names_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_are_the_values_the_largest_on_top():
    ax = plot_importances(FOUND)
    assert names_of(ax) == ["b", "a", "c"]
    assert [bar.get_width() for bar in ax.patches] == [0.7, 0.2, -0.1]
    low, high = ax.get_ylim()
    assert low > high  # the first bar is at the top
    assert ax.get_xlabel() == "gain\n(with standard errors)"


def test_whiskers_are_the_standard_errors():
    (lines,) = plot_importances(FOUND).containers[0].lines[2]
    spans = [(segment[0, 0], segment[1, 0]) for segment in lines.get_segments()]
    assert spans == [pytest.approx(s) for s in [(0.7, 0.7), (0.1, 0.3), (-0.4, 0.2)]]
    ax = plot_importances(Importances("gain", ("a",), np.array([1.0]), None))
    assert len(ax.containers) == 1
    assert ax.get_xlabel() == "gain"


def test_of_many_some_are_drawn_and_it_says_so():
    ax = plot_importances(FOUND, n_shown=2)
    assert names_of(ax) == ["b", "a"]
    assert ax.get_title(loc="left") == "2 of 3 features"
    assert plot_importances(FOUND, n_shown=3).get_title(loc="left") == ""


def test_given_axes_and_others():
    ax = Figure().subplots()
    assert plot_importances(FOUND, ax=ax) is ax
    with pytest.raises(InvalidInputType, match="expected a Importances"):
        plot_importances([1.0, 2.0])
    with pytest.raises(InvalidParameter, match="n_shown=0"):
        plot_importances(FOUND, n_shown=0)
