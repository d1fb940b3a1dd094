"""Early stopping: what is measured, on which rows, and when it ends."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor as Theirs
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split

import spinney
from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from spinney.ensembles.gradient.stopping import SCORED_ROWS, StoppingRule
from spinney.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5)).round(2)
Y = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=600)
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [0.5, 2.0])]
WEIGHTS = RNG.integers(1, 4, 600).astype(float)


def held_out_of(seed, stratify=None, n=600, fraction=0.1):
    _, rows = train_test_split(
        np.arange(n), test_size=fraction, stratify=stratify, random_state=seed
    )
    return np.sort(rows)


# The rule


@pytest.mark.parametrize(
    ("scores", "stops"),
    [
        ([1.0], False),
        ([1.0, 1.0, 1.0], True),
        ([1.0, 1.0, 1.2], False),
        ([1.0, 1.1, 1.1], True),
        ([0.0, 1.0, 1.0], False),
    ],
)
def test_rule_stops_when_no_recent_round_was_better_by_the_tolerance(scores, stops):
    assert StoppingRule(2, 0.1).says_stop(scores) is stops


def test_rounds_end_exactly_when_the_rule_says_so():
    model = GradientBoostingRegressor(
        max_iter=500, early_stopping=True, n_iter_no_change=5, random_state=0
    ).fit(X, Y)
    assert model.do_early_stopping_
    assert 5 < model.n_iter_ < 500
    scores = model.validation_score_.tolist()
    rule = StoppingRule(5, 1e-7, is_share=True)
    assert len(scores) == model.n_iter_ + 1 == len(model.train_score_)
    assert rule.says_stop(scores)
    assert not any(rule.says_stop(scores[:k]) for k in range(1, len(scores)))


@pytest.mark.parametrize("settings", [{}, {"early_stopping": True}, {"early_stopping": "cv"}])
def test_the_scale_of_the_target_does_not_matter(settings):
    """In steps of powers of two, so that all rounding is the same."""
    model = GradientBoostingRegressor(random_state=0, **settings).fit(X, Y)
    small = GradientBoostingRegressor(random_state=0, **settings).fit(X, Y * 2.0**-20)
    assert small.n_iter_ == model.n_iter_ > 1
    assert np.array_equal(small.predict(X), model.predict(X) * 2.0**-20)


def test_without_early_stopping_nothing_is_measured():
    model = GradientBoostingRegressor(max_iter=5).fit(X, Y)
    assert not model.do_early_stopping_
    assert model.n_iter_ == 5
    assert len(model.train_score_) == len(model.validation_score_) == 0


def test_auto_looks_at_the_number_of_rows():
    many = np.zeros((10_001, 1))
    model = HistGradientBoostingRegressor(early_stopping="auto", max_iter=3)
    assert model.fit(many, many[:, 0]).do_early_stopping_
    assert not model.fit(many[1:], many[1:, 0]).do_early_stopping_


# Scores


def test_loss_scores_are_negative_mean_losses_from_before_the_first_round():
    model = GradientBoostingRegressor(max_iter=7, early_stopping=True, random_state=4).fit(X, Y)
    held_out = held_out_of(4)
    train = np.setdiff1d(np.arange(600), held_out)
    for rows, scores in ((train, model.train_score_), (held_out, model.validation_score_)):
        stages = [np.full(len(rows), Y[train].mean()), *model.staged_predict(X[rows])]
        losses = [-mean_squared_error(Y[rows], stage) / 2 for stage in stages]
        assert np.allclose(scores, losses, rtol=1e-9)


@pytest.mark.parametrize("class_weight", [None, {"a": 1, "b": 2, "c": 5}])
def test_scores_of_classes_count_weights_and_class_weights(class_weight):
    model = GradientBoostingClassifier(
        max_iter=4, early_stopping=True, random_state=1, class_weight=class_weight
    ).fit(X, LABELS, WEIGHTS)
    rows = held_out_of(1, stratify=LABELS)
    of_class = class_weight or dict.fromkeys("abc", 1)
    weights = WEIGHTS[rows] * [of_class[label] for label in LABELS[rows]]
    last = log_loss(LABELS[rows], model.predict_proba(X[rows]), sample_weight=weights)
    assert model.validation_score_[-1] == pytest.approx(-last, rel=1e-6)


def test_scores_are_those_of_scikit_learn_on_the_same_split():
    ours = spinney.HistGradientBoostingRegressor(max_iter=5, early_stopping=True, random_state=7)
    theirs = Theirs(max_iter=5, early_stopping=True, random_state=7)
    few_values = X.round(1)  # every value is a bin, here and there
    ours.fit(few_values, Y)
    theirs.fit(few_values, Y)
    assert np.allclose(ours.train_score_, theirs.train_score_, rtol=1e-5)
    assert np.allclose(ours.validation_score_, theirs.validation_score_, rtol=1e-5)


@pytest.mark.parametrize(
    "scoring", ["r2", None, lambda e, X, y: e.score(X, y)], ids=["name", "none", "callable"]
)
def test_every_form_of_scorer_gives_the_same_scores(scoring):
    model = GradientBoostingRegressor(
        max_iter=6, early_stopping=True, scoring=scoring, random_state=2
    ).fit(X, Y)
    rows = held_out_of(2)
    assert model.validation_score_[-1] == pytest.approx(model.score(X[rows], Y[rows]), rel=1e-12)
    assert len(model.train_score_) == 7


def test_scorers_of_classes_see_labels_and_weights():
    seen = []

    def scorer(estimator, rows, y, sample_weight):
        seen.append((rows.n_rows, set(y), sample_weight.sum()))
        return estimator.score(rows, y, sample_weight)

    model = GradientBoostingClassifier(
        max_iter=2, early_stopping=True, scoring=scorer, random_state=0, validation_fraction=60
    ).fit(X, LABELS, WEIGHTS)
    rows = held_out_of(0, stratify=LABELS, fraction=60)
    assert seen[1] == (60, {"a", "b", "c"}, WEIGHTS[rows].sum())
    assert seen[0][0] == 540
    expected = model.score(X[rows], LABELS[rows], WEIGHTS[rows])
    assert model.validation_score_[-1] == pytest.approx(expected)
    named = model.set_params(scoring="roc_auc_ovr").fit(X, LABELS)
    assert 0.5 < named.validation_score_[-1] <= 1.0


def test_scorers_see_a_bounded_number_of_training_rows():
    sizes = []

    def scorer(_, rows, __):
        sizes.append(rows.n_rows)
        return 0.0

    many = RNG.normal(size=(SCORED_ROWS + 2000, 2))
    model = GradientBoostingClassifier(max_iter=1, early_stopping=True, scoring=scorer)
    model.fit(many, many[:, 0] > 1)
    model.fit(many, many[:, 0] > 1, X_val=many[:50], y_val=many[:50, 0] > 1)
    assert sizes[:2] == [SCORED_ROWS, 1200]
    assert sizes[4:6] == [SCORED_ROWS, 50]


def test_unknown_scorer_is_refused_with_a_suggestion():
    with pytest.raises(InvalidParameter, match=r"scoring='rocauc'.*Did you mean 'roc_auc'"):
        GradientBoostingClassifier(scoring="rocauc").fit(X, LABELS)


@pytest.mark.parametrize("early_stopping", [True, "cv"])
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_scores_that_are_no_numbers_are_refused(early_stopping):
    unknown = GradientBoostingRegressor(
        max_iter=9, early_stopping=early_stopping, scoring=lambda *_: float("nan")
    )
    with pytest.raises(InvalidInput, match=r"is NaN for .* rows"):
        unknown.fit(X, X[:, 0])
    undefined = GradientBoostingRegressor(max_iter=9, early_stopping=True, scoring="r2")
    with pytest.raises(InvalidInput, match="scoring='r2' is NaN for 1 rows"):
        undefined.fit(X, X[:, 0], X_val=X[:1], y_val=X[:1, 0])


# Validation rows


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", ["regression", "classes"])
def test_own_validation_rows_give_the_model_of_the_same_split(weighted, task):
    target, weights = (Y, WEIGHTS / 3) if task == "regression" else (LABELS, WEIGHTS)
    kind = GradientBoostingRegressor if task == "regression" else GradientBoostingClassifier
    rows = held_out_of(3, stratify=None if task == "regression" else LABELS)
    train = np.setdiff1d(np.arange(600), rows)
    settings = {"max_iter": 15, "early_stopping": True, "random_state": 3}
    split = kind(**settings).fit(X, target, weights if weighted else None)
    given = kind(**settings).fit(
        X[train],
        target[train],
        weights[train] if weighted else None,
        X_val=X[rows],
        y_val=target[rows],
        sample_weight_val=weights[rows] if weighted else None,
    )
    assert given.model_ == split.model_
    assert np.allclose(given.validation_score_, split.validation_score_, rtol=1e-12)
    assert np.allclose(given.train_score_, split.train_score_, rtol=1e-12)


def test_validation_rows_do_not_touch_the_model():
    model = GradientBoostingRegressor(max_iter=8, n_iter_no_change=50, early_stopping=True)
    one = model.fit(X[:400], Y[:400], X_val=X[400:], y_val=Y[400:]).model_
    other = model.fit(X[:400], Y[:400], X_val=1e6 * X[400:], y_val=1e6 * Y[400:]).model_
    alone = GradientBoostingRegressor(max_iter=8).fit(X[:400], Y[:400]).model_
    assert one == other == alone


def test_validation_columns_are_matched_by_name_and_categories_by_level():
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["town"] = np.array(["Bonn", "Ems", "Ulm"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    train, held = frame[:400], frame[400:].copy()
    settings = {"max_iter": 10, "early_stopping": True}
    model = GradientBoostingRegressor(**settings).fit(train, Y[:400], X_val=held, y_val=Y[400:])
    mixed = GradientBoostingRegressor(**settings).fit(
        train, Y[:400], X_val=held[["town", "e", "d", "c", "b", "a"]], y_val=Y[400:]
    )
    assert np.array_equal(mixed.validation_score_, model.validation_score_)
    expected = -mean_squared_error(Y[400:], model.predict(held)) / 2
    assert model.validation_score_[-1] == pytest.approx(expected, rel=1e-9)
    held.loc[held.index[:50], "town"] = "Rom"  # unseen: as missing, here as in predict
    model.fit(train, Y[:400], X_val=held, y_val=Y[400:])
    expected = -mean_squared_error(Y[400:], model.predict(held)) / 2
    assert model.validation_score_[-1] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InvalidInput, match="feature names should match"):
        model.fit(train, Y[:400], X_val=held.drop(columns="a"), y_val=Y[400:])


def test_zero_weights_of_validation_rows_are_as_if_absent():
    model = GradientBoostingRegressor(max_iter=3, early_stopping=True)
    weights = np.repeat([1.0, 0.0], 100)
    given = {"X_val": X[400:], "y_val": Y[400:], "sample_weight_val": weights}
    some = model.fit(X[:400], Y[:400], **given).validation_score_
    fewer = model.fit(X[:400], Y[:400], X_val=X[400:500], y_val=Y[400:500]).validation_score_
    assert np.allclose(some, fewer, rtol=1e-12)


def test_bad_validation_rows_are_refused():
    stops = GradientBoostingClassifier(early_stopping=True)
    with pytest.raises(InvalidInput, match=r"y_val has classes that y lacks: 'd'.*'a', 'b', 'c'"):
        stops.fit(X, LABELS, X_val=X[:2], y_val=["a", "d"])
    with pytest.raises(InvalidInput, match=r"validation rows \(X_val.*\): X has 4 features"):
        stops.fit(X, LABELS, X_val=X[:, :4], y_val=LABELS)
    with pytest.raises(InvalidInput, match="X_val is provided, but y_val was not"):
        stops.fit(X, LABELS, X_val=X)
    with pytest.raises(InvalidInput, match="y_val is provided, but X_val was not"):
        stops.fit(X, LABELS, y_val=LABELS)
    with pytest.raises(InvalidInput, match="sample_weight_val is provided"):
        stops.fit(X, LABELS, sample_weight_val=WEIGHTS)
    with pytest.raises(InvalidInput, match="early_stopping is False"):
        GradientBoostingClassifier(early_stopping=False).fit(X, LABELS, X_val=X, y_val=LABELS)
    with pytest.raises(InvalidInput, match="splits no validation rows off 2 rows"):
        stops.fit(X[:2], ["a", "b"])
    positive = GradientBoostingRegressor(loss="poisson", early_stopping=True, max_iter=2)
    with pytest.raises(InvalidInput, match=r"y_val: Row 1 of y is -1"):
        positive.fit(X, Y**2, X_val=X[:2], y_val=[1.0, -1.0])
    positive.fit(X, Y**2, X_val=X[:2], y_val=[0.0, 0.0])


def test_auto_stops_early_when_validation_rows_are_given():
    model = GradientBoostingRegressor(early_stopping="auto", max_iter=3)
    model.fit(X[:400], Y[:400], X_val=X[400:], y_val=Y[400:])
    assert model.do_early_stopping_
    assert len(model.validation_score_) == 4


def test_stopping_on_training_rows_needs_no_validation_rows():
    model = GradientBoostingRegressor(
        early_stopping=True, validation_fraction=None, tol=0.5, n_iter_no_change=2, max_iter=300
    ).fit(X, Y)
    assert model.n_iter_ < 300
    assert len(model.validation_score_) == 0
    free = GradientBoostingRegressor(max_iter=model.n_iter_).fit(X, Y)
    assert free.model_ == model.model_


@pytest.mark.parametrize("early_stopping", [False, True])
def test_model_with_subsample_is_the_same_for_threads(early_stopping):
    prints = {
        GradientBoostingRegressor(
            max_iter=6,
            subsample=0.4,
            max_features=0.6,
            early_stopping=early_stopping,
            random_state=5,
            n_jobs=n_jobs,
        )
        .fit(X, Y, WEIGHTS)
        .model_.fingerprint
        for n_jobs in (1, 2, 3, 7)
    }
    assert len(prints) == 1


def test_subsample_grows_every_tree_on_its_own_share_of_rows():
    model = GradientBoostingRegressor(max_iter=20, subsample=0.5, random_state=1).fit(X, Y).model_
    counts = [int(tree.count[0]) for tree in model]
    assert len(set(counts)) > 5
    assert abs(np.mean(counts) - 300) < 30
    whole = GradientBoostingRegressor(max_iter=20).fit(X, Y).model_
    assert all(tree.count[0] == 600 for tree in whole)


@pytest.mark.filterwarnings("ignore::spinney.errors.SmallWeights")
@pytest.mark.parametrize("subsample", [0.5, 1.0])
@pytest.mark.parametrize(
    "weights", [None, 1e-9 * np.sqrt(WEIGHTS), WEIGHTS], ids=["none", "tiny", "whole"]
)
def test_validation_rows_never_train(subsample, weights):
    settings = {"max_iter": 6, "subsample": subsample, "random_state": 2}
    settings["min_samples_leaf"] = 1
    alone = GradientBoostingRegressor(**settings).fit(X, Y, weights)
    stops = GradientBoostingRegressor(**settings, early_stopping=True)
    stops.fit(X, Y, weights, X_val=X[:200], y_val=Y[:200])
    assert stops.model_ == alone.model_


def test_every_tree_draws_features_anew():
    model = GradientBoostingRegressor(
        max_iter=20, learning_rate=1e-6, max_features=0.2, random_state=0
    ).fit(X, Y)
    assert {int(tree.feature[0]) for tree in model.model_} == set(range(5))
