"""Progress: silent unless asked; one line that changes on a terminal, a few lines elsewhere."""

import io
import re

import numpy as np
import pytest

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.gradient import progress as progress_module
from spinney.ensembles.gradient.progress import Progress
from spinney.ensembles.gradient.sums import BoostedSum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + RNG.normal(size=300)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def a_sum(n_trees, train=(), validation=()):
    grown = BoostedSum(np.zeros(1), np.zeros((1, 1)), [None] * n_trees, n_trees)
    grown.train_scores, grown.validation_scores = list(train), list(validation)
    return grown


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


def test_line_has_round_losses_speed_and_time_left(clock):
    stream = io.StringIO()
    progress = Progress(100, stream=stream)
    progress.show(a_sum(0, [-2.0], [-3.0]))
    clock[0] = 20.0
    progress.show(a_sum(40, [-0.5], [-0.75]))
    first, second = stream.getvalue().splitlines()
    assert first == "round 0/100, training loss 2, validation loss 3"
    assert second == ("round 40/100, training loss 0.5, validation loss 0.75, 2 trees/s, 0:30 left")


def test_plain_stream_gets_few_lines_and_the_last_one(clock):
    stream = io.StringIO()
    progress = Progress(1000, stream=stream)
    for n_trees in range(1000):
        clock[0] = n_trees * 0.05
        progress.show(a_sum(n_trees, [-1.0]))
    progress.close(a_sum(1000, [-1.0]))
    lines = stream.getvalue().splitlines()
    assert 5 <= len(lines) <= 8
    assert lines[-1].startswith("round 1000/1000")


def test_terminal_has_one_line_that_is_overwritten(clock):
    stream = Terminal()
    progress = Progress(10, stream=stream)
    progress.show(a_sum(0, [-123456.0]))
    clock[0] = 1.0
    progress.show(a_sum(5, [-1.0]))
    progress.close(a_sum(10, [-1.0]))
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text.count("\r") == 3
    assert "round 10/10" in text.rsplit("\r", 1)[1]


def test_fit_is_silent_by_default_and_speaks_on_stderr_when_asked(capsys):
    GradientBoostingRegressor(max_iter=3).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    model = GradientBoostingRegressor(max_iter=3, verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(r"^round 3/3, training loss [\d.]+, .* trees/s, 0:00 left$", err, re.MULTILINE)
    assert len(model.train_score_) == 4
    assert model.model_ == GradientBoostingRegressor(max_iter=3).fit(X, Y).model_


def test_scores_are_shown_as_scores_and_losses_as_losses(capsys):
    GradientBoostingClassifier(max_iter=2, verbose=1, early_stopping=True, scoring="accuracy").fit(
        X, Y > 0
    )
    err = capsys.readouterr().err
    assert re.search(r"training score 0\.\d+, validation score 0\.\d+", err)
    assert "loss" not in err
