import numpy as np
import pytest
from tests.unit.plots.explained import HOSTILE, fitted_frame

from spinney.errors import InvalidInputType
from spinney.explain import explain_row
from spinney.plots import plot_shap_waterfall
from spinney.plots.canvas import plain


@pytest.fixture(scope="module")
def found():
    fitted, frame = fitted_frame()
    return explain_row(fitted, frame.iloc[3])


def labels_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_lead_from_the_base_to_the_raw_score(found):
    ax = plot_shap_waterfall(found)
    widths = [bar.get_width() for bar in ax.patches]
    starts = [bar.get_x() for bar in ax.patches]
    order = np.argsort(-np.abs(found.contributions))
    assert widths == pytest.approx(found.contributions[order])
    assert starts[0] == pytest.approx(found.base)
    assert starts[1:] == pytest.approx(found.base + np.cumsum(widths)[:-1])
    assert starts[-1] + widths[-1] == pytest.approx(found.raw_score)
    names = [label.split(" = ")[0] for label in labels_of(ax)]
    assert names == [plain(found.feature_names[place]) for place in order]
    assert ax.get_title(loc="left") == f"prediction = {found.prediction:.4g}"


def test_the_rest_shares_a_bar(found):
    ax = plot_shap_waterfall(found, n_shown=2)
    assert labels_of(ax)[2:] == ["4 other features"]
    end = ax.patches[-1].get_x() + ax.patches[-1].get_width()
    assert end == pytest.approx(found.raw_score)
    assert len(plot_shap_waterfall(found, n_shown=5).patches) == 6


def test_up_and_down_differ_in_grey_too(found):
    ax = plot_shap_waterfall(found)
    colours = {bar.get_width() > 0: bar.get_facecolor()[:3] for bar in ax.patches}
    grey = {up: float(np.dot(colour, [0.299, 0.587, 0.114])) for up, colour in colours.items()}
    assert grey[False] - grey[True] > 0.15


def test_texts_stay_within_the_figure(found):
    ax = plot_shap_waterfall(found)
    ax.figure.draw_without_rendering()
    for text in ax.texts:
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= ax.figure.bbox.x1


def test_hostile_names_and_one_feature():
    from spinney import DecisionTreeClassifier

    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["$no$", "_yes"])
    ax = plot_shap_waterfall(explain_row(tree, [1.0]))
    assert ax.get_title(loc="left").startswith("P(")
    ax.figure.draw_without_rendering()
    assert HOSTILE not in plain(HOSTILE)
    with pytest.raises(InvalidInputType, match=r"spinney\.explain\.explain_row"):
        plot_shap_waterfall([1.0])
