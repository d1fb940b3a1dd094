"""``predict``, ``evaluate``, ``explain``, ``certify``, ``compare``, ``inspect`` on small files."""

import csv as text_csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import spinney as library
from spinney.cli.families import FAMILIES
from spinney.theory import Certificate

CHURN = ("--target", "churned")
REFERENCE = Path(__file__).parents[3] / "docs/reference/command-line.md"


def read(text):
    return list(text_csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_model(spinney, files):
    done = spinney("predict", files / "churn.spn", files / "customers.csv", "--keep", "plan,age")
    rows = read(done.out)
    assert list(rows[0]) == ["plan", "age", "prediction", "probability_no", "probability_yes"]
    model = library.load(files / "churn.spn")
    X = parquet.read_table(files / "customers.parquet").select(model.model_.schema.names)
    said = model.predict_proba(X)
    assert [float(row["probability_yes"]) for row in rows] == pytest.approx(said[:, 1].tolist())
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()


@pytest.mark.parametrize("kind", ["quantiles", "outputs"])
def test_several_numbers_of_a_row_are_a_column_each(kind, spinney, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    levels = {"loss": "quantile", "quantile": [0.1, 0.9]} if kind == "quantiles" else {}
    model = library.GradientBoostingRegressor(max_iter=3, **levels)
    model.fit(X, y if kind == "quantiles" else np.column_stack([y, -y]))
    library.save(model, tmp_path / "m.spn")
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="x0,x1", comments="")
    rows = read(spinney("predict", tmp_path / "m.spn", tmp_path / "rows.csv").out)
    names = ["quantile 0.1", "quantile 0.9"] if kind == "quantiles" else ["output 0", "output 1"]
    assert list(rows[0]) == [f"prediction {name}" for name in names]
    told = [[float(number) for number in row.values()] for row in rows]
    assert np.allclose(told, model.predict(X))
    refused = spinney("predict", tmp_path / "m.spn", tmp_path / "rows.csv", "--interval", "0.9")
    assert refused.status != 0
    assert "Leave it out" in refused.err


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_model_that_wants_an_offset_says_where_it_can_be_given(command, spinney, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    model = library.GradientBoostingRegressor(max_iter=3).fit(X, y, offset=np.ones(80))
    library.save(model, tmp_path / "m.spn")
    table = np.column_stack([X, y])
    np.savetxt(tmp_path / "rows.csv", table, delimiter=",", header="x0,x1,y", comments="")
    target = ["--target", "y"] if command == "evaluate" else []
    refused = spinney(command, tmp_path / "m.spn", tmp_path / "rows.csv", *target)
    assert refused.status != 0
    assert "predict(X, offset=...)" in refused.err


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "feather", "arrow"])
def test_predictions_go_to_files_of_every_kind(ending, spinney, files, tmp_path):
    out = tmp_path / f"answers.{ending}"
    done = spinney("predict", files / "spent.spn", files / "customers.parquet", "-o", out)
    assert (done.status, done.out) == (0, "")
    assert "240 rows written" in done.err
    again = spinney("predict", files / "spent.spn", files / "customers.parquet", "--json").json
    from spinney.cli.files import Reading, read_file
    from spinney.cli.voice import Voice

    found = read_file(str(out), Reading(), Voice())
    expected = [row["prediction"] for row in again["predictions"]]
    assert found.column("prediction").to_pylist() == pytest.approx(expected)


def test_intervals_and_sets_hold_what_they_promise(spinney, files):
    rows = read(
        spinney("predict", files / "spent.spn", files / "customers.csv", "--interval", "0.8").out
    )
    inside = [float(r["lower"]) <= float(r["prediction"]) <= float(r["upper"]) for r in rows]
    assert all(inside)
    sets = read(
        spinney("predict", files / "churn.spn", files / "customers.csv", "--interval", "0.9").out
    )
    assert {row["set"] for row in sets} <= {"", "no", "yes", "no|yes"}
    found = spinney(
        "evaluate", files / "spent.spn", files / "customers.csv", "-t", "spent", "--json"
    ).json
    assert found["coverage"]["level"] == 0.9
    assert found["coverage"]["share"] > 0.8


