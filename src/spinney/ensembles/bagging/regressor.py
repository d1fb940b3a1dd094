"""Bagging for numbers."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from spinney.ensembles.bagging.bagging import BAGGING_RULES
from spinney.ensembles.bagging.member_table import takes_several
from spinney.ensembles.bagging.online import OnlineBagging, learns_online
from spinney.ensembles.number_answers import ScoresNumbers
from spinney.ensembles.parameters import Choice, Rule
from spinney.ensembles.trees.decision_tree import DecisionTreeRegressor
from spinney.typing import FloatArray, RandomState, TableLike


class BaggingRegressor(ScoresNumbers, RegressorMixin, OnlineBagging):
    """Bagging: clones of one learner, each on a sample of the rows, whose numbers are averaged.

    The parameters are those of :class:`BaggingClassifier`, except that ``aggregation`` is "mean",
    or "median" (the lower one of two) for members of which some are far off, with one number per
    row. The base learner is :class:`DecisionTreeRegressor` unless one is given. Out-of-bag answers
    are ``oob_prediction_``, scores are R²; ``aggregation_`` is ``aggregation``.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import BaggingRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> bag = BaggingRegressor(n_estimators=50, random_state=0, oob_score=True).fit(X, X[:, 0])
    >>> bool(bag.oob_score_ > 0.99)
    True
    """

    _task = "regression"
    _oob_name: ClassVar[str] = "oob_prediction_"
    _default_base = DecisionTreeRegressor
    _rules: ClassVar[Mapping[str, Rule]] = {
        **BAGGING_RULES,
        "aggregation": Choice(("mean", "median")),
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        sampler: Any = None,
        block_length: int | None = None,
        aggregation: str = "mean",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.sampler = sampler
        self.block_length = block_length
        self.aggregation = aggregation

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        several = takes_several(self.estimator_) and self.aggregation == "mean"
        tags.target_tags.multi_output = several
        return tags

    @available_if(learns_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Let members learn from rows that arrived, each counted by Poisson draws of mean 1.

        Offered where the base learner has ``partial_fit``. However rows are divided into portions,
        a member counts them the same.

        Parameters
        ----------
        X, y : rows
        sample_weight : numbers, optional
            Whole weights are repetitions.

        Returns
        -------
        self
        """
        self._learn_more(X, y, None, sample_weight)
        return self

    def predict(self, X: TableLike, **params: Any) -> FloatArray:
        """Mean (or median) of what the members say; (n_rows,) or (n_rows, n_outputs).

        ``params`` are routed to ``predict`` of the members.
        """
        numbers: FloatArray = self._predictions(X, self._routed("predict", params))
        return numbers[:, 0] if numbers.shape[1] == 1 else numbers
