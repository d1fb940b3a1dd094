"""Gradient boosting against the peers: equal settings, construction and fit together.

Learning rate 0.1, 31 leaves, 255 bins, at least 20 rows per leaf, two threads. Prints one JSON
object per workload, with the seconds of the fastest turn and the loss on held-out rows.
"""

import json
import sys
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import xgboost
from hessboost.sklearn import HessboostClassifier, HessboostRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_squared_error

import spinney

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.duels.stopwatch import take_turns
from benchmarks.machine import describe

N_THREADS = 2
WORKLOADS = {  # name: (rows, features, classes or 0 for regression, rounds, turns)
    "1 k x 10, binary": (1_000, 10, 2, 100, 9),
    "4.7 k x 20, binary": (4_700, 20, 2, 100, 7),
    "133 k x 28, binary": (133_000, 28, 2, 100, 3),
    "200 k x 40, squared error": (200_000, 40, 0, 100, 2),
    "80 k x 54, 7 classes": (80_000, 54, 7, 50, 2),
    "1 M x 28, binary": (1_000_000, 28, 2, 100, 1),
}


def make_table(n_rows: int, n_features: int, n_classes: int):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n_rows, n_features)).astype(np.float32)
    score = X[:, 0] + np.abs(X[:, 1]) + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] * (X[:, 4] > 0)
    noisy = score + rng.normal(size=len(X))
    if n_classes == 0:
        return X, noisy
    return X, np.searchsorted(np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy)


def contenders(n_classes: int, rounds: int):
    """Estimators with scikit-learn's interface, by name."""
    is_class = n_classes > 0
    ours = spinney.GradientBoostingClassifier if is_class else spinney.GradientBoostingRegressor
    light = lightgbm.LGBMClassifier if is_class else lightgbm.LGBMRegressor
    extreme = xgboost.XGBClassifier if is_class else xgboost.XGBRegressor
    hist = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    cat = catboost.CatBoostClassifier if is_class else catboost.CatBoostRegressor
    hess = HessboostClassifier if is_class else HessboostRegressor
    lossguide = {
        "n_estimators": rounds,
        "learning_rate": 0.1,
        "grow_policy": "lossguide",
        "max_leaves": 31,
        "max_depth": 0,
        "max_bin": 255,
        "reg_lambda": 0,
        "n_jobs": N_THREADS,
    }
    light_settings = {"n_estimators": rounds, "n_jobs": N_THREADS, "verbose": -1}
    return {
        "spinney": lambda: ours(max_iter=rounds, n_jobs=N_THREADS),
        "LightGBM": lambda: light(**light_settings),
        "LightGBM quantised": lambda: light(**light_settings, use_quantized_grad=True),
        "XGBoost lossguide": lambda: extreme(**lossguide, tree_method="hist"),
        "scikit-learn HistGB": lambda: hist(max_iter=rounds, early_stopping=False),
        "CatBoost": lambda: cat(
            iterations=rounds,
            learning_rate=0.1,
            thread_count=N_THREADS,
            verbose=False,
            allow_writing_files=False,
        ),
        "hessboost": lambda: hess(**lossguide),
    }


def duel(name: str) -> dict:
    n_rows, n_features, n_classes, rounds, turns = WORKLOADS[name]
    X, y = make_table(n_rows, n_features, n_classes)
    fitted = {}

    def turn(peer, make):
        def fit():
            fitted[peer] = make().fit(X[:n_rows], y[:n_rows])

        return fit

    peers = contenders(n_classes, rounds)
    seconds = take_turns({peer: turn(peer, make) for peer, make in peers.items()}, turns)
    losses = {}
    for peer, model in fitted.items():
        if n_classes:
            losses[peer] = log_loss(y[n_rows:], model.predict_proba(X[n_rows:]))
        else:
            losses[peer] = mean_squared_error(y[n_rows:], model.predict(X[n_rows:]))
    return {"workload": name, "seconds": seconds, "losses": losses, "machine": describe()}


def main() -> None:
    for name in sys.argv[1:] or list(WORKLOADS):
        print(json.dumps(duel(name)), flush=True)


if __name__ == "__main__":
    main()
