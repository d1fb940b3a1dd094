"""What docs/guide/pains.md claims and no other test holds; and that its tests exist."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney
from spinney._native import _ext
from spinney.errors import SpinneyError
from spinney.explain import shap_values

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guide/pains.md").read_text(encoding="utf-8")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
Y = X[:, 0] + np.sin(2 * X[:, 1])


def test_every_pain_names_a_test_and_every_test_exists():
    solved = PAGE.split("\n## Not solved yet")[0]
    pains = re.split(r"\n\*\*", solved)[1:]
    assert len(pains) >= 25
    for pain in pains:
        for part in ("Elsewhere: ", "Here: ", r"Test:\s+`tests/"):
            assert re.search(rf"^\* {part}", pain, re.MULTILINE), pain
    named = re.findall(r"`(tests/[\w/]+\.(?:py|cpp))::(\w+)`", PAGE)
    assert len(named) == PAGE.count("::")
    for path, name in named:
        heads = (f"\ndef {name}(", f"\nTEST({name})")
        assert any(head in (ROOT / path).read_text(encoding="utf-8") for head in heads), name


def mixed_frame(n_rows=300):
    """Numbers, text, categories, dates and booleans, all but the last with missing values."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "town": rng.choice(["Ayr", "Bath", "nan", "York"], n_rows),
            "soil": pd.Categorical(rng.choice(["clay", "sand"], n_rows)),
            "when": pd.date_range("2020-01-01", periods=n_rows, freq="D"),
            "mark": rng.random(n_rows) > 0.5,
        }
    )
    target = (frame["size"] + 2 * (frame["town"] == "York")).to_numpy()
    for step, name in ((7, "size"), (8, "town"), (5, "soil"), (9, "when")):
        frame.loc[::step, name] = None
    return frame, target


LINEAR = {"L2BoostRegressor", "RotationForestClassifier", "RotationForestRegressor"}


@pytest.mark.parametrize("name", spinney.ESTIMATORS)
def test_every_ensemble_takes_the_frame_as_it_is(name):
    frame, target = mixed_frame(120)
    if name.endswith("Classifier"):
        target = np.where(target > 0.3, "high", "low")
    elif name.endswith("Ranker"):
        target = np.where(target > 0.3, 1, 0)
    model = getattr(spinney, name)()
    if name in LINEAR:  # they add features up, and a town is no number
        with pytest.raises(SpinneyError, match="'town'"):
            model.fit(frame, target)
        return
    model.fit(frame, target)
    if name == "RandomTreesEmbedding":
        return
    new = frame.iloc[:9, ::-1].copy()  # columns are matched by name
    assert model.predict(new).tobytes() == model.predict(frame.iloc[:9]).tobytes()
    new["town"] = "Zennor"
    assert len(model.predict(new)) == 9


def test_a_category_that_sorts_after_nan_is_learnt():
    frame, target = mixed_frame()
    for model in (spinney.GradientBoostingRegressor(), spinney.RandomForestRegressor()):
        found = model.fit(frame[["size", "town"]], target).predict(frame[["size", "town"]])
        known = frame.notna().all(axis=1).to_numpy()
        assert np.corrcoef(found[known], target[known])[0, 1] > 0.97


def test_rounds_are_chosen_within_cross_validation_and_pipelines():
    model = spinney.GradientBoostingRegressor(early_stopping="cv", max_iter=200, random_state=0)
    scores = cross_val_score(make_pipeline(StandardScaler(), model), X, Y, cv=3)
    assert scores.min() > 0.8
    assert model.fit(X, Y).n_iter_ < 200


@pytest.mark.parametrize("name", ["GradientBoosting", "RandomForest", "AdaBoost", "Bagging"])
def test_labels_may_be_anything(name):
    codes = np.digitize(Y, [-0.7, 0.7])
    model = getattr(spinney, f"{name}Classifier")(random_state=0)
    expected = model.fit(X, codes).predict(X)
    assert set(expected) == {0, 1, 2}
    for given in (["no", "perhaps", "yes"], [-5, 0, 70], [1.0, 2.0, 9.0]):
        labels = np.array(given)
        said = model.fit(X, labels[codes]).predict(X)
        assert said.dtype == labels.dtype
        assert said.tolist() == labels[expected].tolist()
        assert model.classes_.tolist() == labels.tolist()


