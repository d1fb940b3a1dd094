"""Boosting of several labels per row: what every fit promises."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer
from tests.unit.ensembles.gradient.labelled import (
    bytes_of,
    mean_log_loss,
    names_of,
    scores_of,
    table,
)

import spinney
from spinney import GradientBoostingClassifier
from spinney._native import _ext
from spinney.errors import InvalidInput, InvalidParameter

SETTINGS = {
    "plain": {},
    "drawn": {"subsample": 0.6, "max_features": 0.5},
    "limits": {"max_delta_step": 0.7, "l1_regularization": 1.0, "l2_regularization": 1.0},
    "levels": {"growth": "level_wise", "max_depth": 4, "prune_gain": 0.5},
    "random cuts": {"splitter": "random"},
    "smoothed": {"path_smoothing": 20.0},
    "by derivatives": {"sampler": "one_side", "subsample": 0.5},
    "left out": {"dropout": 0.3},
    "balanced": {"class_weight": "balanced"},
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_bits_for_every_thread_count_and_instruction_set(setting):
    X, Y, _ = table(3000)
    how = {"max_iter": 5, "random_state": 3, **SETTINGS[setting]}
    expected = bytes_of(GradientBoostingClassifier(n_jobs=1, **how).fit(X, Y))
    for n_jobs in (2, 5):
        assert bytes_of(GradientBoostingClassifier(n_jobs=n_jobs, **how).fit(X, Y)) == expected
    best = _ext.best_isa()
    names = ["portable", "avx2", "avx512"]
    try:
        for isa in names[: names.index(best) + 1]:
            _ext.use_isa(isa)
            assert bytes_of(GradientBoostingClassifier(n_jobs=2, **how).fit(X, Y)) == expected
    finally:
        _ext.use_isa(best)


@pytest.mark.parametrize("setting", list(SETTINGS)[:6])
def test_equal_labels_have_the_trees_of_one_label(setting):
    """Twice the gain everywhere: powers of two change no bit of any choice."""
    X, Y, _ = table(3000)
    how = {"max_iter": 8, "random_state": 0} | SETTINGS[setting]
    one = GradientBoostingClassifier(**how).fit(X, Y[:, 0])
    if "prune_gain" in how:
        how["prune_gain"] *= 2
    two = GradientBoostingClassifier(**how).fit(X, Y[:, [0, 0]])
    arrays, expected = two.model_.arrays, one.model_.arrays
    for name in ("feature", "threshold", "right", "missing_left", "category_sets", "count"):
        assert np.array_equal(arrays[name], expected[name]), name
    assert np.array_equal(arrays["values"], np.repeat(expected["values"], 2, axis=1))
    assert np.array_equal(arrays["gain"], 2 * expected["gain"])
    for own in two.predict_proba(X):
        assert np.array_equal(own, one.predict_proba(X))
    assert np.array_equal(two.predict(X)[:, 1], one.predict(X))


def test_steps_are_as_long_as_those_of_one_label():
    """Where nearly all is certain Newton's steps are far too long; they are cut off at 10."""
    X = np.repeat([0.0, 1.0], [5000, 5])[:, np.newaxis]
    y = np.append(np.zeros(4999), np.ones(6))
    how = {"max_iter": 8, "learning_rate": 1.0, "min_samples_leaf": 1, "min_child_weight": 0.0}
    one = GradientBoostingClassifier(**how).fit(X, y)
    two = GradientBoostingClassifier(**how).fit(X, np.column_stack([y, y]))
    assert np.abs(one.model_.arrays["values"]).max() == 10.0
    assert np.array_equal(scores_of(two, X)[:, 1:], scores_of(one, X))


