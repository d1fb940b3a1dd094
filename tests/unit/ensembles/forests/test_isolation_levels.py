"""Planes of isolation forests that cut categories, beside numbers and missing values."""

import numpy as np
import pandas as pd
import pytest
from tests.reference.random_planes import is_left

import spinney
from spinney import IsolationForest
from spinney.errors import InvalidFile, InvalidInput, InvalidModel, NewerFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections
from spinney.model.isolation import IsolationPlanes, average_path_length
from spinney.model.projection import PlaneForest
from spinney.model.state import model_from_bytes

TOWNS = ["a", "b", "c"]


def mixed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    size = np.where(rng.random(n) < 0.1, np.nan, 1000.0 * rng.normal(size=n))
    town = np.where(rng.random(n) < 0.1, None, rng.choice(TOWNS, n))
    return pd.DataFrame({"size": size, "town": town, "kind": rng.choice(["x", "y"], n)})


def forest(**parameters):
    own = {"n_estimators": 20, "max_samples": 64, "random_state": 0, "extension_level": 2}
    return IsolationForest(**(own | parameters))


def brute_scores(model, X):
    """The definition, row by row; X has codes for categories."""
    arrays, planes = model.trees.arrays, np.cumsum(model.trees.arrays["right"] >= 0) - 1
    total = np.zeros(len(X))
    for first in arrays["tree_start"][:-1]:
        for i, row in enumerate(X):
            node = 0
            while arrays["right"][first + node] >= 0:
                p = planes[first + node]
                terms = zip(
                    *(arrays[name][p] for name in ("feature", "normal", "point")), strict=True
                )
                left = is_left(row, list(terms), categorical=[1, 2])
                node = node + 1 if left else arrays["right"][first + node]
            total[i] += arrays["value"][first + node, 0]
    mean = total / len(model)
    return 2.0 ** (-mean / float(average_path_length(model.sample_size)))


def coded(X):
    """Codes of levels in the order of a model; what it does not know is missing."""
    codes = {"town": {"a": 0, "b": 1, "c": 2}, "kind": {"x": 0, "y": 1}}
    return np.column_stack([X["size"], *(X[name].map(own) for name, own in codes.items())])


def test_scores_are_those_of_the_definition():
    X = mixed()
    fitted = forest(n_estimators=6).fit(X)
    new = mixed(40, seed=1)
    new.loc[:5, "town"] = "never seen"
    for table in (X[:40], new):
        expected = brute_scores(fitted.model_, coded(table))
        assert np.allclose(-fitted.score_samples(table), expected, rtol=1e-12)


def test_an_unknown_level_is_a_missing_one_or_an_error():
    X = mixed()
    unknown, missing = X.assign(town="never seen"), X.assign(town=pd.Series([None] * len(X)))
    fitted = forest().fit(X)
    assert np.array_equal(fitted.score_samples(unknown), fitted.score_samples(missing))
    with pytest.raises(InvalidInput, match="never seen"):
        forest(unseen="error").fit(X).predict(unknown)


@pytest.mark.parametrize("level", [1, 2])
def test_a_row_of_a_rare_level_stands_out_whatever_the_unit_of_numbers(level):
    for unit in (1e-9, 1.0, 1e9):
        X = mixed().assign(size=lambda frame, unit=unit: frame["size"] * unit)
        X.loc[:2, "town"] = "rare"
        scores = forest(n_estimators=200, extension_level=level).fit(X).score_samples(X)
        assert scores[:3].mean() < scores[3:].mean() - 0.03


def test_neither_threads_nor_names_nor_the_order_of_declared_levels_change_a_bit():
    X = mixed()
    one = forest(n_jobs=1).fit(X)
    assert one.model_ == forest(n_jobs=3).fit(X).model_
    declared = X.assign(town=pd.Categorical(X["town"], ["zz", "c", "b", "a"]))
    assert one.model_ == forest().fit(declared).model_
    assert np.array_equal(one.score_samples(X), forest(n_jobs=3).fit(X).score_samples(declared))


def test_weights_are_repetitions_and_warm_start_is_one_fit():
    X, weights = mixed(60), np.random.default_rng(0).integers(0, 4, 60)
    weighted = forest(max_samples=32).fit(X, sample_weight=weights).score_samples(X)
    times = X.loc[np.repeat(X.index, weights)].reset_index(drop=True)
    assert np.array_equal(weighted, forest(max_samples=32).fit(times).score_samples(X))
    warm = forest(
        n_estimators=5, warm_start=True, max_features=2, extension_level=1, max_samples=32
    )
    warm.fit(X).set_params(n_estimators=9).fit(X)
    at_once = forest(n_estimators=9, max_features=2, extension_level=1, max_samples=32).fit(X)
    assert warm.model_ == at_once.model_


def test_tables_of_categories_alone_and_of_one_level_are_taken():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(TOWNS, 200), "b": ["only"] * 200, "c": [None] * 200})
    fitted = forest(extension_level=1).fit(X)
    assert np.isfinite(fitted.score_samples(X)).all()
    constant = forest(extension_level=1).fit(X[["b", "c"]])
    assert len(set(constant.score_samples(X[["b", "c"]]))) == 1


# Files


def test_files_have_the_fourth_version_and_others_do_not():
    X = mixed()
    data = to_bytes(forest().fit(X))
    assert sections.unpack(data).format_version == 4
    again = from_bytes(data)
    assert to_bytes(again) == data
    assert np.array_equal(again.score_samples(X), forest().fit(X).score_samples(X))
    for other in (forest(extension_level=0).fit(X), forest().fit(coded(X))):
        assert sections.unpack(to_bytes(other)).format_version == 1
    model = forest().fit(X).model_
    assert model_from_bytes(model.to_bytes()) == model


@pytest.mark.parametrize("version", [1, 2, 3, 5])
def test_no_other_version_holds_levels_on_planes(version):
    contents = sections.unpack(to_bytes(forest().fit(mixed())))
    forged = sections.pack(contents.meta, contents.arrays, version=version)
    with pytest.raises((InvalidFile, NewerFile), match="version"):
        from_bytes(forged)
    bare = sections.unpack(forest().fit(mixed()).model_.to_bytes())
    with pytest.raises((InvalidFile, InvalidModel, NewerFile), match=r"version|packed"):
        model_from_bytes(sections.pack(bare.meta, bare.arrays, version=version))


def test_the_fourth_version_holds_nothing_else():
    for fitted in (forest().fit(coded(mixed())), spinney.DecisionTreeRegressor().fit([[0.0]], [1])):
        contents = sections.unpack(to_bytes(fitted))
        with pytest.raises(InvalidFile, match="planes that cut categories"):
            from_bytes(sections.pack(contents.meta, contents.arrays, version=4))


def test_the_planes_of_a_rotation_forest_cut_no_categories():
    model = forest().fit(mixed()).model_
    assert isinstance(model, IsolationPlanes)
    target = spinney.DecisionTreeRegressor().fit([[0.0]], [1.0]).model_.target
    with pytest.raises(InvalidModel, match="no categories"):
        PlaneForest(model.schema, target, model.trees.arrays, policy=model.policy)
