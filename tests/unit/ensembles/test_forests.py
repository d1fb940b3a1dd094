"""Forests as estimators: parameters, trees, votes, weights, additivity."""

import inspect
import itertools

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.datasets import load_iris

from spinney import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.ensembles.forests.rules import CLASS_CRITERIA
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import shap_values

CLASSIFIERS = [RandomForestClassifier, ExtraTreesClassifier]
REGRESSORS = [RandomForestRegressor, ExtraTreesRegressor]
every_forest = pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS, ids=lambda k: k.__name__)
IRIS, SPECIES = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = (X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=300) > 0).astype(int)
Z = X[:, 0] * X[:, 1] + X[:, 2]


def target(kind):
    return Y if kind in CLASSIFIERS else Z


@every_forest
def test_signature_is_that_of_scikit_learn_and_then_ours(kind):
    theirs = inspect.signature(getattr(sklearn.ensemble, kind.__name__)).parameters
    ours = inspect.signature(kind).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, parameter in theirs.items():
        assert ours[name].default == parameter.default, name
        assert ours[name].kind == parameter.kind, name
    more = list(ours)[len(theirs) :]
    assert more[0] == "categorical_features"
    assert all(ours[name].kind is inspect.Parameter.KEYWORD_ONLY for name in more)


# Trees


@every_forest
def test_forest_is_the_mean_of_its_trees(kind):
    forest = kind(n_estimators=7, random_state=1).fit(X, target(kind))
    name = "predict_proba" if kind in CLASSIFIERS else "predict"
    said = np.mean([getattr(tree, name)(X) for tree in forest.estimators_], axis=0)
    assert getattr(forest, name)(X) == pytest.approx(said, abs=1e-12)
    assert len(forest) == len(forest.estimators_) == 7
    assert np.array_equal(forest.apply(X)[:, 3], forest[3].apply(X))
    assert [tree.get_depth() for tree in forest] == [t.get_depth() for t in forest.estimators_]
    assert len(forest.estimators_[2:5]) == 3


@every_forest
@pytest.mark.parametrize("sampler", [None, "subsample", "balanced"])
def test_first_trees_of_a_large_forest_are_the_small_one(kind, sampler):
    small, large = (
        kind(n_estimators=n, random_state=5, sampler=sampler).fit(X, target(kind)).model_
        for n in (4, 11)
    )
    assert large[:4] == small


@every_forest
def test_warm_start_grows_the_trees_of_one_fit(kind):
    wanted = kind(n_estimators=9, random_state=2).fit(X, target(kind))
    forest = kind(n_estimators=2, random_state=2, warm_start=True)
    for n_estimators in (2, 3, 9):
        forest.set_params(n_estimators=n_estimators).fit(X, target(kind))
    assert forest.model_ == wanted.model_
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X, target(kind))
    assert forest.model_ == wanted.model_


def test_warm_start_refuses_fewer_trees_and_other_data():
    forest = RandomForestClassifier(n_estimators=5, warm_start=True).fit(X, Y)
    with pytest.raises(InvalidParameter, match="larger or equal to len"):
        forest.set_params(n_estimators=4).fit(X, Y)
    forest.set_params(n_estimators=6)
    for other in ((X[:200], Y[:200]), (X[:, :4], Y), (X, Y + 1)):
        with pytest.raises(InvalidInput, match="warm_start=True goes on"):
            forest.fit(*other)


