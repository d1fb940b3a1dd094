"""Warm start, interrupts, and what a fitted estimator keeps through files and pickles."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.gradient import rounds
from spinney.errors import InterruptedFit, InvalidFile, InvalidInput, InvalidModel, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes
from spinney.losses.loss import PointLoss
from spinney.model import TreeForest, sections

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 5))
X[RNG.random(X.shape) < 0.05] = np.nan
FRAME = pd.DataFrame(X, columns=list("abcde"))
FRAME["town"] = np.array(["Bonn", "Ems", None])[RNG.integers(0, 3, 500)]
Y = np.nan_to_num(X[:, 0] + X[:, 1] ** 2) + RNG.normal(size=500)
LABELS = np.digitize(Y, [0.5, 2.0])
WEIGHTS = RNG.gamma(1.0, 1.0, 500) + 1e-3


def carried(fitted, how):
    return {
        "as it is": lambda: fitted,
        "pickled": lambda: pickle.loads(pickle.dumps(fitted)),
        "saved": lambda: from_bytes(to_bytes(fitted)),
    }[how]()


VARIANTS = {
    "plain": {},
    "draws": {"subsample": 0.6, "max_features": 0.5},
    "one side": {"subsample": 0.6, "sampler": "one_side"},
    "minimal variance": {"subsample": 0.6, "sampler": "minimal_variance"},
    "bayesian": {"sampler": "bayesian", "bagging_temperature": 0.5},
    "poisson": {"sampler": "poisson"},
    "dropout": {"dropout": 0.3},
    "dropout and draws": {"dropout": 0.3, "subsample": 0.6, "sampler": "minimal_variance"},
    "dropout and stopping": {"dropout": 0.3, "early_stopping": True, "n_iter_no_change": 50},
    "stopping": {"early_stopping": True, "n_iter_no_change": 50},
    "stopping by a scorer": {"early_stopping": True, "scoring": "r2", "n_iter_no_change": 50},
    "all": {"early_stopping": True, "subsample": 0.6, "max_features": 0.5, "n_iter_no_change": 50},
}


@pytest.mark.parametrize("how", ["as it is", "pickled", "saved"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_warm_start_goes_on_to_the_model_of_one_fit(variant, how):
    settings = {"random_state": 3, **VARIANTS[variant]}
    whole = GradientBoostingRegressor(max_iter=20, **settings).fit(FRAME, Y, WEIGHTS)
    parts = GradientBoostingRegressor(max_iter=7, warm_start=True, **settings)
    parts.fit(FRAME, Y, WEIGHTS)
    for max_iter in (8, 20):
        parts = carried(parts, how).set_params(max_iter=max_iter).fit(FRAME, Y, WEIGHTS)
    assert parts.model_.to_bytes() == whole.model_.to_bytes()
    assert np.array_equal(parts.train_score_, whole.train_score_)
    assert np.array_equal(parts.validation_score_, whole.validation_score_)


def test_warm_start_of_several_classes_with_own_validation_rows():
    settings = {"early_stopping": True, "subsample": 0.5, "random_state": 0}
    given = {"X_val": FRAME[400:], "y_val": LABELS[400:]}
    whole = GradientBoostingClassifier(max_iter=12, **settings)
    whole.fit(FRAME[:400], LABELS[:400], **given)
    parts = GradientBoostingClassifier(max_iter=5, warm_start=True, **settings)
    parts.fit(FRAME[:400], LABELS[:400], **given)
    parts.set_params(max_iter=12).fit(FRAME[:400], LABELS[:400], **given)
    assert parts.model_ == whole.model_
    assert np.array_equal(parts.validation_score_, whole.validation_score_)


@pytest.mark.parametrize("random_state", [None, 5, "generator"])
def test_warm_start_keeps_the_seed_of_the_first_fit(random_state):
    state = np.random.default_rng(0) if random_state == "generator" else random_state
    model = GradientBoostingRegressor(
        max_iter=4, warm_start=True, subsample=0.5, random_state=state
    ).fit(X, Y)
    seed = model._seed
    model.set_params(max_iter=8).fit(X, Y)
    assert model._seed == seed
    again = GradientBoostingRegressor(max_iter=8, subsample=0.5, random_state=seed).fit(X, Y)
    assert again.model_ == model.model_


def test_without_warm_start_fit_begins_anew():
    model = GradientBoostingRegressor(max_iter=5, early_stopping=True, random_state=0).fit(X, Y)
    first = model.model_
    assert model.fit(X, Y).model_ == first
    assert len(model.train_score_) == 6


def test_warm_start_with_as_many_rounds_changes_nothing():
    model = GradientBoostingRegressor(max_iter=5, warm_start=True).fit(X, Y)
    before = model.model_
    assert model.fit(X, Y).model_ == before


def test_warm_start_on_other_data_is_refused():
    model = GradientBoostingRegressor(max_iter=5, warm_start=True).fit(FRAME, Y)
    model.set_params(max_iter=6)
    others = [FRAME[:400], FRAME.rename(columns={"a": "z"}), FRAME.assign(town="Ulm")]
    for other in others:
        with pytest.raises(InvalidInput, match="not those it was learnt from"):
            model.fit(other, Y[: len(other)])
    with pytest.raises(InvalidInput, match="not those it was learnt from"):
        model.set_params(loss="poisson").fit(FRAME, Y**2)
    model.set_params(loss="squared", max_iter=3)
    with pytest.raises(InvalidParameter, match="max_iter=3 must be larger than or equal to n_iter"):
        model.fit(FRAME, Y)
    classifier = GradientBoostingClassifier(max_iter=5, warm_start=True).fit(X, LABELS)
    with pytest.raises(InvalidInput, match="not those it was learnt from"):
        classifier.fit(X, LABELS + 1)


# Interrupts


def interrupt_at(monkeypatch, calls):
    """Press Ctrl-C while the derivatives of the given call are computed."""
    count, real = [0], PointLoss.derivatives

    def derivatives(self, *given):
        count[0] += 1
        if count[0] == calls:
            raise KeyboardInterrupt
        return real(self, *given)

    monkeypatch.setattr(PointLoss, "derivatives", derivatives)


def test_interrupt_keeps_the_rounds_learnt_so_far(monkeypatch):
    settings = {"early_stopping": True, "random_state": 0, "n_iter_no_change": 50}
    whole = GradientBoostingRegressor(max_iter=12, **settings).fit(X, Y)
    expected = GradientBoostingRegressor(max_iter=4, **settings).fit(X, Y)
    model = GradientBoostingRegressor(max_iter=12, warm_start=True, **settings)
    with monkeypatch.context() as patch:
        interrupt_at(patch, 5)
        with pytest.warns(InterruptedFit, match="after 4 of 12 rounds"):
            assert model.fit(X, Y) is model
    assert model.n_iter_ == 4
    assert model.model_ == expected.model_
    assert np.array_equal(model.validation_score_, expected.validation_score_)
    assert model.fit(X, Y).model_ == whole.model_


def test_interrupt_within_a_round_drops_the_trees_of_that_round(monkeypatch):
    expected = GradientBoostingClassifier(max_iter=2).fit(X, LABELS)
    count, real = [0], rounds.GradientGrower.add_leaf_values

    def add_leaf_values(self, *given):
        count[0] += 1
        if count[0] == 8:  # the second of the three trees of the third round
            raise KeyboardInterrupt
        real(self, *given)

    monkeypatch.setattr(rounds.GradientGrower, "add_leaf_values", add_leaf_values)
    model = GradientBoostingClassifier(max_iter=9)
    with pytest.warns(InterruptedFit, match="after 2 of 9 rounds"):
        model.fit(X, LABELS)
    assert model.model_ == expected.model_


def test_interrupt_while_measuring_drops_the_round_and_its_scores():
    count = [0]

    def scorer(estimator, rows, y):
        count[0] += 1
        if count[0] == 8:  # validation rows of round 3, after their training rows
            raise KeyboardInterrupt
        return estimator.score(rows, y)

    model = GradientBoostingRegressor(max_iter=9, early_stopping=True, scoring=scorer)
    with pytest.warns(InterruptedFit, match="after 2 of 9 rounds"):
        model.fit(X, Y)
    assert len(model.model_) == 2
    assert len(model.train_score_) == len(model.validation_score_) == 3


def test_interrupt_before_the_first_round_is_passed_on(monkeypatch):
    interrupt_at(monkeypatch, 1)
    model = GradientBoostingRegressor()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


# What is kept


@pytest.mark.parametrize("how", ["pickled", "saved"])
@pytest.mark.parametrize("name", ["Gradient", "HistGradient"])
def test_everything_a_fitted_estimator_knows_survives(how, name):
    kind = getattr(spinney, f"{name}BoostingClassifier")
    model = kind(max_iter=6, early_stopping=True, random_state=None, interaction_cst=[{0, 1}])
    model.fit(FRAME, LABELS)
    again = carried(model, how)
    assert again.model_ == model.model_
    assert again.get_params() == model.get_params()
    for attribute in ("train_score_", "validation_score_", "is_categorical_", "classes_"):
        assert np.array_equal(getattr(again, attribute), getattr(model, attribute)), attribute
    for attribute in ("n_iter_", "n_trees_per_iteration_", "do_early_stopping_", "_seed", "_bins"):
        assert getattr(again, attribute) == getattr(model, attribute), attribute
    assert np.array_equal(again.feature_importances_, model.feature_importances_)
    assert to_bytes(again) == to_bytes(model)


def resealed(data, change):
    contents = sections.unpack(data)
    meta, arrays = dict(contents.meta), dict(contents.arrays)
    change(meta, arrays)
    return sections.pack(meta, arrays)


def put(where, key, value):
    def change(meta, arrays):
        if where == "arrays":
            arrays[f"attributes/{key}"] = value
        elif where == "meta":
            meta[key] = value
        else:
            meta["attributes"] = {**meta["attributes"], key: value}

    return change


BAD_ATTRIBUTES = {
    "seed as text": put("attributes", "seed", "1"),
    "seed as truth": put("attributes", "seed", True),
    "negative seed": put("attributes", "seed", -1),
    "short fingerprint": put("attributes", "bins", "ab"),
    "number for truth": put("attributes", "early_stopping", 1),
    "one too many": put("attributes", "more", 1),
    "scores as integers": put("arrays", "train_score", np.zeros(3, np.int64)),
    "scores in two columns": put("arrays", "train_score", np.zeros((3, 2))),
    "unknown scores": put("arrays", "test_score", np.zeros(3)),
    "no object": put("meta", "attributes", [1]),
    "nothing": put("meta", "attributes", {}),
    "none at all": lambda meta, _: meta.pop("attributes"),
}


@pytest.mark.parametrize("change", BAD_ATTRIBUTES.values(), ids=BAD_ATTRIBUTES)
def test_file_with_wrong_attributes_is_refused(change):
    data = to_bytes(GradientBoostingRegressor(max_iter=2).fit(X, Y))
    assert from_bytes(resealed(data, lambda *_: None)).n_iter_ == 2
    with pytest.raises(InvalidFile):
        from_bytes(resealed(data, change))


def test_attributes_of_an_estimator_that_has_none_are_refused():
    data = to_bytes(spinney.DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]))
    assert "attributes" not in sections.unpack(data).meta
    with pytest.raises(InvalidFile):
        from_bytes(resealed(data, put("meta", "attributes", {"seed": 1})))


def test_fit_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GradientBoostingRegressor(max_iter=2, early_stopping=True).fit(X, Y)


def test_model_that_boosting_cannot_have_learnt_is_refused():
    model = GradientBoostingClassifier(max_iter=2).fit(X, LABELS)
    swapped = model.model_.arrays["tree_output"][::-1].copy()
    short = model.model_[:4]
    with pytest.raises(InvalidModel, match="in whole rounds"):
        model._adopt(short)
    arrays = {**model.model_.arrays, "tree_output": swapped}
    forest = TreeForest(
        short.schema, short.target, arrays, output=short.output, policy=short.policy
    )
    with pytest.raises(InvalidModel, match="in turn"):
        model._adopt(forest)


INTERRUPTED = """
import os, signal, threading, warnings
import numpy as np, spinney
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 5))
model = spinney.GradientBoostingRegressor(max_iter=10**9, n_jobs=2)
threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(X, X[:, 0])
print(caught[0].category.__name__, 1 <= model.n_iter_ < 10**9, model.predict(X).shape)
"""


def test_real_signal_ends_a_real_fit_with_a_model():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split(maxsplit=2) == ["InterruptedFit", "True", "(2000,)\n"]
