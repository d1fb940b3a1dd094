"""Bagging for classes."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from spinney.ensembles.bagging.bagging import BAGGING_RULES
from spinney.ensembles.bagging.job import Job
from spinney.ensembles.bagging.online import OnlineBagging, learns_online
from spinney.ensembles.parameters import Choice, Rule
from spinney.ensembles.trees.decision_tree import DecisionTreeClassifier
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model.answers import log_shares
from spinney.model.member_bag import MemberBag, columns_of
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


def _decides(self: Any) -> bool:
    return hasattr(self.estimator_, "decision_function")


class BaggingClassifier(ClassifierMixin, OnlineBagging):
    """Bagging: clones of one learner, each on a sample of the rows, vote on classes.

    The parameters are those of scikit-learn 1.9 in its order, then ours. What we do differently:
    the base learner is our decision tree unless one is given, and bags of it grow as one forest on
    one ranked table, without a copy; a bootstrap, pasting and Poisson draws take whole weights for
    repetitions of rows; the ensemble does not depend on threads, jobs or backends.

    Parameters
    ----------
    estimator : None or an estimator
        The base learner; None for :class:`DecisionTreeClassifier`. Members that take
        ``sample_weight`` get counts of rows as weights, others the rows themselves.
    n_estimators : int
        Members.
    max_samples : int, float or None
        Rows a member draws, or the share of them (of their weight, if that is whole); None for as
        many as there are. Fewer, with replacement: an m-out-of-n bootstrap.
    max_features : int or float
        Features a member draws, or the share of them.
    bootstrap : bool
        Whether rows are drawn with replacement.
    bootstrap_features : bool
        Whether features are.
    oob_score : bool
        Whether to score every row by the members that did not see it.
    warm_start : bool
        Whether ``fit`` adds members to those there are; they are those one fit would have fitted.
    n_jobs : int or None
        Threads of our trees, None for all this process may use; joblib's jobs for other members.
    random_state : int, Generator, RandomState or None
        Decides all draws. Each member has a seed of its own from it.
    verbose : int
        Whether to tell how far it is.
    sampler : None, str or object
        How rows are drawn, in place of ``bootstrap``: "bootstrap", "subsample" (without
        replacement, 63.2 % unless ``max_samples`` says otherwise), "m_out_of_n" (``max_samples``
        rows with replacement), "bayesian" (random weights), "balanced" (ten members count every
        row ten times), "stratified" (within classes), "block" (consecutive rows), "group" (rows of
        a group together; give ``groups`` to ``fit``), "poisson" (each row a Poisson number of
        times); or an object with a method ``draw(n_rows, member, seed)`` that gives a count per
        row.
    block_length : int or None
        Rows of a block, or times if ``fit`` is given ``time``; None for the cube root of their
        number.
    aggregation : {"auto", "soft", "hard"}
        Whether members give probabilities, which are averaged ("soft"), or one vote each ("hard").
        "auto": probabilities if the base learner has ``predict_proba``, else votes;
        ``aggregation_`` tells which.

    Attributes
    ----------
    model_ : TreeForest or MemberBag
        The frozen model.
    estimator_ : estimator
        The base learner.
    aggregation_ : {"soft", "hard"}
        Whether the members' probabilities are averaged, or they vote.
    estimators_, estimators_samples_, estimators_features_ : lists
        Members, the rows each was fitted on, and the columns it takes.
    classes_, n_classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    oob_score_, oob_decision_function_, oob_curve_
        With ``oob_score``: accuracy, shares of classes for each row (NaN where every member saw
        it), and the accuracy after each number of members.

    References
    ----------
    Breiman (1996), Bagging predictors, Machine Learning 24.

    Examples
    --------
    >>> from spinney import BaggingClassifier
    >>> X = [[3.0, "red"], [None, "red"], [2.0, "blue"], [3.0, "blue"]] * 5
    >>> bag = BaggingClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"] * 5)
    >>> bag.predict([[5.0, "blue"], [5.0, "red"]])
    array(['yes', 'no'], dtype='<U3')
    """

    _task = "classification"
    _oob_name: ClassVar[str] = "oob_decision_function_"
    _default_base = DecisionTreeClassifier
    _rules: ClassVar[Mapping[str, Rule]] = {
        **BAGGING_RULES,
        "aggregation": Choice(("auto", "soft", "hard")),
    }
    classes_: AnyArray

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
        aggregation: str = "auto",
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

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        self._check_fitted()
        return len(self.classes_)

    def _joins_by(self) -> str:
        if self.aggregation != "auto":
            return self.aggregation
        return "soft" if hasattr(self.estimator_, "predict_proba") else "hard"

    def _job(self, seed: int, given: Mapping[str, Any]) -> Job:
        if self.aggregation == "soft" and not hasattr(self.estimator_, "predict_proba"):
            raise InvalidParameter(
                f"aggregation='soft' averages probabilities, but the base learner, a "
                f"{type(self.estimator_).__name__}, has no predict_proba. Use aggregation='hard' "
                "(or 'auto', which votes then), or another base learner."
            )
        return super()._job(seed, given)

    def _calls(self) -> dict[str, str]:
        member, joins_by = self.estimator_, self._joins_by()
        if hasattr(self, "model_"):  # what was fitted, whatever parameters say since
            joins_by = self.aggregation_
            member = self.model_.members[0] if isinstance(self.model_, MemberBag) else member
        knows = joins_by == "soft" and hasattr(member, "predict_proba")
        asked = "predict_proba" if knows else "predict"
        logs = knows and hasattr(member, "predict_log_proba")
        return {
            "fit": "fit",
            "predict": asked,
            "predict_proba": asked,
            "predict_log_proba": "predict_log_proba" if logs else asked,
            "decision_function": "decision_function",
        }

    def predict_proba(self, X: TableLike, **params: Any) -> FloatArray:
        """Mean of the members' probabilities, or the share of votes; (n_rows, n_classes).

        ``params`` are routed to ``predict_proba`` of the members, or to ``predict`` if they vote.
        """
        shares: FloatArray = self._predictions(X, self._routed("predict_proba", params))
        return shares

    def predict_log_proba(self, X: TableLike, **params: Any) -> FloatArray:
        """Logarithm of ``predict_proba``; -inf where a class has no share.

        ``params`` are routed to ``predict_log_proba`` of the members if they have it, else as those
        of ``predict_proba``.
        """
        given = self._routed("predict_log_proba", params)
        self._check_fitted()
        model, asked = self.model_, self._calls()["predict_log_proba"]
        if isinstance(model, MemberBag) and asked == "predict_log_proba":
            said = self._each(_logarithms, X, model, self.classes_, given)
            logarithms: FloatArray = np.logaddexp.reduce(said) - np.log(len(said))
        else:
            with np.errstate(divide="ignore"):
                logarithms = np.log(self._predictions(X, given))
        return logarithms

    def predict(self, X: TableLike, **params: Any) -> AnyArray:
        """Class of the largest share; ties go to the first of ``classes_``.

        ``params`` are routed as those of ``predict_proba``.
        """
        shares = self._predictions(X, self._routed("predict", params))
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels

    @available_if(learns_online)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: TableLike, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Let members learn from rows that arrived, each counted by Poisson draws of mean 1.

        Offered where the base learner has ``partial_fit``. However rows are divided into portions,
        a member counts them the same.

        Parameters
        ----------
        X, y : rows
        classes : labels
            All that will ever come; needed at the first call.
        sample_weight : numbers, optional
            Whole weights are repetitions.

        Returns
        -------
        self
        """
        self._learn_more(X, y, classes, sample_weight)
        return self

    @available_if(_decides)  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike, **params: Any) -> FloatArray:
        """Mean of the members' decision functions, where the base learner has one.

        ``params`` are routed to ``decision_function`` of the members.
        """
        given = self._routed("decision_function", params)
        self._check_fitted()
        if not isinstance(self.model_, MemberBag):
            raise InvalidInput(
                "The members are trees, which have no decision_function. Use predict_proba."
            )
        decisions = self._each(_decisions, X, self.model_, given)
        shapes = {one.shape for one in decisions}
        if len(shapes) > 1:
            raise InvalidInput(
                f"The members' decision functions have the shapes {sorted(shapes)}: some did not "
                "see all classes. Use predict_proba, larger bags, or sampler='stratified'."
            )
        total = np.zeros_like(decisions[0])
        for one in decisions:
            total += one
        return total / len(decisions)


def _decisions(
    member: Any, X: TableLike, features: AnyArray | None, given: Mapping[str, Any]
) -> FloatArray:
    return np.asarray(member.decision_function(columns_of(X, features), **given), np.float64)


def _logarithms(
    member: Any,
    X: TableLike,
    features: AnyArray | None,
    classes: AnyArray,
    given: Mapping[str, Any],
) -> FloatArray:
    return log_shares(member, columns_of(X, features), classes, given)
