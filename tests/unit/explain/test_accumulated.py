# ruff: noqa: PD011 - results have values of their own
"""Accumulated local effects: their definition, and what they must be for known functions."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from tests.unit.explain.forests import boosted, classified

from spinney import DecisionTreeRegressor, GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import accumulated_effects, partial_dependence


def slow_effects(predict, frame, name, edges, weights):
    """Interval by interval, row by row."""
    effects = [0.0]
    for low, high in pairwise(edges):
        x = frame[name]
        inside = ((x > low) & (x <= high)) | ((x == low) & (low == edges[0]))
        rows = frame[inside]
        change = predict(rows.assign(**{name: high})) - predict(rows.assign(**{name: low}))
        effects.append(effects[-1] + np.average(change, weights=weights[inside]))
    return np.array(effects)


@pytest.mark.parametrize("n_intervals", [1, 3, 40])
@pytest.mark.parametrize("name", ["age", "income"])
def test_they_are_what_their_definition_says(name, n_intervals):
    fitted, frame, _ = boosted()
    weights = np.arange(len(frame)) % 3
    found = accumulated_effects(fitted, frame, name, n_intervals=n_intervals, sample_weight=weights)
    kept = (frame[name].notna() & (weights > 0)).to_numpy()
    rows, counted = frame[kept], weights[kept]
    expected = slow_effects(fitted.predict, rows, name, found.edges, counted)
    assert np.allclose(np.diff(found.values), np.diff(expected), atol=1e-12)
    mean = np.average(np.interp(rows[name], found.edges, found.values), weights=counted)
    assert mean == pytest.approx(0, abs=1e-12)
    assert found.edges[0] == rows[name].min()
    assert found.edges[-1] == rows[name].max()
    assert 1 <= len(found.edges) - 1 <= n_intervals
    assert found.interval_weights.sum() == counted.sum()


def test_whole_weights_are_repetitions():
    fitted, frame, _ = boosted()
    weights = np.arange(len(frame)) % 3
    weighted = accumulated_effects(fitted, frame, "income", sample_weight=weights, n_intervals=7)
    repeated = accumulated_effects(
        fitted, frame.loc[np.repeat(frame.index, weights)], "income", n_intervals=7
    )
    assert np.array_equal(weighted.edges, repeated.edges)
    assert np.allclose(weighted.values, repeated.values, rtol=1e-10, atol=1e-13)
    assert np.array_equal(weighted.interval_weights, repeated.interval_weights)


def test_of_an_additive_model_they_are_the_dependence_but_for_a_constant():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = np.exp(X[:, 0]) + X[:, 1] ** 2
    fitted = GradientBoostingRegressor(max_iter=30, interaction_cst="no_interactions").fit(X, y)
    found = accumulated_effects(fitted, X, 0)
    dependence = partial_dependence(fitted, 0, X, grid=found.edges).values
    assert np.allclose(found.values - found.values[0], dependence - dependence[0], atol=1e-12)


def test_a_line_stays_a_line_where_features_go_together():
    rng = np.random.default_rng(0)
    first = rng.random(3000)
    X = np.column_stack([first, first + rng.normal(0, 0.02, 3000)])
    fitted = GradientBoostingRegressor(max_iter=200).fit(X, 2 * X[:, 0] + X[:, 1])
    found = accumulated_effects(fitted, X, 0, n_intervals=20)
    other = accumulated_effects(fitted, X, 1, n_intervals=20)
    # How a slope is shared among twins is the model's choice; together they have all of it.
    slope = (
        np.polyfit(found.edges, found.values, 1)[0] + np.polyfit(other.edges, other.values, 1)[0]
    )
    assert slope == pytest.approx(3, abs=0.15)


def test_probabilities_have_effects_too():
    fitted, frame, _ = classified(2)
    raw = accumulated_effects(fitted, frame, "age")
    second = accumulated_effects(fitted, frame, "age", scale="prediction", n_jobs=2)
    first = accumulated_effects(fitted, frame, "age", scale="prediction", output="a")
    assert np.allclose(first.values, -second.values, atol=1e-12)
    assert np.abs(second.values).max() < min(1, np.abs(raw.values).max())
    expected = slow_effects(
        lambda rows: fitted.predict_proba(rows)[:, 1] if len(rows) else np.empty(0),
        frame,
        "age",
        second.edges,
        np.ones(len(frame)),
    )
    assert np.allclose(np.diff(second.values), np.diff(expected), atol=1e-12)


def test_booleans_and_dates_have_an_order():
    fitted, frame, _ = boosted()
    found = accumulated_effects(fitted, frame, "member")
    assert found.edges.tolist() == [False, True]
    assert found.values[1] > found.values[0]
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=50)})
    tree = DecisionTreeRegressor(max_leaf_nodes=2).fit(days, np.arange(50) >= 25)
    dated = accumulated_effects(tree, days, "day", n_intervals=2)
    assert dated.edges.tolist()[0] == pd.Timestamp("2024-01-01").to_pydatetime()
    assert dated.values[-1] - dated.values[0] == pytest.approx(1)


def test_a_constant_feature_has_no_effect():
    X = np.column_stack([np.arange(30.0), np.ones(30)])
    tree = DecisionTreeRegressor().fit(X, X[:, 0])
    found = accumulated_effects(tree, X, 1)
    assert found.edges.tolist() == [1.0]
    assert found.values.tolist() == [0.0]
    assert found.interval_weights.tolist() == []
    assert str(found).splitlines()[-1].split() == ["1", "0", "0"]


def test_every_kind_of_table_gives_the_same():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (100, 2)).astype(float)
    y = X[:, 0] + X[:, 1] ** 2
    fitted = GradientBoostingRegressor(max_iter=5, min_samples_leaf=3).fit(X, y)
    plain = accumulated_effects(fitted, X, 1)
    sparse = accumulated_effects(fitted, sp.csr_array(X), 1)
    assert np.array_equal(plain.values, sparse.values)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    named = GradientBoostingRegressor(max_iter=5, min_samples_leaf=3).fit(frame, y)
    assert np.array_equal(plain.values, accumulated_effects(named.model_, frame, "b").values)


def test_results_become_frames_and_cannot_be_changed():
    fitted, frame, _ = boosted()
    found = accumulated_effects(fitted, frame, "age", n_intervals=5)
    assert list(found.to_frame().columns) == ["age", "effect", "weight"]
    assert found.to_frame()["weight"].sum() == len(frame)
    assert str(found).startswith("Accumulated local effects of age on prediction (raw)")
    for array in (found.values, found.edges, found.interval_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("feature", "params", "error", "words"),
    [
        ("tree", {}, InvalidParameter, "Use partial_dependence"),
        ("agee", {}, InvalidParameter, "Did you mean 'age'"),
        ("age", {"n_intervals": 0}, InvalidParameter, "n_intervals=0"),
        ("age", {"output": 3}, InvalidParameter, "3 is neither"),
        ("age", {"scale": "odds"}, InvalidParameter, "scale='odds'"),
        ("age", {"sample_weight": [1.0]}, InvalidInput, "sample_weight"),
        ("age", {"n_jobs": 0}, InvalidParameter, "n_jobs=0"),
    ],
)
def test_wrong_questions_are_refused(feature, params, error, words):
    fitted, frame, _ = boosted(max_iter=1)
    with pytest.raises(error, match=words):
        accumulated_effects(fitted, frame, feature, **params)


def test_values_that_cannot_be_accumulated_are_refused():
    fitted, frame, _ = boosted(max_iter=1)
    with pytest.raises(InvalidInput, match="Row 3 of 'age' is inf"):
        accumulated_effects(
            fitted, frame.assign(age=frame["age"].where(frame.index != 3, np.inf)), "age"
        )
    with pytest.raises(InvalidInput, match="No row of positive weight"):
        accumulated_effects(fitted, frame.assign(income=np.nan), "income")
