"""What happens when a round fails, resampling, and when boosting ends."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from tests.unit.ensembles.adaptive.problems import blobs, small_tree

from spinney import AdaBoostClassifier, DecisionTreeClassifier
from spinney.datasets import make_esl_spheres
from spinney.errors import InvalidInput, InvalidParameter, NothingLearnt
from spinney.io.save_load import to_bytes

X2, Y2 = blobs(2)
X3, Y3 = blobs(3)


class Coin(ClassifierMixin, BaseEstimator):
    """Answers at random, by its seed: better or worse than guessing."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        self.said_ = np.random.RandomState(self.random_state).randint(len(self.classes_), size=999)
        return self

    def predict(self, X):
        return self.classes_[self.said_[: len(X)]]


# Rounds that fail


def test_a_learner_worse_than_guessing_is_turned_round():
    booster = AdaBoostClassifier(Coin(), n_estimators=12, random_state=1).fit(X2, Y2)
    weights = booster.model_.weights
    assert (weights < 0).any()
    assert (weights > 0).any()
    np.testing.assert_allclose(np.abs(weights), booster.alphas_)
    assert (booster.trace_.errors < 0.5).all()
    assert booster.score(X2, Y2) > 0.6


def test_a_learner_worse_than_guessing_ends_boosting():
    booster = AdaBoostClassifier(
        Coin(), n_estimators=50, random_state=4, on_weak_failure="stop"
    ).fit(X2, Y2)
    assert 0 < len(booster.trace_) < 12
    assert (booster.model_.weights > 0).all()
    assert "no learner better than guessing" in booster.trace_.stop_reason


def test_weights_begin_anew_and_the_votes_stay():
    booster = AdaBoostClassifier(
        Coin(), n_estimators=12, random_state=4, on_weak_failure="reset", store_weights=True
    ).fit(X2, Y2)
    stopped = clone(booster).set_params(on_weak_failure="stop").fit(X2, Y2)
    n_before = len(stopped.trace_)
    assert len(booster.trace_) == 12 > n_before
    np.testing.assert_array_equal(booster.alphas_[:n_before], stopped.alphas_)
    # The trace is that of the whole sum: F, not of what came after the reset
    F = booster.decision_function(X2) * booster.alphas_.sum()
    margins = np.where(Y2 == 1, 1, -1) * F
    assert booster.trace_.objective[-1] == pytest.approx(np.exp(-margins).mean(), rel=1e-10)
    assert booster.trace_.min_margins[-1] == pytest.approx(booster.margins(X2, Y2).min(), abs=1e-10)
    D = booster.trace_.distributions
    np.testing.assert_allclose(D.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(D[n_before], 1 / len(Y2), rtol=1e-12)
    for t, (member, weight) in enumerate(zip(booster.estimators_, booster.alphas_, strict=True)):
        assert weight > 0
        error = D[t][member.predict(X2) != Y2].sum()
        assert error == pytest.approx(booster.trace_.errors[t], abs=1e-12)


@pytest.mark.parametrize("variant", ["real", "gentle", "logit", "m2", "mh", "confidence", "m1"])
def test_every_variant_survives_a_learner_without_an_edge(variant):
    X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1])
    for way in ("reverse", "stop", "reset"):
        booster = AdaBoostClassifier(variant=variant, on_weak_failure=way)
        with pytest.warns(NothingLearnt, match="learnt nothing, because round"):
            booster.fit(X, y)
        np.testing.assert_allclose(booster.predict_proba(X), 0.5)
        assert len(list(booster.staged_predict(X))) == 0
        np.testing.assert_array_equal(booster.margins(X, y), 0.0)
        assert booster.feature_importances_.tolist() == [0.0]
        assert to_bytes(booster)


def test_resets_are_counted_and_end():
    X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1])
    with pytest.warns(NothingLearnt, match="round 11 found no learner"):
        AdaBoostClassifier(on_weak_failure="reset").fit(X, y)


