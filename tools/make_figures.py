"""Make the figures of the guide: ``python tools/make_figures.py [folder]``.

The same versions of the libraries write the same bytes: identifiers come from a fixed salt, and no
date is written. The data are those of the page.
"""

import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from spinney import AdaBoostClassifier
from spinney.datasets import Dataset, make_long_servedio, make_toy10, make_twonorm
from spinney.plots import (
    plot_adaboost_rounds,
    plot_alpha_against_error,
    plot_error_bounds,
    plot_margin_distribution,
    plot_margin_losses,
    plot_weight_history,
)

FOLDER = Path(__file__).parents[1] / "docs" / "guide" / "figures"
STYLE = {"svg.hashsalt": "spinney", "svg.fonttype": "path", "font.size": 9.0}


@cache
def toy() -> tuple[AdaBoostClassifier, Dataset]:
    """Three rounds on ten points."""
    data = make_toy10()
    return AdaBoostClassifier(n_estimators=3, store_weights=True).fit(data.X, data.y), data


@cache
def norms() -> tuple[AdaBoostClassifier, Dataset, Dataset]:
    """Five hundred rounds, rows to learn from and rows to test on."""
    rng = np.random.default_rng(0)
    train, test = (make_twonorm(n_rows, random_state=rng) for n_rows in (300, 2000))
    return AdaBoostClassifier(n_estimators=500).fit(train.X, train.y), train, test


def rounds() -> Any:
    """Draw the three rounds in the plane."""
    fitted, data = toy()
    return plot_adaboost_rounds(fitted, data.X, data.y)[0].figure


def alphas() -> Any:
    """Draw the weights of votes."""
    return plot_alpha_against_error(toy()[0]).figure


def bounds() -> Any:
    """Draw errors and their bounds."""
    fitted, train, test = norms()
    return plot_error_bounds(fitted, train.X, train.y, test.X, test.y).figure


def margins() -> Any:
    """Draw the margins after a few and after many rounds."""
    fitted, train, _ = norms()
    return plot_margin_distribution(fitted, train.X, train.y, rounds=(5, 25, 500)).figure


def losses() -> Any:
    """Draw the losses."""
    return plot_margin_losses().figure


def noise() -> Any:
    """Draw the weights of a row whose label is wrong, and of one of each kind of the others."""
    data = make_long_servedio(800, random_state=0)
    fitted = AdaBoostClassifier(n_estimators=40, store_weights=True).fit(data.X, data.y)
    large, puller = (abs(data.X[:, :some].sum(axis=1)) == some for some in (21, 11))
    right = data.y == data.clean_y
    kinds = (large & ~right, right & ~puller, right & puller & ~large, right & large)
    return plot_weight_history(fitted, rows=[int(kind.argmax()) for kind in kinds]).figure


FIGURES: Mapping[str, Callable[[], Any]] = {
    "adaboost-rounds": rounds,
    "alpha-against-error": alphas,
    "error-bounds": bounds,
    "margin-distribution": margins,
    "margin-losses": losses,
    "weight-history": noise,
}


def make_figures(folder: Path) -> None:
    """Write every figure into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, draw in FIGURES.items():
            draw().savefig(folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    make_figures(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
