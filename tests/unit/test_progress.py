"""Progress: silent unless asked and looked at; one bar in a terminal or notebook."""

import io
import re
import sys
import types
from inspect import signature

import numpy as np
import pytest
from sklearn.base import clone

import spinney
from spinney import progress as progress_module
from spinney.errors import InvalidParameter
from spinney.explain import permutation_importance
from spinney.progress import Progress, follow, show_progress
from spinney.resampling import bootstrap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] + RNG.normal(size=120)


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def terminal(monkeypatch):
    """Let progress see a terminal; pytest would take sys.stderr back before the test begins."""
    stream = Terminal()
    seen = types.SimpleNamespace(stderr=stream, modules=sys.modules)
    monkeypatch.setattr(progress_module, "sys", seen)
    return stream


def test_bar_has_count_note_speed_and_time_left(clock):
    stream = Terminal()
    progress = Progress(100, "round", verbose=1, stream=stream)
    progress.show(0, "training loss 2")
    clock[0] = 20.0
    progress.show(40, "training loss 0.5")
    first, second = stream.getvalue().split("\r")[1:]
    assert first.strip("─ ") == "round 0/100, training loss 2"
    assert second.startswith("━" * 10 + "─" * 14)
    assert second.endswith("round 40/100, 2/s, 0:30 left, training loss 0.5")


def test_terminal_has_one_line_that_is_overwritten(clock):
    stream = Terminal()
    with Progress(10, "tree", verbose=1, stream=stream) as progress:
        progress.show(0, "a long note")
        clock[0] = 1.0
        progress.show(5)
        progress.show(6)  # too soon after the last
        clock[0] = 2.0
        progress.show(10)
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text.count("\r") == 4
    assert "tree 6/10" not in text
    assert "tree 10/10, 5/s, 0:02" in text.rsplit("\r", 1)[1]


def test_a_stream_without_a_person_gets_nothing_or_few_lines(clock):
    for verbose, expected in ((0, 0), (1, 0), (2, 6)):
        stream, clock[0] = io.StringIO(), 0.0
        with Progress(1000, "round", verbose=verbose, stream=stream) as progress:
            for number in range(1001):
                clock[0] = number * 0.05
                progress.show(number)
        lines = stream.getvalue().splitlines()
        assert len(lines) == expected + (verbose == 2)
        if lines:
            assert lines[-1].startswith("round 1000/1000")


def test_a_terminal_without_bars_gets_signs_it_has():
    stream = Terminal()
    stream.encoding = "ascii"
    Progress(2, "tree", verbose=1, stream=stream).show(1)
    assert "############------------" in stream.getvalue()


def test_long_lines_are_cut_to_the_width_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = Terminal()
    Progress(2, "tree", verbose=1, stream=stream).show(1, "x" * 500)
    assert len(stream.getvalue()) <= 41


def test_notebook_changes_one_display(monkeypatch, clock):
    shown = []

    class Handle:
        def update(self, html):
            shown.append(("update", html.text))

    class HTML:
        def __init__(self, text):
            self.text = text

    def display(html, *, display_id):
        assert display_id
        shown.append(("display", html.text))
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = type("ZMQInteractiveShell", (), {})
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.HTML, ipython.display.display = HTML, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    with Progress(4, "tree", verbose=1, stream=io.StringIO()) as progress:
        progress.show(1, "<b>")
        clock[0] = 1.0
        progress.show(2)
    kinds = [kind for kind, _ in shown]
    assert kinds == ["display", "update", "update"]
    assert 'value="0.2500"' in shown[0][1]
    assert "&lt;b&gt;" in shown[0][1]
    assert "tree 2/4" in shown[1][1]


def test_of_bars_inside_each_other_the_outermost_is_shown(terminal):
    with show_progress():
        for _ in follow(range(2), 2, "outer"):
            assert not Progress(5, "inner", verbose=1).is_shown
        assert Progress(5, "inner").is_shown
    assert not Progress(5, "inner").is_shown
    assert "inner" not in terminal.getvalue()
    assert "outer 2/2" in terminal.getvalue()


def test_a_loop_that_is_left_gives_the_terminal_back(terminal):
    with show_progress():
        for _ in follow(range(9), 9, "first"):
            break
        assert Progress(5, "second").is_shown
    assert terminal.getvalue().endswith("\n")


