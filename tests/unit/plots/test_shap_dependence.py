import numpy as np
import pytest
from tests.unit.plots.drawings import legend_of
from tests.unit.plots.explained import HOSTILE, fitted_frame

from spinney.errors import InvalidParameter
from spinney.explain import shap_values
from spinney.plots import plot_shap_dependence


@pytest.fixture(scope="module")
def found():
    fitted, frame = fitted_frame()
    return shap_values(fitted, frame)


def test_points_are_values_against_contributions(found):
    _, frame = fitted_frame()
    ax = plot_shap_dependence(found, HOSTILE, frame)
    x, y = ax.collections[0].get_offsets().T
    assert x.tolist() == frame[HOSTILE].tolist()
    assert y.tolist() == found.values[:, 5, 0].tolist()
    assert ax.get_ylabel() == "Shapley value, raw score"


def test_missing_values_stand_beside_the_others_and_are_named(found):
    _, frame = fitted_frame()
    ax = plot_shap_dependence(found, "number", frame)
    x = ax.collections[0].get_offsets()[:, 0]
    missing = frame["number"].isna().to_numpy()
    assert x[~missing].tolist() == frame["number"].dropna().tolist()
    assert (x[missing] > x[~missing].max()).all()
    assert [text.get_text() for text in ax.texts] == ["missing"]
    assert max(ax.get_xticks()) <= frame["number"].max()


@pytest.mark.parametrize("name", ["number", "wood", "day", "wait", "flag", HOSTILE])
@pytest.mark.parametrize("other", [None, "number", "wood", "day", "wait", "flag"])
def test_every_kind_of_column_can_be_drawn_and_colour(found, name, other):
    _, frame = fitted_frame()
    ax = plot_shap_dependence(found, name, frame, colour_by=other)
    assert sum(len(drawn.get_offsets()) for drawn in ax.collections) == len(frame)
    ax.figure.draw_without_rendering()


def test_levels_are_ticks_and_legends_whatever_they_are_called(found):
    _, frame = fitted_frame()
    ax = plot_shap_dependence(found, "wood", frame, colour_by="wood")
    assert [text.get_text() for text in ax.get_xticklabels()] == [
        r"_ash\$",
        "fir",
        "oak",
        "missing",
    ]
    assert legend_of(ax) == ["missing", r" _ash\$", "fir", "oak"]
    for code, drawn in enumerate(ax.collections[1:]):
        assert (np.abs(drawn.get_offsets()[:, 0] - code) < 0.3).all()


def test_unknown_features_are_refused(found):
    _, frame = fitted_frame()
    with pytest.raises(InvalidParameter, match="no feature 'wod'"):
        plot_shap_dependence(found, "wod", frame)
    with pytest.raises(InvalidParameter, match="colour_by: the model has no feature"):
        plot_shap_dependence(found, "wood", frame, colour_by="weight")
