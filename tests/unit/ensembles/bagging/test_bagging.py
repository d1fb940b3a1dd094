"""Bagging of any learner: draws, answers, rows out of bags, going on, copies, files."""

import copy
import inspect
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
)
from sklearn.metrics import accuracy_score, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier as TheirTree

import spinney
from spinney import BaggingClassifier, BaggingRegressor, PastingClassifier, RandomPatchesRegressor
from spinney.errors import CannotSave, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import TreeForest

IRIS, SPECIES = load_iris(return_X_y=True)
LABELS = np.array(["ash", "elm", "oak"])[SPECIES]
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
GROUPS = np.arange(150) % 30
EVERY_SAMPLER = (
    *("bootstrap", "subsample", "m_out_of_n", "bayesian", "balanced"),
    *("stratified", "block", "group", "poisson"),
)


def fitted(sampler, base=None, **more):
    size = {"max_samples": 0.4} if sampler == "m_out_of_n" else {}
    bag = BaggingClassifier(base, sampler=sampler, random_state=0, **size, **more)
    return bag.fit(IRIS, LABELS, groups=GROUPS if sampler == "group" else None)


def by_definition(bag, X, n_outputs, put_together=np.mean):
    """What the members that did not see a row say of it."""
    name = "predict_proba" if hasattr(bag, "classes_") else "predict"
    said = [
        getattr(member, name)(X[:, features]).reshape(len(X), -1)
        for member, features in zip(bag.estimators_, bag.estimators_features_, strict=True)
    ]
    bags = [set(rows.tolist()) for rows in bag.estimators_samples_]
    answers = np.full((len(X), n_outputs), np.nan)
    for row in range(len(X)):
        unseen = [said[m][row] for m in range(len(bag)) if row not in bags[m]]
        if unseen:
            answers[row] = put_together(unseen, axis=0)
    return answers


@pytest.mark.parametrize("kind", ["BaggingClassifier", "BaggingRegressor"])
def test_signature_begins_with_scikit_learns(kind):
    ours = inspect.signature(getattr(spinney, kind).__init__).parameters
    theirs = inspect.signature(getattr(sklearn.ensemble, kind).__init__).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, wanted in theirs.items():
        assert (ours[name].default, ours[name].kind) == (wanted.default, wanted.kind)
    assert list(ours)[len(theirs) :] == ["sampler", "block_length", "aggregation"]


@pytest.mark.parametrize("base", [None, GaussianNB(), KNeighborsClassifier()], ids=str)
@pytest.mark.parametrize("sampler", EVERY_SAMPLER)
def test_every_sampler_with_any_learner(sampler, base):
    if sampler == "bayesian" and isinstance(base, KNeighborsClassifier):
        base = LogisticRegression(max_iter=1000)  # neighbours take no weights
    bag = fitted(sampler, base)
    assert bag.score(IRIS, LABELS) > 0.9
    counts = np.array([np.bincount(rows, minlength=150) for rows in bag.estimators_samples_])
    sizes = set(counts.sum(axis=1).tolist())
    if sampler in ("bootstrap", "bayesian", "balanced", "stratified", "block", "group"):
        assert sizes == {150}
    if sampler == "m_out_of_n":
        assert sizes == {60}
    if sampler == "subsample":
        assert sizes == {94}
        assert counts.max() == 1
    if sampler == "balanced":
        assert (counts.sum(axis=0) == 10).all()
    if sampler == "stratified":
        assert (counts[:, SPECIES == 1].sum(axis=1) == 50).all()
    if sampler == "group":
        together = [counts[:, g == GROUPS] for g in range(30)]
        assert all((np.ptp(some, axis=1) == 0).all() for some in together)


@pytest.mark.parametrize("base", [None, GaussianNB(), TheirTree(max_depth=3)], ids=str)
@pytest.mark.parametrize("sampler", [s for s in EVERY_SAMPLER if s != "bayesian"])
def test_out_of_bag_by_definition(sampler, base):
    bag = fitted(sampler, base, oob_score=True, n_estimators=30, max_features=3)
    wanted = by_definition(bag, IRIS, 3)
    assert bag.oob_decision_function_ == pytest.approx(wanted, abs=1e-10, nan_ok=True)
    known = ~np.isnan(wanted[:, 0])
    said = bag.classes_[wanted[known].argmax(axis=1)]
    assert bag.oob_score_ == pytest.approx(accuracy_score(LABELS[known], said))
    assert bag.oob_curve_.shape == (30,)
    assert bag.oob_curve_[-1] == bag.oob_score_


