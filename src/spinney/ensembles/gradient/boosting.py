"""Gradient boosting, as estimators."""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from spinney.data.target import Labels
from spinney.data.weights import weights_per_class
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import Problem
from spinney.ensembles.gradient.rounds import RoundSettings, boost_rounds
from spinney.ensembles.parameters import (
    Checked,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Nothing,
    Real,
    Rule,
    Seed,
    either,
)
from spinney.losses import Loss, MultinomialLoss
from spinney.losses.loss import BINARY_LOSSES, REGRESSION_LOSSES, loss_named
from spinney.model import Model, Policy, TreeForest
from spinney.model.forest import Output
from spinney.randomness import seed_from
from spinney.trees.gradient import GradientTreeSettings
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

_BOOSTING_RULES: Mapping[str, Rule] = {
    "learning_rate": Real(0.0, above=True),
    "max_iter": Integer(1),
    "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
    "max_depth": either(Integer(1), Nothing("no limit")),
    "growth": Choice(("leaf_wise", "level_wise")),
    "min_samples_leaf": Integer(1),
    "min_child_weight": Real(0.0),
    "l2_regularization": Real(0.0),
    "l1_regularization": Real(0.0),
    "min_split_gain": Real(0.0),
    "max_features": Fraction(),
    "max_bins": Integer(2, 255),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
    "random_state": Seed(),
    "n_jobs": Jobs(),
}