def test_a_label_of_one_class_changes_nothing_for_the_others():
    X, Y, _ = table()
    for least in (1e-3, 0.0):
        how = {"max_iter": 10, "min_child_weight": least}
        one = GradientBoostingClassifier(**how).fit(X, Y[:, 0])
        same = np.full(len(Y), 7)
        padded = GradientBoostingClassifier(**how).fit(X, np.column_stack([same, Y[:, 0], same]))
        shares = padded.predict_proba(X)
        assert np.array_equal(shares[1], one.predict_proba(X))
        assert np.array_equal(shares[0], np.ones((len(Y), 1)))
        assert np.array_equal(padded.predict(X), np.column_stack([same, one.predict(X), same]))
        assert not scores_of(padded, X)[:, [0, 2]].any()


@pytest.mark.parametrize("class_weight", [None, "balanced", [{0: 2}, {1: 0.5, 2: 3}, "balanced"]])
def test_whole_weights_are_repetitions(class_weight):
    X, Y, rng = table()
    counts = rng.integers(0, 4, len(Y))
    how = {"max_iter": 10, "class_weight": class_weight}
    weighted = GradientBoostingClassifier(**how).fit(X, Y, counts)
    often = np.repeat(np.arange(len(Y)), counts)
    repeated = GradientBoostingClassifier(**how).fit(X.iloc[often], Y[often])
    assert np.array_equal(scores_of(weighted, X), scores_of(repeated, X))


def test_class_weights_of_labels_multiply():
    X, Y, _ = table()
    X = X[["x0", "x1", "x2"]].round(1)  # a bin for each value, however rows are weighted
    lists = [{0: 2.0, 1: 1.0}, None, {1: 4.0}]
    factors = np.where(Y[:, 0] == 0, 2.0, 1.0) * np.where(Y[:, 2] == 1, 4.0, 1.0)
    how = {"max_iter": 10, "min_samples_leaf": 1}
    by_class = GradientBoostingClassifier(class_weight=lists, **how).fit(X, Y)
    by_row = GradientBoostingClassifier(**how).fit(X, Y, factors)
    assert np.allclose(scores_of(by_class, X), scores_of(by_row, X), atol=1e-4)
    plain = GradientBoostingClassifier(**how).fit(X, Y)
    assert not np.allclose(scores_of(by_class, X), scores_of(plain, X), atol=0.1)


def test_classes_without_weight_are_as_if_absent():
    X, Y, _ = table()
    weights = np.where(Y[:, 1] == 1, 0.0, 1.0)
    model = GradientBoostingClassifier(max_iter=5).fit(X, Y, weights)
    assert [of.tolist() for of in model.classes_] == [[0, 1], [0, 2], [0, 1]]
    kept = weights > 0
    other = GradientBoostingClassifier(max_iter=5).fit(X[kept], Y[kept])
    assert np.array_equal(scores_of(model, X), scores_of(other, X))


def test_rounds_can_be_added_and_are_dropped_when_interrupted():
    X, Y, _ = table()
    how = {"subsample": 0.7, "random_state": 0}
    model = GradientBoostingClassifier(max_iter=4, warm_start=True, **how).fit(X, Y)
    model.set_params(max_iter=9).fit(X, Y)
    whole = GradientBoostingClassifier(max_iter=9, **how).fit(X, Y)
    assert bytes_of(model) == bytes_of(whole)
    with pytest.raises(InvalidInput, match="warm_start=True goes on"):
        model.set_params(max_iter=12).fit(X, Y[:, :2])

    def stop(view):
        if view.round == 6:
            raise KeyboardInterrupt

    with pytest.warns(spinney.errors.InterruptedFit):
        cut = GradientBoostingClassifier(max_iter=9, **how).fit(X, Y, callbacks=stop)
    assert cut.n_iter_ == 5


