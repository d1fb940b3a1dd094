"""Whole reports, of every task, as text."""

import html.parser
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.unit.report.tables import hostile_table, mixed_table

import spinney
from spinney.errors import InvalidInput, InvalidInputType
from spinney.report import report_html, write_report
from spinney.report.embedded import model as embedded
from spinney.report.embedded.derivation import trees_of_page
from spinney.report.page import SCRIPTS, STYLES, asset


class Outline(html.parser.HTMLParser):
    """Checks that elements are closed in order, and collects ids, text and scripts."""

    VOID = frozenset({"br", "hr", "input", "meta", "link", "col", "wbr"})

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.text, self.scripts, self.names = [], [], [], [], set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, name, attrs):
        self.names.add(name)
        self.ids += [value for key, value in attrs if key == "id"]
        assert not any(key.startswith("on") for key, _ in attrs), attrs
        if name not in self.VOID:
            self.open.append(name)

    def handle_startendtag(self, name, _attrs):
        self.names.add(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        (self.scripts if self.open and self.open[-1] == "script" else self.text).append(data)


@pytest.fixture(scope="module")
def binary():
    X, y = mixed_table()
    fitted = spinney.GradientBoostingClassifier(max_iter=20).fit(X[:250], y[:250])
    return fitted, X, y


@pytest.fixture(scope="module")
def text(binary):
    fitted, X, y = binary
    return report_html(fitted, X[250:], y[250:], train=(X[:250], y[:250]), title="A & B")


def test_a_report_is_one_page_with_all_parts_that_asks_nobody_for_anything(text):
    page = Outline(text)
    parts = ["overview", "performance", "calibration", "importance", "dependence", "rows"]
    parts += ["what-if", "data", "certificates", "card"]
    assert [part for part in page.ids if part in parts] == parts
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", text)
    assert "<title>A &amp; B</title>" in text
    assert len(text.encode()) < 1_000_000


def test_the_same_arguments_give_the_same_text(binary, text):
    fitted, X, y = binary
    again = report_html(fitted, X[250:], y[250:], train=(X[:250], y[:250]), title="A & B")
    assert again == text


def test_only_the_pages_own_script_may_run(text):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src &#x27;none&#x27;" in policy
    assert "unsafe-eval" not in policy
    assert re.search("script-src &#x27;sha256-[A-Za-z0-9+/=]{44}&#x27;;", policy)


def test_hostile_names_categories_and_labels_stay_text():
    X, y = hostile_table()
    fitted = spinney.GradientBoostingClassifier(max_iter=8).fit(X[:150], y[:150])
    text = report_html(fitted, X[150:], y[150:], train=X[:150], title="</title><script>1</script>")
    page = Outline(text)
    assert len(page.scripts) == 2  # the data and the program
    assert not page.names & {"img", "iframe", "object", "embed"}
    assert text.count("</script>") == 2
    assert not re.search("[\u2028\u2029\u202e\u202c]", text)
    assert json.loads(page.scripts[0])["features"][0]["name"] == X.columns[0]


def test_training_rows_are_noticed_among_others_and_fresh_rows_are_not_accused():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 4))
    y = X[:, 0] + rng.normal(size=900)
    fitted = spinney.GradientBoostingRegressor(max_iter=5).fit(X[:400], y[:400])
    warning = "The rows the model was trained on may be among these"
    assert warning in report_html(fitted, X, y)
    assert warning not in report_html(fitted, X[400:], y[400:])
    assert warning not in report_html(fitted, X[:399], y[:399])


def test_every_part_is_there_for_numbers_classes_and_without_a_target():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4))
    regressor = spinney.GradientBoostingRegressor(max_iter=10).fit(X, X[:, 0])
    text = report_html(regressor, X, X[:, 0])
    assert "Residuals" in text
    assert "The rows the model was trained on may be among these" in text
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    classifier = spinney.GradientBoostingClassifier(max_iter=10).fit(X, labels)
    assert "Confusion matrix" in report_html(classifier, X, labels)
    bare = report_html(classifier, X)
    assert "Nothing is known of performance" in bare
    assert 'id="calibration"' not in bare


def test_leaks_duplicates_drift_and_shared_rows_are_told():
    X, y = mixed_table()
    X = X.assign(leak=np.where(y == "yes", 5.0, 1.0), always=1.0)
    fitted = spinney.GradientBoostingClassifier(max_iter=5).fit(X[:200], y[:200])
    asked = pd.concat([X[200:].assign(age=X[200:].age + 60, town="Rom"), X[:20]])
    labels = np.concatenate([y[200:], y[:20]])
    asked, labels = pd.concat([asked, asked[:5]]), np.concatenate([labels, labels[:5]])
    text = report_html(fitted, asked, labels, train=X[:200])
    for told in (
        "A feature is the target itself",
        "Rows are in the training table, too",
        "Duplicate rows",
        "have drifted",
        "These rows differ from the training rows",
        "Columns with one value only",
        "Categories the model has never seen",
    ):
        assert told in text, told


