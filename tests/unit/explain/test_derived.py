"""Explanations of trees that split on derived features, told by the features of the user."""

import itertools
import math
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

from spinney import GradientBoostingClassifier, GradientBoostingRegressor, explain
from spinney._native import _ext
from spinney.data.binning import native_columns
from spinney.errors import InvalidInputType, InvalidParameter
from spinney.report import write_report


def table():
    rng = np.random.default_rng(0)
    n = 1500
    codes = rng.integers(0, 300, n)
    X = pd.DataFrame(
        {
            "town": codes.astype(str),
            "kind": rng.integers(0, 4, n).astype(str),
            "noise": rng.normal(size=n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "h"),
        }
    )
    month = X["when"].dt.month.to_numpy()
    return X, rng.normal(size=300)[codes] + 0.2 * month


values_of = attrgetter("values")  # of results, which are no frames
X, Y = table()
FITTED = GradientBoostingRegressor(
    max_iter=20, random_state=0, date_features=True, category_pairs=[("town", "kind")]
).fit(X, Y)


@pytest.mark.parametrize("background", [None, X[:30]])
def test_shapley_values_of_the_users_features_add_up_to_the_score(background):
    found = explain.shap_values(FITTED, X[:40], background=background)
    assert found.feature_names == tuple(X.columns)
    assert values_of(found).shape == (40, 4, 1)
    size = np.abs(found.base) + np.abs(values_of(found)).sum(axis=1)
    errors = np.abs(found.raw_scores()[:, 0] - FITTED.predict(X[:40]))
    assert (errors <= 1e-12 * size[:, 0]).all()


def brute_force(predict, rows, others):
    """Shapley values of rows against the mean over others, by all subsets of columns."""
    names = list(rows.columns)
    k = len(names)

    def worth(known):
        total = np.zeros(len(rows))
        for number in range(len(others)):
            mixed = pd.concat([others.iloc[[number]]] * len(rows), ignore_index=True)
            for name in known:
                mixed[name] = rows[name].to_numpy()
            total += predict(mixed)
        return total / len(others)

    worths = {
        known: worth(known)
        for size in range(k + 1)
        for known in itertools.combinations(names, size)
    }
    values = np.zeros((len(rows), k))
    for place, name in enumerate(names):
        for known, value in worths.items():
            if name not in known:
                share = math.factorial(len(known)) * math.factorial(k - len(known) - 1)
                joined = tuple(n for n in names if n in known or n == name)
                values[:, place] += share / math.factorial(k) * (worths[joined] - value)
    return values


def test_all_that_is_derived_from_a_feature_becomes_known_with_it():
    """Statistics of a category, and the parts of a date: one player each."""
    fitted = GradientBoostingRegressor(max_iter=20, random_state=0, date_features=True)
    fitted.set_params(category_pairs=None).fit(X, Y)
    assert len(fitted.model_.derivation.features) > len(X.columns)
    rows, others = X[:6].reset_index(drop=True), X[50:55].reset_index(drop=True)
    found = explain.shap_values(fitted, rows, background=others)
    expected = brute_force(fitted.predict, rows, others)
    np.testing.assert_allclose(values_of(found)[:, :, 0], expected, atol=1e-12)


def test_path_dependent_values_of_a_feature_are_those_of_a_tree_on_it_alone():
    """Only towns are told apart, by counts and statistics: nobody else gets anything."""
    rng = np.random.default_rng(1)
    effect = rng.normal(size=300)[X["town"].astype(int)]
    fitted = GradientBoostingRegressor(max_iter=10, random_state=0).fit(X[["town"]], effect)
    assert len(fitted.model_.derivation.features) > 1
    found = explain.shap_values(fitted, X[["town"]][:20])
    scores = fitted.predict(X[["town"]][:20])
    np.testing.assert_allclose(values_of(found)[:, 0, 0], scores - found.base[0], atol=1e-12)
    pairs = explain.shap_interactions(fitted, X[["town"]][:20])
    np.testing.assert_allclose(values_of(pairs)[:, 0, 0], values_of(found)[:, 0], atol=1e-12)


def test_what_a_pair_of_features_gets_is_divided_between_them():
    model = FITTED.model_
    speaking, n_players = model.derivation.players
    assert n_players == 5  # four features and the pair
    derived = model.conform(X[:10], "the model")
    found = values_of(explain.shap_values(FITTED, X[:10]))[:, :, 0]
    sums = _ext.shapley_values(
        model.forest.native, native_columns(derived), (speaking, n_players), 1
    )[:, :, 0]
    np.testing.assert_allclose(found[:, 0], sums[:, 0] + sums[:, 4] / 2)
    np.testing.assert_allclose(found[:, 1], sums[:, 1] + sums[:, 4] / 2)
    np.testing.assert_array_equal(found[:, 2:], sums[:, 2:4])
    assert np.abs(sums[:, 4]).max() > 0


def test_interactions_are_summed_to_the_same_values():
    pairs = explain.shap_interactions(FITTED, X[:10])
    values = values_of(explain.shap_values(FITTED, X[:10]))
    np.testing.assert_allclose(values_of(pairs).sum(axis=2), values, atol=1e-12)
    assert values_of(pairs).shape == (10, 4, 4, 1)
    size = np.abs(pairs.base) + np.abs(values_of(pairs)).sum(axis=(1, 2))
    errors = np.abs(pairs.raw_scores()[:, 0] - FITTED.predict(X[:10]))
    assert (errors <= 1e-12 * size[:, 0]).all()


