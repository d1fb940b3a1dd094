"""Isolation forests: the paper's numbers, a brute force, hostile tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest as TheirForest
from sklearn.metrics import roc_auc_score

from spinney import IsolationForest
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model.isolation import average_path_length, node_depths

RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((400, 3))
FAR = np.array([[7.0, 7.0, 7.0], [-8.0, 6.0, -7.0]])


def rings(n, seed):
    """Two clouds along a diagonal; corners between them look normal along the axes."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal((0, 10), 1, (n, 2)), rng.normal((10, 0), 1, (n, 2))])
    ghosts = np.vstack([rng.normal((0, 0), 1, (n, 2)), rng.normal((10, 10), 1, (n, 2))])
    return X, ghosts


# c(n) and the score


def test_average_path_length_is_that_of_the_paper():
    lengths = average_path_length(np.array([0, 1, 2, 3, 256]))
    assert lengths[:3].tolist() == [0.0, 0.0, 1.0]
    assert lengths[4] == pytest.approx(10.244770920, abs=1e-8)
    n = np.arange(3, 5000)
    expected = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    assert np.allclose(average_path_length(n), expected, atol=1e-9)
    assert np.all(np.diff(average_path_length(np.linspace(0, 50, 999))) >= 0)


def test_random_trees_are_as_deep_as_c_says():
    """Exact harmonic numbers: 2 H(n - 1) - 2 (n - 1) / n is the mean depth of a random tree."""
    rng = np.random.default_rng(4)
    forest = IsolationForest(n_estimators=3000, max_samples=8, random_state=0)
    forest.fit(rng.random((8, 1)))
    harmonic = sum(1 / i for i in range(1, 8))
    # Cuts are even over the range of the one feature, not over its gaps: hence the tolerance. What
    # the trees lack below their limit of three splits, c of their leaves adds.
    arrays = [(t.values, t.count) for t in forest.model_]  # noqa: PD011 - no frame
    leaves = [t.right < 0 for t in forest.model_]
    depths = [
        np.average(values[own, 0], weights=counts[own])
        for (values, counts), own in zip(arrays, leaves, strict=True)
    ]
    assert np.mean(depths) == pytest.approx(2 * harmonic - 2 * 7 / 8, rel=0.35)


def brute_scores(forest, X):
    """The formula, row by row, on the arrays of the trees."""
    total = np.zeros(len(X))
    for tree in forest.model_:
        for i, row in enumerate(X):
            node = depth = 0
            while tree.right[node] >= 0:
                x = row[tree.feature[node]]
                left = bool(tree.missing_left[node]) if np.isnan(x) else x <= tree.threshold[node]
                node = node + 1 if left else tree.right[node]
                depth += 1
            total[i] += depth + float(average_path_length(tree.count[node]))
    mean = total / len(forest.model_)
    return 2.0 ** (-mean / float(average_path_length(forest.max_samples_)))


@pytest.mark.parametrize("max_samples", [2, 50, 400, 1.0])
def test_scores_are_those_of_the_definition(max_samples):
    X = CLOUD.copy()
    X[RNG.random(X.shape) < 0.1] = np.nan
    forest = IsolationForest(n_estimators=20, max_samples=max_samples, random_state=1).fit(X)
    some = np.vstack([X[:40], FAR])
    assert np.allclose(-forest.score_samples(some), brute_scores(forest, some), rtol=1e-12)


def test_depth_of_trees_is_limited_and_their_rows_are_those_drawn():
    forest = IsolationForest(n_estimators=30, max_samples=100, random_state=0).fit(CLOUD)
    assert {tree.depth for tree in forest.model_} <= set(range(8))
    assert {int(tree.count[0]) for tree in forest.model_} == {100}
    arrays = forest.model_.trees.arrays
    depths = node_depths(arrays["right"], arrays["tree_start"])
    assert depths.max() == max(tree.depth for tree in forest.model_) == 7


