"""Bumping: never worse on the training rows, and past xor's first split."""

import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import brier_score_loss, mean_squared_error
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as ForeignTree
from sklearn.tree import DecisionTreeRegressor as ForeignTreeOfNumbers

import spinney
from spinney import BumpingClassifier, BumpingRegressor
from spinney.datasets import make_xor, make_xor_points
from spinney.errors import (
    CannotSave,
    InvalidFile,
    InvalidInput,
    InvalidParameter,
    WeakLearnerFailed,
)
from spinney.io.save_load import from_bytes, to_bytes

X, Y = load_iris(return_X_y=True)
TREES = {
    "ours": (spinney.DecisionTreeClassifier(max_depth=2), BumpingClassifier),
    "foreign": (ForeignTree(max_depth=2, random_state=0), BumpingClassifier),
    "ours, numbers": (spinney.DecisionTreeRegressor(max_depth=2), BumpingRegressor),
    "foreign, numbers": (ForeignTreeOfNumbers(max_depth=2, random_state=0), BumpingRegressor),
}
every_tree = pytest.mark.parametrize("name", TREES)


def training_score(model, X, y, weights=None):
    if isinstance(model, BumpingRegressor | spinney.DecisionTreeRegressor | ForeignTreeOfNumbers):
        return -mean_squared_error(y, model.predict(X), sample_weight=weights)
    shares = model.predict_proba(X)
    classes = model.classes_
    shares = shares[:, 1] if len(classes) == 2 else shares
    labels = {"labels": classes} if len(classes) > 2 else {"pos_label": classes[1]}
    return -brier_score_loss(y, shares, sample_weight=weights, **labels)


@every_tree
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), weighted=st.booleans())
def test_training_score_is_never_worse_than_that_of_the_plain_fit(name, seed, weighted):
    tree, bumping = TREES[name]
    rng = np.random.default_rng(seed)
    data = make_xor(60, noise=0.1, random_state=seed % 1000)
    weights = rng.integers(1, 4, 60) if weighted else None
    bumped = bumping(tree, n_estimators=6, random_state=seed).fit(data.X, data.y, weights)
    plain = clone(tree).fit(data.X, data.y, sample_weight=weights)
    scores = bumped.candidates_.scores
    assert scores[0] == pytest.approx(training_score(plain, data.X, data.y, weights), 1e-9)
    best = training_score(bumped, data.X, data.y, weights)
    assert scores[bumped.candidates_.chosen] == pytest.approx(best, 1e-9)
    assert best >= training_score(plain, data.X, data.y, weights) - 1e-12
    assert len(scores) == 7


def test_bumping_finds_the_first_split_of_xor_that_a_greedy_tree_misses():
    """ESL §8.9: no first cut lowers the impurity much, so the greedy one is anywhere."""
    tree = spinney.DecisionTreeClassifier(max_depth=2)
    plain, bumped = [], []
    for seed in range(25):
        train = make_xor(100, noise=0.0, random_state=seed)
        test = make_xor(2000, noise=0.0, random_state=1000 + seed)
        plain.append(clone(tree).fit(train.X, train.y).score(test.X, test.y))
        model = BumpingClassifier(tree, n_estimators=20, random_state=seed).fit(train.X, train.y)
        bumped.append(model.score(test.X, test.y))
    assert np.mean(plain) < 0.75
    assert np.mean(bumped) > np.mean(plain) + 0.1
    assert np.mean(np.array(bumped) >= np.array(plain)) > 0.8


