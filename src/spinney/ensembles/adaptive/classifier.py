"""AdaBoost for classes."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier

from spinney.data.row_keys import KEYS, warn_of_hidden_in
from spinney.ensembles.adaptive.corrective import Corrective
from spinney.ensembles.adaptive.pairs import M2, MH
from spinney.ensembles.adaptive.rounds import boost
from spinney.ensembles.adaptive.scores import Gentle, Logit, Real
from spinney.ensembles.adaptive.stopping import DIVIDING, STOPPING, best_rounds
from spinney.ensembles.adaptive.variant import Refusal, Round, Rules, TrainingRows, Variant
from spinney.ensembles.adaptive.vote_booster import BOOSTER_RULES, VoteBooster
from spinney.ensembles.adaptive.votes import M1, ArcX4, Confidence, Votes
from spinney.ensembles.parameters import (
    Boolean,
    Checked,
    Choice,
    Fraction,
    Integer,
    Nothing,
    Rule,
    either,
)
from spinney.ensembles.parameters import Real as RealNumber
from spinney.ensembles.weak.base_trees import exact_tree_plan
from spinney.ensembles.weak.learners import SumOutput, WeakLearner
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.losses.row_weights import RowWeights
from spinney.progress import at_least
from spinney.typing import AnyArray, RandomState, TableLike

VARIANTS: Mapping[str, type[Variant]] = {
    "discrete": Votes,
    "samme": Votes,
    "real": Real,
    "samme_r": Real,
    "gentle": Gentle,
    "logit": Logit,
    "confidence": Confidence,
    "m1": M1,
    "m2": M2,
    "mh": MH,
    "arc_x4": ArcX4,
}


UNWEIGHTED = ("real", "samme_r", "gentle", "logit", "arc_x4")
"""Variants whose members have no weight of their own."""


class AdaBoostClassifier(VoteBooster):
    """AdaBoost: rows that were voted wrong gain weight, and the next learner looks at them.

    Parameters
    ----------
    estimator : classifier or None
        Who is asked in each round; None for a decision stump. Trees of ours are grown exactly, on
        rows sorted once. Any classifier of scikit-learn will do; one that takes no
        ``sample_weight`` learns from rows drawn by their weights.
    n_estimators : int
        Rounds.
    learning_rate : float
        Multiplies the weight of every vote, or what is added in a round; all votes of "arc_x4"
        count alike, whatever it is.
    variant : str
        - "discrete": Freund and Schapire (1997); of more than two classes the same as
        - "samme": Zhu, Zou, Rosset and Hastie (2009);
        - "real": half the log-odds of the learner's shares are added, and "samme_r" for more
          classes: the same thing under two names;
        - "gentle", "logit": least squares and Newton's steps; Friedman, Hastie and Tibshirani
          (2000). The base learner must be a regressor;
        - "confidence": votes between -1 and 1, weighed where Z is least; Schapire and Singer
          (1999); two classes;
        - "m1", "m2": Freund and Schapire (1997) for several classes; "mh": yes or no to every
          class, Schapire and Singer (1999);
        - "arc_x4": Breiman (1998).
    mode : {"reweight", "resample"}
        Whether learners see weights, or rows drawn by their weights.
    alpha : {"exact", "line_search"} or function
        Weight of a vote: the formula; the minimum of Z found numerically; or a function of the
        weighted error. For variants of votes: members of the others have no weight to choose.
    on_weak_failure : {"reverse", "stop", "reset"}
        What happens when a learner is no better than guessing: it is turned round (two classes;
        otherwise boosting stops), boosting stops, or the weights begin anew, up to ten times
        (variants with votes; otherwise boosting stops).
    eps_clip : float
        Errors of votes with a formula ("discrete", "samme", "m1", "m2", "mh") count as no smaller
        than this. A learner without error ends boosting.
    largest_response : float or None
        Where the working responses of "logit" are cut off; None for nowhere. Its inventors advise
        2 to 4, for the sake of numbers. The cut also makes it more patient with noise than its
        loss is: it comes through the problem of Long and Servedio, where the uncut one fails.
    totally_corrective : bool
        Whether all votes are weighed anew after each round; two classes, "discrete".
    store_weights : bool
        Whether ``trace_.distributions`` keeps the weights of rows in all rounds.
    early_stopping : {"validation", "cv", "margin"} or None
        Which rounds are kept: those with the least error on rows held out, those that five-fold
        cross-validation likes best, or all until the least margin no longer grows.
    validation_fraction : float
        Share of the rows held out.
    n_iter_no_change : int
        Rounds without progress after which boosting stops.
    tol : float
        What counts as progress.
    categorical_features, unseen, extra_columns
        As in :class:`DecisionTreeClassifier`; for stumps and trees of ours.
    verbose : int
        1 shows a progress bar in terminals and notebooks, 2 lines elsewhere, too.
    random_state : int, Generator, RandomState or None
        Decides which rows are drawn or held out, and seeds foreign learners.
    n_jobs : int or None
        Threads; None for all this process may use.

    Attributes
    ----------
    trace_ : Trace
        Error, edge, alpha, normaliser, objective and least margin of every round.
    alphas_, estimator_weights_ : ndarray
        Weights of the votes: ½ ln((1 - error) / error), and twice that, as scikit-learn has it.
    estimators_, estimator_errors_, feature_importances_, classes_, n_classes_
        As in scikit-learn.

    Examples
    --------
    >>> from spinney import AdaBoostClassifier
    >>> X = [[1], [2], [3], [4], [5], [6], [7], [8], [9], [10]]
    >>> y = [1, 1, 1, -1, -1, -1, 1, 1, 1, -1]
    >>> booster = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> booster.alphas_.round(4)
    array([0.4236, 0.6496, 0.752 ])
    >>> booster.score(X, y)
    1.0
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **BOOSTER_RULES,
        "learning_rate": RealNumber(0.0, above=True),
        "variant": Choice(tuple(VARIANTS)),
        "alpha": Checked("'exact', 'line_search' or a function of the weighted error"),
        "on_weak_failure": Choice(("reverse", "stop", "reset")),
        "eps_clip": RealNumber(0.0, 0.5, above=True, below=True),
        "largest_response": either(RealNumber(0.0, above=True), Nothing("no cut")),
        "totally_corrective": Boolean(),
        "store_weights": Boolean(),
        "early_stopping": either(Choice(STOPPING), Nothing("all rounds")),
        "validation_fraction": Fraction(below_one=True),
        "n_iter_no_change": Integer(1),
        "tol": RealNumber(0.0),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        variant: str = "discrete",
        mode: str = "reweight",
        alpha: Any = "exact",
        on_weak_failure: str = "reverse",
        eps_clip: float = 1e-10,
        largest_response: float | None = 4.0,
        totally_corrective: bool = False,
        store_weights: bool = False,
        early_stopping: str | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
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
        self.variant = variant
        self.mode = mode
        self.alpha = alpha
        self.on_weak_failure = on_weak_failure
        self.eps_clip = eps_clip
        self.largest_response = largest_response
        self.totally_corrective = totally_corrective
        self.store_weights = store_weights
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    _hands_keys_on = False

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS if self.early_stopping in DIVIDING else ()

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of n rows
            What the base learner takes; for stumps and trees of ours pandas, polars or Arrow
            tables, NumPy arrays, SciPy sparse matrices.
        y : n labels
        sample_weight : n numbers, optional
            Weights of the rows before the first round; rows of weight 0 are as if absent.
        groups, time : n labels, n sortable keys, optional
            How ``early_stopping`` divides rows: no group is divided, and nothing is learnt from
            the future. Of five folds there are as many as groups or later times. "validation"
            holds out whole groups or the latest rows, not both.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_alpha()
        self._check_learner()
        if self.totally_corrective and self.early_stopping in DIVIDING:
            raise InvalidParameter(
                f"early_stopping={self.early_stopping!r} follows the votes round by round, but "
                "totally_corrective=True weighs all of them anew in every round. Use "
                "early_stopping='margin' or None."
            )
        keys = {"groups": groups, "time": time}
        warn_of_hidden_in(self, keys)
        with at_least(self.verbose):
            n_rounds, stops, prepared = best_rounds(self, X, y, sample_weight, keys)
            variant = self._variant(prepared.rows)
            done = boost(
                variant,
                prepared.learner,
                n_rounds,
                store_weights=self.store_weights,
                stops=stops,
            )
        if self.early_stopping in DIVIDING and len(done.rounds) == n_rounds:
            done.stop_reason = f"rows held out were voted best after {n_rounds} rounds"
        weights, trace = done.weights, done.trace()
        if isinstance(variant, Corrective):
            weights = variant.final_weights
            trace = dataclasses.replace(trace, alphas=variant.alphas)
        self._become(prepared, done.members, weights, variant.output(len(done.members)), trace)
        return self

    def _variant(self, rows: TrainingRows) -> Variant:
        rules = Rules(
            alpha=self.alpha,
            learning_rate=self.learning_rate,
            eps_clip=self.eps_clip,
            largest_response=self.largest_response,
            on_weak_failure=self.on_weak_failure,
        )
        if rows.n_classes == 1:
            return OneClass(rows, rules)
        if self.variant == "confidence" and rows.n_classes > 2:
            raise InvalidInput(
                f"variant='confidence' takes two classes, but y has {rows.n_classes}. Use "
                "'samme_r', 'mh' or 'm2' for more."
            )
        if self.totally_corrective:
            if self.variant not in ("discrete", "samme") or rows.n_classes > 2:
                raise InvalidParameter(
                    f"totally_corrective=True takes two classes and variant='discrete', not "
                    f"{rows.n_classes} classes and variant={self.variant!r}."
                )
            return Corrective(rows, rules)
        return VARIANTS[self.variant](rows, rules)

    def _form(self, n_classes: int) -> str:
        if n_classes == 1:
            return "shares"
        return self._variant(
            TrainingRows.weighted(np.zeros(1, np.int64), n_classes, np.ones(1))
        ).form

    @property
    def minimises_exponential_loss(self) -> bool:
        """Whether ``trace_.objective`` is the mean of exp(-y F) over the rows, by their weights."""
        others = ("logit", "arc_x4", "m2", "mh")
        return len(self.classes_) == 2 and self.variant not in others

    @property
    def potential_factor(self) -> float:
        """What the product of normalisers is multiplied by to bound the mean of exp(-y F).

        Of "m2" a row in error has a wrong class that leads, one of K - 1. Of "mh" the true class
        and one that leads it have exp(-F) + exp(F') of at least 2 exp(-lead / 2), of K classes.
        """
        n_classes = len(self.classes_)
        return {"m2": n_classes - 1.0, "mh": n_classes / 2.0}.get(self.variant, 1.0)

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        super()._adopt_attributes(meta, arrays)
        n_classes = len(self.classes_)
        per_round = n_classes if self._form(n_classes) == "values" and n_classes > 2 else 1
        if len(self.model_) != per_round * len(self.trace_):
            raise InvalidModel("the trace has another number of rounds than the model")

    def _check_alpha(self) -> None:
        is_word = isinstance(self.alpha, str) and self.alpha in ("exact", "line_search")
        if not callable(self.alpha) and not is_word:
            raise InvalidParameter(
                f"alpha={self.alpha!r} of AdaBoostClassifier: expected 'exact', 'line_search' or a "
                "function of the weighted error."
            )
        if self.variant in UNWEIGHTED and not (is_word and self.alpha == "exact"):
            raise InvalidParameter(
                f"alpha={self.alpha!r}: members of variant={self.variant!r} have no weight to "
                "choose, because they add numbers of their own, or count alike. Use "
                "alpha='exact', or a variant of votes such as 'discrete'."
            )

    def _check_learner(self) -> None:
        fits_numbers = self.variant in ("gentle", "logit")
        is_ours = exact_tree_plan(self.estimator) is not None  # which fits whatever it is given
        if fits_numbers and not is_ours and is_classifier(self.estimator):
            raise InvalidParameter(
                f"estimator={self.estimator!r} is a classifier, but variant={self.variant!r} fits "
                "numbers. Give a regressor, such as DecisionTreeRegressor(max_depth=2)."
            )


class OneClass(Variant):
    """Nothing to choose between: no rounds."""

    form = "shares"

    @property
    def weights(self) -> RowWeights:
        """The weights the user gave."""
        return self.weigh(self.rows.prior)

    def round(self, learner: WeakLearner, number: int) -> Round | Refusal:  # noqa: ARG002
        """Refuse."""
        return Refusal("y has a single class")

    def output(self, n_members: int) -> SumOutput:  # noqa: ARG002
        """Give the class a probability of 1."""
        return SumOutput("softmax", np.zeros(1))
