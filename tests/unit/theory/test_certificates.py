"""Certificates: what they state, that it is true, and that no lie passes."""

import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from tests.reference.adaboost import answers, best_stump, slow_adaboost
from tests.unit.theory.boosters import TOY10, TOY10_LABELS, Stumps, noisy_rows, problems

from spinney import AdaBoostClassifier, DecisionTreeClassifier
from spinney.errors import FalseCertificate, InvalidInput, InvalidInputType, InvalidParameter
from spinney.theory import (
    Certificate,
    Trace,
    certify,
    guaranteed_margin,
    margin_risk,
    margin_theorem,
    massart_complexity,
    training_error_bounds,
    upsilon,
)
from spinney.theory.statements import statements_of

X, Y, _ = noisy_rows(60)
BOOSTER = Stumps(X, Y, 12)
CERTIFICATE = certify(BOOSTER, X, Y, n_draws=20)
TRAINING = {"potential", "product", "power", "exponential_sum", "exponential"}
RISK = {"risk by rademacher", "risk by massart", "risk by vc", "risk by rounds"}


def test_every_bound_is_stated_with_its_number():
    names = {statement.name for statement in CERTIFICATE.statements}
    assert names >= TRAINING | RISK | {"margin 0", "margin 0.3", "least margin", "upsilon"}
    errors = BOOSTER.boosted.errors
    bounds = training_error_bounds(errors)
    for name in ("product", "power", "exponential_sum", "exponential"):
        statement = CERTIFICATE[name]
        assert statement.bound == pytest.approx(float(getattr(bounds, name)[-1]), rel=1e-10)
        assert statement.value == CERTIFICATE.training_error == (BOOSTER.margins(X, Y) <= 0).mean()
    assert CERTIFICATE["margin 0.3"].bound == pytest.approx(margin_theorem(errors, 0.3), rel=1e-9)
    assert CERTIFICATE["margin 0.3"].value == pytest.approx((BOOSTER.margins(X, Y) <= 0.3).mean())
    alphas, normalisers = BOOSTER.trace_.alphas, BOOSTER.trace_.normalisers
    assert CERTIFICATE["least margin"].value == CERTIFICATE.min_margin
    assert CERTIFICATE["least margin"].bound == pytest.approx(
        guaranteed_margin(alphas, normalisers, 60)
    )
    promised = upsilon(1 - 2 * errors.max()) - np.log(60) / alphas.sum()
    assert CERTIFICATE["upsilon"].bound == pytest.approx(promised)
    assert CERTIFICATE.asymptotic_margin == pytest.approx(upsilon(1 - 2 * errors.max()))
    massart = margin_risk(BOOSTER.margins(X, Y), massart_complexity(("stumps", 3), 60))
    assert CERTIFICATE["risk by massart"].bound == pytest.approx(massart.best)
    assert CERTIFICATE["risk by massart"].value is None
    assert CERTIFICATE["risk by massart"].vacuous
    assert CERTIFICATE.notes == ()


@settings(max_examples=25, deadline=None)
@given(problems())
def test_every_statement_holds_on_random_problems(problem):
    X, y = problem
    assume(len(slow_adaboost(X, y, 1).stumps) == 1)
    certificate = certify(Stumps(X, y, 6), X, y, thetas=np.linspace(-1, 1, 21), n_draws=5)
    assert {s.name for s in certificate.statements} >= TRAINING | RISK | {"upsilon"}
    report = certificate.verify(X)
    assert report.drawn_anew
    assert all(statement.holds for statement in report.statements)


def test_a_certificate_is_a_table_and_a_file():
    text = str(CERTIFICATE)
    assert text.startswith("Certificate of 12 rounds on 60 rows: training error ")
    assert "risk by rounds" in text
    assert text == repr(CERTIFICATE)
    again = Certificate.from_dict(json.loads(json.dumps(CERTIFICATE.to_dict())))
    assert again.to_dict() == CERTIFICATE.to_dict()
    assert str(again.verify(X)).startswith(f"{len(CERTIFICATE.statements)} statements computed")
    assert list(CERTIFICATE.to_frame()["name"]) == [s.name for s in CERTIFICATE.statements]
    with pytest.raises(dataclasses.FrozenInstanceError):
        CERTIFICATE.statements = ()
    with pytest.raises(ValueError, match="read-only"):
        CERTIFICATE.evidence.margins[0] = 1.0


def tampered(path, change):
    """The certificate with one number of its file changed."""
    stored = json.loads(json.dumps(CERTIFICATE.to_dict()))
    place = stored
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = change(place[path[-1]])
    return Certificate.from_dict(stored)


