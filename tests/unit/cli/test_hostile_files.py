"""Files that are not what they should be: a sentence and status 1, never a traceback."""

import pyarrow as pa
import pytest
from pyarrow import parquet

HOSTILE = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n\n  \n", "the file is empty"),
    "names only": (b"x,y\n", "no rows"),
    "one column": (b"y\na\nb\na\nb\n", "no column to learn from"),
    "garbage": (bytes(range(256)) * 50, "no text"),
    "twice": (b"x,x,y\n1,2,a\n3,4,b\n", "several columns have the name 'x'"),
    "ragged": (b"x,y\n1,a\n2,b,c\n3,a\n", "cells"),
    "data first": (b"1,2\n3,4\n5,6\n", "--no-header"),
    "no target": (b"x,y\n1,\n2,\n3,\n", "missing"),
    "one class": (b"x,y\n1,a\n2,a\n3,a\n", "Nothing to learn"),
    "identifiers": (b"x,y\n" + b"".join(b"%d,n%d\n" % (i, i) for i in range(60)), "too many"),
    "excel": (b"PK\x03\x04" + b"x" * 50, "Excel"),
    "html": (b"<html><body>404</body></html>", "HTML"),
    "pickle": (b"\x80\x05" + b"x" * 50, "pickle"),
    "model": (b"\x89SPN\r\n\x1a\n" + b"x" * 50, "a model of Spinney"),
    "parquet cut off": (b"PAR1" + b"\x00" * 40, "cannot be read"),
    "arrow cut off": (b"ARROW1\x00\x00" + b"\x01" * 40, "cannot be read"),
    "gzip cut off": (b"\x1f\x8b\x08\x00" + b"\x00" * 10, "gzip"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_refused_in_words(name, spinney, tmp_path):
    data, said = HOSTILE[name]
    path = tmp_path / "data.csv"
    path.write_bytes(data)
    out = tmp_path / "m.spn"
    done = spinney("train", path, "--target", "y", "--out", out)
    assert done.status == 1
    assert said in done.err
    assert str(path) in done.err or "--target" in done.err or "target 'y'" in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert not out.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"x,y\n" + b"".join(b"%d,%s\n" % (i, b"ab"[i % 2 : i % 2 + 1]) for i in range(40)),
        b"\xef\xbb\xbfx,y\r\n" + b"1,a\r\n2,b\r\n" * 20,
        "größe,y\n".encode("cp1252") + "1,ä\n2,b\n".encode("cp1252") * 20,
        b"x,y\n" + b'"' + b"z" * 3_000_000 + b'",a\n' + b"1,b\n" * 20,
        b"x,y\n" + b'"two\nlines",a\n"one",b\n' * 20,
        b"x,y\n" + b"1,a\nred,b\n2020-01-01,a\n,b\n" * 10,
        b"x,y\n" + b"1,a\n\n2,b\n" * 20,
        b",y\n" + b"1,a\n2,b\n" * 20,
        b"x,y\n" + b"1e999,a\n-5,b\n99999999999999999999,a\n" * 20,
        "名前,y\nälter,a\n\U0001f600,b\n".encode() + b"x,a\nz,b\n" * 20,
        b"x|y\n" + b"1|a\n2|b\n" * 20,
        b'"x ""quoted"", with comma",y\n' + b"1,a\n2,b\n" * 20,
    ],
    ids=[
        *("plain", "bom and crlf", "windows-1252", "huge cell", "newlines in cells", "mixed"),
        *("empty lines", "no name", "huge numbers", "any script", "pipes", "quoted name"),
    ],
)
def test_odd_but_honest_files_are_read(data, spinney, tmp_path):
    path, out = tmp_path / "data.csv", tmp_path / "m.spn"
    path.write_bytes(data)
    done = spinney("train", path, "--target", "y", "--out", out)
    if done.status:  # infinite numbers are refused by name
        assert "1e999" in data.decode(errors="replace")
        assert "'x'" in done.err
        return
    predicted = spinney("predict", out, path)
    assert predicted.status == 0, predicted.err
    assert predicted.out.count("\n") == spinney("predict", out, path, "--json").json["n_rows"] + 1


def test_columns_that_no_estimator_takes_are_left_out(spinney, tmp_path):
    path, out = tmp_path / "nested.parquet", tmp_path / "m.spn"
    lists = pa.array([[1, 2]] * 40)
    raw = pa.array([b"x"] * 40)
    table = {"x": list(range(40)), "tags": lists, "raw": raw, "y": ["a", "b"] * 20}
    parquet.write_table(pa.table(table), path)
    done = spinney("train", path, "-t", "y", "-o", out)
    assert done.status == 0
    assert "left out: 'tags', 'raw'" in done.err


def test_a_folder_a_missing_file_and_a_missing_model_are_told(spinney, tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n1,a\n")
    folder = spinney("train", tmp_path, "-t", "y")
    assert (folder.status, "a folder" in folder.err) == (1, True)
    assert "data.csv" in folder.err
    absent = spinney("train", tmp_path / "dta.csv", "-t", "y")
    assert absent.status == 1
    assert "data.csv" in absent.err.split("Did you mean")[1]
    for command in (("predict", "m.spn", "data.csv"), ("inspect", "m.spn")):
        done = spinney(command[0], tmp_path / "m.spn", *command[2:])
        assert done.status == 1
        assert "no such file" in done.err


def test_without_pyarrow_the_extra_is_named(spinney, files, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = spinney("train", files / "customers.csv", "-t", "churned")
    assert done.status == 1
    assert "pip install 'spinney[cli]'" in done.err