class _GradientBoosting(Estimator):
    """What the classifier and the regressor share: everything but the loss."""

    _model_class: ClassVar[type[Model]] = TreeForest
    model_: TreeForest

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Add trees along the negative gradient of the loss.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        params = self.get_params(deep=False)
        problem = self._read_problem(X, y, sample_weight, multi_output=False)
        loss = self._loss(problem)
        loss.check(problem.y.reshape(-1))
        settings = _round_settings(params, len(problem.schema.names), self._n_threads())
        self._adopt(
            TreeForest.from_trees(
                boost_rounds(problem, self._factors(problem), loss, settings),
                problem.schema,
                problem.target,
                problem.binned.features,
                output=Output(link=loss.link, aggregate="sum"),
                policy=Policy(unseen=params["unseen"], extra=params["extra_columns"]),
            )
        )
        return self

    @abc.abstractmethod
    def _loss(self, problem: Problem) -> Loss:
        """Choose the loss for what was read."""

    def _factors(self, problem: Problem) -> FloatArray | None:  # noqa: ARG002 - classifiers use it
        """Give the factor of each row's loss; None: all 1."""
        return None

    @property
    def n_iter_(self) -> int:
        """Rounds of boosting: trees per output."""
        check_is_fitted(self)
        return len(self.model_) // len(self.model_.arrays["baseline"])

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain; sums to 1 unless no tree has a split."""
        check_is_fitted(self)
        gains = self.model_.feature_gains()
        return gains / (gains.sum() or 1.0)


class GradientBoostingRegressor(RegressorMixin, _GradientBoosting):
    """Gradient boosting of histogram trees, for numbers.

    The model is the same, bit for bit, for every number of threads and every machine: sums are
    integers, draws are functions of what is drawn, and ``exp`` is our own.

    Parameters
    ----------
    loss : {"squared", "poisson", "gamma", "tweedie"}
        What is minimised; all but "squared" model the logarithm of the mean.
    learning_rate : float
        Factor of every tree.
    max_iter : int
        Rounds of boosting.
    max_leaf_nodes, max_depth : int or None
        Size of a tree.
    growth : {"leaf_wise", "level_wise"}
        Best leaf first, or level by level.
    min_samples_leaf : int
        Least weight of rows in a leaf.
    min_child_weight : float
        Least sum of second derivatives in a leaf; without any, the Newton step of a leaf of rows
        that are already certain would have no bound.
    l2_regularization, l1_regularization, min_split_gain : float
        Penalties of leaf values and of leaves.
    max_features : float
        Share of features drawn at each node to choose from.
    max_bins : int
        Most bins for the values of a numeric feature, up to 255; categories have up to 255.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    unseen : {"missing", "error"}
        What an unknown category means at predict.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    random_state : int, Generator, RandomState or None
        Decides the draws of ``max_features``.
    n_jobs : int or None
        Threads; None for all this process may use.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = GradientBoostingRegressor().fit(X, np.sin(X[:, 0] / 20))
    >>> model.score(X, np.sin(X[:, 0] / 20)) > 0.9
    True
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": Choice(tuple(REGRESSION_LOSSES)),
        **_BOOSTING_RULES,
    }

    def __init__(
        self,
        *,
        loss: str = "squared",
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "leaf_wise",
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        l2_regularization: float = 0.0,
        l1_regularization: float = 0.0,
        min_split_gain: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.growth = growth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.min_split_gain = min_split_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _loss(self, problem: Problem) -> Loss:  # noqa: ARG002 - classifiers look at it
        return loss_named(self.loss, REGRESSION_LOSSES)

    def predict(self, X: TableLike) -> FloatArray:
        """Give the expected value of each row; (n_rows,)."""
        means: FloatArray = self._predictions(X)
        return means[:, 0]


class GradientBoostingClassifier(ClassifierMixin, _GradientBoosting):
    """Gradient boosting of histogram trees, for classes.

    Two classes take one tree per round and the loss ``"logistic"`` or ``"exponential"``; more take
    one tree per class and round, and the multinomial loss. The other parameters are those of
    :class:`GradientBoostingRegressor`, and ``class_weight``: None, "balanced" or a dict. Class
    weights multiply the loss; they do not count for ``min_samples_leaf``.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import GradientBoostingClassifier
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = GradientBoostingClassifier().fit(X, np.where(X[:, 0] < 50, "low", "high"))
    >>> model.predict([[3.0], [97.0]])
    array(['low', 'high'], dtype='<U4')
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": Choice(tuple(BINARY_LOSSES)),
        **_BOOSTING_RULES,
        "class_weight": Checked("None, 'balanced' or a dict from class to weight"),
    }
    classes_: AnyArray

    def __init__(
        self,
        *,
        loss: str = "logistic",
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        growth: str = "leaf_wise",
        min_samples_leaf: int = 20,
        min_child_weight: float = 1e-3,
        l2_regularization: float = 0.0,
        l1_regularization: float = 0.0,
        min_split_gain: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        unseen: str = "missing",
        extra_columns: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.growth = growth
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.min_split_gain = min_split_gain
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _loss(self, problem: Problem) -> Loss:
        if problem.target.n_outputs == 2:
            return loss_named(self.loss, BINARY_LOSSES)
        return MultinomialLoss(problem.target.n_outputs)

    def _factors(self, problem: Problem) -> FloatArray | None:
        if self.class_weight is None:
            return None
        labels = Labels(np.asarray(problem.target.classes), problem.y.astype(np.int32))
        return weights_per_class(self.class_weight, labels, problem.weights)[labels.codes]

    def decision_function(self, X: TableLike) -> FloatArray:
        """Raw scores: (n_rows,) for two classes, (n_rows, n_classes) for more."""
        check_is_fitted(self)
        table = self.model_.conform(X, type(self).__name__)
        scores = self.model_.raw_scores(table, n_threads=self._n_threads())
        return scores[:, 0] if scores.shape[1] == 1 and len(self.classes_) == 2 else scores

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Probability of each class; (n_rows, n_classes)."""
        shares: FloatArray = self._predictions(X)
        return shares

    def predict_log_proba(self, X: TableLike) -> FloatArray:
        """Logarithm of ``predict_proba``."""
        return np.log(self.predict_proba(X))

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        probabilities = self.predict_proba(X)
        labels: AnyArray = self.classes_[probabilities.argmax(axis=1)]
        return labels


def _round_settings(params: Mapping[str, Any], n_features: int, n_threads: int) -> RoundSettings:
    share = params["max_features"]
    return RoundSettings(
        max_rounds=params["max_iter"],
        learning_rate=params["learning_rate"],
        tree=GradientTreeSettings(
            max_leaf_nodes=params["max_leaf_nodes"],
            max_depth=params["max_depth"],
            leaf_wise=params["growth"] == "leaf_wise",
            min_samples_leaf=params["min_samples_leaf"],
            min_child_weight=params["min_child_weight"],
            l1=params["l1_regularization"],
            l2=params["l2_regularization"],
            min_split_gain=params["min_split_gain"],
            max_features=None if share == 1.0 else max(1, int(share * n_features)),
        ),
        seed=seed_from(params["random_state"]),
        n_threads=n_threads,
    )
