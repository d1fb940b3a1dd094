"""Weights of rows where they meet limits: of leaves, of 32 bits."""

import numpy as np
import pandas as pd
import pytest

from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from spinney.errors import InvalidInput, SmallWeights

RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=300)
SETTINGS = {"max_iter": 20, "random_state": 0}


def test_leaves_of_the_drop_ins_count_rows_unless_weights_are_whole():
    for scale in (1 / 300, 0.5, 2.5):
        model = HistGradientBoostingRegressor(**SETTINGS).fit(X, Y, np.full(300, scale))
        assert model.score(X, Y) > 0.6
        assert model.model_.arrays["count"][model.model_.arrays["right"] < 0].min() >= 20
    labels = Y > 0
    once = HistGradientBoostingClassifier(**SETTINGS).fit(X, labels, np.full(300, 0.25))
    again = HistGradientBoostingClassifier(**SETTINGS).fit(X, labels)
    assert np.allclose(once.predict_proba(X), again.predict_proba(X), atol=1e-5)


def test_weights_too_small_for_any_leaf_are_reported():
    with pytest.warns(SmallWeights, match=r"adds up to 1 over 300 rows.*min_samples_leaf=20"):
        model = GradientBoostingRegressor(**SETTINGS).fit(X, Y, np.full(300, 1 / 300))
    assert len(model.model_.arrays["feature"]) == 20  # constants


@pytest.mark.filterwarnings("error")
def test_weights_that_suffice_are_not_reported():
    GradientBoostingRegressor(**SETTINGS).fit(X, Y, np.full(300, 0.2))
    GradientBoostingRegressor(**SETTINGS).fit(X[:30], Y[:30], np.full(30, 0.2))


@pytest.mark.parametrize("weight", [1e38, 1e200])
def test_weights_beyond_32_bits_are_refused(weight):
    for make in (GradientBoostingRegressor, HistGradientBoostingRegressor):
        with pytest.raises(InvalidInput, match="Divide all weights by a constant"):
            make(**SETTINGS).fit(X, Y, np.full(300, weight))
    model = GradientBoostingClassifier(class_weight={False: weight, True: weight}, **SETTINGS)
    with pytest.raises(InvalidInput, match="class weights included"):
        model.fit(X, Y > 0)


@pytest.mark.parametrize(("n_levels", "n_rows"), [(100, 2000), (250, 4000), (250, 15_000)])
def test_many_levels_of_few_rows_each_are_learnt(n_levels, n_rows):
    level = np.arange(2 * n_rows) % n_levels
    y = level % 7 + RNG.normal(0, 0.1, 2 * n_rows)
    frame = pd.DataFrame({"level": pd.Categorical(level.astype(str))})
    model = GradientBoostingRegressor(max_iter=50).fit(frame[:n_rows], y[:n_rows])
    assert model.score(frame[n_rows:], y[n_rows:]) > 0.95


def test_features_of_a_node_are_drawn_from_those_of_its_tree():
    one = {"max_features_per_tree": 0.5, **SETTINGS}
    both = GradientBoostingRegressor(max_features=0.5, **one).fit(X, Y)
    assert both.model_ != GradientBoostingRegressor(**one).fit(X, Y).model_
    for tree in both.model_:
        assert len(np.unique(tree.feature[tree.feature >= 0])) <= 2


def test_a_refused_target_is_named_by_its_row_of_what_was_given():
    y, weights = np.ones(40), np.ones(40)
    y[5], weights[:3] = -1.0, 0.0
    with pytest.raises(InvalidInput, match=r"Row 5 of y is -1\.0"):
        GradientBoostingRegressor(loss="poisson").fit(X[:40], y, weights)
