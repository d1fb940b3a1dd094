"""The demonstration: one line per step, a table at the end, exit status 2 for bad arguments."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import spinney
from spinney.cli.__main__ import main


def test_demo_shows_every_step_and_a_table(capsys):
    assert main(["demo"]) == 0
    said = capsys.readouterr()
    steps = [line.split()[0] for line in said.out.split("\n\n")[0].splitlines()]
    assert steps == ["data", "train", "score", "compare", "explain", "save", "load", "predict"]
    assert "bit for bit the same" in said.out
    assert "DIFFERENT" not in said.out
    assert re.search(r"score +accuracy 0\.[89]\d+ \[0\.\d+, [01]\.\d+\]", said.out)
    table = said.out.split("\n\n")[1].splitlines()
    assert table[0].split() == ["what", "value"]
    assert set(table[1]) == {"-", " "}
    assert len(table) >= 7
    assert said.err == ""


def test_demo_is_repeatable_but_for_its_clock(capsys):
    texts = []
    for _ in range(2):
        main(["demo", "--seed", "3"])
        texts.append(re.sub(r"in [0-9.]+ ms", "", capsys.readouterr().out))
    assert texts[0] == texts[1]


def test_seed_changes_the_split(capsys):
    main(["demo", "--seed", "1"])
    one = capsys.readouterr().out
    main(["demo", "--seed", "2"])
    assert capsys.readouterr().out != one


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "COMMAND"),
        (["dmo"], "dmo"),
        (["demo", "--seed", "one"], "--seed"),
        (["demo", "--seed", "-1"], "seed"),
        (["demo", "--nonsense"], "--nonsense"),
        (["demo", "more"], "more"),
    ],
)
def test_bad_arguments_end_with_status_2_and_name_the_fault(arguments, named, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    said = capsys.readouterr()
    assert named in said.err
    assert said.out == ""


def test_version_and_help_are_shown(capsys):
    for option, shown in (("--version", spinney.__version__), ("--help", "demo")):
        with pytest.raises(SystemExit) as caught:
            main([option])
        assert caught.value.code == 0
        assert shown in capsys.readouterr().out


def test_error_of_ours_is_one_line_and_status_1(monkeypatch, capsys):
    from spinney import datasets
    from spinney.errors import InvalidInput

    def fail():
        raise InvalidInput("the table is empty")

    monkeypatch.setattr(datasets, "load_tumours", fail)
    assert main(["demo"]) == 1
    assert capsys.readouterr().err == "spinney: the table is empty\n"


def test_command_is_installed():
    command = Path(sys.executable).with_name("spinney")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"spinney {spinney.__version__}\n"
