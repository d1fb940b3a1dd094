"""Callbacks and time budgets: who may look at a round, and who may end a fit."""

import time

import numpy as np
import pytest

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidParameter, OutOfTime

RNG = np.random.default_rng(2)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + RNG.normal(size=300)


def test_views_tell_the_round_and_stay_what_they_are():
    views = []
    model = GradientBoostingClassifier(max_iter=6).fit(
        X, np.digitize(Y, [-1, 1]), callbacks=views.append
    )
    assert [view.round for view in views] == [1, 2, 3, 4, 5, 6]
    assert [view.train_score for view in views] == model.train_score_[1:].tolist()
    assert all(view.validation_score is None for view in views)
    assert (np.diff([view.seconds for view in views]) > 0).all()
    assert views[5].model == model.model_
    assert views[2].model == model.model_[:9]  # asked for after the fit
    with pytest.raises(AttributeError):
        views[0].round = 3
    assert repr(views[0]).startswith("RoundView(round=1, train_score=")
    assert len(repr(views[0])) < 200


def test_a_callback_changes_nothing_and_may_stop():
    plain = GradientBoostingRegressor(max_iter=10).fit(X, Y)
    looked = GradientBoostingRegressor(max_iter=10).fit(X, Y, callbacks=[lambda _: None] * 2)
    assert looked.model_ == plain.model_
    assert looked.stopped_by_ == plain.stopped_by_ == "max_iter"
    calls = []
    stopped = GradientBoostingRegressor(max_iter=10)
    stopped.fit(
        X, Y, callbacks=[lambda view: view.round == 4, lambda view: calls.append(view.round)]
    )
    assert stopped.model_ == plain.model_[:4]
    assert stopped.stopped_by_ == "callback"
    assert calls == [1, 2, 3, 4]  # all are asked, also after one said stop


def test_callbacks_see_what_early_stopping_sees(tmp_path):
    views = []
    model = GradientBoostingRegressor(early_stopping=True, random_state=0, n_iter_no_change=2)
    model.fit(X, Y, callbacks=views.append)
    assert [view.validation_score for view in views] == model.validation_score_[1:].tolist()
    assert model.stopped_by_ == "early_stopping"
    spinney.save(model, tmp_path / "model.spn")
    assert spinney.load(tmp_path / "model.spn").stopped_by_ == "early_stopping"


def test_a_callback_that_raises_ends_the_fit_with_its_own_exception():
    def fail(view):
        raise OSError(f"disk full in round {view.round}")

    with pytest.raises(OSError, match="disk full in round 1"):
        GradientBoostingRegressor(max_iter=3).fit(X, Y, callbacks=fail)


@pytest.mark.parametrize("wrong", [3, "stop", [1], {"a": print}])
def test_what_is_no_callback_is_refused(wrong):
    with pytest.raises(InvalidParameter, match="callbacks="):
        GradientBoostingRegressor(max_iter=3).fit(X, Y, callbacks=wrong)


def test_answers_that_are_not_yes_or_no_are_refused():
    with pytest.raises(InvalidParameter, match=r"gave 1 after round 1: expected True"):
        GradientBoostingRegressor(max_iter=3).fit(X, Y, callbacks=lambda view: view.round)


def test_the_round_that_exceeds_the_budget_is_the_last(tmp_path):
    whole = GradientBoostingRegressor(max_iter=10).fit(X, Y)
    model = GradientBoostingRegressor(max_iter=10, time_budget=0.3)

    def pause(view):
        if view.round == 3:
            time.sleep(0.4)

    with pytest.warns(
        OutOfTime, match="out of its time_budget after 3 of 10 rounds and keeps them"
    ):
        model.fit(X, Y, callbacks=pause)
    assert model.model_ == whole.model_[:3]
    assert model.stopped_by_ == "time_budget"
    spinney.save(model, tmp_path / "model.spn")
    assert spinney.load(tmp_path / "model.spn").stopped_by_ == "time_budget"
    model.set_params(warm_start=True, time_budget=None)
    assert model.fit(X, Y).model_ == whole.model_


def test_a_budget_that_suffices_changes_nothing():
    whole = GradientBoostingRegressor(max_iter=10).fit(X, Y)
    model = GradientBoostingRegressor(max_iter=10, time_budget=1e6).fit(X, Y)
    assert model.model_ == whole.model_
    assert model.train_score_.tolist() == []


def test_one_round_is_there_however_small_the_budget():
    model = GradientBoostingRegressor(max_iter=10, time_budget=1e-9)
    with pytest.warns(OutOfTime):
        assert model.fit(X, Y).n_iter_ == 1


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan"), float("inf"), "1s", True])
def test_wrong_budgets_are_refused(wrong):
    with pytest.raises(InvalidParameter, match="time_budget"):
        GradientBoostingRegressor(time_budget=wrong).fit(X, Y)
