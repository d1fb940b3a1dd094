"""Reports on models that read texts: the page, and the page's own reading of texts."""

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from tests.unit.ensembles.gradient.reviews import booster, reviews

from spinney.data.derivation import Rule, part_of
from spinney.data.intake import read_table
from spinney.report import write_report
from spinney.report.checks.columns import summarise
from spinney.report.checks.drift import column_drifts
from spinney.report.checks.repeats import find_repeats
from spinney.report.embedded.derivation import embed_derivation
from spinney.report.page import asset

X, Y = reviews(600)
FITTED = booster().fit(X[:400], Y[:400])
ODD = ["", "Größe 42 BROKEN broken", "ΟΔΟΣ ΟΔΟΣ", "東京 2024年", "İ ٣٤ ǅ", "🙂 broken_", "broken\n"]


def test_a_report_has_the_model_and_says_what_is_not_drawn(tmp_path):
    path = tmp_path / "report.html"
    write_report(FITTED, X[400:], Y[400:], train=(X[:400], Y[:400]), path=path)
    page = path.read_text(encoding="utf-8")
    assert "what-if-data" in page
    assert "Texts are not drawn" in page
    assert "words of texts" in page
    assert '"word": "broken"' in page or '"word":"broken"' in page


def test_a_text_is_no_name_of_rows():
    assert not summarise(FITTED.model_.read(X, "the model"), None)[0].is_id
    assert summarise(read_table(X), None)[0].is_id  # of a model that takes it for a category


def test_two_tables_are_compared_by_lengths_of_texts():
    tables = [FITTED.model_.read(part, "the model") for part in (X[:300], X[300:])]
    longer = FITTED.model_.read(X[300:].assign(review=X["review"][300:] * 3), "the model")
    assert column_drifts(tables[1], tables[0])[0].distance < 0.2
    assert column_drifts(longer, tables[0])[0].distance > 0.8


def test_rows_that_are_in_both_tables_are_found_by_their_texts():
    tables = [FITTED.model_.read(part, "the model") for part in (X[:300], X[200:])]
    assert find_repeats(tables[1], None, tables[0]).n_shared == 100


@pytest.mark.skipif(shutil.which("node") is None, reason="no JavaScript without a browser: node")
def test_the_page_reads_texts_and_spans_as_the_library_does(tmp_path):
    start = pd.Timestamp("2024-01-01")
    table = X[: len(ODD)].assign(review=ODD)
    dated = X.assign(a=start, b=start + pd.to_timedelta(np.arange(600), unit="h"))
    model = booster(max_iter=2).fit(dated, Y).model_
    rows = table.assign(a=start, b=start + pd.to_timedelta(np.arange(len(ODD)), unit="D"))
    derived = model.derivation.of_table(model.read(rows, "the model"))
    told = [
        place
        for place, feature in enumerate(model.derivation.features)
        if feature.rule in (Rule.ELAPSED, Rule.WORD) or part_of(feature.rule) is not None
    ]
    described = [embed_derivation(model)[place] for place in told]
    seconds = rows[["a", "b"]].astype("datetime64[s]").astype("int64").to_numpy().tolist()
    values = [[text, 0.0, *row] for text, row in zip(ODD, seconds, strict=True)]
    values.append([None, 0.0, *seconds[0]])
    script = tmp_path / "page.js"
    script.write_text(
        f"{asset('derivation.js')}\nconst derivation = new Derivation({json.dumps(described)});\n"
        f"const rows = {json.dumps(values)};\n"
        "console.log(JSON.stringify(rows.map((row) => derivation.of(row))));",
        encoding="utf-8",
    )
    ran = subprocess.run(["node", str(script)], capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    expected = [derived.columns[place].dense(len(ODD)) for place in told]
    assert np.array(found[:-1]).T.tolist() == [column.tolist() for column in expected]
    names = [model.forest.schema.names[place] for place in told]
    missing = [name for name, value in zip(names, found[-1], strict=True) if value is None]
    assert missing == [name for name in names if name.startswith("review")]