def test_labels_only_and_stdin(spinney, files, monkeypatch):
    text = (files / "customers.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", type("In", (), {"buffer": io.BytesIO(text)}))
    done = spinney("predict", files / "churn.spn", "-", "--labels-only")
    assert done.out.splitlines()[0] == '"prediction"'
    assert len(done.out.splitlines()) == 241


def test_prediction_reads_categories_as_the_model_knows_them(spinney, tmp_path):
    lines = "".join(f"{'A1' if i % 2 else i % 3},{'yn'[i % 2]}\n" for i in range(60))
    (tmp_path / "train.csv").write_text("code,y\n" + lines)
    out = tmp_path / "m.spn"
    assert spinney("train", tmp_path / "train.csv", "-t", "y", "-o", out).status == 0
    (tmp_path / "new.csv").write_text("code\n0\n1\n2\n")  # numbers only, in this file
    assert spinney("predict", out, tmp_path / "new.csv").status == 0
    parquet.write_table(pa.table({"code": [0.0, 1.0, None]}), tmp_path / "new.parquet")
    assert spinney("predict", out, tmp_path / "new.parquet").status == 0


def test_a_table_that_lacks_features_is_refused_by_name(spinney, files, tmp_path):
    table = parquet.read_table(files / "customers.parquet")
    parquet.write_table(
        table.rename_columns(["Age", *table.column_names[1:]]), tmp_path / "n.parquet"
    )
    done = spinney("predict", files / "churn.spn", tmp_path / "n.parquet")
    assert done.status == 1
    assert "1 of the model's 5 features are not there: 'age'" in done.err
    wrong = table.set_column(0, "age", pa.array(["old"] * 240))
    parquet.write_table(wrong, tmp_path / "w.parquet")
    done = spinney("predict", files / "churn.spn", tmp_path / "w.parquet")
    assert done.status == 1
    assert "'age' is categorical" in done.err


def test_evaluation_agrees_with_scikit_learn(spinney, files):
    from sklearn import metrics

    model = library.load(files / "churn.spn")
    table = parquet.read_table(files / "customers.parquet")
    y, said = (
        table["churned"].to_pylist(),
        model.predict_proba(table.select(model.model_.schema.names)),
    )
    labels = model.classes_[said.argmax(axis=1)]
    is_yes = [label == "yes" for label in y]
    expected = {
        "accuracy": metrics.accuracy_score(y, labels),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, labels),
        "auc": metrics.roc_auc_score(is_yes, said[:, 1]),
        "log_loss": metrics.log_loss(y, said),
        "brier": metrics.brier_score_loss(is_yes, said[:, 1]),
    }
    found = spinney("evaluate", files / "churn.spn", files / "customers.csv", *CHURN, "--json").json
    assert {k: v["value"] for k, v in found["measures"].items()} == pytest.approx(expected)
    model = library.load(files / "spent.spn")
    y = table["spent"].to_numpy()
    said = model.predict(table.select(model.model_.schema.names))
    expected = {
        "r2": metrics.r2_score(y, said),
        "rmse": metrics.root_mean_squared_error(y, said),
        "mae": metrics.mean_absolute_error(y, said),
    }
    found = spinney(
        "evaluate", files / "spent.spn", files / "customers.csv", "-t", "spent", "--json"
    ).json
    assert {k: v["value"] for k, v in found["measures"].items()} == pytest.approx(expected)


def test_weights_of_measures_are_repetitions():
    from spinney.cli.measures import Scored

    rng = np.random.default_rng(0)
    codes, said = rng.integers(0, 2, 50), rng.dirichlet([1, 1], 50).round(1)
    weights = rng.integers(0, 4, 50)
    once = Scored(codes, said, weights.astype(float)).values()
    rows = np.repeat(np.arange(50), weights)
    assert once == pytest.approx(Scored(codes[rows], said[rows]).values())
    numbers = rng.normal(size=(2, 50))
    once = Scored(*numbers, weights.astype(float)).values()
    assert once == pytest.approx(Scored(*numbers[:, rows]).values())


