"""Branching programs: how rows walk, and what may not be a program."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import spinney
from spinney.errors import CannotSave, InvalidInput, InvalidModel
from spinney.model import BranchingProgram, TreeForest
from spinney.model import program as programs
from spinney.model.state import model_from_bytes, model_from_state

LEVELS = 5
NODES = LEVELS * (LEVELS + 1) // 2


def table(n=200, seed=0):
    """Two numbers with missing values and a text column with missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    frame["tree"] = rng.choice(np.array(["ash", "oak", "elm", None], object), n)
    y = (frame["a"] + frame["b"] > 0) ^ (frame["tree"] == "oak")
    frame.loc[::7, "a"] = np.nan
    return frame, np.where(y, "yes", "no")


X, Y = table()


def learnt(**parameters):
    chosen = {"algorithm": "martingale", "n_levels": LEVELS, "least_node_weight": 2} | parameters
    return spinney.RobustBoostClassifier(**chosen).fit(X, Y)


PROGRAM = learnt().model_
OTHER = table(seed=1)[0]


def walk_row(program, said):
    """One row through the definition; ``said`` are the signs of all members."""
    place, heard = 0, []
    for level in range(program.n_levels):
        node = level * (level + 1) // 2 + place
        answer = program.answers[node]
        if answer == 0:
            answer = said[np.count_nonzero(program.answers[:node] == 0)]
        place += answer > 0
        heard.append(answer)
    return np.cumsum(heard) / np.arange(1, program.n_levels + 1)


def signs(forest, rows):
    """What every tree says of every row, one tree at a time."""
    parts = [
        forest[t : t + 1].raw_scores(forest.conform(rows, "x"))[:, 0] for t in range(len(forest))
    ]
    return np.column_stack(parts).reshape(len(rows), len(forest))


def test_rows_walk_as_the_definition_says():
    assert 5 < len(PROGRAM) < NODES
    expected = [walk_row(PROGRAM, said) for said in signs(PROGRAM.members, OTHER)]
    np.testing.assert_allclose(PROGRAM.raw_scores(OTHER)[:, 0], [w[-1] for w in expected])
    staged = np.column_stack(list(PROGRAM.staged_scores(OTHER)))
    np.testing.assert_allclose(staged, expected)
    assert len(np.unique(staged[:, -1])) >= 4


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_any_answers_of_nodes_are_walked_as_the_definition_says(seed):
    rng = np.random.default_rng(seed)
    answers = rng.integers(-1, 2, NODES)
    n_members = np.count_nonzero(answers == 0)
    some = rng.integers(0, len(PROGRAM), n_members)
    forest = PROGRAM.members
    arrays = dict(forest.arrays)
    parts = programs_of(forest, some)
    made = BranchingProgram(
        TreeForest(
            forest.schema, forest.target, arrays | parts, output=forest.output, policy=forest.policy
        ),
        answers,
        edges=np.zeros(NODES),
        shares=np.zeros(NODES),
    )
    rows = OTHER[:20]
    expected = [walk_row(made, said)[-1] for said in signs(made.members, rows)]
    np.testing.assert_allclose(made.raw_scores(rows)[:, 0], expected)


def programs_of(forest, some):
    from spinney.model.forest import join_trees

    joined = join_trees([forest[int(t)] for t in some], width=1)
    ones, to_all = np.ones(len(some)), np.full(len(some), -1, np.int32)
    return joined | {"tree_weight": ones, "tree_output": to_all}


def test_blocks_of_rows_and_threads_change_nothing(monkeypatch):
    whole = PROGRAM.predictions(OTHER)
    monkeypatch.setattr(programs, "_ANSWERS_AT_ONCE", 7 * len(PROGRAM))
    assert (PROGRAM.predictions(OTHER) == whole).all()
    assert (PROGRAM.predictions(OTHER, n_threads=2) == whole).all()
    staged = list(PROGRAM.staged_scores(OTHER))
    np.testing.assert_array_equal((1 + staged[-1][:, 0]) / 2, whole[:, 1])


