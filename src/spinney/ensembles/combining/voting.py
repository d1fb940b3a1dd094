"""Members vote."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from spinney.ensembles.combining.combination import MEMBERS_RULE, Combination, Given
from spinney.ensembles.combining.jobs import as_asked, run_jobs
from spinney.ensembles.combining.members import Answers, heard, present, read_members
from spinney.ensembles.combining.pools import NUMBER_RULES, SHARE_RULES, pool_numbers, pool_shares
from spinney.ensembles.combining.state import check_members_tell_codes
from spinney.ensembles.combining.targets import read_classes, read_column
from spinney.ensembles.parameters import Boolean, Checked, Choice, Integer, Jobs, Rule, either
from spinney.errors import InvalidInput, InvalidParameter
from spinney.typing import AnyArray, FloatArray, TableLike

_SHARED_RULES: Mapping[str, Rule] = {
    "estimators": MEMBERS_RULE,
    "weights": Checked("None, or a number per member"),
    "n_jobs": Jobs(),
    "verbose": either(Boolean(), Integer(0)),
}


class Voting(TransformerMixin, Combination):
    """Base of the voting estimators."""

    weights: Any
    n_jobs: Any
    verbose: Any

    def _followed(self) -> tuple[str, ...]:
        return "weights", "voting", "aggregation"

    def fit_transform(self, X: TableLike, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and give what the members say of the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def _fit_voters(self, given: Given) -> None:
        members = read_members(self, self._task)
        self._member_weights()
        jobs = self._full_jobs(given, members)
        tells = self.verbose is True  # as scikit-learn takes it
        verbose = 0 if tells else self.verbose
        fitted = run_jobs(jobs, self.n_jobs, verbose=verbose, tell="Voting" if tells else "")
        self._keep_members(members, fitted)

    def _adopt_facts(
        self, parts: list[Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        super()._adopt_facts(parts, meta, arrays)
        self._member_weights()

    def _member_weights(self) -> FloatArray:
        """Give the weights of those who vote."""
        members = self._members_or_default()
        if self.weights is None:
            return np.ones(len(present(members)))
        weights = np.asarray(self.weights, np.float64)
        if weights.shape != (len(members),):
            raise InvalidParameter(
                "Number of `estimators` and weights must be equal; got "
                f"{weights.size} weights, {len(members)} estimators"
            )
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise InvalidParameter(
                f"weights={weights.tolist()}: expected finite numbers of at least 0. Members that "
                "count against what they say have a place in WeightedVoteClassifier."
            )
        voting = [name for name, _ in present(members)]
        chosen = [
            weight for (name, _), weight in zip(members, weights, strict=True) if name in voting
        ]
        if not any(chosen):
            raise InvalidParameter("All weights are 0: nobody votes. Give one member some weight.")
        return np.array(chosen)

    def _predicted(self, X: TableLike) -> AnyArray:
        """Ask for labels or numbers; (n_members, n_rows)."""
        said = [heard(member, "predict", as_asked(member, X)) for member in self.estimators_]
        return np.asarray(said)

    def _voter_names(self) -> list[str]:
        return [
            f"{type(self).__name__.lower()}_{name}"
            for name, _ in present(self._members_or_default())
        ]


class VotingClassifier(ClassifierMixin, Voting):
    """Members of any kind vote for classes; each is fitted on all rows.

    A drop-in for scikit-learn's ``VotingClassifier``, with more rules. Members of ours share one
    binned table and are fitted one after another; others through joblib.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    voting : {"hard", "soft", "median", "trimmed", "geometric", "max", "min", "borda"}
        *hard*: one label each. The others join probabilities: their mean, median, mean without a
        fifth of the weight at each end, geometric mean, the most or the least that any member
        says, or points for ranks. Ties go to the first class.
    weights : one number per estimator, optional
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    flatten_transform : bool
        Whether ``transform`` of probabilities is one table, (n_rows, n_members * n_classes).
    verbose : bool or int
        True prints a line for each member that is fitted, as scikit-learn does; 1 shows a bar.

    Attributes
    ----------
    estimators_ : list
        Fitted on labels as codes 0, 1, …; ``le_`` knows the labels.
    named_estimators_ : Bunch
    le_ : LabelEncoder
    classes_ : array

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from spinney import GradientBoostingClassifier, VotingClassifier
    >>> from spinney.datasets import make_twonorm
    >>> data = make_twonorm(300, random_state=0)
    >>> boosting = GradientBoostingClassifier(max_iter=100)
    >>> members = [("boosting", boosting), ("linear", LogisticRegression())]
    >>> vote = VotingClassifier(members, voting="soft").fit(data.X, data.y)
    >>> bool(vote.score(data.X, data.y) > 0.97)
    True
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **_SHARED_RULES,
        "voting": Choice(("hard", *SHARE_RULES)),
        "flatten_transform": Boolean(),
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit every member on all rows.

        Parameters
        ----------
        X : table of n rows
        y : n labels
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent. Members
            that take no weights are refused.
        groups, time : n labels, n sortable keys, optional
            For members that divide rows, such as stacks.
        **fit_params
            With scikit-learn's metadata routing: for the members that ask for it.

        Returns
        -------
        self
        """
        self._refuse_metadata(fit_params)
        self._check_parameters()
        labels = read_classes(y, type(self).__name__)
        codes = labels.codes.astype(np.int64)  # what scikit-learn's members are given
        given = self._given((X, codes), sample_weight, (groups, time), fit_params)
        self.le_ = LabelEncoder().fit(labels.classes)
        self.classes_ = self.le_.classes_
        if self.voting != "hard":
            self._check_probabilities()
        self._fit_voters(given)
        return self

    def _adopt_facts(
        self, parts: list[Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        super()._adopt_facts(parts, meta, arrays)
        check_members_tell_codes(self.estimators_, len(self.classes_))
        if self.voting != "hard":
            self._check_probabilities()
        self.le_ = LabelEncoder().fit(self.classes_)

    def _code_names(self) -> AnyArray | None:
        return np.asarray(self.classes_)

    def _check_probabilities(self) -> None:
        for name, member in present(read_members(self, self._task)):
            if hasattr(member, "predict") and not hasattr(member, "predict_proba"):
                raise InvalidParameter(
                    f"voting={self.voting!r} joins probabilities, but the member {name!r}, a "
                    f"{type(member).__name__}, has no predict_proba. Use voting='hard', or wrap it "
                    "in sklearn.calibration.CalibratedClassifierCV."
                )

    def predict(self, X: TableLike) -> AnyArray:
        """Give the class with most votes; ties go to the first of ``classes_``."""
        check_is_fitted(self)
        return self._labels(self._votes(X) if self.voting == "hard" else self._pooled(X))

    def _votes(self, X: TableLike) -> FloatArray:
        """Count the members that say each class, by their weights; (n_rows, n_classes)."""
        codes = self._predicted(X).astype(np.int64)
        votes = np.zeros((codes.shape[1], len(self.classes_)))
        for own, weight in zip(codes, self._member_weights(), strict=True):
            votes[np.arange(len(own)), own] += weight
        return votes

    def _set_shares(self, X: TableLike) -> FloatArray:
        """Give what sets are made of: of a hard vote, shares of the votes."""
        if self.voting != "hard":
            return super()._set_shares(X)
        return np.asarray(self._votes(X) / self._member_weights().sum())

    def _labels(self, scores: FloatArray) -> AnyArray:
        labels: AnyArray = self.classes_[scores.argmax(axis=1)]
        return labels

    def _shares(self, X: TableLike) -> FloatArray:
        answers = Answers(np.arange(len(self.classes_)))
        return np.asarray(
            [
                answers.shares(member, heard(member, "predict_proba", as_asked(member, X)))
                for member in self.estimators_
            ]
        )

    def _pooled(self, X: TableLike) -> FloatArray:
        return pool_shares(self._shares(X), self._member_weights(), self.voting)

    def _has_shares(self) -> bool:
        if self.voting == "hard":
            raise AttributeError(f"predict_proba is not available when voting={self.voting!r}")
        return True

    @available_if(_has_shares)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> FloatArray:
        """Join the members' probabilities as ``voting`` says; (n_rows, n_classes)."""
        check_is_fitted(self)
        return self._pooled(X)

    def transform(self, X: TableLike) -> AnyArray:
        """Give what each member says.

        Returns
        -------
        answers
            ``voting="hard"``: codes of classes, (n_rows, n_members). Otherwise probabilities,
            (n_rows, n_members * n_classes), or (n_members, n_rows, n_classes) without
            ``flatten_transform``.
        """
        check_is_fitted(self)
        if self.voting == "hard":
            return self._predicted(X).T
        shares = self._shares(X)
        return np.hstack(list(shares)) if self.flatten_transform else shares

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of ``transform``."""
        check_is_fitted(self, "n_features_in_")
        if self.voting != "hard" and not self.flatten_transform:
            raise InvalidInput(
                f"get_feature_names_out is not supported when `voting={self.voting!r}` and "
                "`flatten_transform=False`"
            )
        _check_feature_names_in(self, input_features, generate_names=False)
        names = self._voter_names()
        if self.voting != "hard":
            names = [f"{name}{place}" for name in names for place in range(len(self.classes_))]
        return np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class VotingRegressor(RegressorMixin, Voting):
    """Members of any kind predict numbers, each fitted on all rows; their mean is predicted.

    A drop-in for scikit-learn's ``VotingRegressor``, with more rules. The squared error of a mean
    is never above the mean squared error of the members (Jensen).

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    weights : one number per estimator, optional
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    verbose : bool or int
        True prints a line for each member that is fitted, as scikit-learn does; 1 shows a bar.
    aggregation : {"mean", "median", "trimmed", "geometric"}
        How numbers are joined; *trimmed*: without a fifth of the weight at each end.

    Attributes
    ----------
    estimators_ : list
    named_estimators_ : Bunch

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import GradientBoostingRegressor, VotingRegressor
    >>> from spinney.datasets import make_friedman
    >>> data = make_friedman(1, 300, random_state=0)
    >>> boosting = GradientBoostingRegressor(max_iter=100)
    >>> members = [("boosting", boosting), ("linear", LinearRegression())]
    >>> vote = VotingRegressor(members).fit(data.X, data.y)
    >>> each = vote.transform(data.X)
    >>> bool(np.allclose(vote.predict(data.X), each.mean(axis=1)))
    True
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {
        **_SHARED_RULES,
        "aggregation": Choice(tuple(NUMBER_RULES)),
    }

    def __init__(
        self,
        estimators: Any = None,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        aggregation: str = "mean",
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.aggregation = aggregation

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit every member on all rows; parameters as of ``VotingClassifier.fit``."""
        self._refuse_metadata(fit_params)
        self._check_parameters()
        numbers = read_column(y, type(self).__name__)
        self._fit_voters(self._given((X, numbers), sample_weight, (groups, time), fit_params))
        return self

    def predict(self, X: TableLike) -> FloatArray:
        """Join the members' predictions as ``aggregation`` says."""
        check_is_fitted(self)
        answers = self._predicted(X).astype(np.float64)
        return pool_numbers(answers, self._member_weights(), self.aggregation)

    def transform(self, X: TableLike) -> FloatArray:
        """Give what each member predicts; (n_rows, n_members)."""
        check_is_fitted(self)
        return self._predicted(X).T

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of ``transform``."""
        check_is_fitted(self, "n_features_in_")
        _check_feature_names_in(self, input_features, generate_names=False)
        return np.asarray(self._voter_names(), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
