"""Saving and loading: everything that was fitted comes back, and nothing else can come."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spinney
from spinney.errors import CannotSave, InvalidFile, InvalidModel, NewerFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import Model, sections
from spinney.model.state import model_from_bytes

X = np.array([[0.0, 5.0], [1.0, np.nan], [2.0, 3.0], [3.0, 1.0]])
LABELS = np.array(["no", "no", "yes", "yes"])


def classifier(**parameters):
    return spinney.DecisionTreeClassifier(**parameters).fit(X, LABELS)


def test_file_brings_back_class_parameters_model_and_attributes(tmp_path):
    tree = classifier(max_depth=2, class_weight={"no": 1.0, "yes": 2}, random_state=3)
    spinney.save(tree, tmp_path / "tree.spn")
    again = spinney.load(tmp_path / "tree.spn")
    assert type(again) is spinney.DecisionTreeClassifier
    assert again.get_params() == tree.get_params()
    assert again.model_ == tree.model_
    assert again.classes_.tolist() == ["no", "yes"]
    assert again.classes_.dtype == tree.classes_.dtype
    assert again.n_features_in_ == 2
    assert np.array_equal(again.predict_proba(X), tree.predict_proba(X))


def test_loaded_estimator_can_be_fitted_again(tmp_path):
    spinney.save(classifier(max_depth=1), tmp_path / "tree.spn")
    again = spinney.load(tmp_path / "tree.spn").fit(X, [0, 1, 1, 0])
    assert again.classes_.tolist() == [0, 1]
    assert again.get_depth() == 1


def test_names_categories_and_policies_come_back(tmp_path):
    frame = pd.DataFrame({"town": ["a", "b", "c", "a"], "when": pd.date_range("2024", periods=4)})
    tree = spinney.DecisionTreeRegressor(unseen="error", extra_columns="ignore")
    spinney.save(tree.fit(frame, [1.0, 2.0, 3.0, 4.0]), tmp_path / "tree.spn")
    again = spinney.load(tmp_path / "tree.spn")
    assert again.feature_names_in_.tolist() == ["town", "when"]
    more = frame.assign(other=1)[["other", "when", "town"]]
    assert np.array_equal(again.predict(more), tree.predict(frame))
    with pytest.raises(ValueError, match="not seen at fit: 'zzz'"):
        again.predict(frame.assign(town="zzz"))


@pytest.mark.parametrize("path_type", [str, Path])
def test_paths_may_be_text_or_path_objects(path_type, tmp_path):
    path = path_type(tmp_path / "tree.spn")
    spinney.save(classifier(), path)
    assert spinney.load(path).model_ == classifier().model_


def test_same_estimator_gives_the_same_bytes():
    assert to_bytes(classifier()) == to_bytes(classifier())
    assert to_bytes(from_bytes(to_bytes(classifier()))) == to_bytes(classifier())


def test_saving_replaces_an_older_file(tmp_path):
    path = tmp_path / "tree.spn"
    spinney.save(classifier(max_depth=1), path)
    spinney.save(classifier(max_depth=2), path)
    assert spinney.load(path).max_depth == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["tree.spn"]


def test_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "tree.spn"
    spinney.save(classifier(), path)
    before = path.read_bytes()
    with pytest.raises(CannotSave):
        spinney.save(classifier().set_params(class_weight=object()), path)
    assert path.read_bytes() == before


def test_file_is_readable_without_python_objects():
    contents = sections.unpack(to_bytes(classifier(max_depth=2)))
    assert contents.meta["estimator"] == "DecisionTreeClassifier"
    assert contents.meta["library"] == spinney.__version__
    assert contents.meta["parameters"]["max_depth"] == 2
    assert all(name.startswith("model/") for name in contents.arrays)
    assert all(array.dtype.kind in "iuf" for array in contents.arrays.values())


def repacked(change):
    """Change the parts of a good file and pack them with right checksums."""
    contents = sections.unpack(to_bytes(classifier()))
    meta, arrays = contents.meta, dict(contents.arrays)
    change(meta, arrays)
    return sections.pack(meta, arrays)


def test_section_that_belongs_to_nothing_is_refused():
    data = repacked(lambda _, arrays: arrays.update({"stray": np.zeros(2)}))
    with pytest.raises(InvalidFile, match="stray"):
        from_bytes(data)


def test_array_that_belongs_to_no_part_of_the_model_is_refused():
    """Two files of one model must not differ, or a fingerprint would be no identity."""
    data = repacked(lambda _, arrays: arrays.update({"model/other/stray": np.zeros(2)}))
    with pytest.raises(InvalidFile, match="stray"):
        from_bytes(data)


def test_unknown_key_inside_the_schema_is_refused():
    data = repacked(lambda meta, _: meta["model"]["schema"].update(comment="hidden"))
    with pytest.raises(InvalidFile):
        from_bytes(data)


def test_unknown_key_inside_the_target_is_refused():
    data = repacked(lambda meta, _: meta["model"]["target"].update(comment="hidden"))
    with pytest.raises(InvalidFile):
        from_bytes(data)


@pytest.mark.parametrize("part", ["estimator", "library", "parameters", "model"])
def test_missing_part_is_refused(part):
    data = repacked(lambda meta, _: meta.pop(part))
    with pytest.raises(InvalidFile, match="not a saved estimator"):
        from_bytes(data)


def test_missing_parameters_get_their_defaults():
    """A later version may know more parameters than the one that wrote the file."""
    data = repacked(lambda meta, _: meta["parameters"].pop("max_bins"))
    assert from_bytes(data).max_bins == 255


def test_estimator_of_the_wrong_task_is_refused():
    """A regressor with the model of a classifier would predict shares as if they were numbers."""

    def change(meta, _):
        meta["estimator"] = "DecisionTreeRegressor"
        del meta["parameters"]["class_weight"]
        meta["parameters"]["criterion"] = "squared_error"

    with pytest.raises(InvalidFile):
        from_bytes(repacked(change))


def test_committee_in_the_file_of_a_tree_is_refused_or_works():
    from spinney.model import Committee, Policy

    inner = classifier().model_
    meta, arrays = Committee([inner], np.ones(1), combine="mean", policy=Policy()).to_state()

    def change(whole, whole_arrays):
        whole["model"] = meta
        whole_arrays.clear()
        whole_arrays.update({f"model/{name}": array for name, array in arrays.items()})

    try:
        again = from_bytes(repacked(change))
    except InvalidFile:
        return
    assert again.predict(X).tolist() == classifier().predict(X).tolist()
    assert again.get_depth() == classifier().get_depth()


def test_model_alone_goes_through_its_own_bytes():
    model = classifier().model_
    again = model_from_bytes(model.to_bytes())
    assert isinstance(again, Model)
    assert again == model
    assert hash(again) == hash(model)
    assert again.fingerprint == model.fingerprint


def test_model_alone_is_no_saved_estimator_and_the_other_way_round():
    with pytest.raises(InvalidFile):
        from_bytes(classifier().model_.to_bytes())
    with pytest.raises((InvalidModel, InvalidFile)):
        model_from_bytes(to_bytes(classifier()))


def test_newer_file_has_an_error_of_its_own(tmp_path):
    path = tmp_path / "new.spn"
    data = bytearray(to_bytes(classifier()))
    data[8] = 200
    path.write_bytes(bytes(data))
    with pytest.raises(NewerFile, match="format version 200"):
        spinney.load(path)