def test_anomalies_have_the_higher_score_and_are_called_so():
    forest = IsolationForest(random_state=0).fit(CLOUD)
    assert forest.decision_function(FAR).max() < forest.decision_function(CLOUD).min() < 0.1
    assert forest.predict(FAR).tolist() == [-1, -1]
    assert forest.predict(np.zeros((1, 3))).tolist() == [1]
    assert forest.offset_ == -0.5
    assert np.array_equal(
        forest.decision_function(CLOUD), forest.score_samples(CLOUD) - forest.offset_
    )


def test_contamination_is_the_share_of_training_rows_below_the_offset():
    forest = IsolationForest(contamination=0.1, random_state=0).fit(CLOUD)
    assert np.mean(forest.predict(CLOUD) == -1) == pytest.approx(0.1, abs=0.005)
    assert np.array_equal(
        IsolationForest(contamination=0.1, random_state=0).fit_predict(CLOUD), forest.predict(CLOUD)
    )


def test_it_finds_what_scikit_learns_forest_finds():
    X, y = load_breast_cancer(return_X_y=True)
    ours = IsolationForest(n_estimators=1000, random_state=0).fit(X).score_samples(X)
    theirs = TheirForest(n_estimators=1000, random_state=0).fit(X).score_samples(X)
    assert roc_auc_score(y, ours) == pytest.approx(roc_auc_score(y, theirs), abs=0.02)
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.01


# Draws


@pytest.mark.parametrize("level", [0, 2])
def test_same_bits_for_any_number_of_threads_and_another_seed_another_forest(level):
    def grown(seed, n_jobs):
        forest = IsolationForest(random_state=seed, n_jobs=n_jobs, extension_level=level)
        return forest.fit(CLOUD)

    forests = [grown(5, n_jobs) for n_jobs in (1, 2, 5)]
    assert len({forest.model_.fingerprint for forest in forests}) == 1
    assert len({forest.score_samples(CLOUD).tobytes() for forest in forests}) == 1
    assert grown(6, 1).model_ != forests[0].model_


@pytest.mark.parametrize("extension_level", [0, 2])
def test_weights_are_repetitions(extension_level):
    weights = np.random.default_rng(0).integers(0, 4, 60)
    X = CLOUD[:60]
    forest = IsolationForest(n_estimators=10, random_state=0, extension_level=extension_level)
    weighted = forest.fit(X, sample_weight=weights).score_samples(X)
    repeated = forest.fit(np.repeat(X, weights, axis=0)).score_samples(X)
    assert np.array_equal(weighted, repeated)


@pytest.mark.parametrize("parameters", [{}, {"extension_level": 1}, {"max_features": 2}])
def test_warm_start_gives_the_forest_of_one_fit(parameters):
    forest = IsolationForest(n_estimators=4, warm_start=True, random_state=3, **parameters)
    forest.fit(CLOUD).set_params(n_estimators=9).fit(CLOUD)
    at_once = IsolationForest(n_estimators=9, random_state=3, **parameters).fit(CLOUD)
    assert forest.model_ == at_once.model_
    assert len(forest.model_[:4]) == 4
    with pytest.raises(InvalidParameter, match="there already are 9 trees"):
        forest.set_params(n_estimators=5).fit(CLOUD)
    with pytest.raises(InvalidParameter, match="cannot join trees"):
        forest.set_params(n_estimators=10, max_samples=17).fit(CLOUD)


