"""Iterated bagging: by definition, on what it was made for, and where it stops."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import spinney
from spinney import BaggingRegressor, DecisionTreeRegressor, IteratedBaggingRegressor
from spinney.datasets import make_friedman
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import TreeForest

DATA = make_friedman(1, 200, random_state=0)
TEST = make_friedman(1, 1000, random_state=1)
SMALL = DecisionTreeRegressor(max_leaf_nodes=5)


@pytest.mark.parametrize("base", [SMALL, LinearRegression()], ids=str)
def test_by_definition(base):
    bags = IteratedBaggingRegressor(base, 20, random_state=0, max_stages=4).fit(DATA.X, DATA.y)
    left, said, losses = DATA.y.copy(), np.zeros(len(TEST.y)), []
    sums = []
    for number in range(len(bags.stage_losses_)):
        stage = bags._stage(0).set_params(
            random_state=spinney.randomness.random_bits(0, spinney.randomness.Stream.ROWS, number)
        )
        weights = np.ones(200)
        stage.fit(DATA.X, left, weights)
        left = left - np.where(
            np.isnan(stage.oob_prediction_), stage.predict(DATA.X), stage.oob_prediction_
        )
        losses.append(np.mean(left**2))
        said = said + stage.predict(TEST.X)
        sums.append(said)
    assert bags.stage_losses_ == pytest.approx(losses)
    assert bags.n_stages_ == np.argmin(losses) + 1
    assert bags.predict(TEST.X) == pytest.approx(sums[bags.n_stages_ - 1])
    staged = list(bags.staged_predict(TEST.X))
    assert len(staged) == bags.n_stages_
    for one, other in zip(staged, sums, strict=False):
        assert one == pytest.approx(other)


def test_bias_goes_and_one_stage_is_bagging():
    iterated = IteratedBaggingRegressor(SMALL, random_state=0).fit(DATA.X, DATA.y)
    bagged = BaggingRegressor(SMALL, 50, random_state=0).fit(DATA.X, DATA.y)
    errors = [np.mean((model.predict(TEST.X) - TEST.y) ** 2) for model in (iterated, bagged)]
    assert iterated.n_stages_ > 1
    assert errors[0] < 0.7 * errors[1]
    assert iterated.oob_score_ > bagged.score(TEST.X, TEST.y)
    one = IteratedBaggingRegressor(SMALL, random_state=0, max_stages=1).fit(DATA.X, DATA.y)
    assert one.oob_score_ == pytest.approx(1 - one.stage_losses_[0] / DATA.y.var())


def test_it_stops_where_the_rest_grows():
    deep = IteratedBaggingRegressor(random_state=0, max_stages=50).fit(DATA.X, DATA.y)
    losses = deep.stage_losses_
    assert len(losses) < 50
    assert losses[-1] > 1.1 * losses.min()
    assert (losses[:-1] <= 1.1 * np.minimum.accumulate(losses)[:-1]).all()
    assert isinstance(deep.model_, TreeForest)
    assert len(deep.model_) == 50 * deep.n_stages_


def test_a_weight_is_a_repetition_and_order_does_not_matter():
    weights = np.arange(200) % 4
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(200), weights))
    one = IteratedBaggingRegressor(SMALL, 10, random_state=0).fit(DATA.X, DATA.y, weights)
    two = IteratedBaggingRegressor(SMALL, 10, random_state=0).fit(DATA.X[rows], DATA.y[rows])
    assert one.model_ == two.model_
    assert np.isnan(one.oob_prediction_[::4]).all()
    assert np.isfinite(np.delete(one.oob_prediction_, np.arange(0, 200, 4))).all()


def test_files():
    bags = IteratedBaggingRegressor(SMALL, 10, random_state=0).fit(DATA.X, DATA.y)
    again = from_bytes(to_bytes(bags))
    assert again.model_ == bags.model_
    assert again.n_stages_ == bags.n_stages_
    assert again.oob_score_ == bags.oob_score_
    assert to_bytes(again) == to_bytes(bags)


def test_friedmans_function_gets_breimans_gain():
    """Breiman (2001): bagging 6.x, iterated bagging 4.x on Friedman's first function."""
    errors = []
    for seed in range(3):
        train = make_friedman(1, 200, random_state=seed)
        pair = (
            BaggingRegressor(n_estimators=50, random_state=seed),
            IteratedBaggingRegressor(random_state=seed),
        )
        errors.append(
            [np.mean((m.fit(train.X, train.y).predict(TEST.X) - TEST.y) ** 2) for m in pair]
        )
    bagged, iterated = np.mean(errors, axis=0)
    assert bagged == pytest.approx(6.2, abs=0.8)
    assert iterated < bagged - 0.8