@pytest.mark.parametrize("scoring", ["loss", get_scorer("roc_auc"), None], ids=str)
@pytest.mark.parametrize("early_stopping", [True, "cv"])
def test_early_stopping_looks_at_all_labels(early_stopping, scoring):
    X, Y, _ = table()
    how = {"early_stopping": early_stopping, "scoring": scoring, "cv": 3, "random_state": 0}
    model = GradientBoostingClassifier(max_iter=300, learning_rate=0.3, **how)
    model.fit(X, Y if scoring in ("loss", None) else Y[:, [0, 2]])
    assert model.stopped_by_ == "early_stopping"
    assert 1 <= model.n_iter_ < 300


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "f1_macro"])
@pytest.mark.parametrize("early_stopping", [True, "cv"])
def test_scores_of_one_label_are_refused_before_the_first_round(early_stopping, scoring):
    X, Y, _ = table(200)
    rounds = []
    model = GradientBoostingClassifier(max_iter=3, early_stopping=early_stopping, scoring=scoring)
    words = rf"scoring='{scoring}' is a score of one label .* y has \d columns\. Use scoring='loss'"
    for labels in (Y, Y[:, [0, 2]]):
        with pytest.raises(InvalidParameter, match=words):
            model.fit(X, labels, callbacks=rounds.append)
    assert not rounds
    model.set_params(early_stopping=False).fit(X, Y)  # nothing looks at it


def test_the_loss_is_the_mean_over_labels():
    X, Y, rng = table()
    weights = rng.gamma(2.0, 0.5, 600)
    held = {"X_val": X[400:], "y_val": names_of(Y[400:]), "sample_weight_val": weights[400:]}
    how = {"early_stopping": True, "max_iter": 7, "n_iter_no_change": 50}
    model = GradientBoostingClassifier(**how)
    model.fit(X[:400], names_of(Y[:400]), weights[:400], **held)
    expected = mean_log_loss(Y[400:], model.predict_proba(X[400:]), weights[400:])
    assert model.validation_score_[-1] == pytest.approx(-expected, rel=1e-9)


def test_folds_share_out_rare_classes():
    X, Y, rng = table(400)
    rare = np.zeros(400, int)
    rare[rng.choice(400, 5, replace=False)] = 1
    seen = []
    nearly_all = np.arange(400) != np.flatnonzero(rare == 0)[0]
    labels = np.column_stack([Y[:, 0], nearly_all, rare])
    model = GradientBoostingClassifier(max_iter=5, early_stopping="cv", cv=5, random_state=0)
    original = spinney.ensembles.gradient.boosting.rows_of_folds

    def note(rows, folds):
        seen.extend(rare[test].sum() for _, test in folds)
        return original(rows, folds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spinney.ensembles.gradient.boosting, "rows_of_folds", note)
        model.fit(X, labels)
    assert seen == [1, 1, 1, 1, 1]
    few = GradientBoostingClassifier(max_iter=5, early_stopping="cv", cv=5)
    few.fit(X[:12], np.column_stack([np.arange(12), np.arange(12)]))  # no class is there twice


def test_the_default_learns_several_labels():
    X, Y, _ = table(1000)
    model = GradientBoostingClassifier(random_state=0).fit(X[:700], Y[:700])
    assert model.automatic_.scheme == "folds"
    shares = [np.bincount(column[:700]) / 700 for column in Y.T]
    constant = mean_log_loss(Y[700:], [np.tile(share, (300, 1)) for share in shares])
    assert mean_log_loss(Y[700:], model.predict_proba(X[700:])) < 0.6 * constant


def test_many_levels_are_told_by_every_label():
    rng = np.random.default_rng(0)
    town = rng.integers(0, 400, 4000)
    Y = np.column_stack([town % 2, town % 3, rng.integers(0, 2, 4000)])
    X = pd.DataFrame({"town": pd.Categorical(town.astype(str))})
    model = GradientBoostingClassifier(max_iter=60, category_encoding="target").fit(X, Y)
    # three statistics of the second of two classes, of three classes, of two; and a count
    assert len(model.model_.derivation.features) == 3 * (1 + 3 + 1) + 1
    assert ((model.predict(X) == Y).mean(axis=0)[:2] > 0.8).all()
