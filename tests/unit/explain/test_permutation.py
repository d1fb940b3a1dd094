# ruff: noqa: PD011 - results have values of their own
"""Permutation importance: what the score loses, whoever measures it and whatever the table is."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance as their_importance
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.unit.explain.forests import boosted, classified, mean_of_vectors, mixed_frame

from spinney import (
    AdaBoostRegressor,
    BlendingRegressor,
    CalibratedClassifier,
    ConformalClassifier,
    ConformalRegressor,
    DecisionTreeRegressor,
    FunctionalGradientBoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    L2BoostRegressor,
    QuantileForestRegressor,
    RotationForestRegressor,
    StackingRegressor,
    SuperLearnerRegressor,
    VotingClassifier,
    VotingRegressor,
    WeightedVoteClassifier,
    WeightedVoteRegressor,
)
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain import permutation_importance
from spinney.explain.permutation import score_falls
from spinney.explain.shuffling import shuffle_column


def asked(fitted, X, y=None, **params):
    return permutation_importance(fitted, X, y, **{"random_state": 7, **params})


def test_a_feature_nobody_looks_at_has_exactly_zero_and_is_not_asked_about():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), np.ones(100)])
    fitted = DecisionTreeRegressor().fit(X, X[:, 0])
    calls = []

    def scorer(estimator, table, y):
        calls.append(table)
        return estimator.score(table, y)

    found = asked(fitted, X, X[:, 0], scoring=scorer, n_repeats=3)
    assert found.values[1] == found.standard_errors[1] == 0
    assert found.values[0] > 0.5
    assert len(calls) == 1 + 3


def test_two_rows_have_two_orders_only():
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    fitted = DecisionTreeRegressor().fit(X, [0.0, 1.0])  # it splits on the first feature
    means = set()
    for seed in range(8):
        found = permutation_importance(fitted, X, [0.0, 1.0], random_state=seed, n_repeats=4)
        means.add(found.values[0])
        assert found.values[1] == 0
    # Swapped rows take R² from 1 to -3; of four orders some number is swapped.
    assert means <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert len(means) > 2


@pytest.mark.parametrize("fit", [boosted, lambda: classified(3)])
def test_scikit_learn_finds_the_same_within_standard_errors(fit):
    fitted, frame, y = fit()
    ours = asked(fitted, frame, y, n_repeats=30)
    theirs = their_importance(fitted, frame, y, n_repeats=30, random_state=0)
    error = np.hypot(ours.standard_errors, theirs.importances_std / np.sqrt(30))
    assert (np.abs(ours.values - theirs.importances_mean) <= 5 * error + 1e-12).all()
    assert np.allclose(ours.standard_errors, theirs.importances_std / np.sqrt(30), rtol=0.6)


def test_the_score_may_be_measured_by_name_by_scorer_by_function_or_by_the_model():
    fitted, frame, y = boosted()

    def own(estimator, table, target):
        assert isinstance(table, pd.DataFrame)
        return -mean_absolute_error(target, estimator.predict(table))

    by_name = asked(fitted, frame, y, scoring="neg_mean_absolute_error").values
    made = make_scorer(mean_absolute_error, greater_is_better=False)
    assert np.array_equal(asked(fitted, frame, y, scoring=made).values, by_name)
    assert np.array_equal(asked(fitted, frame, y, scoring=own).values, by_name)
    by_score = asked(fitted, frame, y).values
    assert np.array_equal(asked(fitted, frame, y, scoring="r2").values, by_score)
    assert np.array_equal(asked(fitted.model_, frame, y).values, by_score)


def test_probabilities_and_labels_are_scored_too():
    fitted, frame, y = classified(3)
    assert asked(fitted, frame, y, scoring="neg_log_loss").values[0] > 0
    accuracy = asked(fitted, frame, y).values
    assert np.array_equal(asked(fitted.model_, frame, y).values, accuracy)
    assert np.array_equal(asked(fitted, frame, y, scoring="accuracy").values, accuracy)


def test_several_outputs_are_scored_together():
    forest, frame = mean_of_vectors()
    y = np.column_stack([frame["age"], frame["age"]])
    assert asked(forest, frame, y).values.shape == (4,)


def test_neither_threads_nor_other_features_change_the_shuffles():
    fitted, frame, y = boosted()
    alone = asked(fitted, frame, y, n_jobs=1)
    many = asked(fitted, frame, y, n_jobs=3)
    assert np.array_equal(alone.values, many.values)
    assert np.array_equal(alone.standard_errors, many.standard_errors)
    assert fitted.n_jobs is None
    assert not np.array_equal(asked(fitted, frame, y, random_state=8).values, alone.values)


def test_a_shuffle_is_a_function_of_feature_and_repeat():
    def orders(features):
        seen = {}

        def measure(feature, rows):
            seen.setdefault(feature, []).append(tuple(rows.tolist()))
            return 0.0

        score_falls(measure, features, 50, 3, seed=1)
        assert seen.pop(None) == [tuple(range(50))]
        return seen

    three = orders([0, 1, 2])
    assert all(sorted(order) == list(range(50)) for drawn in three.values() for order in drawn)
    assert len({order for drawn in three.values() for order in drawn}) == 9
    assert orders([2])[2] == three[2]


def test_whole_weights_count_in_the_score():
    fitted, frame, y = boosted()
    heavy = np.where(np.arange(len(y)) < 75, 1.0, 1e-9)
    weighted = asked(fitted, frame, y, sample_weight=heavy).values
    assert not np.allclose(weighted, asked(fitted, frame, y).values)
    by_function = asked(
        fitted,
        frame,
        y,
        sample_weight=heavy,
        scoring=lambda m, X, t, sample_weight: m.score(X, t, sample_weight),
    )
    assert np.array_equal(by_function.values, weighted)
    from_model = asked(fitted.model_, frame, y, sample_weight=heavy)
    assert np.array_equal(from_model.values, weighted)


def tables():
    frame, _ = mixed_frame()
    numbers = frame[["age", "income"]].fillna(0).to_numpy()
    named = frame.set_index(np.arange(len(frame))[::-1] % 7)
    return {
        "pandas": named,
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
        "numpy": numbers,
        "objects": frame.to_numpy(object),
        "csr": sp.csr_array(numbers),
        "coo": sp.coo_matrix(numbers),
    }


@pytest.mark.parametrize("kind", tables())
def test_every_table_is_shuffled_alike_by_us_and_for_a_function(kind):
    X, y = tables()[kind], mixed_frame()[1]
    fitted = GradientBoostingRegressor(max_iter=5, min_samples_leaf=5).fit(X, y)
    seen = []

    def own(estimator, table, target):
        seen.append(type(table))
        return estimator.score(table, target)

    by_function = asked(fitted, X, y, scoring=own, n_repeats=2)
    assert np.array_equal(by_function.values, asked(fitted, X, y, n_repeats=2).values)
    assert by_function.values.any()
    assert set(seen) <= {type(X), sp.csr_array, sp.coo_matrix}


def test_columns_in_another_order_are_found_by_name():
    fitted, frame, y = boosted()
    turned = frame[frame.columns[::-1]]
    by_function = asked(fitted, turned, y, scoring=lambda m, X, t: m.score(X, t))
    assert np.array_equal(by_function.values, asked(fitted, frame, y).values)


@pytest.mark.parametrize("fitted_on_names", [True, False])
def test_a_table_without_the_names_is_complained_about_once(fitted_on_names):
    frame = mixed_frame()[0][["age", "income"]]
    named, plain = frame, frame.to_numpy()
    first, second = (named, plain) if fitted_on_names else (plain, named)
    y = mixed_frame()[1]
    fitted = GradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(first, y)
    with pytest.warns(UserWarning, match="feature names") as caught:
        found = asked(fitted, second, y)
    assert len(caught) == 1
    assert np.array_equal(found.values, asked(fitted, first, y).values)


def test_a_shuffled_frame_keeps_types_index_and_the_original():
    frame, _ = mixed_frame(6)
    before = frame.copy()
    turned = shuffle_column(frame, 2, np.array([5, 4, 3, 2, 1, 0]))
    pd.testing.assert_frame_equal(frame, before)
    assert (turned.dtypes == frame.dtypes).all()
    assert turned["tree"].astype(object).tolist()[::-1] == pytest.approx(
        frame["tree"].astype(object).tolist(), nan_ok=True
    )
    pd.testing.assert_frame_equal(turned.drop(columns="tree"), frame.drop(columns="tree"))


@pytest.mark.parametrize(
    "estimator",
    [
        AdaBoostRegressor(n_estimators=5, random_state=0),
        AdaBoostRegressor(LinearRegression(), n_estimators=3, random_state=0),
        FunctionalGradientBoostingRegressor(LinearRegression(), n_estimators=5),
        L2BoostRegressor(n_estimators=30),
        L2BoostRegressor(n_estimators=30, learner="spline"),
        QuantileForestRegressor(n_estimators=10, random_state=0),
        RotationForestRegressor(n_estimators=5, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_predictions_need_not_be_a_sum_of_trees(estimator):
    X = np.random.default_rng(0).normal(size=(150, 2))
    fitted = estimator.fit(X, X[:, 0])
    found = asked(fitted, X, X[:, 0])
    assert found.values[0] > 0.5
    assert found.values[1] < 0.2
    np.testing.assert_array_equal(asked(fitted, X.tolist(), X[:, 0]).values, found.values)


MEMBERS = [("tree", DecisionTreeRegressor()), ("line", LinearRegression())]
COMMITTEES = [
    VotingRegressor(MEMBERS),
    StackingRegressor(MEMBERS),
    BlendingRegressor(MEMBERS, random_state=0),
    SuperLearnerRegressor(MEMBERS),
    WeightedVoteRegressor(MEMBERS),
    ConformalRegressor(DecisionTreeRegressor(), random_state=0),
    make_pipeline(StandardScaler(), DecisionTreeRegressor()),
    LinearRegression(),
    TheirForest(n_estimators=5, random_state=0),
]


@pytest.mark.parametrize("estimator", COMMITTEES, ids=lambda one: type(one).__name__)
def test_whoever_predicts_can_be_asked(estimator):
    X = np.random.default_rng(0).normal(size=(150, 2))
    frame = pd.DataFrame(X, columns=["near", "far"])
    for table in (X, frame):
        found = asked(clone(estimator).fit(table, X[:, 0]), table, X[:, 0], n_jobs=1)
        assert found.feature_names == (("near", "far") if table is frame else ("x0", "x1"))
        assert found.values[0] > 0.5
        assert found.values[1] < 0.2
    turned = asked(estimator.fit(frame, X[:, 0]), pl.from_pandas(frame), X[:, 0])
    assert np.array_equal(turned.values, found.values)
    by_function = asked(estimator, frame, X[:, 0], scoring=lambda m, table, y: m.score(table, y))
    assert np.array_equal(by_function.values, found.values)


@pytest.mark.parametrize(
    "estimator",
    [
        VotingClassifier(None),
        WeightedVoteClassifier(None),
        CalibratedClassifier(GradientBoostingClassifier(max_iter=5), random_state=0),
        ConformalClassifier(GradientBoostingClassifier(max_iter=5), random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_committees_of_classes_are_asked_for_labels_or_probabilities(estimator):
    X = np.random.default_rng(0).normal(size=(150, 2))
    members = [("first", GradientBoostingClassifier(max_iter=5)), ("second", LogisticRegression())]
    if "estimators" in estimator.get_params(deep=False):
        estimator = clone(estimator).set_params(estimators=members)
    fitted = estimator.fit(X, np.where(X[:, 0] > 0, "b", "a"))
    labels = np.where(X[:, 0] > 0, "b", "a")
    assert asked(fitted, X, labels).values[0] > 0.2
    if hasattr(fitted, "predict_proba"):
        assert asked(fitted, X, labels, scoring="neg_log_loss").values[0] > 0.2


def test_columns_are_found_by_the_names_an_estimator_knows():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["near", "far"])
    fitted = VotingRegressor([("tree", DecisionTreeRegressor())]).fit(frame, frame["near"])
    turned = asked(fitted, frame[["far", "near"]], frame["near"])
    assert turned.feature_names == ("near", "far")
    assert np.array_equal(turned.values, asked(fitted, frame, frame["near"]).values)
    with pytest.raises(InvalidInput, match=r"no column 'near'.* Pass the columns used in fit"):
        asked(fitted, frame[["far"]], frame["near"])


def test_who_has_no_score_needs_a_scorer():
    X = np.random.default_rng(0).normal(size=(200, 2))
    X[:10, 0] += 9
    usual = np.arange(200) >= 10
    forest = IsolationForest(n_estimators=20, random_state=0).fit(X)
    for y in (None, usual):
        with pytest.raises(InvalidParameter, match=r"IsolationForest has no score .* Give a call"):
            asked(forest, X, y)
    found = asked(forest, X, usual, scoring="roc_auc")
    assert found.values[0] > 0.2 > found.values[1]
    by_function = asked(forest, X, scoring=lambda m, table, _: m.score_samples(table)[:10].mean())
    assert by_function.values[0] < 0  # shuffled away, the outliers look usual


def test_a_target_may_be_missing_only_where_nobody_needs_it():
    fitted, frame, _ = boosted()
    for scoring in (None, "r2", make_scorer(mean_absolute_error)):
        with pytest.raises(InvalidInput, match=r"y=None, but the score .* Give y"):
            asked(fitted, frame, None, scoring=scoring)
    with pytest.raises(InvalidInput, match="y=None"):
        asked(fitted.model_, frame, None)


def test_who_predicts_nothing_or_is_not_fitted_is_refused():
    X = np.zeros((3, 2))
    with pytest.raises(InvalidInputType, match=r"StandardScaler has no predict\. Pass"):
        asked(StandardScaler().fit(X), X, X[:, 0])
    for estimator in (VotingRegressor(MEMBERS), LinearRegression()):
        with pytest.raises(NotFittedError):
            asked(estimator, X, X[:, 0])


def test_one_repeat_has_no_standard_error():
    fitted, frame, y = boosted()
    assert asked(fitted, frame, y, n_repeats=1).standard_errors is None


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"n_repeats": 0}, InvalidParameter, "n_repeats=0 .* at least 1"),
        ({"scoring": "accuracy_"}, InvalidParameter, "Did you mean 'accuracy'"),
        ({"scoring": ["r2"]}, InvalidParameter, "one scorer"),
        ({"random_state": "x"}, InvalidParameter, "random_state='x'"),
        ({"n_jobs": 0}, InvalidParameter, "n_jobs=0"),
        ({"sample_weight": [1.0]}, InvalidInput, "sample_weight"),
        ({"y": [1.0]}, InvalidInput, "inconsistent numbers of samples"),
        ({"X": [[1.0]]}, InvalidInput, "expecting 4 features"),
    ],
)
def test_wrong_questions_are_refused(params, error, words):
    fitted, frame, y = boosted()
    given = {"X": frame, "y": y, **params}
    with pytest.raises(error, match=words):
        permutation_importance(fitted, given.pop("X"), given.pop("y"), **given)


def test_a_function_needs_a_table_that_can_be_shuffled_and_an_estimator():
    X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    fitted = GradientBoostingClassifier(min_samples_leaf=1).fit(X, [0, 1, 0])
    with pytest.raises(InvalidInputType, match="X is a list"):
        asked(fitted, X, [0, 1, 0], scoring=lambda m, X, y: m.score(X, y))
    with pytest.raises(InvalidParameter, match="Pass the fitted estimator"):
        asked(fitted.model_, X, [0, 1, 0], scoring="accuracy")
