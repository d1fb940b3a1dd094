"""Cut points and bins of 1 000 000 x 28 float32: Spinney against the peers' own intake.

    python -m benchmarks.duels.binning [--quick]

Equal work: every contender gets the same C-ordered array, finds at most 255 bins per feature and
bins all rows, with two threads.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from benchmarks.duels.peers import MAX_BINS, N_THREADS, limit_threads
from benchmarks.duels.stopwatch import take_turns
from benchmarks.keeping import Book, table

RESULTS = Path(__file__).parent / "results/binning.json"
N_ROWS, N_FEATURES, REPEATS = 1_000_000, 28, 6


def contenders(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    import catboost
    import lightgbm
    import xgboost
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    from spinney.data.binning import Binner
    from spinney.data.intake import read_table

    def spinney_bins():
        rows = read_table(X)
        return Binner.learn(rows, None, n_threads=N_THREADS).transform(rows, n_threads=N_THREADS)

    def lightgbm_dataset():
        settings = {"max_bin": MAX_BINS, "num_threads": N_THREADS, "verbosity": -1}
        return lightgbm.Dataset(X, y, params=settings).construct()

    return {
        "spinney": spinney_bins,
        "scikit-learn _BinMapper": lambda: _BinMapper(n_threads=N_THREADS).fit_transform(X),
        "LightGBM Dataset": lightgbm_dataset,
        "XGBoost QuantileDMatrix": lambda: xgboost.QuantileDMatrix(
            X, y, max_bin=MAX_BINS, nthread=N_THREADS
        ),
        "CatBoost Pool.quantize": lambda: catboost.Pool(X, y, thread_count=N_THREADS).quantize(
            border_count=MAX_BINS - 1
        ),
    }


def details(name: str, entry: Mapping) -> str:
    seconds = entry["seconds"]
    rows = [
        [contender, f"{1000 * taken:.0f}", f"{taken / seconds['spinney']:.1f}"]
        for contender, taken in sorted(seconds.items(), key=lambda item: item[1])
    ]
    return table(f"Binning: {name}", ["contender", "ms", "ratio to spinney"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tiny table; nothing is kept")
    chosen = parser.parse_args()
    limit_threads()
    n_rows = N_ROWS // 100 if chosen.quick else N_ROWS
    X = np.random.default_rng(0).normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.float32)
    book = Book(RESULTS, kept=not chosen.quick)
    turns = take_turns(contenders(X, y), REPEATS)
    name = f"{n_rows} x {N_FEATURES} float32, {MAX_BINS} bins, {N_THREADS} threads"
    book.put(name, {"seconds": turns.fastest(), "all_seconds": turns.seconds})
    book.publish(details(name, entry) for name, entry in book.entries().items())


if __name__ == "__main__":
    main()
