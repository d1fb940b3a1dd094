"""Our trees bagged as one forest are the trees that grow alone on their bags."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from spinney import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomPatchesClassifier,
    RandomSubspaceRegressor,
)
from spinney.errors import CannotSave
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import TreeForest
from spinney.model.member_bag import MemberBag

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
RNG = np.random.default_rng(5)
NOISY = RNG.normal(size=(150, 4))


def bag_weights(bag, n_rows):
    """What each row weighs in each bag, by the numbers of the rows that were drawn."""
    return [np.bincount(rows, minlength=n_rows) for rows in bag.estimators_samples_]


def alone(bag, X, y, weights):
    """Each member fitted by itself: a clone with its seed, its columns and its weights."""
    members = []
    drawn = zip(bag.estimators_, bag.estimators_features_, weights, strict=True)
    for member, features, own in drawn:
        tree = type(member)(**member.get_params())
        members.append(tree.fit(X[:, features], y, sample_weight=own))
    return members


def same_shape(one, other):
    for name in ("feature", "right", "missing_left", "count", "threshold"):
        left, right = one.model_.arrays[name], other.model_.arrays[name]
        assert np.array_equal(left, right), name


TREES = [
    {},
    {"criterion": "entropy", "max_depth": 4},
    {"max_leaf_nodes": 7},
    {"min_samples_leaf": 5},
    {"min_samples_split": 0.1, "min_weight_fraction_leaf": 0.02},
    {"min_impurity_decrease": 0.01},
    {"ccp_alpha": 0.02},
    {"ccp_alpha": 0.02, "criterion": "twoing"},
    {"max_features": 2},
    {"splitter": "random"},
]


@pytest.mark.parametrize("tree", TREES, ids=str)
@pytest.mark.parametrize("sampler", ["bootstrap", "subsample", "stratified", "block"])
def test_classes_bit_by_bit(tree, sampler):
    bag = BaggingClassifier(DecisionTreeClassifier(**tree), random_state=1, sampler=sampler)
    bag.fit(NOISY, SPECIES)
    assert isinstance(bag.model_, TreeForest)
    for own, one in zip(
        bag.estimators_, alone(bag, NOISY, SPECIES, bag_weights(bag, 150)), strict=True
    ):
        same_shape(own, one)
        assert np.array_equal(own.model_.arrays["values"], one.model_.arrays["values"])
        assert np.array_equal(own.model_.arrays["weight"], one.model_.arrays["weight"])


@pytest.mark.parametrize("tree", [t for t in TREES if "criterion" not in t], ids=str)
def test_numbers_up_to_rounding(tree):
    bag = BaggingRegressor(DecisionTreeRegressor(**tree), random_state=1).fit(DIABETES, PROGRESS)
    for own, one in zip(
        bag.estimators_, alone(bag, DIABETES, PROGRESS, bag_weights(bag, 442)), strict=True
    ):
        same_shape(own, one)
        assert own.model_.arrays["values"] == pytest.approx(one.model_.arrays["values"], rel=1e-9)


MEDIANS = [
    {},
    {"max_depth": 4, "min_samples_leaf": 5},
    {"max_leaf_nodes": 7, "ccp_alpha": 0.5},
    {"splitter": "random", "max_features": 2},
]


@pytest.mark.parametrize("tree", MEDIANS, ids=str)
@pytest.mark.parametrize("sampler", ["bootstrap", "subsample", "poisson", "block"])
def test_medians_bit_by_bit(tree, sampler):
    base = DecisionTreeRegressor(criterion="absolute_error", **tree)
    bag = BaggingRegressor(base, 5, random_state=1, sampler=sampler).fit(DIABETES, PROGRESS)
    assert isinstance(bag.model_, TreeForest)
    members = alone(bag, DIABETES, PROGRESS, bag_weights(bag, 442))
    for own, one in zip(bag.estimators_, members, strict=True):
        same_shape(own, one)
        assert np.array_equal(own.model_.arrays["values"], one.model_.arrays["values"])
    again = from_bytes(to_bytes(bag))
    assert np.array_equal(again.predict(DIABETES), bag.predict(DIABETES))
    assert len(again.set_params(n_estimators=7, warm_start=True).fit(DIABETES, PROGRESS)) == 7


def test_medians_of_weighted_rows_and_of_several_numbers():
    base = DecisionTreeRegressor(criterion="absolute_error", max_depth=3)
    weights, both = RNG.integers(1, 4, 442), np.c_[PROGRESS, -DIABETES[:, 0]]
    bag = BaggingRegressor(base, 5, random_state=1)
    repeated = np.repeat(np.arange(442), weights)
    for y in (PROGRESS, both):
        said = bag.fit(DIABETES, y, weights).predict(DIABETES)
        assert np.array_equal(said, bag.fit(DIABETES[repeated], y[repeated]).predict(DIABETES))
    bag.set_params(sampler="bayesian").fit(DIABETES, PROGRESS)
    assert bag.score(DIABETES, PROGRESS) > 0.3


def test_trees_that_were_fitted_one_by_one_say_why_they_have_no_file():
    bag = BaggingClassifier(DecisionTreeClassifier(class_weight="balanced")).fit(NOISY, SPECIES)
    with pytest.raises(CannotSave, match=r"without class_weight, which RandomForestClassifier"):
        to_bytes(bag)


@pytest.mark.parametrize("poisson", [False, True])
def test_poisson_bags_and_counts_of_events(poisson):
    criterion = "poisson" if poisson else "squared_error"
    bag = BaggingRegressor(
        DecisionTreeRegressor(criterion=criterion), sampler="poisson", random_state=3
    ).fit(DIABETES, PROGRESS)
    weights = bag_weights(bag, 442)
    assert len({int(own.sum()) for own in weights}) > 1
    for own, one in zip(bag.estimators_, alone(bag, DIABETES, PROGRESS, weights), strict=True):
        same_shape(own, one)


def test_features_of_members():
    bag = RandomPatchesClassifier(n_estimators=20, random_state=0).fit(NOISY, SPECIES)
    assert {tuple(f) for f in bag.estimators_features_} > {(0, 1)}
    assert all(len(f) == 2 for f in bag.estimators_features_)
    for own, one in zip(
        bag.estimators_, alone(bag, NOISY, SPECIES, bag_weights(bag, 150)), strict=True
    ):
        same_shape(own, one)
        assert np.array_equal(own.model_.arrays["values"], one.model_.arrays["values"])
    said = [
        member.predict_proba(NOISY[:, features])
        for member, features in zip(bag.estimators_, bag.estimators_features_, strict=True)
    ]
    assert bag.predict_proba(NOISY) == pytest.approx(np.mean(said, axis=0), abs=1e-12)


def test_features_drawn_with_replacement():
    bag = RandomSubspaceRegressor(
        n_estimators=10, max_features=1.0, bootstrap_features=True, random_state=0
    ).fit(DIABETES, PROGRESS)
    assert all(len(set(f.tolist())) < len(f) == 10 for f in bag.estimators_features_)
    said = [
        member.predict(DIABETES[:, features])
        for member, features in zip(bag.estimators_, bag.estimators_features_, strict=True)
    ]
    assert bag.predict(DIABETES) == pytest.approx(np.mean(said, axis=0), rel=1e-12)


def test_tables_with_names_categories_and_gaps():
    table = pd.DataFrame(
        {
            "size": np.where(RNG.random(150) < 0.1, np.nan, IRIS[:, 0]),
            "place": np.array(["north", "south", "west"])[RNG.integers(0, 3, 150)],
            "width": IRIS[:, 3],
        }
    )
    bag = BaggingClassifier(max_features=2, random_state=0, oob_score=True, n_estimators=30)
    bag.fit(table, SPECIES)
    assert bag.feature_names_in_.tolist() == ["size", "place", "width"]
    assert bag.oob_score_ > 0.8
    said = [
        member.predict_proba(table.iloc[:, features])
        for member, features in zip(bag.estimators_, bag.estimators_features_, strict=True)
    ]
    assert bag.predict_proba(table) == pytest.approx(np.mean(said, axis=0), abs=1e-12)


def test_what_a_forest_does_not_know_is_left_to_each_tree():
    lonely = [
        (BaggingClassifier, DecisionTreeClassifier(class_weight="balanced"), {}),
        (BaggingClassifier, DecisionTreeClassifier(min_samples_leaf=0.1), {"sampler": "poisson"}),
    ]
    for kind, tree, more in lonely:
        bag = kind(tree, n_estimators=3, random_state=0, **more).fit(NOISY, SPECIES)
        assert isinstance(bag.model_, MemberBag)
        twin = kind(tree, n_estimators=3, random_state=0, **more).fit(NOISY, SPECIES)
        assert np.array_equal(bag.predict(NOISY), twin.predict(NOISY))
        for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
            again = type(member)(**member.get_params())
            again.fit(NOISY, SPECIES, sample_weight=np.bincount(rows, minlength=150))
            assert again.model_ == member.model_


def test_order_of_rows_does_not_matter():
    order = RNG.permutation(442)
    for sampler in ("bootstrap", "subsample", "bayesian", "poisson"):
        bags = [
            BaggingRegressor(sampler=sampler, random_state=0).fit(DIABETES[rows], PROGRESS[rows])
            for rows in (np.arange(442), order)
        ]
        assert bags[0].model_ == bags[1].model_


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"bootstrap": False},
        {"bootstrap": False, "max_samples": 0.5},
        {"sampler": "poisson"},
        {"max_features": 0.5},
    ],
    ids=str,
)
def test_a_weight_is_a_repetition(more):
    weights = RNG.integers(0, 4, 442)
    again = np.repeat(np.arange(442), weights)
    one = BaggingRegressor(random_state=0, **more).fit(DIABETES, PROGRESS, weights)
    two = BaggingRegressor(random_state=0, **more).fit(DIABETES[again], PROGRESS[again])
    assert one.predict(DIABETES) == pytest.approx(two.predict(DIABETES), rel=1e-12)


def test_huge_and_tiny_targets_and_weights():
    for scale in (1e-290, 1e290):
        bag, plain = (
            BaggingRegressor(sampler="block", random_state=0).fit(DIABETES, y)
            for y in (PROGRESS * scale, PROGRESS)
        )
        assert bag.predict(DIABETES) / scale == pytest.approx(plain.predict(DIABETES), rel=1e-9)
    weights = RNG.random(442)
    small, plain = (
        BaggingRegressor(random_state=0, bootstrap=False).fit(DIABETES, PROGRESS, weights * scale)
        for scale in (2.0**-600, 1.0)
    )
    assert np.array_equal(small.predict(DIABETES), plain.predict(DIABETES))
