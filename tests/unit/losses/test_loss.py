"""One test for every loss: a new row in the table is tested by being there."""

import numpy as np
import pytest
from scipy.special import softmax

from spinney._native import _ext
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses import Loss, MultinomialLoss, loss_named
from spinney.losses.loss import BINARY_LOSSES, REGRESSION_LOSSES

LOSSES: dict[str, Loss] = {
    **REGRESSION_LOSSES,
    **BINARY_LOSSES,
    "huber": REGRESSION_LOSSES["huber"].with_parameter(1.3),
    "quantile": REGRESSION_LOSSES["quantile"].with_parameter(0.8),
    "tweedie": REGRESSION_LOSSES["tweedie"].with_parameter(1.2),
    "multinomial": MultinomialLoss(4),
}
ISAS = ["portable", "avx2", "avx512"]
RNG = np.random.default_rng(0)


def n_outputs(loss):
    return loss.n_classes if isinstance(loss, MultinomialLoss) else 1


def targets(name, n=60):
    if name in BINARY_LOSSES:
        return RNG.integers(0, 2, n).astype(float)
    if name == "multinomial":
        return RNG.permutation(np.arange(n) % 4).astype(float)
    if name in {"poisson", "tweedie"}:
        return RNG.poisson(2.0, n).astype(float)
    return RNG.gamma(2.0, 1.0, n) if name == "gamma" else RNG.normal(size=n)


def slope(loss, y, scores, output, step=1e-5):
    """Finite difference of the loss of one row by one of its scores."""
    move = step * np.eye(len(scores))[output]
    values = [loss.total(np.array([y]), (scores + d)[None], None, 1) for d in (move, -move)]
    return (values[0] - values[1]) / (2 * step)


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_and_hessian_are_derivatives_of_the_value(name):
    loss = LOSSES[name]
    for y in targets(name, 20):
        for scores in RNG.normal(0, 2, (5, n_outputs(loss))):
            at = loss.derivatives(np.array([y]), scores[None], 1)
            for output in range(len(scores)):
                expected = slope(loss, y, scores, output)
                assert at.gradients[output, 0] == pytest.approx(expected, rel=1e-4, abs=1e-5)
                if loss.has_constant_hessian:  # nothing is written: all 1, some by convention
                    assert at.hessians.shape == (1, 0)
                    continue
                move = 1e-3 * np.eye(len(scores))[output]
                ends = [slope(loss, y, scores + d, output) for d in (move, -move)]
                curvature = (ends[0] - ends[1]) / 2e-3
                assert at.hessians[output, 0] == pytest.approx(curvature, rel=1e-3, abs=1e-4)


def total_at(loss, y, weights, constant):
    return loss.total(y, np.tile(constant, (len(y), 1)), weights, 1)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_constant_is_better_than_the_start(name, weighted):
    loss, y = LOSSES[name], targets(name)
    weights = RNG.integers(1, 4, len(y)).astype(float) if weighted else None
    start = loss.start(y, weights)
    least = total_at(loss, y, weights, start)
    for size in (1e-6, 1e-3, 0.1, 1.0):
        for output in range(len(start)):
            for sign in (-1, 1):
                moved = start + sign * size * np.eye(len(start))[output]
                assert least <= total_at(loss, y, weights, moved) * (1 + 1e-14) + 1e-14


@pytest.mark.parametrize("name", LOSSES)
def test_start_counts_a_weight_as_repetitions_to_the_last_bit(name):
    loss, y = LOSSES[name], targets(name, 200)
    weights = RNG.integers(1, 4, len(y))
    repeated = RNG.permutation(np.repeat(y, weights))
    assert loss.start(y, weights.astype(float)).tobytes() == loss.start(repeated, None).tobytes()
    order = RNG.permutation(len(y))
    shares = RNG.gamma(1.0, 1.0, len(y))
    assert loss.start(y, shares).tobytes() == loss.start(y[order], shares[order]).tobytes()


@pytest.mark.parametrize("name", LOSSES)
def test_a_short_newton_step_lowers_the_loss(name):
    loss, y = LOSSES[name], targets(name)
    scores = np.tile(loss.start(y, None) + 0.7, (len(y), 1)) + RNG.normal(0, 0.1, (len(y), 1))
    at = loss.derivatives(y, scores, 1)
    second = at.hessians.sum(axis=1) if at.hessians.size else float(len(y))
    step = -at.gradients.sum(axis=1) / second
    before = loss.total(y, scores, None, 1)
    assert loss.total(y, scores + 0.1 * step, None, 1) <= before


HOSTILE = {
    "constant": np.full(9, 3.0),
    "one row": np.array([2.0]),
    "huge": np.array([1e300, 3e300, 2e300]),
    "tiny": np.array([1e-300, 3e-300, 2e-300]),
    "ties": np.repeat([1.0, 2.0], [5, 5]),
    "both": np.array([1e300, 1e-300, 1.0]),
}