@pytest.mark.parametrize("base", [None, Ridge(), KNeighborsRegressor()], ids=str)
@pytest.mark.parametrize("aggregation", ["mean", "median"])
def test_out_of_bag_of_numbers_by_definition(base, aggregation):
    bag = BaggingRegressor(base, 40, oob_score=True, random_state=0, aggregation=aggregation)
    bag.fit(DIABETES, PROGRESS)

    def lower_median(said, axis):
        del axis
        return np.sort(said, axis=0)[(len(said) - 1) // 2]

    wanted = by_definition(bag, DIABETES, 1, np.mean if aggregation == "mean" else lower_median)
    assert bag.oob_prediction_ == pytest.approx(wanted[:, 0], rel=1e-10)
    assert bag.oob_score_ == pytest.approx(r2_score(PROGRESS, wanted[:, 0]))
    small = clone(bag).set_params(n_estimators=25).fit(DIABETES, PROGRESS)
    assert bag.oob_curve_[:25] == pytest.approx(small.oob_curve_)


@pytest.mark.parametrize("base", [None, GaussianNB(), KNeighborsClassifier()], ids=str)
def test_rows_of_weight_0_are_neither_seen_nor_asked_about(base):
    weights = np.where(np.arange(150) % 5 == 0, 0.0, 2.0)
    bag = BaggingClassifier(base, 40, oob_score=True, max_samples=0.5, random_state=0)
    bag.fit(IRIS, LABELS, weights)
    assert all((rows % 5 != 0).all() for rows in bag.estimators_samples_)
    assert bag.out_of_bag(IRIS)[::5].all()
    wanted = by_definition(bag, IRIS, 3)
    wanted[::5] = np.nan
    assert bag.oob_decision_function_ == pytest.approx(wanted, abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("base", [Ridge(), KNeighborsRegressor()], ids=str)
@pytest.mark.parametrize("sampler", ["bootstrap", "subsample", "poisson"])
def test_a_weight_is_a_repetition_for_any_learner(base, sampler):
    weights = np.arange(442) % 3
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(442), weights))
    one = BaggingRegressor(base, random_state=0, sampler=sampler)
    two = clone(one).fit(DIABETES[rows], PROGRESS[rows])
    one.fit(DIABETES, PROGRESS, weights)
    assert one.predict(DIABETES) == pytest.approx(two.predict(DIABETES), rel=1e-6)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_reach_members_as_they_are(library):
    columns = {"width": IRIS[:, 3], "place": np.array(["n", "s", "w"])[SPECIES], "odd": IRIS[:, 1]}
    table = library(columns)
    by_name = make_column_transformer((OneHotEncoder(), ["place"]), remainder="passthrough")
    bag = BaggingClassifier(make_pipeline(by_name, GaussianNB()), random_state=0, oob_score=True)
    bag.set_params(n_estimators=30).fit(table, LABELS)
    assert bag.oob_score_ > 0.95
    assert bag.feature_names_in_.tolist() == ["width", "place", "odd"]
    with pytest.raises(ValueError, match="feature names"):
        bag.predict(table.rename({"odd": "even"}) if library is pl.DataFrame else table[["odd"]])


@pytest.mark.parametrize("base", [None, TheirTree(max_depth=2)], ids=str)
def test_soft_and_hard_votes(base):
    soft, hard = (
        BaggingClassifier(base, 15, random_state=0, aggregation=how).fit(IRIS, LABELS)
        for how in ("soft", "hard")
    )
    shares = np.mean([member.predict_proba(IRIS) for member in soft], axis=0)
    votes = np.mean([member.predict(IRIS)[:, None] == hard.classes_ for member in soft], axis=0)
    assert soft.predict_proba(IRIS) == pytest.approx(shares, abs=1e-12)
    assert hard.predict_proba(IRIS) == pytest.approx(votes, abs=1e-12)
    assert np.exp(soft.predict_log_proba(IRIS)) == pytest.approx(shares, abs=1e-12)


