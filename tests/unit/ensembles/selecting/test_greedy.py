"""Greedy selection against its definition, and what it promises."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    mean_squared_error,
    roc_auc_score,
    root_mean_squared_error,
)
from tests.reference import selecting as twin

from spinney.ensembles.selecting import fast_measures
from spinney.ensembles.selecting.fast_measures import (
    Accuracy,
    LogLoss,
    SquaredError,
    measure_of,
)
from spinney.ensembles.selecting.greedy import Walk, select
from spinney.ensembles.selecting.measures import Answers, ScorerMeasure, first_best

NAMES = [f"m{number}" for number in range(30)]


def class_answers(rng, *, n_members=6, n_rows=40, n_classes=3, weighted=False):
    """Members that lean towards the truth, some more than others."""
    codes = rng.integers(n_classes, size=n_rows)
    codes[:n_classes] = np.arange(n_classes)
    leaning = rng.uniform(0.0, 3.0, size=(n_members, 1, 1)) * np.eye(n_classes)[codes]
    raw = np.exp(rng.normal(size=(n_members, n_rows, n_classes)) + leaning)
    weights = rng.integers(1, 5, n_rows).astype(float) if weighted else None
    said = raw / raw.sum(axis=2, keepdims=True)
    return Answers(said, codes.astype(float), weights, np.arange(n_classes))


def number_answers(rng, *, n_members=6, n_rows=40, weighted=False):
    y = rng.normal(size=n_rows)
    said = y + rng.normal(size=(n_members, n_rows)) * rng.uniform(0.2, 2.0, size=(n_members, 1))
    weights = rng.integers(1, 5, n_rows).astype(float) if weighted else None
    return Answers(said[:, :, np.newaxis], y, weights, None)


def labels(answers):
    return answers.classes[answers.y.astype(int)]


def likeliest(answers, p):
    return answers.classes[p.argmax(axis=1)]


# Scores are those of scikit-learn


SCORES = {
    "neg_log_loss": lambda a, p: -log_loss(labels(a), p, labels=a.classes, sample_weight=a.weights),
    "neg_brier_score": lambda a, p: (
        -brier_score_loss(
            labels(a),
            p if len(a.classes) > 2 else p[:, 1],
            labels=a.classes,
            sample_weight=a.weights,
        )
    ),
    "accuracy": lambda a, p: accuracy_score(labels(a), likeliest(a, p), sample_weight=a.weights),
    "balanced_accuracy": lambda a, p: balanced_accuracy_score(
        labels(a), likeliest(a, p), sample_weight=a.weights
    ),
    "neg_mean_squared_error": lambda a, p: (
        -mean_squared_error(a.y, p[:, 0], sample_weight=a.weights)
    ),
    "neg_root_mean_squared_error": lambda a, p: (
        -root_mean_squared_error(a.y, p[:, 0], sample_weight=a.weights)
    ),
}
OF_NUMBERS = ("neg_mean_squared_error", "neg_root_mean_squared_error")


def answers_for(name, rng, **settings):
    maker = number_answers if name in OF_NUMBERS else class_answers
    return maker(rng, **settings)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", SCORES)
def test_every_road_scores_as_scikit_learn_does(name, weighted):
    rng = np.random.default_rng(3)
    answers = answers_for(name, rng, weighted=weighted)
    measure = measure_of(answers, name)
    for prediction in answers.predictions:
        assert measure.score(prediction) == pytest.approx(SCORES[name](answers, prediction), 1e-12)
    assert measure.alone() == pytest.approx([measure.score(p) for p in answers.predictions], 1e-12)


def test_roads_are_chosen_by_name():
    numbers = number_answers(np.random.default_rng(0))
    classes = class_answers(np.random.default_rng(0))
    assert isinstance(measure_of(numbers, None), SquaredError)
    assert isinstance(measure_of(classes, None), LogLoss)
    assert isinstance(measure_of(classes, "neg_brier_score"), SquaredError)
    assert isinstance(measure_of(classes, "accuracy"), Accuracy)
    assert isinstance(measure_of(classes, "balanced_accuracy"), ScorerMeasure)
    assert isinstance(measure_of(numbers, "r2"), ScorerMeasure)


def test_brier_score_of_two_classes_is_that_of_one():
    answers = class_answers(np.random.default_rng(5), n_classes=2)
    measure = measure_of(answers, "neg_brier_score")
    for p in answers.predictions:
        expected = np.mean((p[:, 1] - answers.y) ** 2)
        assert -measure.score(p) == pytest.approx(expected, 1e-12)


def test_probabilities_of_nothing_are_kept_from_infinity_as_in_scikit_learn():
    said = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    answers = Answers(said, np.array([0.0, 1.0]), None, np.arange(2))
    measure = measure_of(answers, None)
    assert measure.alone() == pytest.approx([-log_loss([0, 1], p) for p in said], 1e-12)
    # What the greedy loop sees of the same committees
    assert measure.climb(np.arange(2)).scores() == pytest.approx(measure.alone(), abs=1e-12)


# The walk is that of the definition


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_init", "patience"), [(1, None), (3, None), (1, 1), (4, 3)])
@pytest.mark.parametrize("name", SCORES)
def test_walk_is_that_of_the_definition(name, n_init, patience, weighted):
    for seed in range(1 if name == "balanced_accuracy" else 2):  # one that is slow
        answers = answers_for(name, np.random.default_rng(seed), weighted=weighted)
        walk = Walk(n_steps=10, n_init=n_init, patience=patience)
        library, path = select(measure_of(answers, name), NAMES[:6], walk, seed=0)
        added, scores, n_kept = twin.greedy(
            answers.predictions,
            lambda p, answers=answers: SCORES[name](answers, p),
            n_steps=10,
            n_init=n_init,
            patience=patience,
        )
        assert path.members == tuple(NAMES[m] for m in added)
        assert path.scores == pytest.approx(scores, 1e-9, 1e-12)
        assert int(path.kept.sum()) == n_kept
        counts = np.bincount(added[:n_kept], minlength=6)
        assert np.array_equal(library.weights, counts / n_kept)


@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 33, 1000])
def test_log_loss_of_candidates_does_not_depend_on_how_rows_fill_products(n_rows):
    rng = np.random.default_rng(n_rows)
    answers = class_answers(rng, n_members=9, n_rows=max(n_rows, 3))
    climb = measure_of(answers, None).climb(np.arange(9))
    climb.add(2)
    climb.add(5)
    scores = climb.scores()
    seen = np.isfinite(scores)
    for m in np.flatnonzero(seen):
        mean = answers.predictions[[2, 5, m]].mean(axis=0)
        assert scores[m] == pytest.approx(SCORES["neg_log_loss"](answers, mean), 1e-10)
    assert seen.any()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans(), st.booleans())
def test_candidates_passed_over_are_never_the_best(seed, size, weighted, sharp):
    """Bounds leave candidates out; the best must be what looking at all of them finds."""
    rng = np.random.default_rng(seed)
    answers = class_answers(rng, n_members=25, n_rows=30, weighted=weighted)
    said = answers.predictions
    if sharp:  # labels instead of probabilities: rows whose own class has none at all
        said = np.eye(3)[said.argmax(axis=2)]
        answers = Answers(said, answers.y, answers.weights, answers.classes)
    measure = measure_of(answers, None)
    with mock.patch.object(fast_measures, "BLOCK", 1):  # one at a time, as of many rows
        climb = measure.climb(np.arange(25))
    added = rng.integers(25, size=size)
    for member in added:
        climb.add(int(member))
    scores = climb.scores()
    every = np.array([measure.score(said[[*added, m]].mean(axis=0)) for m in range(25)])
    assert every[first_best(scores)] == pytest.approx(every.max(), 1e-11, 1e-13)
    assert (climb._bounds() >= every - 1e-12 * abs(every)).all()


def test_most_candidates_are_passed_over_in_the_end():
    answers = class_answers(np.random.default_rng(0), n_members=25, n_rows=1000)
    with mock.patch.object(fast_measures, "BLOCK", 1):
        climb = measure_of(answers, None).climb(np.arange(25))
    seen = []
    for _ in range(40):
        scores = climb.scores()
        seen.append(np.isfinite(scores).sum())
        climb.add(first_best(scores))
    assert seen[0] == 25
    assert np.mean(seen[20:]) < 8


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.booleans(), st.booleans())
def test_rows_that_are_decided_need_not_be_asked_about(seed, size, weighted, sharp):
    rng = np.random.default_rng(seed)
    answers = class_answers(rng, n_members=8, n_rows=30, weighted=weighted)
    said = np.eye(3)[answers.predictions.argmax(axis=2)] if sharp else answers.predictions
    answers = Answers(said, answers.y, answers.weights, answers.classes)
    measure = measure_of(answers, "accuracy")
    climb, added = measure.climb(np.arange(8)), rng.integers(8, size=size)
    for member in added:
        climb.add(int(member))
    every = [measure.score(said[[*added, m]].mean(axis=0)) for m in range(8)]
    assert climb.scores() == pytest.approx(every, 1e-12)


def test_of_equally_likely_classes_the_first_counts():
    said = np.array([[[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]])
    answers = Answers(said, np.array([0.0, 2.0]), None, np.arange(3))
    assert measure_of(answers, "accuracy").alone().tolist() == [0.5]


# What it promises


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.sampled_from([None, "accuracy", "neg_brier_score"]),
)
def test_committee_is_never_worse_than_its_best_member(seed, n_init, scoring):
    answers = class_answers(np.random.default_rng(seed), n_rows=15)
    measure = measure_of(answers, scoring)
    library, path = select(measure, NAMES[:6], Walk(n_steps=12, n_init=n_init), seed=0)
    assert path.scores[path.kept][-1] >= library.scores.max()
    assert library.committee_score == pytest.approx(path.scores[path.kept][-1], 1e-9, 1e-12)
    assert library.weights.sum() == pytest.approx(1.0, 1e-12)
    n_kept = int(path.kept.sum())
    counts = {name: path.members[:n_kept].count(name) for name in NAMES[:6]}
    assert np.array_equal(library.weights, np.array([*counts.values()]) / n_kept)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_no_committee_of_the_same_size_is_better_than_the_best_of_all(seed):
    answers = number_answers(np.random.default_rng(seed), n_members=4)
    measure = measure_of(answers, None)
    _, path = select(measure, NAMES[:4], Walk(n_steps=4), seed=0)
    for size in range(1, 5):
        best = twin.best_committee(answers.predictions, measure.score, size)
        assert path.scores[size - 1] <= best + 1e-12
    assert path.scores[0] == pytest.approx(
        twin.best_committee(answers.predictions, measure.score, 1), 1e-12
    )


def test_two_members_that_err_to_both_sides_are_taken_in_the_best_proportion():
    said = np.array([[[0.0]] * 4, [[3.0]] * 4])  # the truth is a third of the way down from 3
    measure = measure_of(Answers(said, np.full(4, 2.0), None, None), None)
    library, path = select(measure, ["low", "high"], Walk(n_steps=30), seed=0)
    assert library.weights == pytest.approx([1 / 3, 2 / 3], 1e-15)
    assert path.members[:3] == ("high", "low", "high")
    assert int(path.kept.sum()) == 3


def test_of_equal_members_the_first_is_taken():
    rng = np.random.default_rng(1)
    one = number_answers(rng, n_members=3)
    said = np.concatenate([one.predictions, one.predictions[::-1]])
    for scoring in (None, "r2"):
        measure = measure_of(Answers(said, one.y, None, None), scoring)
        library, _ = select(measure, NAMES[:6], Walk(n_steps=20), seed=0)
        assert library.weights[:3].sum() == pytest.approx(1.0)


def test_any_scorer_will_do_also_one_of_ranks():
    answers = class_answers(np.random.default_rng(8), n_classes=2)
    library, path = select(measure_of(answers, "roc_auc"), NAMES[:6], Walk(n_steps=10), seed=0)
    assert library.scores == pytest.approx(
        [roc_auc_score(answers.y, p[:, 1]) for p in answers.predictions], 1e-12
    )
    mean = answers.predictions[[NAMES.index(name) for name in path.members]].mean(axis=0)
    assert path.scores[-1] == pytest.approx(roc_auc_score(answers.y, mean[:, 1]), 1e-12)


def test_callable_scorers_get_an_estimator_that_says_what_the_committee_says():
    answers = class_answers(np.random.default_rng(8))

    def score(estimator, X, y):
        assert estimator.classes_.tolist() == [0, 1, 2]
        assert np.array_equal(estimator.predict_proba(X), X)
        return -log_loss(y, estimator.predict_proba(X))

    walk = Walk(n_steps=10)
    by_hand = select(measure_of(answers, score), NAMES[:6], walk, seed=0)[1]
    assert by_hand.members == select(measure_of(answers, None), NAMES[:6], walk, seed=0)[1].members


# Bags and pruning


def test_bags_choose_from_their_part_of_the_library_and_are_averaged():
    answers = number_answers(np.random.default_rng(2), n_members=20)
    walk = Walk(n_steps=25, n_bags=8, bag_fraction=0.3)
    library, path = select(measure_of(answers, None), NAMES[:20], walk, seed=4)
    weights = np.zeros(20)
    for bag in range(8):
        inside = path.kept & (path.bags == bag)
        chosen = [NAMES.index(path.members[i]) for i in np.flatnonzero(path.bags == bag)]
        assert len(set(chosen)) <= 6
        kept = [NAMES.index(path.members[i]) for i in np.flatnonzero(inside)]
        weights += np.bincount(kept, minlength=20) / len(kept) / 8
    assert library.weights == pytest.approx(weights, 1e-14)
    assert len({path.members[i] for i in np.flatnonzero(path.steps == 1)}) > 1
    again, _ = select(measure_of(answers, None), NAMES[:20], walk, seed=4)
    other, _ = select(measure_of(answers, None), NAMES[:20], walk, seed=5)
    assert np.array_equal(again.weights, library.weights)
    assert not np.array_equal(other.weights, library.weights)


def test_pruned_library_offers_the_best_members_only():
    answers = number_answers(np.random.default_rng(2), n_members=20)
    measure = measure_of(answers, None)
    library, _ = select(measure, NAMES[:20], Walk(n_steps=60, keep=0.25), seed=0)
    best = set(np.argsort(-library.scores)[:5])
    assert set(np.flatnonzero(library.weights)) <= best
    assert np.count_nonzero(library.weights) > 1


def test_patience_ends_the_walk():
    said = np.array([[[0.0]] * 4, [[3.0]] * 4])
    measure = measure_of(Answers(said, np.full(4, 2.0), None, None), None)
    lengths = [
        len(select(measure, ["low", "high"], Walk(patience=patience), seed=0)[1])
        for patience in (1, 2, None)
    ]
    assert lengths == [4, 5, 100]


def test_results_print_as_tables_and_cannot_be_written():
    answers = number_answers(np.random.default_rng(2), n_members=3)
    library, path = select(measure_of(answers, None), ["a", "b", "c"], Walk(n_steps=4), seed=0)
    assert "member" in str(path)
    assert path.to_frame()["step"].tolist() == [1, 2, 3, 4]
    assert set(library.to_frame("polars").columns) == {"member", "score", "weight"}
    assert library.to_frame()["weight"].is_monotonic_decreasing
    with pytest.raises(ValueError, match="read-only"):
        library.weights[0] = 1.0