def test_importances_are_of_the_users_features():
    for found in (
        explain.gain_importance(FITTED),
        explain.split_importance(FITTED),
        explain.shap_importance(FITTED, X[:50]),
        explain.permutation_importance(FITTED, X, Y, n_repeats=2, random_state=0),
    ):
        assert found.feature_names == tuple(X.columns)
        assert np.argmax(values_of(found)) in (0, 3)
        assert values_of(found)[2] < values_of(found)[0]
    np.testing.assert_array_equal(
        values_of(explain.gain_importance(FITTED)), FITTED.feature_importances_
    )


def test_a_row_is_told_with_the_values_of_the_user():
    told = explain.explain_row(FITTED, X.iloc[3])
    assert set(told.feature_names) == set(X.columns)
    np.testing.assert_allclose(told.prediction, FITTED.predict(X[3:4])[0])


def set_to(feature, value):
    return FITTED.predict(X[:60].assign(**{feature: value}))


@pytest.mark.parametrize(
    ("feature", "points"),
    [
        ("noise", [-1.0, 0.0, 2.0]),
        ("town", ["7", "11", None]),
        ("when", [pd.Timestamp("2024-03-01"), pd.Timestamp("2024-07-06 12:00")]),
    ],
)
def test_dependence_and_curves_are_the_means_of_what_is_predicted(feature, points):
    curves = explain.individual_curves(FITTED, feature, X[:60], grid=points)
    expected = np.column_stack([set_to(feature, point) for point in points])
    np.testing.assert_allclose(values_of(curves), expected, rtol=1e-12)
    found = explain.partial_dependence(FITTED, feature, X[:60], grid=points)
    np.testing.assert_allclose(values_of(found), expected.mean(axis=0), rtol=1e-10)


def test_points_of_dependence_are_values_of_rows():
    days = explain.partial_dependence(FITTED, "when", X[:60], grid=7)
    assert set(days.grids[0]) <= set(X["when"][:60].to_numpy().astype("datetime64[us]"))
    assert len(days.grids[0]) == 7
    pairs = explain.partial_dependence(FITTED, ["kind", "noise"], X[:60])
    assert values_of(pairs).shape == (4, 25)
    with pytest.raises(InvalidParameter, match="Give grid="):
        explain.partial_dependence(FITTED, "town", X)
    with pytest.raises(InvalidParameter, match=r"derived from 'town'.* Pass X"):
        explain.partial_dependence(FITTED, "town")


def test_without_rows_trees_recall_features_that_they_see_as_they_are():
    found = explain.partial_dependence(FITTED, "noise", grid=9)
    of_trees = explain.partial_dependence(FITTED.model_.forest, "noise", grid=9)
    assert found.feature_names == ("noise",)
    np.testing.assert_array_equal(values_of(found), values_of(of_trees))


def by_definition(fitted, rows, pair):
    """Friedman's H² of a pair and its size, and of its first feature with all others."""

    def dependence(features):
        means = []
        for place in range(len(rows)):
            asked = rows.assign(**{name: rows[name].iloc[place] for name in features})
            means.append(fitted.predict(asked).mean())
        return np.array(means)

    first, second = (dependence([name]) for name in pair)
    both = dependence(pair)
    whole, others = fitted.predict(rows), dependence([c for c in rows if c != pair[0]])
    part, rest = both - first - second, whole - first - others
    return part.var() / both.var(), part.std(), rest.var() / whole.var()


@pytest.mark.parametrize("category_pairs", [None, [("town", "kind")]])
def test_interactions_of_the_users_features_are_those_of_the_definition(category_pairs):
    fitted = GradientBoostingRegressor(
        max_iter=10, random_state=0, date_features=True, category_pairs=category_pairs
    ).fit(X, Y)
    rows = X[:25]
    for pair in (("town", "when"), ("town", "kind")):
        found = explain.h_statistic(fitted, rows, features=[pair])
        h_squared, size, overall = by_definition(fitted, rows, list(pair))
        np.testing.assert_allclose(found.pairwise[0], h_squared, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.pairwise_sizes[0], size, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.overall[0], overall, rtol=1e-6, atol=1e-9)
    every = explain.h_statistic(fitted, rows)
    assert set(every.feature_names) <= set(X.columns)


def test_effects_of_dates_are_accumulated_with_all_their_parts():
    found = explain.accumulated_effects(FITTED, X, "when", n_intervals=5)
    low, high = (FITTED.predict(X.assign(when=moment)) for moment in found.edges[:2])
    inside = X["when"].to_numpy() <= found.edges[1]
    step = np.diff(values_of(found)[:2])[0]
    np.testing.assert_allclose(step, (high - low)[inside].mean(), rtol=1e-9)


def test_one_split_of_derived_features_is_refused_with_a_way_out():
    with pytest.raises(InvalidInputType, match="category_encoding='sets'"):
        explain.explain_split(FITTED, 0, 0)


def test_a_report_can_be_written(tmp_path):
    labels = np.where(Y > 1, "high", "low")
    fitted = GradientBoostingClassifier(max_iter=5, random_state=0).fit(X[:1000], labels[:1000])
    write_report(fitted, X[1000:], labels[1000:], tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000
