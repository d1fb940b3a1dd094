"""An interrupt while folds choose the number of rounds costs no model."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spinney import GradientBoostingRegressor
from spinney.ensembles.gradient import fold_curve, rounds
from spinney.errors import InterruptedFit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = X[:, 0] * X[:, 1] + RNG.normal(size=600)


def interrupt_after(monkeypatch, n_calls, also=()):
    """Interrupt the call behind so many rounds of whatever is boosted, and behind others."""
    add_round, calls = rounds.Booster.add_round, []

    def interrupted(booster, grown, rows):
        calls.append(grown)
        if len(calls) - 1 in (n_calls, *also):
            raise KeyboardInterrupt
        add_round(booster, grown, rows)

    monkeypatch.setattr(rounds.Booster, "add_round", interrupted)
    return calls


@pytest.mark.parametrize("n_calls", [5, 17, 23])
def test_the_best_rounds_so_far_are_learnt(monkeypatch, n_calls):
    """Five folds: whole rounds count, and a round that was cut does not."""
    interrupt_after(monkeypatch, n_calls)
    booster = GradientBoostingRegressor(early_stopping="cv", cv=5, random_state=0)
    with pytest.warns(InterruptedFit, match=f"after {n_calls // 5} rounds of the folds"):
        booster.fit(X, Y)
    assert booster.stopped_by_ == "interrupt"
    assert len(booster.cv_score_) == n_calls // 5 + 1
    monkeypatch.undo()
    chosen = {**booster.automatic_.values, "max_iter": booster.n_iter_, "early_stopping": False}
    plain = GradientBoostingRegressor(random_state=0).set_params(**chosen).fit(X, Y)
    assert_array_equal(plain.predict(X), booster.predict(X))


def test_without_a_whole_round_there_is_nothing_to_keep(monkeypatch):
    interrupt_after(monkeypatch, 4)
    with pytest.raises(KeyboardInterrupt):
        GradientBoostingRegressor(early_stopping="cv", cv=5).fit(X, Y)


def test_a_second_interrupt_keeps_the_rounds_of_the_model(monkeypatch):
    interrupt_after(monkeypatch, 50, also=(53,))
    booster = GradientBoostingRegressor(
        early_stopping="cv", cv=5, learning_rate=0.02, max_leaf_nodes=8
    )
    with pytest.warns(InterruptedFit) as told:
        booster.fit(X, Y)
    assert ["interrupted after" in str(one.message) for one in told] == [True, True]
    assert booster.n_iter_ == 2
    assert booster.stopped_by_ == "interrupt"


def test_an_interrupt_between_sizes_of_trees_keeps_the_one_that_is_known(monkeypatch):
    curves, curve_of_folds = [], fold_curve.curve_of_folds

    def second_is_interrupted(*given):
        if curves:
            raise KeyboardInterrupt
        curves.append(curve_of_folds(*given))
        return curves[0]

    monkeypatch.setattr(fold_curve, "curve_of_folds", second_is_interrupted)
    booster = GradientBoostingRegressor(random_state=0)
    with pytest.warns(InterruptedFit, match="interrupt again"):
        booster.fit(X, Y)
    assert booster.stopped_by_ == "interrupt"
    assert_array_equal(booster.cv_score_, curves[0].scores)
