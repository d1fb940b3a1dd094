"""Forests through files and pickles: what they know of their rows comes along, and is checked."""

import pickle

import numpy as np
import pytest

from spinney import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from spinney.errors import InvalidFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X[:, 0] > 0).astype(int)
WEIGHTS = RNG.integers(0, 3, 90)
FORESTS = {
    "plain": lambda: ExtraTreesClassifier(4, random_state=0).fit(X, Y),
    "drawn": lambda: RandomForestClassifier(4, random_state=0).fit(X, Y, WEIGHTS),
    "scored": lambda: RandomForestClassifier(30, random_state=0, oob_score=True).fit(X, Y),
    "numbers": lambda: RandomForestRegressor(30, random_state=0, oob_score=True).fit(X, X[:, 0]),
    "outputs": lambda: RandomForestRegressor(30, random_state=0, oob_score=True).fit(X, X),
    "groups": lambda: RandomForestClassifier(4, random_state=0, sampler="group").fit(
        X, Y, groups=np.arange(90) // 9
    ),
    "classes": lambda: RandomForestClassifier(
        4, random_state=0, class_weight="balanced_subsample"
    ).fit(X, Y),
    "blocks": lambda: RandomForestClassifier(
        4, random_state=0, sampler="block", voting="hard", block_length=5
    ).fit(X, Y, np.linspace(1, 2, 90)),
}


@pytest.mark.parametrize(
    "carry",
    [lambda f: pickle.loads(pickle.dumps(f)), lambda f: from_bytes(to_bytes(f))],
    ids=["pickle", "file"],
)
@pytest.mark.parametrize("name", FORESTS)
def test_forest_comes_back_with_all_it_knows(name, carry):
    forest = FORESTS[name]()
    again = carry(forest)
    assert again.model_ == forest.model_
    assert np.array_equal(again.predict(X), forest.predict(X))
    for one, two in zip(again.estimators_samples_, forest.estimators_samples_, strict=True):
        assert np.array_equal(one, two)
    for known in ("oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_"):
        assert hasattr(again, known) == hasattr(forest, known)
        if hasattr(forest, known):
            assert np.array_equal(getattr(again, known), getattr(forest, known), equal_nan=True)
    assert to_bytes(again) == to_bytes(forest)


def test_loaded_forest_goes_on_growing():
    whole = RandomForestClassifier(9, random_state=4).fit(X, Y)
    part = RandomForestClassifier(4, random_state=4, warm_start=True).fit(X, Y)
    again = from_bytes(to_bytes(part)).set_params(n_estimators=9).fit(X, Y)
    assert again.model_ == whole.model_


def changed(data, change):
    contents = sections.unpack(data)
    meta, arrays = dict(contents.meta), dict(contents.arrays)
    meta["attributes"] = dict(meta["attributes"], bags=dict(meta["attributes"]["bags"]))
    change(meta["attributes"], arrays)
    return sections.pack(meta, arrays)


def put(part, name, value):
    def change(attributes, arrays):
        where = {"attributes": attributes, "bags": attributes["bags"], "arrays": arrays}[part]
        where[name] = value

    return change


def drop(part, name):
    def change(attributes, arrays):
        del {"attributes": attributes, "bags": attributes["bags"], "arrays": arrays}[part][name]

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("bags", "n_rows", 91),
        put("bags", "n_draws", 10**9),
        put("bags", "seed", -1),
        put("bags", "sampler", "group bootstrap"),
        put("attributes", "n_given", 89),
        put("attributes", "n_given", 2**40),
        put("attributes", "more", 1),
        put("attributes", "oob_score", "high"),
        put("arrays", "attributes/places", np.zeros(90, np.int32)),
        put("arrays", "attributes/places", np.arange(1, 91, dtype=np.int32)),
        put("arrays", "attributes/places", np.arange(90.0)),
        put("arrays", "attributes/oob_curve", np.zeros(3)),
        put("arrays", "attributes/oob_answers", np.zeros((90, 3))),
        put("arrays", "attributes/other", np.zeros(3)),
        drop("bags", "n_rows"),
        drop("attributes", "n_given"),
        drop("attributes", "bags"),
        drop("attributes", "oob_score"),
        drop("arrays", "attributes/oob_curve"),
        drop("arrays", "attributes/places"),
    ],
)
def test_files_that_contradict_themselves_are_refused(change):
    data = to_bytes(FORESTS["scored"]())
    with pytest.raises(InvalidFile):
        from_bytes(changed(data, change))


def test_plain_forest_cannot_claim_more_rows_than_its_roots_have():
    data = to_bytes(FORESTS["plain"]())

    def more(attributes, _):
        attributes["bags"]["n_rows"] = attributes["n_given"] = 2**30

    with pytest.raises(InvalidFile, match="missing or unknown"):
        from_bytes(changed(data, more))
