"""Rows of a report can have the numbers by which their reader knows them."""

import json
import re

import numpy as np

import spinney
from spinney.report.subject import read_subject
from spinney.report.writing import write_page


def test_all_parts_of_a_page_use_the_numbers_given(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.where(X[:, 0] + rng.normal(0, 0.5, 120) > 0, "yes", "no")
    X[83] = X[81]
    fitted = spinney.AdaBoostClassifier(n_estimators=5, store_weights=True)
    fitted.fit(X[:80], y[:80])
    subject = read_subject(
        fitted,
        X[80:],
        y[80:],
        train=(X[:80], y[:80]),
        row_numbers=np.arange(1000, 1040),
        train_numbers=np.arange(5000, 5080),
    )
    write_page(subject, tmp_path / "r.html", "Numbers")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "for example rows 1001 and 1003" in page
    assert "in the order of the file" in page
    stored = re.search(r'id="what-if-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    numbers = json.loads(stored[1])["rows"]["numbers"]
    assert set(numbers) <= set(range(1000, 1040))
    hardest = re.search(r'<caption class="unseen">Hardest rows.*?</table>', page, re.DOTALL)[0]
    assert len(re.findall(r">10[0-3]\d<", hardest)) == 15
    trained = re.search(r"boosting struggled most \(.*?\) with rows ([\d, ]+)\.", page)[1]
    assert all(text.startswith("50") for text in trained.split(", "))