def test_the_file_of_a_forest_is_a_tenth_of_the_usual_pickle(tmp_path):
    rows = RNG.normal(size=(2000, 10))
    labels = (rows[:, 0] + RNG.normal(size=2000) > 0).astype(int)
    ours = spinney.RandomForestClassifier(20, random_state=0).fit(rows, labels)
    spinney.save(ours, tmp_path / "forest.spn")
    theirs = len(pickle.dumps(TheirForest(20, random_state=0).fit(rows, labels)))
    assert (tmp_path / "forest.spn").stat().st_size < theirs / 10


def test_twenty_thousand_levels_need_no_setting():
    shop = RNG.integers(0, 20_000, 40_000)
    frame = pd.DataFrame({"shop": shop.astype(str), "size": RNG.normal(size=40_000)})
    target = frame["size"].to_numpy() + (shop < 2000)
    for model in (
        spinney.GradientBoostingRegressor(max_iter=20),
        spinney.RandomForestRegressor(5, random_state=0),
        spinney.IsolationForest(n_estimators=5, random_state=0),
    ):
        assert np.isfinite(model.fit(frame, target).predict(frame[:100])).all()


def test_the_drop_in_has_importances_and_shapley_values():
    model = spinney.HistGradientBoostingRegressor(max_iter=30).fit(X, Y)
    assert set(np.argsort(-model.feature_importances_)[:2]) == {0, 1}
    found = shap_values(model, X[:20])
    sums = (found.base + np.sum(found.values, axis=1)).ravel()
    assert np.allclose(sums, model.predict(X[:20]), rtol=0, atol=1e-12)


def test_signs_of_zero_change_nothing():
    plain = spinney.GradientBoostingRegressor(max_iter=30).fit(X, Y)
    signed = spinney.GradientBoostingRegressor(max_iter=30, monotonic_cst=[0] * 4).fit(X, Y)
    assert signed.model_ == plain.model_


def test_one_row_passes_few_hands():
    """Calls are counted, not time: a row costs what is done before the trees are asked."""
    model = spinney.GradientBoostingRegressor(max_iter=100).fit(X, Y)
    answer, row, table = model.compile(), X[0], X[:1]
    for call, most in ((lambda: answer(row), 5), (lambda: model.predict(table), 40)):
        call()
        seen = []
        sys.setprofile(lambda *event, seen=seen: seen.append(event[1]))
        try:
            call()
        finally:
            sys.setprofile(None)
        assert 2 <= seen.count("call") + seen.count("c_call") <= most


def test_memory_stays_where_it_is():
    frame = pd.DataFrame(RNG.normal(size=(20_000, 10))).add_prefix("c")
    target = frame["c0"].to_numpy()

    def resident_after(n_fits):
        for _ in range(n_fits):
            spinney.GradientBoostingRegressor(max_iter=5).fit(frame, target).predict(frame)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    before = resident_after(5)
    assert resident_after(40) - before < 16_000_000  # forty copies of the table would be 64 MB


def test_nothing_is_written_to_the_terminal_or_the_folder(tmp_path):
    code = """
import numpy as np, spinney
X = np.random.default_rng(0).normal(size=(200, 3)); y = X[:, 0] > 0
for name in ("GradientBoosting", "RandomForest", "AdaBoost", "Stacking", "Bagging"):
    model = getattr(spinney, name + "Classifier")().fit(X, y)
    model.predict(X)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_extension_asks_for_no_openmp():
    compiled = Path(_ext.__file__).read_bytes()
    assert not re.search(rb"lib[gi]?omp[\w.-]*\.(so|dylib)", compiled)
