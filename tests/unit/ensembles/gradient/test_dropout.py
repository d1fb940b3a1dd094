"""``dropout``: rounds left out while one is learnt, and scores that stay those of the model."""

import pickle

import numpy as np
import pandas as pd
import pytest
from tests.properties.test_determinism import available_sets, instruction_set
from tests.reference.boosting import SlowLimits, slow_dropout
from tests.unit.ensembles.gradient.losses import LogCosh

from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
)
from spinney.ensembles.gradient import dropout as dropout_module
from spinney.ensembles.gradient import rounds
from spinney.ensembles.gradient.dropout import WEIGHT_STEP, Dropout, ScoreGrid
from spinney.errors import InterruptedFit
from spinney.explain import shap_values
from spinney.io.save_load import from_bytes, to_bytes

RNG = np.random.default_rng(0)
X = RNG.integers(0, 12, size=(400, 4)).astype(float)
Y = X[:, 0] / 3 + np.sin(X[:, 1]) + RNG.standard_t(3, size=400)
CLASSES = np.digitize(Y, [1.0, 2.5])
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(e=pd.Categorical(list("uvwxyz" * 66 + "uvwx")))
FRAME.loc[::5, "b"] = np.nan
SETTINGS = {"max_iter": 15, "dropout": 0.3, "random_state": 3, "min_samples_leaf": 5}


def scores_kept(monkeypatch):
    """Let fits leave the scores of their last round behind."""
    kept = {}
    add_round = rounds.Booster.add_round

    def remember(booster, grown, rows):
        add_round(booster, grown, rows)
        kept["scores"] = grown.scores.copy()

    monkeypatch.setattr(rounds.Booster, "add_round", remember)
    return kept


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_model_is_that_of_the_slow_twin(loss):
    y = Y if loss == "squared" else (Y > 1.5).astype(float)
    estimator = GradientBoostingRegressor if loss == "squared" else GradientBoostingClassifier
    settings = {**SETTINGS, "max_iter": 8, "learning_rate": 0.5, "max_leaf_nodes": 5}
    fitted = estimator(**settings, min_child_weight=0.0).fit(X, y)
    dropped_of = [Dropout(0.3).draw(number, 3).tolist() for number in range(8)]
    assert sum(map(len, dropped_of)) > 5
    scores, weights = slow_dropout(
        X, y, loss=loss, dropped_of=dropped_of, rate=0.5, limits=SlowLimits(5, 5.0)
    )
    assert np.allclose(fitted.model_.arrays["tree_weight"], weights, rtol=1e-3)
    raw = fitted.model_.raw_scores(fitted.model_.conform(X, "here"))[:, 0]
    assert np.abs(raw - scores).max() < 2e-3 * np.abs(scores).max()


FITS = {
    "squared": lambda **given: GradientBoostingRegressor(**given).fit(FRAME, Y),
    "offset": lambda **given: GradientBoostingRegressor(**given).fit(FRAME, Y, offset=Y / 2),
    "absolute": lambda **given: GradientBoostingRegressor(loss="absolute", **given).fit(FRAME, Y),
    "own": lambda **given: GradientBoostingRegressor(loss=LogCosh(), **given).fit(FRAME, Y),
    "poisson": lambda **given: GradientBoostingRegressor(loss="poisson", **given).fit(
        FRAME, np.abs(Y)
    ),
    "two": lambda **given: GradientBoostingClassifier(**given).fit(FRAME, CLASSES > 0),
    "three": lambda **given: GradientBoostingClassifier(**given).fit(FRAME, CLASSES),
    "vectors": lambda **given: GradientBoostingRegressor(**given).fit(
        FRAME, np.c_[Y, 100 * np.sin(Y), X[:, 2]]
    ),
    "quantiles": lambda **given: GradientBoostingRegressor(
        loss="quantile", quantile=[0.1, 0.5, 0.9], **given
    ).fit(FRAME, Y),
    "bundles": lambda **given: GradientBoostingRegressor(**given).fit(
        np.eye(12)[X[:, 0].astype(int)], Y
    ),
    "ranks": lambda **given: GradientBoostingRanker(**given).fit(
        FRAME, CLASSES, qid=np.arange(400) // 20
    ),
    "large": lambda **given: GradientBoostingRegressor(**given).fit(FRAME, Y + 1e9),
}


