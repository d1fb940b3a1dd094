"""Explanations of trees that split on derived features, told by the features of the user."""

from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

from spinney import GradientBoostingClassifier, GradientBoostingRegressor, explain
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
    np.testing.assert_allclose(found.raw_scores()[:, 0], FITTED.predict(X[:40]), rtol=1e-10)


def test_shapley_values_are_the_sums_over_what_was_derived():
    model = FITTED.model_
    inner = explain.shap_values(model.forest, model.conform(X[:10], "the model"))
    of = dict(zip(inner.feature_names, values_of(inner)[:, :, 0].T, strict=True))
    mine = values_of(explain.shap_values(FITTED, X[:10]))[:, :, 0]
    pair = of["town and kind (target)"] + of["town and kind (count)"]
    town = of["town (target)"] + of["town (count)"] + of["town"]
    np.testing.assert_allclose(mine[:, 0], town + pair / 2)
    np.testing.assert_allclose(mine[:, 1], of["kind"] + pair / 2)
    parts = [of[name] for name in of if name.startswith("when")]
    assert len(parts) == 6
    np.testing.assert_allclose(mine[:, 3], np.sum(parts, axis=0))


def test_interactions_are_summed_to_the_same_values():
    pairs = explain.shap_interactions(FITTED, X[:10])
    values = values_of(explain.shap_values(FITTED, X[:10]))
    np.testing.assert_allclose(values_of(pairs).sum(axis=2), values, atol=1e-12)
    assert values_of(pairs).shape == (10, 4, 4, 1)


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
    with pytest.raises(InvalidParameter, match="Pass X"):
        explain.partial_dependence(FITTED, "noise")


def test_effects_of_dates_are_accumulated_with_all_their_parts():
    found = explain.accumulated_effects(FITTED, X, "when", n_intervals=5)
    low, high = (FITTED.predict(X.assign(when=moment)) for moment in found.edges[:2])
    inside = X["when"].to_numpy() <= found.edges[1]
    step = np.diff(values_of(found)[:2])[0]
    np.testing.assert_allclose(step, (high - low)[inside].mean(), rtol=1e-9)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: explain.verify(FITTED),
        lambda: explain.h_statistic(FITTED, X[:20]),
        lambda: explain.explain_split(FITTED, 0, 0),
    ],
    ids=["verify", "h_statistic", "explain_split"],
)
def test_what_cannot_be_told_of_derived_features_is_refused_with_a_way_out(ask):
    with pytest.raises(InvalidInputType, match="category_encoding='sets'"):
        ask()


def test_a_report_can_be_written(tmp_path):
    labels = np.where(Y > 1, "high", "low")
    fitted = GradientBoostingClassifier(max_iter=5, random_state=0).fit(X[:1000], labels[:1000])
    write_report(fitted, X[1000:], labels[1000:], tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000
