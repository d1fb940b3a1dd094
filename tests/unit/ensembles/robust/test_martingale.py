import numpy as np
import pytest
from tests.unit.ensembles.robust.problems import blobs

from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.martingale import run_program, walk_program
from spinney.ensembles.robust.settings import RobustSettings
from spinney.ensembles.weak.hypothesis import Hypothesis
from spinney.errors import InvalidInput, SmallWeights


def settings_for(n_levels, least=5.0):
    return RobustSettings(algorithm="martingale", n_rounds=n_levels, least_node_weight=least)


def votes(program, X):
    return np.array([stump.answers(X) for stump in program.members]).reshape(-1, len(X))


class Recorder:
    """Passes questions on, and keeps them."""

    def __init__(self, ask):
        self.ask, self.asked = ask, []

    def __call__(self, distribution):
        self.asked.append(distribution.copy())
        return self.ask(distribution)


def walk_row(program, x):
    """The slow twin: one row through the definition."""
    place = 0
    for level in range(program.n_levels):
        node = level * (level + 1) // 2 + place
        said = program.answers[node]
        if said == 0:
            member = np.count_nonzero(program.answers[:node] == 0)
            said = program.members[member].answers(x[None])[0]
        place += said > 0
    return 2 * place / program.n_levels - 1


def test_a_program_runs_as_one_row_would_walk():
    problem = blobs(0, n=150, noise=0.1)
    program = boost_robustly(problem.oracle, problem.signs, settings_for(9))
    X = np.random.default_rng(1).normal(size=(50, 3), scale=2)
    expected = [walk_row(program, x) for x in X]
    np.testing.assert_allclose(run_program(program, votes(program, X)), expected, atol=1e-15)
    assert 9 <= len(program) <= 45


def test_members_are_asked_only_about_rows_that_come_to_them():
    problem = blobs(0, n=150, noise=0.1)
    program = boost_robustly(problem.oracle, problem.signs, settings_for(7))
    asked = []

    def answer(member, rows):
        asked.append(len(rows))
        return program.members[member].answers(problem.X[rows])

    plus = walk_program(program, answer, 150)
    assert sum(asked) <= 7 * 150
    scores = run_program(program, votes(program, problem.X))
    np.testing.assert_allclose(scores, 2 * plus / 7 - 1)


def test_learners_see_the_rows_of_their_node_with_balanced_labels():
    problem = blobs(3, n=120, noise=0.1)
    recorder = Recorder(problem.oracle)
    program = boost_robustly(recorder, problem.signs, settings_for(6))
    for distribution in recorder.asked:
        assert distribution[problem.signs > 0].sum() == pytest.approx(0.5, abs=1e-12)
        assert distribution[problem.signs < 0].sum() == pytest.approx(0.5, abs=1e-12)
    level_sums = np.add.reduceat(program.shares, np.arange(6) * np.arange(1, 7) // 2)
    np.testing.assert_allclose(level_sums, 1.0, atol=1e-12)
    # the two learners of the second level share the rows between them
    second = [recorder.asked[1] > 0, recorder.asked[2] > 0]
    assert not (second[0] & second[1]).any()
    assert (second[0] | second[1]).all()


def test_two_sided_edges_bound_the_training_error():
    problem = blobs(1, n=300)
    program = boost_robustly(problem.oracle, problem.signs, settings_for(31, least=2.0))
    scores = run_program(program, votes(program, problem.X))
    assert np.mean(np.where(scores >= 0, 1, -1) != problem.signs) <= 0.02


def test_a_node_with_one_label_answers_it():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    signs = np.array([-1.0, -1.0, 1.0, 1.0])
    recorder = Recorder(lambda _: Hypothesis(answers=np.sign(x - 1.5), member="split"))
    program = boost_robustly(recorder, signs, settings_for(5, least=0.0))
    assert program.members == ("split",)
    assert len(recorder.asked) == 1  # below the root every node has one label
    np.testing.assert_array_equal(run_program(program, np.sign(x - 1.5)[None]), signs)


def test_single_label_data_needs_no_learner():
    program = boost_robustly(None, -np.ones(30), settings_for(4))
    assert len(program) == 0
    np.testing.assert_array_equal(run_program(program, np.empty((0, 3))), -1.0)


def test_a_constant_hypothesis_has_no_edge_and_the_majority_answers():
    signs = np.array([1.0] * 10 + [-1.0] * 20)
    for said in (1.0, -1.0):
        constant = Hypothesis(answers=np.full(30, said), member="constant")
        program = boost_robustly(lambda _, c=constant: c, signs, settings_for(4))
        assert len(program) == 0
        np.testing.assert_array_equal(run_program(program, np.empty((0, 2))), -1.0)


def test_nodes_no_row_came_to_confirm_what_most_said():
    program = boost_robustly(None, np.ones(3), settings_for(4, least=0.0))
    level, place = 3, np.arange(4)
    answers = program.answers[level * (level + 1) // 2 + place]
    assert answers.tolist() == [-1, -1, 1, 1]


def test_small_nodes_answer_the_majority_and_small_weights_are_pointed_out():
    problem = blobs(0, n=100, noise=0.1)
    everything = boost_robustly(problem.oracle, problem.signs, settings_for(8, least=100.0))
    assert len(everything) == 1  # only the root holds all rows
    with pytest.warns(SmallWeights, match="Lower least_node_weight"):
        first_only = boost_robustly(
            problem.oracle, problem.signs, settings_for(8, least=20.0), np.full(100, 0.01)
        )
    assert len(first_only) == 1
    few = boost_robustly(problem.oracle, problem.signs, settings_for(3, least=200.0))
    assert len(few) == 1  # there are not so many rows: nothing to warn of


def test_a_program_is_a_table_and_refuses_wrong_answers():
    problem = blobs(0, n=100, noise=0.1)
    program = boost_robustly(problem.oracle, problem.signs, settings_for(3))
    columns = program.columns()
    assert columns["level"] == [0, 1, 1, 2, 2, 2]
    assert columns["n_plus"] == [0, 0, 1, 0, 1, 2]
    assert "3 levels of martingale boosting" in str(program)
    with pytest.raises(InvalidInput, match="expected a row of answers for each"):
        run_program(program, np.ones((len(program) + 1, 4)))
    with pytest.raises(ValueError, match="read-only"):
        program.answers[0] = 0
