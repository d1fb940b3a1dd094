"""Rounds that take turns with orders, against sums that are kept apart order by order."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.ensembles.gradient.reviews import reviews
from tests.unit.ensembles.gradient.towns import booster, table, values_of

from spinney.data.binning import BinnedTable, Binner
from spinney.ensembles.fitting import read_rows
from spinney.ensembles.gradient import rounds
from spinney.ensembles.gradient.deriving import Deriving
from spinney.ensembles.gradient.orders import N_ORDERS, with_orders
from spinney.ensembles.gradient.rows import arrange_rows
from spinney.trees.gradient import GradientGrower, GradientTreeSettings, GrownTrees

USUAL = {"category_encoding": "auto", "category_pairs": "auto", "date_features": False}


def arranged(weights=None, held_out=None, n_rows=900):
    X, y = table(n_rows)
    fitted = booster()
    intake = fitted._intake_settings(multi_output=False)
    reading = read_rows(X, y, weights, intake)
    deriving = Deriving.of(USUAL, reading, GradientTreeSettings(), 3, N_ORDERS)
    derived, held_out, _, others = deriving.apply(held_out)
    return arrange_rows(derived, None, held_out, intake), others


def test_training_rows_stand_behind_once_for_each_order():
    weights = np.random.default_rng(0).integers(1, 4, 900).astype(float)
    held_out = np.arange(5, 900, 7)
    rows, others = arranged(weights, held_out)
    told = with_orders(rows, others, 1)
    train = rows.train.rows
    assert told.n_rows == 900 + (N_ORDERS - 1) * len(train)
    np.testing.assert_array_equal(told.binned.dense()[:900], rows.binned.dense())
    for numbers, of_order in zip(told.orders[1:], others, strict=True):
        bins = Binner(rows.binned.features).transform(of_order).dense()
        np.testing.assert_array_equal(told.binned.dense()[numbers], bins)
        np.testing.assert_array_equal(told.y[numbers], rows.y[train])
        np.testing.assert_array_equal(told.weights[numbers], weights[train])
        np.testing.assert_array_equal(told.train.weights[numbers], weights[train])
        assert not told.validation.weights[numbers].any()
        assert (bins != told.binned.dense()[train]).any()
    np.testing.assert_array_equal(np.concatenate(told.orders), told.train.rows)
    np.testing.assert_array_equal(told.told_first.rows, train)


def test_counts_and_what_is_no_statistic_are_the_same_in_every_order():
    rows, others = arranged()
    names = [column.name for column in rows.tables[0].columns]
    for place, name in enumerate(names):
        columns = [values_of(t.columns[place]) for t in (*rows.tables, *others)]
        alike = [np.array_equal(columns[0], other) for other in columns[1:]]
        assert not any(alike) if "(target" in name else all(alike)


def test_rounds_are_those_of_sums_kept_apart():
    X, y = table(900)
    params = {"max_leaf_nodes": 6, "min_samples_leaf": 8, "learning_rate": 0.3, "max_iter": 9}
    fitted = booster(**params).fit(X, y)
    rows, others = arranged()
    binner = Binner(rows.binned.features)
    bins = [rows.binned.dense(), *(binner.transform(one).dense() for one in others)]
    limits = GradientTreeSettings(max_leaf_nodes=6, min_samples_leaf=8)
    growers = [
        GradientGrower(BinnedTable(one, binner.features), limits, learning_rate=0.3, seed=3)
        for one in bins
    ]
    trees, start = GrownTrees(), fitted.model_.arrays["baseline"][0]
    scores = [np.full(len(y), start) for _ in bins]
    for number in range(9):
        turn = number % N_ORDERS
        gradients = (scores[turn] - y).astype(np.float32)
        growers[turn].grow(gradients, None, trees)
        for grower, of_order in zip(growers, scores, strict=True):
            last = np.array([len(trees) - 1], np.int32)
            grower.add_trees(trees, last, np.ones(1), 0, of_order)
    slow = trees.arrays()
    for name in ("feature", "left", "right", "values"):
        if name in slow:
            np.testing.assert_allclose(
                np.ravel(slow[name]), np.ravel(fitted.model_.arrays[name]), rtol=1e-9
            )
    assert {"feature", "values"} <= set(slow)


@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_rows_of_weight_one_are_rows_without_weights(loss, early_stopping):
    X, y = table(900)
    params = {"loss": loss, "early_stopping": early_stopping}
    one, two = booster(**params).fit(X, y), booster(**params).fit(X, y, np.ones(900))
    assert one.model_ == two.model_
    np.testing.assert_allclose(one.train_score_, two.train_score_, rtol=1e-12)


@pytest.mark.parametrize("sampler", ["uniform", "one_side", "minimal_variance", "poisson"])
def test_every_sampler_draws_from_the_order_whose_turn_it_is(sampler, monkeypatch):
    X, y = table(900)
    turns, grow = [], GradientGrower.grow

    def watching(self, *given, sample, **more):
        turns.append(set((sample.rows // 900).tolist()))
        grow(self, *given, sample=sample, **more)

    monkeypatch.setattr(GradientGrower, "grow", watching)
    booster(sampler=sampler, subsample=0.5, max_iter=6).fit(X, y)
    assert turns == [{k % N_ORDERS} for k in range(6)]


def test_a_callable_scorer_of_training_rows_sees_each_once():
    X, y = table(700)
    seen = []

    def scorer(fitted, rows, y_true):
        seen.append((rows.n_rows, len(y_true)))
        return -float(np.mean((y_true - fitted.predict(rows)) ** 2))

    booster(early_stopping=True, validation_fraction=None, scoring=scorer, max_iter=3).fit(X, y)
    assert set(seen) == {(700, 700)}


@pytest.mark.parametrize(
    ("column", "n_orders"), [("when", 1), ("review", 1), ("town", N_ORDERS), ("size", 1)]
)
def test_rows_stand_in_several_orders_only_beside_statistics(column, n_orders, monkeypatch):
    X, y = table(900)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(900), unit="h")
    X = X.assign(when=when, review=reviews(900)[0]["review"])[[column]]
    n_rows, booster_of = [], rounds.Booster.__init__

    def watching(self, rows, *more):
        n_rows.append((rows.n_rows, len(rows.orders)))
        booster_of(self, rows, *more)

    monkeypatch.setattr(rounds.Booster, "__init__", watching)
    booster(max_iter=2).fit(X, y)
    assert n_rows == [(900 * n_orders, n_orders if n_orders > 1 else 0)]


def test_ranking_and_tables_without_statistics_have_one_order():
    rows, _ = arranged()
    assert with_orders(rows, [], 1) is rows
    assert rows.in_turn(5) is None
    assert rows.told_first is rows.train