def test_what_is_joined_by_itself_is_told():
    line = RidgeClassifier()
    bag = BaggingClassifier(line, 5, random_state=0).fit(IRIS, LABELS)
    voted = BaggingClassifier(line, 5, random_state=0, aggregation="hard").fit(IRIS, LABELS)
    assert bag.aggregation_ == voted.aggregation_ == "hard"
    assert np.array_equal(bag.predict_proba(IRIS), voted.predict_proba(IRIS))
    for base in (None, GaussianNB()):
        own = BaggingClassifier(base, 3, random_state=0).fit(IRIS, LABELS)
        assert own.aggregation_ == pickle.loads(pickle.dumps(own)).aggregation_ == "soft"
    assert BaggingRegressor(aggregation="median").fit(IRIS, SPECIES).aggregation_ == "median"
    voted = BaggingClassifier(GaussianNB(), 5, random_state=0, aggregation="hard").fit(IRIS, LABELS)
    voted.set_params(aggregation="soft")  # for the next fit
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(
            voted.predict_log_proba(IRIS), np.log(voted.predict_proba(IRIS))
        )
    online = BaggingClassifier(Perceptron(), 3, random_state=0)
    assert online.partial_fit(IRIS, LABELS, np.unique(LABELS)).aggregation_ == "hard"


def test_probabilities_that_members_do_not_have_are_not_averaged():
    bag = BaggingClassifier(RidgeClassifier(), 5, aggregation="soft")
    with pytest.raises(InvalidParameter, match="RidgeClassifier, has no predict_proba"):
        bag.fit(IRIS, LABELS)
    with pytest.raises(InvalidParameter, match="aggregation='soft' averages probabilities"):
        bag.set_params(estimator=Perceptron()).partial_fit(IRIS, LABELS, np.unique(LABELS))


