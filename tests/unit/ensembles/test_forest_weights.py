"""Forests and weights: repetitions, classes, order of rows, ways to draw."""

import numpy as np
import pytest

from spinney import (
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.errors import InvalidInput, SmallWeights

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
every_forest = pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS, ids=lambda k: k.__name__)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = (X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=300) > 0).astype(int)
Z = X[:, 0] * X[:, 1] + X[:, 2]


def target(kind):
    return Y if kind in CLASSIFIERS else Z


# Weights


@every_forest
@pytest.mark.parametrize("bootstrap", [False, True])
def test_whole_weights_are_repetitions(kind, bootstrap):
    weights = np.random.default_rng(3).integers(0, 4, 300)
    rows = np.random.default_rng(4).permutation(np.repeat(np.arange(300), weights))
    settings = {"n_estimators": 5, "random_state": 0, "bootstrap": bootstrap}
    if kind is RandomForestClassifier or kind is RandomForestRegressor:
        settings["search"] = "exact"
    y = target(kind)
    weighed = kind(**settings, min_samples_leaf=3).fit(X, y, weights)
    repeated = kind(**settings, min_samples_leaf=3).fit(X[rows], y[rows])
    for name in ("feature", "threshold", "right", "weight"):
        assert np.array_equal(weighed.model_.arrays[name], repeated.model_.arrays[name]), name
    assert weighed.predict(X) == pytest.approx(repeated.predict(X), abs=1e-12)


def test_automatic_forests_of_weights_and_of_repetitions_begin_alike():
    """Not every copy of a row is out of a bag when one is, so they may end elsewhere."""
    weights = np.random.default_rng(3).integers(1, 4, 80)
    rows = np.repeat(np.arange(80), weights)
    forest = RandomForestClassifier("auto", random_state=0, search="exact")
    weighed = forest.fit(X[:80], Y[:80], weights).model_
    repeated = forest.fit(X[rows], Y[rows]).model_
    both = min(len(weighed), len(repeated))
    assert both >= 100
    assert np.array_equal(weighed[:both].predictions(X), repeated[:both].predictions(X))


@every_forest
@pytest.mark.parametrize("sampler", ["poisson", "group"])
def test_whole_weights_are_repetitions_of_these_samplers_too(kind, sampler):
    weights = np.random.default_rng(3).integers(1, 4, 300)
    rows = np.repeat(np.arange(300), weights)
    groups = np.arange(300) // 5
    settings = {"n_estimators": 5, "random_state": 0, "sampler": sampler, "min_samples_leaf": 3}
    if kind is RandomForestClassifier or kind is RandomForestRegressor:
        settings["search"] = "exact"
    y = target(kind)
    own, of_rows = (groups, groups[rows]) if sampler == "group" else (None, None)
    weighed = kind(**settings).fit(X, y, weights, groups=own)
    repeated = kind(**settings).fit(X[rows], y[rows], groups=of_rows)
    assert weighed.predict(X) == pytest.approx(repeated.predict(X), abs=1e-9)


@every_forest
def test_order_of_rows_does_not_matter(kind):
    order = np.random.default_rng(0).permutation(300)
    models = [
        kind(n_estimators=5, random_state=0, bootstrap=True).fit(X[o], target(kind)[o]).model_
        for o in (np.arange(300), order)
    ]
    assert models[0] == models[1]


@pytest.mark.parametrize(
    "kind", [*CLASSIFIERS, *REGRESSORS, QuantileForestRegressor, BaggingRegressor]
)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_nor_does_that_of_equal_rows_of_different_weights(kind, bootstrap):
    rng = np.random.default_rng(1)
    table, weights = rng.integers(0, 3, (60, 2)).astype(float), rng.random(60) + 0.1
    numbers, order = rng.integers(0, 2, 60), rng.permutation(60)
    settings = {"n_estimators": 5, "random_state": 0, "bootstrap": bootstrap}
    models = [
        kind(**settings).fit(table[o], numbers[o], weights[o]).predict(table)
        for o in (np.arange(60), order)
    ]
    assert np.array_equal(*models)


@pytest.mark.parametrize("sampler", ["bootstrap", "subsample", "stratified", "balanced"])
def test_rows_without_weight_are_as_if_absent(sampler):
    weights = np.where(np.arange(300) % 3 == 0, 0, 1)
    kept = weights > 0
    forest = RandomForestClassifier(n_estimators=4, random_state=0, sampler=sampler)
    with_zeros = forest.fit(X, Y, weights).model_
    rows = forest.estimators_samples_
    assert with_zeros == forest.fit(X[kept], Y[kept], np.ones(kept.sum())).model_
    assert not np.isin(np.concatenate(rows), np.flatnonzero(~kept)).any()


def test_class_weights_do_what_row_weights_do():
    settings = {"n_estimators": 5, "random_state": 0}
    for bootstrap in (False, True):
        rows = RandomForestClassifier(**settings, bootstrap=bootstrap)
        classes = RandomForestClassifier(
            **settings, bootstrap=bootstrap, class_weight={0: 0.5, 1: 2}
        )
        one, two = rows.fit(X, Y, np.where(Y, 2, 0.5)).model_, classes.fit(X, Y).model_
        assert one == two


