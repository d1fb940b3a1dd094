"""AdaBoost for numbers: AdaBoost.R2."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import get_tags

from spinney.data.fixed_point import exact_sum
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.parameters import (
    Boolean,
    Checked,
    Choice,
    Integer,
    Jobs,
    Real,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.trees.decision_tree import DecisionTreeRegressor
from spinney.ensembles.weak.base_trees import DEFAULT_DEPTH, exact_tree_plan, member_estimator
from spinney.ensembles.weak.checks import check_base, check_squares
from spinney.ensembles.weak.foreign import ForeignLearner, flat_rows, foreign_rows
from spinney.ensembles.weak.importances import mean_importances
from spinney.ensembles.weak.learners import SumOutput, TreeLearner
from spinney.ensembles.weak.trace_files import check_round_numbers
from spinney.losses.row_weights import RowCounts, RowWeights
from spinney.model import Model, Policy
from spinney.model.median import Median, MedianForest, MemberMedian
from spinney.model.model import State
from spinney.progress import follow
from spinney.randomness import seed_from
from spinney.theory.trace import MedianTrace
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

DEFAULT_TREE = DecisionTreeRegressor(max_depth=DEFAULT_DEPTH)
LEAST_WEIGHT = np.finfo(float).eps
"""Rows keep at least this share of the weight; scikit-learn's number."""
LOSSES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "linear": lambda shares: shares,
    "square": lambda shares: shares**2,
    "exponential": lambda shares: 1.0 - np.exp(-shares),
}
"""From errors as shares of the largest to losses from 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """A member, and what it did; the numbers are those of a ``MedianTrace``."""

    member: Any
    error: float
    alpha: float
    normaliser: float
    largest_error: float


class AdaBoostRegressor(RegressorMixin, Estimator):
    """AdaBoost.R2: rows that were predicted badly gain weight; the weighted median is predicted.

    Parameters
    ----------
    estimator : regressor or None
        Who is asked in each round; None for a tree of depth 3. Trees of ours are grown exactly, on
        rows sorted once. Any regressor of scikit-learn will do; one that takes no
        ``sample_weight`` learns from rows drawn by their weights.
    n_estimators : int
        Rounds. There are fewer if a member makes no error, or if the mean loss of one is half or
        more; that one is left out, unless it is the first.
    learning_rate : float
        Multiplies the weight of every member, and tempers how weights of rows move.
    loss : {"linear", "square", "exponential"}
        How errors count, as shares of the largest one.
    mode : {"reweight", "resample"}
        Whether learners see weights, or rows drawn by their weights, as Drucker and scikit-learn
        have it.
    categorical_features, unseen, extra_columns
        As in :class:`DecisionTreeRegressor`; for trees of ours.
    verbose : int
        1 shows a progress bar in terminals and notebooks, 2 lines elsewhere, too.
    random_state : int, Generator, RandomState or None
        Decides which rows are drawn, and seeds foreign learners.
    n_jobs : int or None
        Threads; None for all this process may use.

    Attributes
    ----------
    model_ : MedianForest or MemberMedian
        The frozen model. Only one of trees of ours can be saved to a file.
    estimators_ : list
        The fitted members.
    estimator_weights_, estimator_errors_ : ndarray
        The weight of each member in the median, ln((1 - error) / error) times the learning rate,
        and its mean loss. One number per member.
    feature_importances_ : ndarray
    trace_ : MedianTrace
        Mean loss, weight, normaliser and largest error of every round.

    References
    ----------
    Drucker (1997), Improving regressors using boosting techniques, ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import AdaBoostRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = AdaBoostRegressor(n_estimators=20).fit(X, np.sin(X[:, 0] / 10))
    >>> model.score(X, np.sin(X[:, 0] / 10)) > 0.9
    True
    """

    _task = "regression"
    _model_class: ClassVar[type[Model]] = Median  # type: ignore[type-abstract]
    _rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": Checked("None for a tree of depth 3, or a regressor"),
        "n_estimators": Integer(1),
        "learning_rate": Real(0.0, above=True),
        "loss": Choice(tuple(LOSSES)),
        "mode": Choice(("reweight", "resample")),
        "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
        "unseen": Choice(("missing", "error")),
        "extra_columns": Choice(("error", "ignore")),
        "verbose": either(Boolean(), Integer(0)),
        "random_state": Seed(),
        "n_jobs": Jobs(),
    }
    model_: Median
    trace_: MedianTrace

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        mode: str = "reweight",
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.mode = mode
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of n rows
            What the base learner takes; for trees of ours pandas, polars or Arrow tables, NumPy
            arrays, SciPy sparse matrices.
        y : n numbers
        sample_weight : n numbers, optional
            Weights of the rows before the first round; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        check_base(self.estimator, type(self).__name__, may_classify=False)
        settings = IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=self.categorical_features,
            multi_output=False,
            n_threads=self._n_threads(),
        )
        flat = flat_rows(X) if self.estimator is not None else X
        reading = read_rows(flat, y, sample_weight, settings)
        check_squares(reading.y, type(self).__name__)
        learner = self._learner(X, reading)
        rounds, reason = self._boost(learner, reading)
        members = [one.member for one in rounds]
        trace = _trace(rounds, reason)
        if isinstance(learner, TreeLearner):
            output = SumOutput("identity", np.zeros(1))
            self._adopt(MedianForest(learner.freeze(members, trace.alphas, "values", output)))
        else:
            self._adopt(
                MemberMedian(members, trace.alphas, schema=reading.schema, target=reading.target)
            )
        self.trace_ = trace
        return self

    def _learner(self, X: TableLike, reading: Reading) -> TreeLearner | ForeignLearner:
        seed = seed_from(self.random_state)
        resample = self.mode == "resample"
        plan = exact_tree_plan(DEFAULT_TREE if self.estimator is None else self.estimator)
        if plan is None:
            rows = foreign_rows(X, reading)
            return ForeignLearner(self.estimator, rows, resample=resample, seed=seed)
        return TreeLearner(
            reading,
            plan[0],
            criterion=plan[1],
            policy=Policy(unseen=self.unseen, extra=self.extra_columns),
            resample_seed=seed if resample else None,
            n_threads=self._n_threads(),
        )

    def _boost(
        self, learner: TreeLearner | ForeignLearner, reading: Reading
    ) -> tuple[list[Round], str]:
        """Ask, judge, and move the weights of rows to where the errors are; say why it ended."""
        y, rounds = np.ascontiguousarray(reading.y[:, 0]), list[Round]()
        counts = RowCounts(np.ones(len(y)) if reading.weights is None else reading.weights)
        of_one = np.full(len(y), 1.0 / counts.total)  # weight of one repetition of each row
        for number in _followed(self.n_estimators, self.verbose):
            of_one = np.maximum(of_one, LEAST_WEIGHT)
            asked = counts.weights * of_one
            hypothesis = learner.regress(y, RowWeights(asked, counts), number)
            errors = np.abs(hypothesis.answers[:, 0] - y)
            largest = float(errors.max())
            losses = LOSSES[self.loss](errors / (largest or 1.0))
            error = exact_sum(counts.weights, of_one * losses)
            if error <= 0:
                rounds.append(Round(hypothesis.member, 0.0, 1.0, 1.0, largest))
                return rounds, "the last learner made no error"
            if error >= 0.5:
                if not rounds:
                    rounds.append(Round(hypothesis.member, 1.0, 0.0, 1.0, largest))
                return rounds, f"the mean loss of round {number + 1} was a half or more"
            beta = error / (1 - error)
            of_one = of_one * beta ** ((1 - losses) * self.learning_rate)
            kept = exact_sum(counts.weights, of_one)
            of_one /= kept
            alpha = self.learning_rate * float(np.log(1 / beta))
            rounds.append(Round(hypothesis.member, error, alpha, kept, largest))
        return rounds, "all rounds were done"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def predict(self, X: TableLike) -> FloatArray:
        """Weighted median of what the members say; (n_rows,)."""
        medians: FloatArray = self._predictions(X)[:, 0]
        return medians

    def staged_predict(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``predict`` would say after each round."""
        self._check_fitted()
        return self.model_.staged(
            X, n_threads=self._n_threads(), estimator_name=type(self).__name__
        )

    def staged_score(self, X: TableLike, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Give the coefficient of determination after each round."""
        from sklearn.metrics import r2_score  # noqa: PLC0415 - 0.1 s, for few only

        for predicted in self.staged_predict(X):
            yield float(r2_score(y, predicted, sample_weight=sample_weight))

    @property
    def estimator_weights_(self) -> FloatArray:
        """Weight of each member in the median."""
        self._check_fitted()
        return self.model_.weights

    @property
    def estimators_(self) -> list[Any]:
        """The members as fitted estimators."""
        self._check_fitted()
        if isinstance(self.model_, MedianForest):
            trees = self.model_.trees
            return [member_estimator(trees, place, "values") for place in range(len(trees))]
        return [self.model_[place] for place in range(len(self.model_))]

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean of the members' importances, by their weights."""
        return mean_importances(self.estimators_, self.estimator_weights_)

    @property
    def estimator_errors_(self) -> FloatArray:
        """Mean loss of each member under the weights it saw."""
        self._check_fitted()
        return self.trace_.errors

    def _attributes(self) -> State:
        trace = self.trace_
        arrays = {name: np.array(getattr(trace, name)) for name in trace.ARRAYS}
        return {"stop_reason": trace.stop_reason}, arrays

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        check_round_numbers(MedianTrace, {"stop_reason": str}, meta, arrays, len(self.model_))
        parts: dict[str, Any] = {**meta, **{name: a.copy() for name, a in arrays.items()}}
        self.trace_ = MedianTrace(**parts)


def _followed(n_rounds: int, verbose: int) -> Iterator[int]:
    return follow(range(n_rounds), n_rounds, "round", verbose=verbose)


def _trace(rounds: list[Round], reason: str) -> MedianTrace:
    names = {"errors": "error", "alphas": "alpha", "normalisers": "normaliser"}
    names["largest_errors"] = "largest_error"
    arrays = {
        name: np.array([getattr(one, of_one) for one in rounds], np.float64)
        for name, of_one in names.items()
    }
    return MedianTrace(**arrays, stop_reason=reason)