@every_forest
def test_importances_are_the_mean_of_those_of_trees(kind):
    forest = kind(n_estimators=8, random_state=0).fit(X, target(kind))
    shares = np.mean([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    assert forest.feature_importances_ == pytest.approx(shares, abs=1e-12)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    constant = kind(n_estimators=3).fit(np.zeros((9, 2)), np.ones(9))
    assert constant.feature_importances_.tolist() == [0.0, 0.0]


@every_forest
def test_paths_lead_from_the_root_to_the_leaf(kind):
    forest = kind(n_estimators=4, max_depth=3, random_state=0).fit(X, target(kind))
    indicator, starts = forest.decision_path(X[:20])
    leaves = forest.apply(X[:20])
    assert indicator.shape == (20, starts[-1])
    for tree, view in enumerate(forest):
        own = indicator[:, starts[tree] : starts[tree + 1]].toarray()
        nodes = view.model_[0]
        for row in range(20):
            path = np.flatnonzero(own[row]).tolist()
            assert path[0] == 0
            assert path[-1] == leaves[row, tree]
            for here, there in itertools.pairwise(path):
                assert there in (here + 1, nodes.right[here])


def test_samples_of_trees_are_their_roots():
    forest = RandomForestRegressor(n_estimators=5, random_state=3).fit(X, Z)
    for rows, view in zip(forest.estimators_samples_, forest, strict=True):
        assert rows.dtype == np.int32
        assert len(rows) == 300
        assert view.model_.arrays["values"][0, 0] == pytest.approx(Z[rows].mean())
        assert view.model_.arrays["count"][0] == len(np.unique(rows))
    for rows in ExtraTreesRegressor(n_estimators=2).fit(X, Z).estimators_samples_:
        assert rows.tolist() == list(range(300))


# Answers


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_hard_votes_are_counted_by_definition(kind):
    settings = {"n_estimators": 9, "random_state": 0, "min_samples_leaf": 20}
    soft = kind(**settings).fit(IRIS, SPECIES)
    hard = kind(**settings, voting="hard").fit(IRIS, SPECIES)
    votes = np.stack([tree.predict(IRIS) for tree in soft.estimators_], axis=1)
    shares = np.stack([(votes == k).mean(axis=1) for k in range(3)], axis=1)
    assert hard.predict_proba(IRIS) == pytest.approx(shares, abs=1e-12)
    assert np.array_equal(hard.predict(IRIS), shares.argmax(axis=1))
    assert not np.allclose(soft.predict_proba(IRIS), shares)
    assert np.array_equal(hard.apply(IRIS), soft.apply(IRIS))


@every_forest
def test_labels_numbers_and_outputs_come_back_as_they_were(kind):
    if kind in CLASSIFIERS:
        forest = kind(n_estimators=20, random_state=0).fit(IRIS, np.array(["x", "y", "z"])[SPECIES])
        assert forest.classes_.tolist() == ["x", "y", "z"]
        assert forest.n_classes_ == 3
        assert forest.predict(IRIS[:1])[0] in ("x", "y", "z")
        assert np.exp(forest.predict_log_proba(IRIS)) == pytest.approx(forest.predict_proba(IRIS))
        return
    forest = kind(n_estimators=20, random_state=0).fit(X, np.c_[Z, -Z, Y])
    assert forest.n_outputs_ == 3
    assert forest.predict(X).shape == (300, 3)
    assert forest.predict(X)[:, 1] == pytest.approx(-forest.predict(X)[:, 0])
    assert not hasattr(forest, "classes_")


@every_forest
def test_tables_with_everything_in_them_are_taken_as_they_are(kind):
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["town"] = np.array(["Bonn", "Ems", None], dtype=object)[np.arange(300) % 3]
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(300), unit="D")
    frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1)
    forest = kind(n_estimators=30, random_state=0).fit(frame, target(kind))
    assert forest.score(frame, target(kind)) > 0.8
    assert np.array_equal(forest.predict(frame[list(frame)[::-1]]), forest.predict(frame))


@every_forest
@pytest.mark.parametrize(
    "table",
    [np.zeros((1, 3)), np.full((20, 2), np.nan), np.ones((5, 1))],
    ids=["one row", "all missing", "constant"],
)
def test_tables_that_say_nothing_give_a_constant(kind, table):
    y = np.arange(len(table)) % 2
    forest = kind(n_estimators=3, random_state=0, bootstrap=False).fit(table, y)
    said = forest.predict_proba(table) if kind in CLASSIFIERS else forest.predict(table)
    assert np.ptp(said, axis=0) == pytest.approx(0.0)


