"""Links against SciPy's, at the edges, and the same bits everywhere."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from spinney._native import _ext
from spinney.errors import SpinneyError
from spinney.model.links import BINARY_LINKS, LINKS, apply_link

INSTRUCTION_SETS = ["portable", "avx2", "avx512"]
INSTRUCTION_SETS = INSTRUCTION_SETS[: INSTRUCTION_SETS.index(_ext.best_isa()) + 1]
SCORES = np.random.default_rng(0).normal(0, 5, (1000, 4))


def definition(link, scores):
    """What each link means."""
    if link in BINARY_LINKS:
        odds = scores[:, 0] * (2.0 if link == "double_logistic" else 1.0)
        return np.column_stack([expit(-odds), expit(odds)])
    return {
        "identity": lambda s: s,
        "softmax": lambda s: softmax(s, axis=1),
        "log": np.exp,
        "increasing": lambda s: np.sort(s, axis=1),
    }[link](scores)


def of_width(link):
    return SCORES[:, :1] if link in BINARY_LINKS else SCORES


@pytest.mark.parametrize("link", LINKS)
def test_links_are_what_scipy_says(link):
    scores = of_width(link)
    np.testing.assert_allclose(apply_link(link, scores), definition(link, scores), rtol=4e-15)


@pytest.mark.parametrize("link", LINKS)
def test_the_same_bits_for_every_instruction_set_thread_count_and_batch(link):
    scores = of_width(link)
    expected = apply_link(link, scores)
    active = _ext.active_isa()
    try:
        for isa in INSTRUCTION_SETS:
            _ext.use_isa(isa)
            assert np.array_equal(apply_link(link, scores, n_threads=3), expected)
            assert np.array_equal(apply_link(link, scores[5:9]), expected[5:9])
            assert np.array_equal(apply_link(link, scores[-1:]), expected[-1:])
    finally:
        _ext.use_isa(active)


@pytest.mark.parametrize("link", sorted(BINARY_LINKS))
def test_two_probabilities_add_up_to_one_and_the_small_one_is_accurate(link):
    scores = np.linspace(-300, 300, 4001)[:, np.newaxis]
    predicted = apply_link(link, scores)
    assert (predicted.sum(axis=1) == 1.0).all()
    assert (predicted > 0).all()
    np.testing.assert_allclose(predicted.min(axis=1), definition(link, scores).min(axis=1), 1e-14)


def test_far_away_nothing_overflows():
    far = np.array([[-1e308], [1e308], [-np.inf], [np.inf]])
    for link in ("logistic", "double_logistic", "log"):
        predicted = apply_link(link, far)
        assert np.isfinite(predicted).all()
        assert (predicted > 0).all()
    assert apply_link("softmax", np.array([[1e308, -1e308]])).tolist()[0][0] == 1.0


def test_scores_that_do_not_fit_are_refused():
    with pytest.raises(SpinneyError, match="do not fit"):
        apply_link("logistic", SCORES)
    with pytest.raises(SpinneyError, match="unknown link"):
        apply_link("probit", SCORES)
    assert apply_link("softmax", SCORES[:0]).shape == (0, 4)


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 7, 16, 33])
def test_rows_are_put_in_order_however_many_outputs_there_are(n_outputs):
    rng = np.random.default_rng(n_outputs)
    scores = rng.normal(size=(500, n_outputs)) * 10.0 ** rng.integers(-300, 300, (500, 1))
    scores[::3] = np.round(scores[::3])  # ties
    scores[7, 0] = np.inf
    assert np.array_equal(apply_link("increasing", scores), np.sort(scores, axis=1))
