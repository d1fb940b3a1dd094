"""Bounds of the risk: formulas by hand, repeats in which they hold, hostile input."""

import math

import numpy as np
import pytest

from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory import (
    combined_vc_dimension,
    margin_risk,
    massart_complexity,
    matrix_rademacher,
    sample_complexity,
    stump_rademacher,
    vc_complexity,
    vc_risk,
)
from spinney.theory.risk import RHOS

MARGINS = np.array([-0.5, 0.0, 0.1, 0.2, 0.3, 0.4, 0.8, 1.0])


def test_a_fixed_margin_costs_its_three_terms():
    complexity = massart_complexity(("finite", 4), 8)
    found = margin_risk(MARGINS, complexity, 0.4, delta=0.1, over="fixed")
    ramp = (1 + 1 + 0.75 + 0.5 + 0.25 + 0 + 0 + 0) / 8
    assert found.margin_losses.tolist() == pytest.approx([ramp])
    assert found.complexity_terms.tolist() == pytest.approx([2 / 0.4 * math.sqrt(math.log(16) / 8)])
    assert found.deviations.tolist() == pytest.approx([math.sqrt(math.log(10) / 16)])
    assert found.best == pytest.approx(
        float(found.margin_losses[0] + found.complexity_terms[0] + found.deviations[0])
    )
    assert found.vacuous
    fraction = margin_risk(MARGINS, complexity, 0.4, delta=0.1, over="fixed", loss="fraction")
    assert fraction.margin_losses.tolist() == [6 / 8]


def test_margins_of_a_grid_share_delta():
    complexity = massart_complexity(("finite", 4), 8)
    found = margin_risk(MARGINS, complexity, [0.2, 0.4], delta=0.1)
    assert found.deviations.tolist() == pytest.approx([math.sqrt(math.log(20) / 16)] * 2)
    assert found.best_rho == float(found.rhos[found.bounds.argmin()])
    assert found.best == found.bounds.min()


def test_uniform_margins_cost_twice_the_complexity():
    complexity = massart_complexity(("finite", 4), 8)
    fixed = margin_risk(MARGINS, complexity, 0.5, delta=0.1, over="fixed")
    found = margin_risk(MARGINS, complexity, 0.5, delta=0.1, over="uniform")
    assert found.complexity_terms[0] == pytest.approx(2 * float(fixed.complexity_terms[0]))
    spread = math.sqrt(math.log(math.log2(4)) / 8) + math.sqrt(math.log(20) / 16)
    assert found.deviations[0] == pytest.approx(spread)
    whole = margin_risk(MARGINS, complexity, 1.0, delta=0.1, over="uniform")
    assert whole.deviations[0] == pytest.approx(math.sqrt(math.log(20) / 16))


def test_the_complexity_of_a_sample_costs_three_deviations_and_its_own_failure():
    X = np.arange(8.0)[:, None]
    complexity = stump_rademacher(X, n_draws=50, failure=0.02)
    found = margin_risk(MARGINS, complexity, 0.4, delta=0.1, over="fixed")
    assert found.deviations[0] == pytest.approx(3 * math.sqrt(math.log(2 / 0.08) / 16))
    assert found.complexity_terms[0] == pytest.approx(5 * complexity.value)
    with pytest.raises(InvalidParameter, match=r"delta=0.02 is not above 0.02"):
        margin_risk(MARGINS, complexity, 0.4, delta=0.02)


def test_the_ramp_is_never_above_the_fraction_and_losses_grow_with_the_margin():
    margins = np.random.default_rng(0).uniform(-1, 1, 500)
    complexity = vc_complexity(("stumps", 2), 500)
    ramp, fraction = (margin_risk(margins, complexity, loss=loss) for loss in ("ramp", "fraction"))
    assert (ramp.margin_losses <= fraction.margin_losses).all()
    assert (ramp.margin_losses >= (margins <= 0).mean()).all()
    for found in (ramp, fraction):
        assert (np.diff(found.margin_losses) >= 0).all()
        assert (np.diff(found.complexity_terms) < 0).all()


def test_the_bound_says_something_where_margins_are_large_and_rows_many():
    n = 100_000
    good = margin_risk(np.full(n, 0.5), massart_complexity(("stumps", 10), n))
    assert not good.vacuous
    assert good.best < 0.1
    assert "vacuous" not in good.title()
    bad = margin_risk(np.full(100, 0.05), massart_complexity(("stumps", 10), 100))
    assert bad.vacuous
    assert "vacuous" in bad.title()
    assert len(bad.columns()["rho"]) == len(RHOS)


def overfitted_margins(rng, n, n_hypotheses):
    """A vote of hypotheses that say nothing, each turned to agree with labels that are coins.

    Its risk is ½, whatever the rows: labels do not depend on anything.
    """
    says = rng.choice([-1.0, 1.0], (n, n_hypotheses))
    y = rng.choice([-1.0, 1.0], n)
    agreement = says.T @ y
    alphas = np.sign(agreement) * agreement**2
    return y * (says @ alphas) / np.abs(alphas).sum(), np.column_stack([says, -says])