@pytest.mark.parametrize("values", HOSTILE)
@pytest.mark.parametrize("name", REGRESSION_LOSSES)
def test_hostile_targets_have_a_finite_start_inside_their_range(name, values):
    loss, y = LOSSES[name], HOSTILE[values]
    (start,) = loss.start(y, None)
    low, high = (np.log(y) if loss.link == "log" else y)[[y.argmin(), y.argmax()]]
    slack = 1e-12 * max(abs(low), abs(high))
    assert low - slack <= start <= high + slack
    at = loss.derivatives(y, np.full((len(y), 1), start), 1)
    assert not np.isnan(at.gradients).any()
    assert not np.isnan(at.hessians).any()


@pytest.mark.parametrize("name", [*BINARY_LOSSES, "multinomial"])
def test_a_single_class_has_a_finite_start_and_finite_derivatives(name):
    loss = LOSSES[name]
    for y in (np.zeros(5), np.ones(1)):
        start = loss.start(y, None)
        assert np.isfinite(start).all()
        for scores in (start, 1e300 * np.ones(len(start)), -1e300 * np.ones(len(start))):
            at = loss.derivatives(y, np.tile(scores, (len(y), 1)), 1)
            assert not np.isnan(at.gradients).any()
            assert np.all(at.hessians >= 0)


@pytest.mark.parametrize("name", LOSSES)
def test_limits_are_the_largest_magnitudes(name):
    loss, n = LOSSES[name], 20_001
    scores = RNG.normal(0, 2, (n, n_outputs(loss)))
    at = loss.derivatives(np.resize(targets(name, 997), n), scores, 2)
    limits = np.array(at.limits)
    assert np.array_equal(limits[:, 0], np.abs(at.gradients).max(axis=1))
    second = np.max(at.hessians, axis=1, initial=1.0 if loss.has_constant_hessian else 0.0)
    assert np.array_equal(limits[:, 1], second)


def test_limits_show_a_score_that_is_no_number():
    for name, n in (("squared", 3), ("logistic", 20_000), ("multinomial", 3000)):
        loss = LOSSES[name]
        scores = np.zeros((n, n_outputs(loss)))
        scores[1] = np.nan
        limits = loss.derivatives(np.zeros(n), scores, 2).limits
        assert all(np.isnan(of_gradients) for of_gradients, _ in limits)


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


@pytest.mark.parametrize("n_classes", [1, 2, 3, 40])
def test_multinomial_of_any_width_agrees_with_scipy(n_classes):
    loss, n = MultinomialLoss(n_classes), 300
    y, scores = RNG.integers(0, n_classes, n).astype(float), RNG.normal(0, 3, (n, n_classes))
    p, hits = softmax(scores, axis=1).T, np.eye(n_classes)[:, y.astype(int)]
    at = loss.derivatives(y, scores, 2)
    assert np.allclose(at.gradients, p - hits, rtol=1e-6, atol=1e-7)
    assert np.allclose(at.hessians, p * (1 - p), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", LOSSES)
def test_every_instruction_set_and_number_of_threads_gives_the_same_bits(name):
    loss, n = LOSSES[name], 20_001
    y = np.resize(targets(name, 997), n)
    scores = RNG.normal(0, 8, (n, n_outputs(loss)))
    scores[:8, 0] = [0.0, -0.0, 700.0, -700.0, 1e-320, 30.0, -30.0, 1e3]
    best, seen = _ext.best_isa(), set()
    for isa in ISAS[: ISAS.index(best) + 1]:
        _ext.use_isa(isa)
        for n_threads in (1, 3):
            at = loss.derivatives(y, scores, n_threads)
            total = loss.total(y, scores, None, n_threads)
            arrays = (at.gradients, at.hessians, np.array(at.limits))
            seen.add((total, *(array.tobytes() for array in arrays)))
    _ext.use_isa(best)
    assert len(seen) == 1


@pytest.mark.parametrize(("name", "bad"), [("poisson", -1.0), ("gamma", 0.0), ("tweedie", -0.5)])
def test_targets_outside_the_domain_are_refused_with_their_row(name, bad):
    with pytest.raises(InvalidInput, match=rf"Row 2 of y is {bad}.*{name}"):
        LOSSES[name].check(np.array([1.0, 2.0, bad]))


@pytest.mark.parametrize("name", ["squared", "poisson", "tweedie", "huber"])
def test_targets_whose_gradients_leave_32_bits_are_refused(name):
    y = np.array([1.0, 2.0, 3.0])
    for loss in (LOSSES[name], REGRESSION_LOSSES["absolute"], REGRESSION_LOSSES["gamma"]):
        for factor in (1e-25, 1.0, 1e30):
            loss.check(factor * y)
    for factor in (1e-300, 1e300):
        if name == "huber" and factor > 1:
            LOSSES[name].check(factor * y)  # its gradients are clipped
            continue
        with pytest.raises(InvalidInput, match="beyond what 32 bits hold"):
            LOSSES[name].check(factor * y)


def test_unknown_loss_is_refused_with_a_suggestion():
    with pytest.raises(InvalidParameter, match="Did you mean 'poisson'"):
        loss_named("poison", REGRESSION_LOSSES)
