"""Held-out scores of our forests against scikit-learn's exact ones, on a folder of real tables.

    python -m benchmarks.duels.forest_scores FOLDER [--rows N] [--seeds N] [--only NAME ...]

The folder holds Parquet files with a column ``target`` and an INDEX.csv (name, task, score_metric).
Every seed draws rows, splits them 3 : 1 and grows 100 trees by each contender with its defaults.
Both get the same numbers: categories by code, in the order of their names. ``within`` says whether
our mean is at least scikit-learn's less one standard error of scikit-learn's mean over the seeds.
Chance alone puts some tables outside: scikit-learn's forests of other seeds are asked the same.
"""

import argparse
import csv
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import N_THREADS, limit_threads
from benchmarks.keeping import Book, table

RESULTS = Path(__file__).parent / "results/forest_scores.json"
CONTENDERS = ("spinney", "scikit-learn", "other seeds")
OTHER_SEEDS = 1000  # further on
TASKS = {"binary": "Classifier", "multiclass": "Classifier", "regression": "Regressor"}


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    import pandas as pd

    frame = pd.read_parquet(path)
    y = frame.pop("target").to_numpy()
    columns = []
    for name in frame:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype) or column.dtype.kind not in "biuf":
            ordered = column.astype("str").where(column.notna()).astype("category")
            codes = ordered.cat.codes.to_numpy(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(column.to_numpy(np.float64, na_value=np.nan))
    return np.column_stack(columns).astype(np.float32), y


def splits(name: str, X, y, rows: int, seeds: int) -> Iterator[tuple]:
    for seed in range(seeds):
        rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
        drawn = rng.permutation(len(y))[:rows]
        n_train = 3 * len(drawn) // 4
        train, test = drawn[:n_train], drawn[n_train:]
        yield seed, X[train], y[train], X[test], y[test]


def score(model, X, y, metric: str) -> float:
    if metric.lower() in {"auc", "roc_auc"}:
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))
    return float(model.score(X, y))


def compare(row: dict, folder: Path, rows: int, seeds: int) -> dict:
    import sklearn.ensemble

    import spinney

    X, y = read(folder / f"{row['name']}.parquet")
    family = f"RandomForest{TASKS[row['task']]}"
    scores: dict[str, list[float]] = {who: [] for who in CONTENDERS}
    for seed, X_train, y_train, X_test, y_test in splits(row["name"], X, y, rows, seeds):
        for who in CONTENDERS:
            module = spinney if who == "spinney" else sklearn.ensemble
            own = seed + OTHER_SEEDS * (who == "other seeds")
            model = getattr(module, family)(n_jobs=N_THREADS, random_state=own)
            model.fit(X_train, y_train)
            scores[who].append(score(model, X_test, y_test, row["score_metric"]))
    return {"metric": row["score_metric"], "scores": scores}


def tables(entries: dict[str, dict]) -> list[str]:
    rows, n_within, n_others, differences = [], 0, 0, []
    for name, entry in entries.items():
        ours, theirs, others = (np.array(entry["scores"][who]) for who in CONTENDERS)
        error = theirs.std(ddof=1) / np.sqrt(len(theirs))
        n_others += others.mean() - theirs.mean() >= -error
        paired = (ours - theirs).std(ddof=1) / np.sqrt(len(ours))
        difference = ours.mean() - theirs.mean()
        within = difference >= -error
        n_within += within
        differences.append(difference / (paired or 1.0))
        rows.append(
            [
                name,
                entry["metric"],
                f"{ours.mean():.4f}",
                f"{theirs.mean():.4f} ± {error:.4f}",
                f"{difference:+.4f} ± {paired:.4f}",
                "yes" if within else "no",
            ]
        )
    heads = ["table", "score", "spinney", "scikit-learn", "difference", "within"]
    chance = f"scikit-learn's of other seeds on {n_others}"
    mean = float(np.mean(differences)) if differences else 0.0
    title = f"Forests: within on {n_within} of {len(rows)} tables, {chance}"
    return [table(f"{title}, mean difference {mean:+.2f} of its errors", heads, rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", action="append")
    chosen = parser.parse_args()
    limit_threads()
    book = Book(RESULTS, kept=True)
    with (chosen.folder / "INDEX.csv").open() as file:
        index = [row for row in csv.DictReader(file) if row["task"] in TASKS]
    for row in index:
        if chosen.only and not any(part in row["name"] for part in chosen.only):
            continue
        book.put(row["name"], compare(row, chosen.folder, chosen.rows, chosen.seeds))
        print(*tables({row["name"]: book.measured[row["name"]]}), sep="\n", flush=True)
    book.publish(tables(book.entries()))


if __name__ == "__main__":
    main()