LONG_WORK = {
    "boosting": lambda: spinney.GradientBoostingRegressor(max_iter=3).fit(X, Y),
    "forest": lambda: spinney.RandomForestRegressor(n_estimators=3).fit(X, Y),
    "rotation": lambda: spinney.RotationForestRegressor(n_estimators=3).fit(X, Y),
    "isolation": lambda: spinney.IsolationForest(n_estimators=3).fit(X),
    "embedding": lambda: spinney.RandomTreesEmbedding(n_estimators=3).fit(X),
    "bagging": lambda: spinney.BaggingRegressor(n_estimators=3).fit(X, Y),
    "members": lambda: spinney.BaggingRegressor(
        spinney.GradientBoostingRegressor(max_iter=2), n_estimators=3
    ).fit(X, Y),
    "iterated": lambda: spinney.IteratedBaggingRegressor(n_estimators=3).fit(X, Y),
    "adaboost": lambda: spinney.AdaBoostClassifier(n_estimators=3).fit(X, Y > 0),
    "adaboost r2": lambda: spinney.AdaBoostRegressor(n_estimators=3).fit(X, Y),
    "margins": lambda: spinney.MarginBoostClassifier(n_estimators=3).fit(X, Y > 0),
    "robust": lambda: spinney.RobustBoostClassifier(n_estimators=3).fit(X, Y > 0),
    "functional": lambda: spinney.FunctionalGradientBoostingRegressor(n_estimators=3).fit(X, Y),
    "stacking": lambda: spinney.StackingRegressor(cv=2).fit(X, Y),
    "voting": lambda: spinney.VotingRegressor().fit(X, Y),
    "selection": lambda: spinney.EnsembleSelectionRegressor().fit(X, Y),
    "bootstrap": lambda: bootstrap(np.mean, Y, n_resamples=9),
    "permutation": lambda: permutation_importance(
        spinney.DecisionTreeRegressor().fit(X, Y), X, Y, n_repeats=1
    ),
}


@pytest.mark.parametrize("name", LONG_WORK)
def test_long_work_is_shown_when_asked_and_silent_otherwise(name, terminal):
    LONG_WORK[name]()
    assert terminal.getvalue() == ""
    with show_progress():
        LONG_WORK[name]()
    assert re.search(r"\w \d+/\d+", terminal.getvalue())