def mixed(n):
    rng = np.random.default_rng(n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    return pd.DataFrame({"size": size, "town": rng.choice(["a", "b", "c", None], n)})


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_rows_are_drawn_by_their_place_unless_every_tree_has_them_all(level, is_weighted):
    X = pd.DataFrame(CLOUD) if level else mixed(400)
    X.columns = [str(name) for name in X.columns]
    weights = np.random.default_rng(1).integers(1, 4, 400) if is_weighted else np.ones(400, int)
    order = np.random.default_rng(2).permutation(400)

    def differs(**parameters):
        made = IsolationForest(n_estimators=10, random_state=0, extension_level=level, **parameters)
        one = made.fit(X, sample_weight=weights).model_
        return one != made.fit(X.iloc[order], sample_weight=weights[order]).model_

    assert differs(max_samples=64)
    assert differs(max_samples=1.0, bootstrap=True)
    assert not differs(max_samples=1.0)


def test_features_of_a_tree_are_as_many_as_asked_for():
    X = RNG.standard_normal((300, 10))
    forest = IsolationForest(n_estimators=30, max_features=3, random_state=0).fit(X)
    used = [set(tree.feature[tree.feature >= 0].tolist()) for tree in forest.model_]
    assert max(map(len, used)) == 3
    assert set().union(*used) == set(range(10))
    with pytest.raises(InvalidParameter, match="max_features=11"):
        IsolationForest(max_features=11).fit(X)


def test_bootstrap_draws_rows_again():
    forest = IsolationForest(n_estimators=5, bootstrap=True, max_samples=1.0, random_state=0)
    trees = list(forest.fit(CLOUD).model_)
    assert all(tree.count[0] < 300 and tree.weight[0] == 400 for tree in trees)


# Tables as they are


def test_categories_and_missing_values_are_taken_and_rare_ones_are_found():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "town": rng.choice(["a", "b", "c"], 500),
            "size": rng.normal(size=500),
            "old": rng.random(500) < 0.5,
        }
    )
    table.loc[:9, "town"] = "zz"
    table.loc[::17, "size"] = np.nan
    forest = IsolationForest(random_state=0, n_estimators=300).fit(table)
    scores = forest.score_samples(table)
    assert np.isfinite(scores).all()
    assert scores[:10].mean() < scores[10:].mean() - 0.02
    unknown = table.assign(town="never seen")
    assert np.isfinite(forest.score_samples(unknown)).all()
    strict = IsolationForest(unseen="error", random_state=0).fit(table)
    with pytest.raises(InvalidInput, match="never seen"):
        strict.score_samples(unknown)


