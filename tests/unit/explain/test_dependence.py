# ruff: noqa: PD011 - results have values of their own
"""Partial dependence and individual curves: definitions, identities, and other people's numbers."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.inspection import partial_dependence as their_dependence
from tests.reference.dependence import slow_cover_value, slow_dependence
from tests.unit.explain.forests import LEVELS, boosted, classified, mean_of_vectors, plain_rows

from spinney import DecisionTreeRegressor, GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain import individual_curves, partial_dependence
from spinney.explain.grids import between

QUESTIONS = [["age"], ["income"], ["tree"], ["income", "tree"], ["member", "age"]]


def points_of(model, result):
    """Grid points as the slow twins take them."""
    points = {}
    for name, grid in zip(result.feature_names, result.grids, strict=True):
        place = model.schema.names.index(name)
        levels = model.schema.levels[place]
        missing = -1 if levels is not None else np.nan
        read = levels.values.index if levels is not None else float
        points[place] = [missing if x is None else read(x) for x in grid.tolist()]
    return points


@pytest.mark.parametrize("features", QUESTIONS)
def test_over_rows_it_is_the_mean_by_definition(features):
    fitted, frame, _ = boosted()
    rows, bins = plain_rows(fitted.model_, frame[:20])
    weights = np.arange(20) % 4
    found = partial_dependence(fitted, features, frame[:20], grid=6, sample_weight=weights)
    points = points_of(fitted.model_, found)
    expected = slow_dependence(fitted.model_, rows, points, bins, weights=weights)
    assert found.values.shape == expected.shape
    assert np.allclose(found.values, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("features", QUESTIONS)
def test_without_rows_it_is_the_expectation_by_training_weight(features):
    fitted, _, _ = boosted()
    model = fitted.model_
    found = partial_dependence(fitted, features, grid=6)
    points = points_of(model, found)
    _, bins = plain_rows(model, boosted()[1][:1])
    mesh = np.meshgrid(*(np.array(values) for values in points.values()), indexing="ij")
    expected = [
        sum(
            slow_cover_value(tree, 0, dict(zip(points, asked, strict=True)), bins)[0]
            for tree in model
        )
        for asked in zip(*(part.ravel().tolist() for part in mesh), strict=True)
    ]
    expected = model.arrays["baseline"][0] + np.reshape(expected, found.values.shape)
    assert np.allclose(found.values, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("output", [0, 1])
def test_averaged_trees_of_vectors_have_a_dependence_for_each_output(output):
    forest, frame = mean_of_vectors()
    found = partial_dependence(forest, "age", frame, output=output)
    curves = individual_curves(forest, "age", frame, output=f"output {output}")
    assert np.allclose(found.values, curves.values.mean(axis=0), rtol=1e-12)
    direct = forest.predictions(frame.assign(age=float(found.grids[0][3])))[:, output]
    assert np.array_equal(curves.values[:, 3], direct)


@pytest.mark.parametrize("scale", ["raw", "prediction"])
@pytest.mark.parametrize("feature", ["age", "income", "tree", "member"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_mean_of_the_curves_is_the_dependence(n_classes, feature, scale):
    fitted, frame, _ = classified(n_classes)
    asked = {"output": "b", "scale": scale}
    weights = np.arange(len(frame)) % 3
    curves = individual_curves(fitted, feature, frame, **asked)
    found = partial_dependence(fitted, feature, frame, sample_weight=weights, **asked)
    assert np.allclose(np.average(curves.values, axis=0, weights=weights), found.values)
    assert found.output_name == curves.output_name == "b"
    once = frame.loc[np.repeat(frame.index, weights)]
    same_grid = {"grid": found.grids[0].tolist(), **asked}
    repeated = partial_dependence(fitted, feature, once, **same_grid)
    assert np.allclose(repeated.values, found.values, rtol=1e-12)


def test_probabilities_of_two_classes_add_up_to_one():
    fitted, frame, _ = classified(2)
    second = partial_dependence(fitted, ["age", "tree"], frame, scale="prediction", grid=4)
    first = partial_dependence(fitted, ["age", "tree"], frame, scale="prediction", grid=4, output=0)
    assert (second.output_name, first.output_name) == ("b", "a")
    assert np.allclose(first.values + second.values, 1)
    moved = frame.assign(age=second.grids[0][1], tree=pd.Categorical(["elm"] * len(frame)))
    column = second.grids[1].tolist().index("elm")
    expected = fitted.predict_proba(moved)[:, 1].mean()
    assert second.values[1, column] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("names", [["age"], ["age", "income"]])
def test_scikit_learn_finds_the_same_by_brute_force(names):
    fitted, frame, _ = boosted()
    frame = frame.assign(income=frame["income"].fillna(1.0), age=frame["age"].astype(float))
    grids = [np.linspace(20, 60, 7), np.linspace(0, 5, 4)][: len(names)]
    theirs = their_dependence(
        fitted, frame, names, custom_values=dict(zip(names, grids, strict=True)), method="brute"
    )
    grid = grids[0] if len(names) == 1 else (grids[0], grids[1])
    ours = partial_dependence(fitted, names, frame, grid=grid)
    assert np.allclose(ours.values, theirs["average"][0], rtol=1e-12)
    if len(names) == 1:
        curves = individual_curves(fitted, names[0], frame, grid=grid)
        each = their_dependence(
            fitted, frame, names, custom_values={names[0]: grid}, kind="individual", method="brute"
        )
        assert np.array_equal(curves.values, each["individual"][0])


def test_of_an_additive_model_it_is_the_component_and_a_constant():
    rng = np.random.default_rng(1)
    X = rng.random((300, 3))
    y = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    fitted = GradientBoostingRegressor(max_iter=40, interaction_cst="no_interactions").fit(X, y)
    parts = [partial_dependence(fitted, f, X, grid=X[:50, f]).values for f in range(3)]
    mean = fitted.predict(X).mean()
    assert np.allclose(sum(parts) - 2 * mean, fitted.predict(X[:50]), rtol=1e-10)
    cover = partial_dependence(fitted, 0, grid=X[:50, 0]).values
    assert np.allclose(cover - cover.mean(), parts[0] - parts[0].mean(), atol=1e-10)


def test_the_default_grid_misses_nothing():
    fitted, frame, _ = boosted()
    found = partial_dependence(fitted, "income", frame, grid=1000)
    grid, values = found.grids[0], found.values
    assert np.isnan(grid[-1])  # the rows have missing incomes
    dense = np.concatenate([frame["income"].dropna(), np.linspace(-5, 50, 3000)])
    asked = partial_dependence(fitted, "income", frame, grid=dense).values
    thresholds = np.unique(np.concatenate([t.threshold[t.feature == 1] for t in fitted.model_]))
    thresholds = thresholds[np.isfinite(thresholds)]
    assert len(grid) == len(thresholds) + 2
    assert np.array_equal(np.searchsorted(thresholds, grid[:-1]), np.arange(len(thresholds) + 1))
    place = np.searchsorted(thresholds, dense)
    assert np.allclose(values[place], asked, rtol=1e-12)


def test_a_value_at_a_threshold_goes_left_as_in_the_model():
    fitted, frame, _ = boosted()
    on_age = [tree.threshold[tree.feature == 0] for tree in fitted.model_]
    thresholds = np.unique(np.concatenate(on_age)).astype(float)
    found = partial_dependence(fitted, "age", frame, grid=thresholds)
    curves = individual_curves(fitted, "age", frame, grid=thresholds)
    direct = np.array([fitted.predict(frame.assign(age=value)) for value in thresholds])
    assert np.array_equal(curves.values, direct.T)
    assert np.allclose(found.values, direct.mean(axis=1), rtol=1e-12)


def test_a_split_that_tells_missing_values_from_all_others_cuts_no_numbers():
    X = np.array([[np.nan], [1.0], [2.0], [np.nan]] * 5)
    tree = DecisionTreeRegressor().fit(X, np.isnan(X[:, 0]))
    assert tree.model_[0].threshold[0] == np.inf
    found = partial_dependence(tree, 0)
    assert found.grids[0].tolist() == [0.0, pytest.approx(np.nan, nan_ok=True)]
    assert found.values.tolist() == [0.0, 1.0]


def test_neighbouring_floats_have_points_of_their_own():
    cuts = np.array([1.0, np.nextafter(1.0, 2.0), 2.0, np.finfo(float).max])
    points = between(cuts, 100)
    assert np.array_equal(np.searchsorted(cuts, points), np.arange(5))
    tiny = np.array([5e-324, 1e-323, 1.5e-323])
    assert np.array_equal(np.searchsorted(tiny, between(tiny, 100)), np.arange(4))
    endless = np.array([-np.inf, 3.0])
    assert np.array_equal(np.searchsorted(endless, between(endless, 100)), np.arange(3))
    alone = np.array([-np.inf])
    assert np.array_equal(np.searchsorted(alone, between(alone, 100)), np.arange(2))


def test_a_large_grid_is_thinned_and_keeps_its_ends():
    fitted, frame, _ = boosted()
    whole = partial_dependence(fitted, "age", frame, grid=1000).grids[0]
    few = partial_dependence(fitted, "age", frame, grid=5).grids[0]
    assert len(few) == 5 < len(whole)
    assert few[0] == whole[0]
    assert few[-1] == whole[-1]
    assert set(few) <= set(whole)


def test_levels_booleans_and_missing_are_asked_about_by_name():
    fitted, frame, _ = boosted()
    assert partial_dependence(fitted, "tree", frame).grids[0].tolist() == [*LEVELS, None]
    known = frame.dropna()
    assert partial_dependence(fitted, "tree", known).grids[0].tolist() == list(LEVELS)
    assert partial_dependence(fitted, "tree").grids[0].tolist() == [*LEVELS, None]
    assert partial_dependence(fitted, "member", frame).grids[0].tolist() == [False, True]
    assert partial_dependence(fitted, "member").grids[0][0] is False
    chosen = partial_dependence(fitted, "tree", frame, grid=["yew", None, "ash"])
    assert chosen.grids[0].tolist() == ["yew", None, "ash"]
    whole = partial_dependence(fitted, "tree", frame).values
    assert np.array_equal(chosen.values, whole[[3, 4, 0]])


def test_dates_are_asked_about_as_dates():
    days = pd.date_range("2024-01-01", periods=100, freq="D")
    frame = pd.DataFrame({"day": days, "span": days - days[0]})
    tree = DecisionTreeRegressor(max_leaf_nodes=2).fit(frame, days >= "2024-02-01")
    found = partial_dependence(tree, "day", frame, grid=[dt.datetime(2024, 1, 2), days[90]])  # noqa: DTZ001
    assert found.values.tolist() == [0.0, 1.0]
    assert found.grids[0][0] == np.datetime64("2024-01-02")
    default = partial_dependence(tree, "day", frame)
    assert default.grids[0].dtype == "datetime64[us]"
    assert default.values.tolist() == [0.0, 1.0]
    spans = partial_dependence(tree, "span", frame, grid=[dt.timedelta(days=1)])
    assert spans.grids[0].tolist() == [dt.timedelta(days=1)]


def test_a_feature_nobody_looks_at_has_a_flat_dependence():
    X = np.column_stack([np.arange(40.0), np.ones(40)])
    tree = DecisionTreeRegressor().fit(X, X[:, 0])
    found = partial_dependence(tree, 1, X)
    assert found.grids[0].tolist() == [0.0]
    assert found.values[0] == pytest.approx(tree.predict(X).mean())
    assert individual_curves(tree, 1, X, grid=[1.0, 5.0]).values.tolist() == [
        [v, v] for v in X[:, 0]
    ]


def test_centred_curves_start_at_zero():
    fitted, frame, _ = boosted()
    plain = individual_curves(fitted, "age", frame)
    centred = individual_curves(fitted, "age", frame, centred=True)
    assert np.array_equal(centred.values, plain.values - plain.values[:, :1])
    assert centred.centred
    assert "from the first point" in str(centred)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_matrix, pl.DataFrame, pa.table, np.asarray])
def test_every_kind_of_table_gives_the_same(make):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (80, 3)).astype(float)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    named = make in (pl.DataFrame, pa.table)
    table = make({f"x{k}": X[:, k] for k in range(3)}) if named else make(X)
    fitted = GradientBoostingRegressor(max_iter=5, min_samples_leaf=2).fit(table, y)
    assert np.array_equal(
        partial_dependence(fitted, "x1", table).values,
        partial_dependence(fitted.model_, 1, table, n_jobs=2).values,
    )
    plain = GradientBoostingRegressor(max_iter=5, min_samples_leaf=2).fit(X, y)
    theirs = individual_curves(plain, 1, X).values
    assert np.array_equal(individual_curves(fitted, 1, table).values, theirs)


def test_an_infinite_value_is_a_value():
    X = np.array([[-np.inf], [0.0], [1.0], [np.inf]] * 5)
    y = np.array([1.0, 2.0, 3.0, 4.0] * 5)
    tree = DecisionTreeRegressor().fit(X, y)
    found = partial_dependence(tree, 0, X, grid=X[:4, 0])
    assert found.values.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert partial_dependence(tree, 0, X).values.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_results_name_everything_and_become_frames():
    fitted, frame, _ = boosted()
    found = partial_dependence(fitted, ["tree", "member"], frame)
    table = found.to_frame()
    assert list(table.columns) == ["tree", "member", "dependence"]
    assert len(table) == found.values.size == 10
    assert table["dependence"].to_numpy().tolist() == found.values.ravel().tolist()
    assert str(found).startswith("Partial dependence of prediction (raw) on tree and member")
    assert "as the trees recall" in str(partial_dependence(fitted, "age"))
    curves = individual_curves(fitted, "tree", frame[:3])
    assert curves.to_frame("polars").shape == (3 * len(curves.grid), 3)
    for array in (found.values, found.grids[0], curves.values, curves.grid):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_a_feature_may_have_the_name_of_a_column_of_the_result():
    frame = pd.DataFrame({"dependence": [0.0, 1.0], "row": [1.0, 2.0], "curve": [0.0, 1.0]})
    tree = DecisionTreeRegressor().fit(frame, [0.0, 1.0])
    assert set(partial_dependence(tree, "dependence").columns()) == {"dependence", "dependence_"}
    assert set(individual_curves(tree, "row", frame).columns()) == {"row", "row_", "curve"}


@pytest.mark.parametrize(
    ("features", "params", "error", "words"),
    [
        ("agee", {}, InvalidParameter, "Did you mean 'age'"),
        (4, {}, InvalidParameter, "position from 0 to 3"),
        (-1, {}, InvalidParameter, "-1 is neither"),
        (True, {}, InvalidParameter, "True is neither"),
        (1.5, {}, InvalidParameter, "features=1.5"),
        ([], {}, InvalidParameter, "1 to 2 different features"),
        (["age", "age"], {}, InvalidParameter, "1 to 2 different features"),
        (["age", "tree", "member"], {}, InvalidParameter, "1 to 2 different features"),
        ("age", {"scale": "logit"}, InvalidParameter, "expected 'raw' or 'prediction'"),
        ("age", {"scale": "predictions"}, InvalidParameter, "Did you mean 'prediction'"),
        ("age", {"output": "c"}, InvalidParameter, "no raw score 'c'"),
        ("age", {"output": 1}, InvalidParameter, "position from 0 to 0"),
        ("age", {"grid": 1}, InvalidParameter, "at least 2"),
        ("age", {"grid": []}, InvalidParameter, "the values to ask about"),
        ("age", {"grid": "many"}, InvalidParameter, "grid='many'"),
        ("age", {"grid": ["old"]}, InvalidInputType, "In the grid of 'age'"),
        ("tree", {"grid": ["fir"]}, InvalidInput, "not seen at fit"),
        (["age", "tree"], {"grid": [1.0, 2.0, 3.0]}, InvalidParameter, "a pair"),
        (["age", "tree"], {"grid": [1.0, 2.0]}, InvalidParameter, "a pair"),
        ("age", {"sample_weight": [1.0]}, InvalidInput, "sample_weight"),
        ("age", {"n_jobs": 0}, InvalidParameter, "n_jobs=0"),
        ("age", {"X": None, "scale": "prediction"}, InvalidParameter, "Pass X, or use scale='raw'"),
        ("age", {"X": None, "sample_weight": [1.0]}, InvalidInput, "nothing to weigh"),
    ],
)
def test_wrong_questions_are_refused_with_a_remedy(features, params, error, words):
    fitted, frame, _ = classified(2)
    with pytest.raises(error, match=words):
        partial_dependence(fitted, features, **{"X": frame, **params})


@pytest.mark.parametrize("ask", [partial_dependence, individual_curves])
def test_a_table_in_place_of_a_feature_is_told_apart_in_a_line(ask):
    fitted, frame, _ = classified(2)
    with pytest.raises(InvalidParameter, match=r"a DataFrame is neither .* 'age', 'income'"):
        ask(fitted, frame, "age")


def test_one_of_several_outputs_must_be_chosen():
    fitted, frame, _ = classified(3)
    with pytest.raises(InvalidParameter, match="3 outputs, 'a', 'b', 'c'"):
        partial_dependence(fitted, "age", frame)
    with pytest.raises(InvalidParameter, match="3 outputs"):
        individual_curves(fitted, "age", frame, scale="prediction")
