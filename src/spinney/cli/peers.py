"""Other libraries, each with its own way of taking categories; imported only when compared."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.typing import AnyArray, FloatArray

_MOST_LEVELS = 254
"""Categories of a feature that scikit-learn's histogram boosting takes."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A learner of another library, with its defaults."""

    name: str
    package: str
    make: Callable[[str, int], Any]
    """Of task and seed."""
    frame: Callable[[Any], Any] = lambda frame: frame
    """From a frame with categorical columns to what the library takes."""

    @property
    def is_installed(self) -> bool:
        """Whether it can be imported."""
        return importlib.util.find_spec(self.package) is not None

    def fit(self, problem: Any, frame: Any, rows: AnyArray, seed: int) -> Any:
        """Fit on some rows."""
        learner = self.make(problem.task, seed)
        weights = {} if problem.weights is None else {"sample_weight": problem.weights[rows]}
        learner.fit(frame.iloc[rows], problem.y[rows], **weights)
        return learner


def peer_frame(X: Any) -> Any:
    """Give an Arrow table as a pandas frame: categories for text, numbers for everything else."""
    import pandas as pd
    import pyarrow as pa

    types, columns = pa.types, {}
    for place, name in enumerate(X.column_names):
        column = X.column(place)
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_string(column.type) or types.is_large_string(column.type):
            columns[name] = pd.Categorical(column.to_pylist())
        elif types.is_temporal(column.type):
            is_days = types.is_date32(column.type)
            ticks = column.cast(pa.int32()) if is_days else column.cast(pa.int64())
            columns[name] = ticks.cast(pa.float64()).to_numpy()
        elif types.is_boolean(column.type):
            columns[name] = column.cast(pa.uint8()).cast(pa.float64()).to_numpy()
        else:
            columns[name] = column.cast(pa.float64()).to_numpy()
    frame = pd.DataFrame(columns)
    frame.columns = [f"f{place}" for place in range(frame.shape[1])]  # some refuse odd names
    return frame


def _is_category(frame: Any, name: Any) -> bool:
    return str(frame[name].dtype) == "category"


def _codes(frame: Any, *, beyond: int = -1) -> Any:
    """Turn categories into numbers, of columns with more than ``beyond``; missing stays missing."""
    frame = frame.copy()
    for name in frame.columns:
        if _is_category(frame, name) and len(frame[name].cat.categories) > beyond:
            codes = frame[name].cat.codes.to_numpy().astype(np.float64)
            frame[name] = np.where(codes < 0, np.nan, codes)
    return frame


def _texts(frame: Any) -> Any:
    frame = frame.copy()
    for name in frame.columns:
        if _is_category(frame, name):
            frame[name] = frame[name].astype(object).where(frame[name].notna(), "missing")
    return frame


def _lightgbm(task: str, seed: int) -> Any:
    import lightgbm

    make = lightgbm.LGBMClassifier if task == "classification" else lightgbm.LGBMRegressor
    return make(random_state=seed, verbose=-1)


def _xgboost(task: str, seed: int) -> Any:
    import xgboost

    make = xgboost.XGBClassifier if task == "classification" else xgboost.XGBRegressor
    return make(random_state=seed, enable_categorical=True)


class _CatBoost:
    """CatBoost is told which columns are categories when it is fitted."""

    def __init__(self, task: str, seed: int) -> None:
        import catboost

        is_classes = task == "classification"
        make = catboost.CatBoostClassifier if is_classes else catboost.CatBoostRegressor
        self._own = make(random_seed=seed, verbose=False, allow_writing_files=False)

    def fit(self, X: Any, y: AnyArray, **weights: Any) -> None:
        categories = [name for name in X.columns if X[name].dtype == object]
        self._own.fit(X, y, cat_features=categories, **weights)
        self.classes_ = getattr(self._own, "classes_", None)

    def predict(self, X: Any) -> Any:
        return self._own.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self._own.predict_proba(X)


def _hist_boosting(task: str, seed: int) -> Any:
    from sklearn import ensemble

    is_classes = task == "classification"
    make = (
        ensemble.HistGradientBoostingClassifier
        if is_classes
        else ensemble.HistGradientBoostingRegressor
    )
    return make(random_state=seed, categorical_features="from_dtype")


def _forest(task: str, seed: int) -> Any:
    from sklearn import ensemble

    is_classes = task == "classification"
    make = ensemble.RandomForestClassifier if is_classes else ensemble.RandomForestRegressor
    return make(random_state=seed, n_jobs=-1)


def _hessboost(task: str, seed: int) -> Any:
    from hessboost.sklearn import HessboostClassifier, HessboostRegressor

    make = HessboostClassifier if task == "classification" else HessboostRegressor
    return make(random_state=seed)


def _perpetual(task: str, seed: int) -> Any:
    from perpetual import PerpetualClassifier, PerpetualRegressor

    if task == "classification":
        return PerpetualClassifier(seed=seed)
    return PerpetualRegressor(objective="SquaredLoss", seed=seed)


class _YDF:
    """YDF takes a frame with the target in it."""

    def __init__(self, task: str, seed: int) -> None:
        import ydf

        ydf.verbose(0)
        self._is_classes = task == "classification"
        own = ydf.Task.CLASSIFICATION if self._is_classes else ydf.Task.REGRESSION
        self._settings = {"label": "target", "task": own, "random_seed": seed}
        self._make = ydf.GradientBoostedTreesLearner

    def fit(self, X: Any, y: AnyArray, sample_weight: Any = None) -> None:
        table = X.assign(target=y.astype(str) if self._is_classes else y)
        if sample_weight is not None:
            table["weight"] = sample_weight
            self._settings["weights"] = "weight"
        self._own = self._make(**self._settings).train(table)
        if self._is_classes:
            self.classes_ = np.array([int(text) for text in self._own.label_classes()])

    def predict(self, X: Any) -> Any:
        return self._own.predict(X)

    def predict_proba(self, X: Any) -> Any:
        said = np.asarray(self._own.predict(X))
        return np.column_stack([1 - said, said]) if said.ndim == 1 else said


PEERS: Mapping[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer("lightgbm", "lightgbm", _lightgbm),
        Peer("xgboost", "xgboost", _xgboost),
        Peer("catboost", "catboost", _CatBoost, _texts),
        Peer(
            "sklearn-hist-boosting",
            "sklearn",
            _hist_boosting,
            lambda f: _codes(f, beyond=_MOST_LEVELS),
        ),
        Peer("sklearn-forest", "sklearn", _forest, _codes),
        Peer("hessboost", "hessboost", _hessboost),
        Peer("perpetual", "perpetual", _perpetual),
        Peer("ydf", "ydf", _YDF, _texts),
    )
}
"""Every peer that ``compare --peers`` looks for."""


def class_shares(learner: Any, X: Any, n_classes: int) -> FloatArray:
    """Ask for probabilities of all classes, also of those a fold did not show."""
    said = np.asarray(learner.predict_proba(X), np.float64)
    shares = np.zeros((len(said), n_classes))
    shares[:, np.asarray(learner.classes_).astype(np.int64)] = said
    return shares
