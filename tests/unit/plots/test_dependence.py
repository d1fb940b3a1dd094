import numpy as np
import pytest
from tests.unit.plots.drawings import legend_of, mesh_of
from tests.unit.plots.explained import HOSTILE, fitted_frame

from spinney.errors import InvalidInput, InvalidInputType
from spinney.explain import (
    accumulated_effects,
    accumulated_interaction,
    individual_curves,
    partial_dependence,
)
from spinney.plots import plot_accumulated_effects, plot_partial_dependence

FEATURES = ["number", "wood", "day", "wait", "flag", HOSTILE]


def mean_line(ax):
    return next(line for line in ax.get_lines() if line.get_label() == "mean")


def test_the_mean_is_drawn_through_the_grid():
    fitted, frame = fitted_frame()
    found = partial_dependence(fitted, HOSTILE, frame)
    ax = plot_partial_dependence(found)
    line = mean_line(ax)
    assert line.get_xdata().tolist() == found.grids[0].tolist()
    assert line.get_ydata().tolist() == found.values.tolist()
    assert line.get_drawstyle() == "steps-mid"
    assert ax.get_legend() is None
    assert ax.get_ylabel() == "prediction (raw)"


def test_single_rows_stand_behind_the_mean():
    fitted, frame = fitted_frame()
    found = partial_dependence(fitted, HOSTILE, frame, grid=5)
    rows = individual_curves(fitted, HOSTILE, frame, grid=5)
    ax = plot_partial_dependence(found, rows, n_curves=10)
    thin = [line for line in ax.get_lines() if line is not mean_line(ax)]
    assert len(thin) == 10
    chosen = np.rint(np.linspace(0, 119, 10)).astype(int)
    assert [line.get_ydata().tolist() for line in thin] == rows.values[chosen].tolist()
    assert all(line.get_zorder() < mean_line(ax).get_zorder() for line in thin)
    assert legend_of(ax) == ["single rows", "mean"]


def test_centred_rows_have_a_centred_mean():
    fitted, frame = fitted_frame()
    found = partial_dependence(fitted, HOSTILE, frame, grid=5)
    rows = individual_curves(fitted, HOSTILE, frame, grid=5, centred=True)
    ax = plot_partial_dependence(found, rows)
    assert mean_line(ax).get_ydata() == pytest.approx(rows.values.mean(axis=0))
    assert ax.get_ylabel().endswith("from the first point")


@pytest.mark.parametrize("name", FEATURES)
def test_every_kind_of_feature_can_be_drawn(name):
    fitted, frame = fitted_frame()
    found = partial_dependence(fitted, name, frame, grid=None if name in ("wood", "flag") else 7)
    rows = individual_curves(fitted, name, frame, grid=None if name in ("wood", "flag") else 7)
    ax = plot_partial_dependence(found, rows, n_curves=3)
    n_missing = int(frame[name].isna().any())
    assert len(mean_line(ax).get_ydata()) == len(found.values) - n_missing
    ax.figure.draw_without_rendering()
    texts = [text.get_text() for text in [*ax.texts, *ax.get_xticklabels()]]
    assert ("missing" in texts) == bool(n_missing)


@pytest.mark.parametrize("pair", [("number", HOSTILE), ("wood", "number"), ("day", "wait")])
def test_two_features_are_cells(pair):
    fitted, frame = fitted_frame()
    found = partial_dependence(fitted, pair, frame, grid=4 if "wood" not in pair else None)
    ax = plot_partial_dependence(found)
    across = np.argsort([str(v) for v in found.grids[0]]) if pair[0] == "wood" else slice(None)
    cells = np.asarray(mesh_of(ax).get_array())
    assert cells.size == found.values.size
    if pair[0] != "wood":
        assert cells.tolist() == found.values[across].T.tolist()
    ax.figure.draw_without_rendering()


def test_a_single_point_is_drawn():
    fitted, frame = fitted_frame()
    ax = plot_partial_dependence(partial_dependence(fitted, HOSTILE, frame, grid=[1.0]))
    assert mean_line(ax).get_marker() == "o"
    found = partial_dependence(fitted, ["flag", HOSTILE], frame, grid=([True], [1.0]))
    plot_partial_dependence(found).figure.draw_without_rendering()


@pytest.mark.parametrize("name", ["number", "day", "wait", "flag", HOSTILE])
def test_effects_are_drawn_at_the_edges(name):
    fitted, frame = fitted_frame()
    found = accumulated_effects(fitted, frame, name, n_intervals=6)
    ax = plot_accumulated_effects(found)
    line = next(one for one in ax.get_lines() if one.get_label() == "effect")
    edges = next(one for one in ax.get_lines() if one.get_label() == "edges")
    assert line.get_ydata().tolist() == found.values.tolist()
    assert edges.get_xdata().tolist() == line.get_xdata().tolist()
    assert (np.diff(line.get_xdata()) > 0).all()
    assert ax.get_ylabel() == "effect on prediction (raw)"
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("pair", [("number", HOSTILE), ("flag", "day"), ("wait", "number")])
def test_effects_of_two_features_are_cells_around_zero(pair):
    fitted, frame = fitted_frame()
    found = accumulated_interaction(fitted, frame, pair, n_intervals=4)
    mesh = mesh_of(plot_accumulated_effects(found))
    corners = found.values
    middles = (corners[1:, 1:] + corners[1:, :-1] + corners[:-1, 1:] + corners[:-1, :-1]) / 4
    drawn = np.ma.getmaskarray(mesh.get_array()).T.reshape(middles.shape)
    assert np.array_equal(drawn, found.cell_weights == 0)
    assert np.array_equal(mesh.get_array().compressed(), middles.T[~drawn.T])
    low, high = mesh.get_clim()
    assert low == -high
    mesh.figure.draw_without_rendering()


def test_a_constant_has_no_cells():
    fitted, frame = fitted_frame()
    found = accumulated_interaction(fitted, frame[:1], ["number", "wait"])
    plot_accumulated_effects(found).figure.draw_without_rendering()


def test_others_are_refused():
    fitted, frame = fitted_frame()
    found = partial_dependence(fitted, "wood", frame)
    with pytest.raises(InvalidInput, match="curves are of prediction"):
        plot_partial_dependence(found, individual_curves(fitted, "flag", frame))
    with pytest.raises(InvalidInputType, match="expected a IndividualCurves"):
        plot_partial_dependence(found, found)
    with pytest.raises(InvalidInputType, match="expected a AccumulatedEffects"):
        plot_accumulated_effects(found)
