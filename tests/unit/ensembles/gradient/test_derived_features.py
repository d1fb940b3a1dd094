"""Which features boosting derives: statistics, pairs, parts of dates, and their constraints."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.ensembles.gradient.towns import booster, table, values_of

from spinney import GradientBoostingClassifier, HistGradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model import TreeForest
from spinney.model.derived import DerivedForest

# Which features are derived


def test_columns_that_bins_cannot_hold_are_told_as_statistics():
    X, y = table()
    fitted = booster().fit(X, y)
    assert isinstance(fitted.model_, DerivedForest)
    of_town = tuple(f"town (target {k})" for k in range(3))
    of_pair = tuple(f"town and kind (target {k})" for k in range(3))
    names = (*of_town, "town (count)", "kind", "size", *of_pair, "town and kind (count)")
    assert fitted.model_.forest.schema.names == names
    assert list(fitted.feature_names_in_) == list(X.columns)
    assert fitted.n_features_in_ == 3
    assert fitted.feature_importances_.shape == (3,)


def test_few_levels_stay_sets_and_the_model_is_a_plain_forest():
    X, y = table(n_levels=200)
    assert isinstance(booster().fit(X, y).model_, TreeForest)
    assert isinstance(booster(category_encoding="sets").fit(*table()).model_, TreeForest)


def test_every_category_is_told_as_a_statistic_on_request():
    X, y = table(n_levels=20)
    fitted = booster(category_encoding="target").fit(X, y)
    assert fitted.model_.forest.schema.names[4:8] == (
        *(f"kind (target {k})" for k in range(3)),
        "kind (count)",
    )


def test_more_than_two_classes_have_a_statistic_each():
    X, y = table()
    labels = np.digitize(y, [-0.5, 0.5])
    fitted = GradientBoostingClassifier(max_iter=5, random_state=0).fit(X, labels)
    names = fitted.model_.forest.schema.names[:10]
    assert names == (*(f"town (target {k})" for k in range(9)), "town (count)")
    shares = np.sum([f.table for f in fitted.model_.derivation.features[:3]], axis=0)
    np.testing.assert_allclose(shares, 1.0, atol=3 / 16)  # each is rounded
    assert fitted.predict_proba(X).shape == (len(X), 3)


def test_several_outputs_have_a_statistic_each_and_quantiles_share_one():
    X, y = table()
    both = booster().fit(X, np.column_stack([y, -2 * y]))
    assert both.model_.forest.schema.names[5:7] == ("town (target 5)", "town (count)")
    assert both.predict(X).shape == (len(X), 2)
    levels = booster(loss="quantile", quantile=[0.1, 0.9]).fit(X, y)
    assert levels.model_.forest.schema.names[2:4] == ("town (target 2)", "town (count)")
    assert (np.diff(levels.predict(X), axis=1) >= 0).all()


def test_drop_ins_do_what_scikit_learn_does():
    X, y = table(n_levels=100)
    X["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)), unit="h")
    assert isinstance(HistGradientBoostingRegressor(max_iter=2).fit(X, y).model_, TreeForest)


# Constraints


def test_monotone_constraints_hold_beside_statistics():
    X, y = table()
    fitted = booster(monotonic_cst={"size": -1}, max_iter=40).fit(X, y)
    rows = pd.concat([X[:20]] * 30, ignore_index=True)
    rows["size"] = np.repeat(np.linspace(-3, 3, 30), 20)
    steps = np.diff(fitted.predict(rows).reshape(30, 20), axis=0)
    assert (steps <= 1e-12).all()


def test_dates_with_a_monotone_constraint_keep_their_own_values_only():
    X, y = table(500)
    X["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(X)), unit="D")
    free = booster().fit(X, y).model_.forest.schema.names
    bound = booster(monotonic_cst={"when": 1}).fit(X, y).model_.forest.schema.names
    assert "when (month)" in free
    assert [name for name in bound if name.startswith("when")] == ["when"]


def test_no_path_mixes_features_that_may_not_interact():
    X, y = table()
    fitted = booster(interaction_cst="no_interactions", max_iter=20).fit(X, y)
    owners = np.array([f.places[0] for f in fitted.model_.derivation.features])
    for tree in fitted.model_.forest:
        used = set(owners[tree.feature[tree.feature >= 0]])
        assert len(used) <= 1


# Pairs, dates, parameters


def test_pairs_find_what_neither_feature_tells():
    rng = np.random.default_rng(0)
    n = 20_000
    X = pd.DataFrame({c: rng.integers(0, 30, n).astype(str) for c in "ab"})
    y = rng.normal(size=(30, 30))[X["a"].astype(int), X["b"].astype(int)]
    params = {"max_iter": 30, "category_encoding": "target"}
    alone = booster(**params).fit(X[:15_000], y[:15_000]).score(X[15_000:], y[15_000:])
    paired = booster(**params, category_pairs=[("b", "a")]).fit(X[:15_000], y[:15_000])
    assert paired.score(X[15_000:], y[15_000:]) > max(0.85, alone + 0.5)
    assert paired.model_.forest.schema.names[10:] == ("a and b (target 2)", "a and b (count)")


def pairs_of(fitted):
    return {f.places for f in fitted.model_.derivation.features if len(f.places) == 2}


def test_features_of_many_levels_are_paired_with_all_categories_unasked():
    X, y = table()
    X["form"] = X["kind"] + "!"
    assert pairs_of(booster().fit(X, y)) == {(0, 1), (0, 3)}
    assert pairs_of(booster(category_encoding="target").fit(X, y)) == {(0, 1), (0, 3)}
    assert not pairs_of(booster(category_pairs=None).fit(X, y))
    assert isinstance(booster(category_encoding="sets").fit(X, y).model_, TreeForest)
    apart = [["town", "kind", "size"], ["form"]]
    assert pairs_of(booster(interaction_cst=apart).fit(X, y)) == {(0, 1)}


def test_too_many_pairs_are_left_to_the_user():
    X, y = table(600)
    X = X.assign(**{f"kind {k}": X["kind"] for k in range(50)})
    assert len(pairs_of(booster(max_iter=1).fit(X.drop(columns="kind"), y))) == 50
    assert not pairs_of(booster(max_iter=1).fit(X, y))


def test_a_pair_that_training_did_not_know_is_told_the_mean():
    X, y = table(n_levels=20)
    fitted = booster(category_pairs="all").fit(X, y)
    row = X[:1].assign(town="t3", kind="never seen")
    at = dict(
        zip(
            fitted.model_.forest.schema.names,
            fitted.model_.conform(row, "the model").columns,
            strict=True,
        )
    )
    assert values_of(at["town and kind (count)"])[0] == 0
    assert fitted.predict(row)[0] == fitted.predict(pd.concat([row, X]))[0]


def test_parts_of_dates_find_what_repeats():
    rng = np.random.default_rng(0)
    start = pd.Timestamp("2020-01-01")
    X = pd.DataFrame({"when": start + pd.to_timedelta(rng.integers(0, 24 * 700, 4000), unit="h")})
    y = 1.0 * (X["when"].dt.day_of_week >= 5) + 0.5 * (X["when"].dt.hour < 6)
    scores = [
        booster(max_iter=50, date_features=wish).fit(X[:3000], y[:3000]).score(X[3000:], y[3000:])
        for wish in (False, True)
    ]
    assert scores[0] < 0.5
    assert scores[1] > 0.99


def test_dates_without_hours_have_no_hour():
    X, y = table(300)
    X["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(300), unit="D")
    names = booster().fit(X, y).model_.forest.schema.names
    parts = [f"day ({part})" for part in ("year", "month", "day", "weekday")]
    assert [name for name in names if name.startswith("day")] == ["day", *parts]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("al", "category_pairs='al'"),
        (3, "category_pairs=3"),
        ([("town",)], "expected 'auto', None, 'all'"),
        ([("town", "town")], "two different categorical features"),
        ([("town", "size")], "Categorical: 'town', 'kind'"),
        ([("town", "kin")], "Did you mean 'kind'"),
        ([(0, 9)], "positions from 0 to 2"),
        ([(0, True)], "category_pairs holds True"),
    ],
)
def test_pairs_that_are_none_are_refused(pairs, message):
    with pytest.raises((InvalidInput, InvalidParameter), match=message):
        booster(category_pairs=pairs).fit(*table(100))


def test_pairs_that_may_not_interact_are_refused():
    with pytest.raises(InvalidInput, match="interaction_cst"):
        booster(category_pairs="all", interaction_cst=[["town"], ["kind", "size"]]).fit(*table(500))


def test_names_of_derived_features_never_meet_those_of_the_user():
    X, y = table(700)
    X = X.rename(columns={"size": "town (target)"})
    names = booster().fit(X, y).model_.forest.schema.names
    assert len(set(names)) == len(names)
