"""Rows out of bags: by definition, the curve, the number of trees, proximities, strength."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, r2_score

from spinney import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from spinney.datasets import make_friedman, make_twonorm
from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory import forest_strength

IRIS, SPECIES = load_iris(return_X_y=True)
LABELS = np.array(["ash", "elm", "oak"])[SPECIES]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Z = np.c_[X[:, 0] * X[:, 1], X[:, 2]]


def by_definition(forest, table, n_outputs):
    """Average, row by row, the trees that did not see the row."""
    name = "predict_proba" if hasattr(forest, "classes_") else "predict"
    said = [getattr(tree, name)(table).reshape(len(table), -1) for tree in forest.estimators_]
    bags = [set(rows.tolist()) for rows in forest.estimators_samples_]
    answers = np.full((len(table), n_outputs), np.nan)
    for row in range(len(table)):
        unseen = [said[t][row] for t in range(len(forest)) if row not in bags[t]]
        if unseen:
            answers[row] = np.mean(unseen, axis=0)
    return answers


@pytest.mark.parametrize(
    "sampler", ["bootstrap", "subsample", "stratified", "balanced", "block", "poisson"]
)
def test_shares_and_score_of_classes_by_definition(sampler):
    forest = RandomForestClassifier(25, random_state=0, oob_score=True, sampler=sampler)
    forest.fit(IRIS, LABELS)
    wanted = by_definition(forest, IRIS, 3)
    assert forest.oob_decision_function_ == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    said = forest.classes_[wanted.argmax(axis=1)]
    assert forest.oob_score_ == pytest.approx(accuracy_score(LABELS, said))
    assert forest.oob_curve_.shape == (25,)
    assert forest.oob_curve_[-1] == forest.oob_score_


@pytest.mark.parametrize("y", [Z, Z[:, 0]], ids=["two outputs", "one output"])
def test_answers_and_score_of_numbers_by_definition(y):
    forest = RandomForestRegressor(30, random_state=0, oob_score=True).fit(X, y)
    wanted = by_definition(forest, X, y.size // 120)
    assert forest.oob_prediction_ == pytest.approx(wanted.reshape(y.shape), abs=1e-12)
    assert forest.oob_score_ == pytest.approx(r2_score(y, wanted.reshape(y.shape)))
    assert not hasattr(forest, "oob_decision_function_")


def test_curve_has_the_scores_of_smaller_forests():
    large = RandomForestRegressor(40, random_state=0, oob_score=True).fit(X, Z)
    for n_estimators in (20, 33):
        small = RandomForestRegressor(n_estimators, random_state=0, oob_score=True).fit(X, Z)
        assert large.oob_curve_[n_estimators - 1] == small.oob_score_
    assert np.array_equal(large.oob_curve_[:33], small.oob_curve_)


def test_warm_start_goes_on_with_the_curve():
    whole = RandomForestClassifier(30, random_state=0, oob_score=True).fit(IRIS, LABELS)
    parts = RandomForestClassifier(20, random_state=0, warm_start=True).fit(IRIS, LABELS)
    assert not hasattr(parts, "oob_score_")
    parts.set_params(n_estimators=30, oob_score=True).fit(IRIS, LABELS)
    assert np.array_equal(parts.oob_curve_, whole.oob_curve_)
    assert np.array_equal(parts.oob_decision_function_, whole.oob_decision_function_)
    parts.set_params(warm_start=False, oob_score=False).fit(IRIS, LABELS)
    assert not hasattr(parts, "oob_score_")
    assert not hasattr(parts, "oob_curve_")


def test_score_of_ones_own_is_given_labels():
    def macro(right, said):
        assert set(right) == {"ash", "elm", "oak"}
        return f1_score(right, said, average="macro")

    forest = RandomForestClassifier(40, random_state=0, oob_score=macro).fit(IRIS, LABELS)
    said = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert forest.oob_score_ == macro(LABELS, said)
    numbers = RandomForestRegressor(40, random_state=0, oob_score=mean_absolute_error).fit(X, Z)
    assert numbers.oob_score_ == pytest.approx(mean_absolute_error(Z, numbers.oob_prediction_))


def test_rows_that_every_tree_saw_are_nan_and_left_out_of_the_score():
    forest = RandomForestClassifier(2, random_state=0, oob_score=True)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        forest.fit(IRIS, LABELS)
    known = ~np.isnan(forest.oob_decision_function_[:, 0])
    assert 0 < known.sum() < 150
    said = forest.classes_[forest.oob_decision_function_[known].argmax(axis=1)]
    assert forest.oob_score_ == pytest.approx(accuracy_score(LABELS[known], said))


def test_weights_count_in_the_score_and_rows_without_have_no_answer():
    weights = np.where(np.arange(150) % 5 == 0, 0, 1 + np.arange(150) % 3)
    forest = RandomForestClassifier(400, random_state=0, oob_score=True).fit(IRIS, LABELS, weights)
    known = weights > 0
    assert np.isnan(forest.oob_decision_function_[~known]).all()
    said = forest.classes_[forest.oob_decision_function_[known].argmax(axis=1)]
    wanted = accuracy_score(LABELS[known], said, sample_weight=weights[known])
    assert forest.oob_score_ == pytest.approx(wanted)


# The number of trees


def test_automatic_number_of_trees_stops_where_more_would_gain_little():
    data = make_friedman(1, 400, random_state=0)
    test = make_friedman(1, 2000, random_state=1)
    forest = RandomForestRegressor("auto", random_state=0).fit(data.X, data.y)
    assert len(forest) % 50 == 0
    assert 50 <= len(forest) < 1000
    many = RandomForestRegressor(1000, random_state=0).fit(data.X, data.y)
    assert many.model_[: len(forest)] == forest.model_
    losses = [np.mean((f.predict(test.X) - test.y) ** 2) for f in (forest, many)]
    assert losses[0] < 1.03 * losses[1]
    again = RandomForestRegressor("auto", random_state=0, n_jobs=1).fit(data.X, data.y)
    assert again.model_ == forest.model_


def test_automatic_number_follows_the_rule():
    """Stop at the first multiple of 50 at which V / T is at most 1 % of the loss, out of bag."""
    data = make_friedman(1, 200, random_state=0)
    forest = RandomForestRegressor("auto", random_state=0).fit(data.X, data.y)
    found = len(forest)
    whole = RandomForestRegressor(found, random_state=0).fit(data.X, data.y)
    said = np.stack([tree.predict(data.X) for tree in whole.estimators_], axis=1)
    unseen = whole.out_of_bag(data.X)
    for n_trees in range(50, found + 1, 50):
        gains, losses = [], []
        for row in range(200):
            own = said[row, :n_trees][unseen[row, :n_trees]]
            gains.append(own.var(ddof=1) / len(own))
            losses.append((own.mean() - data.y[row]) ** 2)
        is_flat = np.mean(gains) <= 0.01 * np.mean(losses)
        assert is_flat == (n_trees == found)


# Proximities, strength


def test_proximities_by_definition():
    forest = RandomForestClassifier(15, random_state=0, max_depth=3).fit(IRIS, LABELS)
    leaves = forest.apply(IRIS)
    wanted = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    found = forest.proximities(IRIS)
    assert found == pytest.approx(wanted)
    assert (np.diag(found) == 1).all()
    unseen = forest.out_of_bag(IRIS)
    both = unseen[:, None, :] & unseen[None, :, :]
    with np.errstate(invalid="ignore"):
        wanted = ((leaves[:, None] == leaves[None]) & both).sum(axis=2) / both.sum(axis=2)
    assert forest.proximities(IRIS, out_of_bag=True) == pytest.approx(wanted, nan_ok=True)
    same = SPECIES[:, None] == SPECIES[None, :]
    assert found[same].mean() > 5 * found[~same].mean()


def test_out_of_bag_needs_the_table_of_fit():
    forest = RandomForestClassifier(5, random_state=0).fit(IRIS, LABELS)
    unseen = forest.out_of_bag(IRIS)
    for tree, rows in enumerate(forest.estimators_samples_):
        assert np.array_equal(np.flatnonzero(~unseen[:, tree]), np.unique(rows))
    with pytest.raises(InvalidInput, match="fitted on 150"):
        forest.out_of_bag(IRIS[:9])
    assert not ExtraTreesRegressor(3).fit(X, Z).out_of_bag(X).any()


def test_strength_is_that_of_the_votes_and_bounds_the_error():
    data = make_twonorm(300, random_state=0)
    forest = RandomForestClassifier(100, random_state=0, voting="hard", oob_score=True)
    forest.fit(data.X, data.y)
    found = forest.strength(data.X, data.y)
    votes = np.stack([tree.predict(data.X) for tree in forest.estimators_], axis=1)
    wanted = forest_strength(votes > 0, forest.out_of_bag(data.X), data.y > 0)
    assert found == wanted
    assert found.error <= 1 - forest.oob_score_ + 0.02  # ties count as right there
    assert found.error < found.bound
    with pytest.raises(InvalidInput, match="has the label 6, which the forest was not fitted on"):
        forest.strength(data.X, data.y + 5)


def test_strength_takes_what_fit_took():
    data = make_twonorm(300, random_state=0)
    column = data.y.reshape(-1, 1)
    forest = RandomForestClassifier(30, random_state=0)
    with pytest.warns(DataConversionWarning):
        forest.fit(data.X, column)
    with pytest.warns(DataConversionWarning):
        found = forest.strength(data.X, column)
    assert found == forest.strength(data.X, data.y)
    labels = np.where(np.arange(300) < 9, 7, data.y)  # a label of rows without weight
    weights = np.where(labels == 7, 0, 1)
    forest.fit(data.X, labels, weights)
    found = forest.strength(data.X, labels, weights)
    alone = RandomForestClassifier(30, random_state=0).fit(data.X[9:], data.y[9:])
    assert found == alone.strength(data.X[9:], data.y[9:])
    assert found == forest.strength(data.X, labels)


def test_auto_stops_where_every_tree_sees_every_row():
    forest = RandomForestClassifier("auto", sampler="group", random_state=0)
    rows = [[0.0], [1.0], [2.0]]
    assert len(forest.fit(rows, [0, 1, 1], groups=[7, 7, 7])) == 50
    assert len(RandomForestClassifier("auto", random_state=0).fit([[1.0]], [1])) == 50


def test_a_tree_that_is_not_there_is_told_by_its_number():
    forest = RandomForestClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1])
    for trees in (forest, forest.estimators_):
        with pytest.raises(IndexError, match=r"There is no tree 9: there are 3, from 0 on"):
            trees[9]


def test_a_score_of_the_user_that_is_no_number_is_named():
    X, y = np.arange(60.0).reshape(-1, 1), np.arange(60) % 2
    with pytest.raises(InvalidParameter, match=r"oob_score=.*'high': expected a function"):
        RandomForestClassifier(30, oob_score=lambda *_: "high").fit(X, y)