@pytest.mark.parametrize("place", range(len(CERTIFICATE.statements)))
def test_no_statement_can_be_changed_unnoticed(place):
    name = CERTIFICATE.statements[place].name
    changes = {
        "bound": lambda number: number * 0.999 - 1e-6,
        "vacuous": lambda flag: not flag,
        "relation": lambda word: {"<=": ">=", ">=": "<=", "=": "<="}[word],
        "subject": lambda _: "error on new rows",
        "name": lambda _: "truth",
    }
    if CERTIFICATE.statements[place].value is not None:
        changes["value"] = lambda number: number + 1e-6
    for field, change in changes.items():
        lie = tampered(("statements", place, field), change)
        with pytest.raises(FalseCertificate, match=name if field != "name" else "truth"):
            lie.verify()


@pytest.mark.parametrize("array", ["margins", "weights", "alphas", "normalisers", "draws"])
@pytest.mark.parametrize("factor", [0.99, 1.001])
def test_no_number_of_the_evidence_can_be_changed_unnoticed(array, factor):
    """Even if all statements are made anew from it; draws need the table to be told."""
    for place in (0, 7):
        try:
            lie = tampered(("evidence", array, place), lambda number: number * factor)
        except InvalidInput:
            assert array == "weights"  # they no longer add up to 1
            continue
        with pytest.raises(FalseCertificate):
            lie.verify()
        renewed = Certificate(lie.evidence, statements_of(lie.evidence))
        with pytest.raises(FalseCertificate, match=r"potential|drawn signs"):
            renewed.verify(X)


def test_worse_errors_are_noticed_and_better_ones_gain_nothing():
    with pytest.raises(FalseCertificate, match="power"):
        tampered(("evidence", "errors"), lambda errors: [0.49] * len(errors)).verify()
    better = tampered(("evidence", "errors"), lambda errors: [0.01] * len(errors))
    assert len(better.verify().statements) == len(
        CERTIFICATE.statements
    )  # votes tell what errors were


def test_statements_can_be_neither_added_nor_left_out():
    extra = dataclasses.replace(CERTIFICATE.statements[1], name="more", bound=0.0)
    added = Certificate(CERTIFICATE.evidence, (*CERTIFICATE.statements, extra))
    with pytest.raises(FalseCertificate, match="more: does not follow"):
        added.verify()
    with pytest.raises(FalseCertificate, match="potential: is left out"):
        Certificate(CERTIFICATE.evidence, CERTIFICATE.statements[1:]).verify()


def test_other_rows_than_those_of_the_fit_are_refused():
    other, labels, _ = noisy_rows(60, seed=5)
    with pytest.raises(InvalidInput, match="expected the rows, labels and weights"):
        certify(BOOSTER, other, labels)
    with pytest.raises(InvalidInput, match="expected the rows"):
        certify(BOOSTER, X, -Y)


def shrunk(rate, n_rounds=15):
    """AdaBoost on fixed rows whose votes are multiplied by a rate."""
    D, F, rounds = np.full(len(Y), 1 / len(Y)), np.zeros(len(Y)), []
    for _ in range(n_rounds):
        error, stump = best_stump(X, Y, D)
        alpha = rate * 0.5 * np.log((1 - error) / error)
        unnormalised = D * np.exp(-alpha * Y * answers(stump, X))
        D, F = unnormalised / unnormalised.sum(), F + alpha * answers(stump, X)
        norm = sum(done[2] for done in rounds) + alpha
        Z = unnormalised.sum()
        rounds.append((error, 1 - 2 * error, alpha, Z, 0.0, (Y * F).min() / norm))
    trace = Trace(*np.array(rounds).T, stop_reason="that was all")
    margins = Y * F / trace.alphas.sum()
    return booster(trace, margins)


def booster(trace, margins, hypotheses=("stumps", 3)):
    return SimpleNamespace(
        trace_=trace, margins=lambda _X, _y: margins, complexity_class=lambda: hypotheses
    )


def test_shrunken_votes_keep_all_bounds_with_the_edges_their_votes_are_worth():
    fitted = shrunk(0.3)
    certificate = certify(fitted, X, Y, n_draws=5)
    assert {s.name for s in certificate.statements} >= TRAINING | {"upsilon", "least margin"}
    assert certificate["power"].bound >= certificate["product"].bound
    raw = training_error_bounds(fitted.trace_.errors)
    assert certificate["power"].bound > raw.power[-1]  # that one would be a lie


def test_overdone_votes_keep_only_the_product():
    certificate = certify(shrunk(1.4, n_rounds=4), X, Y, n_draws=5)
    names = {s.name for s in certificate.statements}
    assert names >= {"potential", "product", "least margin"}
    assert not names & {"power", "exponential", "exponential_sum", "upsilon"}


