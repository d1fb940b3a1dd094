"""The super learner: weights, or a winner, by cross-validated risk."""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spinney.ensembles.combining.combination import MEMBERS_RULE, Given
from spinney.ensembles.combining.linear_pool import (
    PoolClassifier,
    PoolRegressor,
    share_losses,
)
from spinney.ensembles.combining.members import present
from spinney.ensembles.combining.out_of_fold import OutOfFold
from spinney.ensembles.combining.stack import ClassStack, NumberStack, Stacking
from spinney.ensembles.combining.state import (
    count_from_state,
    expect_facts,
    numbers_from_state,
)
from spinney.ensembles.parameters import VERBOSE, Checked, Choice, Jobs, Rule
from spinney.errors import InvalidParameter
from spinney.model.model import State
from spinney.results import Result
from spinney.typing import AnyArray, FloatArray

COMBINE = {"convex": "simplex", "nonnegative": "nonnegative", "discrete": "best"}
"""What users call the rules for weights."""
SUPER_RULES: Mapping[str, Rule] = {
    "estimators": MEMBERS_RULE,
    "combine": Choice(tuple(COMBINE)),
    "cv": Checked("a number of folds, a splitter, pairs of row numbers, or None"),
    "repeated": Choice(("error", "average")),
    "n_jobs": Jobs(),
    "verbose": VERBOSE,
}


