# ruff: noqa: PD011 - results have values of their own
"""Accumulated effects of two features: their definition, and what they must be."""

import numpy as np
import pandas as pd
import pytest
from tests.reference.accumulated import slow_interaction
from tests.unit.explain.forests import boosted, classified

from spinney import DecisionTreeRegressor, GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import accumulated_interaction, accumulated_pair


@pytest.mark.parametrize("n_intervals", [1, 3, 8])
@pytest.mark.parametrize("names", [("age", "income"), ("income", "member")])
def test_they_are_what_their_definition_says(names, n_intervals):
    fitted, frame, _ = boosted()
    weights = np.arange(len(frame)) % 3
    found = accumulated_interaction(
        fitted, frame, names, n_intervals=n_intervals, sample_weight=weights
    )
    kept = (frame[list(names)].notna().all(axis=1) & (weights > 0)).to_numpy()
    expected, counts = slow_interaction(
        fitted.predict, frame[kept], names, found.edges, weights[kept]
    )
    assert np.allclose(found.values, expected, atol=1e-12)
    assert np.array_equal(found.cell_weights, counts)
    assert np.abs(expected).max() > 1e-6


def test_cells_without_rows_borrow_the_nearest_difference():
    rng = np.random.default_rng(0)
    first = rng.random(300)
    X = pd.DataFrame({"a": first, "b": first + rng.normal(0, 0.05, 300)})
    fitted = GradientBoostingRegressor(max_iter=40).fit(X, X["a"] * X["b"])
    found = accumulated_interaction(fitted, X, ["a", "b"], n_intervals=7)
    assert (found.cell_weights == 0).sum() > 10
    expected, counts = slow_interaction(fitted.predict, X, ["a", "b"], found.edges, np.ones(300))
    assert np.allclose(found.values, expected, atol=1e-12)
    assert np.array_equal(found.cell_weights, counts)


def test_many_cells_are_compared_in_parts(monkeypatch):
    there = np.random.default_rng(0).random((23, 31)) < 0.03
    whole = accumulated_pair.nearest_cells(there)
    monkeypatch.setattr(accumulated_pair, "_MOST_PAIRS", 100)
    assert np.array_equal(accumulated_pair.nearest_cells(there), whole)
    assert there.ravel()[whole].all()


def test_features_may_change_places():
    fitted, frame, _ = boosted()
    one = accumulated_interaction(fitted, frame, ["age", "income"], n_intervals=6)
    other = accumulated_interaction(fitted, frame, ["income", "age"], n_intervals=6)
    assert np.allclose(one.values, other.values.T, atol=1e-12)


def test_whole_weights_are_repetitions():
    fitted, frame, _ = boosted()
    weights = np.arange(len(frame)) % 3
    ask = {"features": ("age", "income"), "n_intervals": 5}
    weighted = accumulated_interaction(fitted, frame, **ask, sample_weight=weights)
    repeated = accumulated_interaction(fitted, frame.loc[np.repeat(frame.index, weights)], **ask)
    assert np.allclose(weighted.values, repeated.values, rtol=1e-10, atol=1e-12)
    assert np.array_equal(weighted.cell_weights, repeated.cell_weights)


def test_what_is_added_up_does_nothing_together():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = np.exp(X[:, 0]) + X[:, 1] ** 2
    fitted = GradientBoostingRegressor(max_iter=30, interaction_cst="no_interactions").fit(X, y)
    assert np.abs(accumulated_interaction(fitted, X, [0, 1]).values).max() < 1e-12


def test_a_product_is_found_with_both_slopes_taken_off():
    """Of x z that is (x - mean) (z - mean), where features are independent."""
    rng = np.random.default_rng(0)
    X = rng.random((6000, 2))
    tree = DecisionTreeRegressor(min_samples_leaf=2).fit(X, X[:, 0] * X[:, 1])
    found = accumulated_interaction(tree, X, [0, 1], n_intervals=5)
    expected = np.outer(found.edges[0] - 0.5, found.edges[1] - 0.5)
    assert np.abs(found.values - expected).max() < 0.03


def test_probabilities_and_threads():
    fitted, frame, _ = classified(2)
    second = accumulated_interaction(fitted, frame, ["age", "income"], scale="prediction")
    first = accumulated_interaction(
        fitted, frame, ["age", "income"], scale="prediction", output="a", n_jobs=2
    )
    assert np.allclose(first.values, -second.values, atol=1e-12)


def test_results_become_frames_and_cannot_be_changed():
    fitted, frame, _ = boosted()
    found = accumulated_interaction(fitted, frame, ["age", "member"], n_intervals=5)
    assert list(found.to_frame().columns) == ["age", "member", "effect", "weight"]
    assert len(found.to_frame()) == found.values.size
    assert found.to_frame()["weight"].sum() == len(frame)
    assert found.edges[1].tolist() == [False, True]
    assert str(found).startswith("Accumulated local effects of age with member on prediction (raw)")
    for array in (found.values, *found.edges, found.cell_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_constant_feature_does_nothing():
    X = np.column_stack([np.arange(30.0), np.ones(30)])
    tree = DecisionTreeRegressor().fit(X, X[:, 0])
    found = accumulated_interaction(tree, X, [0, 1], n_intervals=4)
    assert found.values.tolist() == [[0.0]] * 5
    assert found.cell_weights.shape == (4, 0)


@pytest.mark.parametrize(
    ("features", "params", "error", "words"),
    [
        (["age"], {}, InvalidParameter, "two different features"),
        (["age", "age"], {}, InvalidParameter, "'age'"),
        (["age", "tree"], {}, InvalidParameter, "is categorical"),
        (["agee", "age"], {}, InvalidParameter, "Did you mean 'age'"),
        (["age", "income", "member"], {}, InvalidParameter, "2"),
        (["age", "income"], {"n_intervals": 0}, InvalidParameter, "n_intervals=0"),
        (["age", "income"], {"scale": "odds"}, InvalidParameter, "scale='odds'"),
        (["age", "income"], {"sample_weight": [1.0]}, InvalidInput, "sample_weight"),
    ],
)
def test_wrong_questions_are_refused(features, params, error, words):
    fitted, frame, _ = boosted(max_iter=1)
    with pytest.raises(error, match=words):
        accumulated_interaction(fitted, frame, features, **params)