def test_faint_answers_with_loud_votes_are_not_promised_a_margin():
    """Answers of ±½ deserve twice the vote; the edge alone does not know that."""
    numbers = (0.375, 0.25, np.log(3), np.sqrt(0.75), np.sqrt(0.75), -0.5)
    trace = Trace(*map(np.atleast_1d, numbers), stop_reason="one round")
    fitted = booster(trace, np.array([0.5, 0.5, 0.5, -0.5]), None)
    certificate = certify(fitted, np.zeros((4, 1)), [0, 1, 0, 1], thetas=[-0.5, 0.5])
    names = {s.name for s in certificate.statements}
    assert names >= TRAINING | {"least margin"}
    assert "upsilon" not in names
    assert certificate["margin -0.5"].value == 0.25
    assert certificate["margin 0.5"].value == 1.0
    weighted = certify(
        booster(trace, np.array([0.5, 0.5, -0.5]), None),
        np.zeros((3, 1)),
        [0, 1, 0],
        sample_weight=[2, 1, 1],
        thetas=[0.5],
    )
    assert weighted["margin 0.5"].value == 1.0


@pytest.mark.parametrize("change", [lambda z: z**0.5, lambda z: z * 0.5, lambda z: z * np.nan])
def test_other_objectives_say_nothing_about_training_rows(change):
    trace, margins = BOOSTER.trace_, BOOSTER.margins(X, Y)
    other = dataclasses.replace(trace, normalisers=change(np.array(trace.normalisers)))
    certificate = certify(booster(other, margins), X, Y, n_draws=5)
    names = {s.name for s in certificate.statements}
    assert not names & TRAINING
    assert all(name.startswith("risk") for name in names)
    assert "not those of exp(-y F)" in certificate.notes[0]
    assert "Not stated: bounds of the training error and of margins" in str(certificate)
    assert certificate.verify().statements == certificate.statements


def test_weights_are_repetitions_and_silence_the_risk():
    counts = np.random.default_rng(0).integers(1, 4, 10)
    rows = np.repeat(np.arange(10), counts)
    fitted = Stumps(TOY10[rows], TOY10_LABELS[rows], 5)
    repeated = certify(fitted, TOY10[rows], TOY10_LABELS[rows], n_draws=5)
    weighted = certify(fitted, TOY10, TOY10_LABELS, sample_weight=counts, n_draws=5)
    for name in ("potential", "product", "power", "margin 0.1"):
        assert weighted[name].value == pytest.approx(repeated[name].value, abs=1e-12)
        assert weighted[name].bound == pytest.approx(repeated[name].bound)
    assert not RISK & {s.name for s in weighted.statements}
    assert "count differently" in weighted.notes[0]
    zeros = np.append(counts, 0)
    extra = certify(
        fitted, np.r_[TOY10, TOY10[:1]], np.r_[TOY10_LABELS, 1], sample_weight=zeros, n_draws=5
    )
    assert extra["product"].value == pytest.approx(weighted["product"].value)


@pytest.mark.parametrize(
    ("table", "hypotheses", "labels", "note"),
    [
        (X, None, Y, "is not known"),
        (np.where(X > 1, np.nan, X), ("stumps", 3), Y, "missing values"),
        (pd.DataFrame(X.astype(str)), ("stumps", 3), Y, "categories"),
        (X, ("stumps", 9), Y, "other features"),
        (X, ("stumps", 3), np.r_[[5], Y[1:]], "3 classes"),
    ],
)
def test_what_cannot_be_bounded_is_said(table, hypotheses, labels, note):
    fitted = booster(BOOSTER.trace_, BOOSTER.margins(X, Y), hypotheses)
    certificate = certify(fitted, table, labels)
    assert not RISK & {s.name for s in certificate.statements}
    assert note in certificate.notes[0]
    assert certificate.evidence.draws is None


def test_trees_and_finite_classes_have_no_draws():
    for hypotheses in (("trees", 3, 4), ("finite", 99)):
        fitted = booster(BOOSTER.trace_, BOOSTER.margins(X, Y), hypotheses)
        certificate = certify(fitted, pd.DataFrame(X), Y)
        names = {s.name for s in certificate.statements}
        assert RISK - names == {"risk by rademacher"}
        again = Certificate.from_dict(json.loads(json.dumps(certificate.to_dict())))
        assert not again.verify(X).drawn_anew


def test_a_perfect_stump_is_certified():
    table, labels = np.arange(6.0)[:, None], np.repeat([-1, 1], 3)
    certificate = certify(Stumps(table, labels, 3), table, labels, n_draws=5)
    assert certificate.training_error == 0.0
    assert certificate.min_margin == 1.0
    assert certificate["power"].bound < 1e-4


