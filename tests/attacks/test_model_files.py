"""A model file is safe to open, whatever is in it."""

import io
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.attacks.model_kinds import (
    COMMITTEES,
    KINDS,
    file_of,
    probe_estimator,
    probe_model,
    rows_for,
)
from tests.attacks.mutations import Limits, Mutations, attack_in_child, misbehave

ROOT = Path(__file__).parents[2]
MUTATIONS_PER_KIND = -(-10_000 // len(KINDS) // 4) * 4


def attack(kind, seeds):
    data = file_of(kind)
    probe = probe_model if kind.startswith("raw_") else probe_estimator
    return attack_in_child(probe, Mutations(data, seeds), original=data, batch=1000)


def assert_harmless(report):
    assert report.defects == 0, "\n".join(report.examples)
    assert report.clean_error > 0.6 * report.files
    assert report.clean_error + report.resealed_and_valid == report.files


def test_every_run_makes_ten_thousand_mutations():
    assert MUTATIONS_PER_KIND * len(KINDS) >= 10_000


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_file_is_refused_without_crash_hang_or_much_memory(kind):
    report = attack(kind, range(MUTATIONS_PER_KIND))
    assert report.files == MUTATIONS_PER_KIND
    assert_harmless(report)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutations_of_a_file_are_refused(kind):
    assert_harmless(attack(kind, range(10**6, 10**6 + 10_000)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_at_a_border_is_refused(kind):
    from spinney.errors import InvalidFile
    from spinney.io.save_load import from_bytes

    data = file_of(kind)
    for end in {0, 1, 7, 8, 12, 16, 17, 63, 64, *range(64, len(data), 64), len(data) - 1}:
        with pytest.raises(InvalidFile):
            from_bytes(data[:end])


def test_no_byte_of_a_file_can_change_unseen():
    from spinney.errors import InvalidFile
    from spinney.io.save_load import from_bytes

    data = file_of("one_leaf")
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(InvalidFile):
            from_bytes(bytes(damaged))


@pytest.mark.parametrize("kind", KINDS)
def test_good_file_of_every_kind_loads_to_the_same_bytes(kind):
    from spinney.io.save_load import from_bytes, to_bytes
    from spinney.model.state import model_from_bytes

    data = file_of(kind)
    again = model_from_bytes(data).to_bytes() if "raw_" in kind else to_bytes(from_bytes(data))
    assert again == data


def test_model_without_trees_is_a_model_or_is_refused_when_it_is_made():
    from spinney.errors import InvalidModel
    from spinney.model.state import model_from_bytes

    model = KINDS["float32_thresholds"]().model_
    try:
        empty = model[:0]
    except InvalidModel:
        return
    assert np.isfinite(empty.predictions(rows_for(empty.schema))).all()
    assert model_from_bytes(empty.to_bytes()) == empty


def test_attack_sees_every_fault_it_is_there_to_see():
    faults = [b"crash", b"spin", b"sleep", b"raise", b"refuse", b"hoard", b"explode", b"other"]
    limits = Limits(cpu_seconds=0.5, wall_seconds=5.0)
    report = attack_in_child(misbehave, faults, original=b"good", limits=limits)
    assert (report.crashed, report.hung, report.clean_error) == (1, 2, 1)
    assert report.other_exception == 2  # KeyError, and MemoryError of the explosion
    assert report.accepted_different == 2
    assert report.over_memory == 1
    assert report.files == len(faults)


# No code runs: what loading a file does, as the interpreter itself reports it

AUDIT = """
import json, sys
import spinney.io.save_load
import spinney.ensembles.gradient.drop_in, spinney.ensembles.gradient.ranker
import spinney.ensembles.trees.decision_tree
import spinney.ensembles.robust.classifier
import spinney.ensembles.forests.isolation, spinney.ensembles.forests.quantile
import spinney.ensembles.forests.rotation, spinney.ensembles.forests.random_forest
import spinney.ensembles.combining.super_learner, spinney.ensembles.combining.weighted_vote
import spinney.ensembles.combining.stacking
from spinney.io.save_load import from_bytes
path = sys.argv[1]
before, events = set(sys.modules), []
def hook(event, arguments):
    if event in ("import", "open", "exec", "compile", "marshal.loads", "pickle.find_class",
                 "ctypes.dlopen", "code.__new__") or event.startswith(
                 ("socket.", "subprocess.", "os.", "shutil.", "urllib.", "http.", "ctypes.")):
        events.append([event, repr(arguments[0]) if arguments else ""])
sys.addaudithook(hook)
fitted = spinney.load(path)
seen = list(events)
print(json.dumps({"events": seen, "modules": sorted(set(sys.modules) - before)}))
"""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("raw_")])
def test_loading_runs_no_code_and_opens_nothing_but_the_file(kind, tmp_path):
    path = tmp_path / "model.spn"
    path.write_bytes(file_of(kind))
    command = [sys.executable, "-c", AUDIT, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    seen = json.loads(done.stdout)
    new = [name for name in seen["modules"] if name.split(".")[0] not in TRUSTED]
    assert not new
    opened = {what for event, what in seen["events"] if event == "open" and not what.isdigit()}
    assert opened == {repr(str(path))}  # a number is the descriptor of the file just opened
    others = {event for event, _ in seen["events"]} - {"open", "import"}
    assert not others, seen["events"]


TRUSTED = {"spinney", "numpy", *sys.stdlib_module_names}


# Pickles carry the same bytes and name nothing that could be misused


class Restricted(pickle.Unpickler):
    """Finds only what a pickle of ours may name, and remembers it."""

    found: list[str]

    def find_class(self, module, name):
        self.found.append(f"{module}.{name}")
        if module.split(".")[0] not in {"spinney", "numpy", "builtins", "collections", "copyreg"}:
            raise pickle.UnpicklingError(f"{module}.{name}")
        if module == "builtins" and name not in {"bytearray", "set", "frozenset", "complex"}:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in COMMITTEES])
@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_pickle_names_only_our_own_classes_and_numpy(kind, protocol):
    made = KINDS[kind]()
    reader = Restricted(io.BytesIO(pickle.dumps(made, protocol=protocol)))
    reader.found = []
    again = reader.load()
    dangerous = [name for name in reader.found if name.split(".")[-1] in {"eval", "exec", "load"}]
    assert not dangerous
    bytes_of = getattr(again, "model_", again).to_bytes()
    assert bytes_of == getattr(made, "model_", made).to_bytes()


def test_restricted_unpickler_refuses_a_hostile_pickle():
    class Hostile:
        def __reduce__(self):
            return eval, ("1 + 1",)

    reader = Restricted(io.BytesIO(pickle.dumps(Hostile())))
    reader.found = []
    with pytest.raises(pickle.UnpicklingError, match=r"builtins\.eval"):
        reader.load()
