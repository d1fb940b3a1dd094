"""Forests of targets and weights whose squares are beyond all floats."""

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

from spinney import (
    BaggingRegressor,
    ExtraTreesRegressor,
    QuantileForestRegressor,
    RandomForestRegressor,
    RotationForestRegressor,
)
from spinney.errors import InvalidInput
from spinney.io.save_load import from_bytes, to_bytes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = np.abs(X[:, 0] + RNG.normal(size=200))
FAR = [2.0**530, 2.0**-530]
KINDS = [
    RandomForestRegressor,
    ExtraTreesRegressor,
    QuantileForestRegressor,
    RotationForestRegressor,
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)


@every_kind
@pytest.mark.parametrize("far", FAR)
def test_a_power_of_two_changes_no_split(kind, far):
    forests = [kind(5, bootstrap=False, random_state=0).fit(X, Y * scale) for scale in (1.0, far)]
    near, distant = (forest.predict(X) for forest in forests)
    assert np.array_equal(near * far, distant)
    assert from_bytes(to_bytes(forests[1])).model_ == forests[1].model_


@every_kind
@pytest.mark.parametrize("far", [1e200, 1e-200])
def test_so_do_weights(kind, far):
    settings = {"bootstrap": False, "random_state": 0, "min_samples_leaf": 0.02}
    near = kind(3, **settings).fit(X, Y, np.full(200, 1.0))
    distant = kind(3, **settings).fit(X, Y, np.full(200, far))
    assert distant.predict(X) == pytest.approx(near.predict(X))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("far", FAR)
def test_scores_and_standard_errors_are_numbers(criterion, far):
    forest = RandomForestRegressor(60, criterion=criterion, random_state=0, oob_score=True)
    forest.fit(X, Y)
    usual, (_, error) = forest.oob_score_, forest.predict(X, return_std=True)
    forest.fit(X, Y * far)
    assert forest.oob_score_ == pytest.approx(usual, abs=0.1)
    assert np.nanmax(forest.oob_prediction_ / far) <= Y.max()
    _, distant = forest.predict(X, return_std=True)
    assert np.mean(distant / far) == pytest.approx(np.mean(error), rel=0.2)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestRegressor(),
        ExtraTreesRegressor(),
        QuantileForestRegressor(),
        RotationForestRegressor(20),
        BaggingRegressor(),
        BaggingRegressor(KNeighborsRegressor()),
    ],
    ids=str,
)
def test_means_are_numbers_or_refused(ensemble):
    with pytest.raises(InvalidInput, match=r"magnitude in y is 1e\+307, .* adds up .* Divide y"):
        ensemble.fit(X, np.r_[-1e307, Y[1:]])
    large = np.linspace(-1e300, 1e300, 200)
    assert np.isfinite(ensemble.fit(X, large).predict(X)).all()


@every_kind
def test_the_smallest_floats_are_learnt(kind):
    said = kind(20, random_state=0).fit(X, Y * 1e-310).predict(X)
    assert np.corrcoef(said * 1e300, Y)[0, 1] > 0.7


@pytest.mark.parametrize("scale", [2.0**-560, 2.0**600])
def test_outputs_far_from_each_other_are_judged_each_by_itself(scale):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(120, 3))
    near = table[:, 1] + 0.5 * rng.normal(size=120)
    far = scale * (table[:, 0] + 0.5 * rng.normal(size=120))
    for outputs in (np.c_[near, far], np.c_[far, near]):
        bag = BaggingRegressor(KNeighborsRegressor(), 20, oob_score=True, random_state=0)
        bag.fit(table, outputs)
        known = ~np.isnan(bag.oob_prediction_[:, 0])
        said, right = bag.oob_prediction_[known], outputs[known]
        powers = np.where(np.abs(right).max(axis=0) == np.abs(near[known]).max(), 1.0, scale)
        assert bag.oob_score_ == pytest.approx(r2_score(right / powers, said / powers))
        forest = RandomForestRegressor(20, random_state=0).fit(table, outputs)
        _, std = forest.predict(table[:5], return_std=True)
        assert (
            (std > 0).any(axis=0).all()
        )  # the squares of the small ones are no numbers, in a common unit
