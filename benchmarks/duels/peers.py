"""The contenders of boosting with equal settings, each as a fresh scikit-learn style estimator.

For all: learning rate 0.1, 255 bins, leaf-wise trees, at least 20 rows per leaf, second derivatives
of at least 1e-3 per leaf, no penalty, no sampling, no early stopping, two threads. What a peer
cannot say, or says in another way, is noted where it is set and listed in benchmarks/README.md.

Libraries are imported when they are first needed, so that ``limit_threads`` comes before.
"""

import math
import os
from dataclasses import dataclass

import numpy as np

N_THREADS = 2
LEARNING_RATE, MAX_BINS, MIN_ROWS = 0.1, 255, 20
REFERENCES = ("LightGBM", "XGBoost", "HistGB")  # whose held-out loss is the measure of ours


@dataclass(frozen=True)
class Task:
    """What to fit."""

    loss: str  # logistic, multinomial, squared, poisson, gamma or tweedie
    rounds: int = 100
    leaves: int = 31
    min_hessian: float = 1e-3  # least sum of second derivatives in a leaf
    start_hessian: float = 1.0  # mean second derivative of a row at the constant start

    @property
    def is_classes(self) -> bool:
        return self.loss in {"logistic", "multinomial"}


def limit_threads() -> None:
    """Two OpenMP threads, for scikit-learn, which has no parameter for it."""
    os.environ["OMP_NUM_THREADS"] = str(N_THREADS)


def start_hessian(loss: str, y: np.ndarray) -> float:
    """XGBoost's mean second derivative of a row at the best constant."""
    if loss == "logistic":
        return float(y.mean() * (1 - y.mean()))
    if loss == "multinomial":
        shares = np.bincount(y) / len(y)
        return float(2 * (shares * (1 - shares)).min())
    return {"poisson": float(y.mean()), "tweedie": float(y.mean()) ** 0.5}.get(loss, 1.0)


def spinney_model(task: Task):
    import spinney

    settings = {
        "learning_rate": LEARNING_RATE,
        "max_iter": task.rounds,
        "max_leaf_nodes": task.leaves,
        "min_samples_leaf": MIN_ROWS,
        "min_child_weight": task.min_hessian,
        "l2_regularization": 0.0,
        "subsample": 1.0,
        "max_features": 1.0,
        "early_stopping": False,
        "max_bins": MAX_BINS,
        "n_jobs": N_THREADS,
    }
    if task.is_classes:
        return spinney.GradientBoostingClassifier(**settings)
    return spinney.GradientBoostingRegressor(loss=task.loss, **settings)


def lightgbm_model(task: Task, **more):
    """LightGBM's own treatment of categories (cat_l2 = cat_smooth = 10) stays."""
    import lightgbm

    settings = {
        "n_estimators": task.rounds,
        "learning_rate": LEARNING_RATE,
        "num_leaves": task.leaves,
        "max_bin": MAX_BINS,
        "min_child_samples": MIN_ROWS,
        "min_child_weight": task.min_hessian,
        "n_jobs": N_THREADS,
        "verbose": -1,
        **more,
    }
    if task.is_classes:
        return lightgbm.LGBMClassifier(**settings)
    if task.loss == "poisson":
        settings["poisson_max_delta_step"] = 1e-6  # a penalty of steps; 0 is not allowed
    objective = {"squared": "regression"}.get(task.loss, task.loss)
    return lightgbm.LGBMRegressor(objective=objective, **settings)


def quantised_lightgbm_model(task: Task):
    return lightgbm_model(task, use_quantized_grad=True)


def extreme_settings(task: Task) -> dict:
    """Of XGBoost and hessboost, which count second derivatives and not rows.

    Least is what 20 rows have at the constant start: exactly 20 rows for squared error. Of classes
    it is at most the default, 1, because rows that are nearly certain have next to nothing: that
    allows leaves of 4 rows of two balanced classes at the start.
    """
    enough = MIN_ROWS * task.start_hessian
    if task.is_classes:
        enough = max(task.min_hessian, min(enough, 1.0))
    settings = {
        "n_estimators": task.rounds,
        "learning_rate": LEARNING_RATE,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": task.leaves,
        "max_depth": 0,
        "max_bin": MAX_BINS,
        "reg_lambda": 0,
        "min_child_weight": enough,
        "n_jobs": N_THREADS,
    }
    if task.loss == "poisson":
        settings["max_delta_step"] = 0  # 0.7 otherwise, for this loss alone
    if not task.is_classes:
        names = {"squared": "reg:squarederror", "poisson": "count:poisson"}
        settings["objective"] = names.get(task.loss, f"reg:{task.loss}")
    return settings


