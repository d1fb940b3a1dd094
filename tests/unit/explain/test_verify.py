"""Claims about fitted models: proved, refuted with real rows, or open; and hostile questions."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from tests.unit.explain.small_forests import random_forest

from spinney import DecisionTreeClassifier, GradientBoostingClassifier, GradientBoostingRegressor
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter
from spinney.explain import verify
from spinney.explain.verification.bounds import outward
from spinney.explain.verification.rows import plain_number
from spinney.model import TreeForest


def table(seed=0, n=600):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["age", "income", "height", "noise"])
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame["colour"] = rng.choice(["red", "green", "blue"], n)
    y = frame.age + np.sin(2 * frame.height) + (frame.colour == "red") * frame.age
    return frame, y + rng.normal(0, 0.3, n)


def boosted(**parameters):
    X, y = table()
    return GradientBoostingRegressor(max_iter=25, min_samples_leaf=5, **parameters).fit(X, y)


@pytest.fixture(scope="module")
def free():
    return boosted()


@pytest.fixture(scope="module")
def constrained():
    return boosted(monotonic_cst={"age": 1, "income": -1}, interaction_cst=[[0, 1], [2, 4], [3]])


def verdicts(verification):
    return [claim.verdict for claim in verification.claims]


def damaged(model, feature):
    """Raise the leftmost leaf of the first tree that begins with a feature."""
    arrays = dict(model.arrays)
    roots = arrays["tree_start"][:-1]
    root = roots[np.argmax(arrays["feature"][roots] == feature)]
    leaf = root + np.argmax(arrays["feature"][root:] < 0)
    arrays["values"] = arrays["values"].copy()
    arrays["values"][leaf] += 9.0
    return TreeForest(model.schema, model.target, arrays, output=model.output, policy=model.policy)


def test_without_claims_the_constraints_of_the_fit_are_proved(constrained):
    found = verify(constrained, budget=500)
    assert found.holds
    statements = [claim.statement for claim in found.claims]
    assert statements[:3] == [
        "the score never falls as 'age' grows",
        "the score never rises as 'income' grows",
        "features interact only within their groups",
    ]
    assert statements[3].startswith("the prediction is from ")


def test_a_bare_model_knows_no_constraints_but_has_a_range(constrained):
    claim = verify(constrained.model_, budget=500).claims[0]
    low, high = claim.bounds
    predicted = constrained.predict(table()[0])
    assert low <= predicted.min() <= predicted.max() <= high


def test_a_damaged_model_is_refuted(constrained):
    model = damaged(constrained.model_, feature=0)
    found = verify(
        model,
        monotonic={"age": 1, "income": -1},
        interactions=[["age", "income"], ["height", "colour"], ["noise"]],
        bounds=(None, 5),
    )
    assert verdicts(found)[0] == "refuted"
    assert verdicts(found)[2:] == ["proved", "refuted"]
    assert not found.holds


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_rows_that_refute_are_rows_a_user_can_predict(free, library):
    found = verify(
        free, monotonic={"height": 1}, unused="colour", bounds=(None, 0.5), interactions="pairwise"
    )
    assert set(verdicts(found)) == {"refuted"}
    for claim in found.claims:
        rows = library(list(claim.counter_example))
        assert free.predict(rows).tolist() == list(claim.predictions)
        assert set(rows.columns) == {"age", "income", "height", "noise", "colour"}


def test_features_that_no_tree_uses_are_named():
    X, y = table()
    fitted = GradientBoostingRegressor(max_iter=2, max_leaf_nodes=2).fit(X[["age", "noise"]], y)
    claim = verify(fitted).claims[-1]
    assert claim.features == ("noise",)
    assert verify(fitted, unused=["noise"]).holds


def test_a_claim_is_undecided_when_the_budget_is_spent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    fitted = GradientBoostingRegressor(max_iter=40).fit(X, X.sum(axis=1) + X[:, 0] * X[:, 1])
    (exact,) = [c for c in verify(fitted, budget=1).claims if c.bounds]
    best = fitted.predict(X).max()
    between = (best + exact.bounds[1]) / 2
    claim = verify(fitted, bounds=(None, between), budget=1).claims[0]
    assert claim.verdict in ("undecided", "refuted")
    close = verify(fitted, bounds=(None, exact.bounds[1] - 1e-3), budget=1).claims[0]
    assert close.verdict == "undecided"
    assert "the largest is from" in close.evidence


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_bounds_of_two_classes_are_those_of_the_second_probability(loss):
    X, y = table()
    fitted = GradientBoostingClassifier(max_iter=5, loss=loss).fit(X, np.where(y > 0, "yes", "no"))
    (claim,) = [c for c in verify(fitted).claims if c.bounds]
    assert claim.statement.startswith("the probability of 'yes' is from 0.")
    low, high = claim.bounds
    probability = fitted.predict_proba(X)[:, 1]
    assert 0 < low <= probability.min() <= probability.max() <= high < 1
    assert verify(fitted, bounds=(low, high)).holds
    assert verify(fitted, bounds=(0, 1)).holds
    assert verdicts(verify(fitted, bounds=(low + 1e-6, high - 1e-6))) == ["refuted", "refuted"]


def test_bounds_of_counts_are_bounds_of_the_mean():
    X, y = table()
    fitted = GradientBoostingRegressor(loss="poisson", max_iter=5).fit(X, np.exp(y / 2).round())
    (claim,) = [c for c in verify(fitted).claims if c.bounds]
    assert verify(fitted, bounds=(0, claim.bounds[1])).holds
    assert verify(fitted, bounds=(claim.bounds[0] * 1.001, None)).claims[0].verdict == "refuted"
    assert verify(fitted, bounds=(None, -1)).claims[0].verdict == "refuted"


def test_three_classes_have_bounds_of_raw_scores_once_one_is_chosen():
    X, y = table()
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-0.5, 0.5])]
    fitted = GradientBoostingClassifier(max_iter=4).fit(X, labels)
    with pytest.raises(InvalidParameter, match=r"output='a'.* raw score"):
        verify(fitted, bounds=(0, 1))
    found = verify(fitted, bounds=(-9, 9), output="c")
    assert found.claims[0].statement == "the raw score of 'c', before softmax, is at least -9"
    scores = fitted.decision_function(X)[:, 2]
    (claim,) = [c for c in verify(fitted, output="c").claims if c.bounds]
    assert claim.bounds[0] <= scores.min() <= scores.max() <= claim.bounds[1]


def test_shares_of_a_tree_of_two_classes():
    X, y = table()
    fitted = DecisionTreeClassifier(max_depth=3).fit(X, y > 0)
    (low, high) = verify(fitted, bounds=(0, 1)).claims
    assert (low.verdict, high.verdict) == ("proved", "proved")
    assert low.statement == "the probability of 'True' is at least 0"


def test_dates_durations_and_booleans_come_back_as_such():
    rng = np.random.default_rng(0)
    n = 400
    days, hours = rng.integers(0, 3000, (2, n))
    X = pd.DataFrame(
        {
            "day": pd.Timestamp("2015-01-01") + pd.to_timedelta(days, unit="D"),
            "aware": pd.Timestamp("2015-01-01", tz="UTC") + pd.to_timedelta(hours, unit="h"),
            "span": pd.to_timedelta(rng.integers(0, 5000, n), unit="s"),
            "flag": rng.random(n) < 0.5,
            "number": pd.Categorical(rng.integers(0, 5, n)),
        }
    )
    y = (
        np.sin(days / 300)
        + np.cos(hours / 300)
        + X.span.dt.total_seconds() / 5000 * X.flag
        + (X.number.astype(int) == 3)
    )
    fitted = GradientBoostingRegressor(max_iter=20, min_samples_leaf=5)
    fitted.fit(X, y)
    found = verify(fitted, unused=list(X.columns), bounds=(None, 1.0))
    types = {"day": dt.datetime, "aware": dt.datetime, "span": dt.timedelta, "flag": bool}
    for claim in found.claims:
        assert claim.verdict == "refuted"
        for row in claim.counter_example:
            for name, kind in types.items():
                assert row[name] is None or isinstance(row[name], kind)
            assert row["number"] in (None, 0, 1, 2, 3, 4)
    early = (dt.datetime(2015, 1, 1), dt.datetime(2015, 3, 1))  # noqa: DTZ001 - like the column
    (row,) = verify(fitted, bounds=(None, -9), within={"day": early}).claims[0].counter_example
    assert early[0] <= row["day"] <= early[1]


def test_it_prints_as_a_table_and_is_neither_true_nor_false(free):
    found = verify(free, monotonic={"age": 1}, unused=["age"])
    lines = str(found).splitlines()
    assert lines[0].startswith("Verification over all rows: ")
    assert lines[1].split() == ["claim", "verdict", "evidence"]
    assert len(lines) == 4
    assert list(found.to_frame().columns) == ["claim", "verdict", "evidence"]
    with pytest.raises(InvalidInputType, match=r"Use \.holds"):
        bool(found)


def test_the_heading_names_the_rows_it_is_about(free):
    asked = {"age": (20, None), "noise": (None, None), "colour": ["red", "blue"]}
    assert (
        verify(free, unused=["noise"], within=asked)
        .title()
        .startswith(
            "Verification over rows with age from 20, noise not missing, colour in 'blue', 'red': "
        )
    )
    assert (
        verify(free, unused=["noise"], within={}).title().startswith("Verification over all rows: ")
    )


def test_budget_and_order_give_the_same_answer_again(free):
    assert str(verify(free, budget=300)) == str(verify(free, budget=300))


def test_zero_in_a_dict_of_signs_claims_nothing(free):
    assert verdicts(verify(free, monotonic={"age": 0}, unused=["noise"])) == ["refuted"]


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        ({"monotonic": {"agee": 1}}, InvalidParameter, "Did you mean 'age'"),
        ({"monotonic": {"age": 2}}, InvalidInput, "expected 1, -1 or 0"),
        ({"monotonic": {"age": math.nan}}, InvalidInput, "expected 1, -1 or 0"),
        ({"monotonic": {"age": "up"}}, InvalidInput, "expected 1, -1 or 0"),
        ({"monotonic": {"colour": 1}}, InvalidInput, "no order"),
        ({"monotonic": {5: 1}}, InvalidParameter, "position from 0 to 4"),
        ({"monotonic": {-1: 1}}, InvalidParameter, "position from 0 to 4"),
        ({"monotonic": {1.5: 1}}, InvalidParameter, "neither the name nor the position"),
        ({"monotonic": [1, 0]}, InvalidInput, "one number per feature"),
        ({"unused": ["colr"]}, InvalidParameter, "Did you mean 'colour'"),
        ({"unused": 2.5}, InvalidInputType, "expected features"),
        ({"unused": [True]}, InvalidParameter, "neither the name nor the position"),
        ({"interactions": "pairs"}, InvalidInput, "Did you mean 'pairwise'"),
        ({"interactions": 3}, InvalidInputType, "groups of features"),
        ({"interactions": [["age", "heights"]]}, InvalidParameter, "Did you mean 'height'"),
        ({"bounds": (math.nan, None)}, InvalidInput, "NaN is no bound"),
        ({"bounds": (1, 0)}, InvalidInput, "above the upper"),
        ({"bounds": 3}, InvalidInputType, "two ends"),
        ({"bounds": "01"}, InvalidInputType, "two ends"),
        ({"bounds": ("0", 1)}, InvalidInputType, "not a number"),
        ({"bounds": (None, True)}, InvalidInputType, "not a number"),
        ({"output": "height"}, InvalidParameter, "There are 'prediction'"),
        ({"output": 1}, InvalidParameter, "Expected one of 'prediction'"),
        ({"budget": 0}, InvalidParameter, "at least 1"),
        ({"budget": 2.5}, InvalidParameter, "whole number"),
        ({"within": [1]}, InvalidInputType, "expected a dict"),
        ({"within": {"age": 3}}, InvalidInputType, "two ends"),
        ({"within": {"age": (3, 2)}}, InvalidInput, "no number is that"),
        ({"within": {"age": (math.nan, 2)}}, InvalidInput, "Give None instead"),
        ({"within": {"age": ("a", "b")}}, InvalidInputType, "Give numbers"),
        ({"within": {"colour": "red"}}, InvalidInputType, "list of categories"),
        ({"within": {"colour": ["rot"]}}, InvalidInput, "not among the categories"),
        ({"within": {"colour": []}}, InvalidInput, "not among the categories"),
    ],
)
def test_hostile_questions_are_refused_in_our_words(free, question, error, message):
    with pytest.raises(error, match=message):
        verify(free, **question)


def test_what_has_no_trees_is_refused():
    with pytest.raises(NotFittedError):
        verify(GradientBoostingRegressor())
    with pytest.raises(InvalidInputType, match="no trees"):
        verify(LinearRegression())


def test_scores_that_overflow_are_refused():
    model = random_forest(0)
    arrays = dict(model.arrays) | {"baseline": np.array([1.7e308])}
    arrays["values"] = np.full_like(model.arrays["values"], 1.7e308)
    huge = TreeForest(model.schema, model.target, arrays, output=model.output, policy=model.policy)
    with pytest.raises(InvalidInput, match="overflow"):
        verify(huge)


@pytest.mark.parametrize("seed", range(20))
def test_plain_numbers_lie_where_they_should_and_bounds_stay_true(seed):
    rng = np.random.default_rng(seed)
    above = rng.normal() * 10.0 ** rng.integers(-12, 12)
    for up_to in (above + abs(rng.normal()), np.nextafter(above, np.inf), np.inf):
        assert above < plain_number(above, up_to) <= up_to
    assert plain_number(-np.inf, above) <= above
    assert plain_number(-np.inf, -np.inf) == -np.inf
    assert float(outward(above, 1)) >= above >= float(outward(above, -1))
