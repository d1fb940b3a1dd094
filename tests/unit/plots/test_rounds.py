import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier as GuestTree
from tests.unit.plots.drawings import legend_of, lines_of, mesh_of, points_of, shades_at

from spinney import AdaBoostClassifier, DecisionTreeClassifier, MarginBoostClassifier
from spinney.datasets import make_toy10
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.plots import plot_adaboost_rounds

TOY = make_toy10()


def boosted(X=TOY.X, y=TOY.y, estimator=None, **changed):
    settings = {"n_estimators": 3, "store_weights": True, "random_state": 0} | changed
    return AdaBoostClassifier(estimator, **settings).fit(X, y)


def scattered(n_rows=80, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=n_rows) > 0).astype(int)
    return X, y + (n_classes - 2) * (X[:, 1] > 0.6)


def test_the_toy_gives_the_known_figure():
    axes = plot_adaboost_rounds(boosted(), TOY.X, TOY.y)
    assert [ax.get_title() for ax in axes] == [
        r"round 1: $\varepsilon$ = 0.30, $\alpha$ = 0.42",
        r"round 2: $\varepsilon$ = 0.21, $\alpha$ = 0.65",
        r"round 3: $\varepsilon$ = 0.14, $\alpha$ = 0.92",
        "sum of 3 rounds: error 0.00",
    ]
    stumps = [next(iter(lines_of(ax).values())).tolist() for ax in axes[:3]]
    assert stumps[:2] == [[[2.5, 2.5], [0, 1]], [[8.5, 8.5], [0, 1]]]  # upright
    assert stumps[2] == [[0, 1], [4.5, 4.5]]  # level
    ringed = [np.flatnonzero(points_of(ax, TOY.X)[1] > 1).tolist() for ax in axes]
    assert ringed == [[5, 6, 7], [2, 3, 4], [0, 8, 9], []]
    assert legend_of(axes[-1]) == ["class -1", "class 1"]
    assert [ax.get_xlabel() for ax in axes] == ["x0"] * 4
    assert axes[0].get_ylabel() == "x1"


@pytest.mark.parametrize("n_rows", [10, 500])
def test_areas_are_proportional_to_the_weights_the_round_saw(n_rows):
    X, y = (TOY.X, TOY.y) if n_rows == 10 else scattered(n_rows)
    fitted = boosted(X, y, n_estimators=7)
    rounds = (1, 4, 7)
    for ax, number in zip(plot_adaboost_rounds(fitted, X, y, rounds), rounds, strict=False):
        areas, _ = points_of(ax, X)
        assert areas / areas.sum() == pytest.approx(fitted.trace_.distributions[number - 1])


class Contrary(ClassifierMixin, BaseEstimator):
    """Says the opposite of what a stump says."""

    def fit(self, X, y, sample_weight=None):
        self.stump_ = GuestTree(max_depth=1).fit(X, y, sample_weight)
        self.classes_ = self.stump_.classes_
        return self

    def predict(self, X):
        return self.classes_[1 - np.searchsorted(self.classes_, self.stump_.predict(X))]


LEARNERS = [
    None,
    DecisionTreeClassifier(max_depth=2),
    GuestTree(max_depth=2, random_state=0),
    LogisticRegression(),
]


@pytest.mark.parametrize(
    ("estimator", "n_classes"),
    [*((learner, k) for learner in LEARNERS for k in (2, 3)), (Contrary(), 2)],
    ids=str,
)
def test_ringed_points_weigh_as_much_as_the_error_of_the_round(estimator, n_classes):
    X, y = scattered(n_classes=n_classes)
    fitted = boosted(X, y, estimator, n_estimators=4)
    rounds = range(1, len(fitted.trace_) + 1)
    axes = plot_adaboost_rounds(fitted, X, y, rounds)
    for number, ax in zip(rounds, axes, strict=False):
        wrong = points_of(ax, X)[1] > 1
        weight = fitted.trace_.distributions[number - 1][wrong].sum()
        assert weight == pytest.approx(fitted.trace_.errors[number - 1], abs=1e-12)
    assert (points_of(axes[-1], X)[1] > 1).sum() == (fitted.predict(X) != y).sum()
    assert legend_of(axes[-1]) == [f"class {c}" for c in range(n_classes)]


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle"])
def test_backgrounds_are_exactly_what_is_said_there(variant):
    X, y = scattered(60)
    fitted = boosted(X, y, n_estimators=15, variant=variant)
    axes = plot_adaboost_rounds(fitted, X, y, rounds=(1, 9))
    anywhere = np.random.default_rng(1).uniform(X.min(axis=0), X.max(axis=0), (4000, 2))
    for ax, said in zip(
        axes,
        [*(np.asarray(fitted.estimators_[t].predict(anywhere)) > 0 for t in (0, 8)), None],
        strict=True,
    ):
        classes = fitted.predict(anywhere) if said is None else said.astype(int)
        shades = shades_at(ax, anywhere)
        pair = [np.unique(shades[classes == code], axis=0) for code in (0, 1)]
        assert [len(found) for found in pair] == [1, 1]
        assert not np.array_equal(*pair)


