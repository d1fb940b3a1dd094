"""Forests against scikit-learn and Intel's extension of it: seconds, held-out scores, file sizes.

    python -m benchmarks.duels.forests [--only NAME ...] [--turns N] [--quick]

All grow 100 trees (isolation forests 200) to full depth with the defaults of scikit-learn on
float32 tables, two threads. The extension (scikit-learn-intelex) bins columns into 256 by default
and takes its threads from the environment. The fastest of interleaved turns counts. Held-out scores
stand beside the seconds: accuracy or R² on 20 000 other rows.
"""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import N_THREADS
from benchmarks.duels.program import run_workloads
from benchmarks.duels.stopwatch import take_turns
from benchmarks.duels.tables import draw_binary, draw_squared, numeric_table
from benchmarks.keeping import table

RESULTS = Path(__file__).parent / "results/forests.json"


@dataclass(frozen=True)
class Workload:
    """A family of forests, what is done with one, and the ratios to reach."""

    family: str
    kind: str  # fit, predict or store
    n_rows: int
    to_reach: Mapping[str, float]
    n_features: int = 20
    n_trees: int = 100
    turns: int = 3

    def reduced(self) -> "Workload":
        """The same, small enough to show in seconds that everything runs."""
        return replace(self, n_rows=400, n_trees=5, turns=1)


INTEL = "scikit-learn-intelex"
SKLEARN = "scikit-learn"
WORKLOADS = {
    "fit RandomForestClassifier, 40 k x 20": Workload(
        "RandomForestClassifier", "fit", 40_000, {INTEL: 2.5, SKLEARN: 12}
    ),
    "fit RandomForestRegressor, 27 k x 20": Workload(
        "RandomForestRegressor", "fit", 27_000, {INTEL: 4, SKLEARN: 10}
    ),
    "fit ExtraTreesClassifier, 40 k x 20": Workload(
        "ExtraTreesClassifier", "fit", 40_000, {INTEL: 2.5, SKLEARN: 2.5}
    ),
    "predict RandomForestClassifier, 20 k rows": Workload(
        "RandomForestClassifier", "predict", 40_000, {INTEL: 4, SKLEARN: 16}, turns=9
    ),
    "fit IsolationForest, 40 k x 20": Workload(
        "IsolationForest", "fit", 40_000, {SKLEARN: 5}, n_trees=200, turns=5
    ),
    "score IsolationForest, 20 k rows": Workload(
        "IsolationForest", "predict", 40_000, {SKLEARN: 10}, n_trees=200, turns=5
    ),
    "load RandomForestClassifier from a file": Workload(
        "RandomForestClassifier", "store", 40_000, {SKLEARN: 10}, turns=9
    ),
}
LEAST_SIZE_RATIO = 8


def peers() -> dict[str, object]:
    import sklearn.ensemble

    import spinney

    found = {"spinney": spinney, SKLEARN: sklearn.ensemble}
    try:
        os.environ.setdefault("SKLEARNEX_VERBOSE", "ERROR")
        import sklearnex.ensemble

        found[INTEL] = sklearnex.ensemble
    except ImportError:
        print(f"{INTEL} is not installed: its column stays empty.")
    return found


def make(workload: Workload, module: object):
    cls = getattr(module, workload.family, None)
    if cls is None:
        return None
    return cls(n_estimators=workload.n_trees, n_jobs=N_THREADS, random_state=0)


def fitted(model, X: np.ndarray, y: np.ndarray):
    return model.fit(X) if hasattr(model, "score_samples") else model.fit(X, y)


def asked(model, X: np.ndarray) -> Callable[[], np.ndarray]:
    for name in ("predict_proba", "score_samples", "predict"):
        if hasattr(model, name):
            return partial(getattr(model, name), X)
    raise TypeError(type(model).__name__)


def store(model, path: Path) -> Callable[[], object]:
    """Write a model; give what reads it."""
    if type(model).__module__.startswith("spinney"):
        from spinney.io import load, save

        save(model, path)
        return partial(load, path)
    import joblib

    joblib.dump(model, path)
    return partial(joblib.load, path)


def duel(workload: Workload) -> dict:
    draw = draw_squared if workload.family.endswith("Regressor") else draw_binary(sharpness=3)
    both = numeric_table(2 * workload.n_rows, workload.n_features, draw)
    (X, y), (X_new, y_new) = both.split(workload.n_rows)
    X_new, y_new = X_new[:20_000], y_new[:20_000]
    models = {name: make(workload, module) for name, module in peers().items()}
    models = {name: model for name, model in models.items() if model is not None}
    entry = {"to_reach": dict(workload.to_reach), "kind": workload.kind}
    with tempfile.TemporaryDirectory() as folder:
        if workload.kind == "fit":
            contenders = {name: partial(fitted, model, X, y) for name, model in models.items()}
        else:
            for model in models.values():
                fitted(model, X, y)
            contenders = {name: asked(model, X_new) for name, model in models.items()}
        if workload.kind == "store":
            paths = {name: Path(folder) / name for name in models}
            contenders = {name: store(model, paths[name]) for name, model in models.items()}
            entry["bytes"] = {name: path.stat().st_size for name, path in paths.items()}
        turns = take_turns(contenders, workload.turns)
    entry |= {"seconds": turns.fastest(), "others": turns.others}
    if workload.kind == "fit" and workload.family != "IsolationForest":
        entry["scores"] = {name: float(m.score(X_new, y_new)) for name, m in models.items()}
    return entry


def summary(entries: Mapping[str, dict]) -> str:
    rows = []
    for name, entry in entries.items():
        seconds, scores = entry["seconds"], entry.get("scores", {})
        mine = seconds["spinney"]
        for peer, ratio in entry["to_reach"].items():
            shown = [f"{1e3 * seconds[peer]:.1f} ms", f"{seconds[peer] / mine:.2f}"]
            score = [f"{scores[who]:.4f}" if who in scores else "" for who in ("spinney", peer)]
            rows.append(
                [name, f"{1e3 * mine:.1f} ms", peer]
                + (shown if peer in seconds else ["", ""])
                + [f"≥ {ratio:g}", *score, f"{entry['others']:.0%}"]
            )
    heads = ["workload", "spinney", "peer", "peer's", "ratio", "to reach", "score", "peer's score"]
    return table("Forests, two threads", [*heads, "others"], rows)


def sizes(entries: Mapping[str, dict]) -> str:
    rows = [
        [name, who, f"{size / 1e6:.2f} MB", f"{size / entry['bytes']['spinney']:.1f}"]
        for name, entry in entries.items()
        for who, size in entry.get("bytes", {}).items()
    ]
    heads = ["model", "file of", "size", f"to ours (scikit-learn's: ≥ {LEAST_SIZE_RATIO})"]
    return table("Files", heads, rows)


def tables(entries: Mapping[str, dict]) -> list[str]:
    shown = [summary(entries)]
    if any("bytes" in entry for entry in entries.values()):
        shown.append(sizes(entries))
    return shown


if __name__ == "__main__":
    started = time.perf_counter()
    run_workloads(__doc__, RESULTS, WORKLOADS, duel, tables)
    print(f"{time.perf_counter() - started:.0f} s")