def test_many_rounds_neither_underflow_nor_overflow():
    n_rounds, n = 100_000, 4
    error = 0.25
    numbers = (error, 0.5, np.arctanh(0.5), np.sqrt(0.75), 0.0, 0.0)
    trace = Trace(*(np.full(n_rounds, number) for number in numbers), stop_reason="patience")
    margin = -np.log(np.sqrt(0.75)) / np.arctanh(0.5)  # of every row alike, so that all is equal
    object.__setattr__(trace, "min_margins", np.full(n_rounds, margin))
    certificate = certify(
        booster(trace, np.full(n, margin), None), np.zeros((n, 1)), [0, 1, 0, 1], thetas=[0, 1]
    )
    assert certificate["product"].bound == 0.0
    assert np.isfinite(certificate["margin 1"].bound)
    assert certificate["potential"].bound == pytest.approx(n_rounds * np.log(0.75) / 2)
    json.dumps(certificate.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"margins": np.array([np.nan] * 60)}, "margins"),
        ({"margins": np.full(60, 3.0)}, "margins"),
        ({"alphas": np.zeros(12)}, "some vote"),
        ({"normalisers": np.zeros(12)}, "no normaliser of 0"),
        ({"alphas": np.ones(3)}, "rounds"),
    ],
)
def test_fits_with_impossible_numbers_are_refused(change, message):
    margins = change.pop("margins", BOOSTER.margins(X, Y))
    fitted = booster(dataclasses.replace(BOOSTER.trace_, **change), margins)
    with pytest.raises(InvalidInput, match=message):
        certify(fitted, X, Y)


def test_what_was_not_fitted_is_refused():
    with pytest.raises(InvalidInputType, match="has no trace_"):
        certify(object(), X, Y)
    empty = Trace(*(np.empty(0) for _ in range(6)), stop_reason="no stump has an edge")
    with pytest.raises(InvalidInput, match=r"0 rounds \(no stump has an edge"):
        certify(booster(empty, np.zeros(60)), X, Y)
    with pytest.raises(InvalidInput, match="one label for each"):
        certify(booster(BOOSTER.trace_, BOOSTER.margins(X, Y)), X, Y[:5])
    for delta in (0.0, 1.0, np.nan, "0.05"):
        with pytest.raises(InvalidParameter, match="delta="):
            certify(BOOSTER, X, Y, delta=delta)
    with pytest.raises(InvalidInput, match=r"thetas\[0\] is 2.0"):
        certify(BOOSTER, X, Y, thetas=2.0)
    with pytest.raises(InvalidInput, match=r"no statement 'margin'.*'potential'"):
        CERTIFICATE["margin"]


@pytest.mark.parametrize(
    "stored",
    [
        None,
        {},
        {"format": "spinney certificate 2"},
        {"format": "spinney certificate 1"},
        {"format": "spinney certificate 1", "evidence": {}, "statements": []},
        CERTIFICATE.to_dict() | {"statements": [{"name": "half"}]},
        CERTIFICATE.to_dict() | {"statements": 5},
        CERTIFICATE.to_dict() | {"evidence": CERTIFICATE.evidence.to_dict() | {"margins": []}},
        CERTIFICATE.to_dict() | {"evidence": CERTIFICATE.evidence.to_dict() | {"alphas": [1.0]}},
    ],
)
def test_what_is_no_certificate_is_refused(stored):
    with pytest.raises(InvalidInput, match=r"expected|Give"):
        Certificate.from_dict(stored)


@pytest.mark.parametrize("variant", ["discrete", "real", "gentle", "confidence", "m1"])
def test_the_weights_of_the_fit_must_be_given(variant):
    weights = np.random.default_rng(0).integers(1, 9, 60)
    fitted = AdaBoostClassifier(variant=variant, n_estimators=8).fit(X, Y, weights)
    assert certify(fitted, X, Y, sample_weight=weights, n_draws=5).verify()
    for others in (None, weights[::-1]):
        with pytest.raises(InvalidInput, match="Give the sample_weight of the fit"):
            certify(fitted, X, Y, sample_weight=others, n_draws=5)


@pytest.mark.parametrize(("variant", "factor"), [("m2", 2.0), ("mh", 1.5)])
def test_boosters_of_pairs_bound_the_training_error_of_many_classes(variant, factor):
    """Every row in error has a pair that weighs as much as is counted here."""
    labels = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.0])
    tree = DecisionTreeClassifier(max_depth=2)
    for n_rounds in (1, 5, 60):
        fitted = AdaBoostClassifier(tree, variant=variant, n_estimators=n_rounds).fit(X, labels)
        found = certify(fitted, X, labels)
        product = factor * float(np.prod(fitted.trace_.normalisers))
        assert found["product"].bound == pytest.approx(product, rel=1e-9)
        assert found.training_error == pytest.approx(1 - fitted.score(X, labels), abs=0.02)
        assert found.training_error <= product
        assert Certificate.from_dict(json.loads(json.dumps(found.to_dict()))).verify()
    assert product < 1.0
