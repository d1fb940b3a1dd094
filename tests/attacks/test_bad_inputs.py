"""Every bad input ends in a clear error: no crash, no hang, no silent acceptance."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.attacks import bad_inputs

ROOT = Path(__file__).parents[2]
CASES = bad_inputs.collect()
# Exceptions that are not ours on purpose, because everybody knows them by these names.
FOREIGN = {
    "NotFittedError",
    "FileNotFoundError",
    "IsADirectoryError",
    "SystemExit",
    "TypeError",
}


SOURCE_PLACES = r"\.(cpp|hpp|py)\b|0x[0-9a-f]{8}|nanobind|incompatible function"


@pytest.fixture(scope="module")
def end_of():
    """Try a case in a child of a small parent that has no threads."""
    command = [sys.executable, "-m", "tests.attacks.bad_inputs"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as parent:

        def ask(name):
            parent.stdin.write(f"{name}\n")
            parent.stdin.flush()
            return json.loads(parent.stdout.readline())

        yield ask
        parent.stdin.close()


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_with_a_helpful_error(name, end_of):
    case, end = CASES[name], end_of(name)
    assert end["ending"] == "raised", f"{end['ending']}: {end['message']}"
    assert re.search(case.pattern, end["message"]), end["message"]
    if case.raises:
        assert case.raises in FOREIGN
        assert end["type"] == case.raises, end["trace"]
        return
    assert "SpinneyError" in end["bases"], end["trace"]
    assert {"ValueError", "TypeError"} & set(end["bases"])
    assert len(end["message"]) < 2000
    assert not re.search(SOURCE_PLACES, end["message"]), end["message"]


def test_there_are_enough_bad_inputs_of_every_sort():
    assert len(CASES) >= 90
    sorts = Counter(name.split("_")[0] for name in CASES)
    assert sorts["fit"] >= 40
    assert sorts["predict"] >= 15
    assert min(sorts[sort] for sort in ("labels", "numbers", "weights", "load")) >= 10


@pytest.mark.parametrize("where", ["constructor", "set_params"])
def test_unknown_parameters_are_of_both_classes_that_callers_expect(where, end_of):
    names = [name for name in CASES if name.startswith("misspelt") and name.endswith(where)]
    for name in names:
        end = end_of(name)
        assert end["type"] == "UnknownParameter"
        assert {"TypeError", "ValueError"} <= set(end["bases"])
    assert names


# The runner must be able to see what it is there to see


def crash():
    import ctypes

    ctypes.string_at(0)


def spin():
    while True:
        pass


def test_runner_sees_a_crash_a_hang_and_an_acceptance():
    code = (
        "import json\n"
        "from tests.attacks import bad_inputs, test_bad_inputs as cases\n"
        "bad_inputs.SECONDS = 1\n"
        "for attempt in (cases.crash, cases.spin, lambda: 7):\n"
        "    print(json.dumps(bad_inputs._in_child(bad_inputs.Case('x', attempt, '', ''))))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    endings = [json.loads(line) for line in done.stdout.splitlines()]
    assert [ending["ending"] for ending in endings] == ["crashed", "hung", "accepted"]