def test_one_class_is_learnt():
    forest = RandomForestClassifier(n_estimators=40, oob_score=True).fit(X, np.zeros(300))
    assert forest.predict_proba(X).tolist() == [[1.0]] * 300
    assert forest.oob_score_ == 1.0


# Limits and criteria


@every_forest
def test_limits_hold_in_every_tree(kind):
    limits = {"max_depth": 3}, {"max_leaf_nodes": 5}, {"min_samples_leaf": 12}
    shares = {"min_samples_leaf": 0.1}, {"min_weight_fraction_leaf": 0.1}, {"min_samples_split": 90}
    for limit in (*limits, *shares):
        forest = kind(n_estimators=3, random_state=0, max_features=None, **limit)
        forest.fit(X, target(kind))
        for tree in forest.model_:
            assert len(tree) > 1
            leaf = tree.right < 0
            assert tree.depth <= limit.get("max_depth", 99)
            assert tree.n_leaves <= limit.get("max_leaf_nodes", 999)
            if "min_samples_split" in limit:
                assert tree.weight[~leaf].min() >= 90
            elif len(limit) and "max" not in next(iter(limit)):
                least = next(iter(limit.values()))
                assert tree.weight[leaf].min() >= (least if least > 1 else 300 * least)


@every_forest
def test_least_decrease_is_relative_to_all_rows(kind):
    y = (X[:, 0] > 0) if kind in CLASSIFIERS else Z
    forest = kind(n_estimators=3, random_state=0, min_impurity_decrease=0.01, max_features=None)
    model = forest.fit(X, y).model_
    assert model.arrays["gain"][model.arrays["feature"] >= 0].min() >= 0.01 * 300
    assert len(model.arrays["feature"]) > 3


@pytest.mark.parametrize(
    "criterion",
    ["gini", "entropy", "log_loss", "error", "twoing", "dkm", "hellinger", "gain_ratio"],
)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_criteria_of_classes_learn(kind, criterion):
    y = X[:, 0] + X[:, 1] > 0.5
    forest = kind(n_estimators=25, criterion=criterion, random_state=0).fit(X[:200], y[:200])
    assert forest.score(X[200:], y[200:]) > 0.8
    if criterion in ("dkm", "hellinger"):
        with pytest.raises(InvalidInput, match="takes two classes"):
            kind(criterion=criterion).fit(IRIS, SPECIES)


def test_criteria_of_numbers():
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 0]))
    poisson = RandomForestRegressor(50, criterion="poisson", random_state=0, min_samples_leaf=5)
    assert poisson.fit(X, counts).predict(X).min() > 0
    one, two = (
        RandomForestRegressor(5, criterion=c, random_state=0).fit(X, Z).model_
        for c in ("squared_error", "friedman_mse")
    )
    assert one == two
    for y, message in ((-Z, "negative"), (np.zeros(300), "not strictly positive")):
        with pytest.raises(InvalidInput, match=message):
            poisson.fit(X, y)
    both = poisson.fit(X, np.c_[counts, counts]).predict(X)
    assert np.array_equal(both[:, 0], both[:, 1])


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (RandomForestClassifier, {"n_estimators": "automatic"}),
        (RandomForestClassifier, {"criterion": "squared_error"}),
        (RandomForestClassifier, {"sampler": "jackknife"}),
        (RandomForestClassifier, {"voting": "loud"}),
        (RandomForestClassifier, {"search": "random"}),
        (RandomForestRegressor, {"criterion": "absolute"}),
        (RandomForestRegressor, {"max_samples": 0.0}),
        (RandomForestRegressor, {"oob_score": "r2"}),
        (ExtraTreesRegressor, {"block_length": 0}),
    ],
)
def test_values_that_do_not_exist_are_refused(kind, wrong):
    with pytest.raises(InvalidParameter, match="expected"):
        kind(**wrong).fit(X, target(kind))


