"""What a file tells of its training: kept, checked, and no part of the estimator."""

import numpy as np
import pytest
from tests.attacks.mutations import Parts

import spinney
from spinney.errors import InvalidFile
from spinney.io.save_load import from_bytes, read_with_record, to_bytes
from spinney.io.training_record import TrainingRecord

RECORD = TrainingRecord(
    target="größe, in cm",
    n_rows=600,
    digest="0f" * 32,
    seed=7,
    test_share=0.2,
    n_held_out=120,
    dates={"joined": "%d/%m/%Y %I:%M %p"},
)


def fitted(kind=spinney.DecisionTreeClassifier):
    X = np.random.default_rng(0).normal(size=(40, 2))
    return kind().fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("kind", [spinney.DecisionTreeClassifier, spinney.VotingClassifier])
def test_a_record_comes_back_with_the_model_and_is_no_part_of_it(kind):
    model = fitted(kind)
    data = to_bytes(model, RECORD)
    again, record = read_with_record(data)
    assert record == RECORD
    assert to_bytes(again) == to_bytes(model)  # who saves it anew does not promise the same
    assert read_with_record(to_bytes(model))[1] is None
    assert type(from_bytes(data)) is kind


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("target", value) for value in (None, 3, ["y"])),
        *(("n_rows", value) for value in (0, -1, 1.0, True, "600", 2**60, 120)),
        *(("digest", value) for value in ("", "0f" * 31, "0F" * 32, 3, "0f" * 32 + "\n")),
        *(("seed", value) for value in (-1, 2**32, 0.5, None, False)),
        *(("test_share", value) for value in (0, 1.0, -0.1, "0.2", None, 0.0)),
        *(("n_held_out", value) for value in (-1, 600, 0, 2.0)),
        *(("has_test_file", value) for value in (True, 0, "no")),
        *(("is_refitted", value) for value in (1, None)),
        *(("dates", value) for value in ([], {"a": 3}, {"a": "%n" * 9}, {"a": "%d" * 99})),
    ],
)
def test_hostile_records_are_refused(name, value):
    parts = Parts.of(to_bytes(fitted(), RECORD))
    table = parts.table
    table["meta"]["training"][name] = value
    with pytest.raises(InvalidFile, match="What the file tells of its training"):
        from_bytes(parts.with_table(table).sealed())


@pytest.mark.parametrize("state", [None, [], {}, "600 rows", {**RECORD.to_state(), "more": 1}])
def test_what_is_no_record_is_refused(state):
    parts = Parts.of(to_bytes(fitted(), RECORD))
    table = parts.table
    table["meta"]["training"] = state
    with pytest.raises(InvalidFile, match="expected an object with"):
        from_bytes(parts.with_table(table).sealed())


def test_members_of_committees_have_no_records():
    parts = Parts.of(to_bytes(fitted(spinney.VotingClassifier)))
    table = parts.table
    table["meta"]["parts"][0]["training"] = RECORD.to_state()
    with pytest.raises(InvalidFile):
        from_bytes(parts.with_table(table).sealed())