def test_corners_of_xor_have_no_first_split_until_a_sample_breaks_the_balance():
    points = make_xor_points()
    X, y = np.repeat(points.X, 3, axis=0), np.repeat(points.y, 3)
    tree = spinney.DecisionTreeClassifier(max_depth=2, min_impurity_decrease=1e-9)
    assert clone(tree).fit(X, y).score(X, y) == 0.5
    model = BumpingClassifier(tree, n_estimators=20, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.candidates_.chosen > 0


def test_of_equals_the_plain_fit_is_kept():
    model = BumpingClassifier(spinney.DecisionTreeClassifier(), random_state=0).fit(X, Y)
    assert model.candidates_.scores[0] == 0.0
    assert model.candidates_.chosen == 0
    assert model.model_ == spinney.DecisionTreeClassifier().fit(X, Y).model_
    assert "the plain one" in str(model.candidates_)


@every_tree
def test_fits_are_those_of_the_samples_that_are_drawn(name):
    tree, bumping = TREES[name]
    data = make_xor(80, random_state=3)
    model = bumping(tree, n_estimators=12, random_state=4).fit(data.X, data.y)
    first = np.array(model.candidates_.scores)
    assert len(set(first)) > 5
    more = bumping(tree, n_estimators=15, random_state=4).fit(data.X, data.y)
    assert np.array_equal(more.candidates_.scores[:13], first)  # a sample depends on its number
    other = bumping(tree, n_estimators=12, random_state=5).fit(data.X, data.y)
    assert not np.array_equal(other.candidates_.scores[1:], first[1:])


@pytest.mark.parametrize("name", ["ours", "ours, numbers"])
def test_order_and_repetitions_of_rows_do_not_matter(name):
    tree, bumping = TREES[name]
    data = make_xor(60, noise=0.1, random_state=3)
    weights = np.random.default_rng(0).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), weights)
    order = np.random.default_rng(1).permutation(60)
    model = bumping(tree, random_state=0)
    expected = model.fit(data.X, data.y, sample_weight=weights).model_
    scores = model.candidates_.scores
    copies = model.fit(data.X[repeated], data.y[repeated])
    assert copies.candidates_.scores == pytest.approx(scores, 1e-12)
    for part in ("feature", "threshold", "values"):
        assert np.array_equal(copies.model_.arrays[part], expected.arrays[part])
    model.fit(data.X[order], data.y[order], sample_weight=weights[order])
    assert model.model_ == expected


def test_scoring_may_be_anything_that_scikit_learn_knows():
    data = make_xor(100, noise=0.1, random_state=3)
    tree = spinney.DecisionTreeClassifier(max_depth=2)
    model = BumpingClassifier(tree, scoring="accuracy", random_state=0).fit(data.X, data.y)
    assert model.candidates_.scores.max() == model.score(data.X, data.y)
    with pytest.raises(InvalidParameter, match="scoring='acc'"):
        BumpingClassifier(tree, scoring="acc").fit(data.X, data.y)


def test_model_of_a_tree_of_ours_is_that_tree_and_goes_into_a_file():
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 3] > 1, "wide", "narrow")})
    y = np.array(["x", "y", "z"])[Y]
    model = BumpingClassifier(random_state=0).fit(frame, y)
    assert isinstance(model.estimator_, spinney.DecisionTreeClassifier)
    assert model.model_ is model.estimator_.model_
    again = from_bytes(to_bytes(model))
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert np.array_equal(again.candidates_.scores, model.candidates_.scores)
    assert again.candidates_.chosen == model.candidates_.chosen
    assert again.estimator_.get_depth() == model.estimator_.get_depth() <= 3
    assert again.feature_names_in_.tolist() == ["a", "b"]
    assert to_bytes(again) == to_bytes(model)


def test_file_with_another_choice_than_there_are_fits_is_refused():
    model = BumpingRegressor(n_estimators=3, random_state=0).fit(X, Y)
    real = model.candidates_
    object.__setattr__(real, "chosen", 9)
    with pytest.raises(InvalidFile, match="scores of the fits"):
        from_bytes(to_bytes(model))


def test_foreign_learners_pickle_only():
    model = BumpingClassifier(ForeignTree(max_depth=2), random_state=0).fit(X, Y)
    with pytest.raises(CannotSave, match="pickle"):
        spinney.save(model, "never.spn")
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(model.predict_proba(X), model.estimator_.predict_proba(X))


def test_foreign_learners_see_samples_as_rows_not_as_weights():
    sizes = []

    class Watching(KNeighborsClassifier):
        def fit(self, X, y):
            sizes.append(len(X))
            assert len(np.unique(X, axis=0)) < len(X)
            return super().fit(X, y)

    rows = np.unique(X, axis=0)
    BumpingClassifier(Watching(1), n_estimators=3).fit(
        np.repeat(rows, 2, axis=0), np.arange(2 * len(rows)) % 3
    )
    assert sizes == [2 * len(rows)] * 4