def test_held_out_rows_are_those_of_train(spinney, files, tmp_path):
    trained = spinney("train", files / "customers.csv", *CHURN, "-o", tmp_path / "m.spn", "--json")
    found = spinney(
        "evaluate", tmp_path / "m.spn", files / "customers.csv", *CHURN, "--held-out", "--json"
    )
    assert found.json["n_rows"] == 48
    assert found.json["measures"] == trained.json["measures"]


def test_unknown_classes_and_text_for_numbers_are_refused(spinney, files):
    done = spinney("evaluate", files / "churn.spn", files / "customers.csv", "-t", "plan")
    assert done.status == 1
    assert "which the model does not know. It knows 'no', 'yes'" in done.err
    done = spinney("evaluate", files / "spent.spn", files / "customers.csv", "-t", "plan")
    assert done.status == 1
    assert "holds text" in done.err


def test_explanations_choose_what_the_data_allows(spinney, files):
    kinds = []
    for more in ((), (files / "customers.csv",), (files / "customers.csv", *CHURN)):
        found = spinney("explain", files / "churn.spn", *more, "--json").json
        kinds.append(found["kind"])
        assert {one["feature"] for one in found["features"]} == {
            *("age", "plan", "since", "income", "member"),
        }
    assert len(set(kinds)) == 3
    text = spinney("explain", files / "churn.spn", "--top", "2").out
    assert "… and 3 more" in text


def test_one_row_adds_up_to_its_prediction(spinney, files):
    found = spinney(
        "explain", files / "churn.spn", files / "customers.csv", "--row", "17", "--json"
    ).json
    total = found["base"] + sum(one["contribution"] for one in found["features"])
    assert total == pytest.approx(found["raw_score"])
    rows = read(spinney("predict", files / "churn.spn", files / "customers.csv").out)
    assert found["prediction"] == pytest.approx(float(rows[17]["probability_yes"]))
    plain = spinney("explain", files / "churn.spn", files / "customers.csv", "--row", "17")
    assert plain.out.startswith("P(yes) = ")


def test_partial_dependence_and_faults_of_explain(spinney, files):
    for data in ((), (files / "customers.csv",)):
        found = spinney("explain", files / "churn.spn", *data, "--feature", "plan", "--json").json
        assert {one["value"] for one in found["points"]} >= {"basic", "plus", "größer"}
    for arguments, said in (
        ((files / "customers.csv", "--row", "240"), "rows 0 to 239"),
        (("--row", "3"), "needs rows"),
        (("--target", "churned"), "needs rows"),
        (("--feature", "aage"), "the model has no such feature. Did you mean 'age'"),
        ((files / "customers.csv", "--row", "1", "--output", "Yes"), "Did you mean 'yes'"),
        (("--output", "maybe"), "no class of the model. It has 'no', 'yes'"),
        (("--output", "yes"), "--output chooses the class of --row"),
    ):
        done = spinney("explain", files / "churn.spn", *arguments)
        assert done.status == 1
        assert said in done.err


def test_claims_are_proved_or_refuted(spinney, files):
    found = spinney("certify", files / "churn.spn", "--json")
    assert found.status == 0
    assert found.json["holds"]
    proved = spinney("certify", files / "churn.spn", "--bounds", "0:1", "--json")
    assert (proved.status, proved.json["holds"]) == (0, True)
    refuted = spinney("certify", files / "churn.spn", "--bounds", "0.4:0.6", "--json")
    assert (refuted.status, refuted.json["holds"]) == (1, False)
    text = spinney("certify", files / "churn.spn", "--bounds", "0.4:0.6").out
    assert "see the rows below" in text
    claim = next(one for one in refuted.json["claims"] if one["verdict"] == "refuted")
    assert set(claim["counter_example"][0]) == {"age", "plan", "since", "income", "member"}
    said = spinney("certify", files / "churn.spn", "--monotonic", "agge=1")
    assert (said.status, "Did you mean 'age'" in said.err) == (1, True)