@pytest.mark.parametrize(
    "estimator",
    [
        spinney.RandomForestClassifier(n_estimators=5),
        spinney.AdaBoostClassifier(n_estimators=5),
        spinney.DecisionTreeClassifier(max_depth=3),
        spinney.BaggingClassifier(n_estimators=3),
        spinney.RotationForestClassifier(n_estimators=3),
        spinney.MarginBoostClassifier(),
        spinney.VotingClassifier([("a", spinney.ExtraTreesClassifier(n_estimators=3))]),
        spinney.VotingClassifier(
            [("a", spinney.DecisionTreeClassifier(max_depth=2))], voting="soft"
        ),
        spinney.StackingClassifier([("a", spinney.DecisionTreeClassifier(max_depth=2))]),
        spinney.CalibratedClassifier(spinney.GradientBoostingClassifier(max_iter=3)),
        spinney.BaggingClassifier(LogisticRegression(), n_estimators=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_family_of_classifiers_has_a_report(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=160) > 0) * 1
    fitted = estimator.fit(X[:100], y[:100])
    page = Outline(report_html(fitted, X[100:], y[100:], train=(X[:100], y[:100])))
    assert "performance" in page.ids


@pytest.mark.parametrize(
    "estimator",
    [
        spinney.QuantileForestRegressor(n_estimators=5),
        spinney.AdaBoostRegressor(n_estimators=5),
        spinney.L2BoostRegressor(),
        spinney.L2BoostRegressor(learner="spline"),
        spinney.StackingRegressor([("a", spinney.DecisionTreeRegressor(max_depth=2))]),
        spinney.ExtraTreesRegressor(n_estimators=5),
        spinney.GradientBoostingRegressor(loss="poisson", max_iter=5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_family_of_regressors_has_a_report(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = np.exp(X[:, 0])
    fitted = estimator.fit(X[:100], y[:100])
    assert "performance" in Outline(report_html(fitted, X[100:], y[100:])).ids


def test_isolation_forests_and_several_outputs_have_reports():
    X = np.random.default_rng(0).normal(size=(120, 3))
    outlook = spinney.IsolationForest(n_estimators=5).fit(X)
    assert "card" in Outline(report_html(outlook, X)).ids
    both = spinney.RandomForestRegressor(n_estimators=3).fit(X, X[:, :2])
    assert "performance" in Outline(report_html(both, X, X[:, :2])).ids


def test_bare_models_sparse_tables_weights_and_odd_numbers_have_reports():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    X[:3, 0], X[3:9, 1], X[:, 2] = np.inf, np.nan, 0.0
    y = rng.normal(size=120) + np.arange(120) / 40
    fitted = spinney.GradientBoostingRegressor(max_iter=5).fit(X, y)
    weights = rng.integers(0, 3, 120)
    assert "card" in Outline(report_html(fitted.model_, X, y, sample_weight=weights)).ids
    assert "card" in Outline(report_html(fitted, X[:2], y[:2])).ids
    sparse = csr_matrix(np.where(np.abs(X) > 1, np.nan_to_num(X, posinf=9), 0.0))
    fitted = spinney.GradientBoostingRegressor(max_iter=5).fit(sparse, y)
    assert "card" in Outline(report_html(fitted, sparse, y, train=sparse)).ids


def test_proofs_and_the_bounds_of_theory_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = (X[:, 0] > 0) * 1
    model = spinney.GradientBoostingClassifier(max_iter=5, monotonic_cst=[1, 0])
    text = report_html(model.fit(X, y), X, y)
    assert "proved" in text
    assert "x0" in text[text.index('id="certificates"') :]
    booster = spinney.AdaBoostClassifier(n_estimators=5, store_weights=True).fit(X, y)
    text = report_html(booster, X[:100], y[:100], train=(X, y))
    assert "Bounds of boosting theory" in text
    assert "boosting struggled most" in text
    assert "need the training rows" in report_html(booster, X[:100], y[:100])


def test_a_model_too_large_for_the_page_is_left_out_and_that_is_said(binary, monkeypatch):
    fitted, X, y = binary
    monkeypatch.setattr("spinney.report.sections.what_if.MOST_BYTES", 10)
    text = report_html(fitted, X[250:], y[250:])
    assert "There is no panel to change values of rows here: the model would take about" in text
    assert 'id="what-if-data"' not in text


def test_the_size_of_a_model_on_the_page_is_estimated_well(binary):
    forest = trees_of_page(binary[0].model_)
    size = len(json.dumps(embedded.embed_forest(forest)))
    assert 0.4 * size < embedded.embedded_bytes(forest) < 2.5 * size


def test_writing_replaces_the_file_at_once(binary, tmp_path):
    fitted, X, y = binary
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(fitted, X[250:], y[250:], path)
    assert path.read_text("utf-8").startswith("<!doctype html>")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError):
        write_report(fitted, X[250:], y[250:], tmp_path / "no" / "report.html")


def test_wrong_input_is_refused_in_words(binary):
    fitted, X, y = binary
    with pytest.raises(InvalidInputType, match="about a fitted estimator or a model_ of Spinney"):
        report_html(object(), X, y)
    with pytest.raises(InvalidInput, match="labels the model does not know: 'maybe'"):
        report_html(fitted, X[:3], ["yes", "no", "maybe"])
    with pytest.raises(InvalidInput, match="at least 2"):
        report_html(fitted, X[:1], y[:1])


def test_files_of_the_page_are_within_the_budget_of_a_file():
    for name in (*STYLES, *SCRIPTS):
        assert asset(name).count("\n") <= 400, name
        assert "innerHTML" not in asset(name), name
