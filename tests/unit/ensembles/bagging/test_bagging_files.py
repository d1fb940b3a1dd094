"""Files of bagged trees: what an estimator knows beside its model is checked when it comes back."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris

from spinney import BaggingRegressor, IteratedBaggingRegressor
from spinney.errors import InvalidModel

IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda known: known.meta.pop("features"),
        lambda known: known.meta.update(features=[0, 0]),
        lambda known: known.meta.update(features=[5, 0]),
        lambda known: known.meta.update(features=[2, 2]),
        lambda known: known.meta.update(features=[2.0, 0]),
        lambda known: known.meta.update(features="ab"),
        lambda known: known.meta.update(more=1),
        lambda known: known.meta.pop("n_given"),
        lambda known: known.meta["bags"].update(sampler="dice"),
        lambda known: known.meta["bags"].update(n_draws=2**41),
        lambda known: known.meta.pop("oob_score"),
        lambda known: known.arrays.pop("oob_curve"),
        lambda known: known.arrays.update(oob_curve=np.zeros(3)),
        lambda known: known.arrays.update(places=np.zeros(150, "<i4")),
    ],
)
@pytest.mark.parametrize("aggregation", ["mean", "median"])
def test_what_bags_know_is_not_believed(change, aggregation):
    bag = BaggingRegressor(
        n_estimators=30, max_features=3, oob_score=True, random_state=0, aggregation=aggregation
    ).fit(IRIS, SPECIES)
    meta, arrays = copy.deepcopy(bag._attributes())
    bag._adopt_attributes(meta, arrays)  # as they are they fit
    change(SimpleNamespace(meta=meta, arrays=arrays))
    with pytest.raises(InvalidModel):
        bag._adopt_attributes(meta, arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda known: known.meta.update(oob_score=1),
        lambda known: known.meta.update(more=1),
        lambda known: known.arrays.pop("stage_losses"),
        lambda known: known.arrays.update(stage_losses=np.zeros(0)),
        lambda known: known.arrays.update(stage_losses=np.r_[np.ones(96), 0.0]),
        lambda known: known.arrays.update(oob_prediction=np.zeros((3, 2))),
        lambda known: known.arrays.update(more=np.zeros(3)),
    ],
)
def test_what_iterated_bags_know_is_not_believed(change):
    bags = IteratedBaggingRegressor(n_estimators=10, random_state=0).fit(IRIS, SPECIES)
    meta, arrays = copy.deepcopy(bags._attributes())
    bags._adopt_attributes(meta, arrays)
    change(SimpleNamespace(meta=meta, arrays=arrays))
    with pytest.raises(InvalidModel):
        bags._adopt_attributes(meta, arrays)
