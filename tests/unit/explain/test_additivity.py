# ruff: noqa: PD011 - results have values of their own
"""Base and contributions are the raw score, to 1e-12, of every family that is a sum of trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import spinney
from spinney import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BumpingClassifier,
    BumpingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    FunctionalGradientBoostingClassifier,
    FunctionalGradientBoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRanker,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    IteratedBaggingRegressor,
    MarginBoostClassifier,
    PastingClassifier,
    PastingRegressor,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomPatchesClassifier,
    RandomPatchesRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
    RandomTreesEmbedding,
    RobustBoostClassifier,
)
from spinney.errors import InvalidInputType
from spinney.explain import shap_interactions, shap_values
from spinney.explain.reading import shared_forest_of

N_ROWS = 300


def mixed_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N_ROWS, 3)).round(1), columns=["a", "b", "c"])
    X["kind"] = pd.Categorical(rng.choice(["ash", "oak", "elm", "yew"], N_ROWS))
    X["flag"] = rng.random(N_ROWS) < 0.5
    numbers = X["a"] * X["b"] + np.sin(3 * X["c"]) + 2 * (X["kind"] == "oak")
    target = numbers.to_numpy() + rng.normal(0, 0.1, N_ROWS)
    for name in ("a", "c", "kind"):
        X.loc[rng.random(N_ROWS) < 0.1, name] = None
    return X, target


X, Y = mixed_table()
SIGNS = np.where(Y > 0.5, "yes", "no")
CLASSES = np.digitize(Y, [-0.5, 0.5, 1.5])
COLUMNS = np.column_stack([Y, -2 * Y, CLASSES])
SEED = {"random_state": 0}
BOOSTED = {**SEED, "max_iter": 15, "min_samples_leaf": 5}
TEN = {**SEED, "n_estimators": 10}


def boosted():
    """Give gradient boosting with every loss, and each kind of tree it grows."""
    regressor, classifier = GradientBoostingRegressor(**BOOSTED), GradientBoostingClassifier
    for loss in ("squared", "absolute", "huber", "poisson", "gamma", "tweedie"):
        yield f"boosting, {loss}", clone(regressor).set_params(loss=loss), np.abs(Y) + 0.1
    quantile = clone(regressor).set_params(loss="quantile")
    yield "boosting, quantile", clone(quantile).set_params(quantile=0.3), Y
    yield "boosting, quantiles", clone(quantile).set_params(quantile=[0.1, 0.5, 0.9]), Y
    yield "boosting, vector leaves", clone(regressor), COLUMNS
    yield "boosting, symmetric", clone(regressor).set_params(growth="symmetric"), Y
    yield "boosting, dropout", clone(regressor).set_params(dropout=0.3), Y
    yield "boosting, by default", GradientBoostingRegressor(**SEED), Y
    yield "boosting, two classes", classifier(**BOOSTED), SIGNS
    yield "boosting, exponential", classifier(**BOOSTED, loss="exponential"), SIGNS
    yield "boosting, classes", classifier(**BOOSTED), CLASSES
    for loss in ("ndcg", "map", "pairwise"):
        relevance = np.minimum(CLASSES, 1 if loss == "map" else 3)
        yield f"ranker, {loss}", GradientBoostingRanker(**BOOSTED, loss=loss), relevance
    drop_in = {**SEED, "max_iter": 10}
    yield "drop-in of numbers", HistGradientBoostingRegressor(**drop_in), Y
    yield "drop-in of classes", HistGradientBoostingClassifier(**drop_in), CLASSES


def forests():
    """Give single trees, forests and bags of trees."""
    for criterion in ("squared_error", "absolute_error", "poisson"):
        tree = DecisionTreeRegressor(**SEED, criterion=criterion)
        yield f"tree, {criterion}", tree, np.abs(Y)
    yield "tree, outputs", DecisionTreeRegressor(max_leaf_nodes=40, **SEED), COLUMNS
    yield "tree, classes", DecisionTreeClassifier(**SEED), CLASSES
    labels = np.column_stack([CLASSES, SIGNS == "yes"])
    yield "tree, several labels", DecisionTreeClassifier(**SEED), labels
    for kind in (RandomForestRegressor, ExtraTreesRegressor):
        yield kind.__name__, kind(**TEN), Y
        yield f"{kind.__name__}, outputs", kind(**TEN), COLUMNS
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        yield kind.__name__, kind(**TEN), CLASSES
        yield f"{kind.__name__}, several labels", kind(**TEN), labels
    yield "votes of a forest", RandomForestClassifier(**TEN, voting="hard"), CLASSES
    yield "quantile forest", QuantileForestRegressor(**TEN), Y
    yield "isolation forest", IsolationForest(**TEN), None
    yield "embedding", RandomTreesEmbedding(**TEN), None
    of_numbers = [BaggingRegressor, PastingRegressor]
    of_numbers += [RandomSubspaceRegressor, RandomPatchesRegressor, IteratedBaggingRegressor]
    for bag in of_numbers:
        yield bag.__name__, bag(**TEN), Y
    of_classes = [BaggingClassifier, PastingClassifier]
    of_classes += [RandomSubspaceClassifier, RandomPatchesClassifier]
    for bag in of_classes:
        yield bag.__name__, bag(**TEN), CLASSES
    yield "bumping of numbers", BumpingRegressor(**TEN), Y
    yield "bumping of classes", BumpingClassifier(**TEN), CLASSES


def voters():
    """Give boosters of votes and of functions."""
    for variant in ("discrete", "real", "gentle", "logit", "confidence", "arc_x4"):
        yield f"AdaBoost, {variant}", AdaBoostClassifier(**TEN, variant=variant), SIGNS
    deeper = DecisionTreeClassifier(max_depth=3)
    for variant in ("samme", "samme_r", "logit", "m1", "m2", "mh", "arc_x4"):
        many = AdaBoostClassifier(deeper, **TEN, variant=variant)
        yield f"AdaBoost of classes, {variant}", many, CLASSES
    margin = ("arc_gv", "adaboost_rho", "adaboost_star", "adaboost_reg", "lpboost", "totalboost")
    for algorithm in (*margin, "softboost", "erlpboost", "corrective_erlpboost"):
        booster = MarginBoostClassifier(deeper, **TEN, algorithm=algorithm)
        yield f"margins, {algorithm}", booster, SIGNS
    for algorithm in ("mada", "smooth", "brown", "robust", "savage", "sigmoid", "tangent", "ramp"):
        booster = RobustBoostClassifier(deeper, **TEN, algorithm=algorithm)
        yield f"wrong labels, {algorithm}", booster, SIGNS
    for loss in ("squared", "absolute", "huber", "poisson"):
        booster = FunctionalGradientBoostingRegressor(**TEN, loss=loss)
        yield f"functional, {loss}", booster, np.abs(Y)
    for y, what in ((SIGNS, "two classes"), (CLASSES, "classes")):
        yield f"functional, {what}", FunctionalGradientBoostingClassifier(**TEN), y


FAMILIES = {name: case for name, *case in [*boosted(), *forests(), *voters()]}


def fitted_family(name):
    learner, y = FAMILIES[name]
    if y is None:
        return clone(learner).fit(X)
    queries = {"qid": np.arange(N_ROWS) // 10} if name.startswith("ranker") else {}
    return clone(learner).fit(X, y, **queries)


def assert_adds_up(found, fitted, rows):
    shared = shared_forest_of(fitted)
    scores = shared.forest.raw_scores(shared.conform(rows, "it"))
    error = np.abs(found.raw_scores() - scores)
    between = tuple(range(1, found.values.ndim - 1))
    size = np.abs(found.base) + np.abs(found.values).sum(axis=between)
    assert (error <= 1e-12 * size).all()
    does_not_cancel = np.abs(scores) >= 0.01 * size
    assert (error[does_not_cancel] <= 1e-12 * np.abs(scores[does_not_cancel])).all()
    assert does_not_cancel.any()


@pytest.mark.parametrize("name", FAMILIES)
def test_base_and_contributions_are_the_raw_score(name):
    fitted = fitted_family(name)
    assert_adds_up(shap_values(fitted, X), fitted, X)
    some, others = X[:60], X[100:140]
    weights = np.arange(len(others)) % 4
    against = shap_values(fitted, some, background=others, background_weight=weights)
    assert_adds_up(against, fitted, some)
    assert_adds_up(shap_interactions(fitted, some), fitted, some)


NO_SUMS_OF_TREES = {
    *("AdaBoostRegressor", "L2BoostRegressor"),
    *("RotationForestClassifier", "RotationForestRegressor"),
    *("DynamicSelectionClassifier", "KNORAEClassifier", "KNORAUClassifier"),
    *("EnsembleSelectionClassifier", "EnsembleSelectionRegressor"),
    *("BlendingClassifier", "BlendingRegressor", "StackingClassifier", "StackingRegressor"),
    *("SuperLearnerClassifier", "SuperLearnerRegressor", "VotingClassifier", "VotingRegressor"),
    *("WeightedVoteClassifier", "WeightedVoteRegressor"),
    *("CalibratedClassifier", "ConformalClassifier", "ConformalRegressor"),
}
"""Estimators that no setting makes a sum of trees with a feature at each split."""


def test_every_estimator_is_tested_or_refused():
    tested = {type(learner).__name__ for learner, _ in FAMILIES.values()}
    assert tested | NO_SUMS_OF_TREES == set(spinney.ESTIMATORS)
    assert not tested & NO_SUMS_OF_TREES


@pytest.mark.parametrize("name", sorted(NO_SUMS_OF_TREES))
def test_what_is_no_sum_of_trees_is_refused(name):
    learner = getattr(spinney, name)()
    small = {"n_estimators": 5, "random_state": 0}
    known = learner.get_params(deep=False)
    learner.set_params(**{key: value for key, value in small.items() if key in known})
    numbers = X[["b"]].assign(d=Y).to_numpy()
    fitted = learner.fit(numbers, CLASSES > 0 if name.endswith("Classifier") else Y)
    with pytest.raises(InvalidInputType, match="permutation_importance"):
        shap_values(fitted, numbers)
