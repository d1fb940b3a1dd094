import numpy as np
import pytest
from scipy.stats import binomtest
from tests.unit.plots.drawings import legend_of

from spinney.plots import plot_reliability
from spinney.uncertainty import reliability_curve

RNG = np.random.default_rng(0)
SAID = RNG.random(200)
HAPPENED = RNG.random(200) < SAID
FOUND = reliability_curve(HAPPENED, SAID, n_bins=5)


def test_points_are_the_bins_and_their_areas_the_shares_of_rows():
    ax = plot_reliability(FOUND)
    (points, _) = ax.collections
    assert points.get_offsets().tolist() == np.c_[FOUND.predicted, FOUND.observed].tolist()
    areas = points.get_sizes()
    assert np.diff(areas)[np.argsort(np.diff(areas))] == pytest.approx(
        240 * np.sort(np.diff(FOUND.weight)) / 200
    )
    assert legend_of(ax) == ["true", f"mean distance {FOUND.expected_error:.3f}"]
    assert ax.get_xlabel() == "predicted probability"


def test_whiskers_are_wilsons_intervals():
    segments = plot_reliability(FOUND).collections[1].get_segments()
    for (low, high), weight, share in zip(segments, FOUND.weight, FOUND.observed, strict=True):
        n = round(weight)
        right = binomtest(round(share * n), n).proportion_ci(method="wilson")
        assert (low[1], high[1]) == pytest.approx((right.low, right.high))


def test_several_have_names_and_markers_of_their_own():
    ax = plot_reliability({"raw": FOUND, "calibrated": FOUND})
    assert [label.split(":")[0] for label in legend_of(ax)] == ["true", "raw", "calibrated"]
    shapes = [str(drawn.get_paths()[0].vertices.tolist()) for drawn in ax.collections[::2]]
    assert len(set(shapes)) == 2


def test_one_bin_is_enough():
    ax = plot_reliability(reliability_curve([1, 1], [0.5, 0.5]))
    ax.figure.draw_without_rendering()
    assert ax.get_lines()[1].get_xydata().tolist() == [[0.5, 1.0]]
