"""Columns by name, odd targets, and errors in the words of the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spinney.cli.wording import in_command_words
from spinney.errors import SpinneyError

COMMAND = Path(sys.executable).with_name("spinney")


def write(path, header, n_rows=80, target="01"):
    lines = (f"n{i},{i + 1000},{i % 7},{target[i % 2]}\n" for i in range(n_rows))
    path.write_text(f"{header}\n" + "".join(lines))
    return path


def test_a_name_with_commas_is_a_column_before_it_is_a_list(spinney, tmp_path):
    data = write(tmp_path / "d.csv", '"a,b",the id,c,y')
    options = ("-t", "y", "-o", tmp_path / "m.spn", "--set", "max_iter=3", "--json")
    done = spinney("train", data, *options)
    assert "--drop a,b --drop 'the id'." in done.err
    mended = spinney("train", data, *options, "--drop", "a,b", "--drop", "the id").json
    assert mended["features"] == ["c"]
    listed = spinney("train", data, *options, "--drop", "the id,c").json
    assert listed["features"] == ["a,b"]
    kept = spinney("predict", tmp_path / "m.spn", data, "--keep", "a,b", "--keep", "the id,c")
    assert kept.out.splitlines()[0].startswith('"a,b","the id","c","prediction"')
    wrong = spinney("certify", tmp_path / "m.spn", "--unused", "a")
    assert (wrong.status, "the model has no such feature" in wrong.err) == (1, True)
    assert spinney("certify", tmp_path / "m.spn", "--unused", "a,b", "--json").json["claims"]


def test_targets_that_nothing_can_be_learnt_from_are_told_as_they_are_written(spinney, tmp_path):
    out = tmp_path / "m.spn"
    for cells, said in (
        (("0", "1", "", "-inf"), "row 39 has the value -inf, expected finite numbers"),
        (("1.0",), "all rows have the value 1. Nothing to learn"),
        (("0.5",), "all rows have the value 0.5."),
        (("true",), "all rows have the value True."),
    ):
        data = tmp_path / "d.csv"
        lines = [f"{i},{cells[i % min(3, len(cells))]}\n" for i in range(39)]
        data.write_text("x,y\n" + "".join(lines) + f"39,{cells[-1]}\n")
        done = spinney("train", data, "-t", "y", "-o", out)
        assert (done.status, said in done.err) == (1, True), done.err
        assert not out.exists()


def test_an_infinite_target_is_not_measured_on(spinney, files, tmp_path):
    text = (files / "customers.csv").read_text("utf-8").splitlines()
    text[3] = text[3].rpartition(",")[0] + ",inf"
    (tmp_path / "inf.csv").write_text("\n".join(text), "utf-8")
    done = spinney("evaluate", files / "spent.spn", tmp_path / "inf.csv")
    assert (done.status, "row 2 has the value inf" in done.err) == (1, True), done.err


def test_errors_advise_what_a_terminal_can_do(spinney, files, tmp_path):
    data = files / "customers.csv"
    text = data.read_text("utf-8").splitlines()
    place = text[0].replace('"', "").split(",").index("age")
    cells = [line.split(",") for line in text]
    for line in cells[1:]:
        line[place] = "old"
    (tmp_path / "old.csv").write_text("\n".join(",".join(line) for line in cells), "utf-8")
    done = spinney("predict", files / "churn.spn", tmp_path / "old.csv")
    assert (done.status, "--missing TEXT" in done.err) == (1, True), done.err
    assert "astype" not in done.err
    options = ("-t", "spent", "-o", tmp_path / "m.spn", "--set", "max_iter=3", "--refit")
    assert spinney("train", data, *options).status == 0
    done = spinney("predict", tmp_path / "m.spn", data, "--interval", "0.9")
    assert (done.status, "with neither --refit nor --test-share 0" in done.err) == (1, True)
    done = spinney("train", data, "-t", "spent", "-m", "l2-boost", "-o", tmp_path / "m.spn")
    assert (done.status, "Leave such columns out (--drop)" in done.err) == (1, True), done.err


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "X has 300 levels of 'a'. Give grid=, a list of the levels that matter, or fewer rows.",
            "X has 300 levels of 'a'. Give a file of fewer rows, or leave DATA away.",
        ),
        (
            "A member has no safe form in a file. Keep it with pickle or joblib.",
            "A member has no safe form in a file. Choose another family.",
        ),
        ("a row has 0.2; see counter_example", "a row has 0.2; see the rows below"),
        ("Give text, for instance with .astype(str).", "Give text."),
        ("--test-share 0.2: all is well.", "--test-share 0.2: all is well."),
    ],
)
def test_advice_for_python_is_reworded(said, words, spinney, monkeypatch, files):
    assert in_command_words(said) == words

    def fail(*_):
        raise SpinneyError(said)

    monkeypatch.setattr("spinney.cli.contents.describe", fail)
    assert spinney("inspect", files / "churn.spn").err == f"spinney: {words}\n"


@pytest.mark.skipif(os.name != "posix", reason="shells of others close streams otherwise")
def test_closed_streams_are_no_traceback(files):
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"'{COMMAND}' inspect '{files}/churn.spn' {closed}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (closed, done.stderr)
        assert "Traceback" not in done.stderr


def test_without_stdout_an_answer_goes_nowhere(files, monkeypatch):
    from spinney.cli.__main__ import main

    for arguments in (("inspect", files / "churn.spn"), ("predict", *_pair(files))):
        monkeypatch.setattr(sys, "stdout", None)
        assert main([str(argument) for argument in arguments]) == 0
        sys.stdout.close()


def _pair(files):
    return files / "churn.spn", files / "customers.csv"
