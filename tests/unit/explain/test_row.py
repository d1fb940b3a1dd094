"""One prediction as a table: the right numbers, and values as the user wrote them."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spinney import DecisionTreeClassifier, DecisionTreeRegressor, GradientBoostingClassifier
from spinney import GradientBoostingRegressor as Regressor
from spinney.errors import InvalidInput, InvalidParameter
from spinney.explain import explain_row, shap_values

FRAME = pd.DataFrame(
    {
        "age": np.arange(60.0) % 17,
        "tree": pd.Categorical(np.array(["ash", "oak", "elm"])[np.arange(60) % 3]),
        "member": np.arange(60) % 4 == 0,
    }
)
Y = FRAME["age"] + 5 * (FRAME["tree"] == "oak") - 3 * FRAME["member"]


@pytest.fixture(scope="module")
def regressor():
    return Regressor(max_iter=20, min_samples_leaf=3).fit(FRAME, Y)


@pytest.fixture(scope="module")
def classifier():
    labels = np.array(["low", "mid", "top"])[np.digitize(Y, [5, 12])]
    return GradientBoostingClassifier(max_iter=10, min_samples_leaf=3).fit(FRAME, labels)


def test_a_row_is_told_from_its_base_to_its_prediction(regressor):
    found = explain_row(regressor, FRAME.iloc[[7]])
    values = shap_values(regressor, FRAME.iloc[[7]])
    assert found.prediction == regressor.predict(FRAME.iloc[[7]])[0]
    assert np.array_equal(found.contributions, values.values[0, :, 0])  # noqa: PD011
    columns = found.columns()
    assert columns["feature"][0] == "base"
    assert columns["sum"][0] == columns["contribution"][0] == values.base[0]
    assert columns["sum"][-1] == pytest.approx(found.raw_score, rel=1e-12)
    sizes = np.abs(columns["contribution"][1:])
    assert (sizes[:-1] >= sizes[1:]).all()
    assert dict(zip(columns["feature"], columns["value"], strict=True)) == {
        "base": "",
        "age": "7",
        "tree": "oak",
        "member": "False",
    }
    assert str(found).startswith("prediction = ")
    assert "the prediction itself" in found.title()


def test_every_form_of_a_row_is_the_same_row(regressor):
    expected = str(explain_row(regressor, FRAME.iloc[[7]]))
    mapping = {"member": False, "age": 7, "tree": "oak"}
    forms = [mapping, pl.DataFrame([mapping]), FRAME.iloc[7]]
    assert {str(explain_row(regressor, form)) for form in forms} == {expected}
    assert str(explain_row(regressor.model_, mapping)) == expected


def test_rows_without_names_go_by_position():
    X = np.column_stack([np.arange(30.0), np.arange(30.0) % 4])
    fitted = DecisionTreeRegressor().fit(X, X[:, 0])
    forms = [X[3], X[3:4], [3.0, 3.0], (3, 3), {"x1": 3.0, "x0": 3.0}]
    assert len({str(explain_row(fitted, form)) for form in forms}) == 1


def test_missing_and_unseen_values_say_so(regressor):
    found = explain_row(regressor, {"age": None, "tree": "baobab", "member": None})
    assert found.feature_values == ("missing", "baobab (unseen)", "missing")


def test_numbers_and_times_look_as_they_were_given():
    start = dt.datetime(2024, 2, 28)  # noqa: DTZ001
    n = np.arange(40)
    frame = pd.DataFrame(
        {
            "day": [(start + dt.timedelta(days=int(i))).date() for i in n],
            "at": [start + dt.timedelta(hours=int(i), microseconds=int(i)) for i in n],
            "aware": pd.date_range("2024-01-01", periods=40, tz="UTC"),
            "took": [dt.timedelta(minutes=int(i)) for i in n],
            "narrow": (n / 10).astype(np.float32),
            "huge": n * 1e300,
            "none": np.full(40, np.nan),
        }
    )
    fitted = DecisionTreeRegressor().fit(frame, n)
    assert explain_row(fitted, frame.iloc[[1]]).feature_values == (
        "2024-02-29",
        "2024-02-28 01:00:00.000001",
        "2024-01-02 00:00:00 UTC",
        "0:01:00",
        "0.1",
        "1e+300",
        "missing",
    )


def test_the_class_explained_is_the_predicted_one_unless_another_is_named(classifier):
    row = FRAME.iloc[[1]]
    best = classifier.predict(row)[0]
    found = explain_row(classifier, row)
    assert found.prediction_name == f"P({best})"
    assert found.prediction == classifier.predict_proba(row).max()
    other = explain_row(classifier, row, output="low")
    assert other.prediction == classifier.predict_proba(row)[0, 0]
    assert other.raw_score < found.raw_score
    with pytest.raises(InvalidParameter, match="Did you mean 'top'"):
        explain_row(classifier, row, output="to")


def test_an_output_may_be_a_position_unless_the_number_is_a_label(classifier):
    two = Regressor(max_iter=5, min_samples_leaf=3).fit(FRAME, np.column_stack([Y, -Y]))
    found = explain_row(two, FRAME.iloc[[1]], output=1)
    assert found.prediction == two.predict(FRAME.iloc[[1]])[0, 1]
    assert found.prediction != explain_row(two, FRAME.iloc[[1]]).prediction
    assert explain_row(classifier, FRAME.iloc[[1]], output=2).prediction_name == "P(top)"
    digits = DecisionTreeClassifier().fit(FRAME, np.digitize(Y, [5, 12]) + 1)
    assert explain_row(digits, FRAME.iloc[[1]], output=1).prediction_name == "P(1)"
    with pytest.raises(InvalidParameter, match="position from 0 to 1"):
        explain_row(two, FRAME.iloc[[1]], output=2)


def test_two_classes_are_told_by_the_second():
    fitted = GradientBoostingClassifier(max_iter=5, min_samples_leaf=3).fit(FRAME, Y > 8)
    row = FRAME.iloc[[0]]
    found = explain_row(fitted, row)
    assert found.prediction_name == "P(True)"
    assert found.prediction == fitted.predict_proba(row)[0, 1]
    assert "log-odds" in found.title()
    assert explain_row(fitted, row, output=True).title() == found.title()


def test_class_shares_and_logarithms_are_called_so():
    tree = DecisionTreeClassifier().fit(FRAME, Y > 8)
    assert "the probability itself" in explain_row(tree, FRAME.iloc[[0]]).title()
    counts = Regressor(loss="poisson", max_iter=5).fit(FRAME, Y.abs())
    found = explain_row(counts, FRAME.iloc[[0]])
    assert "the logarithm of the prediction" in found.title()
    assert found.prediction == pytest.approx(np.exp(found.raw_score))


def test_a_background_moves_the_base(regressor):
    found = explain_row(regressor, FRAME.iloc[[7]], background=FRAME.iloc[[8]])
    assert found.base == pytest.approx(regressor.predict(FRAME.iloc[[8]])[0])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({}, "empty mapping. Give a value for each feature"),
        ({"age": 1, "tree": "oak"}, "Feature names seen at fit time, yet now missing:\n- member"),
        ({"age": 1, "tree_": "oak", "member": 0}, "Did you mean 'tree_'"),
        (FRAME.iloc[:3], "row has 3 rows; expected one"),
    ],
)
def test_what_is_not_a_row_is_refused_with_a_remedy(regressor, row, message):
    with pytest.raises(InvalidInput) as refusal:
        explain_row(regressor, row)
    assert message in str(refusal.value)
