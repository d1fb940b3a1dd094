"""Lines of bias and variance are the numbers of the results."""

import numpy as np
import pytest
from tests.unit.plots.drawings import legend_of, lines_of

from spinney.errors import InvalidInput, InvalidInputType
from spinney.plots import plot_bias_variance
from spinney.theory import decompose_squared, decompose_zero_one

RNG = np.random.default_rng(0)
SQUARED = [decompose_squared(k * RNG.normal(size=(5, 9)), np.ones(9), noise=0.5) for k in (1, 2, 3)]
LABELS = [decompose_zero_one(RNG.integers(0, 2, (5, 9)), RNG.integers(0, 2, 9)) for _ in range(3)]


def test_lines_are_the_parts_and_add_up():
    ax = plot_bias_variance(SQUARED, [1, 2, 3], name="depth")
    lines = lines_of(ax)
    assert list(lines) == ["error", "squared bias", "variance", "noise"] == legend_of(ax)
    np.testing.assert_allclose(lines["error"], [[1, 2, 3], [one.error for one in SQUARED]])
    parts = lines["squared bias"][1] + lines["variance"][1] + lines["noise"][1]
    np.testing.assert_allclose(parts, lines["error"][1], rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == (
        "depth",
        "mean squared error",
        "linear",
    )


def test_labels_have_net_variance_and_no_line_without_noise():
    lines = lines_of(plot_bias_variance(LABELS, [1, 10, 100]))
    assert list(lines) == ["error", "bias", "variance"]
    np.testing.assert_allclose(lines["variance"][1], [one.net_variance for one in LABELS])
    np.testing.assert_allclose(
        lines["bias"][1] + lines["variance"][1], lines["error"][1], atol=1e-12
    )


def test_wide_ranges_are_logarithmic_and_text_is_text():
    assert plot_bias_variance(SQUARED, [1, 10, 100]).get_xscale() == "log"
    assert plot_bias_variance(SQUARED, [0, 10, 100]).get_xscale() == "linear"
    ax = plot_bias_variance(SQUARED, ["tree", "forest", "boosting"])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["tree", "forest", "boosting"]
    assert plot_bias_variance(SQUARED[0], [1], ax=ax) is ax


@pytest.mark.parametrize(
    ("found", "values", "error", "words"),
    [
        ([], [], InvalidInputType, "no results"),
        ([1.0], [1], InvalidInputType, "others than BiasVariance"),
        (SQUARED, [1, 2], InvalidInput, "3 results and 2 values"),
        ([SQUARED[0], LABELS[0]], [1, 2], InvalidInput, "domingos and squared"),
    ],
)
def test_hostile_results(found, values, error, words):
    with pytest.raises(error, match=words):
        plot_bias_variance(found, values)
