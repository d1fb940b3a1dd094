"""Held-out NDCG of our ranker against LightGBM's and XGBoost's, on a folder of real tables.

    python -m benchmarks.duels.ranking FOLDER [--rows N] [--seeds N] [--folds N] [--only NAME ...]

The folder holds Parquet files with columns ``target`` (relevance) and ``qid``, and an INDEX.csv
(name, task); tables of the task "ranking" are taken. Every seed draws whole queries up to a number
of rows and divides them into folds; each fold is ranked by models of the others. Settings are
equal: 100 rounds of learning rate 0.1, 31 leaves of at least 20 rows, 255 bins, no penalty, no
sampling. All get the same numbers: categories by code, in the order of their names, and relevance
from 0 up. Means are over queries that have a relevant row, each of them the mean over the seeds
that drew it: a query is easy or hard for everybody, so differences are paired by query, and their
standard error is that over queries. ``within`` says whether ours is no more than 0.003 below the
best of LightGBM.
"""

import argparse
import csv
import os
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import N_THREADS, limit_threads
from benchmarks.keeping import Book, table

RESULTS = Path(__file__).parent / "results/ranking.json"
PLACES = (5, 10)
ALLOWED = 0.003
ROUNDS, LEARNING_RATE, LEAVES, MIN_ROWS, MAX_BINS = 100, 0.1, 31, 20, 255
LIGHTGBM = ("LightGBM lambdarank", "LightGBM xendcg")


def read(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    import pandas as pd

    frame = pd.read_parquet(path)
    y, qid = frame.pop("target").to_numpy(np.int64), frame.pop("qid")
    columns = []
    for name in frame:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype) or column.dtype.kind not in "biuf":
            column = column.astype("str").where(column.notna()).astype("category").cat.codes
        columns.append(column.to_numpy(np.float32, na_value=np.nan))
    return np.column_stack(columns), y - y.min(), np.unique(qid, return_inverse=True)[1]


def folds(name: str, qid: np.ndarray, rows: int, seeds: int, n: int) -> Iterator[tuple]:
    """Training and test rows, each query's rows together, as LightGBM and XGBoost need them."""
    by_query = np.split(np.argsort(qid, kind="stable"), np.cumsum(np.bincount(qid))[:-1])
    for seed in range(seeds):
        rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
        drawn, n_drawn = [], 0
        for query in rng.permutation(len(by_query)):
            if n_drawn + len(by_query[query]) <= rows:
                drawn.append(by_query[query])
                n_drawn += len(by_query[query])
        for fold in range(n):
            train = [one for place, one in enumerate(drawn) if place % n != fold]
            yield seed, np.concatenate(train), np.concatenate(drawn[fold::n])


def spinney_scores(X, y, qid, X_test, seed):
    import spinney

    model = spinney.GradientBoostingRanker(
        learning_rate=LEARNING_RATE,
        max_iter=ROUNDS,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=MIN_ROWS,
        max_bins=MAX_BINS,
        random_state=seed,
        n_jobs=N_THREADS,
    )
    return model.fit(X, y, qid=qid).predict(X_test)


def lightgbm_scores(objective: str):
    def scores(X, y, qid, X_test, seed):
        import lightgbm

        model = lightgbm.LGBMRanker(
            objective=objective,
            learning_rate=LEARNING_RATE,
            n_estimators=ROUNDS,
            num_leaves=LEAVES,
            min_child_samples=MIN_ROWS,
            max_bin=MAX_BINS,
            random_state=seed,
            n_jobs=N_THREADS,
            verbose=-1,
        )
        return model.fit(X, y, group=sizes(qid)).predict(X_test)

    return scores


def xgboost_scores(X, y, qid, X_test, seed):
    import xgboost

    model = xgboost.XGBRanker(
        objective="rank:ndcg",
        learning_rate=LEARNING_RATE,
        n_estimators=ROUNDS,
        grow_policy="lossguide",
        max_leaves=LEAVES,
        max_depth=0,
        min_child_weight=1e-3,  # it does not count rows of a leaf
        reg_lambda=0.0,
        max_bin=MAX_BINS,
        tree_method="hist",
        random_state=seed,
        n_jobs=N_THREADS,
    )
    return model.fit(X, y, group=sizes(qid)).predict(X_test)