@pytest.mark.parametrize("road", ["by differences", "anew"])
@pytest.mark.parametrize("fit", FITS)
def test_scores_of_training_are_those_of_the_model_to_the_last_bit(fit, road, monkeypatch):
    kept = scores_kept(monkeypatch)
    usual = FITS[fit](**SETTINGS)
    table = np.eye(12)[X[:, 0].astype(int)] if fit == "bundles" else FRAME
    if road == "anew":
        monkeypatch.setattr(dropout_module, "_MOST_STEPS", 0.0)
        assert FITS[fit](**SETTINGS).model_ == usual.model_
    model = usual.model_
    assert np.array_equal(kept["scores"], model.raw_scores(model.conform(table, "here")))
    assert (model.arrays["tree_weight"] < 1.0).sum() > 5


def test_differences_are_the_usual_road(monkeypatch):
    anew = []
    holds = ScoreGrid.holds
    monkeypatch.setattr(
        ScoreGrid, "holds", lambda self, *given: anew.append(holds(self, *given)) or anew[-1]
    )
    for name, fit in FITS.items():
        anew.clear()
        fit(**SETTINGS)
        assert all(anew) == (name != "large")
        assert len(anew) > 5


@pytest.mark.parametrize("fit", ["squared", "three"])
def test_model_is_the_same_for_threads_and_instruction_sets(fit):
    seen = set()
    for isa in available_sets():
        with instruction_set(isa):
            for n_jobs in (1, 3):
                seen.add(FITS[fit](**SETTINGS, n_jobs=n_jobs).model_.fingerprint)
    assert len(seen) == 1


def test_one_round_has_no_one_to_leave_out_and_no_dropout_no_weights():
    once = GradientBoostingRegressor(max_iter=1, dropout=1.0).fit(X, Y)
    assert once.model_.arrays["tree_weight"].tolist() == [1.0]
    plain = GradientBoostingRegressor(random_state=1).fit(X, Y)
    skipped = GradientBoostingRegressor(dropout=0.5, skip_dropout=1.0, random_state=1).fit(X, Y)
    assert (plain.model_.arrays["tree_weight"] == 1.0).all()
    assert (skipped.model_.arrays["tree_weight"] == 1.0).all()
    assert np.allclose(plain.predict(X), skipped.predict(X), atol=1e-5)


def test_everything_left_out_makes_a_mean_of_whole_steps():
    """With all rounds left out every round fits the same: their weights are those of a mean."""
    fitted = GradientBoostingRegressor(max_iter=6, dropout=1.0, learning_rate=1.0).fit(X, Y)
    values = {tree.values.tobytes() for tree in fitted.model_}  # noqa: PD011 - of a tree
    assert len(values) == 1
    assert np.allclose(fitted.model_.arrays["tree_weight"], 1 / 6, atol=1e-3)


def test_shares_of_rounds_are_left_out():
    drawn = [Dropout(0.25).draw(200, seed) for seed in range(200)]
    assert abs(np.mean([len(some) for some in drawn]) - 50) < 3
    assert all((np.diff(some) > 0).all() for some in drawn)
    often = np.bincount(np.concatenate(drawn), minlength=200)
    assert often.min() > 20
    assert often.max() < 85
    limited = Dropout(0.25, most=7)
    for seed, some in enumerate(drawn):
        few = limited.draw(200, seed)
        assert len(few) == 7
        assert np.isin(few, some).all()
    skipping = Dropout(0.25, skip=0.5)
    skips = [len(skipping.draw(200, seed)) == 0 for seed in range(200)]
    assert 70 < sum(skips) < 130


def test_weights_go_where_the_paper_says():
    after = Dropout().weights_after(np.array([1.0, 0.5, 1.0]), np.array([0, 2]))
    assert np.allclose(after, [2 / 3, 0.5, 2 / 3, 1 / 3], atol=WEIGHT_STEP)
    assert (after % WEIGHT_STEP == 0.0).all()
    slow = Dropout(learning_rate=0.1).weights_after(np.ones(3), np.array([0, 2]))
    assert np.allclose(slow, [2 / 2.1, 1.0, 2 / 2.1, 1 / 2.1], atol=WEIGHT_STEP)
    assert Dropout().weights_after(np.array([WEIGHT_STEP]), np.array([0]))[0] == WEIGHT_STEP
    model = GradientBoostingRegressor(**SETTINGS).fit(X, Y).model_
    drawn = Dropout(0.3, learning_rate=0.1)
    assert np.array_equal(drawn.weights_before(15, 3), model.arrays["tree_weight"])


@pytest.mark.parametrize("learning_rate", [0.1, 1.0])
def test_what_rounds_lose_the_new_one_says(learning_rate):
    """If nothing is left to learn, a round that leaves others out changes no score."""
    settings = {"max_iter": 30, "learning_rate": learning_rate, "dropout": 0.2, "random_state": 0}
    steps = np.repeat([0.0, 1.0], 200)
    fitted = GradientBoostingRegressor(**settings, max_leaf_nodes=2).fit(np.c_[steps], steps)
    said = fitted.predict([[0.0], [1.0]])
    left = (1 - learning_rate) ** 4
    assert abs(said[1] - said[0] - 1.0) < left + 1e-5


