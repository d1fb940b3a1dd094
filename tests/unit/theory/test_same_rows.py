"""Certificates know the rows they were made of."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.unit.theory.boosters import Stumps, noisy_rows

from spinney import AdaBoostClassifier
from spinney.errors import FalseCertificate, InvalidInput
from spinney.theory import Certificate, certify

X, Y, _ = noisy_rows(60)
BOOSTER = Stumps(X, Y, 12)
CERTIFICATE = certify(BOOSTER, X, Y, n_draws=20)


def without_prints(certificate):
    """The certificate as earlier versions made it, without fingerprints of its rows."""
    stored = json.loads(json.dumps(certificate.to_dict()))
    del stored["evidence"]["rows"], stored["evidence"]["labels"]
    return Certificate.from_dict(stored)


def test_the_rows_of_a_certificate_may_come_in_any_order_and_from_any_table():
    order = np.random.default_rng(1).permutation(60)
    for table in (X, X[order], pd.DataFrame(X[order], columns=list("abc")), X.tolist()):
        report = CERTIFICATE.verify(table)
        assert (report.same_rows, report.drawn_anew) == (True, True)
        assert "of these rows" in report.title()
    assert CERTIFICATE.verify(X[order], Y[order].astype(float)).same_rows
    assert not CERTIFICATE.verify().same_rows
    counts = np.r_[np.full(59, 2), 1]
    rows = np.r_[np.arange(59), np.arange(59), 59]
    fitted = SimpleNamespace(
        trace_=BOOSTER.trace_, margins=BOOSTER.margins, complexity_class=lambda: None
    )
    weighted = certify(fitted, X, Y, sample_weight=counts, n_draws=5)
    assert weighted.verify(X[rows], Y[rows]).same_rows
    assert weighted.verify(np.r_[X, X[:1] + 1], sample_weight=np.r_[counts, 0]).same_rows


@pytest.mark.parametrize("fitted", [CERTIFICATE, CERTIFICATE.to_dict()])
def test_other_rows_are_refused_though_their_least_margin_is_the_same(fitted):
    """A row moved within its leaf answers alike, and is another row all the same."""
    certificate = fitted if isinstance(fitted, Certificate) else Certificate.from_dict(fitted)
    moved = X.copy()
    moved[7, 0] = np.nextafter(moved[7, 0], 9.0)
    assert BOOSTER.margins(moved, Y).min() == BOOSTER.margins(X, Y).min()
    with pytest.raises(FalseCertificate, match="row 7 of X is none of those"):
        certificate.verify(moved)
    for rows, message in (
        (np.arange(59), "1 of the different rows it was made of are not in X"),
        (np.r_[np.arange(60), 3], r"row 0 of X has a share of .* give the sample_weight"),
    ):
        with pytest.raises(FalseCertificate, match=message):
            certificate.verify(X[rows])
    with pytest.raises(FalseCertificate, match="labels differ: with its label, row 0 of X"):
        certificate.verify(X, np.r_[-Y[:1], Y[1:]])
    with pytest.raises(FalseCertificate, match="give the sample_weight it was made with"):
        certificate.verify(X, sample_weight=np.arange(1.0, 61.0))
    with pytest.raises(FalseCertificate, match="X cannot be read as a table"):
        certificate.verify("rows.csv")
    with pytest.raises(InvalidInput, match="expected X as well"):
        certificate.verify(None, Y)


def test_rows_with_categories_dates_and_missing_values_are_known_again():
    days = pd.date_range("2024-01-01", periods=60)
    words = pd.Series(np.where(Y > 0, "yes", None), dtype=object)
    frame = pd.DataFrame({"day": days, "word": words, "x": X[:, 0]})
    fitted = AdaBoostClassifier(n_estimators=3).fit(frame, Y)
    certificate = certify(fitted, frame, Y)
    assert certificate.verify(frame.iloc[::-1], Y[::-1]).same_rows
    for name, other in (("day", days[0] - days[1] + days[0]), ("word", "no"), ("x", np.nan)):
        changed = frame.copy()
        changed.loc[5, name] = other
        with pytest.raises(FalseCertificate, match="row 5 of X is none"):
            certificate.verify(changed, Y)


def test_certificates_of_earlier_versions_know_only_their_draws():
    old = without_prints(CERTIFICATE)
    assert old.evidence.rows is None
    report = old.verify(X)
    assert (report.same_rows, report.drawn_anew) == (False, True)
    for other in (X[::-1], X[:-1]):
        with pytest.raises(FalseCertificate, match="drawn signs"):
            old.verify(other)


@pytest.mark.parametrize("text", [None, 5, "zz", "00" * 8, "00" * 479, "00" * 488])
def test_fingerprints_that_are_none_are_refused(text):
    stored = CERTIFICATE.to_dict()
    with pytest.raises(InvalidInput, match=r"rows=.*expected 16 hexadecimal digits for each of 60"):
        Certificate.from_dict(stored | {"evidence": stored["evidence"] | {"rows": text}})
