"""Permutation importance out of bag: by definition, and what it must say."""

import numpy as np
import pytest

from spinney import (
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
    for number, (tree, bag) in enumerate(
        zip(forest.estimators_, forest.estimators_samples_, strict=True)
    ):
        rows = np.setdiff1d(np.arange(150), bag)
        for feature in range(4):
            own = random_bits(random_bits(seed, Stream.FEATURES, feature), Stream.ROWS, number)
            bits = [random_bits(own, Stream.ROWS, place) for place in range(len(rows))]
            shuffled = X[rows].copy()
            shuffled[:, feature] = shuffled[np.argsort(bits), feature]
            worse = loss(y[rows], tree.predict(shuffled))
            falls[number, feature] = worse - loss(y[rows], tree.predict(X[rows]))
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
    with pytest.raises(InvalidInput, match="Fewer than two trees"):
        out_of_bag_importance(whole, X, Z)


def test_what_has_no_bags_is_refused():
    with pytest.raises(InvalidInputType, match="no rows out of bags"):
        out_of_bag_importance(DecisionTreeRegressor().fit(X, Z), X, Z)
    with pytest.raises(InvalidInput, match="Fewer than two trees"):
        out_of_bag_importance(ExtraTreesRegressor(3).fit(X, Z), X, Z)
    forest = RandomForestClassifier(3).fit(X, Z > 0)
    with pytest.raises(InvalidInput, match="inconsistent numbers"):
        out_of_bag_importance(forest, X, Z[:9] > 0)
    with pytest.raises(InvalidInput, match="a label the forest does not know"):
        out_of_bag_importance(forest, X, np.full(150, 7))