def test_certificate_of_a_booster_is_written_and_verifies(spinney, files, tmp_path):
    data, out = files / "customers.csv", tmp_path / "proof.json"
    found = spinney("certify", files / "ada.spn", data, *CHURN, "--out", out, "--json")
    assert found.status == 0, found.err
    assert found.json["n_rows"] == 192
    assert {one["name"] for one in found.json["statements"]} >= {"product", "potential"}
    assert Certificate.from_dict(json.loads(out.read_text())).verify().statements
    unasked = spinney("certify", files / "ada.spn", data, "--json")
    assert unasked.json["statements"] == found.json["statements"]
    csv.write_csv(csv.read_csv(data).slice(1), tmp_path / "other.csv")
    other = spinney("certify", files / "ada.spn", tmp_path / "other.csv", *CHURN)
    assert (other.status, "Give the file that it was trained from" in other.err) == (1, True)
    bare = spinney("certify", files / "ada.spn", "--out", out)
    assert (bare.status, "need the rows" in bare.err) == (1, True)
    boosted = spinney("certify", files / "churn.spn", data, *CHURN)
    assert (boosted.status, "no margins to certify" in boosted.err) == (1, True)


def test_leaderboard_has_everybody_with_intervals_and_times(spinney, tmp_path):
    from tests.unit.cli.conftest import customers

    path = tmp_path / "small.csv"
    csv.write_csv(customers(60).drop_columns(["spent"]), path)
    found = spinney("compare", path, *CHURN, "--folds", "2", "--json").json
    names = {one["model"] for one in found["standings"]}
    assert names >= {"constant", "boosting", "forest", "adaboost", "stacking", "margin-boost"}
    ranked = [one for one in found["standings"] if one["problem"] is None]
    areas = [one["measures"]["auc"]["value"] for one in ranked]
    assert areas == sorted(areas, reverse=True)
    assert ranked[0]["behind"] is None
    assert all(one["behind"][0] <= one["behind"][1] for one in ranked[1:])
    assert all(one["fit_seconds"] > 0 for one in ranked)
    problems = {one["model"]: one["problem"] for one in found["standings"]}
    assert "categorical" in problems["rotation-forest"]
    assert problems["l2-boost"] == "it has no estimator for classification"
    text = spinney("compare", path, *CHURN, "--folds", "2", "--models", "tree,boosting").out
    assert text.splitlines()[1].split()[:2] == ["model", "auc"]
    assert "best" in text


def test_all_families_can_be_compared_and_some_are_by_default(spinney, files):
    data, late = files / "customers.csv", ("--time-limit", "0", "--json")
    usual = spinney("compare", data, *CHURN, *late)
    named = [name for name, family in FAMILIES.items() if family.is_compared]
    assert [one["model"] for one in usual.json["standings"]] == ["constant", *named]
    assert f"{len(named)} of {len(FAMILIES)} families; --models all" in usual.err
    found = spinney("compare", data, *CHURN, "--models", "all", *late).json
    assert {one["model"] for one in found["standings"]} == {"constant", *FAMILIES}
    words = " ".join(spinney("compare", "--help").out.split())
    assert f"or all {len(FAMILIES)}: all (default: {len(named)} of them)" in words
    assert f"{len(named)} of {len(FAMILIES)}, or `--models all`" in REFERENCE.read_text("utf-8")


def test_comparison_keeps_its_time_and_its_rows(spinney, files):
    data = files / "customers.csv"
    late = spinney("compare", data, *CHURN, "--models", "tree", "--time-limit", "0", "--json").json
    assert "time was over" in late["standings"][0]["problem"]
    some = spinney(
        "compare", data, "-t", "spent", "--models", "tree", "--rows", "50", "--json"
    ).json
    assert (some["n_rows"], some["ranked_by"]) == (50, "rmse")
    few = spinney("compare", data, *CHURN, "--rows", "5", "--models", "tree")
    assert (few.status, "too few" in few.err) == (1, True)