@pytest.mark.parametrize("base", [None, LinearRegression()], ids=str)
@pytest.mark.parametrize("n_estimators", [1, 4, 5])
def test_the_median_is_the_lower_one(base, n_estimators):
    bag = BaggingRegressor(base, n_estimators, random_state=0, aggregation="median")
    bag.fit(DIABETES, PROGRESS)
    said = np.sort([member.predict(DIABETES) for member in bag], axis=0)
    assert bag.predict(DIABETES) == pytest.approx(said[(n_estimators - 1) // 2], rel=1e-12)


def test_several_numbers_per_row():
    both = np.c_[PROGRESS, DIABETES[:, 0]]
    for base in (None, Ridge()):
        bag = BaggingRegressor(base, oob_score=True, n_estimators=30, random_state=0)
        bag.fit(DIABETES, both)
        assert bag.predict(DIABETES).shape == bag.oob_prediction_.shape == (442, 2)


def test_decision_functions_are_averaged():
    bag = BaggingClassifier(SVC(), 5, random_state=0).fit(IRIS, LABELS)
    wanted = np.mean([member.decision_function(IRIS) for member in bag], axis=0)
    assert bag.decision_function(IRIS) == pytest.approx(wanted)
    assert not hasattr(BaggingClassifier(), "decision_function")


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
@pytest.mark.parametrize("sampler", ["bootstrap", "balanced", "poisson"])
def test_going_on_gives_what_one_fit_gives(base, sampler):
    once = BaggingClassifier(base, 12, random_state=3, sampler=sampler).fit(IRIS, LABELS)
    grown = BaggingClassifier(base, 5, random_state=3, sampler=sampler, warm_start=True)
    grown.fit(IRIS, LABELS)
    grown.set_params(n_estimators=12).fit(IRIS, LABELS)
    assert len(grown) == 12
    assert np.array_equal(once.predict_proba(IRIS), grown.predict_proba(IRIS))
    if base is None:
        assert once.model_ == grown.model_


# The same for every number of jobs and every backend

MEMBERS = [
    (BaggingClassifier, TheirTree(max_features=2), IRIS, LABELS),
    (BaggingClassifier, LogisticRegression(max_iter=30), IRIS[:, :2], LABELS),
    (BaggingRegressor, KNeighborsRegressor(), DIABETES, PROGRESS),
    (BaggingRegressor, spinney.DecisionTreeRegressor(max_features=3), DIABETES, PROGRESS),
]


def bytes_of(bag, X):
    parts = [bag.predict(X).tobytes(), bag.oob_curve_.tobytes()]
    if isinstance(bag.model_, TreeForest):
        return b"".join([*parts, bag.model_.to_bytes()])
    return b"".join([*parts, *(member.predict(X).tobytes() for member in bag)])


@pytest.mark.filterwarnings("ignore")  # few iterations of logistic regression
@pytest.mark.parametrize(("kind", "base", "X", "y"), MEMBERS, ids=[str(m[1]) for m in MEMBERS])
def test_the_same_bytes_for_any_jobs_and_backends(kind, base, X, y):
    def fit(n_jobs):
        return bytes_of(kind(base, 12, random_state=0, n_jobs=n_jobs, oob_score=True).fit(X, y), X)

    wanted = fit(1)
    assert fit(2) == wanted
    for backend, n_jobs in (("loky", 2), ("threading", 2), ("threading", 3)):
        with joblib.parallel_config(backend=backend, n_jobs=n_jobs):
            assert fit(None) == wanted
    with joblib.parallel_config(backend="threading"):
        assert fit(3) == wanted


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_copies_answer_the_same(base):
    bag = BaggingClassifier(base, oob_score=True, n_estimators=30, random_state=0)
    bag.fit(IRIS, LABELS, sample_weight=np.where(SPECIES == 0, 0.5, 1.5))
    for again in (pickle.loads(pickle.dumps(bag)), copy.deepcopy(bag)):
        assert np.array_equal(again.predict_proba(IRIS), bag.predict_proba(IRIS))
        assert np.array_equal(again.oob_curve_, bag.oob_curve_)
        assert all(
            np.array_equal(a, b)
            for a, b in zip(again.estimators_samples_, bag.estimators_samples_, strict=True)
        )


@pytest.mark.parametrize(
    "bag",
    [
        BaggingClassifier(oob_score=True, n_estimators=90, random_state=0),
        BaggingClassifier(spinney.DecisionTreeClassifier(max_depth=2), random_state=0),
        PastingClassifier(random_state=0, oob_score=True, n_estimators=30, aggregation="hard"),
        RandomPatchesRegressor(random_state=0, aggregation="median", bootstrap_features=True),
        BaggingClassifier(sampler="poisson", random_state=0),
        BaggingClassifier(sampler="stratified", random_state=0),
    ],
    ids=str,
)
def test_files_keep_everything(bag):
    weights = 1 + np.arange(150) % 3
    bag = clone(bag).fit(IRIS, SPECIES, weights)
    again = from_bytes(to_bytes(bag))
    assert again.model_ == bag.model_
    assert again.get_params(deep=False).keys() == bag.get_params(deep=False).keys()
    for name in ("estimators_samples_", "estimators_features_"):
        pairs = zip(getattr(again, name), getattr(bag, name), strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs)
    if bag.oob_score:
        assert again.oob_score_ == bag.oob_score_
    assert to_bytes(again) == to_bytes(bag)


def test_foreign_members_have_no_file():
    with pytest.raises(CannotSave, match=r"estimator is of class GaussianNB.*one of Spinney's"):
        to_bytes(BaggingClassifier(GaussianNB()).fit(IRIS, LABELS))


# Samplers of the user's own


class EveryOther:
    """Takes every second row twice, and starts elsewhere for every other member."""

    def draw(self, n_rows, member, seed):
        del seed
        return 2 * ((np.arange(n_rows) + member) % 2)


@pytest.mark.parametrize("base", [None, GaussianNB()], ids=str)
def test_own_samplers_say_what_members_see(base):
    bag = BaggingClassifier(base, 4, sampler=EveryOther(), oob_score=True, random_state=0)
    bag.fit(IRIS, LABELS)
    for member, rows in enumerate(bag.estimators_samples_):
        wanted = np.repeat(np.arange((member + 1) % 2, 150, 2), 2)
        assert rows.tolist() == wanted.tolist()
    assert bag.oob_score_ > 0.8
    assert pickle.loads(pickle.dumps(bag)).predict(IRIS).tolist() == bag.predict(IRIS).tolist()
    if base is None:
        with pytest.raises(CannotSave, match="sampler is of class EveryOther, which has no safe"):
            to_bytes(bag)


def test_own_samplers_and_weights():
    weights = np.where(np.arange(150) % 4 == 0, 0.0, 1.0)
    bag = BaggingClassifier(GaussianNB(), 2, sampler=EveryOther()).fit(IRIS, LABELS, weights)
    assert all((rows % 4 != 0).all() for rows in bag.estimators_samples_)
