"""Reports in a real browser: no errors, exact answers, sorting, keyboard, dark, print."""

import json
import math
import os
import shutil

import numpy as np
import pandas as pd
import pytest
from tests.unit.report.tables import HOSTILE, hostile_table, many_levels_table, mixed_table

import spinney
from spinney.data.calendar import CalendarPart, calendar_part
from spinney.model.links import apply_link
from spinney.report import write_report
from spinney.report.page import asset

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REASON = "no browser: apt-get install chromium, and reports are tested in it"
IS_NEEDED = bool(os.environ.get("SPINNEY_NEEDS_BROWSER"))  # .ci/run sets it if there is one
if CHROMIUM is None and IS_NEEDED:
    raise RuntimeError(f"SPINNEY_NEEDS_BROWSER is set, but there is {REASON}")
if CHROMIUM is None:
    pytest.skip(REASON, allow_module_level=True)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser():
    if not IS_NEEDED:
        pytest.importorskip("playwright.sync_api", reason="playwright is absent")
    from playwright import sync_api as api

    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser):
    """Open a file; the test fails if the page says anything or asks for anything."""
    contexts, faults = [], []

    def open_file(path, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        own = path.as_uri()
        page.on(
            "request", lambda r: None if r.url.startswith((own, "data:")) else faults.append(r.url)
        )
        page.goto(own)
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert faults == []


def written(folder, name, estimator, data, n_train):
    X, y = data
    fitted = estimator.fit(X[:n_train], y[:n_train])
    path = folder.mktemp("reports") / f"{name}.html"
    write_report(fitted, X[n_train:], y[n_train:], path, train=(X[:n_train], y[:n_train]))
    return path, fitted, X[n_train:]


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    X, y = mixed_table()
    model = spinney.GradientBoostingClassifier(max_iter=30, categorical_features="from_dtype")
    return written(tmp_path_factory, "binary", model, (X, y), 250)


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    X, y = hostile_table()
    model = spinney.GradientBoostingClassifier(max_iter=10)
    return written(tmp_path_factory, "classes", model, (X, y), 200)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    X, _ = mixed_table(seed=3)
    y = np.exp(X.age / 40).to_numpy() + X.member
    model = spinney.RandomForestRegressor(n_estimators=12, max_leaf_nodes=40, random_state=0)
    return written(tmp_path_factory, "numbers", model, (X, y.to_numpy()), 250)


@pytest.fixture(scope="module")
def derived(tmp_path_factory):
    """A model whose trees split on statistics of levels and of pairs, and on parts of dates."""
    X, y = many_levels_table()
    X.loc[700:720, "shop"] = "a shop that training did not know"
    model = spinney.GradientBoostingRegressor(
        max_iter=40, category_pairs=[("shop", "colour")], date_features=True
    )
    return written(tmp_path_factory, "derived", model, (X, y), 650)


ASK = """edits => edits.map(values => {
  const said = document.getElementById('answer').getElementsByTagName('output');
  for (const [feature, text] of Object.entries(values)) {
    const input = document.getElementById(`value-${feature}`);
    input.value = text;
    if (input.value !== text) throw new Error(`${feature} does not take ${text}`);
    input.dispatchEvent(new Event('input', {bubbles: true}));
  }
  return Array.from(said, o => o.dataset.exact);
})"""


def random_edits(features, n_edits, seed):
    """Draw rows as a person would type them, and as the table the model is asked with."""
    rng = np.random.default_rng(seed)
    typed, rows = [], []
    for _ in range(n_edits):
        texts, row = {}, {}
        for place, feature in enumerate(features):
            is_missing = rng.random() < 0.15
            kind = feature["kind"]
            if "levels" in feature:
                code = int(rng.integers(0, len(feature["levels"]) + 1))
                unseen = code == len(feature["levels"])
                known = "never seen" if unseen else feature["levels"][code % len(feature["levels"])]
                chosen = "?" if unseen else str(code)
                typed_text = known if len(feature["levels"]) > 60 else chosen
                texts[place] = "" if is_missing else typed_text
                row[feature["name"]] = None if is_missing else known
            elif kind == "boolean":
                value = bool(rng.integers(0, 2))
                texts[place] = "" if is_missing else str(int(value))
                row[feature["name"]] = math.nan if is_missing else float(value)
            elif kind == "datetime":
                value = pd.Timestamp("2019-06-01") + pd.Timedelta(
                    60 * int(rng.integers(0, 10**6)) + 17, "s"
                )
                texts[place] = "" if is_missing else value.strftime("%Y-%m-%dT%H:%M:%S")
                row[feature["name"]] = pd.NaT if is_missing else value
            else:
                value = float(rng.normal() * 10.0 ** rng.integers(-3, 6))
                texts[place] = "" if is_missing else repr(value)
                row[feature["name"]] = math.nan if is_missing else value
        typed.append(texts)
        rows.append(row)
    return typed, pd.DataFrame(rows)


def embedded(page):
    return json.loads(page.locator("#what-if-data").text_content())


@pytest.mark.parametrize("name", ["binary", "classes", "numbers", "derived"])
def test_the_panel_says_what_the_model_says_to_the_last_bit(name, open_page, request):
    path, fitted, X = request.getfixturevalue(name)
    page = open_page(path)
    check = page.locator("#self-check")
    assert int(check.get_attribute("data-equal")) == int(check.get_attribute("data-rows")) > 20
    typed, rows = random_edits(embedded(page)["features"], 150, seed=len(name))
    for column in X.columns:
        if X[column].dtype.kind == "M":
            rows[column] = rows[column].astype(X[column].dtype)
        elif X[column].dtype == object or str(X[column].dtype) in ("str", "string"):
            rows[column] = rows[column].astype(object)
    said = np.array([[float(text) for text in row] for row in page.evaluate(ASK, typed)])
    is_regression = name in ("numbers", "derived")
    expected = fitted.predict(rows)[:, None] if is_regression else fitted.predict_proba(rows)
    assert len(np.unique(expected[:, 0])) > 20
    assert said.tobytes() == np.ascontiguousarray(expected).tobytes()


def test_exp_and_links_of_the_page_have_the_bits_of_the_compiled_ones(browser):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=30_000) * 10.0 ** rng.integers(-8, 3, 30_000), [0.0, -0.0]])
    x = np.append(x, [708.5, -708.5, 1e6, -1e6, 5e-324])
    page = browser.new_page()
    page.evaluate(asset("model.js") + "; window.links = LINKS")
    scores = x[: len(x) // 3 * 3].reshape(-1, 3)
    for link, given in {"log": x[:, None], "logistic": x[:, None], "softmax": scores}.items():
        ask = "([link, rows]) => rows.map(row => links[link](row).map(String))"
        said = np.array(page.evaluate(ask, [link, given.tolist()])).astype(np.float64)
        assert said.tobytes() == apply_link(link, given).tobytes(), link
    page.close()


def test_parts_of_dates_of_the_page_are_those_of_the_model(browser):
    rng = np.random.default_rng(0)
    seconds = np.concatenate([rng.uniform(-1e15, 1e15, 2_000), rng.uniform(-4e9, 4e9, 2_000)])
    leap = np.arange(-40, 40) * 43_200.0 + 951_782_400  # around 29 February 2000
    seconds = np.concatenate([seconds, leap, [np.nan, 2e15, -0.0]])
    page = browser.new_page()
    page.evaluate(asset("derivation.js") + "; window.partOf = calendarPart")
    for part in CalendarPart:
        ask = "([part, all]) => all.map(x => String(partOf(Number(x), part)))"
        given = [part.name.lower(), [repr(x) for x in seconds.tolist()]]
        said = np.array(page.evaluate(ask, given)).astype(np.float64)
        np.testing.assert_array_equal(said, calendar_part(seconds, part), err_msg=part.name)
    page.close()


LINKS = {
    "half the log-odds": spinney.AdaBoostClassifier(n_estimators=8),
    "mean of shares": spinney.RandomForestClassifier(n_estimators=8, max_leaf_nodes=20),
    "log": spinney.GradientBoostingRegressor(loss="poisson", max_iter=8),
    "exponential": spinney.GradientBoostingClassifier(loss="exponential", max_iter=8),
    "one tree": spinney.DecisionTreeRegressor(max_depth=4),
}


@pytest.mark.parametrize("name", LINKS)
def test_the_page_finds_itself_right_whatever_the_link(name, open_page, tmp_path):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(200, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:4, 0] = [np.inf, -np.inf, -0.0, 1e300]
    y = (np.nan_to_num(X[:, 1]) + rng.normal(size=200) > 0).astype(int)
    path = tmp_path / "report.html"
    write_report(LINKS[name].fit(X, y), X, y, path)
    check = open_page(path).locator("#self-check")
    assert check.get_attribute("data-equal") == check.get_attribute("data-rows") == "60"


def test_the_page_shows_hostile_text_and_obeys_none(open_page, classes):
    page = open_page(classes[0])
    assert page.title() != "stolen"
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    shown = page.locator("#data tbody th bdi").all_text_contents()
    assert HOSTILE[0] in shown
    assert page.locator("#inputs label bdi").first.text_content()


def test_a_row_is_picked_changed_and_brought_back(open_page, binary):
    page = open_page(binary[0])
    link = page.locator("#rows a.pick").nth(1)
    link.click()
    assert page.locator("#row-choice").input_value() == link.get_attribute("data-row")
    before = page.locator("#answer output").first.get_attribute("data-exact")
    age = page.get_by_label("age", exact=True)
    age.fill("not a number")
    assert age.get_attribute("aria-invalid") == "true"
    assert page.locator("#answer output").first.get_attribute("data-exact") == before
    age.fill("95")
    assert age.get_attribute("aria-invalid") == "false"
    assert page.locator("#answer output").first.get_attribute("data-exact") != before
    assert "age alone" in page.locator("#answer .changes").text_content()
    assert page.locator("#curve svg").count() == 1
    assert page.locator("#waterfall li").count() >= 3
    page.locator("#row-reset").click()
    assert page.locator("#answer output").first.get_attribute("data-exact") == before
    page.locator("#feature-filter").fill("inco")
    assert page.locator("#inputs .field:visible").count() == 1


def test_the_curve_of_a_date_has_dates_on_its_axis_and_follows_parts_of_it(open_page, derived):
    page = open_page(derived[0])
    page.get_by_label("at", exact=True).focus()
    low, high = page.locator("#curve text").all_text_contents()[-2:]
    assert low.startswith("2020-")
    assert high.startswith("2022-")
    path = page.locator("#curve path").get_attribute("d")
    assert len({step.split()[1] for step in path.split("L")[1:]}) > 10


def test_tables_sort_by_number_and_by_text(open_page, binary):
    page = open_page(binary[0])
    heading = page.locator("#data thead button", has_text="Missing")
    keys = "rows => rows.map(r => Number(r.cells[2].dataset.key))"
    heading.click()
    falling = page.locator("#data tbody tr").evaluate_all(keys)
    assert falling == sorted(falling, reverse=True)
    heading.click()
    rising = page.locator("#data tbody tr").evaluate_all(keys)
    assert rising == sorted(rising) != falling
    page.locator("#data thead button", has_text="Column").click()
    names = page.locator("#data tbody th").all_text_contents()
    assert names == sorted(names, key=str.lower)
    assert page.locator("#data th[aria-sort]").count() == 1


def test_everything_can_be_reached_by_keyboard(open_page, binary):
    page = open_page(binary[0])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = set()
    for _ in range(200):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
        if "value-0" in seen:
            break
    assert {"scroll", "sort", "row-choice", "value-0"} <= seen
    page.locator("#importance thead button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#importance th[aria-sort]").count() == 1
    nameless = page.evaluate(
        "Array.from(document.querySelectorAll('input, select'))"
        ".filter(e => !e.labels || !e.labels.length).length"
    )
    assert nameless == 0


def test_dark_and_light_follow_the_system_until_the_switch_is_used(open_page, binary):
    page = open_page(binary[0], color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.locator("#theme").click()
    light = page.evaluate(colour)
    assert (dark, light) == ("rgb(17, 22, 28)", "rgb(245, 246, 248)")
    assert open_page(binary[0]).evaluate(colour) == light


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen(width, open_page, classes):
    page = open_page(classes[0], viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_paper_shows_all_rows_and_hides_nothing_but_controls(open_page, binary):
    page = open_page(binary[0])
    page.locator("#feature-filter").fill("age")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("#inputs .field:visible").count() == 5
    assert page.locator("#data tbody tr:visible").count() == 5
    assert page.locator("main > section:visible").count() == 10
    assert not page.locator("#theme").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(format="A4")[:5] == b"%PDF-"


def test_marks_of_figures_are_told_under_the_pointer(open_page, binary):
    page = open_page(binary[0])
    page.locator("#calibration circle.dot").first.hover(force=True)
    assert "happened" in page.locator("#tip").text_content()
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()
