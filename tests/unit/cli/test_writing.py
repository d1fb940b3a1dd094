"""Files that are written: where they may go, and in which order."""

import os

import pytest


def lines(folder):
    path = folder / "xy.csv"
    path.write_text("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(40)))
    return path


def test_no_training_is_lost_to_a_name_that_cannot_be_written(spinney, tmp_path):
    data, out = lines(tmp_path), tmp_path / "m.spn"
    for option, said in (
        (("--test-out", tmp_path / "held.txt"), "expected a name that ends in .csv"),
        (("--test-out", tmp_path / "no" / "held.csv"), "does not exist"),
        (("--test-out", tmp_path / "h.csv", "--test-share", "0"), "no rows are held out"),
        (("--test-out", out), "expected a name that ends in .csv"),
    ):
        done = spinney("train", data, "-t", "y", "-o", out, *option)
        assert (done.status, said in done.err) == (1, True), done.err
        assert "different" not in done.err  # nothing was read
        assert not out.exists()


def test_the_model_is_written_before_other_files(spinney, tmp_path, monkeypatch):
    data, out = lines(tmp_path), tmp_path / "m.spn"

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spinney.cli.writing.write_table", fail)
    done = spinney("train", data, "-t", "y", "-o", out, "--test-out", tmp_path / "held.csv")
    assert (done.status, "No space left" in done.err) == (1, True)
    assert spinney("inspect", out).status == 0


@pytest.mark.parametrize("way", ["itself", "another road", "symbolic link", "hard link"])
def test_no_command_overwrites_what_it_reads(way, spinney, files, tmp_path, monkeypatch):
    data = lines(tmp_path)
    before = data.read_bytes()
    out = {"itself": data, "another road": tmp_path / "sub" / ".." / "xy.csv"}.get(way)
    (tmp_path / "sub").mkdir()
    if out is None:
        out = tmp_path / "other.csv"
        (os.symlink if way == "symbolic link" else os.link)(data, out)
    model = tmp_path / "m.spn"
    model.write_bytes((files / "churn.spn").read_bytes())
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ("train", "xy.csv", "-t", "y", "-o", out),
        ("train", "xy.csv", "-t", "y", "-o", "new.spn", "--test-out", out),
        ("train", files / "customers.csv", "-t", "churned", "--test", "xy.csv", "-o", out),
        ("predict", model, "xy.csv", "-o", out),
        ("report", model, "xy.csv", "-o", out),
        ("report", model, files / "customers.csv", "--train", "xy.csv", "-o", out),
        ("report", model, "xy.csv", "-o", "sub/../m.spn"),
        ("certify", model, "xy.csv", "-o", out),
    ):
        done = spinney(*arguments)
        assert (done.status, "would be overwritten" in done.err) == (1, True), (arguments, done.err)
    assert data.read_bytes() == before
    assert model.read_bytes() == (files / "churn.spn").read_bytes()


def test_two_outputs_have_two_names(spinney, tmp_path):
    data, out = lines(tmp_path), tmp_path / "both.csv"
    done = spinney("train", data, "-t", "y", "-o", out, "--test-out", out)
    assert (done.status, "Choose another name" in done.err, out.exists()) == (1, True, False)
