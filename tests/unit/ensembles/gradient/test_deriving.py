"""Statistics of categories in gradient boosting: what is learnt from whom."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_squared_error, roc_auc_score
from tests.unit.ensembles.gradient.towns import booster, table, values_of

from spinney import GradientBoostingClassifier, GradientBoostingRegressor
from spinney.ensembles.fitting import read_rows
from spinney.ensembles.gradient.deriving import Deriving
from spinney.ensembles.gradient.rows import draw_held_out
from spinney.ensembles.sharing import SharedTable
from spinney.errors import InvalidInput


def ones_told(fitted):
    return [f.table for f in fitted.model_.derivation.features if f.table is not None]


# What is not told: the target of the row, and targets of rows that do not train


def test_noise_of_ten_thousand_levels_teaches_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"level": rng.integers(0, 10_000, 50_000).astype(str)})
    X["other"] = rng.integers(0, 3_000, 50_000).astype(str)
    y = rng.integers(0, 2, 50_000)
    fitted = GradientBoostingClassifier(
        random_state=0, early_stopping=True, n_iter_no_change=100
    ).fit(X[:40_000], y[:40_000])
    auc = roc_auc_score(y[40_000:], fitted.predict_proba(X[40_000:])[:, 1])
    assert abs(auc - 0.5) < 0.02
    assert fitted.train_score_[-1] < -0.66  # log 2 is 0.693: nothing but the usual overfitting


def test_the_naive_mean_of_each_level_would_have_leaked():
    rng = np.random.default_rng(0)
    levels, y = rng.integers(0, 10_000, 40_000), rng.integers(0, 2, 40_000)
    mean = np.bincount(levels, y) / np.maximum(np.bincount(levels), 1)
    naive = GradientBoostingClassifier(
        random_state=0, verbose=0, early_stopping=True, n_iter_no_change=100
    )
    naive.fit(mean[levels].reshape(-1, 1), y)
    assert naive.train_score_[-1] > -0.6


def test_validation_targets_change_no_statistic():
    X, y = table()
    one = booster(early_stopping=True).fit(X, y)
    held = np.setdiff1d(np.arange(len(y)), training_rows_of(one, X, y))
    other = y.copy()
    other[held] += 100.0
    two = booster(early_stopping=True).fit(X, other)
    assert one.model_.derivation == two.model_.derivation
    assert not np.array_equal(one.validation_score_[:1], two.validation_score_[:1])


def training_rows_of(fitted, X, y):
    reading = read_rows(X, y, None, fitted._intake_settings(multi_output=False))
    held_out = draw_held_out(reading, fitted.validation_fraction, fitted._seed)
    return np.setdiff1d(np.arange(len(y)), held_out)


def test_a_split_and_the_same_rows_given_make_the_same_statistics():
    X, y = table()
    split = booster(early_stopping=True, max_iter=5, n_iter_no_change=50).fit(X, y)
    train = training_rows_of(split, X, y)
    held = np.setdiff1d(np.arange(len(y)), train)
    given = booster(early_stopping=True, max_iter=5, n_iter_no_change=50)
    given.fit(X.iloc[train], y[train], X_val=X.iloc[held], y_val=y[held])
    rows = X.iloc[train[:500]]
    np.testing.assert_array_equal(given.predict(rows), split.predict(rows))
    np.testing.assert_array_equal(given.train_score_, split.train_score_)
    np.testing.assert_allclose(given.validation_score_, split.validation_score_, rtol=1e-12)


def test_folds_learn_statistics_from_their_own_training_rows(monkeypatch):
    X, y = table(600)
    learnt = []
    learn = Deriving.learn

    def watching(self, train):
        learnt.append(None if train is None else np.asarray(train).copy())
        return learn(self, train)

    monkeypatch.setattr(Deriving, "learn", watching)
    rows = np.arange(600)
    folds = [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]
    booster(early_stopping="cv", cv=folds).fit(X, y)
    assert learnt[0] is None
    for (train, _), used in zip(folds, learnt[1:], strict=True):
        np.testing.assert_array_equal(np.sort(used), train)


def test_a_fold_scores_what_a_fit_on_its_rows_alone_scores():
    X, y = table(600)
    rows = np.arange(600)
    train, test = rows[rows % 3 != 0], rows[rows % 3 == 0]
    params = {"max_iter": 5, "n_iter_no_change": 50, "category_encoding": "target"}
    params["category_pairs"] = "all"  # unasked there are more, the more levels a table has
    curve = booster(early_stopping="cv", cv=[(train, test)], **params).fit(X, y).cv_score_
    alone = booster(early_stopping=True, **params)
    alone.fit(X.iloc[train], y[train], X_val=X.iloc[test], y_val=y[test])
    np.testing.assert_allclose(curve, alone.validation_score_, rtol=1e-9)


def test_noise_is_no_better_by_folds_than_no_round_at_all():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"level": rng.integers(0, 2_000, 6_000).astype(str)})
    y = rng.integers(0, 2, 6_000)
    fitted = GradientBoostingClassifier(max_iter=30, random_state=0, early_stopping="cv", cv=3)
    assert np.argmax(fitted.fit(X, y).cv_score_) <= 3


def test_a_callable_scorer_is_asked_about_the_table_of_the_user():
    X, y = table(800)
    seen = []

    def scorer(fitted, rows, y_true):
        seen.append(rows.names)
        return -mean_squared_error(y_true, fitted.predict(rows))

    booster(early_stopping=True, scoring=scorer, max_iter=3).fit(X, y)
    assert set(seen) == {("town", "kind", "size")}
    named = booster(early_stopping=True, scoring="neg_mean_squared_error", max_iter=3).fit(X, y)
    called = booster(early_stopping=True, scoring=scorer, max_iter=3).fit(X, y)
    np.testing.assert_allclose(named.validation_score_, called.validation_score_, rtol=1e-9)


# Unseen, missing, weights, threads, shared tables


def test_unseen_levels_are_told_the_mean_and_missing_ones_their_own():
    X, y = table()
    y = np.where(X["town"].isna(), 5.0, y)
    fitted = booster(max_iter=100).fit(X, y)
    rows = X[:3].copy()
    rows["town"] = ["never seen", None, "t7"]
    at, _, _, counts = map(values_of, fitted.model_.conform(rows, "the model").columns[:4])
    tables = ones_told(fitted)
    prior = tables[0][-2]
    assert at[0] == prior
    assert at[1] == tables[0][-1] > 4
    assert counts[0] == 0
    few, many = fitted.predict(rows), fitted.predict(pd.concat([rows, X]))[:3]
    np.testing.assert_array_equal(few, many)
    compiled = fitted.compile()
    np.testing.assert_array_equal([compiled(row) for _, row in rows.iterrows()], few)


def test_whole_weights_and_repetitions_tell_the_same_of_every_level():
    X, y = table()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = booster().fit(X, y, weights)
    again = np.repeat(np.arange(len(y)), weights)
    repeated = booster().fit(X.iloc[again], y[again])
    assert weighted.model_.derivation == repeated.model_.derivation


def test_rows_of_weight_zero_are_as_if_absent():
    X, y = table()
    weights = (np.arange(len(y)) % 5 > 0).astype(float)
    kept = np.flatnonzero(weights)
    one, two = booster().fit(X, y, weights), booster().fit(X.iloc[kept], y[kept], weights[kept])
    assert one.model_ == two.model_


@pytest.mark.parametrize("early_stopping", [False, True, "cv"])
def test_the_model_is_the_same_for_every_number_of_threads(early_stopping):
    X, y = table(3000)
    X["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)), unit="h")
    made = [
        booster(n_jobs=n, early_stopping=early_stopping, category_pairs="all").fit(X, y).model_
        for n in (1, 2, 3)
    ]
    assert made[0].to_bytes() == made[1].to_bytes() == made[2].to_bytes()


def test_rows_of_a_shared_table_have_statistics_of_their_own():
    X, y = table()
    rows = np.arange(0, 2000, 2)
    shared = SharedTable(X).rows(rows)
    one, two = booster().fit(shared, y[rows]), booster().fit(X.iloc[rows], y[rows])
    np.testing.assert_array_equal(one.predict(X.iloc[rows]), two.predict(X.iloc[rows]))


def test_warm_start_goes_on_where_the_model_ended():
    X, y = table()
    whole = booster(max_iter=8, early_stopping=True, n_iter_no_change=50).fit(X, y)
    parts = booster(max_iter=4, early_stopping=True, n_iter_no_change=50, warm_start=True).fit(X, y)
    parts.set_params(max_iter=8).fit(X, y)
    assert parts.model_ == whole.model_
    np.testing.assert_array_equal(parts.validation_score_, whole.validation_score_)
    with pytest.raises(InvalidInput, match="not those it was learnt from"):
        parts.set_params(max_iter=9).fit(X, y[::-1])


def test_stages_leaves_and_slices_agree_with_the_whole():
    X, y = table()
    fitted = booster().fit(X, y)
    stages = list(fitted.staged_predict(X[:50]))
    np.testing.assert_array_equal(stages[-1], fitted.predict(X[:50]))
    sliced = fitted.model_[:4].predictions(X[:50])[:, 0]
    np.testing.assert_array_equal(stages[3], sliced)
    assert fitted.apply(X[:50]).shape == (50, 10)


def test_a_hundred_thousand_levels_take_a_few_arrays_of_that_length():
    n = 100_000
    X = pd.DataFrame({"id": np.arange(n).astype(str)})
    fitted = booster(max_iter=2).fit(X, np.arange(n) % 7.0)
    assert sum(t.nbytes for t in ones_told(fitted)) == 4 * 8 * (n + 2)
    assert np.isfinite(fitted.predict(X[:100])).all()


def of_many_classes(n_classes, n=6_000):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (n, 4))
    X = pd.DataFrame({f"c{k}": pd.Categorical(codes[:, k].astype(str)) for k in range(4)})
    return X, (codes[:, 0] + rng.integers(0, 2, n)) % n_classes


def test_what_orders_tell_is_held_once(monkeypatch):
    units, learn = [], Deriving.learn

    def measured(self, train):
        tracemalloc.start()
        found = learn(self, train)
        table = found[1]
        of_table = table.n_rows * len(table.columns) * 8
        units.append(tracemalloc.get_traced_memory()[1] / of_table)
        tracemalloc.stop()
        return found

    monkeypatch.setattr(Deriving, "learn", measured)
    GradientBoostingClassifier(max_iter=1, random_state=0).fit(*of_many_classes(15))
    # Four orders, what is told of rows that do not train, and the sums of one feature.
    assert units[0] < 7.0


def test_many_classes_make_pairs_too_many_to_look_at_unasked():
    def pairs(n_classes, **params):
        X, y = of_many_classes(n_classes)
        fitted = GradientBoostingClassifier(max_iter=1, random_state=0, **params).fit(X, y)
        return {f.places for f in fitted.model_.derivation.features if len(f.places) == 2}

    assert len(pairs(2)) == len(pairs(40)) == 6  # 240 targets are told of them
    assert pairs(42) == set()
    assert pairs(42, category_pairs=[("c0", "c1")]) == {(0, 1)}


def levels_with(noise, n=4_000, n_levels=300):
    rng = np.random.default_rng(0)
    level = rng.integers(0, n_levels, n)
    X = pd.DataFrame({"shop": pd.Categorical(level.astype(str))})
    return X, rng.normal(size=n_levels)[level], noise * rng.normal(size=n)


def test_one_target_far_from_all_others_does_not_take_the_levels_away():
    X, effect, noise = levels_with(0.3)
    y = effect + noise
    y[0] = 1e5
    fitted = GradientBoostingRegressor(loss="absolute", max_iter=100, random_state=0)
    fitted.fit(X[:3_000], y[:3_000])
    assert np.abs(fitted.predict(X[3_000:]) - effect[3_000:]).mean() < 0.25  # 0.8 without levels


def test_statistics_are_of_rates_where_the_offset_is_an_exposure():
    X, effect, _ = levels_with(0.0)
    exposure = 10 ** np.random.default_rng(1).uniform(0, 2, len(X))
    y = np.random.default_rng(2).poisson(np.exp(effect / 2) * exposure).astype(float)
    fitted = GradientBoostingRegressor(loss="poisson", max_iter=100, random_state=0)
    fitted.fit(X[:3_000], y[:3_000], offset=np.log(exposure[:3_000]))
    rates = fitted.predict(X[3_000:], offset=np.zeros(1_000))
    assert np.abs(np.log(rates) - effect[3_000:] / 2).mean() < 0.12


def test_statistics_are_of_what_an_offset_leaves_of_numbers():
    X, effect, noise = levels_with(0.1)
    offset = 100.0 * np.random.default_rng(1).normal(size=len(X))
    fitted = GradientBoostingRegressor(max_iter=100, random_state=0)
    fitted.fit(X[:3_000], (effect + noise + offset)[:3_000], offset=offset[:3_000])
    rest = fitted.predict(X[3_000:], offset=offset[3_000:]) - offset[3_000:]
    assert np.abs(rest - effect[3_000:]).mean() < 0.1