def test_no_two_rounds_draw_the_same_rows_after_a_reset():
    seen = []

    class Spy(Coin):
        def fit(self, X, y):
            seen.append(self.random_state)
            return super().fit(X, y)

    AdaBoostClassifier(Spy(), n_estimators=12, random_state=4, on_weak_failure="reset").fit(X2, Y2)
    assert len(seen) > 12
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("eps_clip", [1e-10, 1e-4, 0.1])
def test_a_perfect_learner_ends_boosting_with_the_weight_of_eps_clip(eps_clip):
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 4
    booster = AdaBoostClassifier(eps_clip=eps_clip).fit(X, y)
    assert booster.trace_.errors.tolist() == [0.0]
    assert booster.alphas_[0] == pytest.approx(0.5 * np.log((1 - eps_clip) / eps_clip))
    assert booster.trace_.stop_reason == "the last learner made no error"
    assert booster.score(X, y) == 1.0
    assert booster.trace_.normalisers[0] == pytest.approx(np.exp(-booster.alphas_[0]))


def test_ten_thousand_rounds_neither_underflow_nor_overflow():
    X, y = blobs(2, n_rows=24)
    booster = AdaBoostClassifier(n_estimators=10_000, store_weights=False).fit(X, y)
    assert np.isfinite(booster.trace_.alphas).all()
    assert booster.trace_.objective[-1] == 0.0 or np.isfinite(np.log(booster.trace_.objective[-1]))
    assert np.isfinite(booster.predict_proba(X)).all()
    assert (booster.trace_.errors > 0.01).all()  # weights still tell the rows apart
    assert booster.trace_.min_margins[-1] > 0


@pytest.mark.parametrize(
    ("variant", "n_classes", "rate"),
    [("real", 2, 1.0), ("real", 3, 1.0), ("gentle", 2, 5.0), ("gentle", 3, 5.0), ("mh", 3, 1.0)],
)
def test_a_loss_below_all_floats_is_zero_and_no_error(variant, n_classes, rate):
    X, y = blobs(n_classes, n_rows=24)
    booster = AdaBoostClassifier(
        small_tree(variant, depth=3), variant=variant, n_estimators=700, learning_rate=rate
    ).fit(X, y)
    assert booster.trace_.objective[-1] == 0.0
    assert (booster.trace_.normalisers > 0).all()
    assert (booster.trace_.normalisers < 1).mean() > 0.9
    assert np.isfinite(booster.predict_proba(X)).all()


def test_totally_corrective_weights_of_rows_that_votes_separate():
    corrected = AdaBoostClassifier(n_estimators=60, totally_corrective=True).fit(*blobs(2, 20))
    assert np.isfinite(corrected.trace_.normalisers).all()


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle", "logit", "mh", "m2", "m1"])
def test_steps_far_too_long_end_in_numbers(variant):
    for n_classes in (2, 3):
        X, y = blobs(n_classes)
        booster = AdaBoostClassifier(variant=variant, learning_rate=1e4, n_estimators=20)
        booster.fit(X, y)
        assert np.isfinite(booster.predict_proba(X)).all()
        assert not np.isnan(booster.trace_.objective).any()


# Resampling


def test_drawn_rows_are_those_of_the_seed():
    def fit(seed, estimator=None):
        booster = AdaBoostClassifier(
            estimator, mode="resample", random_state=seed, n_estimators=6
        ).fit(X2, Y2)
        return booster.model_.fingerprint

    assert fit(1) == fit(1)
    assert fit(1) != fit(2)
    assert fit(np.random.default_rng(7)) == fit(np.random.default_rng(7))
    tree = DecisionTreeClassifier()
    assert fit(1, tree) == fit(1, tree)


def test_errors_of_learners_of_drawn_rows_are_measured_on_all_rows():
    booster = AdaBoostClassifier(
        mode="resample", random_state=0, n_estimators=5, store_weights=True
    ).fit(X2, Y2)
    for t, member in enumerate(booster.estimators_):
        wrong = member.predict(X2) != Y2
        error = booster.trace_.distributions[t][wrong].sum()
        assert min(error, 1 - error) == pytest.approx(booster.trace_.errors[t], abs=1e-12)


# Early stopping


