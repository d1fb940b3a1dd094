"""Files of bagged trees: what an estimator knows beside its model is checked when it comes back."""

import copy

import numpy as np
import pytest
from sklearn.datasets import load_iris

from spinney import BaggingRegressor, IteratedBaggingRegressor
from spinney.errors import InvalidModel

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, arrays: meta.pop("features"),
        lambda meta, arrays: meta.update(features=[0, 0]),
        lambda meta, arrays: meta.update(features=[5, 0]),
        lambda meta, arrays: meta.update(features=[2, 2]),
        lambda meta, arrays: meta.update(features=[2.0, 0]),
        lambda meta, arrays: meta.update(features="ab"),
        lambda meta, arrays: meta.update(more=1),
        lambda meta, arrays: meta.pop("n_given"),
        lambda meta, arrays: meta["bags"].update(sampler="dice"),
        lambda meta, arrays: meta["bags"].update(n_draws=2**41),
        lambda meta, arrays: meta.pop("oob_score"),
        lambda meta, arrays: arrays.pop("oob_curve"),
        lambda meta, arrays: arrays.update(oob_curve=np.zeros(3)),
        lambda meta, arrays: arrays.update(places=np.zeros(150, "<i4")),
    ],
)
@pytest.mark.parametrize("aggregation", ["mean", "median"])
def test_what_bags_know_is_not_believed(change, aggregation):
    bag = BaggingRegressor(
        n_estimators=30, max_features=3, oob_score=True, random_state=0, aggregation=aggregation
    ).fit(IRIS, SPECIES)
    meta, arrays = copy.deepcopy(bag._attributes())
    bag._adopt_attributes(meta, arrays)  # as they are they fit
    change(meta, arrays)
    with pytest.raises(InvalidModel):
        bag._adopt_attributes(meta, arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, arrays: meta.update(oob_score=1),
        lambda meta, arrays: meta.update(more=1),
        lambda meta, arrays: arrays.pop("stage_losses"),
        lambda meta, arrays: arrays.update(stage_losses=np.zeros(0)),
        lambda meta, arrays: arrays.update(stage_losses=np.r_[np.ones(96), 0.0]),
        lambda meta, arrays: arrays.update(oob_prediction=np.zeros((3, 2))),
        lambda meta, arrays: arrays.update(more=np.zeros(3)),
    ],
)
def test_what_iterated_bags_know_is_not_believed(change):
    bags = IteratedBaggingRegressor(n_estimators=10, random_state=0).fit(IRIS, SPECIES)
    meta, arrays = copy.deepcopy(bags._attributes())
    bags._adopt_attributes(meta, arrays)
    change(meta, arrays)
    with pytest.raises(InvalidModel):
        bags._adopt_attributes(meta, arrays)
