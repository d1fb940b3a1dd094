import numpy as np
import pytest
from tests.unit.plots.drawings import legend_of

from spinney.errors import InvalidInput, InvalidInputType
from spinney.plots import plot_intervals
from spinney.uncertainty import PredictionIntervals

FOUND = PredictionIntervals.of([2.0, 1.0, 3.0], [1.0, 0.0, 2.5], [3.0, 2.0, 3.5], 0.9)


def segments(ax):
    return [segment.tolist() for segment in ax.collections[0].get_segments()]


def test_rows_stand_in_the_order_of_their_predictions():
    ax = plot_intervals(FOUND, [2.0, 5.0, 3.0])
    assert segments(ax) == [[[1, 0], [1, 2]], [[2, 1], [2, 3]], [[3, 2.5], [3, 3.5]]]
    assert ax.get_lines()[0].get_ydata().tolist() == [1.0, 2.0, 3.0]
    held, missed = ax.collections[1:]
    assert held.get_offsets().tolist() == [[2.0, 2.0], [3.0, 3.0]]
    assert missed.get_offsets().tolist() == [[1.0, 5.0]]
    assert legend_of(ax) == ["interval", "prediction", "target, held", "target, missed"]
    assert ax.get_title(loc="left") == "90 % intervals hold 66.7 % of 3 targets"


def test_rows_may_stand_by_a_feature_and_without_targets():
    ax = plot_intervals(FOUND, by=[10.0, 30.0, 20.0], name="area")
    assert [segment[0][0] for segment in segments(ax)] == [10.0, 20.0, 30.0]
    assert legend_of(ax) == ["interval", "prediction"]
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("area", "90 % intervals")


def test_of_many_rows_some_are_drawn_but_all_are_counted():
    n = 1000
    many = PredictionIntervals.of(np.arange(n), np.arange(n) - 1.0, np.arange(n) + 1.0, 0.8)
    ax = plot_intervals(many, np.where(np.arange(n) < 250, 5000.0, np.arange(n)), n_shown=50)
    assert len(segments(ax)) == 50
    assert ax.get_title(loc="left") == "80 % intervals hold 75.0 % of 1000 targets"


def test_infinite_ends_reach_beyond_all_others():
    found = PredictionIntervals.of([1.0, 2.0], [-np.inf, 1.0], [np.inf, 3.0], 0.99)
    ax = plot_intervals(found)
    low, high = np.array(segments(ax))[0, :, 1]
    assert -np.inf < low < 1.0
    assert 3.0 < high < np.inf
    ax.figure.draw_without_rendering()
    alone = PredictionIntervals.of([1.0], [-np.inf], [np.inf], 0.99)
    plot_intervals(alone).figure.draw_without_rendering()


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="y has 1 numbers: expected 3"):
        plot_intervals(FOUND, [1.0])
    with pytest.raises(InvalidInput, match=r"by\[0\] is nan"):
        plot_intervals(FOUND, by=[np.nan, 1.0, 2.0])
    with pytest.raises(InvalidInputType, match="expected a PredictionIntervals"):
        plot_intervals([1.0])