def test_linear_models_are_bumped_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 1))
    y = np.where(np.arange(50) < 45, x[:, 0], 50.0)
    huber = BumpingRegressor(
        LinearRegression(), n_estimators=60, scoring="neg_median_absolute_error", random_state=0
    ).fit(x, y)
    plain = LinearRegression().fit(x, y)
    assert np.median(abs(huber.predict(x) - y)) < np.median(abs(plain.predict(x) - y))


# Bad input


def test_bad_parameters_and_members_are_refused():
    with pytest.raises(InvalidParameter, match="estimator=5"):
        BumpingClassifier(5).fit(X, Y)
    with pytest.raises(InvalidParameter, match="n_estimators=0"):
        BumpingClassifier(n_estimators=0).fit(X, Y)
    with pytest.raises(InvalidParameter, match="no classifier"):
        BumpingClassifier(LinearRegression()).fit(X, Y)
    with pytest.raises(InvalidParameter, match="a classifier"):
        BumpingRegressor(LogisticRegression()).fit(X, Y)
    with pytest.raises(InvalidInput, match="takes none"):
        BumpingClassifier(KNeighborsClassifier()).fit(X, Y, sample_weight=np.ones(150))
    with pytest.raises(InvalidInput, match="1d array"):
        BumpingRegressor().fit(X, X)
    with pytest.raises(WeakLearnerFailed, match="could not be fitted"):
        BumpingClassifier(LogisticRegression()).fit(np.where(X > 5, np.nan, X), Y)


def test_samples_may_lack_a_class():
    y = np.zeros(40, int)
    y[:2] = [1, 2]
    model = BumpingClassifier(random_state=0).fit(np.arange(40.0).reshape(-1, 1), y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba([[0.0]]).shape == (1, 3)

    def fewest(_, shares, y):  # a fit that knows only some classes is the best of all
        assert len(y) == 40
        return -float((shares > 0).any(axis=0).sum())

    model = BumpingClassifier(random_state=0, scoring=fewest)
    model.fit(np.arange(40.0).reshape(-1, 1), y)
    assert len(model.estimator_.classes_) < 3
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba([[0.0]]).shape == (1, 3)
    foreign = BumpingClassifier(ForeignTree(max_depth=2, random_state=0), random_state=0)
    foreign.fit(np.arange(40.0).reshape(-1, 1), y)
    assert foreign.predict_proba([[0.0]]).shape == (1, 3)


class Drawn(ForeignTreeOfNumbers):
    """Notes which rows it is fitted on."""

    seen: ClassVar = []

    def fit(self, X, y, sample_weight=None):
        Drawn.seen.append((X[:, 0].astype(int), sample_weight))
        return super().fit(X, y, sample_weight)


def test_rows_of_a_group_are_drawn_together():
    groups = np.array(list("abcdef"))[np.arange(60) % 6]
    table, weights = np.arange(60.0).reshape(-1, 1), 1.0 + np.arange(60) % 2
    Drawn.seen.clear()
    bumped = BumpingRegressor(Drawn(max_depth=2), n_estimators=5, random_state=0)
    bumped.fit(table, table[:, 0] % 7, groups=groups)
    assert len(Drawn.seen) == 6
    for rows, _ in Drawn.seen[1:]:
        counts = np.bincount(rows, minlength=60)
        assert np.array_equal(counts, counts[np.arange(60) % 6])
        assert (counts == 0).any()
    Drawn.seen.clear()
    bumped.fit(table, table[:, 0] % 7, weights, groups)
    for rows, own in Drawn.seen[1:]:
        counts = np.zeros(60)
        counts[rows] = own / weights[rows]
        assert np.array_equal(counts, counts[np.arange(60) % 6])
    with pytest.raises(InvalidInput, match="groups"):
        bumped.fit(table, table[:, 0], groups=groups[1:])
