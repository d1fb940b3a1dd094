"""Figures leave no trace but themselves."""

import subprocess
import sys

import numpy as np
import pytest

from spinney import AdaBoostClassifier
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
    plot_weight_history,
)
from spinney.plots.canvas import COLOURS, DASHES, pick
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
