import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.unit.plots.drawings import legend_of, lines_of

from spinney import AdaBoostClassifier
from spinney.datasets import make_toy10
from spinney.errors import InvalidInputType
from spinney.plots import plot_alpha_against_error

TOY = make_toy10()


def curve_of(ax):
    (label,) = [name for name in lines_of(ax) if "ln" in name]
    return lines_of(ax)[label]


def test_the_curve_is_half_the_log_odds_of_being_right():
    errors, alphas = curve_of(plot_alpha_against_error())
    assert np.tanh(alphas) == pytest.approx(1 - 2 * errors, abs=1e-12)
    assert alphas + alphas[::-1] == pytest.approx(0, abs=1e-12)
    assert (np.diff(alphas) < 0).all()


def test_rounds_lie_on_the_curve_and_have_numbers():
    fitted = AdaBoostClassifier(n_estimators=3).fit(TOY.X, TOY.y)
    ax = plot_alpha_against_error(fitted)
    points = np.asarray(ax.collections[0].get_offsets())
    assert points == pytest.approx(np.stack([fitted.estimator_errors_, fitted.alphas_], axis=1))
    assert points.round(4).tolist() == [[0.3, 0.4236], [0.2143, 0.6496], [0.1364, 0.9229]]
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3"]
    assert "rounds of the fit" in legend_of(ax)
    assert "varepsilon" in ax.get_xlabel()
    assert "alpha" in ax.get_ylabel()


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_rounds_of_samme_lie_on_its_curve(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=200), np.linspace(-0.6, 0.6, n_classes - 1))
    ax = plot_alpha_against_error(AdaBoostClassifier(n_estimators=8).fit(X, y))
    points, (errors, alphas) = np.asarray(ax.collections[0].get_offsets()), curve_of(ax)
    there = np.interp(points[:, 0], errors, alphas)
    assert points[:, 1] == pytest.approx(there, abs=1e-3)
    assert lines_of(ax)["guessing"][0].tolist() == [1 - 1 / n_classes] * 2
    zero = np.interp(0.0, alphas[::-1], errors[::-1])
    assert zero == pytest.approx(1 - 1 / n_classes, abs=1e-4)  # who guesses has no vote


def test_a_trace_will_do_and_given_axes_are_drawn_on():
    trace = AdaBoostClassifier(n_estimators=30).fit(TOY.X, TOY.y).trace_
    ax = Figure().subplots()
    assert plot_alpha_against_error(trace, ax=ax) is ax
    assert len(ax.collections[0].get_offsets()) == len(trace)
    assert not ax.texts  # too many to number
    with pytest.raises(InvalidInputType, match="no trace_"):
        plot_alpha_against_error([0.1, 0.2])