def test_balanced_classes_weigh_the_same_in_the_root():
    y = (X[:, 0] > 1).astype(int)
    for weight, bootstrap in (
        ("balanced", False),
        ("balanced_subsample", False),
        ("balanced_subsample", True),
    ):
        forest = RandomForestClassifier(
            5, random_state=0, bootstrap=bootstrap, class_weight=weight
        ).fit(X, y)
        roots = forest.model_.arrays["tree_start"][:-1]
        assert forest.model_.arrays["values"][roots] == pytest.approx(0.5, abs=1e-3)
        assert forest.model_.arrays["weight"][roots] == pytest.approx(300, rel=1e-3)
    for wrong in ("balance", 5):
        with pytest.raises(InvalidInput, match="expected None, 'balanced', 'balanced_subsample'"):
            RandomForestClassifier(class_weight=wrong).fit(X, Y)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, DecisionTreeClassifier])
@pytest.mark.parametrize("bootstrap", [False, True])
def test_a_class_of_weight_zero_stays_a_class(kind, bootstrap):
    own = {} if kind is DecisionTreeClassifier else {"n_estimators": 3, "bootstrap": bootstrap}
    tree = kind(**own, class_weight={0: 0, 1: 1, 2: 1}, random_state=0)
    y = np.where(X[:, 2] > 1, 2, Y)
    tree.fit(X, y)
    assert tree.classes_.tolist() == [0, 1, 2]
    shares = tree.predict_proba(X)
    assert shares.shape == (300, 3)
    assert np.all(shares[:, 0] == 0)
    alone = kind(**own, random_state=0).fit(X[y > 0], y[y > 0])
    assert shares[:, 1:].shape == alone.predict_proba(X).shape
    if not bootstrap:
        assert shares[:, 1:] == pytest.approx(alone.predict_proba(X))
    several = tree.set_params(class_weight=[{0: 0, 1: 1, 2: 1}, None]).fit(X, np.c_[y, Y])
    assert [part.shape for part in several.predict_proba(X)] == [(300, 3), (300, 2)]


def test_weights_too_small_for_a_leaf_are_told():
    with pytest.warns(SmallWeights, match="every tree is a single leaf"):
        ExtraTreesRegressor(3, min_samples_leaf=5).fit(X, Z, np.full(300, 0.001))


# Samplers


@pytest.mark.parametrize("sampler", ["subsample", "bayesian", "balanced", "block", "group"])
@every_forest
def test_samplers_learn(kind, sampler):
    forest = kind(n_estimators=30, sampler=sampler, random_state=0)
    groups = np.arange(300) // 3 if sampler == "group" else None
    forest.fit(X, target(kind), groups=groups)
    assert forest.score(X, target(kind)) > 0.8
    assert (
        forest.fit(X, target(kind), np.linspace(1, 2, 300), groups=groups).score(X, target(kind))
        > 0.8
    )


def test_groups_may_be_text_and_stay_together():
    groups = np.array(["a", "b", "c"], dtype=object)[np.arange(300) // 100]
    forest = RandomForestRegressor(20, sampler="group", random_state=0).fit(X, Z, groups=groups)
    for rows in forest.estimators_samples_:
        counts = np.bincount(rows, minlength=300).reshape(3, 100)
        assert (counts == counts[:, :1]).all()


def test_labels_of_groups_do_not_matter_nor_the_order_of_rows():
    groups, order = np.arange(300) // 20, np.random.default_rng(0).permutation(300)
    whole = np.rint(X)  # rows that stand there twice, in different groups
    forest = RandomForestRegressor(10, sampler="group", random_state=0)
    expected = forest.fit(whole, np.rint(Z), groups=groups).predict(X)
    for own in (groups.astype(str), 7 - groups):
        assert np.array_equal(forest.fit(whole, np.rint(Z), groups=own).predict(X), expected)
    forest.fit(whole[order], np.rint(Z)[order], groups=groups[order])
    assert np.array_equal(forest.predict(X), expected)


def test_groups_without_a_label_are_refused():
    groups = np.where(np.arange(300) < 3, np.nan, 1.0)
    with pytest.raises(InvalidInput, match="groups contains NaN"):
        RandomForestRegressor(3, sampler="group").fit(X, Z, groups=groups)


def test_groups_of_another_type_are_other_groups():
    groups = np.array([1, "1", 2], dtype=object)[np.arange(300) // 100]
    forest = RandomForestRegressor(20, sampler="group", random_state=0).fit(X, Z, groups=groups)
    seen = [np.bincount(rows // 100, minlength=3) > 0 for rows in forest.estimators_samples_]
    assert any(one != other for one, other, _ in seen)


def test_max_samples_counts_or_shares():
    for max_samples, n_draws in ((None, 300), (50, 50), (0.5, 150), (1.5, 450), (400, 400)):
        forest = RandomForestRegressor(2, max_samples=max_samples).fit(X, Z)
        assert [len(rows) for rows in forest.estimators_samples_] == [n_draws] * 2
    for max_samples, n_draws in ((None, 189), (50, 50), (0.5, 150)):
        forest = RandomForestRegressor(2, max_samples=max_samples, sampler="subsample").fit(X, Z)
        assert [len(np.unique(rows)) for rows in forest.estimators_samples_] == [n_draws] * 2
