"""Cut points and bins of 1 000 000 x 28 float32: Spinney against the peers' own intake.

Equal work: every contender gets the same C-ordered array, finds at most 255 bins per feature and
bins all rows, with two threads. Prints one JSON object.
"""

import json
import sys
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import xgboost
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from spinney.data.binning import Binner
from spinney.data.intake import read_table

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.duels.stopwatch import take_turns
from benchmarks.machine import describe

N_ROWS, N_FEATURES, N_THREADS, REPEATS = 1_000_000, 28, 2, 5


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.float32)

    def spinney_bins():
        table = read_table(X)
        return Binner.learn(table, None, n_threads=N_THREADS).transform(table, n_threads=N_THREADS)

    def lightgbm_dataset():
        settings = {"max_bin": 255, "num_threads": N_THREADS, "verbosity": -1}
        return lightgbm.Dataset(X, y, params=settings).construct()

    contenders = {
        "spinney": spinney_bins,
        "scikit-learn _BinMapper": lambda: _BinMapper(n_threads=N_THREADS).fit_transform(X),
        "LightGBM Dataset": lightgbm_dataset,
        "XGBoost QuantileDMatrix": lambda: xgboost.QuantileDMatrix(
            X, y, max_bin=255, nthread=N_THREADS
        ),
        "CatBoost Pool.quantize": lambda: catboost.Pool(X, y, thread_count=N_THREADS).quantize(
            border_count=254
        ),
    }
    seconds = take_turns(contenders, REPEATS)
    workload = f"{N_ROWS} x {N_FEATURES} float32, 255 bins, {N_THREADS} threads"
    print(json.dumps({"workload": workload, "seconds": seconds, "machine": describe()}))


if __name__ == "__main__":
    main()
