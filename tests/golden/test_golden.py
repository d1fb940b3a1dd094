"""Files of every released format load for ever and answer bit for bit as on their first day."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.golden.make_golden import LEVEL, fingerprint, leaves_of, predictions

import spinney
from spinney.data.levels import Levels
from spinney.data.table import Column, Kind, Table
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import Model
from spinney.model.sections import FORMAT_VERSION, unpack
from spinney.model.state import model_from_bytes

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("v*/*.spn"))
OLD_SETS = [
    list(some)
    for some in ["abc"] * 3
    + ["ab", "bc", "ab"]
    + ["abc"] * 2
    + ["ab"]
    + ["abc"] * 3
    + ["ab", "b", "b", "bc"]
]
"""What ``calibrated.spn`` gave when it was written; its record does not tell."""


def name_of(path):
    return f"{path.parent.name}-{path.stem}"


def read(path):
    """Give the estimator or the model of a file, and what is expected of it."""
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    data = path.read_bytes()
    made = from_bytes(data) if "estimator" in expected else model_from_bytes(data)
    return made, expected


def floats(nested):
    return [floats(n) for n in nested] if isinstance(nested, list) else float.fromhex(nested)


def rows_of(expected):
    columns = []
    for entry in expected["columns"]:
        kind, values, levels = Kind(entry["kind"]), entry["values"], None
        if kind in (Kind.CATEGORICAL, Kind.TEXT):
            levels = Levels.of(values)
            codes = levels.codes_of(values)
            columns.append(Column(entry["name"], kind, codes, levels))
        else:
            aware = entry["timezone_aware"]
            array = np.array(floats(values))
            columns.append(Column(entry["name"], kind, array, timezone_aware=aware))
    return Table(16, columns, names_given=expected["names_given"])


def bits(array):
    return np.ascontiguousarray(array, np.float64).tobytes()


@pytest.fixture(params=FILES, ids=name_of)
def golden(request):
    return request.param


def test_golden_file_has_its_fingerprint(golden):
    made, expected = read(golden)
    assert fingerprint(made) == expected["fingerprint"]


def test_golden_model_predicts_the_recorded_bits(golden):
    made, expected = read(golden)
    predicted = predictions(made, rows_of(expected))
    assert bits(predicted) == bits(floats(expected["predictions"]))


def test_golden_estimator_answers_as_recorded(golden):
    made, expected = read(golden)
    if isinstance(made, Model):
        return
    assert type(made) is getattr(spinney, expected["estimator"])
    predicted = made.predict(rows_of(expected))
    assert predicted.dtype.str == expected["predict_dtype"]
    if predicted.dtype.kind == "f":
        assert bits(predicted) == bits(floats(expected["predict"]))
    else:
        assert predicted.tolist() == expected["predict"]
    assert leaves_of(made, rows_of(expected)) == expected["leaves"]


@pytest.mark.parametrize("kind", ["calibrated", "calibrated_including", "calibrated_sets"])
def test_calibrated_classifiers_give_the_recorded_sets(kind):
    made, expected = read(FOLDER / f"v1/{kind}.spn")
    expected = expected | {"sets": expected.get("sets", OLD_SETS)}
    for one in (made, from_bytes(to_bytes(made))):
        assert one.predict_set(rows_of(expected), LEVEL).sets() == expected["sets"]
        assert one.calibration_.including is (kind != "calibrated_sets")


def test_golden_file_is_saved_again_as_the_same_bytes(golden):
    made, expected = read(golden)
    data = golden.read_bytes()
    assert golden.parent.name == f"v{unpack(data).format_version}"
    if isinstance(made, Model):
        assert made.to_bytes() == data
    elif expected["library"] == spinney.__version__ and knows_all_parameters(made, data):
        assert to_bytes(made) == data
    else:
        again = from_bytes(to_bytes(made))
        assert fingerprint(again) == fingerprint(made)
        assert to_bytes(again) == to_bytes(made)


def knows_all_parameters(made, data):
    """Whether the file has every parameter of today's class; one that came later is written too."""
    return set(unpack(data).meta["parameters"]) == set(made.get_params(deep=False))


def test_every_kind_and_format_has_a_golden_file():
    from tests.attacks.model_kinds import KINDS

    assert {path.stem for path in FILES} == set(KINDS), "run `python -m tests.golden.make_golden`"
    for version in range(1, FORMAT_VERSION + 1):
        assert (FOLDER / f"v{version}").is_dir()


def test_golden_files_are_small():
    assert max(path.stat().st_size for path in FILES) < 64 * 1024


def test_script_never_touches_a_golden_file_that_exists():
    before = {path: path.stat().st_mtime_ns for path in FOLDER.glob("v*/*")}
    root = FOLDER.parents[1]
    command = [sys.executable, "-m", "tests.golden.make_golden"]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    assert {path: path.stat().st_mtime_ns for path in FOLDER.glob("v*/*")} == before