@pytest.mark.parametrize(
    ("method", "over"), [("massart", "grid"), ("massart", "uniform"), ("rademacher", "grid")]
)
def test_votes_fitted_to_noise_are_not_promised_less_than_their_risk(method, over):
    """In at least 1 - delta of repeats; from the margins alone most promises would be false."""
    rng, n, delta, repeats = np.random.default_rng(7), 400, 0.2, 25
    held = false_without = 0
    for repeat in range(repeats):
        margins, answers = overfitted_margins(rng, n, 200)
        if method == "massart":
            complexity = massart_complexity(("finite", answers.shape[1]), n)
        else:
            complexity = matrix_rademacher(answers, n_draws=20, random_state=repeat)
        found = margin_risk(margins, complexity, delta=delta, over=over)
        held += found.best >= 0.5
        rest = found.bounds - found.complexity_terms if method == "massart" else found.margin_losses
        false_without += rest.min() < 0.5
    assert held >= (1 - delta) * repeats
    assert false_without > 0.9 * repeats


def test_a_finite_class_keeps_its_promise_where_the_risk_is_known():
    """Thresholds on 10 numbers with 20 % of labels flipped: risks are computed, not estimated."""
    rng, n, delta, repeats = np.random.default_rng(3), 1000, 0.1, 100
    cuts = np.arange(11)
    values = np.arange(10)
    says = np.where(values[:, None] >= cuts, 1.0, -1.0)
    truth = np.where(values >= 5, 1.0, -1.0)
    complexity = massart_complexity(("finite", 2 * len(cuts)), n)
    held = []
    for _ in range(repeats):
        drawn = rng.integers(0, 10, n)
        y = truth[drawn] * np.where(rng.random(n) < 0.2, -1.0, 1.0)
        agreement = says[drawn].T @ y
        alphas = np.maximum(agreement, 0.0)
        scores = says @ alphas / alphas.sum()
        wrong = np.where(scores * truth > 0, 0.2, np.where(scores * truth < 0, 0.8, 1.0))
        found = margin_risk(y * scores[drawn], complexity, delta=delta)
        held.append(wrong.mean() <= found.best)
    assert np.mean(held) >= 1 - delta
    assert not found.vacuous


def test_repeating_the_vote_changes_nothing_but_rounds_do():
    complexity = massart_complexity(("stumps", 2), 8)
    once = margin_risk(MARGINS, complexity).best
    assert margin_risk(MARGINS.copy(), complexity).best == once
    risks = [vc_risk(0.0, 10**7, rounds, 3, 0.05) for rounds in (1, 10, 100)]
    assert risks == sorted(risks)
    assert risks[0] < risks[-1] < 1


def test_vc_bounds_by_hand():
    d = 2 * 4 * 6 * math.log2(6 * math.e)
    assert combined_vc_dimension(3, 5) == pytest.approx(d)
    assert combined_vc_dimension(1, 5) == combined_vc_dimension(2, 5)
    inner = d * (math.log(2 * 10_000 / d) + 1) + math.log(9 / 0.05)
    assert vc_risk(0.1, 10_000, 5, 3, 0.05) == pytest.approx(0.1 + 2 * math.sqrt(inner / 10_000))
    assert vc_risk(0.1, 100, 50, 3, 0.05) >= 1


def test_sample_complexity_by_hand():
    assert sample_complexity(0.1, 0.05, n_hypotheses=1000) == math.ceil(math.log(20_000) / 0.1)
    few = math.ceil(4 / 0.1 * math.log2(2 / 1e-60))
    assert sample_complexity(0.1, 1e-60, vc=1) == few
    assert sample_complexity(0.1, 0.05, vc=3) == math.ceil(24 / 0.1 * math.log2(130))


def test_a_consistent_hypothesis_is_as_good_as_promised():
    """Thresholds on 50 numbers, the worst that is consistent with the rows."""
    epsilon, delta, rng = 0.1, 0.1, np.random.default_rng(0)
    n = sample_complexity(epsilon, delta, n_hypotheses=51)
    risks = [rng.integers(0, 50, n).min() / 50 for _ in range(300)]  # numbers below were unseen
    assert np.mean(np.array(risks) > epsilon) <= delta


@pytest.mark.parametrize(
    "call",
    [
        lambda c: margin_risk(MARGINS, c, [0.1, 0.2], over="fixed"),
        lambda c: margin_risk(MARGINS, c, over="any"),
        lambda c: margin_risk(MARGINS, c, loss="hinge"),
        lambda c: margin_risk(MARGINS, c, delta=0.0),
        lambda c: margin_risk(MARGINS, c, delta=np.nan),
        lambda _: vc_risk(1.5, 10, 10, 2, 0.1),
        lambda _: vc_risk(0.5, 10, 0, 2, 0.1),
        lambda _: vc_risk(0.5, 10, 1, 2, 1.1),
        lambda _: sample_complexity(0.1, 0.1),
        lambda _: sample_complexity(0.1, 0.1, n_hypotheses=2, vc=2),
        lambda _: sample_complexity(0.0, 0.1, vc=2),
        lambda _: sample_complexity(0.1, 0.1, vc=0),
    ],
)
def test_parameters_out_of_range_are_refused(call):
    with pytest.raises(InvalidParameter, match=r"expected|is for one margin"):
        call(massart_complexity(("finite", 4), 8))


@pytest.mark.parametrize(
    "call",
    [
        lambda c: margin_risk([0.1, 2.0], c),
        lambda c: margin_risk([0.1], c),
        lambda c: margin_risk([], c),
        lambda c: margin_risk([np.nan] * 8, c),
        lambda c: margin_risk(MARGINS, c, 0.0),
        lambda c: margin_risk(MARGINS, c, 1.5),
        lambda c: margin_risk(MARGINS, c, []),
    ],
)
def test_margins_that_are_none_are_refused(call):
    with pytest.raises(InvalidInput, match="expected"):
        call(massart_complexity(("finite", 4), 8))
