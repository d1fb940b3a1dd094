"""Arguments, help, exit status, pipes and Ctrl-C."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spinney.cli.parser import COMMANDS, build_parser

COMMAND = Path(sys.executable).with_name("spinney")
REFERENCE = Path(__file__).parents[3] / "docs/reference/command-line.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name, spinney):
    done = spinney(name, "--help")
    assert done.status == 0
    assert "--json" in done.out
    assert "--quiet" in done.out
    if name != "demo":
        assert f"  spinney {name} " in done.out.replace("source <(", "  ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("traim",), "Did you mean 'train'?"),
        (("train", "d.csv", "--targt", "y"), "Did you mean '--target'"),
        (("train", "d.csv"), "--target"),
        (("train", "d.csv", "-t", "y", "--set", "max_iter"), "name=value"),
        (("train", "d.csv", "-t", "y", "--test-share", "1.5"), "such as 0.2"),
        (("train", "d.csv", "-t", "y", "--tas", "regression"), "Did you mean"),
        (("compare", "d.csv", "-t", "y", "--folds", "1"), "2 folds"),
        (("compare", "d.csv", "-t", "y", "--time-limit", "soon"), "5m"),
        (("certify", "m.spn", "--bounds", "1"), "LOW:HIGH"),
        (("certify", "m.spn", "--monotonic", "age=2"), "FEATURE=1"),
        (("completion", "csh"), "bash"),
    ],
)
def test_wrong_arguments_end_with_2_and_help(arguments, said, spinney):
    done = spinney(*arguments)
    assert done.status == 2
    assert said in done.err
    assert done.out == ""
    assert re.search(r"Try: spinney.* --help", done.err)


def test_help_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from spinney.cli.parser import build_parser\n"
        "build_parser().format_help()\n"
        "print([m for m in ('numpy', 'sklearn', 'pyarrow', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_json_answers_have_the_documented_keys(spinney, files, tmp_path):
    data = files / "customers.csv"
    runs = {
        "demo": ("demo",),
        "train": ("train", data, "-t", "churned", "-o", tmp_path / "m.spn"),
        "predict": ("predict", files / "churn.spn", data),
        "evaluate": ("evaluate", files / "churn.spn", data, "-t", "churned"),
        "explain": ("explain", files / "churn.spn"),
        "explain --row": ("explain", files / "churn.spn", data, "--row", "0"),
        "explain --feature": ("explain", files / "churn.spn", "--feature", "age"),
        "certify": ("certify", files / "churn.spn"),
        "certify DATA": ("certify", files / "ada.spn", data, "-t", "churned"),
        "compare": ("compare", data, "-t", "churned", "--models", "tree"),
        "report": ("report", files / "churn.spn", data, "-t", "churned", "-o", tmp_path / "r.html"),
        "inspect": ("inspect", files / "churn.spn"),
        "completion": ("completion", "bash"),
    }
    documented = dict(
        re.findall(r"^\| `([^`]+)` \| (.*) \|$", REFERENCE.read_text("utf-8"), re.MULTILINE)
    )
    for name, arguments in runs.items():
        answer = spinney(*arguments, "--json").json
        assert list(answer) == re.findall(r"`(\w+)`", documented[name]), name
        assert answer["command"] == name.split()[0]


def test_scripts_of_shells_know_commands_options_and_values(spinney):
    for shell in ("bash", "zsh", "fish"):
        script = spinney("completion", shell).out
        for text in (*COMMANDS, "test-share", "extra-trees", "month-first"):
            assert text in script, (shell, text)
        program = shutil.which(shell)
        if program is not None:
            command = [program, "-n"] if shell != "fish" else [program, "--no-execute"]
            done = subprocess.run(
                command, input=script, text=True, capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash completes what bash runs")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("spinney", "tr"), {"train"}),
        (("spinney", "train", "d.csv", "--tes"), {"--test", "--test-share", "--test-out"}),
        (("spinney", "train", "--model", "ada"), {"adaboost"}),
        (("spinney", "completion", "f"), {"fish"}),
    ],
)
def test_bash_completes(typed, offered, spinney):
    script = spinney("completion", "bash").out
    words = " ".join(f"'{word}'" for word in typed)
    ask = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _spinney; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(
        ["bash", "-c", script + "\n" + ask], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == offered


def test_a_reader_that_leaves_early_is_no_error(files):
    command = f"'{COMMAND}' predict '{files}/churn.spn' '{files}/big.csv' | head -1"
    lines = (files / "customers.csv").read_text("utf-8").splitlines(keepends=True)
    (files / "big.csv").write_text(lines[0] + "".join(lines[1:]) * 100, "utf-8")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith('"prediction"')
    assert done.stderr == ""
    assert done.returncode == 0


def test_interrupt_leaves_nothing_behind(files, tmp_path):
    arguments = [
        "train",
        str(files / "customers.csv"),
        "-t",
        "churned",
        "-o",
        str(tmp_path / "m.spn"),
    ]
    process = subprocess.Popen(
        [COMMAND, *arguments, "--set", "max_iter=100000000"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    said = process.stderr.readline()  # the task was inferred: boosting begins
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (said, err)
    assert "interrupted; nothing was written" in err
    assert "Traceback" not in err
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_names_of_any_script_pass_an_ascii_terminal(files):
    done = subprocess.run(
        [COMMAND, "inspect", files / "churn.spn"],
        capture_output=True,
        check=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"},
    )
    assert b"gr\\xf6\\xdfer" in done.stdout


def test_warnings_are_remarks_and_json_stays_json(files, tmp_path):
    few = ["--set", "n_estimators=3", "--set", "oob_score=true", "-o", tmp_path / "m.spn"]
    done = subprocess.run(
        [
            COMMAND,
            "train",
            files / "customers.csv",
            "-t",
            "churned",
            "-m",
            "forest",
            *few,
            "--json",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["family"] == "forest"
    assert "note: Some inputs do not have OOB scores" in done.stderr
    assert "warn" not in done.stderr.lower()


def test_parser_is_built_from_one_file_per_command():
    folder = Path(__file__).parents[3] / "src/spinney/cli/commands"
    own = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert own == set(COMMANDS)
    assert build_parser().prog == "spinney"
