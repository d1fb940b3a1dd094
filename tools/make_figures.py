"""Make the figures of the guide: ``python tools/make_figures.py [folder]``.

Figures of ``docs/guide/plotting.md`` are made by running the page: each is what the lines above it
drew last. The others have a function here.

The same versions of the libraries write the same bytes: identifiers come from a fixed salt, and no
date is written. The data are those of the page.
"""

import doctest
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from spinney import (
    AdaBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestRegressor,
)
from spinney.datasets import (
    Dataset,
    make_friedman,
    make_long_servedio,
    make_moons,
    make_toy10,
    make_twonorm,
)
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
from spinney.theory import FreshSets, bias_variance, committee_error

FOLDER = Path(__file__).parents[1] / "docs" / "guide" / "figures"
PAGE = FOLDER.parent / "plotting.md"
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


def moons() -> Any:
    """Draw three learners on three training sets each, with some rows that none of them saw."""
    trainings = [make_moons(200, random_state=seed) for seed in (1, 2, 3)]
    test = make_moons(1000, random_state=0)
    makers = {
        "tree": DecisionTreeClassifier,
        "10 neighbours": lambda: KNeighborsClassifier(10),
        "logistic": LogisticRegression,
    }
    fitted = [[make().fit(one.X, one.y) for one in trainings] for make in makers.values()]
    panels = plot_decision_regions(fitted, test.X, test.y, names=[*makers], n_shown=50)
    return panels[0, 0].figure


def correlations() -> Any:
    """Draw the correlations of the errors of ten bagged trees."""
    train, test = make_friedman(1, 200, random_state=0), make_friedman(1, 1000, random_state=1)
    forest = RandomForestRegressor(10, max_features=1.0, random_state=0).fit(train.X, train.y)
    said = np.stack([tree.predict(test.X) for tree in forest.estimators_])
    return plot_error_correlation(committee_error(said, test.clean_y)).figure


def complexity() -> Any:
    """Draw bias and variance of trees against the number of their leaves."""
    leaves = (2, 4, 8, 16, 32, 64, 128)
    sets = FreshSets("friedman", n_test=500, options={"number": 1, "noise": 3.0})
    found = [
        bias_variance(DecisionTreeRegressor(max_leaf_nodes=most), sets, n_sets=20, random_state=0)
        for most in leaves
    ]
    return plot_bias_variance([one.corrected() for one in found], leaves, name="leaves").figure


FIGURES: Mapping[str, Callable[[], Any]] = {
    "adaboost-rounds": rounds,
    "alpha-against-error": alphas,
    "bias-variance": complexity,
    "error-correlation": correlations,
    "decision-regions": moons,
    "error-bounds": bounds,
    "margin-distribution": margins,
    "margin-losses": losses,
    "weight-history": noise,
}


def page_figures(page: Path) -> Iterator[tuple[str, Any]]:
    """Run a page and give each figure it shows that no function here makes."""
    parser, known = doctest.DocTestParser(), {}
    parts = re.split(r"!\[[^\]]+\]\(figures/([\w-]+)\.svg\)", page.read_text("utf-8"))
    for text, name in zip(parts[::2], [*parts[1::2], ""], strict=True):
        for example in parser.get_examples(text):
            exec(example.source, known)  # noqa: S102 - a page of ours
        if name and name not in FIGURES:
            yield name, known["ax"].figure


def make_figures(folder: Path, names: Collection[str] = tuple(FIGURES)) -> None:
    """Write the figures of the page into the folder, and of those with a function the named."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        for name in names:
            FIGURES[name]().savefig(folder / f"{name}.svg", metadata={"Date": None})
        for name, figure in page_figures(PAGE):
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None}, dpi=140)


if __name__ == "__main__":
    make_figures(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