def test_limits_of_steps_and_monotone_constraints_hold():
    fitted = GradientBoostingRegressor(
        **SETTINGS, max_delta_step=0.3, monotonic_cst=[1, 0, 0, 0], learning_rate=0.7
    ).fit(X, Y)
    assert np.abs(fitted.model_.arrays["values"]).max() <= 0.3 * 0.7
    grid = np.repeat(X[:50], 12, axis=0)
    grid[:, 0] = np.tile(np.arange(12.0), 50)
    assert (np.diff(fitted.predict(grid).reshape(50, 12), axis=1) >= 0.0).all()


def test_views_of_callbacks_stay_what_they_are():
    views = []
    settings = {**SETTINGS, "max_iter": 8}
    GradientBoostingRegressor(**settings).fit(X, Y, callbacks=views.append)
    for view in views:
        settings["max_iter"] = view.round
        assert view.model == GradientBoostingRegressor(**settings).fit(X, Y).model_


def test_an_interrupt_keeps_the_model_of_whole_rounds(monkeypatch):
    add_round = rounds.Booster.add_round
    seen = []

    def interrupted(booster, grown, rows):
        add_round(booster, grown, rows)
        seen.append(grown)
        if len(seen) == 9:  # the weights of this round are there already
            raise KeyboardInterrupt

    monkeypatch.setattr(rounds.Booster, "add_round", interrupted)
    with pytest.warns(InterruptedFit):
        kept = GradientBoostingRegressor(**SETTINGS, warm_start=True).fit(X, Y)
    whole = GradientBoostingRegressor(**{**SETTINGS, "max_iter": 8}).fit(X, Y)
    assert kept.model_ == whole.model_
    monkeypatch.undo()
    assert kept.fit(X, Y).model_ == GradientBoostingRegressor(**SETTINGS).fit(X, Y).model_


@pytest.mark.parametrize("first", [0.0, 0.4])
def test_fits_with_and_without_dropout_go_on_with_each_other(first, monkeypatch):
    kept = scores_kept(monkeypatch)
    fitted = GradientBoostingRegressor(max_iter=6, dropout=first, warm_start=True, random_state=1)
    fitted.fit(X, Y)
    before = fitted.model_
    fitted.set_params(max_iter=14, dropout=0.4 - first).fit(X, Y)
    model = fitted.model_
    assert np.array_equal(kept["scores"], model.raw_scores(model.conform(X, "here")))
    assert np.array_equal(model[:6].arrays["values"], before.arrays["values"])
    if first:
        assert np.array_equal(model[:6].arrays["tree_weight"], before.arrays["tree_weight"])
        assert (model[6:].arrays["tree_weight"] == 1.0).all()
    else:
        assert (model.arrays["tree_weight"] < 1.0).any()


def test_folds_choose_rounds_and_do_not_change_them():
    settings = {"dropout": 0.2, "learning_rate": 0.5, "random_state": 2}
    chosen = GradientBoostingClassifier(max_iter=50, early_stopping="cv", cv=3, **settings)
    chosen.fit(X, CLASSES)
    plain = GradientBoostingClassifier(max_iter=chosen.n_iter_, **settings).fit(X, CLASSES)
    assert plain.model_ == chosen.model_


def test_files_pickles_stages_and_explanations_know_the_weights():
    fitted = FITS["three"](**SETTINGS)
    for copied in (from_bytes(to_bytes(fitted)), pickle.loads(pickle.dumps(fitted))):
        assert copied.model_ == fitted.model_
    *_, last = fitted.staged_predict_proba(FRAME)
    assert np.array_equal(last, fitted.predict_proba(FRAME))
    told = shap_values(fitted, FRAME[:20])
    raw = fitted.model_.raw_scores(fitted.model_.conform(FRAME[:20], "here"))
    assert np.allclose(np.asarray(told.values).sum(axis=1) + told.base, raw)


@pytest.mark.parametrize("fit", ["squared", "absolute", "three"])
def test_both_ways_to_the_leaves_give_the_same_bits(fit, monkeypatch):
    settings = {"max_iter": 6, "subsample": 0.5, "random_state": 1, "min_samples_leaf": 5}
    models = []
    for share in (0.0, 2.0):  # leaves from the grower, and all rows down the tree together
        monkeypatch.setattr(rounds, "_MOSTLY_GROWN_ON", share)
        models.append(FITS[fit](**settings).model_)
    assert models[0] == models[1]
