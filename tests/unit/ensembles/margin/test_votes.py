"""Steps of arc-gv and AdaBoost's kin: identities with AdaBoost and with each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import make_moons
from sklearn.tree import DecisionTreeClassifier
from tests.reference.margins import RUDIN, best_column, literal_adaboost

from spinney.ensembles.margin.boosting import boost_margins
from spinney.ensembles.margin.settings import MarginSettings
from spinney.ensembles.margin.votes import half_log_odds
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.losses.line_search import best_vote

GAMES = hnp.arrays(float, (7, 5), elements=st.sampled_from([-1.0, 1.0]))


def boost(matrix, algorithm, prior=None, n_rounds=50, **changed):
    told = MarginSettings(
        algorithm=algorithm, n_rounds=n_rounds, keep_distributions=True, **changed
    )
    return boost_margins(best_column(matrix), np.ones(len(matrix)), told, prior)


@pytest.mark.parametrize(
    "changed",
    [
        {"algorithm": "adaboost_rho", "target_margin": 0.0},
        {"algorithm": "adaboost_reg", "regularisation": 0.0},
    ],
)
def test_without_target_and_penalty_it_is_adaboost(changed):
    rng = np.random.default_rng(3)
    matrix = np.sign(rng.normal(0.3, 1.0, size=(30, 40)))
    prior = rng.uniform(0.5, 2.0, size=30)
    columns, alphas, history = literal_adaboost(matrix, prior, 50)
    boosted = boost(matrix, prior=prior, **changed)
    assert boosted.members == columns
    assert boosted.weights == pytest.approx(alphas, abs=1e-10)
    assert boosted.trace.distributions[:50] == pytest.approx(history, abs=1e-12)
    errors = boosted.trace.errors
    assert boosted.trace.normalisers == pytest.approx(2 * np.sqrt(errors * (1 - errors)))
    assert boosted.trace.objective == pytest.approx(np.cumprod(boosted.trace.normalisers))


def test_no_penalty_and_no_target_are_the_same_bytes():
    matrix = np.sign(np.random.default_rng(3).normal(0.3, 1.0, size=(30, 40)))
    one = boost(matrix, "adaboost_rho")
    other = boost(matrix, "adaboost_reg", regularisation=0.0)
    assert one.members == other.members
    assert one.weights.tobytes() == other.weights.tobytes()
    assert one.trace.distributions.tobytes() == other.trace.distributions.tobytes()


@given(matrix=GAMES)
@settings(deadline=None, max_examples=25)
def test_the_first_step_of_arc_gv_is_that_of_adaboost(matrix):
    arc, ada = (boost(matrix, name, n_rounds=1) for name in ("arc_gv", "adaboost_rho"))
    assert arc.members == ada.members
    assert arc.weights.tolist() == ada.weights.tolist()


def test_later_steps_of_arc_gv_are_shorter_by_the_margin_reached():
    trace = boost(RUDIN, "arc_gv", n_rounds=200).trace
    reached = np.maximum(np.append(0.0, trace.min_margins[:-1]), 0.0)
    expected = [half_log_odds(r) - half_log_odds(m) for r, m in zip(trace.edges, reached)]  # noqa: B905
    assert trace.alphas == pytest.approx(np.array(expected), abs=1e-12)
    assert np.all(trace.alphas > 0)


def test_steps_of_adaboost_star_aim_below_the_least_edge():
    trace = boost(RUDIN, "adaboost_star", precision=0.1, n_rounds=200).trace
    targets = np.minimum.accumulate(trace.edges) - 0.1
    assert trace.alphas == pytest.approx(np.arctanh(trace.edges) - np.arctanh(targets), abs=1e-12)


def test_penalised_steps_minimise_the_penalised_loss():
    matrix = np.sign(np.random.default_rng(3).normal(0.3, 1.0, size=(30, 40)))
    boosted = boost(matrix, "adaboost_reg", regularisation=0.2, n_rounds=20)
    trace, history = boosted.trace, boosted.trace.distributions
    votes = matrix[:, boosted.members]
    mistrust = 0.2 * 30 * history[:20].T  # C = 0.2 n
    for t in range(1, 21):
        loss = np.exp(-(votes + mistrust)[:, :t] @ boosted.weights[:t])
        assert trace.objective[t - 1] == pytest.approx(loss.mean(), rel=1e-9)
        assert history[t] == pytest.approx(loss / loss.sum(), abs=1e-12)
        # the slope at the step is 0
        assert history[t] @ (votes + mistrust)[:, t - 1] == pytest.approx(0.0, abs=1e-9)


def test_a_penalty_spares_the_rows_that_most_votes_get_wrong():
    matrix = np.sign(np.random.default_rng(8).normal(0.4, 1.0, size=(60, 200)))
    matrix[:6] *= -1.0
    plain, spared = (
        boost(matrix, "adaboost_reg", regularisation=c, n_rounds=100).trace.distributions
        for c in (0.0, 0.1)
    )
    assert spared[:, :6].sum(axis=1).mean() < 0.8 * plain[:, :6].sum(axis=1).mean()


@pytest.mark.long
def test_a_penalty_helps_when_labels_are_noisy():
    """Two moons with a fifth of the labels flipped, trees of depth 3."""

    def error_with(penalty, seed):
        X, y = make_moons(200, noise=0.2, random_state=seed)
        new_X, new_y = make_moons(2000, noise=0.2, random_state=99 + seed)
        flipped = np.random.default_rng(seed).random(200) < 0.2
        signs = np.where(flipped, -1.0, 1.0) * (2 * y - 1)

        def ask(distribution):
            tree = DecisionTreeClassifier(max_depth=3, random_state=0)
            tree.fit(X, signs, sample_weight=distribution)
            return Hypothesis(tree.predict(X), tree)

        told = MarginSettings(algorithm="adaboost_reg", regularisation=penalty, n_rounds=100)
        boosted = boost_margins(ask, signs, told)
        votes = np.array([tree.predict(new_X) for tree in boosted.members])
        return np.mean(np.sign(boosted.weights @ votes) != 2 * new_y - 1)

    plain, spared = (np.mean([error_with(c, seed) for seed in range(4)]) for c in (0.0, 0.2))
    assert spared < plain - 0.03


@given(
    shares=hnp.arrays(float, 6, elements=st.floats(0.05, 1.0)),
    gains=hnp.arrays(float, 6, elements=st.floats(-1.0, 3.0)),
)
@settings(deadline=None, max_examples=40)
def test_line_search_finds_the_minimum(shares, gains):
    shares = shares / shares.sum()
    step = max(0.0, best_vote(shares, gains))

    def loss(alpha):
        return float(shares @ np.exp(-alpha * gains))

    assert 0.0 <= step <= 10.0
    assert all(loss(step) <= loss(other) + 1e-12 for other in np.linspace(0.0, 10.0, 41))


def test_a_perfect_hypothesis_stands_alone():
    matrix = np.column_stack([RUDIN, np.ones(8)])
    for algorithm in ("arc_gv", "adaboost_star", "adaboost_reg", "lpboost", "erlpboost"):
        boosted = boost(matrix, algorithm)
        assert boosted.members == [8], algorithm
        assert boosted.weights.tolist() == [1.0]
        assert boosted.stop_reason == "one hypothesis is right about every row"
        assert boosted.certificate.primal == boosted.certificate.dual == 1.0
        assert boosted.certificate.verify(matrix[:, [8, *range(8)]])


def test_perfect_on_the_heavy_rows_is_not_perfect():
    matrix = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    boosted = boost(matrix, "adaboost_rho", prior=[1.0, 1.0, 1e-200])
    assert math.isfinite(boosted.weights.sum())
    assert boosted.certificate.primal < 1.0


@pytest.mark.parametrize("algorithm", ["arc_gv", "adaboost_rho", "adaboost_reg"])
def test_no_positive_edge_stops_with_words(algorithm):
    matrix = np.array([[1.0, -1.0], [-1.0, 1.0]])  # every edge is 0
    boosted = boost(matrix, algorithm)
    assert boosted.members == [0]
    assert boosted.weights.tolist() == [1.0]
    assert boosted.stop_reason.startswith("no hypothesis has a")
    assert "no weights give a positive margin" in boosted.stop_reason
    assert boosted.trace.stop_reason == boosted.stop_reason
    assert boosted.certificate.primal == -1.0


def test_a_target_that_is_too_high_stops():
    boosted = boost(RUDIN, "adaboost_rho", target_margin=0.6)
    assert boosted.stop_reason == "no hypothesis has an edge above target_margin"
    assert len(boosted.members) == 1


def test_many_rounds_do_not_overflow():
    matrix = np.vstack([np.ones((3, 2)), np.full((1, 2), -0.5)])
    matrix[0, 0] = matrix[1, 1] = 0.5
    boosted = boost(matrix, "adaboost_rho", n_rounds=2000, target_margin=-0.9)
    assert boosted.trace.distributions.sum(axis=1) == pytest.approx(np.ones(2001))
    assert boosted.trace.objective[-1] == math.inf  # the last row is always wrong
    assert boosted.certificate.primal == -0.5
