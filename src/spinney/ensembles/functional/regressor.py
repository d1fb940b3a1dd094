"""Functional gradient boosting for numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from spinney.ensembles.fitting import Reading
from spinney.ensembles.functional.boosting import (
    FUNCTIONAL_RULES,
    FunctionalGradientBoosting,
    LossRule,
)
from spinney.ensembles.gradient.regressor import LOSS_PARAMETER_RULES
from spinney.ensembles.parameters import Rule
from spinney.ensembles.weak.checks import check_squares
from spinney.errors import InvalidParameter
from spinney.losses.loss import REGRESSION_LOSSES, loss_named
from spinney.losses.row_loss import PointRowLoss, RowLoss
from spinney.losses.user_loss import UserLoss
from spinney.typing import FloatArray, RandomState, TableLike

_PARAMETER_OF = {"quantile": "quantile", "huber": "huber_delta", "tweedie": "tweedie_power"}


class FunctionalGradientBoostingRegressor(RegressorMixin, FunctionalGradientBoosting):
    """Gradient descent in a space of functions, for numbers: any base learner, any loss.

    Each round fits the base learner to the negative gradient of the loss at the training rows, and
    adds what it found to the sum. It begins with the best constant. For histogram trees alone,
    :class:`GradientBoostingRegressor` is much faster.

    Parameters
    ----------
    estimator : regressor or None
        Who fits the gradient; None for a tree of depth 3. ``spinney.DecisionTreeRegressor`` with
        no other limit than its size is grown exactly, on rows sorted once; any regressor of
        scikit-learn will do. One that takes no ``sample_weight`` is fitted to rows drawn by their
        weights, if these are not all equal.
    loss : {"squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"}, object or \
function
        What is minimised; "poisson", "gamma" and "tweedie" model the logarithm of the mean. Your
        own: an object with ``value(y, scores)`` and ``gradient(y, scores)``, one number per row
        each, and perhaps ``link = "log"``; or a function that gives both. Its gradient is compared
        with differences of its values once.
    quantile, huber_delta, tweedie_power : float
        The quantile that loss "quantile" estimates; from where loss "huber" grows linearly; the
        power of the mean that is the variance under loss "tweedie", between 1 and 2.
    step : {"line_search", "shrink", "per_region"}
        How far to go along the function found: as far as the loss falls; 1; or, for trees, each
        leaf as far as the loss of its rows falls, whatever the tree has learnt there. Where a loss
        falls for ever, scores move by 10.
    learning_rate : float
        Factor of every step.
    n_estimators : int
        Rounds; fewer are made if the gradient becomes 0.
    subsample : float
        Share of rows drawn for each round, without replacement; its function and its step look at
        those alone.
    categorical_features, unseen, extra_columns
        As in :class:`DecisionTreeRegressor`; for trees of ours.
    verbose : int
        1 shows a progress bar in terminals and notebooks, 2 lines elsewhere, too.
    random_state : int, Generator, RandomState or None
        Decides draws of rows, and seeds foreign learners.
    n_jobs : int or None
        Threads; None for all this process may use.

    Attributes
    ----------
    model_ : TreeForest or MemberSum
        The frozen model. Only one of trees of ours can be saved to a file.
    estimators_ : list
        The fitted base learner of each round.
    steps_ : ndarray
        The step of each round, before ``learning_rate``; 1 for "per_region", whose steps are the
        values of leaves.
    train_score_ : ndarray
        Negative mean loss before the first round and after each.
    n_iter_ : int
        Rounds.
    trace_ : DescentTrace
        Loss, edge and step of every round.

    References
    ----------
    Friedman (2001), Greedy function approximation, Annals of Statistics 29.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import FunctionalGradientBoostingRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> y = [1.0, 3.0, 5.0, 7.0, 900.0]  # a line, and a mistake
    >>> model = FunctionalGradientBoostingRegressor(
    ...     LinearRegression(), loss="absolute", learning_rate=1.0, n_estimators=1
    ... )
    >>> model.fit(X, y).predict(X)
    array([1., 3., 5., 7., 9.])
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "loss": LossRule(tuple(REGRESSION_LOSSES)),
        **LOSS_PARAMETER_RULES,
        **FUNCTIONAL_RULES,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        loss: Any = "squared",
        quantile: float | None = None,
        huber_delta: float = 1.0,
        tweedie_power: float = 1.5,
        step: str = "line_search",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.quantile = quantile
        self.huber_delta = huber_delta
        self.tweedie_power = tweedie_power
        self.step = step
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _row_loss(self, reading: Reading) -> RowLoss:  # noqa: ARG002 - classifiers look at it
        if not isinstance(self.loss, str):
            return UserLoss(self.loss, link="identity")
        point = loss_named(self.loss, REGRESSION_LOSSES)
        name = _PARAMETER_OF.get(self.loss)
        if name is None:
            return PointRowLoss(point)
        if getattr(self, name) is None:
            raise InvalidParameter(
                f"{name}=None of {type(self).__name__}: loss={self.loss!r} needs it. Give a number "
                "between 0 and 1; 0.5 is the median."
            )
        return PointRowLoss(replace(point, parameter=float(getattr(self, name))))

    def _targets(self, reading: Reading) -> FloatArray:
        if self.loss == "squared":
            check_squares(reading.y, type(self).__name__)
        return np.ascontiguousarray(reading.y[:, 0])

    def predict(self, X: TableLike) -> FloatArray:
        """Give the expected value of each row; (n_rows,)."""
        expected: FloatArray = self._predictions(X)[:, 0]
        return expected

    def staged_predict(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``predict`` would say after each round."""
        for scores in self._staged_scores(X):
            yield self._through_link(scores)[:, 0]
