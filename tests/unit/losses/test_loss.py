"""One test for every loss: a new row in the table is tested by being there."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from spinney._native import _ext
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import MultinomialLoss, PointLoss, loss_named
from spinney.losses.loss import BINARY_LOSSES, REGRESSION_LOSSES

LOSSES = {**REGRESSION_LOSSES, **BINARY_LOSSES}
# Formulas that no estimator offers yet; their derivatives are held to the same rules.
FORMULAS = {
    **LOSSES,
    "absolute": PointLoss("absolute", "identity"),
    "huber": PointLoss("huber", "identity", parameter=1.3),
    "quantile": PointLoss("quantile", "identity", parameter=0.8),
}
RNG = np.random.default_rng(0)


def targets(name, n=60):
    if name in BINARY_LOSSES:
        return RNG.integers(0, 2, n).astype(float)
    if name in {"poisson", "tweedie"}:
        return RNG.poisson(2.0, n).astype(float)
    return RNG.gamma(2.0, 1.0, n) if name == "gamma" else RNG.normal(size=n)


@pytest.mark.parametrize("name", FORMULAS)
def test_gradient_and_hessian_are_derivatives_of_the_value(name):
    loss, step = FORMULAS[name], 1e-5
    for y in targets(name, 20):
        for score in RNG.normal(0, 2, 5):
            at = loss.derivatives(np.array([y]), np.array([[score]]), 1)

            def value(s, y=y):
                return loss.total(np.array([y]), np.array([[s]]), None, 1)

            def slope(s, y=y):
                return (value(s + step, y) - value(s - step, y)) / (2 * step)

            assert at.gradients[0, 0] == pytest.approx(slope(score), rel=1e-4, abs=1e-5)
            if name not in {"absolute", "huber", "quantile"}:  # their hessian is 1 by convention
                curvature = (slope(score + 1e-3) - slope(score - 1e-3)) / 2e-3
                assert at.hessians[0, 0] == pytest.approx(curvature, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_start_is_the_best_constant(name, weighted):
    loss, y = LOSSES[name], targets(name)
    weights = RNG.integers(1, 4, len(y)).astype(float) if weighted else None
    (start,) = loss.start(y, weights)

    def total(score):
        return loss.total(y, np.full((len(y), 1), score), weights, 1)

    best = minimize_scalar(total, bracket=(start - 1, start + 1), tol=1e-12)
    assert start == pytest.approx(best.x, abs=1e-5)
    if weighted:
        (repeated,) = loss.start(np.repeat(y, weights.astype(int)), None)
        assert repeated == start


def test_multinomial_derivatives_are_those_of_the_cross_entropy():
    loss = MultinomialLoss(4)
    y = RNG.integers(0, 4, 50).astype(float)
    scores = RNG.normal(0, 3, (50, 4))
    p = softmax(scores, axis=1)
    at = loss.derivatives(y, scores, 2)
    one_hot = np.eye(4)[y.astype(int)]
    assert np.allclose(at.gradients.T, p - one_hot, atol=1e-6)
    assert np.allclose(at.hessians.T, p * (1 - p), atol=1e-6)
    expected = -np.log(p[np.arange(50), y.astype(int)]).sum()
    assert loss.total(y, scores, None, 1) == pytest.approx(expected, rel=1e-12)
    assert np.allclose(softmax(loss.start(y, None)), one_hot.mean(axis=0))


@pytest.mark.parametrize("name", FORMULAS)
def test_every_instruction_set_and_number_of_threads_gives_the_same_bits(name):
    loss, n = FORMULAS[name], 20_001
    y = np.resize(targets(name, 997), n)
    scores = RNG.normal(0, 8, (n, 1))
    scores[:8, 0] = [0.0, -0.0, 700.0, -700.0, 1e-320, 30.0, -30.0, 1e3]
    best, seen = _ext.best_isa(), set()
    for isa in ["portable", "avx2", "avx512"][: ["portable", "avx2", "avx512"].index(best) + 1]:
        _ext.use_isa(isa)
        for n_threads in (1, 3):
            at = loss.derivatives(y, scores, n_threads)
            total = loss.total(y, scores, None, n_threads)
            seen.add((at.gradients.tobytes(), at.hessians.tobytes(), total))
    _ext.use_isa(best)
    assert len(seen) == 1


def test_our_exponential_is_within_two_units_in_the_last_place():
    scores = np.concatenate([RNG.uniform(-700, 700, 20_000), RNG.normal(size=20_000)])
    # Poisson at y = 0 is e^s, summed one row at a time.
    ours = np.array(
        [_ext.sum_loss("poisson", 0.0, np.zeros(1), s[None], np.empty(0), 1) for s in scores[:2000]]
    )
    assert np.allclose(ours, np.exp(scores[:2000]), rtol=5e-16, atol=0)


@pytest.mark.parametrize(("name", "bad"), [("poisson", -1.0), ("gamma", 0.0), ("tweedie", -0.5)])
def test_targets_outside_the_domain_are_refused_with_their_row(name, bad):
    with pytest.raises(InvalidInput, match=rf"Row 2 of y is {bad}.*{name}"):
        LOSSES[name].check(np.array([1.0, 2.0, bad]))


def test_unknown_loss_is_refused_with_a_suggestion():
    with pytest.raises(InvalidParameter, match="Did you mean 'poisson'"):
        loss_named("poison", REGRESSION_LOSSES)