def noisy(seed=0, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = np.where(rng.random(n_rows) < 0.25, 1, 0) ^ (X[:, 0] > 0)
    return X, y


@pytest.mark.parametrize("way", ["validation", "cv"])
@pytest.mark.parametrize("variant", ["discrete", "gentle", "real"])
def test_rounds_that_do_not_help_elsewhere_are_not_made(way, variant):
    X, y = noisy()
    booster = AdaBoostClassifier(
        early_stopping=way, variant=variant, n_estimators=200, random_state=0
    ).fit(X, y)
    assert len(booster.trace_) < 60
    fixed = AdaBoostClassifier(variant=variant, n_estimators=len(booster.trace_)).fit(X, y)
    assert booster.model_.fingerprint == fixed.model_.fingerprint  # refitted on all rows
    again = clone(booster).fit(X, y)
    assert len(again.trace_) == len(booster.trace_)


def test_boosting_ends_when_the_least_margin_does_not_grow():
    X, y = blobs(2, n_rows=40)
    booster = AdaBoostClassifier(
        early_stopping="margin", n_estimators=2000, n_iter_no_change=25, tol=1e-3
    ).fit(X, y)
    least = booster.trace_.min_margins
    assert 25 < len(least) < 2000
    assert "the least margin has not grown for 25 rounds" in booster.trace_.stop_reason
    best = np.maximum.accumulate(least)
    assert best[-1] <= best[-26] + 1e-3 + 1e-12


@pytest.mark.parametrize("way", ["validation", "cv"])
def test_rows_of_weight_zero_do_not_vote_on_when_to_stop(way):
    X, y = noisy(1)
    rubbish = np.random.default_rng(0).integers(0, 2, 200)
    X_more = np.vstack([X, np.random.default_rng(1).normal(size=(200, 4))])
    weights = np.r_[np.ones(len(y)), np.zeros(200)]
    for seed in range(4):
        booster = AdaBoostClassifier(early_stopping=way, n_estimators=60, random_state=seed)
        plain = booster.fit(X, y).model_.fingerprint
        booster.fit(X_more, np.r_[y, rubbish], sample_weight=weights)
        assert booster.model_.fingerprint == plain


def test_progress_smaller_than_tol_is_none():
    spheres = make_esl_spheres(400, random_state=0)  # every round helps a little
    booster = AdaBoostClassifier(early_stopping="cv", random_state=0, n_iter_no_change=9)
    patient = clone(booster).set_params(tol=0.0).fit(spheres.X, spheres.y)
    hasty = clone(booster).set_params(tol=1.0).fit(spheres.X, spheres.y)
    assert len(hasty.trace_) <= 10 < len(patient.trace_)


def test_classes_too_small_to_split_are_refused_in_words():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 0, 0, 1]
    with pytest.raises(InvalidInput, match="at least 2 rows of every class"):
        AdaBoostClassifier(early_stopping="cv").fit(X, y)
    with pytest.raises(InvalidInput, match=r"validation_fraction=0.1 cannot hold out rows"):
        AdaBoostClassifier(early_stopping="validation").fit(X, y)


@pytest.mark.parametrize("variant", ["real", "samme_r", "gentle", "logit", "arc_x4"])
@pytest.mark.parametrize("alpha", ["line_search", abs])
def test_members_without_a_weight_of_their_own_take_no_rule_for_it(variant, alpha):
    with pytest.raises(InvalidParameter, match=rf"variant='{variant}' have no weight to choose"):
        AdaBoostClassifier(variant=variant, alpha=alpha).fit(X2, Y2)


@pytest.mark.parametrize("alpha", [lambda: 1.0, lambda error: f"{error}?", np.ones(2), 3])
def test_what_is_no_function_of_an_error_is_refused(alpha):
    with pytest.raises(InvalidParameter, match="alpha"):
        AdaBoostClassifier(alpha=alpha).fit(X2, Y2)


def test_a_fit_stopped_by_rows_held_out_says_so():
    for kind in ("validation", "cv"):
        booster = AdaBoostClassifier(n_estimators=40, early_stopping=kind, random_state=0)
        reason = booster.fit(X2, Y2).trace_.stop_reason
        assert reason == f"rows held out were voted best after {len(booster.trace_)} rounds"


def test_corrected_votes_are_not_followed_round_by_round():
    booster = AdaBoostClassifier(totally_corrective=True, early_stopping="cv")
    with pytest.raises(InvalidParameter, match="early_stopping='margin' or None"):
        booster.fit(X2, Y2)


def test_pairs_are_drawn_too():
    X, y = np.random.default_rng(0).normal(size=(90, 3)), np.arange(90) % 3
    drawn = [
        AdaBoostClassifier(variant="mh", mode="resample", random_state=s).fit(X, y).alphas_[0]
        for s in (0, 1)
    ]
    assert drawn[0] != drawn[1]
