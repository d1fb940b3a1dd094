"""Constraints: how they are read, and what trees keep."""

import numpy as np
import pandas as pd
import pytest
from tests.reference.monotone import keep_monotone, violations

from spinney import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.ensembles.constraints import (
    interaction_groups,
    monotone_signs,
)
from spinney.ensembles.fitting import IntakeSettings, read_problem
from spinney.ensembles.gradient.plan import round_settings
from spinney.errors import InvalidInput
from spinney.model.forest import cut_tree
from spinney.model.tree import Tree
from spinney.trees.gradient import GradientGrower, GradientTreeSettings, GrownTrees

RNG = np.random.default_rng(0)
X = RNG.random((2000, 4))
Y = 5 * X[:, 0] + np.sin(10 * np.pi * X[:, 0]) - 5 * X[:, 1] + 4 * X[:, 2] * X[:, 3]
FRAME = pd.DataFrame(X, columns=list("abcd"))


def schema_of(X, **choice):
    return FeatureSchema.learn(read_table(X), **choice)[0]


# Reading


def test_signs_are_read_by_position_and_by_name():
    assert monotone_signs(None, schema_of(X)) is None
    assert monotone_signs([0, 0, 0, 0], schema_of(X)) is None
    assert monotone_signs([1, 0, -1, 0], schema_of(X)) == (1, 0, -1, 0)
    assert monotone_signs(np.array([1, 0, -1, 0]), schema_of(X)) == (1, 0, -1, 0)
    assert monotone_signs({"c": -1, "a": 1}, schema_of(FRAME)) == (1, 0, -1, 0)


@pytest.mark.parametrize(
    ("given", "table", "words"),
    [
        ([1, 0], X, r"shape \(2,\) but the input data X has 4"),
        ([1, 0, 2, 0], X, "array-like of -1, 0 or 1"),
        ([0.5, 0, 0, 0], X, "array-like of -1, 0 or 1"),
        ({"a": 1}, X, "not fitted on data with feature names"),
        ({"aa": 1}, FRAME, r"1 unexpected feature names: \['aa'\]\. Did you mean 'a'"),
        ({"a": "up"}, FRAME, r"monotonic_cst\['a'\] must be either -1, 0 or 1. Got 'up'"),
    ],
)
def test_wrong_signs_are_refused(given, table, words):
    with pytest.raises(InvalidInput, match=words):
        monotone_signs(given, schema_of(table))
    with pytest.raises(InvalidInput, match=words):
        GradientBoostingRegressor(monotonic_cst=given).fit(table, Y)


def test_categories_and_several_classes_take_no_signs():
    schema = schema_of(X.round(), categorical_features=[1])
    with pytest.raises(InvalidInput, match="Categorical features cannot have monotonic"):
        monotone_signs([0, 1, 0, 0], schema)
    with pytest.raises(InvalidInput, match="not supported for multiclass"):
        GradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0]).fit(X, np.digitize(Y, [0, 2]))
    GradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0], max_iter=1).fit(X, Y > 0)


def test_groups_are_read():
    assert interaction_groups(None, 3) is None
    assert interaction_groups("pairwise", 3) == ((0, 1), (0, 2), (1, 2))
    assert interaction_groups("pairwise", 1) == ((0,),)
    assert interaction_groups([(1, 0), [2, 1, 1]], 5) == ((0, 1), (1, 2), (3, 4))
    assert interaction_groups([], 2) == ((0, 1),)
    assert interaction_groups([["c", "a"], {"b"}], 4, "abcd") == ((0, 2), (1,), (3,))
    assert interaction_groups(np.array([[1, 0], [2, 1]]), 3) == ((0, 1), (1, 2))
    assert interaction_groups([("b", 0)], 3, ("a", "b", "c")) == ((0, 1), (2,))


