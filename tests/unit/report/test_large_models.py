# ruff: noqa: PD011 - results and columns have values of their own
"""Reports on models of many levels and of deep trees: whole, true and soon there."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.unit.report.tables import many_levels_table, mixed_table

import spinney
from spinney.explain import partial_dependence
from spinney.model.derived import DerivedForest
from spinney.report import effort, report_html
from spinney.report.subject import read_subject


def part(text, name):
    """Give the words of one part of a page, and nothing of its markup."""
    body = text[text.index(f'<section id="{name}"') :]
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", body[: body.index("</section>")]))


@pytest.fixture(scope="module")
def derived():
    X, y = many_levels_table()
    X.loc[700:, "shop"] = X.loc[700:, "shop"].replace("shop 1", "a new shop")
    fitted = spinney.GradientBoostingRegressor(max_iter=20).fit(X[:650], y[:650])
    assert isinstance(fitted.model_, DerivedForest)
    return fitted, X[650:], y[650:]


@pytest.fixture(scope="module")
def page(derived):
    return report_html(*derived)


def test_dependence_on_many_levels_is_drawn_for_the_most_frequent(derived, page):
    told = part(page, "dependence")
    known = set(derived[0].model_.schema.levels[0].values)
    n_levels = len(known & set(derived[1].shop)) + 1  # and missing
    assert f"shop, the 10 most frequent of {n_levels}" in told
    assert "no sum of trees" not in page
    missing = partial_dependence(
        derived[0], "shop", derived[1], grid=[None], scale="prediction"
    ).values[0]
    drawn = re.search(r'data-tip="missing: ([^,]*),', page)
    assert float(drawn[1]) == pytest.approx(missing, rel=1e-2)


def test_what_is_said_of_rows_needs_no_plain_features(page):
    assert 'id="what-if-data"' in page
    assert "Mostly because of" in part(page, "rows")
    assert "Moves scores" in part(page, "importance")
    assert "derived from them" in part(page, "card")
    assert "trees," in part(page, "overview")


def test_certificates_are_what_verify_proves_of_derived_features(derived, page):
    told = part(page, "certificates")
    claims = spinney.explain.verify(derived[0]).claims
    assert claims[-1].statement.split("[")[0] in told
    assert "Nothing is proved" not in told


def test_committees_are_told_the_true_reason():
    X, y = mixed_table(200)
    X = X[["age"]]
    committee = spinney.VotingClassifier([("one", spinney.DecisionTreeClassifier())]).fit(X, y)
    page = report_html(committee, X, y)
    assert "A VotingClassifier has no trees to explain" in part(page, "dependence")
    assert "Nothing is proved. A VotingClassifier has no trees" in part(page, "certificates")
    assert "the model of VotingClassifier is no plain sum" in part(page, "what-if")


def test_categories_that_training_did_not_know_are_no_missing_ones(derived):
    fitted, X, _ = derived
    assert (X.shop == "a new shop").any()
    subject = read_subject(fitted, X, None, train=None, sample_weight=None, random_state=0)
    said = subject.ask(subject.rows.asked)[:, 0]
    np.testing.assert_array_equal(said, fitted.predict(X))
    assert subject.rows.table.columns[0].values.min() == -1
    assert subject.rows.asked.columns[0].values.min() == -2


@pytest.fixture
def deep():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=300)
    return spinney.RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y), X, y


def test_deep_forests_are_asked_about_fewer_rows_and_that_is_said(deep, monkeypatch):
    monkeypatch.setattr(effort, "_MOST_NANOSECONDS", 1e5)
    monkeypatch.setattr(effort, "_MOST_LEAF_ROWS", 20 * effort.n_leaves(deep[0].model_))
    page = report_html(*deep)
    assert "Scores: 30 of 300 rows, exact Shapley values." in part(page, "importance")
    assert "R² of 30 of 300 rows" in part(page, "importance")
    assert "the prediction over 30 of 300 rows when" in part(page, "dependence")
    assert "Mostly because of" in part(page, "rows")


def test_why_rows_are_hard_is_left_out_where_it_would_take_long(deep, monkeypatch):
    monkeypatch.setattr(effort, "_MOST_LEAF_ROWS", effort.n_leaves(deep[0].model_))
    told = part(report_html(*deep), "rows")
    assert "The largest losses." in told
    assert "Mostly because of" not in told


def test_work_is_bounded_by_leaves_and_rows_alone(deep):
    forest = deep[0].model_
    per_leaf = effort.rows_to_explain(forest, 10**12) * effort.n_leaves(forest)
    assert per_leaf <= effort._MOST_LEAF_ROWS
    assert effort.rows_to_explain(forest, 200) == 200
    asked = [effort.rows_to_ask(forest, n, 10**12) for n in (10, 1_000)]
    assert asked[0] // 100 == pytest.approx(asked[1], abs=1)
    assert effort.rows_to_ask(forest[:0], 10, 77) == effort.rows_to_ask(None, 10, 77) == 77


def test_midnights_are_shown_as_dates_and_other_moments_whole():
    X, y = mixed_table(200)
    y = X["since"].dt.month.to_numpy() + 0.0
    for hours, shown in ((0, r"since = 20\d\d-\d\d-\d\d \("), (5, r"since = 20\S+ 05:00:00 \(")):
        moved = X.assign(since=X["since"] + pd.Timedelta(hours, "h"))
        fitted = spinney.GradientBoostingRegressor(max_iter=20).fit(moved, y)
        told = part(report_html(fitted, moved, y), "rows")
        assert re.search(shown, told), told[:600]
        assert " 00:00:00" not in told
