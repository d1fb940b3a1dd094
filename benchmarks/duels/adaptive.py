"""AdaBoost against scikit-learn: seconds, ratios, equal trees, and how time grows.

    python -m benchmarks.duels.adaptive [--only NAME ...] [--turns N] [--quick]

Both boost trees of the same depth by Gini impurity on a float32 table, so every split and every
weight of a vote must agree; how far the weights are apart is part of the table. Trees of depth 3
are apart by some 1e-3: in the first round already a node can cut off one row of the rarer class by
two features, and both cuts gain the same to the last digit. Scikit-learn takes the feature it drew
first, ours is the lowest; `tests/unit/ensembles/adaptive/test_ties.py` shows that they part at such
ties alone. Scikit-learn's AdaBoost has one thread and no parameter for more.

Growth is the slope of log time over log size, from an eighth of the rows, features or rounds to all
of them. A round passes over the rows a few times whatever the features are (errors, exponentials,
weights), which costs as much as to look at some twelve features; so growth in features is measured
where there are five times as many at least. To sort the rows costs as much as some 16 rounds; so
growth in rounds is measured from 100 on. Weights of 20 000 and of 160 000 rows, four bytes each,
lie in the same cache. The fastest of interleaved turns counts.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import N_THREADS
from benchmarks.duels.program import run_workloads
from benchmarks.duels.stopwatch import take_turns
from benchmarks.keeping import table

RESULTS = Path(__file__).parent / "results/adaptive.json"


@dataclass(frozen=True)
class Workload:
    """A table, what is done with it, and the ratio to reach."""

    kind: str  # fit, predict or growth
    n_rows: int = 40_000
    n_features: int = 20
    rounds: int = 200
    depth: int = 1
    turns: int = 2
    to_reach: float = 60

    def reduced(self) -> "Workload":
        """The same, small enough to show in seconds that everything runs."""
        return replace(self, n_rows=800, n_features=8, rounds=8, turns=1)


WORKLOADS = {
    "fit stumps, 40 k x 20, 200 rounds": Workload("fit"),
    "fit trees of depth 2, 40 k x 20, 50 rounds": Workload("fit", rounds=50, depth=2, to_reach=15),
    "fit trees of depth 3, 40 k x 20, 50 rounds": Workload("fit", rounds=50, depth=3, to_reach=15),
    "predict 20 k rows with 200 stumps": Workload("predict", n_rows=20_000, turns=9),
    "growth of stumps, 160 k x 480, 800 rounds": Workload("growth", 160_000, 480, 800, turns=3),
}


def draw(workload: Workload) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that stumps learn slowly: inside and outside of a ball, with noise."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((workload.n_rows, workload.n_features), np.float32)
    inner = X[:, : workload.n_features // 2]
    noise = generator.standard_normal(workload.n_rows)
    return X, (inner**2).sum(axis=1) + noise > inner.shape[1]


def our_model(workload: Workload):
    from spinney import AdaBoostClassifier, DecisionTreeClassifier

    tree = None if workload.depth == 1 else DecisionTreeClassifier(max_depth=workload.depth)
    return AdaBoostClassifier(tree, n_estimators=workload.rounds, n_jobs=N_THREADS)


def their_model(workload: Workload):
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=workload.depth)
    return AdaBoostClassifier(tree, n_estimators=workload.rounds, random_state=0)


def fastest_fit(workload: Workload, X, y) -> float:
    best = float("inf")
    for _ in range(workload.turns):
        start = time.perf_counter()
        our_model(workload).fit(X, y)
        best = min(best, time.perf_counter() - start)
    return best


def growth(workload: Workload) -> dict:
    """Slopes from an eighth to the whole: in rows and features of few rounds, in rounds of few
    features."""
    X, y = draw(workload)
    few, eighth = (replace(workload, rounds=max(workload.rounds // n, 1)) for n in (32, 8))
    eighth_rows, eighth_features = len(X) // 8, max(X.shape[1] // 8, 1)
    narrow = np.ascontiguousarray(X[:, :eighth_features])
    whole = fastest_fit(few, X, y)
    ratios = {
        "rows": whole / fastest_fit(few, X[:eighth_rows], y[:eighth_rows]),
        "features": whole / fastest_fit(few, narrow, y),
        "rounds": fastest_fit(workload, narrow, y) / fastest_fit(eighth, narrow, y),
    }
    return {"slopes": {name: float(np.log(ratio) / np.log(8)) for name, ratio in ratios.items()}}


def duel(workload: Workload) -> dict:
    if workload.kind == "growth":
        return growth(workload)
    X, y = draw(workload)
    ours, theirs = our_model(workload), their_model(workload)
    if workload.kind == "predict":
        ours.fit(X, y)
        theirs.fit(X, y)
        contenders = {
            "spinney": partial(ours.predict_proba, X),
            "scikit-learn": partial(theirs.predict_proba, X),
        }
    else:
        contenders = {
            "spinney": lambda: ours.fit(X, y),
            "scikit-learn": lambda: theirs.fit(X, y),
        }
    turns = take_turns(contenders, workload.turns)
    n = min(len(ours.estimator_weights_), len(theirs.estimator_weights_))
    apart = np.abs(ours.estimator_weights_[:n] - theirs.estimator_weights_[:n]).max()
    return {
        "to_reach": workload.to_reach,
        "seconds": turns.fastest(),
        "others": turns.others,
        "weights_apart": float(apart),
    }


def summary(entries: Mapping[str, dict]) -> str:
    rows = []
    for name, entry in entries.items():
        if "slopes" in entry:
            continue
        mine, peer = entry["seconds"]["spinney"], entry["seconds"]["scikit-learn"]
        rows.append(
            [
                name,
                f"{1e3 * mine:.1f} ms",
                f"{1e3 * peer:.0f} ms",
                f"{peer / mine:.1f}",
                f"≥ {entry['to_reach']:g}",
                f"{entry['weights_apart']:.0e}",
                f"{entry['others']:.0%}",
            ]
        )
    heads = ["workload", "spinney", "scikit-learn", "ratio", "to reach", "weights apart", "others"]
    return table("AdaBoost, two threads", heads, rows)


def growth_table(entries: Mapping[str, dict]) -> str:
    rows = [
        [name, what, f"{slope:.2f}", "0.9 to 1.1"]
        for name, entry in entries.items()
        for what, slope in entry.get("slopes", {}).items()
    ]
    return table("Slope of log time", ["workload", "over", "slope", "to reach"], rows)


def tables(entries: Mapping[str, dict]) -> list[str]:
    shown = [summary(entries)] if any("seconds" in e for e in entries.values()) else []
    if any("slopes" in e for e in entries.values()):
        shown.append(growth_table(entries))
    return shown


if __name__ == "__main__":
    run_workloads(__doc__, RESULTS, WORKLOADS, duel, tables)
