"""Figures leave no trace but themselves."""

import subprocess
import sys

import numpy as np
import pytest

from spinney import AdaBoostClassifier, DecisionTreeClassifier
from spinney.datasets import make_toy10
from spinney.plots import (
    plot_adaboost_rounds,
    plot_alpha_against_error,
    plot_bias_variance,
    plot_decision_regions,
    plot_error_bounds,
    plot_error_correlation,
    plot_margin_distribution,
    plot_margin_losses,
    plot_tree,
    plot_weight_history,
)
from spinney.plots.canvas import COLOURS, DASHES, legend_name, pick, plain
from spinney.theory import decompose_squared

TOY = make_toy10()
FITTED = AdaBoostClassifier(n_estimators=3, store_weights=True).fit(TOY.X, TOY.y)
DRAWINGS = {
    "rounds": lambda: plot_adaboost_rounds(FITTED, TOY.X, TOY.y)[0],
    "margins": lambda: plot_margin_distribution(FITTED, TOY.X, TOY.y),
    "bounds": lambda: plot_error_bounds(FITTED, TOY.X, TOY.y),
    "votes": lambda: plot_alpha_against_error(FITTED),
    "losses": plot_margin_losses,
    "weights": lambda: plot_weight_history(FITTED),
    "regions": lambda: plot_decision_regions(FITTED, TOY.X, TOY.y)[0, 0],
    "correlations": lambda: plot_error_correlation(np.eye(3)),
    "parts": lambda: plot_bias_variance(decompose_squared([[1.0], [2.0]], [1.0]), ["tree"]),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_figure_of_its_own_which_pyplot_does_not_know(name, tmp_path):
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    before = dict(mpl.rcParams)
    ax, again = DRAWINGS[name](), DRAWINGS[name]()
    assert ax.figure is not again.figure
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before
    ax.figure.savefig(tmp_path / "drawn.png", dpi=20)
    assert (tmp_path / "drawn.png").stat().st_size > 1000


def test_drawing_does_not_load_pyplot(tmp_path):
    code = (
        "import sys\n"
        "from spinney.plots import plot_margin_losses\n"
        "early = 'matplotlib' in sys.modules\n"
        "plot_margin_losses().figure.savefig(sys.argv[1])\n"
        "print(early, 'matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)"
    )
    command = [sys.executable, "-c", code, tmp_path / "drawn.svg"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False True False"


def test_without_matplotlib_the_error_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'spinney\[plot\]'"):
        plot_margin_losses()


def test_lines_that_follow_each_other_differ_in_colour_and_dash():
    looks = [(pick(COLOURS, place), str(pick(DASHES, place))) for place in range(len(COLOURS))]
    assert len(set(looks)) == len(np.unique([colour for colour, _ in looks])) == len(COLOURS)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("$a$", r"\$a\$"),
        ("two\nlines\tand a bell\a", "two lines and a bell"),
        ("", "(no name)"),
        ("x" * 40, "x" * 16 + "…" + "x" * 15),
        ("größe_ω", "größe_ω"),
        (3, "3"),
    ],
)
def test_names_are_shown_as_they_are(name, shown):
    assert plain(name) == shown
    ax = plot_margin_losses()
    ax.set_title(plain(name))
    ax.figure.draw_without_rendering()
    assert ax.title._preprocess_math(ax.title.get_text())[1] is False  # no formula


def test_legends_keep_names_that_begin_with_an_underscore():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    ax.plot([0, 1], label=legend_name("_hidden"))
    assert [text.get_text() for text in ax.legend().get_texts()] == [" _hidden"]
    assert legend_name("seen") == "seen"


HOSTILE = "$\\frac{1}$ _<b>\n and a name that goes on for rather longer than anybody would like"


def test_figures_of_older_kinds_take_hostile_names():
    import pandas as pd

    frame = pd.DataFrame(TOY.X, columns=[HOSTILE, "_$"])
    labels = np.where(TOY.y > 0, "$yes$", "_no")
    fitted = AdaBoostClassifier(n_estimators=3, store_weights=True).fit(frame, labels)
    for ax in (
        plot_adaboost_rounds(fitted, frame, labels)[0],
        plot_decision_regions(fitted, frame, labels, names=[HOSTILE])[0, 0],
        plot_error_correlation(np.eye(2), [HOSTILE, "_$x$"]),
        plot_bias_variance(decompose_squared([[1.0], [2.0]], [1.0]), ["tree"], name=HOSTILE),
        plot_tree(DecisionTreeClassifier().fit(frame, labels)),
    ):
        ax.figure.draw_without_rendering()
