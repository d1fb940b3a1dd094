"""``spinney train``: from a file to a model, with everything that was noticed said."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import spinney as library
from spinney.cli.families import FAMILIES
from spinney.errors import CannotSave
from spinney.io.save_load import to_bytes


def test_model_is_saved_and_measured_on_rows_held_out(spinney, files, tmp_path):
    out = tmp_path / "model.spn"
    done = spinney("train", files / "customers.csv", "--target", "churned", "-o", out, "--json")
    assert done.status == 0
    answer = done.json
    assert (answer["n_train"], answer["n_test"]) == (192, 48)
    assert answer["task"] == "classification"
    assert answer["estimator"] == "GradientBoostingClassifier"
    assert set(answer["measures"]) == {
        *("accuracy", "balanced_accuracy", "auc", "log_loss", "brier"),
    }
    for one in answer["measures"].values():
        assert one["low"] <= one["value"] <= one["high"]
    model = library.load(out)
    assert model.model_.fingerprint == answer["fingerprint"]
    assert out.stat().st_size == answer["bytes"]
    assert model.model_.schema.names == ("age", "plan", "since", "income", "member", "spent")
    assert [str(kind) for kind in model.model_.schema.kinds] == [
        *("numeric", "categorical", "date", "numeric", "boolean", "numeric"),
    ]


def test_the_same_file_in_every_format_gives_the_same_model(spinney, files, tmp_path):
    table = parquet.read_table(files / "customers.parquet")
    plain = (files / "customers.csv").read_bytes()
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(plain))
    csv.write_csv(table, tmp_path / "b.csv", csv.WriteOptions(delimiter=";"))
    csv.write_csv(table, tmp_path / "c.tsv", csv.WriteOptions(delimiter="\t"))
    feather.write_feather(table, tmp_path / "d.feather", compression="uncompressed")
    with pa.ipc.new_file(tmp_path / "e.arrow", table.schema) as sink:
        sink.write_table(table)
    (tmp_path / "f.csv").write_bytes(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))
    (tmp_path / "g.csv").write_bytes(plain.decode().encode("utf-16"))
    parquet.write_table(table, tmp_path / "h.parquet")
    prints = set()
    for path in sorted(tmp_path.iterdir()):
        options = ("--target", "churned", "-o", tmp_path / "m.spn", "--json", "-q")
        done = spinney("train", path, *options, "--set", "max_iter=5")
        assert done.status == 0, (path, done.err)
        prints.add(done.json["fingerprint"])
    assert len(prints) == 1


def test_task_is_inferred_and_said(spinney, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    targets = {
        "text": (np.where(x > 0, "a", "b").tolist(), "classification", ""),
        "boolean": ((x > 0).tolist(), "classification", "--task regression"),
        "zero_one": ((x > 0).astype(int).tolist(), "classification", "--task regression"),
        "two_floats": (np.where(x > 0, 0.5, 1.5).tolist(), "classification", "--task regression"),
        "few": ((np.arange(100) % 7).tolist(), "classification", "--task regression"),
        "many": (np.arange(100).tolist(), "regression", "--task classification"),
        "floats": (x.tolist(), "regression", "--task classification"),
    }
    for name, (values, task, override) in targets.items():
        path = tmp_path / f"{name}.csv"
        csv.write_csv(pa.table({"x": x, "y": values}), path)
        done = spinney("train", path, "-t", "y", "-o", tmp_path / "m.spn")
        assert done.status == 0, done.err
        assert f"different {'texts' if name == 'text' else 'values'}: {task}" in done.err
        assert override in done.err
    forced = spinney(
        *("train", tmp_path / "few.csv", "-t", "y", "--task", "regression", "--json"),
        *("-o", tmp_path / "m.spn"),
    )
    assert forced.json["task"] == "regression"
    assert "different" not in forced.err


def test_odd_columns_and_rows_are_mentioned(spinney, tmp_path):
    n = 80
    path = tmp_path / "odd.csv"
    lines = ["id,name,same,x,broken,y"]
    for i in range(n):
        target = "" if i % 10 == 3 else "ab"[i % 2]
        broken = "?" if i % 20 == 0 else str(i % 5)
        lines.append(f"{i + 1000},person {i},7,{i * 0.37 % 1:.3f},{broken},{target}")
    path.write_text("\n".join(lines))
    done = spinney("train", path, "-t", "y", "-o", tmp_path / "m.spn")
    assert done.status == 0
    assert "8 of 80 rows have no 'y': left out." in done.err
    assert "one value only tell nothing: 'same'" in done.err
    assert "A different value in every row: 'id', 'name'" in done.err
    assert "--drop id,name" in done.err
    assert "'broken': numbers but for 4 cells such as '?'" in done.err
    mended = spinney(
        *("train", path, "-t", "y", "--drop", "id,name,same", "--missing", "?"),
        *("-o", tmp_path / "m.spn"),
    )
    assert "different value" not in mended.err
    assert "broken" not in mended.err
    kinds = library.load(tmp_path / "m.spn").model_.schema.kinds
    assert [str(kind) for kind in kinds] == ["numeric", "numeric"]


def test_decimal_commas_and_numbers_as_categories(spinney, tmp_path):
    path = tmp_path / "german.csv"
    lines = [f"{i},5;{i % 3};{'ja' if i % 3 else 'nein'}" for i in range(60)]
    path.write_text("wert;stufe;ziel\n" + "\n".join(lines))
    done = spinney(
        *("train", path, "-t", "ziel", "--categorical", "stufe", "-o", tmp_path / "m.spn"),
    )
    assert "decimal comma" in done.err
    kinds = library.load(tmp_path / "m.spn").model_.schema.kinds
    assert [str(kind) for kind in kinds] == ["numeric", "categorical"]


def test_texts_may_be_named_categories(spinney, tmp_path):
    lines = [f"the product number {i // 2},{i % 7},{i % 3 % 2}" for i in range(200)]
    (tmp_path / "d.csv").write_text("said,x,y\n" + "\n".join(lines))
    options = ("-t", "y", "-o", tmp_path / "m.spn", "--set", "max_iter=3")
    for more, kind in (((), "text"), (("--categorical", "said"), "categorical")):
        rows = tmp_path / "held_out.csv"
        done = spinney("train", tmp_path / "d.csv", *options, *more, "--test-out", rows)
        assert done.status == 0, done.err
        assert library.load(tmp_path / "m.spn").model_.schema.kinds[0] == kind
        assert spinney("predict", tmp_path / "m.spn", rows).status == 0
        assert "the product number " in rows.read_text().splitlines()[1]


def test_weights_are_repetitions(spinney, tmp_path):
    rng = np.random.default_rng(3)
    table = pa.table({"x": rng.normal(size=60).tolist(), "y": ["a", "b", "a"] * 20})
    weighted = table.append_column("w", pa.array([1, 2, 1] * 20))
    rows = [i for i in range(60) for _ in range([1, 2, 1][i % 3])]
    parquet.write_table(weighted, tmp_path / "w.parquet")
    parquet.write_table(table.take(rows), tmp_path / "r.parquet")
    options = ("-t", "y", "--test-share", "0", "-o", tmp_path / "m.spn", "--json", "-q")
    one = spinney("train", tmp_path / "w.parquet", *options, "--weight", "w").json
    two = spinney("train", tmp_path / "r.parquet", *options).json
    trees = [library.load(tmp_path / "m.spn")]
    assert one["features"] == two["features"] == ["x"]
    assert one["n_test"] == 0
    assert one["measures"] == {}
    assert trees[0].model_.fingerprint == two["fingerprint"]


def test_test_rows_from_another_file_and_out_to_one(spinney, files, tmp_path):
    held = tmp_path / "held.parquet"
    one = spinney(
        *("train", files / "customers.csv", "-t", "churned", "-o", tmp_path / "m.spn"),
        *("--test-out", held, "--json", "--set", "max_iter=5"),
    )
    assert parquet.read_table(held).num_rows == one.json["n_test"] == 48
    assert "churned" in parquet.read_table(held).column_names
    again = spinney("evaluate", tmp_path / "m.spn", held, "-t", "churned", "--json")
    assert again.json["measures"]["accuracy"]["value"] == pytest.approx(
        one.json["measures"]["accuracy"]["value"]
    )
    two = spinney(
        *("train", files / "customers.csv", "-t", "churned", "-o", tmp_path / "m.spn"),
        *("--test", held, "--json", "--set", "max_iter=5"),
    )
    assert (two.json["n_train"], two.json["n_test"]) == (240, 48)


def test_refit_learns_from_all_rows(spinney, files, tmp_path):
    options = ("-t", "spent", "-o", tmp_path / "m.spn", "--json", "--set", "max_iter=5")
    refitted = spinney("train", files / "customers.csv", *options, "--refit").json
    everything = spinney("train", files / "customers.csv", *options, "--test-share", "0").json
    assert refitted["fingerprint"] == everything["fingerprint"]
    assert refitted["measures"]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_says_truly_whether_it_has_a_file(name):
    family = FAMILIES[name]
    X = np.random.default_rng(0).normal(size=(60, 3))
    for task, y in (("classification", X[:, 0] > 0), ("regression", X[:, 0])):
        if family.class_for(task) is None:
            continue
        fitted = family.make(task).fit(X, y)
        if family.has_file:
            to_bytes(fitted)
        else:
            with pytest.raises(CannotSave):
                to_bytes(fitted)


def test_every_estimator_of_a_target_has_a_family():
    stems = {family.stem for family in FAMILIES.values()}
    known = {
        name.removesuffix("Classifier").removesuffix("Regressor")
        for name in library.ESTIMATORS
        if name.endswith(("Classifier", "Regressor"))
    }
    assert known - stems == {"Calibrated", "Conformal"}  # around others
    assert stems <= known


def test_families_without_a_file_are_measured_only(spinney, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = spinney("train", files / "customers.csv", "-t", "churned", "-m", "knora-u", "--json")
    assert done.status == 0
    assert done.json["out"] is None
    assert "no safe form" in done.err
    assert list(tmp_path.iterdir()) == []
    refused = spinney(
        "train", files / "customers.csv", "-t", "churned", "-m", "knora-u", "-o", "v.spn"
    )
    assert refused.status == 1
    assert "no safe form" in refused.err


def test_quiet_says_nothing_and_the_usual_name_is_model_spn(spinney, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = spinney("train", files / "customers.csv", "-t", "churned", "-q")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["model.spn"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--target", "churnd"), "Did you mean 'churned'?"),
        (("--target", "CHURNED"), "Did you mean 'churned'?"),
        (("--target", "churned", "--drop", "agee"), "Did you mean 'age'?"),
        (("--target", "churned", "--weight", "plan"), "holds no numbers"),
        (("--target", "churned", "--weight", "income"), "some weights are missing"),
        (("--target", "churned", "--set", "max_itr=3"), "Did you mean 'max_iter'"),
        (("--target", "churned", "--set", "max_iter=-3"), "max_iter=-3"),
        (("--target", "churned", "--model", "forrest"), "Did you mean 'forest'"),
        (("--target", "churned", "--model", "quantile-forest"), "no estimator for classification"),
        (("--target", "churned", "--task", "regression"), "text"),
        (("--target", "since"), "cannot be predicted"),
        (("--target", "churned", "--out", "/no/such/folder/m.spn"), "does not exist"),
        (("--target", "churned", "--test-share", "0.9999"), "--test-share"),
    ],
)
def test_wrong_wishes_are_met_with_help(arguments, said, spinney, files, tmp_path):
    more = () if "--out" in arguments else ("--out", tmp_path / "m.spn")
    done = spinney("train", files / "customers.csv", *arguments, *more)
    assert done.status == 1
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "m.spn").exists()