@pytest.mark.parametrize(
    ("given", "table", "words"),
    [
        ("pairwize", X, "Did you mean 'pairwise'"),
        (3, X, "sequence of tuples or lists, got: interaction_cst=3"),
        ([[0], 1], X, r"sequence of tuples or lists.*group 1 is 1\. Write \[\[0, 1\], \[2\]\]"),
        (["ab", "c"], FRAME, r"tuples or lists.*group 0 is 'ab'\. Write"),
        ([[0], [1, 4]], X, r"\[0, 3\], specifying the position.*got 4 in group 1"),
        ([[-1]], FRAME, r"got -1 in group 0 of interaction_cst"),
        ([[True, False]], X, "got True in group 0"),
        ([[0.0]], X, r"got 0\.0 in group 0"),
        ([["a"]], X, "names 'a', but X has no feature names. Give positions"),
        ([["a"], ["bb"]], FRAME, "group 1 .* names 'bb', .*Did you mean 'b'.* X has 'a', 'b',"),
    ],
)
@pytest.mark.parametrize("make", [GradientBoostingRegressor, HistGradientBoostingRegressor])
def test_wrong_groups_are_refused(make, given, table, words):
    with pytest.raises(InvalidInput, match=words):
        make(interaction_cst=given).fit(table, Y)


@pytest.mark.parametrize("make", [GradientBoostingRegressor, HistGradientBoostingRegressor])
def test_names_and_positions_give_the_same_model(make):
    by_name = make(max_iter=5, interaction_cst=[["d", "c"], {"a"}]).fit(FRAME, Y)
    by_place = make(max_iter=5, interaction_cst=[[2, 3], [0]]).fit(FRAME, Y)
    assert by_name.model_ == by_place.model_
    assert by_name.model_ != make(max_iter=5).fit(FRAME, Y).model_


def test_parameters_reach_the_grower(monkeypatch):
    seen = []

    def spy(*given, **named):
        seen.append(round_settings(*given, **named))
        return seen[-1]

    monkeypatch.setattr("spinney.ensembles.gradient.boosting.round_settings", spy)
    GradientBoostingRegressor(
        max_iter=1,
        monotonic_cst={"a": 1, "b": -1},
        interaction_cst=[[0], [1]],
        max_features=0.5,
        max_features_per_tree=0.75,
    ).fit(FRAME, Y)
    tree = seen[0].tree
    assert tree.monotone == (1, -1, 0, 0)
    assert tree.interactions == ((0,), (1,), (2, 3))
    assert (tree.max_features, tree.max_features_per_tree) == (0.5, 0.75)
    assert (tree.l1, tree.l2) == (0.0, 0.0)


# Values found one by one, as order statistics are


def a_tree(feature, right):
    n = len(feature)
    return Tree(
        feature=np.array(feature, np.int32),
        threshold=np.zeros(n),
        right=np.array(right, np.int32),
        missing_left=np.zeros(n, np.uint8),
        category_set=np.full(n, -1, np.int32),
        category_sets=np.empty((0, 32), np.uint8),
        values=np.zeros((n, 1)),
        count=np.ones(n, np.int64),
        weight=np.ones(n),
        gain=np.zeros(n),
    )


def leaves_below(tree, node):
    if tree.right[node] < 0:
        return [node]
    return leaves_below(tree, node + 1) + leaves_below(tree, tree.right[node])


@pytest.mark.parametrize("seed", range(8))
def test_native_bounds_are_those_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    gradients = (X[:, 0] + rng.normal(size=400)).astype(np.float32)
    signs = (1, -1, 0)
    reading = read_problem(X, gradients, None, IntakeSettings(estimator_name="", task="regression"))
    settings = GradientTreeSettings(monotone=signs, min_samples_leaf=5)
    grower, trees = GradientGrower(reading.binned, settings), GrownTrees()
    grower.grow(gradients, None, trees)
    tree = cut_tree(trees.arrays(), 0)
    values = rng.normal(size=len(tree))
    assert np.array_equal(grower.settle_values(values), keep_monotone(tree, values, signs))