HOSTILE = {
    "one row": np.ones((1, 2)),
    "one value": np.full((50, 2), 3.0),
    "all missing": np.full((20, 2), np.nan),
    "infinite": np.array([[np.inf, 0.0], [-np.inf, 1.0], [0.0, 2.0], [1.0, np.inf]]),
    "huge": np.array([[1e308, 0.0], [-1e308, 1.0], [0.0, 2.0]]),
    "two rows": np.array([[0.0, 1.0], [1.0, 0.0]]),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("extension_level", [0, 1])
def test_hostile_tables_give_a_sensible_model(name, extension_level):
    X = HOSTILE[name]
    forest = IsolationForest(extension_level=extension_level, random_state=0).fit(X)
    scores = -forest.score_samples(np.vstack([X, [[0.5, np.nan]]]))
    assert np.all((scores > 0) & (scores <= 1))
    if name in ("one row", "one value", "all missing"):
        assert np.all(scores == 0.5)
        assert np.all(forest.predict(X) == 1)


# Planes


def brute_planes(model, X):
    """The definition of trees of planes, row by row."""
    arrays, planes = model.trees.arrays, np.cumsum(model.trees.arrays["right"] >= 0) - 1
    total = np.zeros(len(X))
    for first in arrays["tree_start"][:-1]:
        for i, row in enumerate(X):
            node = 0
            while arrays["right"][first + node] >= 0:
                p = planes[first + node]
                terms = arrays["normal"][p] * (row[arrays["feature"][p]] - arrays["point"][p])
                left = np.nansum(terms) <= arrays["threshold"][p]
                node = node + 1 if left else arrays["right"][first + node]
            total[i] += arrays["value"][first + node, 0]
    mean = total / len(model)
    return 2.0 ** (-mean / float(average_path_length(model.sample_size)))


@pytest.mark.parametrize("extension_level", [1, 2])
def test_planes_score_as_their_definition_says(extension_level):
    X = CLOUD.copy()
    X[RNG.random(X.shape) < 0.05] = np.nan
    forest = IsolationForest(
        n_estimators=8, max_samples=64, extension_level=extension_level, random_state=1
    ).fit(X)
    assert np.allclose(
        -forest.score_samples(X[:60]), brute_planes(forest.model_, X[:60]), rtol=1e-10
    )
    terms = forest.model_.trees.arrays["normal"]
    assert terms.shape[1] == extension_level + 1
    assert np.all(terms[:, 0] != 0)
    assert np.mean(terms != 0) > 0.9  # fewer features where fewer vary


def test_planes_do_not_take_the_corners_between_clouds_for_normal():
    X, ghosts = rings(300, 0)
    gap = {}
    for level in (0, 1):
        forest = IsolationForest(n_estimators=200, extension_level=level, random_state=0).fit(X)
        gap[level] = forest.score_samples(X).mean() - forest.score_samples(ghosts).mean()
    assert gap[1] > gap[0] + 0.02
    assert gap[1] > 0.1


def test_planes_are_turned_with_the_data():
    """With all features in a plane no direction is special: a turned table scores alike."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 2)) * [3.0, 0.3]
    turn = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)
    scores = []
    for table in (X, X @ turn):
        forest = IsolationForest(n_estimators=400, extension_level=1, random_state=0).fit(table)
        scores.append(forest.score_samples(table))
    assert np.corrcoef(*scores)[0, 1] > 0.97
    assert np.abs(scores[0] - scores[1]).mean() < 0.02


def test_normals_are_normal():
    forest = IsolationForest(n_estimators=200, extension_level=2, random_state=0).fit(CLOUD)
    normals = forest.model_.trees.arrays["normal"]
    assert len(normals) > 5000
    assert np.abs(normals.mean(axis=0)).max() < 0.05
    assert np.abs(normals.std(axis=0) - 1).max() < 0.03
    assert np.abs((normals**4).mean(axis=0) - 3).max() < 0.3


def test_planes_refuse_too_many_features():
    with pytest.raises(InvalidParameter, match=r"extension_level=3.*at most 2"):
        IsolationForest(extension_level=3).fit(CLOUD)


# Files


@pytest.mark.parametrize("parameters", [{}, {"extension_level": 2}, {"contamination": 0.2}])
def test_files_carry_the_forest_its_offset_and_its_seed(parameters):
    forest = IsolationForest(n_estimators=5, random_state=2, **parameters).fit(CLOUD)
    again = from_bytes(to_bytes(forest))
    assert to_bytes(again) == to_bytes(forest)
    assert np.array_equal(again.decision_function(CLOUD), forest.decision_function(CLOUD))
    assert (again.offset_, again.max_samples_) == (forest.offset_, forest.max_samples_)


def test_attributes_of_a_file_are_not_believed():
    forest = IsolationForest(n_estimators=2, random_state=0).fit(CLOUD)
    for wrong in (
        {},
        {"offset": 0.5, "seed": 0},
        {"offset": -0.5, "seed": -1},
        {"offset": float("nan"), "seed": 0},
    ):
        with pytest.raises(InvalidModel):
            forest._adopt_attributes(wrong, {})


@settings(max_examples=25, deadline=None)
@given(
    n_rows=st.integers(1, 40),
    n_features=st.integers(1, 4),
    level=st.integers(0, 3),
    seed=st.integers(0, 2**32),
)
def test_any_small_table_has_scores_between_0_and_1(n_rows, n_features, level, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n_rows, n_features)), 1)
    forest = IsolationForest(
        n_estimators=3, extension_level=min(level, n_features - 1), random_state=seed
    ).fit(X)
    scores = -forest.score_samples(X)
    assert np.all((scores > 0) & (scores < 1))