def test_parameters_that_contradict_each_other_are_refused():
    for wrong, message in (
        ({"bootstrap": False, "max_samples": 0.5}, "`max_sample` cannot be set"),
        ({"sampler": "block", "max_samples": 0.5}, "not a choice"),
        ({"sampler": "subsample", "max_samples": 400}, "without replacement"),
        ({"bootstrap": False, "oob_score": True}, "Out of bag estimation only"),
        ({"bootstrap": False, "n_estimators": "auto"}, "Out of bag estimation only"),
        ({"sampler": "bayesian", "oob_score": True}, "Out of bag estimation only"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            RandomForestClassifier(**wrong).fit(X, Y)
    with pytest.raises(InvalidParameter, match="numbers have none"):
        RandomForestRegressor(sampler="stratified").fit(X, Z)
    for wrong in ({"groups": np.arange(300)}, {}):
        with pytest.raises(InvalidInput, match="go together"):
            RandomForestRegressor(sampler=None if wrong else "group").fit(X, Z, **wrong)
    with pytest.raises(InvalidInput, match="one per row"):
        RandomForestRegressor(sampler="group").fit(X, Z, groups=np.arange(3))


@every_forest
@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.05])
def test_pruned_trees_are_the_smallest_best_ones(kind, alpha):
    """The least sum of what leaves leave over and what they cost, by recursion."""
    settings = {"n_estimators": 3, "random_state": 0, "max_depth": 6}
    whole = kind(**settings).fit(X, target(kind)).model_
    found = kind(**settings, ccp_alpha=alpha).fit(X, target(kind)).model_

    def best(tree, node):
        """Give what is saved, less what leaves cost, and the number of leaves."""
        price = alpha * tree.weight[0]
        if tree.right[node] < 0:
            return -price, 1
        left, right = best(tree, node + 1), best(tree, tree.right[node])
        divided = tree.gain[node] + left[0] + right[0]
        return (divided, left[1] + right[1]) if divided > -price else (-price, 1)

    assert [tree.n_leaves for tree in found] == [best(tree, 0)[1] for tree in whole]
    assert len(found.arrays["feature"]) < len(whole.arrays["feature"])
    assert found.arrays["gain"][found.arrays["feature"] < 0].max() == 0.0


@pytest.mark.parametrize("criterion", sorted(CLASS_CRITERIA))
@pytest.mark.parametrize("n_labels", [1, 2])
def test_trees_of_a_forest_are_pruned_as_trees_that_stand_alone(criterion, n_labels):
    labels = Y if n_labels == 1 else np.column_stack([Y, X[:, 1] > 0])
    forest = RandomForestClassifier(3, criterion=criterion, random_state=0)
    alone = [tree.pruned(alpha=0.02) for tree in forest.fit(X, labels).estimators_]
    whole = [tree.get_n_leaves() for tree in forest.estimators_]
    pruned = forest.set_params(ccp_alpha=0.02).fit(X, labels).estimators_
    leaves = [tree.get_n_leaves() for tree in pruned]
    assert all(few < many for few, many in zip(leaves, whole, strict=True))
    for ours, theirs in zip(pruned, alone, strict=True):
        assert np.array_equal(ours.apply(X), theirs.apply(X))


def test_progress_is_told_on_stderr_and_changes_nothing(capsys):
    quiet = RandomForestRegressor(20, random_state=0).fit(X, Z)
    loud = RandomForestRegressor(20, random_state=0, verbose=2, n_jobs=2).fit(X, Z)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1].startswith("tree 20/20")
    assert quiet.model_ == loud.model_


def test_explanations_read_forests():
    forest = RandomForestClassifier(10, random_state=0).fit(X, Y)
    found = shap_values(forest, X[:5]).raw_scores()
    assert found == pytest.approx(forest.predict_proba(X[:5]))