def xgboost_model(task: Task):
    import xgboost

    make = xgboost.XGBClassifier if task.is_classes else xgboost.XGBRegressor
    return make(**extreme_settings(task), enable_categorical=True)


def hessboost_model(task: Task):
    from hessboost.sklearn import HessboostClassifier, HessboostRegressor

    make = HessboostClassifier if task.is_classes else HessboostRegressor
    return make(**extreme_settings(task))


def hist_model(task: Task):
    """Its least sum of second derivatives is 1e-3 and no parameter."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    settings = {
        "learning_rate": LEARNING_RATE,
        "max_iter": task.rounds,
        "max_leaf_nodes": task.leaves,
        "min_samples_leaf": MIN_ROWS,
        "max_bins": MAX_BINS,
        "early_stopping": False,
    }
    if task.is_classes:
        return HistGradientBoostingClassifier(**settings)
    loss = {"squared": "squared_error"}.get(task.loss, task.loss)
    return HistGradientBoostingRegressor(loss=loss, **settings)


class CatBoostOfFrames:
    """Tells CatBoost which columns of a frame are categories."""

    def __init__(self, model) -> None:
        self.model = model
        self.predict = model.predict
        self.predict_proba = getattr(model, "predict_proba", None)

    def fit(self, X, y):
        names = list(X.select_dtypes("category").columns) if hasattr(X, "columns") else None
        self.model.fit(X, y, cat_features=names)
        return self


def catboost_model(task: Task):
    """Symmetric trees, its fastest kind, of as many leaves: 32 for 31; they know no least rows."""
    import catboost

    settings = {
        "iterations": task.rounds,
        "learning_rate": LEARNING_RATE,
        "depth": math.ceil(math.log2(task.leaves)),
        "border_count": MAX_BINS - 1,
        "l2_leaf_reg": 0,
        "random_strength": 0,
        "bootstrap_type": "No",
        "boosting_type": "Plain",
        "leaf_estimation_iterations": 1,
        "max_ctr_complexity": 1,  # no products of categories: nobody else makes them
        "thread_count": N_THREADS,
        "verbose": False,
        "allow_writing_files": False,
    }
    make = catboost.CatBoostClassifier if task.is_classes else catboost.CatBoostRegressor
    return CatBoostOfFrames(make(**settings))


CONTENDERS = {
    "spinney": spinney_model,
    "LightGBM": lightgbm_model,
    "LightGBM quantised": quantised_lightgbm_model,
    "XGBoost": xgboost_model,
    "hessboost": hessboost_model,
    "CatBoost": catboost_model,
    "HistGB": hist_model,
}


def held_out_loss(task: Task, model, X, y: np.ndarray) -> float:
    """Mean log loss, squared error or half deviance of the predictions."""
    if task.is_classes:
        chances = np.asarray(model.predict_proba(X), np.float64)[np.arange(len(y)), y]
        return float(-np.log(np.maximum(chances, 1e-7)).mean())
    return mean_loss(task.loss, y, predicted(model, X))


def predicted(model, X) -> np.ndarray:
    return np.asarray(model.predict(X), np.float64)


def mean_loss(loss: str, y: np.ndarray, mean: np.ndarray) -> float:
    """Squared error or half the mean deviance; 0 when every y is its mean."""
    if loss == "squared":
        return float(((y - mean) ** 2).mean())
    mean = np.maximum(mean, 1e-12)
    if loss == "poisson":
        own = np.where(y > 0, y * np.log(np.maximum(y, 1e-12)), 0.0)
        return float((own - y * np.log(mean) - y + mean).mean())
    if loss == "gamma":
        return float((y / mean - 1 - np.log(y / mean)).mean())
    # Tweedie of power 1.5
    return float((-4 * np.sqrt(y) + 2 * y / np.sqrt(mean) + 2 * np.sqrt(mean)).mean())
