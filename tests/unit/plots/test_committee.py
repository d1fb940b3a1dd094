"""The heat map of correlations says the numbers it was given."""

import numpy as np
import pytest
from tests.unit.plots.drawings import mesh_of

from spinney.errors import InvalidInput, InvalidInputType
from spinney.plots import plot_error_correlation
from spinney.theory import committee_error, diversity

RNG = np.random.default_rng(0)
SAID = RNG.normal(size=(4, 30))


def cells_of(ax):
    return np.asarray(mesh_of(ax).get_array()).reshape(len(ax.get_xticks()), -1)


def test_cells_are_the_correlations():
    found = committee_error(SAID, np.zeros(30))
    ax = plot_error_correlation(found, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(cells_of(ax), found.correlations)
    assert mesh_of(ax).get_clim() == (-1.0, 1.0)
    written = [text.get_text() for text in ax.texts]
    assert written == [f"{value:.2g}" for value in found.correlations.ravel()]
    assert [label.get_text() for label in ax.get_xticklabels()] == list("abcd")
    assert ax.yaxis_inverted()


def test_votes_and_matrices_too():
    found = diversity(SAID > 0)
    np.testing.assert_array_equal(cells_of(plot_error_correlation(found)), found.correlations)
    ax = plot_error_correlation([[1.0, -0.25], [-0.25, 1.0]])
    assert [text.get_text() for text in ax.texts] == ["1", "-0.25", "-0.25", "1"]
    many = plot_error_correlation(np.eye(20))
    assert not many.texts


def test_a_member_without_a_correlation_has_a_dash():
    found = committee_error([[1.0, 1.0], [0.0, 2.0]], [0.0, 0.0])
    assert [text.get_text() for text in plot_error_correlation(found).texts] == ["-", "-", "-", "1"]


def test_it_draws_where_it_is_told():
    ax = plot_error_correlation(np.eye(2))
    assert plot_error_correlation(np.eye(2), ax=ax) is ax


@pytest.mark.parametrize(
    ("found", "names", "words"),
    [
        (np.zeros((2, 3)), None, r"shape \(2, 3\)"),
        (2 * np.eye(2), None, r"found\[0, 0\] is 2.0"),
        (np.eye(2), ["a"], "1 names"),
    ],
)
def test_hostile_matrices(found, names, words):
    with pytest.raises(InvalidInput, match=words):
        plot_error_correlation(found, names)


def test_text_is_no_matrix():
    with pytest.raises(InvalidInputType):
        plot_error_correlation([["a"]])
