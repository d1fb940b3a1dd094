"""Examples that can be followed by hand: published rounds, cycles and minima."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from spinney.datasets import (
    load_law_school,
    load_mouse_survival,
    load_spatial_test,
    make_long_servedio_points,
    make_toy10,
    make_xor_points,
    rudin_matrix,
)


def stumps(X):
    """Votes of every stump: lower features first, then lower thresholds, then + below."""
    votes = []
    for column in X.T:
        values = np.unique(column)
        for cut in [values[0] - 1, *(values[1:] + values[:-1]) / 2]:
            votes += [np.where(column < cut, 1, -1), np.where(column < cut, -1, 1)]
    return np.array(votes)


def test_toy10_goes_through_the_published_rounds():
    data = make_toy10()
    votes = stumps(data.X)
    weights, score, errors, alphas, wrong = np.full(10, 0.1), np.zeros(10), [], [], []
    for _ in range(3):
        losses = ((votes != data.y) * weights).sum(axis=1)
        vote = votes[np.flatnonzero(losses <= losses.min() + 1e-12)[0]]
        errors.append(losses.min())
        alphas.append(math.log(1 / losses.min() - 1) / 2)
        wrong.append((np.flatnonzero(vote != data.y) + 1).tolist())
        score += alphas[-1] * vote
        weights = np.exp(-data.y * score) / np.exp(-data.y * score).sum()
    assert errors == pytest.approx([0.3, 3 / 14, 3 / 22], abs=1e-12)
    assert alphas == pytest.approx([0.423649, 0.649641, 0.922913], abs=1e-6)
    assert wrong == [[6, 7, 8], [3, 4, 5], [1, 9, 10]]
    assert np.exp(-data.y * score).mean() == pytest.approx(0.51623, abs=1e-5)
    assert (np.sign(score) == data.y).all()


def test_every_stump_errs_on_half_of_xor():
    data = make_xor_points()
    errors = (stumps(data.X) != data.y).mean(axis=1)
    assert (errors == 0.5).all()
    assert (data.y == -np.sign(data.X[:, 0] * data.X[:, 1])).all()


def test_optimal_weights_of_rudin_have_margin_three_eighths_on_every_row():
    game = rudin_matrix()
    assert (game.matrix @ game.optimal_weights).tolist() == [0.375] * 8
    assert game.optimal_weights.sum() == 1.0
    assert (np.abs(game.matrix) == 1.0).all()


def test_no_weights_of_rudin_have_a_larger_margin():
    """Linear programme: the largest rho with matrix @ weights >= rho."""
    game = rudin_matrix()
    rows = np.column_stack([-game.matrix, np.ones(8)])
    answer = linprog(
        np.append(np.zeros(8), -1.0),
        A_ub=rows,
        b_ub=np.zeros(8),
        A_eq=[[1.0] * 8 + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * 8 + [(None, None)],
        method="highs",
    )
    assert -answer.fun == pytest.approx(game.largest_margin, abs=1e-9)
    assert answer.x[:8] == pytest.approx(game.optimal_weights, abs=1e-9)


def test_adaboost_is_in_the_cycle_of_rudin_at_once_and_stays_at_a_third():
    game = rudin_matrix()
    assert game.start.sum() == pytest.approx(1.0, abs=1e-15)
    weights, votes, chosen = game.start.copy(), np.zeros(8), []
    for round_number in range(1, 31):
        edges = weights @ game.matrix
        best = int(edges.argmax())
        assert edges[best] == pytest.approx(game.edge, abs=1e-9)
        alpha = math.atanh(edges[best])
        chosen.append(best)
        votes[best] += alpha
        weights = weights * np.exp(-alpha * game.matrix[:, best])
        weights /= weights.sum()
        if round_number % 3 == 0:
            margins = game.matrix @ votes / votes.sum()
            assert margins.min() == pytest.approx(game.adaboost_margin, abs=1e-12)
            assert weights == pytest.approx(game.start, abs=1e-9)
    assert chosen == list(game.cycle) * 10
    assert (1 - game.edge) / 2 == pytest.approx((3 - math.sqrt(5)) / 4, abs=1e-15)


def test_rudin_is_printed_row_by_row():
    lines = str(rudin_matrix()).splitlines()
    assert len(lines) == 10
    assert lines[2].split() == ["-1", "1", "1", "1", "1", "-1", "-1", "1", "0.09549"]


def exponential_minimum(data):
    def loss(weights):
        return data.sample_weight @ np.exp(-data.y * (data.X @ weights))

    return minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).x


def test_noise_makes_the_exponential_loss_misclassify_the_penalisers():
    data = make_long_servedio_points(1 / 24, noise=0.1)
    weights = exponential_minimum(data)
    assert weights == pytest.approx([1.23992, 2.43139], abs=1e-4)
    scores = data.X @ weights
    assert scores[2] == pytest.approx(-0.0496, abs=1e-4)
    wrong = np.sign(scores) != data.clean_y
    assert data.sample_weight[wrong].sum() == pytest.approx(0.5, abs=1e-12)


def test_less_drastic_points_are_classified_despite_the_noise():
    data = make_long_servedio_points(0.2, noise=0.1)
    assert (data.X @ exponential_minimum(data) > 0).all()


def test_masses_of_the_points():
    noisy, clean = (make_long_servedio_points(noise=share) for share in (0.1, 0.0))
    assert len(clean) == 4
    assert (clean.y == 1).all()
    assert (clean.X[:, 0] > 0).all()  # the first hypothesis alone is right
    assert clean.sample_weight.tolist() == [0.25] * 4
    assert noisy.sample_weight[noisy.y == -1].sum() == pytest.approx(0.1, abs=1e-15)
    for point in np.unique(clean.X, axis=0):
        masses = [
            data.sample_weight[(point == data.X).all(axis=1)].sum() for data in (clean, noisy)
        ]
        assert masses[0] == pytest.approx(masses[1], abs=1e-15)


def test_law_school_has_the_published_correlation_and_jackknife_error():
    """N20."""
    lsat, gpa = load_law_school().arrays
    n = len(lsat)
    left_out = np.array(
        [np.corrcoef(np.delete(lsat, i), np.delete(gpa, i))[0, 1] for i in range(n)]
    )
    assert np.corrcoef(lsat, gpa)[0, 1] == pytest.approx(0.776374, abs=1e-6)
    spread = (n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()
    assert math.sqrt(spread) == pytest.approx(0.142519, abs=1e-6)


def test_spatial_test_and_mice_have_the_published_moments():
    """N21, and the mice."""
    scores = load_spatial_test()["A"]
    assert len(scores) == 26
    deviations = scores - scores.mean()
    assert np.var(scores) == pytest.approx(171.534, abs=1e-3)
    # The acceleration of the plug-in variance, a published 0.061, needs third powers too.
    influence = deviations**2 - np.var(scores)
    acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    assert acceleration == pytest.approx(0.0612, abs=2e-3)
    days, group = load_mouse_survival().arrays
    means = [days[group == name].mean() for name in ("treatment", "control")]
    assert means == pytest.approx([86.86, 56.22], abs=5e-3)
