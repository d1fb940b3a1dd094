"""Calibrations in files: everything is checked before it is used."""

import numpy as np
import pytest

from spinney import GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from spinney.errors import InvalidFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] + RNG.normal(size=200)
LABELS = np.digitize(Y, [-0.5, 0.5])


def rewritten(model, change):
    """The file of a model with something in it changed, and checksums that fit."""
    contents = sections.unpack(to_bytes(model))
    meta, arrays = contents.meta, {name: array.copy() for name, array in contents.arrays.items()}
    change(meta["attributes"], arrays)
    return sections.pack(meta, arrays, version=contents.format_version)


SCORES = "attributes/calibration/scores"


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, _: meta.pop("calibration"),
        lambda meta, _: meta.update(calibration=3),
        lambda meta, _: meta["calibration"].update(source="thin air"),
        lambda meta, _: meta["calibration"].update(method="aps"),
        lambda meta, _: meta["calibration"].update(method=[]),
        lambda meta, _: meta["calibration"].update(numbers=[0.0]),
        lambda meta, _: meta["calibration"].update(numbers=["a", "b"]),
        lambda meta, _: meta["calibration"].update(more=1),
        lambda _, arrays: arrays.pop(SCORES),
        lambda _, arrays: arrays.update({SCORES: arrays[SCORES].astype("<f4")}),
        lambda _, arrays: arrays.update({SCORES: arrays[SCORES].reshape(1, -1)}),
        lambda _, arrays: arrays.update({SCORES: arrays[SCORES] * np.nan}),
        lambda _, arrays: arrays.update({SCORES: arrays[SCORES] + np.inf}),
        lambda _, arrays: arrays.update({SCORES: arrays[SCORES][:-1]}),
        lambda _, arrays: arrays.update({SCORES: arrays[SCORES][:0]}),
        lambda _, arrays: arrays.update({"attributes/calibration/odd": arrays[SCORES]}),
        lambda _, arrays: arrays.update({"attributes/calibration/weights": -arrays[SCORES] - 1}),
        lambda _, arrays: arrays.update({"attributes/calibration/codes": np.zeros(200, "<i4")}),
    ],
)
def test_file_with_a_damaged_calibration_is_refused(change):
    forest = RandomForestRegressor(10, random_state=0).fit(X, Y)
    forest.calibrate_out_of_bag(X, Y)
    assert from_bytes(rewritten(forest, lambda *_: None)).calibration_ is not None
    with pytest.raises(InvalidFile):
        from_bytes(rewritten(forest, change))


def test_calibration_of_another_estimator_is_refused():
    votes = RandomForestClassifier(30, random_state=0).fit(X, LABELS)
    votes.calibrate_out_of_bag(X, LABELS, by_class=True)
    codes = "attributes/calibration/codes"
    with pytest.raises(InvalidFile):
        from_bytes(rewritten(votes, lambda _, arrays: arrays.update({codes: arrays[codes] + 3})))
    boosted = GradientBoostingRegressor(max_iter=2).fit(X, Y).calibrate(X, Y)
    with pytest.raises(InvalidFile):
        from_bytes(
            rewritten(boosted, lambda meta, _: meta["calibration"].update(source="out_of_bag"))
        )
