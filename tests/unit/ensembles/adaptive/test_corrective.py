"""All votes weighed anew: the least loss, and quickly."""

import numpy as np
import pytest
from scipy.special import logsumexp

from spinney import AdaBoostClassifier
from spinney.ensembles.adaptive import corrective
from spinney.ensembles.adaptive.corrective import least_exponential_loss
from spinney.losses.line_search import LONGEST_MOVE


def slopes(matrix, log_prior, alphas):
    logs = log_prior - matrix @ alphas
    return -(np.exp(logs - logsumexp(logs)) @ matrix)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("drift", [0.0, 0.3, 0.8])
def test_no_weight_can_be_moved_for_the_better(seed, drift):
    draws = np.random.default_rng(seed)
    matrix = np.sign(draws.normal(drift, 1.0, (300, 25)))
    prior = draws.dirichlet(np.ones(300))
    alphas = least_exponential_loss(matrix, np.log(prior), draws.uniform(0.0, 1.0, 25))
    slope = slopes(matrix, np.log(prior), alphas)
    assert np.all((alphas >= 0.0) & (alphas <= LONGEST_MOVE))
    assert np.all(slope[alphas > 0.0] <= 1e-6)
    assert np.all(slope[alphas < LONGEST_MOVE] >= -1e-6)


def test_votes_that_say_the_same_share_a_weight():
    column = np.where(np.arange(40) < 30, 1.0, -1.0)
    matrix = np.column_stack([column, column, -column])
    alphas = least_exponential_loss(matrix, np.full(40, -np.log(40)), np.zeros(3))
    assert alphas[0] + alphas[1] - alphas[2] == pytest.approx(0.5 * np.log(3), abs=1e-8)


def test_a_vote_without_mistakes_ends_at_the_longest_move():
    matrix = np.column_stack([np.ones(10), np.where(np.arange(10) < 5, 1.0, -1.0)])
    alphas = least_exponential_loss(matrix, np.full(10, -np.log(10)), np.zeros(2))
    np.testing.assert_allclose(alphas, [LONGEST_MOVE, 0.0], atol=1e-8)


def test_a_hundred_rounds_hardly_need_more_than_newtons_steps(monkeypatch):
    asked = []
    by_slopes = corrective._by_slopes

    def counted(*arguments):
        asked.append(1)
        return by_slopes(*arguments)

    monkeypatch.setattr(corrective, "_by_slopes", counted)
    draws = np.random.default_rng(0)
    X = draws.normal(size=(400, 10))
    y = X[:, :4].sum(axis=1) + draws.normal(0.0, 2.0, 400) > 0
    fitted = AdaBoostClassifier(n_estimators=100, totally_corrective=True).fit(X, y)
    assert np.all(np.diff(fitted.trace_.objective) <= 1e-12)
    assert len(asked) <= 5
