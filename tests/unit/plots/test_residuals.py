import numpy as np
import pytest
from tests.unit.plots.drawings import legend_of

from spinney.plots import plot_residuals
from spinney.theory import residuals

RNG = np.random.default_rng(0)
Y = RNG.normal(size=100)
SAID = Y + 0.5 * RNG.normal(size=100)


def test_points_are_the_rows():
    found = residuals(Y, SAID)
    ax = plot_residuals(found)
    points = ax.collections[0]
    assert points.get_offsets().tolist() == np.c_[SAID, Y - SAID].tolist()
    assert len(points.get_sizes()) == 1
    assert ax.get_title(loc="left") == f"RMSE {found.root_mean_square:.4g}, R² {found.r2:.3g}"
    assert set(legend_of(ax)) == {"rows", "mean in bins"}


def test_bins_hold_about_the_same_weight_and_their_means_are_drawn():
    counts = RNG.integers(0, 3, 100)
    weighted = plot_residuals(residuals(Y, SAID, sample_weight=counts), n_bins=4)
    whole = residuals(np.repeat(Y, counts), np.repeat(SAID, counts))
    repeated = plot_residuals(whole, n_bins=4)
    for one, other in zip(
        weighted.containers[0].lines[0].get_data(),
        repeated.containers[0].lines[0].get_data(),
        strict=True,
    ):
        assert one == pytest.approx(other)
    order = np.argsort(SAID)
    x, y = plot_residuals(residuals(Y, SAID), n_bins=4).containers[0].lines[0].get_data()
    quarters = order.reshape(4, 25)
    assert x == pytest.approx(SAID[quarters].mean(axis=1))
    assert y == pytest.approx((Y - SAID)[quarters].mean(axis=1))


def test_heavier_rows_are_larger_and_those_that_count_nothing_are_gone():
    ax = plot_residuals(residuals([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], sample_weight=[1, 0, 3]))
    sizes = ax.collections[0].get_sizes()
    assert sizes[1] == pytest.approx(3 * sizes[0])
    assert len(ax.collections[0].get_offsets()) == 2


@pytest.mark.parametrize("rows", [([1.0], [2.0]), ([1.0, 2.0], [3.0, 3.0])])
def test_single_values_have_no_means_of_bins(rows):
    ax = plot_residuals(residuals(*rows))
    assert legend_of(ax) == ["rows"]
    ax.figure.draw_without_rendering()
