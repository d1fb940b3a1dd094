import numpy as np
import pytest
from tests.unit.plots.drawings import legend_of, lines_of

from spinney.errors import InvalidInput, InvalidInputType
from spinney.plots import plot_precision_recall, plot_roc
from spinney.theory import precision_recall_curve, roc_curve

Y, SCORES = [0, 1, 0, 1, 1], [0.1, 0.4, 0.6, 0.9, 0.9]


def test_roc_is_drawn_through_its_points():
    found = roc_curve(Y, SCORES)
    ax = plot_roc(found)
    assert legend_of(ax) == [f"area {found.area:.3f}", "guessing"]
    x, y = lines_of(ax)[f"area {found.area:.3f}"]
    assert x.tolist() == found.false_alarms.tolist()
    assert y.tolist() == found.found.tolist()
    assert lines_of(ax)["guessing"].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate", "true positive rate")
    assert ax.get_aspect() == 1.0


def test_precision_is_a_step_that_begins_at_recall_0():
    found = precision_recall_curve(Y, SCORES)
    ax = plot_precision_recall({"trees": found})
    label = f"trees: average precision {found.average_precision:.3f}"
    assert legend_of(ax) == [label, "guessing"]
    line = ax.get_lines()[0]
    assert line.get_xdata().tolist() == [0.0, *found.recall.tolist()]
    assert line.get_ydata()[1:].tolist() == found.precision.tolist()
    assert line.get_drawstyle() == "steps-pre"
    # The area under the step is the average precision.
    x, y = line.get_data()
    assert (np.diff(x) * y[1:]).sum() == pytest.approx(found.average_precision)
    assert list(ax.get_lines()[1].get_ydata()) == [0.6, 0.6]


def test_several_curves_differ_in_colour_and_dash():
    curves = {name: roc_curve(Y, np.array(SCORES) ** power) for name, power in [("a", 1), ("b", 2)]}
    lines = plot_roc(curves).get_lines()
    assert len({line.get_color() for line in lines}) == 3
    assert len({line.get_linestyle() for line in lines}) == 3


def test_the_legend_does_not_cover_the_data():
    for ax in (
        plot_roc({f"a rather long name {k}": roc_curve(Y, SCORES) for k in range(4)}),
        plot_precision_recall(precision_recall_curve(Y, SCORES)),
    ):
        ax.figure.draw_without_rendering()
        box, legend = ax.get_window_extent(), ax.get_legend().get_window_extent()
        assert not box.overlaps(legend)
        assert ax.figure.bbox.padded(1.0).containsx(legend.x1)
        assert ax.figure.bbox.padded(1.0).containsy(legend.y0)


def test_others_are_refused():
    with pytest.raises(InvalidInputType, match=r"Pass what spinney\.theory\.roc_curve gives"):
        plot_roc(precision_recall_curve(Y, SCORES))
    with pytest.raises(InvalidInputType, match="expected a PrecisionRecallCurve"):
        plot_precision_recall({"a": roc_curve(Y, SCORES)})
    with pytest.raises(InvalidInput, match="found is empty"):
        plot_roc({})
