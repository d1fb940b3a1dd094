"""Shapley values against the peers: seconds, ratios, and how far the numbers are apart.

    python -m benchmarks.duels.explaining [--only NAME ...] [--turns N] [--quick]

The shap package explains our own trees, handed over as arrays, so its numbers must be ours; it has
one thread and no parameter for more. LightGBM and XGBoost explain models of their own, fitted with
equal settings (benchmarks/duels/peers.py), with two threads. Fitting and handing over trees is not
timed; reading the table is. The fastest of interleaved turns counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import (
    N_THREADS,
    Task,
    lightgbm_model,
    spinney_model,
    xgboost_model,
)
from benchmarks.duels.program import run_workloads
from benchmarks.duels.stopwatch import take_turns
from benchmarks.duels.tables import Table, draw_binary, numeric_table
from benchmarks.keeping import table

RESULTS = Path(__file__).parent / "results/explaining.json"
N_TRAIN, N_FEATURES = 50_000, 28
LOGISTIC, LARGE = Task("logistic"), Task("logistic", leaves=255)


@dataclass(frozen=True)
class Workload:
    """What to explain, how often, and the ratio to reach."""

    kind: str  # values, interactions or background
    n_rows: int
    turns: int
    task: Task = LOGISTIC
    n_background: int = 100
    n_train: int = N_TRAIN
    to_reach: float = 3

    def reduced(self) -> "Workload":
        """The same, small enough to show in seconds that everything runs."""
        small = replace(self.task, rounds=3, leaves=8)
        return replace(self, n_rows=20, turns=1, task=small, n_train=1_000, n_background=5)


WORKLOADS = {
    "values, 10 k x 28, 31 leaves": Workload("values", 10_000, 3),
    "values, 1 k x 28, 255 leaves": Workload("values", 1_000, 3, LARGE),
    "values, 1 row x 28, 31 leaves": Workload("values", 1, 30),
    "interactions, 200 x 28, 31 leaves": Workload("interactions", 200, 3),
    "against 100 rows, 2 k x 28, 31 leaves": Workload("background", 2_000, 3),
    "against 1 k rows, 200 x 28, 31 leaves": Workload("background", 200, 3, n_background=1_000),
}


def trees_for_shap(forest) -> dict:
    """Our trees as the dictionary that shap.TreeExplainer takes; numeric and without gaps."""
    trees = []
    for tree, weight in zip(forest, forest.arrays["tree_weight"], strict=True):
        is_leaf = tree.right < 0
        left = np.where(is_leaf, -1, np.arange(1, len(tree) + 1))
        right = tree.right.astype(np.int64)
        trees.append(
            {
                "children_left": left,
                "children_right": right,
                "children_default": np.where(tree.missing_left == 1, left, right),
                "features": np.where(is_leaf, -2, tree.feature),
                "thresholds": tree.threshold.astype(np.float64),
                "values": tree.values * weight,
                "node_sample_weight": tree.weight.copy(),  # shap writes into it
            }
        )
    return {"trees": trees, "base_offset": forest.arrays["baseline"][0]}


def shap_contender(workload: Workload, forest, rows, background) -> Callable[[], object]:
    import shap

    trees = trees_for_shap(forest)
    wide = np.asarray(rows, np.float64)
    if workload.kind == "background":
        every = shap.maskers.Independent(  # which otherwise keeps a sample of 100 rows
            np.asarray(background, np.float64), max_samples=len(background)
        )
        explainer = shap.TreeExplainer(trees, every)
    else:
        explainer = shap.TreeExplainer(trees, feature_perturbation="tree_path_dependent")
    if workload.kind == "interactions":
        return partial(explainer.shap_interaction_values, wide)
    return partial(explainer.shap_values, wide, check_additivity=False)


def spinney_contender(workload: Workload, fitted, rows, background) -> Callable[[], object]:
    from spinney.explain import shap_interactions, shap_values

    if workload.kind == "interactions":
        return lambda: shap_interactions(fitted, rows, n_jobs=N_THREADS).values[..., 0]
    against = background if workload.kind == "background" else None
    return lambda: shap_values(fitted, rows, background=against, n_jobs=N_THREADS).values[..., 0]


def booster_contenders(workload: Workload, train: Table, rows) -> dict[str, Callable[[], object]]:
    """LightGBM has no interactions, and neither takes a background."""
    if workload.kind == "background":
        return {}
    import xgboost

    tree = xgboost_model(workload.task).fit(*train).get_booster()
    asked = "pred_interactions" if workload.kind == "interactions" else "pred_contribs"
    found = {"XGBoost": lambda: tree.predict(xgboost.DMatrix(rows), **{asked: True})}
    if workload.kind == "values":
        booster = lightgbm_model(workload.task).fit(*train).booster_
        found["LightGBM"] = partial(booster.predict, rows, pred_contrib=True, num_threads=N_THREADS)
    return found


def duel(workload: Workload) -> dict:
    draw = partial(numeric_table, n_features=N_FEATURES, draw=draw_binary(sharpness=1.5))
    train, held_out = draw(workload.n_train + workload.n_rows).split(workload.n_train)
    rows, background = held_out.X, train.X[: workload.n_background]
    fitted = spinney_model(workload.task).fit(*train)
    contenders = {
        "spinney": spinney_contender(workload, fitted, rows, background),
        "shap": shap_contender(workload, fitted.model_, rows, background),
        **booster_contenders(workload, train, rows),
    }
    turns = take_turns(contenders, workload.turns)
    ours, theirs = turns.results["spinney"], np.asarray(turns.results["shap"])
    return {
        "to_reach": workload.to_reach,
        "seconds": turns.fastest(),
        "all_seconds": turns.seconds,
        "others": turns.others,
        "difference": float(np.abs(ours - theirs.reshape(ours.shape)).max() / np.abs(ours).max()),
    }


def summary(entries: Mapping[str, dict]) -> str:
    rows = []
    for name, entry in entries.items():
        seconds = entry["seconds"]
        peers = sorted((peer for peer in seconds if peer != "spinney"), key=seconds.__getitem__)
        ratios = [f"{seconds[peer]:.3f} {peer}" for peer in peers]
        rows.append(
            [
                name,
                f"{seconds['spinney']:.4f}",
                ", ".join(ratios),
                f"{seconds[peers[0]] / seconds['spinney']:.1f}",
                f"≥ {entry['to_reach']:g}",
                f"{entry['difference']:.1e}",
                f"{entry['others']:.0%}",
            ]
        )
    header = ["workload", "spinney s", "peers s", "ratio to the best", "to reach"]
    header += ["largest difference from shap", "other processes"]
    return table("Explaining", header, rows)


def tables(entries: Mapping[str, dict]) -> list[str]:
    return [summary(entries)]


if __name__ == "__main__":
    run_workloads(__doc__, RESULTS, WORKLOADS, duel, tables)
