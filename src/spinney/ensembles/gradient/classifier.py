"""Gradient boosting for classes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from spinney.data.target import Target
from spinney.ensembles.fitting import Reading
from spinney.ensembles.gradient.boosting import GradientBoosting
from spinney.ensembles.gradient.class_offsets import OffsetClassScores
from spinney.ensembles.gradient.labels import (
    factors_of_rows,
    loss_of_labels,
    takes_several_labels,
)
from spinney.ensembles.gradient.rules import AUTOMATIC_RULES
from spinney.ensembles.parameters import Checked, Choice, LossObject, Rule, either
from spinney.errors import InvalidInput
from spinney.losses import Loss, MultinomialLoss
from spinney.losses.custom_loss import CLASS_LINKS, custom_loss
from spinney.losses.loss import BINARY_LOSSES, loss_named
from spinney.model.saved_loss import is_custom
from spinney.typing import FloatArray, RandomState

CLASS_WEIGHT = Checked(
    "None, 'balanced' or a dict from class to weight; of several labels a list of them"
)


class GradientBoostingClassifier(OffsetClassScores, GradientBoosting):
    """Gradient boosting of histogram trees, for classes.

    Two classes take one tree per round and the loss ``"logistic"`` or ``"exponential"``; more take
    one tree per class and round, and with ``"logistic"`` the multinomial loss; ``"exponential"`` is
    for two classes only. Either may have a loss of yours. The other parameters and attributes are
    those of :class:`GradientBoostingRegressor`, and ``class_weight``: None, "balanced" or a dict.
    Class weights multiply the loss; they do not count for ``min_samples_leaf``. A single class is
    learnt too: its score is 0 and its probability 1, everywhere.

    Rows may have several labels, each of classes of its own: ``y`` is then (n_rows, n_labels), such
    as zeros and ones. A round is one tree for all labels, with a vector in every leaf: one number
    for a label of two classes, one per class for any other. ``classes_`` and what ``predict_proba``
    gives are lists with an entry per label, ``class_weight`` is "balanced" or a list, and the
    weights of a row's classes multiply. ``scoring`` is then "loss", None or a callable.

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
    _chooses = True
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": either(Choice(tuple(BINARY_LOSSES)), LossObject()),
        **AUTOMATIC_RULES,
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        *,
        loss: Any = "logistic",
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        growth: str = "leaf_wise",
        splitter: str = "best",
        min_samples_leaf: int | str = "auto",
        min_child_weight: float = 1e-3,
        l2_regularization: float | str = "auto",
        l1_regularization: float = 0.0,
        max_delta_step: float | None = None,
        path_smoothing: float = 0.0,
        min_split_gain: float = 0.0,
        prune_gain: float = 0.0,
        subsample: float | str = "auto",
        sampler: str = "uniform",
        top_rate: float = 0.2,
        bagging_temperature: float = 1.0,
        dropout: float = 0.0,
        skip_dropout: float = 0.0,
        max_dropped: int | None = None,
        max_features: float | str = "auto",
        max_features_per_tree: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        category_encoding: str = "auto",
        category_pairs: Any = "auto",
        date_features: bool | str = "auto",
        text_features: Any = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Any = None,
        unseen: str = "missing",
        extra_columns: str = "error",
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        cv: Any = "auto",
        time_budget: float | None = None,
        scoring: Any = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.growth = growth
        self.splitter = splitter
        self.min_samples_leaf = min_samples_leaf
        self.min_child_weight = min_child_weight
        self.l2_regularization = l2_regularization
        self.l1_regularization = l1_regularization
        self.max_delta_step = max_delta_step
        self.path_smoothing = path_smoothing
        self.min_split_gain = min_split_gain
        self.prune_gain = prune_gain
        self.subsample = subsample
        self.sampler = sampler
        self.top_rate = top_rate
        self.bagging_temperature = bagging_temperature
        self.dropout = dropout
        self.skip_dropout = skip_dropout
        self.max_dropped = max_dropped
        self.max_features = max_features
        self.max_features_per_tree = max_features_per_tree
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.category_encoding = category_encoding
        self.category_pairs = category_pairs
        self.date_features = date_features
        self.text_features = text_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.cv = cv
        self.time_budget = time_budget
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _loss(self, target: Target) -> Loss:
        loss, n_classes = self._parameters()["loss"], target.n_outputs
        if target.label_classes is not None:
            return loss_of_labels(target.label_classes, loss)
        if is_custom(loss) and n_classes > 1:
            allowed = CLASS_LINKS if n_classes == 2 else ("softmax",)
            return custom_loss(loss, allowed, allowed[0], n_classes)
        if n_classes == 2:
            return loss_named(loss, BINARY_LOSSES)
        if loss == "exponential" and n_classes > 2:
            raise InvalidInput(
                "Only binary classification is supported. The type of the target is multiclass: y "
                f"has {n_classes} classes, and loss='exponential' is one of two. Use "
                "loss='logistic', which is multinomial for more classes, or "
                "sklearn.multiclass.OneVsRestClassifier around this."
            )
        return MultinomialLoss(n_classes)

    def _outputs_taken(self) -> dict[str, Any]:
        return {"multi_output": False, "labels_as_codes": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not (
            isinstance(self.loss, str) and self.loss == "exponential"
        )
        takes = self._several_labels and takes_several_labels(self._parameters())
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = takes
        return tags

    def _factors(self, reading: Reading) -> FloatArray | None:
        if self.class_weight is None:
            return None
        return factors_of_rows(self.class_weight, reading)
