"""The identities of AdaBoost, on random problems with repeated values."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from tests.reference.adaboost import slow_adaboost, slow_scores
from tests.unit.theory.boosters import TOY10, TOY10_LABELS, Stumps, problems

from spinney.theory import margin_markov, margin_theorem, training_error_bounds

EXACT = 1e-10
few = settings(max_examples=25, deadline=None)


def fitted(problem, n_rounds=6):
    """Boost; leave problems that one stump solves, and those that none can begin, to others."""
    X, y = problem
    assume(len(slow_adaboost(X, y, 1).stumps) == 1)
    booster = Stumps(X, y, n_rounds)
    assume(booster.boosted.errors.min() > 1e-9)
    return X, y, booster


@few
@given(problems())
def test_weights_are_distributions_that_forget_the_last_stump(problem):
    """Identities 1 and 4: half of the weight is wrong; p/(2q) and p/(2(1-q)) are the update."""
    _, y, booster = fitted(problem)
    D = booster.boosted.distributions
    np.testing.assert_allclose(D.sum(axis=1), 1.0, rtol=0, atol=EXACT)
    for t, error in enumerate(booster.boosted.errors):
        wrong = booster.answers[t] != y
        assert D[t][wrong].sum() == pytest.approx(error, abs=EXACT)
        assert D[t + 1][wrong].sum() == pytest.approx(0.5, abs=EXACT)
        assert (D[t + 1] * y * booster.answers[t]).sum() == pytest.approx(0.0, abs=EXACT)
        update = np.where(wrong, D[t] / (2 * error), D[t] / (2 * (1 - error)))
        np.testing.assert_allclose(D[t + 1], update, rtol=EXACT, atol=0)


@few
@given(problems())
def test_the_mean_exponential_loss_is_the_product_of_the_normalisers(problem):
    """Identities 2, 3, 7 and 8."""
    X, y, booster = fitted(problem)
    boosted, n = booster.boosted, len(y)
    errors, scores = boosted.errors, slow_scores(boosted, X)
    np.testing.assert_allclose(boosted.normalisers, 2 * np.sqrt(errors * (1 - errors)), rtol=EXACT)
    product = float(training_error_bounds(errors, boosted.normalisers).product[-1])
    assert product == pytest.approx(float(boosted.normalisers.prod()), rel=EXACT)
    assert np.exp(-y * scores).mean() == pytest.approx(product, rel=EXACT)
    last = boosted.distributions[-1]
    np.testing.assert_allclose(last, np.exp(-y * scores) / (n * product), rtol=EXACT)
    factors = np.where(booster.answers != y, 2 * errors[:, None], 2 * (1 - errors[:, None]))
    np.testing.assert_allclose(last, 1 / (n * factors.prod(axis=0)), rtol=EXACT)
    assert (last[y * scores <= 0] >= (1 - EXACT) / (n * product)).all()
    for h in booster.answers:  # the slope of the objective towards any hypothesis
        error = last[h != y].sum()
        slope = -(y * h * np.exp(-y * scores)).sum()
        assert slope == pytest.approx((2 * error - 1) * n * product, rel=1e-9, abs=EXACT)


@few
@given(problems())
def test_the_bounds_of_the_training_error_stand_in_order(problem):
    """Identity 5, after every round."""
    X, y, booster = fitted(problem)
    bounds = training_error_bounds(booster.boosted.errors)
    votes = booster.boosted.alphas[:, None] * booster.answers
    errors = (y * np.cumsum(votes, axis=0) <= 0).mean(axis=1)
    slack = 1 + EXACT
    assert (errors <= bounds.product * slack).all()
    assert (bounds.product <= bounds.power * slack).all()
    assert (bounds.power <= bounds.exponential * slack).all()
    assert (bounds.product <= bounds.exponential_sum * slack).all()
    assert (bounds.exponential_sum <= bounds.exponential * slack).all()
    assert (booster.margins(X, y) <= 0).mean() == errors[-1]


@few
@given(problems())
def test_few_margins_are_small_for_every_theta(problem):
    """Identity 6; and the theorem is Markov's inequality for these votes."""
    X, y, booster = fitted(problem)
    thetas = np.linspace(-1, 1, 81)
    bounds = margin_theorem(booster.boosted.errors, thetas)
    shares = np.array([(booster.margins(X, y) <= theta).mean() for theta in thetas])
    assert (shares <= bounds * (1 + EXACT)).all()
    by_markov = margin_markov(booster.boosted.alphas, booster.boosted.normalisers, thetas)
    np.testing.assert_allclose(by_markov, bounds, rtol=1e-9)
    assert margin_theorem(booster.boosted.errors, 0.0) == pytest.approx(
        float(booster.boosted.normalisers.prod()), rel=EXACT
    )


def test_the_slow_adaboost_plays_the_textbook_rounds():
    """Schapire and Freund (2012), chapter 1: ten points, three stumps."""
    boosted = slow_adaboost(TOY10, TOY10_LABELS, 3)
    assert boosted.stumps == ((0, 2.5, -1), (0, 8.5, -1), (1, 4.5, 1))
    np.testing.assert_allclose(boosted.errors, [0.3, 0.214286, 0.136364], atol=1e-6)
    np.testing.assert_allclose(boosted.alphas, [0.423649, 0.649641, 0.922913], atol=1e-6)
    assert boosted.normalisers.prod() == pytest.approx(0.51623, abs=1e-5)
    assert (np.sign(slow_scores(boosted, TOY10)) == TOY10_LABELS).all()


def test_the_slow_adaboost_ends_after_a_perfect_stump_and_before_a_useless_one():
    perfect = slow_adaboost(np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, 1]), 9)
    assert perfect.stumps == ((0, 0.5, 1),)
    assert perfect.distributions.shape == (2, 3)
    xor = slow_adaboost(np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([1, -1, -1, 1]), 9)
    assert xor.stumps == ()
    assert len(xor.alphas) == 0