@pytest.mark.parametrize("seed", range(30))
def test_values_are_moved_until_every_monotone_split_holds(seed):
    rng = np.random.default_rng(seed)
    tree = a_tree([0, 1, 0, -1, -1, -1, 0, -1, 1, -1, -1], [6, 5, 4, -1, -1, -1, 8, -1, 10, -1, -1])
    values = rng.normal(size=11)
    signs = (1, 0) if seed % 2 else (-1, 1)
    kept = keep_monotone(tree, values, signs)
    for node in range(11):
        sign = signs[tree.feature[node]] if tree.right[node] >= 0 else 0
        if sign:
            below = [kept[leaf] for leaf in leaves_below(tree, node + 1)]
            above = [kept[leaf] for leaf in leaves_below(tree, tree.right[node])]
            assert sign * (min(above) if sign > 0 else max(above)) >= sign * (
                max(below) if sign > 0 else min(below)
            )
    assert keep_monotone(tree, values, None) is values
    monotone = keep_monotone(tree, kept, signs)
    assert np.allclose(monotone, kept)


# What native code keeps


def test_verifier_sees_what_is_not_monotone():
    free = GradientBoostingRegressor(max_iter=5).fit(X, Y).model_
    assert any(violations(tree, 0, 1) for tree in free)
    assert any(violations(tree, 0, -1) for tree in free)
    line = GradientBoostingRegressor(max_iter=5).fit(X, X[:, 0]).model_
    assert all(violations(tree, 0, 1) == [] for tree in line)
    assert all(violations(tree, 0, -1) for tree in line)
    assert all(violations(tree, 1, 1) == [] for tree in line)


def paths(tree, node=0, above=()):
    if tree.right[node] < 0:
        yield set(above)
        return
    above = (*above, int(tree.feature[node]))
    yield from paths(tree, node + 1, above)
    yield from paths(tree, tree.right[node], above)


@pytest.mark.parametrize("sign", [1, -1])
def test_prediction_never_goes_against_its_sign(sign):
    signs = [sign, -sign, 0, 0]
    model = GradientBoostingRegressor(monotonic_cst=signs).fit(X, Y)
    base = RNG.random((50, 4))
    for feature in (0, 1):
        steps = []
        for value in np.linspace(-0.1, 1.1, 200):
            moved = base.copy()
            moved[:, feature] = value
            steps.append(model.predict(moved))
        assert np.all(signs[feature] * np.diff(steps, axis=0) >= 0)
    free = GradientBoostingRegressor().fit(X, Y)
    assert model.model_ != free.model_


@pytest.mark.parametrize("growth", ["leaf_wise", "level_wise", "symmetric"])
@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_every_tree_is_proved_to_keep_its_signs(growth, loss):
    frame = FRAME.mask(RNG.random(FRAME.shape) < 0.1)
    frame["town"] = np.array(list("uvwxyz"))[RNG.integers(0, 6, len(frame))]
    model = GradientBoostingRegressor(
        loss=loss, growth=growth, max_iter=30, monotonic_cst={"a": 1, "b": -1}
    ).fit(frame, Y - Y.min())
    assert all(violations(tree, 0, 1) == [] for tree in model.model_)
    assert all(violations(tree, 1, -1) == [] for tree in model.model_)


@pytest.mark.parametrize("given", ["no_interactions", "pairwise", [[0, 1], [2, 3]]])
def test_features_on_a_path_belong_to_one_group(given):
    model = GradientBoostingRegressor(max_iter=30, interaction_cst=given).fit(X, Y)
    groups = [set(group) for group in interaction_groups(given, 4)]
    for tree in model.model_:
        for path in paths(tree):
            assert any(path <= group for group in groups)


def test_trees_split_on_the_features_drawn_for_them():
    model = GradientBoostingRegressor(max_iter=40, max_features_per_tree=0.5, random_state=0)
    used = [set(tree.feature[tree.feature >= 0]) for tree in model.fit(X, Y).model_]
    assert max(map(len, used)) <= 2
    assert len(set().union(*used)) == 4
