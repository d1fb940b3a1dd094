"""Every contender with no argument but threads and silence, and categories as its manual says.

A contender is a function of the task, the training frame and its target, which gives a function
from a frame to predictions: probabilities per class in the order of sorted labels, or numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

N_THREADS = 1  # losses do not depend on it, and CPU seconds of one thread compare on a busy machine
Predict = Callable[[Any], np.ndarray]
Contender = Callable[[str, Any, np.ndarray], Predict]


def categorical_names(X: Any) -> list[str]:
    """Names of the categorical columns of a frame."""
    return [name for name in X if X[name].dtype == "category"]


def _by_sklearn(model: Any, task: str) -> Predict:
    return model.predict if task == "regression" else model.predict_proba


def spinney(task: str, X: Any, y: np.ndarray) -> Predict:
    """Frames go in as they are."""
    import spinney as ours

    name = "GradientBoostingRegressor" if task == "regression" else "GradientBoostingClassifier"
    return _by_sklearn(getattr(ours, name)(n_jobs=N_THREADS).fit(X, y), task)


def lightgbm(task: str, X: Any, y: np.ndarray) -> Predict:
    """Pandas categoricals are taken as such."""
    import lightgbm as peer

    kind = peer.LGBMRegressor if task == "regression" else peer.LGBMClassifier
    return _by_sklearn(kind(n_jobs=N_THREADS, verbose=-1).fit(X, y), task)


def lightgbm_stopped(task: str, X: Any, y: np.ndarray) -> Predict:
    """Slow rounds, regularised, stopped on 15 % of the rows, then fitted again on all of them."""
    import lightgbm as peer
    from sklearn.model_selection import train_test_split

    kind = peer.LGBMRegressor if task == "regression" else peer.LGBMClassifier
    settings = {
        "learning_rate": 0.04,
        "num_leaves": 16,
        "subsample": 0.75,
        "subsample_freq": 1,
        "colsample_bytree": 0.6,
        "reg_lambda": 3.0,
        "n_jobs": N_THREADS,
        "verbose": -1,
    }
    strata = None if task == "regression" else y
    X_fit, X_stop, y_fit, y_stop = train_test_split(
        X, y, test_size=0.15, random_state=0, stratify=strata
    )
    first = kind(n_estimators=1500, **settings)
    quiet = [peer.early_stopping(50, verbose=False)]
    first.fit(X_fit, y_fit, eval_set=[(X_stop, y_stop)], callbacks=quiet)
    rounds = max(1, first.best_iteration_ or 1500)
    return _by_sklearn(kind(n_estimators=rounds, **settings).fit(X, y), task)


def xgboost(task: str, X: Any, y: np.ndarray) -> Predict:
    """Pandas categoricals, enabled."""
    import xgboost as peer

    kind = peer.XGBRegressor if task == "regression" else peer.XGBClassifier
    return _by_sklearn(kind(n_jobs=N_THREADS, enable_categorical=True).fit(X, y), task)


def catboost(task: str, X: Any, y: np.ndarray) -> Predict:
    """Categories are text, missing ones a text of their own, and their columns are named."""
    import catboost as peer

    names = categorical_names(X)

    def given(frame: Any) -> Any:
        return frame.assign(
            **{name: frame[name].astype(object).fillna("missing").astype(str) for name in names}
        )

    kind = peer.CatBoostRegressor if task == "regression" else peer.CatBoostClassifier
    model = kind(thread_count=N_THREADS, verbose=0, allow_writing_files=False, cat_features=names)
    predict = _by_sklearn(model.fit(given(X), y), task)
    return lambda frame: predict(given(frame))


def hist_gradient_boosting(task: str, X: Any, y: np.ndarray) -> Predict:
    """Categoricals by dtype; columns of more than 255 levels by their codes, as numbers."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    many = [name for name in categorical_names(X) if X[name].nunique() > 255]

    def given(frame: Any) -> Any:
        codes = {name: frame[name].cat.codes.where(frame[name].notna()) for name in many}
        return frame.assign(**codes)

    # Levels that the fold does not have count towards the limit of 255.
    few = {name: X[name].cat.remove_unused_categories() for name in categorical_names(X)}
    kind = HistGradientBoostingRegressor if task == "regression" else HistGradientBoostingClassifier
    predict = _by_sklearn(kind().fit(given(X.assign(**few)), y), task)

    def as_trained(frame: Any) -> Any:
        kept = {name: frame[name].astype(few[name].dtype) for name in few if name not in many}
        return given(frame.assign(**kept))

    return lambda frame: predict(as_trained(frame))


def random_forest(task: str, X: Any, y: np.ndarray) -> Predict:
    """Scikit-learn's random forest: one column per level up to 20 levels, codes beyond."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    names = categorical_names(X)
    few = [name for name in names if X[name].nunique() <= 20]
    many = [name for name in names if name not in few]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), few),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), many),
        remainder="passthrough",
    )
    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return _by_sklearn(make_pipeline(encode, kind(n_jobs=N_THREADS)).fit(X, y), task)


def perpetual(task: str, X: Any, y: np.ndarray) -> Predict:
    """Its budget stays at its default."""
    from perpetual import PerpetualBooster

    objective = "SquaredLoss" if task == "regression" else "LogLoss"
    model = PerpetualBooster(objective=objective, num_threads=N_THREADS).fit(X, y.astype(float))
    if task == "regression":
        return model.predict

    def probabilities(frame: Any) -> np.ndarray:
        found = np.asarray(model.predict_proba(frame))
        return found if found.ndim == 2 else np.column_stack([1.0 - found, found])

    return probabilities


def ydf(task: str, X: Any, y: np.ndarray) -> Predict:
    """Gradient boosted trees; categories are text."""
    import ydf as peer

    names = categorical_names(X)

    def given(frame: Any) -> dict[str, np.ndarray]:
        return {
            name: frame[name].astype(object).fillna("").astype(str).to_numpy()
            if name in names
            else frame[name].to_numpy(np.float32)
            for name in frame
        }

    peer.verbose(0)
    kind = peer.Task.REGRESSION if task == "regression" else peer.Task.CLASSIFICATION
    learner = peer.GradientBoostedTreesLearner(label="target", task=kind, num_threads=N_THREADS)
    target = y.astype(np.float32) if task == "regression" else y.astype(np.int64)
    model = learner.train({**given(X), "target": target})

    def predictions(frame: Any) -> np.ndarray:
        found = np.asarray(model.predict(given(frame)))
        if task == "regression":
            return found
        if found.ndim == 1:
            found = np.column_stack([1.0 - found, found])
        order = np.argsort([int(label) for label in model.label_classes()])
        return found[:, order]

    return predictions


CONTENDERS: dict[str, Contender] = {
    "spinney": spinney,
    "LightGBM": lightgbm,
    "LightGBM stopped": lightgbm_stopped,
    "XGBoost": xgboost,
    "CatBoost": catboost,
    "HistGB": hist_gradient_boosting,
    "perpetual": perpetual,
    "YDF": ydf,
    "random forest": random_forest,
}
PACKAGES = {
    "spinney": "spinney",
    "LightGBM": "lightgbm",
    "LightGBM stopped": "lightgbm",
    "XGBoost": "xgboost-cpu",
    "CatBoost": "catboost",
    "HistGB": "scikit-learn",
    "perpetual": "perpetual",
    "YDF": "ydf",
    "random forest": "scikit-learn",
}
