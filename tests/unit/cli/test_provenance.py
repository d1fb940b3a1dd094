"""Rows held out are found again, by what the model file records; or it is said why not."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import spinney as library
from spinney.cli.families import FAMILIES

CHURN = ("-t", "churned", "--drop", "spent", "--set", "max_iter=5")


@pytest.fixture
def train(spinney, files, tmp_path):
    def run(*options, data=files / "customers.csv"):
        out = tmp_path / "m.spn"
        done = spinney("train", data, "-o", out, "--json", *CHURN, *options)
        assert done.status == 0, done.err
        return out, done.json

    run.data = files / "customers.csv"
    return run


def test_held_out_rows_follow_the_seed_and_the_share_of_training(spinney, files, train):
    model, trained = train("--seed", "3", "--test-share", "0.3")
    for name in ("customers.csv", "customers.parquet"):
        found = spinney("evaluate", model, files / name, "--held-out", "--json")
        assert found.json["n_rows"] == 72
        assert found.json["measures"] == trained["measures"]
        assert "The target is 'churned', as in training" in found.err
    asked = spinney("evaluate", model, files / "customers.csv", *CHURN[:2], "--held-out", "--json")
    assert "as in training" not in asked.err
    assert asked.json["measures"] == trained["measures"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--refit",), "trained with --refit, so it learnt from all 240 rows"),
        (("--test-share", "0"), "trained with --test-share 0: no rows were held out"),
        (("--test", "DATA"), "Give the file of --test, without --held-out"),
        (("--test", "DATA", "--refit"), "trained with --refit"),
    ],
)
def test_models_without_rows_held_out_are_not_measured_on_such(options, said, spinney, train):
    data = train.data
    model, _ = train(*(data if option == "DATA" else option for option in options))
    for more in (("evaluate",), ("report", "-o", model.with_name("r.html"))):
        done = spinney(more[0], model, data, "--held-out", *more[1:])
        assert (done.status, said in done.err, done.out) == (1, True, ""), done.err
    assert not model.with_name("r.html").exists()


def test_another_table_is_refused(spinney, files, train, tmp_path):
    model, _ = train()
    table = parquet.read_table(files / "customers.parquet")
    by_target = table.take(np.argsort(table["churned"].to_pylist(), kind="stable"))
    older = table.set_column(0, "age", pa.array(np.asarray(table["age"]) + 1))
    others = {
        "fewer": (table.slice(1), "239 rows with a target, but"),
        "shuffled": (table.take(np.arange(240)[::-1]), "not the table"),
        "sorted": (by_target, "not the table"),
        "changed": (older, "not the table"),
        "no target": (table.drop_columns(["churned"]), "--target 'churned'"),
    }
    for name, (other, said) in others.items():
        parquet.write_table(other, tmp_path / "other.parquet")
        done = spinney("evaluate", model, tmp_path / "other.parquet", "--held-out")
        assert (done.status, said in done.err) == (1, True), (name, done.err)


def test_a_model_saved_from_python_tells_nothing_of_its_rows(spinney, files, train):
    model, _ = train()
    library.save(library.load(model), model)
    data = files / "customers.csv"
    done = spinney("evaluate", model, data, "-t", "churned", "--held-out")
    assert (done.status, "does not tell which rows it learnt from" in done.err) == (1, True)
    done = spinney("evaluate", model, data)
    assert (done.status, "Add --target COLUMN" in done.err) == (1, True)
    assert spinney("evaluate", model, data, "-t", "churned").status == 0


def test_rows_that_were_learnt_are_said_to_be(spinney, files, train, tmp_path):
    data = files / "customers.csv"
    for options, said in (((), "192 of these 240 rows"), (("--refit",), "all of these rows")):
        model, _ = train(*options)
        assert f"learnt from {said}" in spinney("evaluate", model, data).err
    parquet.write_table(
        parquet.read_table(files / "customers.parquet").slice(9), tmp_path / "o.parquet"
    )
    assert "learnt from" not in spinney("evaluate", model, tmp_path / "o.parquet").err


def test_only_rows_that_calibrated_are_said_to_have_done_so(spinney, files, tmp_path):
    data, out = files / "customers.csv", tmp_path / "m.spn"
    forest = ("-m", "forest", "--set", "n_estimators=200", "--set", "oob_score=true")
    for options, is_said in ((), True), (forest, False):
        assert spinney("train", data, "-t", "spent", "-o", out, *options).status == 0
        text = spinney("evaluate", out, data, "--held-out").out
        assert "intervals at 90 %" in text
        assert ("these rows calibrated them" in text) == is_said


def test_rows_without_a_target_are_left_out_in_the_same_way(spinney, files, train, tmp_path):
    table = parquet.read_table(files / "customers.parquet")
    numbers = [None if i % 7 == 0 else float(i % 2) for i in range(240)]
    numbers[8] = float("nan")
    table = table.set_column(5, "churned", pa.array(numbers))
    parquet.write_table(table, tmp_path / "gaps.parquet")
    model, trained = train(data=tmp_path / "gaps.parquet")
    found = spinney("evaluate", model, tmp_path / "gaps.parquet", "--held-out", "--json")
    assert found.json["measures"] == trained["measures"]


@pytest.mark.parametrize("name", [name for name, one in FAMILIES.items() if one.has_file])
def test_every_family_that_has_a_file_finds_its_rows_again(name, spinney, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    target = X[:, 0] if FAMILIES[name].class_for("classification") is None else X[:, 0] > 0
    csv.write_csv(
        pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": target}), tmp_path / "d.csv"
    )
    out = tmp_path / "m.spn"
    trained = spinney("train", tmp_path / "d.csv", "-t", "y", "-m", name, "-o", out, "--json").json
    found = spinney("evaluate", out, tmp_path / "d.csv", "--held-out", "--json").json
    assert found["measures"] == trained["measures"]
    assert spinney("inspect", out, "--json").json["fingerprint"] == trained["fingerprint"]


def test_inspect_tells_of_the_training(spinney, train):
    model, _ = train("--seed", "3", "--refit")
    found = spinney("inspect", model, "--json").json["training"]
    assert (found["target"], found["seed"], found["n_held_out"]) == ("churned", 3, 48)
    text = spinney("inspect", model).out
    assert "target 'churned', 240 rows, seed 3, 48 held out, then learnt too" in text


def numbers_of(page):
    """Numbers of rows on the page: those that can be picked, and those of the tables."""
    stored = re.search(r'id="what-if-data"[^>]*>(.*?)</script>', page, re.DOTALL)
    return json.loads(stored[1])["rows"]


def test_rows_of_a_report_have_the_numbers_of_the_file(spinney, files, train, tmp_path):
    table = parquet.read_table(files / "customers.parquet")
    gaps = [None if i < 30 else v for i, v in enumerate(table["churned"].to_pylist())]
    data, out = tmp_path / "gaps.csv", tmp_path / "r.html"
    csv.write_csv(table.set_column(5, "churned", pa.array(gaps)), data)
    model, trained = train(data=data)
    done = spinney("report", model, data, "--held-out", "-o", out)
    assert done.status == 0, done.err
    page = out.read_text("utf-8")
    rows = numbers_of(page)
    assert min(rows["numbers"]) >= 30
    assert max(rows["numbers"]) > trained["n_test"]
    assert "in the order of the file" in page
    for place in (0, 5, 11):
        number = rows["numbers"][place]
        told = spinney("explain", model, data, "--row", number, "--json").json
        assert rows["predictions"][place][1] == told["prediction"]
        assert rows["target"][place] == gaps[number]
    hardest = re.search(r"Hardest rows.*?</table>", page, re.DOTALL)[0]
    listed = {int(text) for text in re.findall(r"<tr[^>]*><t[dh][^>]*>(?:<[^>]*>)?(\d+)<", hardest)}
    assert listed
    assert listed <= set(rows["numbers"])


def test_a_report_takes_the_target_of_training(spinney, files, train, tmp_path):
    model, _ = train()
    out = tmp_path / "r.html"
    done = spinney("report", model, files / "customers.parquet", "-o", out)
    assert "The target is 'churned', as in training" in done.err
    assert "balanced accuracy" in out.read_text("utf-8").lower()
    table = parquet.read_table(files / "customers.parquet").drop_columns(["churned"])
    parquet.write_table(table, tmp_path / "new.parquet")
    bare = ("--train", tmp_path / "new.parquet", "-o", out)
    assert spinney("report", model, files / "customers.csv", *bare).status == 0
    done = spinney("report", model, tmp_path / "new.parquet", "-o", out)
    assert (done.status, "has no column 'churned'; --target COLUMN (-t)" in done.err) == (0, True)
    assert "Nothing is known of performance" in out.read_text("utf-8")


@pytest.mark.parametrize("command", ["evaluate", "explain", "report"])
def test_a_class_that_only_test_rows_have_is_left_out_everywhere(command, spinney, tmp_path):
    lines = [f"{i},{'ab'[i % 2]}\n" for i in range(60)] + ["99,rare\n"]
    data, out = tmp_path / "rare.csv", tmp_path / "m.spn"
    data.write_text("x,y\n" + "".join(lines))
    for seed in range(20):  # one that holds the rare row out
        done = spinney("train", data, "-t", "y", "-o", out, "--seed", seed, "--set", "max_iter=3")
        if "1 of 12 test rows are of classes that no training row has, 'rare'" in done.err:
            break
    else:
        pytest.fail("the rare row was never held out")
    more = ("-o", tmp_path / "r.html") if command == "report" else ()
    done = spinney(command, out, data, "-t", "y", *more)
    assert (done.status, "1 of 61 test rows are of classes" in done.err) == (0, True), done.err
