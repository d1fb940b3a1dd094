import numpy as np
import pytest

from spinney.errors import InvalidInputType
from spinney.plots import plot_confusion
from spinney.theory import confusion


def test_cells_are_the_shares_and_texts_the_weights():
    found = confusion(
        ["a", "a", "a", "b"], ["a", "a", "b", "b"], sample_weight=[1.0, 1.0, 2.0, 0.5]
    )
    ax = plot_confusion(found)
    cells = np.asarray(ax.collections[0].get_array()).reshape(2, 2)
    assert cells.tolist() == found.shares.tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert [text.get_text() for text in ax.texts] == ["2\n50%", "2\n50%", "0\n0%", "0.5\n100%"]
    assert [text.get_position() for text in ax.texts] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted class", "true class")
    assert ax.yaxis_inverted()


def test_dark_cells_have_light_texts():
    ax = plot_confusion(confusion([0, 0, 1], [0, 0, 1]))
    assert [text.get_color() for text in ax.texts] == ["white", "#222222", "#222222", "white"]


def test_classes_that_no_row_has_show_no_share():
    ax = plot_confusion(confusion(["a"], ["b"]))
    assert [text.get_text() for text in ax.texts] == ["0\n0%", "1\n100%", "0", "0"]
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize(("n_classes", "n_texts", "n_ticks"), [(1, 1, 1), (13, 0, 13), (60, 0, 0)])
def test_many_classes_are_drawn_without_texts(n_classes, n_texts, n_ticks):
    labels = np.arange(n_classes)
    ax = plot_confusion(confusion(labels, labels))
    assert len(ax.texts) == n_texts
    if n_ticks:
        assert len(ax.get_xticks()) == n_ticks
    ax.figure.draw_without_rendering()


def test_others_are_refused():
    with pytest.raises(InvalidInputType, match=r"spinney\.theory\.confusion"):
        plot_confusion(np.eye(2))