@dataclass(frozen=True, slots=True, eq=False)
class RiskTable(Result):
    """What each member loses on rows that it has not seen, and its weight.

    The line of the super learner is that of the weighted answers on the rows the weights were
    learnt from. With few weights and many rows it is hardly too good; cross-validate the super
    learner itself for a risk that is not.
    """

    members: tuple[str, ...]
    """The last one is the super learner."""
    risks: FloatArray
    """Mean losses out of fold."""
    standard_errors: FloatArray
    """Of the risks, as means of so many rows."""
    weights: FloatArray
    """Of the members; NaN for the super learner."""
    loss: str
    n_rows: int
    n_splits: int

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Give a line per member."""
        return {
            "member": list(self.members),
            "risk": self.risks.tolist(),
            "standard error": self.standard_errors.tolist(),
            "weight": [None if np.isnan(w) else w for w in self.weights.tolist()],
        }

    def title(self) -> str:
        """Say what was measured."""
        return f"Cross-validated risk ({self.loss}), {self.n_splits} splits, {self.n_rows} rows"


class SuperLearner(Stacking):
    """Base of the super learners: a stack whose final estimator weighs the members."""

    combine: Any
    final_estimator = None
    passthrough = False
    risk_: RiskTable

    def _is_prefit(self) -> bool:
        if isinstance(self.cv, str):
            raise InvalidParameter(
                f"cv={self.cv!r} of {type(self).__name__}: expected a number of folds, a splitter "
                "or pairs of row numbers. For members that are fitted already use a weighted vote."
            )
        return False

    @property
    def weights_(self) -> FloatArray:
        """The weights of the members."""
        weights: FloatArray = self.final_estimator_.weights_
        return weights

    def _finish(self, said: OutOfFold, given: Given) -> None:
        """Write the table of risks."""
        rows = said.rows if said.rows is not None else np.arange(given.rows.n_rows)
        y = given.rows.y[rows]
        weights = None if given.rows.weights is None else given.rows.weights[rows]
        columns = [own[rows] for own in said.columns]
        losses = self._losses(columns, y)
        risks = np.average(losses, axis=1, weights=weights)
        spread = np.average((losses - risks[:, np.newaxis]) ** 2, axis=1, weights=weights)
        count = float(len(y)) if weights is None else float(weights.sum())
        names = [name for name, _ in present(self._members_or_default())]
        errors = np.sqrt(spread / max(count - 1, 1.0))
        self.risk_ = self._risk_table(names, risks, errors, (len(y), said.n_splits))

    def _risk_table(
        self, names: list[str], risks: FloatArray, errors: FloatArray, counts: tuple[int, int]
    ) -> RiskTable:
        members, weights = (*names, "super learner"), np.append(self.weights_, np.nan)
        return RiskTable(members, risks, errors, weights, self._loss_name(), *counts)

    def _stack_facts(self) -> State:
        table = self.risk_
        counts = {"n_rows": table.n_rows, "n_splits": table.n_splits}
        return counts, {"risks": table.risks, "standard_errors": table.standard_errors}

    def _adopt_stack_facts(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        expect_facts(meta, arrays, {"n_rows", "n_splits"}, {"risks", "standard_errors"})
        shape = (len(self.estimators_) + 1,)
        risks = numbers_from_state(arrays, "risks", shape)
        errors = numbers_from_state(arrays, "standard_errors", shape)
        counts = count_from_state(meta, "n_rows"), count_from_state(meta, "n_splits")
        names = [name for name, _ in present(list(self.named_estimators_.items()))]
        self.risk_ = self._risk_table(names, risks, errors, counts)

    @abc.abstractmethod
    def _losses(self, columns: list[FloatArray], y: AnyArray) -> FloatArray:
        """Give the loss of each row for each member, and for the super learner."""

    def _loss_name(self) -> str:
        return "squared error"


class SuperLearnerClassifier(SuperLearner, ClassStack):
    """Probabilities of members, mixed by the weights of least cross-validated risk.

    In the long run as good as the best mixture of its members (van der Laan, Polley and Hubbard).

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    combine : {"convex", "nonnegative", "discrete"}
        *convex*: weights that are not negative and sum to 1. *nonnegative*: they need not sum to
        1. *discrete*: the member with the least risk, alone.
    loss : {"squared_error", "log_loss"}
        What is made least: Brier's score, or the log loss (not with *nonnegative*).
    cv : int, splitter, iterable of (train, test) or None
        None: five folds, classes in their shares.
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimators_, named_estimators_ : fitted on all rows, on labels as codes
    weights_ : (n_members,)
    risk_ : RiskTable
        Prints the cross-validated risks.
    classes_ : array

    References
    ----------
    van der Laan, Polley and Hubbard (2007), Super learner, Statistical Applications in Genetics
    and Molecular Biology 6.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from spinney import DecisionTreeClassifier, SuperLearnerClassifier
    >>> from spinney.datasets import make_twonorm
    >>> data = make_twonorm(300, random_state=0)
    >>> members = [("tree", DecisionTreeClassifier(max_depth=3)), ("linear", LogisticRegression())]
    >>> learner = SuperLearnerClassifier(members).fit(data.X, data.y)
    >>> bool(learner.weights_[1] > 0.8)
    True
    """

    _any_kind: ClassVar[bool] = False
    _takes_many: ClassVar[bool] = False
    stack_method = "predict_proba"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **SUPER_RULES,
        "loss": Choice(("squared_error", "log_loss")),
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        combine: str = "convex",
        loss: str = "squared_error",
        cv: Any = None,
        repeated: str = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.combine = combine
        self.loss = loss
        self.cv = cv
        self.repeated = repeated
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_final(self, n_members: int) -> Any:
        if self.combine == "nonnegative" and self.loss == "log_loss":
            raise InvalidParameter(
                "combine='nonnegative' finds weights by least squares, not by loss='log_loss'. Use "
                "loss='squared_error', or combine='convex'."
            )
        return PoolClassifier(COMBINE[self.combine], n_members, len(self.classes_), self.loss)

    def _default_final(self) -> Any:
        return PoolClassifier()

    def _losses(self, columns: list[FloatArray], y: AnyArray) -> FloatArray:
        pool = self.final_estimator_
        meta = np.hstack(columns)
        shares = np.concatenate([pool.shares(meta), pool.predict_proba(meta)[np.newaxis]])
        return share_losses(shares, y.astype(np.int64), self.loss)

    def _loss_name(self) -> str:
        return "Brier score" if self.loss == "squared_error" else "log loss"


class SuperLearnerRegressor(SuperLearner, NumberStack):
    """Predictions of members, mixed by the weights of least cross-validated squared error.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    combine : {"convex", "nonnegative", "discrete"}
        *convex*: weights that are not negative and sum to 1. *nonnegative*: they need not sum to
        1 (Breiman). *discrete*: the member with the least risk, alone.
    cv : int, splitter, iterable of (train, test) or None
        None: five folds.
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimators_, named_estimators_ : fitted on all rows
    weights_ : (n_members,)
    risk_ : RiskTable
        Prints the cross-validated risks.

    References
    ----------
    van der Laan, Polley and Hubbard (2007), Super learner, Statistical Applications in Genetics
    and Molecular Biology 6.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import SuperLearnerRegressor
    >>> X = np.linspace(0, 1, 40)[:, np.newaxis]
    >>> members = [("line", LinearRegression()), ("mean", DummyRegressor())]
    >>> learner = SuperLearnerRegressor(members, cv=4).fit(X, 3 * X[:, 0])
    >>> learner.weights_.round(6) + 0.0
    array([1., 0.])
    >>> print(learner.risk_.title())
    Cross-validated risk (squared error), 4 splits, 40 rows
    """

    _rules: ClassVar[Mapping[str, Rule]] = SUPER_RULES

    def __init__(
        self,
        estimators: Any = None,
        *,
        combine: str = "convex",
        cv: Any = None,
        repeated: str = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.combine = combine
        self.cv = cv
        self.repeated = repeated
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _make_final(self, n_members: int) -> Any:  # noqa: ARG002 - columns are members
        return PoolRegressor(COMBINE[self.combine])

    def _default_final(self) -> Any:
        return PoolRegressor()

    def _losses(self, columns: list[FloatArray], y: AnyArray) -> FloatArray:
        meta = np.hstack(columns)
        answers = np.column_stack([meta, self.final_estimator_.predict(meta)]).T
        return np.asarray((answers - y) ** 2)
