"""Functional gradient boosting for classes."""

from collections.abc import Mapping
from typing import Any, ClassVar

from spinney.ensembles.class_scores import ClassScores
from spinney.ensembles.fitting import Reading
from spinney.ensembles.functional.boosting import (
    FUNCTIONAL_RULES,
    FunctionalGradientBoosting,
    LossRule,
)
from spinney.ensembles.gradient.classifier import CLASS_WEIGHT
from spinney.ensembles.parameters import Choice, Rule
from spinney.ensembles.weak.checks import gives_classes
from spinney.errors import InvalidInput, InvalidParameter
from spinney.losses.loss import BINARY_LOSSES, loss_named
from spinney.losses.row_loss import MultinomialRowLoss, PointRowLoss, RowLoss
from spinney.losses.user_loss import UserLoss
from spinney.typing import FloatArray, RandomState


class FunctionalGradientBoostingClassifier(ClassScores, FunctionalGradientBoosting):
    """Gradient descent in a space of functions, for classes: any base learner, any loss.

    With a regressor as the base learner each round fits it to the negative gradient of the loss;
    more than two classes take one function per class and round, and the multinomial loss. With a
    classifier as the base learner, or ``oracle="classifier"``, it is AnyBoost: each round asks for
    classes, under weights in proportion to the slope of the loss in the margin, and adds the
    answers, -1 or 1, with the step that lowers the loss most. It begins at 0, and ends when the
    learner finds nothing that lowers the loss. With loss "exponential", step "line_search" and
    ``learning_rate=1`` that is AdaBoost.

    The parameters and attributes are those of :class:`FunctionalGradientBoostingRegressor`, but:

    Parameters
    ----------
    loss : {"logistic", "exponential"}, object or function
        What is minimised. Your own gets targets -1 and 1, and has the link "double_logistic" (the
        score is half the log-odds) or "logistic". More than two classes: "logistic" only, which
        then is the multinomial loss.
    oracle : {"auto", "regressor", "classifier"}
        What the base learner is asked for; "auto": what it is. Without an ``estimator`` classes
        are asked of a decision stump that minimises the weighted error.
    class_weight : None, "balanced" or dict
        Weights of classes, multiplied with ``sample_weight``.

    References
    ----------
    Mason, Baxter, Bartlett and Frean (2000), Boosting algorithms as gradient descent, NIPS 12.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from spinney import FunctionalGradientBoostingClassifier
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> y = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1, 0])
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> model = FunctionalGradientBoostingClassifier(
    ...     stump, loss="exponential", learning_rate=1.0, n_estimators=3
    ... )
    >>> model.fit(X, y).steps_.round(4)
    array([0.4236, 0.6496, 0.752 ])
    >>> model.score(X, y)
    1.0
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": LossRule(tuple(BINARY_LOSSES)),
        "oracle": Choice(("auto", "regressor", "classifier")),
        **FUNCTIONAL_RULES,
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: Any = "logistic",
        oracle: str = "auto",
        step: str = "line_search",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        unseen: str = "missing",
        extra_columns: str = "error",
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.oracle = oracle
        self.step = step
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _row_loss(self, reading: Reading) -> RowLoss:
        n_classes = reading.target.n_outputs
        if n_classes == 2:
            if isinstance(self.loss, str):
                return PointRowLoss(loss_named(self.loss, BINARY_LOSSES))
            return UserLoss(self.loss, link="double_logistic")
        if n_classes > 2 and (self.loss != "logistic" or self._asks_for_classes()):
            what = "oracle='classifier'" if self._asks_for_classes() else f"loss={self.loss!r}"
            raise InvalidInput(
                f"{what} of {type(self).__name__} takes two classes, but y has {n_classes}. More "
                "take loss='logistic' and a regressor as the base learner."
            )
        return MultinomialRowLoss(n_classes)

    def _targets(self, reading: Reading) -> FloatArray:
        if isinstance(self.loss, str):
            return reading.y
        return 2 * reading.y - 1

    def _asks_for_classes(self) -> bool:
        is_one = gives_classes(self.estimator)
        if self.oracle == "regressor" and is_one:
            raise InvalidParameter(
                f"oracle='regressor' of {type(self).__name__}: {type(self.estimator).__name__} is "
                "a classifier. Give a regressor, or oracle='classifier'."
            )
        if self.oracle == "classifier" and self.estimator is not None and not is_one:
            raise InvalidParameter(
                f"oracle='classifier' of {type(self).__name__}: {type(self.estimator).__name__} is "
                "no classifier. Give one, or oracle='regressor'."
            )
        return is_one or self.oracle == "classifier"

    def _signs(self, reading: Reading) -> FloatArray | None:
        if not self._asks_for_classes() or reading.target.n_outputs != 2:
            return None
        return 2 * reading.y - 1