CONTENDERS = {
    "spinney": spinney_scores,
    "LightGBM lambdarank": lightgbm_scores("lambdarank"),
    "LightGBM xendcg": lightgbm_scores("rank_xendcg"),
    "XGBoost": xgboost_scores,
}


def sizes(qid: np.ndarray) -> np.ndarray:
    """Of queries whose rows are neighbours."""
    starts = np.flatnonzero(np.diff(qid, prepend=-1))
    return np.diff(starts, append=len(qid))


def compare(name: str, folder: Path, rows: int, seeds: int, n_folds: int) -> dict:
    from spinney.theory import ndcg

    X, y, qid = read(folder / f"{name}.parquet")
    found = {who: {f"ndcg@{k}": defaultdict(list) for k in PLACES} for who in CONTENDERS}
    seconds = dict.fromkeys(CONTENDERS, 0.0)
    for seed, train, tested in folds(name, qid, rows, seeds, n_folds):
        has_relevant = np.bincount(qid[tested], y[tested]) > 0
        test = tested[has_relevant[qid[tested]]]
        for who, contender in CONTENDERS.items():
            began = time.perf_counter()
            scores = contender(X[train], y[train], qid[train], X[test], seed)
            seconds[who] += time.perf_counter() - began
            for k in PLACES:
                quality = ndcg(y[test], scores, qid=qid[test], k=k)
                for query, value in zip(np.unique(qid[test]), quality.values, strict=True):
                    found[who][f"ndcg@{k}"][query].append(value)
    scores = {who: {at: by_query(seen) for at, seen in of.items()} for who, of in found.items()}
    return {"scores": scores, "seconds": seconds, "rows": min(rows, len(y))}


def by_query(seen: dict[int, list[float]]) -> list[float]:
    """One number for each query, rounded to what a file of results needs."""
    return [round(float(np.mean(seen[query])), 6) for query in sorted(seen)]


def tables(entries: dict[str, dict]) -> list[str]:
    rows, n_within = [], 0
    for name, entry in entries.items():
        for k in PLACES:
            means = {who: np.mean(of[f"ndcg@{k}"]) for who, of in entry["scores"].items()}
            best = max(LIGHTGBM, key=means.get)
            apart = np.subtract(
                entry["scores"]["spinney"][f"ndcg@{k}"], entry["scores"][best][f"ndcg@{k}"]
            )
            within = apart.mean() >= -ALLOWED
            n_within += within
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            cells = [f"{mean:.4f}" for mean in means.values()]
            difference = f"{apart.mean():+.4f} ± {error:.4f}"
            rows.append(
                [name, f"NDCG@{k}", str(len(apart)), *cells, difference, "yes" if within else "no"]
            )
    heads = ["table", "score", "queries", *CONTENDERS, "to LightGBM's best", "within"]
    title = f"Ranking: within {ALLOWED} of LightGBM's best on {n_within} of {len(rows)} rows"
    return [table(title, heads, rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", action="append")
    parser.add_argument("--quick", action="store_true", help="nothing is kept")
    chosen = parser.parse_args()
    os.environ["OMP_WAIT_POLICY"] = "passive"  # others may work on this machine
    limit_threads()
    book = Book(RESULTS, kept=not chosen.quick)
    with (chosen.folder / "INDEX.csv").open() as file:
        names = [row["name"] for row in csv.DictReader(file) if row["task"] == "ranking"]
    for name in names:
        if chosen.only and not any(part in name for part in chosen.only):
            continue
        book.put(name, compare(name, chosen.folder, chosen.rows, chosen.seeds, chosen.folds))
        print(*tables({name: book.measured[name]}), sep="\n", flush=True)
        print({who: round(taken, 2) for who, taken in book.measured[name]["seconds"].items()})
    book.publish(tables(book.entries()))


if __name__ == "__main__":
    main()