@pytest.mark.parametrize("target", ["plan", "spent"])
def test_peers_take_part_with_their_own_categories(target, spinney, files):
    options = ("--models", "tree", "--peers", "--folds", "2", "--rows", "60", "--json")
    found = spinney("compare", files / "customers.csv", "-t", target, *options)
    standings = {one["model"]: one for one in found.json["standings"]}
    assert {"lightgbm", "xgboost", "sklearn-forest", "sklearn-hist-boosting"} <= set(standings)
    assert [one["problem"] for one in standings.values()] == [None] * len(standings)
    assert "Not installed" in found.err


def test_inspect_tells_what_is_in_the_file(spinney, files):
    path = files / "churn.spn"
    found = spinney("inspect", path, "--json").json
    assert found["bytes"] == path.stat().st_size
    assert found["estimator"] == "GradientBoostingClassifier"
    assert found["classes"] == ["no", "yes"]
    assert found["trees"]["count"] == 20
    assert found["changed_parameters"] == ["max_iter", "random_state"]
    kinds = {one["name"]: one["kind"] for one in found["features"]}
    assert kinds["since"] == "date"
    levels = {one["name"]: one["categories"] for one in found["features"]}
    assert sorted(levels["plan"]) == ["basic", "größer", "plus"]
    assert sum(one["bytes"] for one in found["sections"]) < found["bytes"]
    assert found["fingerprint"] == library.load(path).model_.fingerprint
    text = spinney("inspect", path, "--sections").out
    assert "3: basic, größer, plus" in text
    assert "model/forest/threshold" in text
    wrong = spinney("inspect", files / "customers.csv")
    assert (wrong.status, "not a Spinney file" in wrong.err) == (1, True)


def test_committees_go_through_files_like_models(spinney, files, tmp_path):
    out, data = tmp_path / "vote.spn", files / "customers.csv"
    done = spinney("train", data, *CHURN, "-m", "voting", "-o", out, "--json")
    assert done.status == 0, done.err
    assert spinney("inspect", out, "--json").json["model"] == "committee"
    found = spinney("evaluate", out, data, *CHURN, "--held-out", "--json").json
    assert found["measures"] == done.json["measures"]
    assert found["fingerprint"] == done.json["fingerprint"]
    assert len(read(spinney("predict", out, data).out)) == 240
    refused = spinney("explain", out)
    assert (refused.status, "no trees to explain" in refused.err) == (1, True)


def test_report_is_one_file_about_the_rows_held_out(spinney, files, tmp_path):
    out, data = tmp_path / "r.html", files / "customers.csv"
    done = spinney("report", files / "churn.spn", data, *CHURN, "--held-out", "-o", out, "--json")
    assert done.status == 0, done.err
    assert done.json["n_rows"] == 48
    assert out.stat().st_size == done.json["bytes"]
    assert "<html" in out.read_text("utf-8")[:200].lower()
    bare = spinney("report", files / "churn.spn", data, "-o", out)
    assert (bare.status, "240 rows" in bare.err) == (0, True)


def test_rankers_give_scores_and_are_not_measured_without_queries(spinney, files, tmp_path):
    X = parquet.read_table(files / "customers.parquet").select(["age", "income"])
    y = np.arange(X.num_rows) % 2
    model = library.GradientBoostingRanker(max_iter=3).fit(X, y, qid=np.arange(X.num_rows) // 6)
    library.save(model, tmp_path / "order.spn")
    rows = read(spinney("predict", tmp_path / "order.spn", files / "customers.csv").out)
    assert [float(row["prediction"]) for row in rows] == pytest.approx(model.predict(X).tolist())
    done = spinney("predict", tmp_path / "order.spn", files / "customers.csv", "--interval", "0.9")
    assert (done.status != 0, "have no intervals" in done.err) == (True, True)
    done = spinney("evaluate", tmp_path / "order.spn", files / "customers.csv", "-t", "spent")
    assert (done.status != 0, "is measured on queries" in done.err) == (True, True)
