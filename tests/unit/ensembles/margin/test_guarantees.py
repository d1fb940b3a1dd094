"""What the papers promise, on random games."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.reference.margins import best_column, best_soft_margin

from spinney.ensembles.margin.boosting import boost_margins
from spinney.ensembles.margin.capped import soft_margin
from spinney.ensembles.margin.settings import ALGORITHMS, MarginSettings
from spinney.ensembles.weak.hypothesis import Hypothesis

VOTING = ("arc_gv", "adaboost_rho", "adaboost_star", "adaboost_reg")
PROGRAMS = tuple(name for name in ALGORITHMS if name not in VOTING)
GAMES = hnp.arrays(
    float,
    st.tuples(st.integers(2, 9), st.integers(1, 7)),
    elements=st.sampled_from([-1.0, 1.0]),
)
FEW = settings(deadline=None, max_examples=15)


def boost(matrix, algorithm, prior=None, **changed):
    told = MarginSettings(algorithm=algorithm, **changed)
    return boost_margins(best_column(matrix), np.ones(len(matrix)), told, prior)


def noisy_game(n_rows=60, n_columns=40, seed=1, lean=0.25):
    """Make votes, all different, that lean to the right side."""
    votes = np.random.default_rng(seed).normal(lean, 0.5, size=(n_rows, n_columns))
    return np.clip(votes, -1.0, 1.0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(matrix=GAMES, nu=st.sampled_from([1e-9, 0.3, 0.7]))
@FEW
def test_the_best_margin_lies_where_the_certificate_says(algorithm, matrix, nu):
    boosted = boost(matrix, algorithm, nu=nu, precision=0.2, n_rounds=300)
    proof = boosted.certificate
    value, _ = best_soft_margin(matrix, proof.caps)
    assert proof.gap >= -1e-12
    assert proof.primal - 1e-9 <= value <= proof.dual + 1e-9
    assert proof.verify(np.column_stack([matrix[:, boosted.members], matrix]))
    assert value - proof.primal <= {"lpboost": 1e-6}.get(algorithm, proof.promise or 2.0) + 1e-9


@given(matrix=GAMES, target=st.sampled_from([-0.4, 0.0, 0.3]))
@FEW
def test_a_target_that_can_be_reached_is_reached(matrix, target):
    value, _ = best_soft_margin(matrix, np.ones(len(matrix)))
    enough = 2 * math.log(len(matrix)) / max(value - target, 0.1) ** 2
    boosted = boost(matrix, "adaboost_rho", target_margin=target, n_rounds=math.ceil(enough) + 1)
    if value >= target + 0.1:
        assert boosted.certificate.primal >= target - 1e-12
    elif value < target - 1e-9:
        assert boosted.certificate.primal < target


@pytest.mark.parametrize("algorithm", PROGRAMS)
@pytest.mark.parametrize("nu", [0.02, 0.2])
def test_programs_keep_their_promise_on_votes_of_any_size(algorithm, nu):
    matrix = noisy_game()
    boosted = boost(matrix, algorithm, nu=nu, precision=0.05, n_rounds=3000)
    proof = boosted.certificate
    value, _ = best_soft_margin(matrix, proof.caps)
    assert proof.holds
    assert value - proof.promise <= proof.primal <= value + 1e-9
    assert boosted.weights.min() > 0.0
    assert boosted.weights.sum() == pytest.approx(1.0)
    assert boosted.trace.alphas.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5])
def test_lpboost_leaves_at_most_a_share_nu_below_the_margin(nu):
    matrix = noisy_game()
    boosted = boost(matrix, "lpboost", nu=nu)
    margins = matrix[:, boosted.members] @ boosted.weights
    proof = boosted.certificate
    # complementary slackness: rows below the margin are at their caps, rows above it at 0
    inside = (proof.distribution > 1e-9) & (proof.distribution < proof.caps - 1e-9)
    margin = margins[inside].mean()
    assert np.ptp(margins[inside]) <= 1e-9
    assert np.all(margins[proof.distribution >= proof.caps - 1e-9] <= margin + 1e-9)
    assert np.all(margins[proof.distribution <= 1e-9] >= margin - 1e-9)
    assert np.mean(margins < margin - 1e-9) <= nu
    assert np.mean(margins <= margin + 1e-9) >= nu
    shortfall = np.maximum(margin - margins, 0.0) @ proof.caps
    assert margin - shortfall == pytest.approx(proof.primal, abs=1e-9)


def test_rounds_that_the_papers_allow():
    matrix = noisy_game()
    for nu, precision in ((0.1, 0.1), (0.3, 0.05)):
        soft = boost(matrix, "softboost", nu=nu, precision=precision)
        assert len(soft.trace) <= 2 * math.log(1 / nu) / precision**2
        erlp = boost(matrix, "erlpboost", nu=nu, precision=precision)
        assert len(erlp.trace) <= max(4 / precision, 8 * math.log(1 / nu) / precision**2)
    total = boost(matrix, "totalboost", precision=0.1)
    assert len(total.trace) <= 2 * math.log(60) / 0.1**2
    star = boost(matrix, "adaboost_star", precision=0.1, n_rounds=10**6)
    assert len(star.trace) == math.ceil(2 * math.log(60) / 0.1**2)
    assert star.certificate.holds


def test_projections_move_away_from_the_rows_weights():
    """The relative entropy grows by precision² / 2 in a round at least: hence the bound."""
    boosted = boost(noisy_game(), "softboost", nu=0.1, precision=0.1)
    entropy = np.append(0.0, boosted.trace.objective[:-1])
    assert np.all(np.diff(entropy) >= 0.1**2 / 2 - 1e-6)
    assert boosted.trace.objective[-1] == math.inf


def test_the_values_of_programs_rise():
    for algorithm in ("lpboost", "erlpboost", "corrective_erlpboost"):
        trace = boost(noisy_game(), algorithm, nu=0.2, precision=0.05, n_rounds=300).trace
        assert np.all(np.diff(trace.objective) >= -1e-7), algorithm


@pytest.mark.parametrize("algorithm", ["totalboost", "softboost"])
def test_total_boost_is_soft_boost_without_caps(algorithm):
    matrix = noisy_game(20, 15, lean=0.4)
    nu = {"totalboost": 0.9, "softboost": 1 / 20}[algorithm]
    boosted = boost(matrix, algorithm, nu=nu, precision=0.02)
    reference = boost(matrix, "softboost", nu=1e-9, precision=0.02)
    assert boosted.members == reference.members
    assert boosted.certificate.primal == pytest.approx(reference.certificate.primal, abs=1e-9)
    assert np.all(boosted.certificate.caps == 1.0)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_weight_is_a_repetition(algorithm):
    matrix = noisy_game(12, 10)
    counts = np.array([1, 2, 1, 3, 1, 1, 0, 2, 1, 1, 4, 1])
    told = {"nu": 0.3, "precision": 0.1, "n_rounds": 60, "regularisation": 0.3}
    if algorithm == "lpboost":  # a program may have several solutions: compare the value
        told["n_rounds"] = 1000
    weighted = boost(matrix, algorithm, prior=counts, **told)
    repeated = boost(np.repeat(matrix, counts, axis=0), algorithm, **told)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, abs=1e-6)
    if algorithm != "lpboost":
        assert weighted.members == repeated.members
        assert weighted.trace.edges == pytest.approx(repeated.trace.edges, abs=1e-5)
        assert weighted.weights == pytest.approx(repeated.weights, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_learner_that_is_not_the_best_gets_a_valid_certificate(algorithm, seed):
    matrix = noisy_game()
    rng = np.random.default_rng(seed)
    ask = best_column(matrix)

    def distracted(distribution):
        return ask(rng.dirichlet(np.ones(60)) * 0.7 + distribution * 0.3)

    told = MarginSettings(algorithm=algorithm, nu=0.2, precision=0.1, n_rounds=100)
    boosted = boost_margins(distracted, np.ones(60), told)
    proof = boosted.certificate
    votes = matrix[:, boosted.members]
    assert proof.gap >= -1e-12
    assert proof.primal == pytest.approx(
        soft_margin(votes @ (boosted.weights / boosted.weights.sum()), proof.caps), abs=1e-12
    )
    assert np.max(proof.distribution @ votes) <= proof.dual + 1e-12
    if algorithm in PROGRAMS and boosted.stop_reason != "all rounds are done":
        assert proof.holds  # among the hypotheses that were given


@pytest.mark.parametrize("algorithm", PROGRAMS)
def test_bad_answers_do_not_make_certificates_wrong(algorithm):
    matrix = noisy_game()
    ask = best_column(matrix)
    bad = Hypothesis(-matrix[:, 0], "bad")
    answers = iter([bad, None, bad])

    def absent_minded(distribution):
        return next(answers, None) or ask(distribution)

    told = MarginSettings(algorithm=algorithm, nu=0.2, precision=0.1)
    boosted = boost_margins(absent_minded, np.ones(60), told)
    assert boosted.certificate.holds


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_bytes_again(algorithm):
    told = {"nu": 0.2, "precision": 0.1, "n_rounds": 40, "keep_distributions": True}
    once, again = (boost(noisy_game(), algorithm, **told) for _ in range(2))
    assert once.weights.tobytes() == again.weights.tobytes()
    assert once.trace.distributions.tobytes() == again.trace.distributions.tobytes()
