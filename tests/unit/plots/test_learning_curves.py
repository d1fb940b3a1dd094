import numpy as np
import pytest
from tests.unit.plots.drawings import legend_of, lines_of

from spinney.errors import InvalidInput, InvalidInputType
from spinney.plots import plot_learning_curve, plot_out_of_bag
from spinney.theory import LearningCurve

STEPS = np.arange(4)
LOSSES = np.array([[0.9, 0.5, 0.4, 0.3], [0.9, 0.6, 0.5, 0.7]])
CURVE = LearningCurve(STEPS, ("training", "validation"), LOSSES, "loss", "round")


def bag(*scores, measure="accuracy"):
    steps = np.arange(1, len(scores) + 1)
    values = np.array([scores])
    return LearningCurve(steps, ("out of bag",), values, measure, "member", more_is_better=True)


def test_lines_are_the_curves_and_the_best_round_is_marked():
    ax = plot_learning_curve(CURVE)
    lines = lines_of(ax)
    for name in CURVE.names:
        assert lines[name].tolist() == [STEPS.tolist(), CURVE.curve(name).tolist()]
    assert ax.collections[0].get_offsets().tolist() == [[2.0, 0.5]]
    assert legend_of(ax) == ["training", "validation", "best: round 2"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("round", "loss")


def test_of_scores_the_best_is_the_largest():
    found = LearningCurve(STEPS, ("test",), LOSSES[:1], "accuracy", "round", more_is_better=True)
    assert legend_of(plot_learning_curve(found))[-1] == "best: round 0"


def test_the_legend_stands_beside_the_axes():
    ax = plot_learning_curve(CURVE)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 > ax.get_window_extent().x1
    assert legend.x1 <= ax.figure.bbox.x1 + 1


def test_one_round_and_nothing_measured_are_drawn_too():
    one = LearningCurve(np.array([1]), ("test",), np.array([[0.5]]), "loss", "round")
    ax = plot_learning_curve(one)
    assert ax.get_lines()[0].get_marker() == "o"
    ax.figure.draw_without_rendering()
    ax = plot_learning_curve(
        LearningCurve(STEPS, ("test",), np.full((1, 4), np.nan), "loss", "round")
    )
    assert legend_of(ax) == ["test"]
    ax.figure.draw_without_rendering()


def test_out_of_bag_curves_of_several_forests():
    ax = plot_out_of_bag({"forest": bag(np.nan, 0.5, 0.75), "bag": bag(0.5, 0.625)})
    assert legend_of(ax) == ["forest: 0.750", "bag: 0.625"]
    assert ax.get_lines()[1].get_xydata().tolist() == [[1.0, 0.5], [2.0, 0.625]]
    assert ax.get_ylabel() == "accuracy out of bag"
    assert plot_out_of_bag(bag(0.5, 0.6)).get_legend() is None


def test_others_are_refused():
    with pytest.raises(InvalidInput, match="accuracy and error"):
        plot_out_of_bag({"a": bag(0.5), "b": bag(0.5, measure="error")})
    with pytest.raises(InvalidInputType, match=r"spinney\.theory\.learning_curve"):
        plot_learning_curve([0.5, 0.4])
