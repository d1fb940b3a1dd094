"""Certificates that lie are found out; hostile settings and learners are told what is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from tests.reference.margins import RUDIN, best_column

from spinney.ensembles.margin.boosting import boost_margins
from spinney.ensembles.margin.certificate import MarginCertificate
from spinney.ensembles.margin.pool import Pool
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.ensembles.weak.signed_rows import SignedRows
from spinney.errors import InvalidInput, InvalidParameter

LPBOOST = MarginSettings(algorithm="lpboost", nu=1e-9)


@pytest.fixture(scope="module")
def proof():
    return boost_margins(best_column(RUDIN), np.ones(8), LPBOOST)


@pytest.mark.parametrize(
    "change",
    [
        {"primal": 0.3751},
        {"primal": 0.37},
        {"dual": 0.374},
        {"primal": 0.38, "dual": 0.38},
        {"dual": 0.4},  # true, but not what was promised
        {"weights": np.full(8, 0.125)},
        {"weights": np.array([-1, 3, 4, 1, 2, 5, 1, 1]) / 16},
        {"weights": np.array([2, 3, 4, 1, 2, 2, 1, 1]) / 8},
        {"distribution": np.full(8, 0.125)},
        {"distribution": np.array([2, 0, 0, 0, 0, 0, 0, -1.0])},
        {"caps": np.full(8, 0.126)},
    ],
)
def test_a_tampered_certificate_fails(proof, change):
    votes = RUDIN[:, proof.members]
    assert proof.certificate.verify(votes)
    assert not replace(proof.certificate, **change).verify(votes)


def test_weights_must_be_weights():
    votes, half = [[1, 1], [0, 0]], np.array([0.0, 1.0])
    assert MarginCertificate(0.0, 0.0, half, half, np.ones(2), rounds=1).verify(votes)
    swapped = MarginCertificate(0.0, 0.0, np.array([2.0, -1.0]), half, np.ones(2), rounds=1)
    assert not swapped.verify(votes)


def test_other_votes_are_not_certified(proof):
    votes = RUDIN[:, proof.members]
    wrong = votes.copy()
    wrong[0, 0] *= -1
    assert not proof.certificate.verify(wrong)
    assert not proof.certificate.verify(np.column_stack([votes, np.ones(8)]))
    with pytest.raises(InvalidInput, match=r"shape \(8, 3\): expected 8 rows.*at least 8 columns"):
        proof.certificate.verify(votes[:, :3])


def test_a_fit_cut_short_says_so():
    told = MarginSettings(algorithm="lpboost", nu=1e-9, n_rounds=3)
    boosted = boost_margins(best_column(RUDIN), np.ones(8), told)
    assert boosted.stop_reason == "all rounds are done"
    assert not boosted.certificate.holds
    assert boosted.certificate.primal < 0.375 < boosted.certificate.dual


def test_it_prints_as_a_table(proof):
    text = str(proof.certificate)
    assert text.startswith(
        "The best margin of what the learner gave lies between 0.375 and 0.375\n"
    )
    assert "promised gap     1e-06" in text
    assert list(proof.certificate.to_frame()["quantity"][:2]) == [
        "margin reached",
        "no margin above",
    ]
    with pytest.raises(ValueError, match="read-only"):
        proof.certificate.weights[0] = 1.0


def test_the_trace_has_a_round_per_hypothesis(proof):
    trace = proof.trace
    assert trace.alphas.tolist() == proof.weights.tolist()
    assert trace.min_margins[-1] == pytest.approx(0.375)
    assert trace.objective[-1] == pytest.approx(0.375)
    assert trace.errors == pytest.approx((1 - trace.edges) / 2)


@pytest.mark.parametrize("algorithm", ["softboost", "corrective_erlpboost"])
def test_weights_stand_in_the_trace_where_the_hypothesis_came_first(algorithm):
    asked, ask = [], best_column(RUDIN)

    def listening(distribution):
        answer = ask(distribution)
        asked.append(answer.member)
        return answer

    told = MarginSettings(algorithm=algorithm, nu=1e-9, precision=0.05)
    boosted = boost_margins(listening, np.ones(8), told)
    assert len(boosted.trace) > len(boosted.members)
    for member, weight in zip(boosted.members, boosted.weights, strict=True):
        assert boosted.trace.alphas[asked.index(member)] == weight


@pytest.mark.parametrize("algorithm", ["arc_gv", "adaboost_star", "lpboost", "totalboost"])
def test_rows_without_weight_do_not_count(algorithm):
    votes = np.vstack([RUDIN, -np.ones((2, 8))])
    told = MarginSettings(algorithm=algorithm, nu=1e-9, precision=0.1, n_rounds=200)
    weights = np.append(np.ones(8), [0.0, 0.0])
    boosted = boost_margins(best_column(votes), np.ones(10), told, weights)
    without = boost_margins(best_column(RUDIN), np.ones(8), told)
    assert boosted.certificate.primal == pytest.approx(without.certificate.primal, abs=1e-9)
    assert boosted.certificate.primal > 0.3
    perfect = boost_margins(lambda _: Hypothesis(weights * 2 - 1, "m"), np.ones(10), told, weights)
    assert perfect.stop_reason == "one hypothesis is right about every row"


def test_rows_of_unequal_weight_have_a_hard_margin_too():
    rows = SignedRows.of([1, 1, -1], [1.0, 1000.0, 10.0])
    assert rows.caps(1e-9).tolist() == [1.0, 1.0, 1.0]
    assert rows.caps(0.5) == pytest.approx(2 * rows.prior * [1, 0, 1] + [0, 1, 0])


def test_signs_are_those_of_the_rows():
    signs = np.array([1, -1, 1, -1, 1, 1, -1, -1.0])
    boosted = boost_margins(best_column(RUDIN, signs), signs, LPBOOST)
    assert boosted.certificate.primal == pytest.approx(0.375)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nu": 0}, r"nu=0 of MarginSettings: expected a number above 0.*hard margin choose nu"),
        ({"nu": 1.5}, r"nu=1.5 .*above 0 and at most 1"),
        ({"nu": float("nan")}, r"nu=nan "),
        ({"precision": 0.0}, r"precision=0.0 .*0.01 is usual"),
        ({"precision": -0.1}, r"precision=-0.1 .*above 0"),
        ({"algorithm": "lpbost"}, r"algorithm='lpbost' .*Did you mean 'lpboost'"),
        ({"algorithm": None}, r"algorithm=None .*'arc_gv' or"),
        ({"n_rounds": 0}, r"n_rounds=0 .*at least 1"),
        ({"n_rounds": 2.5}, r"n_rounds=2.5 .*integer"),
        ({"target_margin": 1.0}, r"target_margin=1.0 .*below 1"),
        ({"regularisation": -1.0}, r"regularisation=-1.0 .*at least 0"),
        ({"tol": 0.0}, r"tol=0.0 .*1e-6 is usual"),
    ],
)
def test_hostile_settings(change, message):
    with pytest.raises(InvalidParameter, match=message):
        MarginSettings(**change)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (np.ones(7), r"answers of shape \(7,\): expected one number per training row, \(8,\)"),
        (np.full(8, 2.0), r"answers 2.0 for row 0: expected numbers from -1 to 1"),
        (np.array([1, 1, np.nan, 1, 1, 1, 1, 1]), r"answers nan for row 2"),
    ],
)
@pytest.mark.parametrize("algorithm", ["arc_gv", "lpboost"])
def test_hostile_learners(answers, message, algorithm):
    with pytest.raises(InvalidInput, match=message):
        boost_margins(
            lambda _: Hypothesis(answers, None), np.ones(8), MarginSettings(algorithm=algorithm)
        )


def test_a_learner_may_spoil_what_it_was_given():
    ask = best_column(RUDIN)

    def spoiling(distribution):
        answer = ask(distribution)
        distribution[:] = np.nan
        return answer

    for algorithm in ("lpboost", "adaboost_star"):
        told = MarginSettings(algorithm=algorithm, nu=1e-9, precision=0.2)
        assert boost_margins(spoiling, np.ones(8), told).certificate.holds


@pytest.mark.parametrize(
    ("signs", "prior", "message"),
    [
        ([1, 0, -1], None, r"signs\[1\] is 0.0: expected 1 .* -1"),
        ([], None, r"shape \(0,\).*a row at least"),
        ([[1, -1]], None, r"shape \(1, 2\)"),
        ([1, -1], [1, -1], r"negative"),
        ([1, -1], [0, 0], r"zero"),
        ([1, -1], [1, 1, 1], r"one per row"),
    ],
)
def test_hostile_rows(signs, prior, message):
    with pytest.raises(InvalidInput, match=message):
        boost_margins(best_column(RUDIN), signs, LPBOOST, prior)


@pytest.mark.parametrize("algorithm", ["lpboost", "softboost", "erlpboost"])
def test_a_learner_that_repeats_itself_adds_no_column(algorithm):
    calls = []

    def stubborn(distribution):
        calls.append(distribution)
        return Hypothesis(RUDIN[:, 0], len(calls))

    told = MarginSettings(algorithm=algorithm, nu=0.3, precision=0.1)
    boosted = boost_margins(stubborn, np.ones(8), told)
    assert boosted.members == [1]  # who said it first
    assert boosted.weights.tolist() == [1.0]
    assert boosted.certificate.holds
    assert len(calls) <= {"softboost": 14}.get(algorithm, 2)  # whose edges sink by the precision


def test_equal_votes_are_one_hypothesis():
    pool = Pool()
    assert pool.add(np.array([1.0, -1.0]), "first") == 0
    assert pool.add(np.array([0.5, -1.0]), "second") == 1
    assert pool.add(np.array([1.0, -1.0]), "again") == 0
    assert pool.members == ["first", "second"]
    assert pool.matrix().tolist() == [[1.0, 0.5], [-1.0, -1.0]]
    assert pool.find(np.array([0.0, 0.0])) is None


def test_one_row_and_one_class():
    for algorithm in ("arc_gv", "lpboost", "totalboost", "erlpboost", "corrective_erlpboost"):
        told = MarginSettings(algorithm=algorithm, n_rounds=20)
        boosted = boost_margins(lambda _: Hypothesis(np.array([0.3]), "m"), [1], told)
        assert boosted.certificate.primal == pytest.approx(0.3), algorithm