@pytest.mark.parametrize(
    "estimator",
    [
        spinney.GradientBoostingRegressor(max_iter=3, verbose=1, random_state=0),
        spinney.HistGradientBoostingRegressor(max_iter=3, verbose=1, random_state=0),
        spinney.RandomForestRegressor(n_estimators=3, verbose=1, random_state=0),
        spinney.ExtraTreesRegressor(n_estimators=3, verbose=1, random_state=0),
        spinney.IsolationForest(n_estimators=3, verbose=1, random_state=0),
        spinney.RandomTreesEmbedding(n_estimators=3, verbose=1, random_state=0),
        spinney.BaggingRegressor(n_estimators=3, verbose=1, random_state=0),
        spinney.PastingRegressor(n_estimators=3, verbose=1, random_state=0),
        spinney.IteratedBaggingRegressor(n_estimators=3, verbose=1, random_state=0),
        spinney.StackingRegressor(cv=2, verbose=1),
        spinney.BlendingRegressor(verbose=1, random_state=0),
        spinney.VotingRegressor(verbose=1),
        spinney.AdaBoostRegressor(n_estimators=3, verbose=1),
        spinney.L2BoostRegressor(n_estimators=3, verbose=1),
        spinney.L2BoostRegressor(n_estimators=3, stopping="cv", verbose=True, random_state=0),
        spinney.FunctionalGradientBoostingRegressor(n_estimators=3, verbose=1),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_verbose_shows_a_bar_and_changes_nothing(estimator, terminal):
    estimator.fit(X, Y)
    assert re.search(r"\w \d+/\d+", terminal.getvalue())
    assert terminal.getvalue().count("\n") >= 1
    if hasattr(estimator, "model_"):
        quiet = type(estimator)(**{**estimator.get_params(deep=False), "verbose": 0})
        assert quiet.fit(X, Y).model_.fingerprint == estimator.model_.fingerprint


@pytest.mark.parametrize(
    ("estimator", "unit"),
    [
        (spinney.AdaBoostClassifier(n_estimators=3, verbose=1), "round 3/3"),
        (spinney.AdaBoostClassifier(verbose=1, early_stopping="cv", random_state=0), "fold 5/5"),
        (spinney.MarginBoostClassifier(n_estimators=3, verbose=1), "round 3/3"),
        (spinney.MarginBoostClassifier(n_estimators=3, algorithm="arc_gv", verbose=1), "round 3/3"),
        (spinney.RobustBoostClassifier(n_estimators=3, verbose=1), "round 3/3"),
        (spinney.RobustBoostClassifier(algorithm="martingale", n_levels=3, verbose=1), "level 3/3"),
        (spinney.RobustBoostClassifier(algorithm="robust", verbose=True), r"target error \d/8"),
        (spinney.FunctionalGradientBoostingClassifier(n_estimators=3, verbose=1), "round 3/3"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_verbose_of_boosters_of_votes_shows_a_bar_and_changes_nothing(estimator, unit, terminal):
    labels = RNG.normal(0, 0.2, 120) < Y
    estimator.fit(X, labels)
    assert re.search(unit, terminal.getvalue())
    shown = len(terminal.getvalue())
    quiet = type(estimator)(**{**estimator.get_params(deep=False), "verbose": 0})
    assert quiet.fit(X, labels).model_.fingerprint == estimator.model_.fingerprint
    assert len(terminal.getvalue()) == shown
    with pytest.raises(InvalidParameter, match="verbose=-1"):
        quiet.set_params(verbose=-1).fit(X, labels)


TREE = spinney.DecisionTreeClassifier(max_depth=2)
PAIRS = [("one", TREE), ("two", spinney.DecisionTreeClassifier(max_depth=1))]
NUMBER_PAIRS = [(f"{depth}", spinney.DecisionTreeRegressor(max_depth=depth)) for depth in (1, 2)]
COMMITTEES = [
    (spinney.QuantileForestRegressor(60, random_state=0), "tree 60/60"),
    (spinney.RotationForestClassifier(3, random_state=0), "tree 3/3"),
    (spinney.RotationForestRegressor(3, random_state=0), "tree 3/3"),
    (spinney.SuperLearnerClassifier(PAIRS, cv=2), "fit 4/4"),
    (spinney.SuperLearnerRegressor(NUMBER_PAIRS, cv=2), "fit 4/4"),
    (spinney.WeightedVoteClassifier(PAIRS, "simplex", cv=2), "fit 4/4"),
    (spinney.WeightedVoteRegressor(NUMBER_PAIRS, "simplex", cv=2), "fit 4/4"),
    (spinney.EnsembleSelectionClassifier(PAIRS, cv=2, random_state=0), "fit 4/4"),
    (spinney.EnsembleSelectionRegressor(NUMBER_PAIRS, cv=2, random_state=0), "fit 4/4"),
    (spinney.BumpingClassifier(n_estimators=3, random_state=0), "fit 4/4"),
    (spinney.BumpingRegressor(n_estimators=3, random_state=0), "fit 4/4"),
    (spinney.DynamicSelectionClassifier([TREE, TREE], random_state=0), "fit 2/2"),
    (spinney.KNORAEClassifier([TREE, TREE], random_state=0), "fit 2/2"),
    (spinney.KNORAUClassifier([TREE, TREE], random_state=0), "fit 2/2"),
    (spinney.ConformalClassifier(TREE, cv=2, random_state=0), "fit 3/3"),
    (spinney.ConformalRegressor(cv=2, random_state=0), "fit 3/3"),
    (spinney.CalibratedClassifier(TREE, cv=2, random_state=0), "fit 3/3"),
]


@pytest.mark.parametrize(("estimator", "unit"), COMMITTEES, ids=lambda given: type(given).__name__)
def test_verbose_of_committees_shows_their_fits_and_changes_nothing(estimator, unit, terminal):
    y = np.where(Y > 0, "b", "a") if hasattr(estimator, "predict_proba") else Y
    quiet = clone(estimator).fit(X, y)
    assert terminal.getvalue() == ""
    shown = clone(estimator).set_params(verbose=1).fit(X, y)
    assert unit in terminal.getvalue()
    np.testing.assert_array_equal(shown.predict(X), quiet.predict(X))
    with pytest.raises(InvalidParameter, match="verbose=-1"):
        clone(estimator).set_params(verbose=-1).fit(X, y)


def test_all_estimators_but_single_trees_have_verbose():
    silent = {
        name
        for name in spinney.__all__
        if isinstance(made := getattr(spinney, name), type)
        and hasattr(made, "fit")
        and "verbose" not in signature(made).parameters
    }
    # One tree is grown in one call of compiled code: nothing to count, and soon done.
    assert silent == {"DecisionTreeClassifier", "DecisionTreeRegressor"}


def test_losses_of_boosting_are_shown_and_kept(terminal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    model = spinney.GradientBoostingRegressor(max_iter=3, verbose=1).fit(X, Y)
    assert "training loss" in terminal.getvalue()
    assert len(model.train_score_) == 4
    options = {"verbose": 1, "early_stopping": True, "scoring": "accuracy"}
    spinney.GradientBoostingClassifier(max_iter=2, **options).fit(X, Y > 0)
    assert re.search(r"training score 0\.\d+, validation score 0\.\d+", terminal.getvalue())


def test_nothing_is_measured_for_a_bar_alone(terminal):
    with show_progress():
        model = spinney.GradientBoostingRegressor(max_iter=3).fit(X, Y)
    assert len(model.train_score_) == 0
    assert "round 3/3" in terminal.getvalue()


def test_verbose_into_a_pipe_is_silent(capsys):
    spinney.GradientBoostingRegressor(max_iter=3, verbose=1).fit(X, Y)
    spinney.RandomForestRegressor(n_estimators=3, verbose=1).fit(X, Y)
    assert capsys.readouterr() == ("", "")
