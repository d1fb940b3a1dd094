"""Every estimator made of trees tells the leaves of rows; others say that they have none."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import spinney
from spinney.errors import InvalidInput
from spinney.model.forest import trees_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
X[RNG.random(X.shape) < 0.1] = np.nan
Y = np.nan_to_num(X[:, 0]) + RNG.normal(size=80)
LABELS = np.where(Y > 0, "yes", "no")

OF_TREES = [
    (spinney.AdaBoostClassifier(n_estimators=4), LABELS),
    (spinney.AdaBoostClassifier(n_estimators=4, variant="logit"), np.digitize(Y, [-0.5, 0.5])),
    (spinney.AdaBoostRegressor(n_estimators=4, random_state=0), Y),
    (spinney.MarginBoostClassifier(n_estimators=4), LABELS),
    (spinney.RobustBoostClassifier(n_estimators=4), LABELS),
    (spinney.RobustBoostClassifier(algorithm="martingale", n_levels=3), LABELS),
    (spinney.FunctionalGradientBoostingClassifier(n_estimators=4), LABELS),
    (spinney.FunctionalGradientBoostingRegressor(n_estimators=4), Y),
    (spinney.IsolationForest(n_estimators=4, random_state=0), None),
    (spinney.QuantileForestRegressor(n_estimators=4, random_state=0), Y),
    (spinney.RandomForestClassifier(n_estimators=4, random_state=0), LABELS),
    (spinney.RandomTreesEmbedding(n_estimators=4, random_state=0), None),
]


@pytest.mark.parametrize(("estimator", "y"), OF_TREES, ids=lambda one: type(one).__name__)
def test_leaves_are_numbered_within_their_trees(estimator, y):
    fitted = estimator.fit(X, y)
    leaves, trees = fitted.apply(X), trees_of(fitted.model_)
    assert leaves.shape == (80, len(trees))
    for tree, own in zip(trees, leaves.T, strict=True):
        assert (tree.right[own] < 0).all()


def test_the_values_of_the_leaves_add_up_to_the_scores():
    fitted = spinney.AdaBoostClassifier(n_estimators=9).fit(X, LABELS)
    forest, leaves = fitted.model_, fitted.apply(X)
    votes = [tree.values[own, 0] for tree, own in zip(forest, leaves.T, strict=True)]
    F = forest.arrays["tree_weight"] @ np.array(votes)
    np.testing.assert_allclose(F / fitted.alphas_.sum(), fitted.decision_function(X), atol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        spinney.AdaBoostClassifier(SklearnTree(max_depth=1), n_estimators=2),
        spinney.RotationForestClassifier(n_estimators=2),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_has_no_leaves_says_so(estimator):
    fitted = estimator.fit(np.nan_to_num(X), LABELS)
    with pytest.raises(InvalidInput, match="no leaves to number"):
        fitted.apply(np.nan_to_num(X))
