"""Selected committees in files: what comes back is what was saved; what cannot be is refused."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.attacks.model_kinds import classes, frame, target

import spinney
from spinney.errors import CannotSave, InvalidFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections

TABLE, NUMBERS = frame(), target()
THREE = classes(np.array(["a", "b", "c"], object))
CLASSES = [
    ("tree", spinney.DecisionTreeClassifier(max_depth=3)),
    ("stump", spinney.DecisionTreeClassifier(max_depth=1)),
    ("forest", spinney.RandomForestClassifier(4, random_state=0, max_depth=4)),
]
VALUES = [
    ("tree", spinney.DecisionTreeRegressor(max_depth=3)),
    ("boosting", spinney.GradientBoostingRegressor(max_iter=4)),
]


def fitted(name, **changes):
    is_classes = name.endswith("Classifier")
    given = {"estimators": CLASSES if is_classes else VALUES, "random_state": 0, "n_steps": 9}
    model = getattr(spinney, name)(**{**given, **changes})
    return model.fit(TABLE, THREE if is_classes else NUMBERS)


@pytest.mark.parametrize("name", ["EnsembleSelectionClassifier", "EnsembleSelectionRegressor"])
@pytest.mark.parametrize("changes", [{}, {"cv": 0.4, "n_bags": 3}, {"estimators": None}])
def test_what_is_read_is_what_was_written(name, changes):
    if changes == {"estimators": None}:
        changes = {**changes, "n_steps": 2}
    model = fitted(name, **changes)
    data = to_bytes(model)
    again = from_bytes(data)
    assert to_bytes(again) == data
    assert again.predict(TABLE).tolist() == model.predict(TABLE).tolist()
    if hasattr(model, "predict_proba"):
        assert again.predict_proba(TABLE).tobytes() == model.predict_proba(TABLE).tobytes()
        assert again.classes_.tolist() == model.classes_.tolist()
    assert str(again.library_) == str(model.library_)
    assert str(again.selection_path_) == str(model.selection_path_)
    assert list(again.named_estimators_) == list(model.named_estimators_)
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()


@pytest.mark.parametrize("cv", [2, 0.4])
def test_threads_do_not_change_the_file(cv):
    one, two = (fitted("EnsembleSelectionRegressor", cv=cv, n_jobs=n) for n in (1, 2))
    assert to_bytes(one.set_params(n_jobs=None)) == to_bytes(two.set_params(n_jobs=None))
    kept = [("tree", spinney.DecisionTreeRegressor(n_jobs=2))]
    own = fitted("EnsembleSelectionRegressor", cv=cv, n_jobs=1, estimators=kept)
    assert own.estimators_[0].n_jobs == 2


def test_a_calibration_goes_with_it():
    model = fitted("EnsembleSelectionRegressor").calibrate(TABLE, NUMBERS)
    again = from_bytes(to_bytes(model))
    assert str(again.predict_interval(TABLE)) == str(model.predict_interval(TABLE))


def test_members_that_are_not_ours_are_named():
    members = [("bayes", GaussianNB())]
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = spinney.EnsembleSelectionClassifier(members, n_steps=2).fit(X, X[:, 0] > 0)
    with pytest.raises(CannotSave, match="estimators is of class GaussianNB"):
        to_bytes(model)
    with pytest.raises(CannotSave, match="is not fitted yet"):
        to_bytes(spinney.EnsembleSelectionClassifier())


def changed(data, change):
    """The file with something else in it, its checksums right."""
    contents = sections.unpack(data)
    meta, arrays = dict(contents.meta), dict(contents.arrays)
    known = dict(meta["attributes"])
    change(meta, known, arrays)
    return sections.pack({**meta, "attributes": known}, arrays, version=3)


def put(name, value):
    return lambda _meta, _known, arrays: arrays.__setitem__(f"attributes/{name}", value)


DAMAGES = {
    "a member less": lambda meta, _k, arrays: (
        meta["parts"].pop(),
        [arrays.pop(key) for key in list(arrays) if key.startswith("parts/1/")],
    ),
    "no library": lambda _m, known, _a: known.pop("library"),
    "a name twice": lambda _m, known, _a: known.__setitem__("library", ["tree"] * 3),
    "a name less": lambda _m, known, _a: known.__setitem__("library", ["tree", "forest"]),
    "names that are numbers": lambda _m, known, _a: known.__setitem__("library", [1, 2, 3]),
    "something more": lambda _m, known, _a: known.__setitem__("more", 1),
    "weights that do not add up": put("library/weights", np.array([0.5, 0.0, 0.4])),
    "a negative weight": put("library/weights", np.array([1.5, 0.0, -0.5])),
    "weights of others": put("library/weights", np.array([0.0, 1.0, 0.0])),
    "weights that are no numbers": put("library/weights", np.array([np.nan, 0.0, 1.0])),
    "a long score": put("library/committee_score", np.zeros(2)),
    "steps of nobody": put("path/members", np.full(9, 7, np.int32)),
    "few steps": put("path/steps", np.arange(3)),
    "steps neither kept nor not": put("path/kept", np.full(9, 2, np.uint8)),
    "a stray array": put("path/other", np.zeros(1)),
    "no schema": lambda _m, known, _a: known.__setitem__("schema", None),
    "another target": lambda _m, known, _a: known.__setitem__(
        "target", {**known["target"], "n_outputs": 2}
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_cannot_be_true_is_refused(damage):
    model = fitted("EnsembleSelectionClassifier", keep=0.7)
    assert len(model.estimators_) == 2
    data = to_bytes(model)
    assert from_bytes(changed(data, lambda *_: None))
    with pytest.raises(InvalidFile):
        from_bytes(changed(data, DAMAGES[damage]))


def test_members_of_another_kind_are_refused():
    model, other = fitted("EnsembleSelectionClassifier"), fitted("EnsembleSelectionRegressor")
    contents = sections.unpack(to_bytes(other))
    theirs = sections.unpack(to_bytes(model))
    meta = {**theirs.meta, "parts": contents.meta["parts"]}
    arrays = {k: a for k, a in theirs.arrays.items() if k.startswith("attributes/")}
    arrays |= {k: a for k, a in contents.arrays.items() if k.startswith("parts/")}
    with pytest.raises(InvalidFile):
        from_bytes(sections.pack(meta, arrays, version=3))