def test_cells_end_at_the_thresholds_also_near_the_border():
    corners = mesh_of(plot_adaboost_rounds(boosted(), TOY.X, TOY.y)[-1]).get_coordinates()
    assert corners[0, 1:-1, 0].tolist() == [2.5, 8.5]
    assert corners[1:-1, 0, 1].tolist() == [4.5]
    X, y = np.array([[0.0, 0.0], [0.2, 0.0], [9.0, 0.0]]), [0, 1, 1]
    corners = mesh_of(plot_adaboost_rounds(boosted(X, y), X, y, (1,))[-1]).get_coordinates()
    assert corners[0, 1:-1, 0].tolist() == pytest.approx([0.1])


def test_many_cells_become_a_picture(monkeypatch):
    few = mesh_of(plot_adaboost_rounds(boosted(), TOY.X, TOY.y)[-1])
    assert few.get_array().shape == (2, 3, 3)  # one cut upwards, two across; colours
    assert not few.get_rasterized()
    guests = mesh_of(plot_adaboost_rounds(boosted(estimator=LogisticRegression()), TOY.X, TOY.y)[0])
    monkeypatch.setattr("spinney.plots.cells._MOST", 5)
    too_many = mesh_of(plot_adaboost_rounds(boosted(), TOY.X, TOY.y)[-1])
    for mesh in (guests, too_many):
        assert mesh.get_array().shape == (200, 200, 3)
        assert mesh.get_rasterized()


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_keep_their_names(library):
    table = library.DataFrame({"width": TOY.X[:, 0], "height": TOY.X[:, 1]})
    names = np.where(TOY.y > 0, "plus", "minus")
    axes = plot_adaboost_rounds(boosted(table, names), table, names)
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("width", "height")
    assert legend_of(axes[-1]) == ["class minus", "class plus"]
    by_array = plot_adaboost_rounds(boosted(), TOY.X, TOY.y)
    for one, other in zip(axes, by_array, strict=True):
        assert np.array_equal(mesh_of(one).get_array(), mesh_of(other).get_array())


def test_given_axes_are_drawn_on():
    axes = Figure().subplots(2, 2)
    drawn = plot_adaboost_rounds(boosted(), TOY.X, TOY.y, axes=axes)
    assert drawn.tolist() == axes.ravel().tolist()
    with pytest.raises(InvalidInput, match="axes holds 4 axes: expected 2"):
        plot_adaboost_rounds(boosted(), TOY.X, TOY.y, (1,), axes=axes)


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        ((4,), "rounds holds 4, but the booster was fitted in 3"),
        ((0,), "rounds holds 0: expected whole numbers"),
        ((1.5,), "rounds holds 1.5"),
        ((True,), "rounds holds True"),
        ((), "rounds is empty"),
    ],
)
def test_rounds_must_be_there(rounds, message):
    with pytest.raises(InvalidParameter, match=message):
        plot_adaboost_rounds(boosted(), TOY.X, TOY.y, rounds)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(InvalidInput, match="store_weights=True"):
        plot_adaboost_rounds(boosted(store_weights=False), TOY.X, TOY.y)
    with pytest.raises(InvalidInput, match=r"shape \(10, 3\): expected rows of two features"):
        plot_adaboost_rounds(boosted(), np.ones((10, 3)), TOY.y)
    with pytest.raises(InvalidInput, match="X has 9 rows, but the booster kept weights of 10"):
        plot_adaboost_rounds(boosted(), TOY.X[:9], TOY.y[:9])
    with pytest.raises(InvalidInput, match="missing or infinite"):
        plot_adaboost_rounds(boosted(), np.where(TOY.X == 9.0, np.nan, TOY.X), TOY.y)
    with pytest.raises(InvalidInputType, match="no numbers"):
        plot_adaboost_rounds(boosted(), np.full((10, 2), "a"), TOY.y)
    with pytest.raises(InvalidInput, match="no class the model knows"):
        plot_adaboost_rounds(boosted(), TOY.X, np.where(TOY.y > 0, 2, -1))
    with pytest.raises(InvalidInputType, match="Call fit"):
        plot_adaboost_rounds(AdaBoostClassifier(), TOY.X, TOY.y)
    program = MarginBoostClassifier(algorithm="lpboost", nu=0.01, store_weights=True)
    with pytest.raises(InvalidInput, match="3 members of 5 rounds"):
        plot_adaboost_rounds(program.fit(TOY.X, TOY.y), TOY.X, TOY.y)
