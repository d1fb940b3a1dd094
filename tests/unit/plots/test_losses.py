import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.unit.plots.drawings import legend_of, lines_of

from spinney.errors import InvalidParameter
from spinney.losses import MARGIN_LOSSES, margin_loss
from spinney.plots import plot_margin_losses

STEP = "zero_one: 1[u ≤ 0]"


def test_every_loss_is_its_scaled_formula_and_none_is_below_the_step():
    ax = plot_margin_losses(tuple(MARGIN_LOSSES), limits=(-3.0, 3.0))
    lines = lines_of(ax)
    assert len(lines) == len(MARGIN_LOSSES)
    assert legend_of(ax) == list(lines)
    for name, loss in MARGIN_LOSSES.items():
        u, cost = lines[f"{name}: {loss.words}"]
        if name == "zero_one":
            assert np.array_equal([u, cost], [[-3, 0, 0, 3], [1, 1, 0, 0]])
            continue
        assert cost == pytest.approx(loss.value(u) / loss.value(0.0))
        assert np.interp(0.0, u, cost) == pytest.approx(1.0)
        assert (cost >= np.where(u <= 0, 1.0, 0.0) - 1e-12).all() == loss.upper_bounds_01


def test_the_step_is_always_there():
    for names in ("hinge", ["hinge"], ["zero_one", "hinge"]):
        assert legend_of(plot_margin_losses(names)) == [STEP, "hinge: max(0, 1 - u)"]
    assert legend_of(plot_margin_losses([])) == [STEP]


def test_margins_of_one_side_can_be_shown():
    right = lines_of(plot_margin_losses("hinge", limits=(0.5, 2.0)))
    left = lines_of(plot_margin_losses("hinge", limits=(-2.0, -0.5)))
    assert right[STEP][1].tolist() == [0, 0]
    assert left[STEP][1].tolist() == [1, 1]


def test_a_loss_of_ones_own_and_given_axes():
    def quartic(u):
        return np.maximum(0.0, 2.0 - u) ** 4

    ax = Figure().subplots()
    assert plot_margin_losses([margin_loss(quartic)], ax=ax) is ax
    u, cost = lines_of(ax)["quartic"]
    assert cost == pytest.approx((2 - u) ** 4 / 16)


def test_unknown_names_and_limits_are_refused():
    with pytest.raises(InvalidParameter, match="Did you mean 'hinge'"):
        plot_margin_losses(["hing"])
    with pytest.raises(InvalidParameter, match="the lower one first"):
        plot_margin_losses(limits=(1.0, -1.0))
