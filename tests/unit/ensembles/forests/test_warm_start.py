"""Forests that go on: only with the rows, and the draws, of the trees there are."""

import numpy as np
import pytest

from spinney import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter, SpinneyError
from spinney.io.save_load import from_bytes, to_bytes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] > 0).astype(int)
GROUPS = np.arange(200) // 10
WEIGHTS = RNG.integers(1, 3, 200)


def grown(**parameters):
    given = {"n_estimators": 10, "random_state": 0, "warm_start": True} | parameters
    return RandomForestClassifier(**given)


@pytest.mark.parametrize(
    ("before", "after", "match"),
    [
        ({}, {"max_samples": 0.5}, "drew 200 rows each; .* would be 100"),
        ({"sampler": "subsample"}, {"max_samples": 50}, "drew 126 rows each; .* would be 50"),
        ({"sampler": "block"}, {"block_length": 3}, "blocks of 6 rows, not of 3"),
        ({}, {"class_weight": {0: 1, 1: 2}}, "other weights: .*there were none"),
        ({"class_weight": {0: 1, 1: 2}}, {"class_weight": {0: 1, 1: 3}}, "from 2 to 3"),
        ({}, {"class_weight": "balanced_subsample"}, "class weights: .*there were none"),
        ({"class_weight": "balanced_subsample"}, {"class_weight": None}, "there are none now"),
    ],
)
def test_other_draws_are_refused(before, after, match):
    forest = grown(**before).fit(X, Y)
    old = to_bytes(forest)
    with pytest.raises(SpinneyError, match=match) as refused:
        forest.set_params(n_estimators=20, **after).fit(X, Y)
    assert "warm_start=False" in str(refused.value)
    assert isinstance(refused.value, InvalidInput | InvalidParameter)
    forest.set_params(n_estimators=10, **{name: before.get(name) for name in after})
    assert to_bytes(forest) == old


def test_other_weights_groups_and_labels_are_refused():
    forest = grown().fit(X, Y, np.ones(200) * 0.5)
    with pytest.raises(InvalidInput, match=r"other weights: .* for 1 rows"):
        forest.set_params(n_estimators=20).fit(X, Y, np.r_[0.7, np.ones(199) * 0.5])
    forest = grown(sampler="group").fit(X, Y, groups=GROUPS)
    with pytest.raises(InvalidInput, match="other groups"):
        forest.set_params(n_estimators=20).fit(X, Y, groups=np.arange(200) % 20)
    forest = grown().fit(X, Y)
    with pytest.raises(InvalidInput, match="X, y"):
        forest.set_params(n_estimators=20).fit(X, np.r_[1 - Y[:3], Y[3:]])


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesClassifier])
def test_other_rows_of_the_same_number_are_refused(kind):
    forest = kind(5, warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(InvalidInput, match="X, y"):
        forest.set_params(n_estimators=9).fit(X[:, ::-1], Y)


@pytest.mark.parametrize("kind", [ExtraTreesRegressor, RandomForestRegressor])
@pytest.mark.parametrize("sampler", [None, "bootstrap", "block", "subsample"])
def test_another_target_is_refused(kind, sampler):
    forest = kind(5, warm_start=True, random_state=0, sampler=sampler, bootstrap=False)
    forest = from_bytes(to_bytes(forest.fit(X, X[:, 0]))).set_params(n_estimators=9)
    for other in (-X[:, 0], np.r_[X[0, 0] + 1e-9, X[1:, 0]]):
        with pytest.raises(InvalidInput, match="X, y, their weights"):
            forest.fit(X, other)
    forest.fit(X, X[:, 0])


def test_other_rows_that_fall_into_the_same_leaves_are_refused():
    forest = grown(bootstrap=False, max_depth=2).fit(X, Y)
    for other_X, other_Y, weights in ((X, 1 - Y, None), (X * 1.0001, Y, None), (X, Y, WEIGHTS)):
        with pytest.raises(InvalidInput, match="X, y, their weights"):
            forest.set_params(n_estimators=12).fit(other_X, other_Y, weights)


def test_rows_of_many_columns_are_told_by_their_targets():
    wide = np.tile(X, (1, 300))
    forest = grown(n_estimators=2, bootstrap=False).fit(wide, Y).set_params(n_estimators=3)
    with pytest.raises(InvalidInput, match="X, y, their weights"):
        forest.fit(wide, 1 - Y)
    forest.fit(wide, Y)


def test_files_that_do_not_tell_the_rows_apart_go_on():
    forest = grown(bootstrap=False).fit(X, Y)
    meta, arrays = forest._known.to_state()
    known = type(forest._known)
    old = {name: value for name, value in meta.items() if name != "rows"}
    forest._known = known.from_state(old, arrays, forest.model_)
    forest.set_params(n_estimators=12).fit(X, Y)
    assert forest.model_ == grown(n_estimators=12, bootstrap=False).fit(X, Y).model_
    for wrong in (1, "", "x" * 32, "0" * 31):
        with pytest.raises(InvalidModel, match="missing or unknown"):
            known.from_state(meta | {"rows": wrong}, arrays, forest.model_)


@pytest.mark.parametrize("sampler", [None, "bootstrap", "subsample", "bayesian", "block"])
def test_weights_of_one_are_no_weights(sampler):
    forest = grown(sampler=sampler, bootstrap=False).fit(X, Y)
    forest.set_params(n_estimators=12).fit(X, Y, np.ones(200))
    whole = grown(n_estimators=12, sampler=sampler, bootstrap=False).fit(X, Y)
    assert forest.model_ == whole.model_


def test_the_same_rows_in_another_order_go_on_and_the_file_opens():
    order = RNG.permutation(200)
    forest = grown(n_estimators=60, oob_score=True).fit(X, Y, WEIGHTS)
    forest.set_params(n_estimators=80).fit(X[order], Y[order], WEIGHTS[order])
    whole = grown(n_estimators=80, oob_score=True).fit(X[order], Y[order], WEIGHTS[order])
    assert forest.model_ == whole.model_
    assert forest.oob_curve_.tolist() == whole.oob_curve_.tolist()
    assert from_bytes(to_bytes(forest)).model_ == whole.model_
