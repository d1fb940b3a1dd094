"""Permutation importance out of bag: by definition, and what it must say."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from spinney import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.errors import InvalidInput, InvalidInputType
from spinney.explain import out_of_bag_importance
from spinney.randomness import Stream, random_bits

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
X[:, 3] = 0.0
Z = 2 * X[:, 0] + X[:, 1]


def by_definition(forest, y, loss, seed):
    falls = np.zeros((len(forest), 4))
    columns = getattr(forest, "estimators_features_", [np.arange(4)] * len(forest))
    for number, (tree, bag, own_columns) in enumerate(
        zip(forest.estimators_, forest.estimators_samples_, columns, strict=True)
    ):
        rows = np.setdiff1d(np.arange(150), bag)
        for feature in range(4):
            own = random_bits(random_bits(seed, Stream.FEATURES, feature), Stream.ROWS, number)
            bits = [random_bits(own, Stream.ROWS, place) for place in range(len(rows))]
            shuffled = X[rows].copy()
            shuffled[:, feature] = shuffled[np.argsort(bits), feature]
            worse = loss(y[rows], tree.predict(shuffled[:, own_columns]))
            intact = loss(y[rows], tree.predict(X[rows][:, own_columns]))
            falls[number, feature] = worse - intact
    return falls.mean(axis=0), falls.std(axis=0, ddof=1) / np.sqrt(len(forest))


@pytest.mark.parametrize("classes", [False, True])
def test_importances_and_errors_by_definition(classes):
    kind = RandomForestClassifier if classes else RandomForestRegressor
    y = np.where(Z > 0, "yes", "no") if classes else Z
    forest = kind(12, random_state=0).fit(X, y)
    found = out_of_bag_importance(forest, X, y, random_state=5)

    def loss(right, said):
        return np.mean(right != said) if classes else np.mean((right - said) ** 2)

    means, errors = by_definition(forest, y, loss, 5)
    assert found.values == pytest.approx(means)
    assert found.standard_errors == pytest.approx(errors)
    assert found.values[0] > found.values[1] > 0
    assert found.values[3] == found.standard_errors[3] == 0.0
    assert "unseen rows" in str(found)


def test_noise_is_within_its_errors_and_signal_is_not():
    forest = RandomForestRegressor(100, random_state=0).fit(X, Z)
    found = out_of_bag_importance(forest, X, Z, random_state=0)
    scores = found.values[:3] / found.standard_errors[:3]
    assert scores[0] > 10
    assert scores[1] > 5
    assert found.values[2] < 0.05 * found.values[1]


def test_a_quantile_forest_is_judged_by_the_means_of_its_leaves():
    forest = QuantileForestRegressor(12, random_state=0).fit(X, Z)
    found = out_of_bag_importance(forest, X, Z, random_state=5)
    unseen, trees = forest.out_of_bag(X), forest.model_.trees
    assert unseen.any(axis=0).all()
    falls = np.zeros(12)
    for number in range(12):
        rows = np.flatnonzero(unseen[:, number])
        own = random_bits(random_bits(5, Stream.FEATURES, 0), Stream.ROWS, number)
        bits = [random_bits(own, Stream.ROWS, place) for place in range(len(rows))]
        shuffled = X[rows].copy()
        shuffled[:, 0] = shuffled[np.argsort(bits), 0]
        tree = trees[number : number + 1]
        errors = [((tree.predictions(x)[:, 0] - Z[rows]) ** 2).mean() for x in (shuffled, X[rows])]
        falls[number] = errors[0] - errors[1]
    assert found.values[0] == pytest.approx(falls.mean())
    assert found.values[0] > found.values[1] > 0 == found.values[3]
    with pytest.raises(InvalidInput, match="X has 9 rows, but 150 were given to fit"):
        out_of_bag_importance(forest, X[:9], Z[:9])
    whole = QuantileForestRegressor(3, bootstrap=False).fit(X, Z)
    with pytest.raises(InvalidInput, match="Fewer than two members"):
        out_of_bag_importance(whole, X, Z)


def test_what_has_no_bags_is_refused():
    with pytest.raises(InvalidInputType, match="no rows out of bags"):
        out_of_bag_importance(DecisionTreeRegressor().fit(X, Z), X, Z)
    with pytest.raises(InvalidInput, match="Fewer than two members"):
        out_of_bag_importance(ExtraTreesRegressor(3).fit(X, Z), X, Z)
    forest = RandomForestClassifier(3).fit(X, Z > 0)
    with pytest.raises(InvalidInput, match="inconsistent numbers"):
        out_of_bag_importance(forest, X, Z[:9] > 0)
    with pytest.raises(InvalidInput, match="a label the ensemble does not know"):
        out_of_bag_importance(forest, X, np.full(150, 7))


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_members_of_any_kind_are_measured_by_definition(share):
    bag = BaggingRegressor(LinearRegression(), 12, max_features=share, random_state=0)
    found = out_of_bag_importance(bag.fit(X, Z), X, Z, random_state=5)
    means, errors = by_definition(bag, Z, lambda y, said: np.mean((y - said) ** 2), 5)
    assert found.values == pytest.approx(means)
    assert found.standard_errors == pytest.approx(errors)
    frame = pl.DataFrame(X, schema=list("abcd"))
    named = out_of_bag_importance(bag.fit(frame, Z), frame, Z, random_state=5)
    assert named.feature_names == ("a", "b", "c", "d")
    assert named.values == pytest.approx(found.values)


def test_members_that_vote_and_trees_of_medians_are_measured():
    votes = BaggingClassifier(LogisticRegression(), 12, random_state=0).fit(X, Z > 0)
    assert out_of_bag_importance(votes, X, Z > 0, random_state=0).values[0] > 0.1
    medians = BaggingRegressor(n_estimators=12, aggregation="median", random_state=0).fit(X, Z)
    found = out_of_bag_importance(medians, X, Z, random_state=0)
    assert found.values[0] > found.values[1] > found.values[3] == 0