def test_predictions_are_shares_of_what_was_said():
    shares = PROGRAM.predictions(X)
    assert np.isin(np.round(shares * LEVELS, 9), np.arange(LEVELS + 1)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.mean(shares.argmax(axis=1) == (Y == "yes")) > 0.85


def test_bytes_pickles_and_copies_are_the_same_program():
    again = model_from_bytes(PROGRAM.to_bytes())
    assert again == PROGRAM
    assert hash(again) == hash(PROGRAM)
    assert (again.predictions(OTHER) == PROGRAM.predictions(OTHER)).all()
    for twin in (pickle.loads(pickle.dumps(PROGRAM)), copy.deepcopy(PROGRAM)):
        assert twin.fingerprint == PROGRAM.fingerprint
    assert "5 levels" in repr(PROGRAM)
    with pytest.raises(ValueError, match="read-only"):
        PROGRAM.answers[0] = 1


def test_the_first_levels_are_a_program_and_no_others_are():
    stages = list(PROGRAM.staged_scores(OTHER))
    for k in (1, 3, LEVELS):
        assert PROGRAM[:k].n_levels == k
        np.testing.assert_array_equal(PROGRAM[:k].raw_scores(OTHER), stages[k - 1])
    assert PROGRAM[:99] == PROGRAM
    assert PROGRAM[0].n_leaves == 2
    for bad in (slice(1, 3), slice(0, 0), slice(None, None, 2), slice(None, None, -1)):
        with pytest.raises(InvalidInput, match="first levels"):
            PROGRAM[bad]


def test_a_program_without_members_says_what_its_nodes_say():
    answers = np.full(3, 1)
    empty = BranchingProgram(PROGRAM.members[:0], answers, edges=np.zeros(3), shares=np.ones(3))
    assert empty.predictions(OTHER).tolist() == [[0.0, 1.0]] * len(OTHER)
    assert model_from_bytes(empty.to_bytes()) == empty


def test_one_row_is_predicted_like_many():
    compiled = learnt().compile()
    row = OTHER.iloc[3].to_dict()
    assert (compiled(row) == PROGRAM.predictions(OTHER)[3]).all()


# Foreign members


def test_foreign_members_are_asked_about_their_own_rows_only():
    numbers = np.random.default_rng(0).normal(size=(150, 3))
    labels = np.sin(3 * numbers[:, 0]) + numbers[:, 1] > 0
    fitted = spinney.RobustBoostClassifier(
        GaussianNB(), algorithm="martingale", n_levels=3, least_node_weight=2
    ).fit(numbers, labels)
    program = fitted.model_
    said = [np.where(member.predict(numbers), 1.0, -1.0) for member in fitted.estimators_]
    expected = [walk_row(program, row)[-1] for row in np.transpose(said)]
    np.testing.assert_allclose(program.raw_scores(numbers)[:, 0], expected)
    again = pickle.loads(pickle.dumps(program))
    assert (again.predictions(numbers) == program.predictions(numbers)).all()
    assert program == program  # noqa: PLR0124 - by identity: it has no bytes
    assert again != program
    assert len({program, again}) == 2
    with pytest.raises(CannotSave, match="GaussianNB"):
        program.to_bytes()
    with pytest.raises(InvalidInput, match="X has 2 features"):
        program.predictions(numbers[:, :2])


# What may not be a program


def parts(**changes):
    facts = {"answers": PROGRAM.answers, "edges": PROGRAM.edges, "shares": PROGRAM.shares} | changes
    return BranchingProgram(
        changes.get("members", PROGRAM.members),
        facts["answers"],
        edges=facts["edges"],
        shares=facts["shares"],
    )


def changed(array, place, value):
    array = np.array(array, dtype=np.float64 if isinstance(value, float) else array.dtype)
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answers": PROGRAM.answers[:-1]}, "whole levels"),
        ({"edges": PROGRAM.edges[:-1]}, "numbers for each"),
        ({"shares": PROGRAM.shares[:, None]}, "numbers for each"),
        ({"answers": [], "edges": [], "shares": []}, "1 to 1000 levels"),
        ({"answers": changed(PROGRAM.answers, -1, 2)}, "-1 or 1, or 0"),
        ({"answers": changed(PROGRAM.answers, -1, -128)}, "-1 or 1, or 0"),
        ({"answers": changed(PROGRAM.answers, 0, 1)}, "member for each node"),
        ({"members": PROGRAM.members[:-1]}, "member for each node"),
        ({"edges": changed(PROGRAM.edges, 1, 1.5)}, "between -1 and 1"),
        ({"edges": changed(PROGRAM.edges, 1, np.nan)}, "between -1 and 1"),
        ({"shares": changed(PROGRAM.shares, 1, -0.1)}, "between 0 and 1"),
        ({"shares": changed(PROGRAM.shares, 1, np.nan)}, "between 0 and 1"),
    ],
)
def test_contradictory_programs_are_refused(changes, message):
    with pytest.raises(InvalidModel, match=message):
        parts(**changes)


