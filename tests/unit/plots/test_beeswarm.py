import numpy as np
import pytest
from tests.unit.plots.explained import HOSTILE, fitted_frame

from spinney.errors import InvalidInput, InvalidInputType
from spinney.explain import ShapValues, shap_values
from spinney.plots import plot_shap_beeswarm
from spinney.plots.canvas import plain


@pytest.fixture(scope="module")
def found():
    fitted, frame = fitted_frame()
    return shap_values(fitted, frame)


def test_points_are_the_values_and_features_stand_by_importance(found):
    ax = plot_shap_beeswarm(found, n_shown=3)
    order = np.argsort(-np.abs(found.values[:, :, 0]).mean(axis=0))[:3]
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [plain(found.feature_names[place]) for place in order]
    for line, (place, drawn) in enumerate(zip(order, ax.collections, strict=True)):
        x, y = drawn.get_offsets().T
        assert x.tolist() == found.values[:, place, 0].tolist()
        assert (np.abs(y - line) <= 0.4 + 1e-12).all()


def test_points_that_would_cover_each_other_are_moved_apart():
    same = ShapValues(np.zeros((9, 1, 1)), np.zeros(1), ("a",), ("score",))
    y = plot_shap_beeswarm(same).collections[0].get_offsets()[:, 1]
    assert len(np.unique(y)) == 9
    again = plot_shap_beeswarm(same).collections[0].get_offsets()[:, 1]
    assert again.tolist() == y.tolist()


def test_colours_are_ranks_and_grey_is_for_categories_and_missing(found):
    _, frame = fitted_frame()
    ax = plot_shap_beeswarm(found, frame)
    names = [text.get_text() for text in ax.get_yticklabels()]
    grey, coloured = ax.collections[::2], ax.collections[1::2]
    n_grey = dict(zip(names, (len(drawn.get_offsets()) for drawn in grey), strict=True))
    assert n_grey["number"] == frame["number"].isna().sum()
    assert n_grey["wood"] == len(frame)
    ranks = dict(zip(names, (drawn.get_array() for drawn in coloured), strict=True))
    assert ranks["flag"].tolist() == frame["flag"].astype(float).tolist()
    hostile = ranks[plain(HOSTILE)]
    assert np.asarray(hostile) == pytest.approx((frame[HOSTILE] / frame[HOSTILE].max()).to_numpy())
    assert "grey: categories" in ax.get_xlabel()
    ax.figure.draw_without_rendering()


def test_columns_are_matched_by_name(found):
    _, frame = fitted_frame()
    one, other = (plot_shap_beeswarm(found, X) for X in (frame, frame[frame.columns[::-1]]))
    for a, b in zip(one.collections, other.collections, strict=True):
        assert (a.get_array() is None) == (b.get_array() is None)
        if a.get_array() is not None:
            assert a.get_array().tolist() == b.get_array().tolist()


def test_one_row_one_feature_and_one_of_several_outputs():
    values = ShapValues(np.ones((1, 1, 2)), np.zeros(2), ("a",), ("ash", "fir"))
    with pytest.raises(InvalidInput, match="Choose one by its name"):
        plot_shap_beeswarm(values)
    ax = plot_shap_beeswarm(values, [[np.nan]], output="fir")
    assert "of fir" in ax.get_xlabel()
    ax.figure.draw_without_rendering()


def test_bad_input_is_refused(found):
    _, frame = fitted_frame()
    with pytest.raises(InvalidInput, match="X has 3 rows and the Shapley values are of 120"):
        plot_shap_beeswarm(found, frame[:3])
    with pytest.raises(InvalidInput, match="X has 2 columns"):
        plot_shap_beeswarm(found, np.zeros((120, 2)))
    with pytest.raises(InvalidInputType, match=r"spinney\.explain\.shap_values"):
        plot_shap_beeswarm(frame)
