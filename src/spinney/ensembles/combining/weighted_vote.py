"""A weighted sum of members, fitted already or not, by weights that are given or learnt."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from spinney.ensembles.combining.linear_pool import PoolRegressor, mean_losses, share_weights
from spinney.ensembles.combining.members import is_fitted, present, read_members
from spinney.ensembles.combining.prefit import known_classes
from spinney.ensembles.combining.targets import read_classes, read_column
from spinney.ensembles.combining.weighing import log_odds_weights
from spinney.ensembles.combining.weighted_sum import VOTE_RULES, VoteForm, WeightedVote
from spinney.ensembles.parameters import Choice, Rule
from spinney.errors import InvalidInput, InvalidParameter
from spinney.typing import AnyArray, FloatArray, TableLike


class WeightedVoteClassifier(ClassifierMixin, WeightedVote):
    """Classifiers vote by any real weights: AdaBoost's, Bayes', learnt ones, your own.

    Members that are fitted are taken as they are, and never fitted again; others are fitted on the
    rows given to ``fit``. A vote of fitted members by given weights needs no ``fit`` at all. (To
    keep fitted members through ``sklearn.base.clone`` wrap them in scikit-learn's
    ``FrozenEstimator``.)

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    weights : one number per member, a word, or None
        Numbers may be negative: then a member counts against what it says. None: 1 each. Words
        say how ``fit`` learns them, from rows that fitted members should not have seen, and that
        others are asked about out of fold. *simplex*: not negative, sum 1, least Brier score.
        *nonnegative*: the same without the sum (Breiman). *best*: all for the best. *log_odds*:
        ``log(p (K - 1) / (1 - p))`` of the share p of right labels, which is Bayes' decision if
        the K-class members err independently.
    vote : {"labels", "probabilities"}
    cv : int, splitter, iterable of (train, test) or None
        For weights that are learnt of members that are not fitted yet. None: five folds.
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimators_, named_estimators_, classes_
    weights_ : (n_members,)

    Examples
    --------
    The vote that AdaBoost makes:

    >>> from spinney import AdaBoostClassifier, WeightedVoteClassifier
    >>> from spinney.datasets import make_twonorm
    >>> data = make_twonorm(300, random_state=0)
    >>> booster = AdaBoostClassifier(n_estimators=20).fit(data.X, data.y)
    >>> stumps = [(f"stump{t}", stump) for t, stump in enumerate(booster.estimators_)]
    >>> vote = WeightedVoteClassifier(stumps, booster.estimator_weights_)
    >>> bool((vote.predict(data.X) == booster.predict(data.X)).all())
    True
    """

    _task = "classification"
    _words: ClassVar[tuple[str, ...]] = ("simplex", "nonnegative", "best", "log_odds")
    _rules: ClassVar[Mapping[str, Rule]] = {
        **VOTE_RULES,
        "vote": Choice(("labels", "probabilities")),
    }

    def __init__(
        self,
        estimators: Any = None,
        weights: Any = None,
        *,
        vote: str = "labels",
        cv: Any = None,
        repeated: str = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.vote = vote
        self.cv = cv
        self.repeated = repeated
        self.n_jobs = n_jobs
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
        """Fit the members that are not fitted yet, and learn weights if they are to be learnt.

        Parameters
        ----------
        X : table of n rows
        y : n labels
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent. Folds divide
            rows, whatever they weigh.
        groups, time : n labels, n sortable keys, optional
            How ``cv`` divides rows: no group is divided, and members are asked about what comes
            after the rows they learnt from. Whoever divides rows inside gets both.
        **fit_params
            With scikit-learn's metadata routing: for the members that ask for it.

        Returns
        -------
        self
        """
        self._refuse_metadata(fit_params)
        self._check_parameters()
        labels = read_classes(y, type(self).__name__)
        own = np.asarray(labels.classes)[labels.codes]
        given = self._given((X, own), sample_weight, (groups, time), fit_params)
        members = read_members(self, self._task)
        before = [(name, member) for name, member in present(members) if is_fitted(member)]
        self.classes_ = known_classes(before, np.unique(given.rows.y))
        self._fit_vote(given, members)
        return self

    def _form(self, members: list[tuple[str, Any]]) -> VoteForm:
        classes = getattr(self, "classes_", None)
        if classes is None:
            classes = known_classes(present(members), np.empty(0, int))
        if self.vote == "probabilities":
            for name, member in present(members):
                if not hasattr(member, "predict_proba"):
                    raise InvalidParameter(
                        f"vote='probabilities', but the member {name!r}, a "
                        f"{type(member).__name__}, has no predict_proba. Use vote='labels'."
                    )
        return VoteForm(classes, "one_hot" if self.vote == "labels" else "shares")

    def _equal(self, n_members: int) -> FloatArray:
        return np.ones(n_members)

    def _learnt(self, answers: FloatArray, y: AnyArray, rows: FloatArray | None) -> FloatArray:
        codes = np.searchsorted(self.classes_, y)
        if self.weights != "log_odds":
            rule = str(self.weights)
            return share_weights(answers, codes, rows, rule=rule, loss="squared_error")
        hits = (answers.argmax(axis=2) == codes).astype(np.float64)
        count = float(len(codes)) if rows is None else float(rows.sum())
        right = mean_losses(hits, rows) * count
        return log_odds_weights((right + 0.5) / (count + 1.0), max(2, len(self.classes_)))

    def _labels_of(self, sums: FloatArray) -> AnyArray:
        classes = self._form(present(self._members_or_default())).classes
        labels: AnyArray = classes[sums.argmax(axis=1)]
        return labels

    def decision_function(self, X: TableLike) -> FloatArray:
        """Give the weighted votes: for the second class less the first, or (n_rows, n_classes)."""
        return _decisions(self._sums(X))

    def predict(self, X: TableLike) -> AnyArray:
        """Give the class with most votes; ties go to the first of ``classes_``."""
        return self._labels_of(self._sums(X))

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Give each class's share of the votes; weights must not be negative."""
        sums = self._sums(X)
        weights = self._panel()[1]
        if weights.min() < 0 or not weights.sum() > 0:
            raise InvalidInput(
                f"weights reach from {weights.min():g} to {weights.max():g}: shares of votes need "
                "weights that are not negative and not all 0. Ask decision_function or predict."
            )
        totals = sums.sum(axis=1, keepdims=True)
        return np.asarray(sums / totals)

    def staged_predict(self, X: TableLike) -> Iterator[AnyArray]:
        """Give what ``predict`` would say of the first member, the first two, and so on."""
        for sums in self._staged_sums(X):
            yield self._labels_of(sums)

    def staged_decision_function(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``decision_function`` would say of the first member, the first two, …."""
        for sums in self._staged_sums(X):
            yield _decisions(sums)


def _decisions(sums: FloatArray) -> FloatArray:
    return np.asarray(sums[:, 1] - sums[:, 0]) if sums.shape[1] == 2 else sums


class WeightedVoteRegressor(RegressorMixin, WeightedVote):
    """A weighted sum of regressors: fitted ones or not, weights given or learnt.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        Fitted members are taken as they are; others are fitted by ``fit``. A member may be
        ``"drop"``. None: boosting, a random forest and extra trees.
    weights : one number per member, a word, or None
        Numbers are factors of the members' predictions and need not sum to 1. None: the mean.
        Words say how ``fit`` learns them, as ``WeightedVoteClassifier`` does: *simplex*,
        *nonnegative* or *best*.
    cv : int, splitter, iterable of (train, test) or None
        For weights that are learnt of members that are not fitted yet. None: five folds.
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimators_, named_estimators_
    weights_ : (n_members,)

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import WeightedVoteRegressor
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 2.0])
    >>> line, other = LinearRegression().fit(X, y), LinearRegression().fit(X, 1 - y)
    >>> vote = WeightedVoteRegressor([("line", line), ("other", other)], [2.0, 1.0])
    >>> vote.predict(X).round(6)
    array([1., 2., 3.])
    """

    _task = "regression"
    _words: ClassVar[tuple[str, ...]] = ("simplex", "nonnegative", "best")
    _rules: ClassVar[Mapping[str, Rule]] = VOTE_RULES

    def __init__(
        self,
        estimators: Any = None,
        weights: Any = None,
        *,
        cv: Any = None,
        repeated: str = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.repeated = repeated
        self.n_jobs = n_jobs
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
        """Fit the members that are not fitted yet, and learn weights if they are to be learnt.

        Parameters as of ``WeightedVoteClassifier.fit``; y are numbers.
        """
        self._refuse_metadata(fit_params)
        self._check_parameters()
        numbers = read_column(y, type(self).__name__)
        given = self._given((X, numbers), sample_weight, (groups, time), fit_params)
        self._fit_vote(given, read_members(self, self._task))
        return self

    def _form(self, members: list[tuple[str, Any]]) -> VoteForm:  # noqa: ARG002 - numbers are numbers
        return VoteForm(np.empty(0), "values")

    def _equal(self, n_members: int) -> FloatArray:
        return np.full(n_members, 1.0 / n_members)

    def _learnt(self, answers: FloatArray, y: AnyArray, rows: FloatArray | None) -> FloatArray:
        pool = PoolRegressor(str(self.weights)).fit(answers[:, :, 0].T, y, rows)
        return pool.weights_

    def predict(self, X: TableLike) -> FloatArray:
        """Give the weighted sum of the members' predictions."""
        return self._sums(X)[:, 0]

    def staged_predict(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``predict`` would say of the first member, the first two, and so on."""
        for sums in self._staged_sums(X):
            yield sums[:, 0]