def test_a_program_of_too_many_levels_is_refused():
    n = 1001 * 1002 // 2
    with pytest.raises(InvalidModel, match="1 to 1000 levels, not 1001"):
        parts(answers=np.ones(n, np.int8), edges=np.zeros(n), shares=np.zeros(n))


@pytest.mark.parametrize(
    ("name", "value"), [("tree_weight", 2.0), ("values", 0.5), ("baseline", 0.1)]
)
def test_trees_that_say_more_than_a_sign_are_refused(name, value):
    forest = PROGRAM.members
    arrays = dict(forest.arrays) | {name: np.full_like(forest.arrays[name], value)}
    odd = TreeForest(
        forest.schema, forest.target, arrays, output=forest.output, policy=forest.policy
    )
    with pytest.raises(InvalidModel, match="say -1 or 1"):
        parts(members=odd)


def test_a_program_tells_two_classes_apart():
    regression = spinney.DecisionTreeRegressor(max_depth=1).fit(X, np.ones(len(X))).model_
    with pytest.raises(InvalidModel, match="two classes"):
        BranchingProgram(regression, [0], edges=np.zeros(1), shares=np.zeros(1))


def states():
    """Name what a file may say wrongly, and how."""

    def meta(change):
        return lambda m, a: (change(m), a)

    def array(name, new):
        return lambda m, a: (m, a | {name: new(a[name])})

    return {
        "unknown key": meta(lambda m: m | {"extra": 1}),
        "no members": meta(lambda m: {"kind": m["kind"]}),
        "members are a text": meta(lambda m: m | {"members": "forest"}),
        "members are a program": meta(lambda m: m | {"members": m}),
        "another link": meta(
            lambda m: (
                m | {"members": m["members"] | {"output": {"link": "logistic", "aggregate": "sum"}}}
            )
        ),
        "a mean": meta(
            lambda m: (
                m
                | {
                    "members": m["members"]
                    | {"output": {"link": "double_logistic", "aggregate": "mean"}}
                }
            )
        ),
        "stray array": lambda m, a: (m, a | {"other/x": np.zeros(1)}),
        "stray part": lambda m, a: (m, a | {"program/x": np.zeros(1)}),
        "missing part": lambda m, a: (m, {k: v for k, v in a.items() if k != "program/edges"}),
        "wide answers": array("program/answers", lambda v: v.astype(np.int64)),
        "narrow edges": array("program/edges", lambda v: v.astype(np.float32)),
        "shares in rows": array("program/shares", lambda v: v.reshape(3, 5)),
        "a level less": array("program/answers", lambda v: v[:10]),
    }


@pytest.mark.parametrize("name", states())
def test_hostile_states_are_refused(name):
    meta, arrays = states()[name](*PROGRAM.to_state())
    with pytest.raises(InvalidModel):
        model_from_state(meta, arrays)
