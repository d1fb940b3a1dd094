"""The histogram boosting of scikit-learn by its own names: change the import, and nothing else.

Names, order and defaults of the parameters are those of scikit-learn 1.9, and ``n_jobs``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from spinney.data.binning import MAX_VALUE_BINS
from spinney.data.schema import FeatureSchema
from spinney.ensembles.fitting import Reading
from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.classifier import CLASS_WEIGHT, GradientBoostingClassifier
from spinney.ensembles.gradient.regressor import LOSS_PARAMETER_RULES, GradientBoostingRegressor
from spinney.ensembles.gradient.rules import BOOSTING_RULES
from spinney.ensembles.parameters import Boolean, Choice, Rule, either
from spinney.errors import InvalidInput
from spinney.losses import Loss
from spinney.randomness import seed_from
from spinney.typing import RandomState, TableLike

_LOSSES = {
    "squared_error": "squared",
    "absolute_error": "absolute",
    "gamma": "gamma",
    "poisson": "poisson",
    "quantile": "quantile",
    "log_loss": "logistic",
}
"""What scikit-learn calls a loss, and what we call it."""

_NOT_OFFERED: Mapping[str, Any] = {
    "growth": "leaf_wise",
    "splitter": "best",
    "min_child_weight": 1e-3,
    "l1_regularization": 0.0,
    "max_delta_step": None,
    "path_smoothing": 0.0,
    "min_split_gain": 0.0,
    "prune_gain": 0.0,
    "leaf_steps": "newton",
    "subsample": 1.0,
    "sampler": "uniform",
    "top_rate": 0.2,
    "bagging_temperature": 1.0,
    "dropout": 0.0,
    "skip_dropout": 0.0,
    "max_dropped": None,
    "max_features_per_tree": 1.0,
    "leaves_count_rows": True,
    "tol_is_a_score": True,
    "category_encoding": "sets",
    "category_pairs": None,
    "date_features": False,
    "text_features": False,
    "unseen": "missing",
    "extra_columns": "error",
    "cv": None,
    "time_budget": None,
}
"""What scikit-learn has no parameter for, and does."""

_RULES = {
    **{name: rule for name, rule in BOOSTING_RULES.items() if name not in _NOT_OFFERED},
    "early_stopping": either(Choice(("auto",)), Boolean()),
}

_DOMAINS = {
    "gamma": "strictly positive y",
    "poisson": "non-negative y and sum(y) > 0",
}


class _DropIn(GradientBoosting):
    """What makes an estimator behave like scikit-learn's."""

    _chooses = False
    loss: str
    max_bins: int
    random_state: RandomState

    def fit(  # type: ignore[override]  # no more than scikit-learn takes
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: TableLike = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Add trees along the negative gradient of the loss.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.
        X_val, y_val, sample_weight_val : optional
            Rows to measure rounds on, for early stopping, in place of rows split off X.

        Returns
        -------
        self
        """
        val = {"X_val": X_val, "y_val": y_val, "sample_weight_val": sample_weight_val}
        return super().fit(X, y, sample_weight, **val)

    def _parameters(self) -> dict[str, Any]:
        params = super()._parameters()
        return {**_NOT_OFFERED, **params, "loss": _LOSSES[params["loss"]]}

    def _outputs_taken(self) -> dict[str, Any]:
        return {"multi_output": False}

    def _draw_seed(self) -> int:
        if isinstance(self.random_state, np.random.Generator):
            return seed_from(self.random_state)
        # The same draw as there, so that the same rows are split off for early stopping.
        drawn = check_random_state(self.random_state).randint(np.iinfo(np.uint32).max, dtype="u8")
        return int(drawn)

    def _check_reading(self, reading: Reading, loss: Loss) -> None:
        _check_cardinalities(reading.schema, self.max_bins)
        try:
            super()._check_reading(reading, loss)
        except InvalidInput as error:
            expected = _DOMAINS.get(self.loss, "other y")
            raise InvalidInput(f"loss={self.loss!r} requires {expected}. {error}") from error


def _check_cardinalities(schema: FeatureSchema, most: int) -> None:
    for place, (name, levels) in enumerate(zip(schema.names, schema.levels, strict=True)):
        if levels is not None and len(levels) > most:
            feature = repr(name) if schema.names_given else f"at index {place}"
            raising = "Raise max_bins, up to 255, or use " if most < MAX_VALUE_BINS else "Use "
            raise InvalidInput(
                f"Categorical feature {feature} is expected to have a cardinality <= {most} but "
                f"actually has a cardinality of {len(levels)}. {raising}"
                "GradientBoostingClassifier or GradientBoostingRegressor; turn numbers that are "
                "written as text into numbers first."
            )


class HistGradientBoostingRegressor(_DropIn, GradientBoostingRegressor):
    """scikit-learn's ``HistGradientBoostingRegressor`` on our engine.

    The parameters are those of scikit-learn 1.9, and ``n_jobs``. What we do differently:
    the model does not depend on threads, text columns are categories, and columns are matched by
    name. Whole weights are repetitions, also for ``min_samples_leaf``; of other weights it counts
    rows, as there.

    Examples
    --------
    >>> from spinney import HistGradientBoostingRegressor
    >>> X = [[float(i)] for i in range(100)]
    >>> HistGradientBoostingRegressor().fit(X, range(100)).score(X, range(100)) > 0.9
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": Choice(tuple(name for name in _LOSSES if name != "log_loss")),
        "quantile": LOSS_PARAMETER_RULES["quantile"],
        **_RULES,
    }

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs


class HistGradientBoostingClassifier(_DropIn, GradientBoostingClassifier):
    """scikit-learn's ``HistGradientBoostingClassifier`` on our engine.

    The parameters are those of scikit-learn 1.9, and ``n_jobs``; what we do differently is said at
    :class:`HistGradientBoostingRegressor`. Besides, ``predict_proba`` has a column per class also
    where y has a single one; scikit-learn's has two then.

    Examples
    --------
    >>> from spinney import HistGradientBoostingClassifier
    >>> X = [[float(i)] for i in range(100)]
    >>> y = [i >= 50 for i in range(100)]
    >>> HistGradientBoostingClassifier().fit(X, y).score(X, y)
    1.0
    """

    _several_labels = False  # as there
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": Choice(("log_loss",)),
        **_RULES,
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: RandomState = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs
