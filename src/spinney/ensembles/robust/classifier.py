"""Boosters that bear wrong labels, as an estimator."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from spinney.ensembles.adaptive.vote_booster import BOOSTER_RULES, Preparation, VoteBooster
from spinney.ensembles.parameters import Boolean, Choice, Integer, Rule, either
from spinney.ensembles.robust.boosting import boost_robustly
from spinney.ensembles.robust.martingale import MartingaleProgram
from spinney.ensembles.robust.outcome import RobustBoost
from spinney.ensembles.robust.search import CLOCKS, search_target_error
from spinney.ensembles.robust.settings import RULES, RobustSettings
from spinney.ensembles.weak.importances import member_importances
from spinney.ensembles.weak.learners import SumOutput
from spinney.errors import InvalidModel
from spinney.model import BranchingProgram, Model, TreeForest
from spinney.model.member_sum import MemberSum
from spinney.model.model import State
from spinney.model.program import MAX_LEVELS, shares_of
from spinney.progress import at_least
from spinney.results import read_only
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

_OWN_RULES = (
    "algorithm",
    "goal_margin",
    "sigma_final",
    "smoothness",
    "edge",
    "least_edge",
    "steepness",
    "in_hull",
    "largest_step",
    "least_node_weight",
)
"""Parameters that mean here what they mean in ``RobustSettings``."""
_HISTORIES = ("potentials", "times")


class RobustBoostClassifier(VoteBooster):
    """Boosting for labels of which some are wrong; two classes.

    AdaBoost gives ever more weight to rows it cannot get right, and so do all boosters of convex
    losses: wrong labels can lead them as far astray as one likes (Long and Servedio, 2010). The
    boosters here give up on hopeless rows, or bound what a row may weigh.

    Parameters
    ----------
    estimator : classifier or None
        Who is asked in each round; None for the decision stump with the highest edge. Any
        classifier of scikit-learn will do.
    n_estimators : int
        Most rounds.
    algorithm : str
        - "savage": AnyBoost (Mason, Baxter, Bartlett and Frean 2000) with the loss of SavageBoost
          (Masnadi-Shirazi and Vasconcelos 2008), which is flat for very wrong rows; "sigmoid" (of
          DOOM II), "tangent" (of TangentBoost) and "ramp" are losses of that kind too;
        - "robust": RobustBoost (Freund 2009), "brown": BrownBoost (Freund 2001). A clock runs, and
          when it ends the training error is about ``target_error``; rows too far behind are
          given up;
        - "martingale": martingale boosting (Long and Servedio 2005). No sum: rows walk through
          ``n_levels`` levels, every place has its own learner, and most answers decide;
        - "mada": MadaBoost (Domingo and Watanabe 2000), "smooth": SmoothBoost (Servedio 2003). No
          row weighs much more than its share. Their losses are convex.
    target_error : float or "search"
        Training error that "robust" and "brown" aim at: a little above the share of wrong labels.
        With "search" the smallest one is taken, of up to eight, with which the clock reaches its
        end. Where learners are rich enough to learn wrong labels by heart, that is too small.
    goal_margin : float
        Margin that "robust" wants of the rows it does not give up.
    sigma_final : float
        How sharply "robust" judges margins when its clock ends.
    least_edge : float
        Edge below which "robust" and "brown" count a learner as used up.
    smoothness : float
        Of "smooth": no row weighs more than its share of the rows divided by this.
    edge : float
        Of "smooth": half the least edge its learners are relied on to have.
    steepness : float
        Of "sigmoid" and "ramp".
    largest_step : float
        Longest step of the line search of "savage", "sigmoid", "tangent" and "ramp". Short ones
        learn less of the noise.
    in_hull : bool
        Whether these keep the sum a weighted mean of the members.
    n_levels : int
        Of "martingale"; best an odd number, with which there are no ties.
    least_node_weight : float
        Rows that a place of "martingale" needs to have a learner of its own.
    store_weights : bool
        Whether ``trace_.distributions`` keeps the weights of rows in all rounds; not of
        "martingale".
    mode, categorical_features, unseen, extra_columns, verbose, random_state, n_jobs
        As in :class:`AdaBoostClassifier`.

    Attributes
    ----------
    trace_ : Trace
        What each round did; of "martingale" each level.
    potentials_ : ndarray of shape (n_rounds + 1,)
        Mean potential (for losses the mean loss) of the rows, before the first round and after
        each; empty for "martingale".
    times_ : ndarray of shape (n_rounds + 1,)
        What the clock of "robust" and "brown" showed, from 0 to 1; NaN for the others.
    time_left_ : float
        Share of the clock that was not used up. More than 0 means that the target error was not
        reached. NaN without a clock.
    target_error_ : float or None
        The target error, given or found; None for algorithms that aim at none.
    alphas_ : ndarray
        Weights of the members in the sum; of "martingale" 1 / ``n_levels`` each.

    Notes
    -----
    The defaults were chosen by test errors on clean labels, in per cent, with stumps, as means of
    four draws. Noise is the share of training labels turned round. The default made 100 rounds,
    AdaBoost, "robust" (with ``target_error="search"``) and "mada" 200, "martingale" 41 levels.

    ============================  =======  =======  ======  ======  ==========
    data (training rows), noise   default  AdaBoost robust   mada   martingale
    ============================  =======  =======  ======  ======  ==========
    Long-Servedio (800), 10 %         5.2     27.8     4.5    24.2        12.4
    twonorm (400), 0 %                4.6      4.3     6.2     4.5        16.3
    twonorm, 10 %                    11.2     12.3    14.3    12.6        21.3
    twonorm, 20 %                    17.8     17.4    21.2    18.7        27.5
    breast cancer (380), 0 %          3.6      3.7     5.4     3.0         7.8
    breast cancer, 10 %               7.3      9.7    10.3     9.3        14.6
    breast cancer, 20 %              13.5     13.8    16.9    14.2        24.5
    ============================  =======  =======  ======  ======  ==========

    Examples
    --------
    >>> from spinney import AdaBoostClassifier, RobustBoostClassifier
    >>> from spinney.datasets import make_long_servedio
    >>> noisy = make_long_servedio(800, noise=0.1, random_state=0)
    >>> clean = make_long_servedio(2000, noise=0.0, random_state=1)
    >>> convex = AdaBoostClassifier(n_estimators=100).fit(noisy.X, noisy.y)
    >>> robust = RobustBoostClassifier().fit(noisy.X, noisy.y)
    >>> convex.score(clean.X, clean.y) < 0.75, robust.score(clean.X, clean.y) > 0.9
    (True, True)
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **BOOSTER_RULES,
        **{name: RULES[name] for name in _OWN_RULES},
        "target_error": either(Choice(("search",)), RULES["target_error"]),
        "n_levels": Integer(1, MAX_LEVELS),
        "store_weights": Boolean(),
    }
    _stump_criterion = "error"
    _models = (TreeForest, MemberSum, BranchingProgram)
    potentials_: FloatArray
    times_: FloatArray
    target_error_: float | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
        algorithm: str = "savage",
        target_error: float | str = "search",
        goal_margin: float = 0.0,
        sigma_final: float = 0.1,
        least_edge: float = 1e-3,
        smoothness: float = 0.1,
        edge: float = 0.05,
        steepness: float = 1.0,
        largest_step: float = 0.1,
        in_hull: bool = False,
        n_levels: int = 41,
        least_node_weight: float = 20.0,
        store_weights: bool = False,
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
        self.algorithm = algorithm
        self.target_error = target_error
        self.goal_margin = goal_margin
        self.sigma_final = sigma_final
        self.least_edge = least_edge
        self.smoothness = smoothness
        self.edge = edge
        self.steepness = steepness
        self.largest_step = largest_step
        self.in_hull = in_hull
        self.n_levels = n_levels
        self.least_node_weight = least_node_weight
        self.store_weights = store_weights
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
        y : n labels of two classes
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        prepared = self._prepare(X, y, sample_weight)
        if self._is_single(prepared):
            self._remember(np.empty(0), np.empty(0), None)
            return self
        with at_least(self.verbose):
            boosted, target = self._boost(prepared)
        if len(boosted) == 0 or boosted.trace.stop_reason.startswith("no learner"):
            prepared.learner.check_heeds_weights()
        if isinstance(boosted, MartingaleProgram):
            self._become_model(_frozen(prepared, boosted), boosted.trace)
            self._remember(np.empty(0), np.empty(0), None)
            return self
        output = SumOutput("double_logistic", np.zeros(1))
        self._become(prepared, list(boosted.members), boosted.weights, output, boosted.trace)
        self._remember(boosted.potentials, boosted.times, target)
        return self

    def _boost(self, prepared: Preparation) -> tuple[RobustBoost | MartingaleProgram, float | None]:
        """Give what was learnt, and the target error it aimed at."""
        ask, rows = self._ask(prepared), prepared.rows
        has_target = self.algorithm in CLOCKS
        if has_target and self.target_error == "search":
            found = search_target_error(ask, rows.signs, self._settings(0.1), rows.counts.weights)
            return found.boost, found.target_error
        target = 0.1 if self.target_error == "search" else float(self.target_error)
        boosted = boost_robustly(ask, rows.signs, self._settings(target), rows.counts.weights)
        return boosted, target if has_target else None

    def _settings(self, target_error: float) -> RobustSettings:
        return RobustSettings(
            **{name: getattr(self, name) for name in _OWN_RULES},
            n_rounds=self.n_levels if self.algorithm == "martingale" else self.n_estimators,
            target_error=target_error,
            keep_distributions=self.store_weights,
        )

    def _remember(self, potentials: FloatArray, times: FloatArray, target: float | None) -> None:
        self.potentials_, self.times_ = read_only(potentials), read_only(times)
        self.target_error_ = target

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # what the fitted estimator tells

    @property
    def _program(self) -> BranchingProgram | None:
        self._check_fitted()
        model: Model = self.model_
        return model if isinstance(model, BranchingProgram) else None

    @property
    def time_left_(self) -> float:
        """Share of the clock that was not used up; NaN without a clock."""
        self._check_fitted()
        return float(1.0 - self.times_[-1]) if len(self.times_) else float("nan")

    @property
    def alphas_(self) -> FloatArray:
        """Weights of the members."""
        program = self._program
        if program is not None:
            return np.full(len(program), 1.0 / program.n_levels)
        return self._member_weights()

    @property
    def estimator_errors_(self) -> FloatArray:
        """Weighted error of each member on the rows as it saw them."""
        program = self._program
        if program is not None:
            return np.asarray((1.0 - program.edges[program.answers == 0]) / 2.0)
        return self.trace_.errors

    @property
    def estimators_(self) -> list[Any]:
        """The members as fitted estimators; of a program in the order of their nodes."""
        program = self._program
        return super().estimators_ if program is None else self._fitted_members(program.members)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the gain of the splits, weighted by votes or by rows."""
        program = self._program
        if program is None:
            return super().feature_importances_
        return member_importances(program.members, program.shares[program.answers == 0])

    def complexity_class(self) -> tuple[Any, ...] | None:
        """Say from which set the members come, for bounds on votes; None for a program."""
        return super().complexity_class() if self._program is None else None

    # predicting

    def _raw_scores(self, X: TableLike) -> FloatArray:
        program = self._program
        if program is None:
            return super()._raw_scores(X)
        return program.raw_scores(
            X, n_threads=self._n_threads(), estimator_name=type(self).__name__
        )

    def _staged_scores(self, X: TableLike) -> Iterator[FloatArray]:
        program = self._program
        if program is None:
            return super()._staged_scores(X)
        name = type(self).__name__
        return program.staged_scores(X, n_threads=self._n_threads(), estimator_name=name)

    def _decisions(self, scores: FloatArray, n_rounds: int | None) -> FloatArray:
        return super()._decisions(scores, n_rounds) if self._program is None else scores[:, 0]

    def _through_link(self, scores: FloatArray) -> FloatArray:
        return super()._through_link(scores) if self._program is None else shares_of(scores)

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Probability of each class; (n_rows, n_classes).

        1 / (1 + exp(-2 F)) of the second class for a sum F; of "martingale" the share of those
        who voted for it.
        """
        return super().predict_proba(X)

    def margins(self, X: TableLike, y: Any) -> FloatArray:
        """Give the normalised margin of each row: positive where the vote is right; (n_rows,)."""
        if self._program is None:
            return super().margins(X, y)
        return np.where(self._codes(y) == 1, 1.0, -1.0) * self.decision_function(X)

    # files

    def _attributes(self) -> State:
        meta, arrays = super()._attributes()
        if self.target_error_ is not None:
            meta["target_error"] = self.target_error_
        arrays |= {name: np.array(getattr(self, f"{name}_")) for name in _HISTORIES}
        return meta, arrays

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        rest = {name: value for name, value in meta.items() if name != "target_error"}
        others = {name: array for name, array in arrays.items() if name not in _HISTORIES}
        super()._adopt_attributes(rest, others)
        histories = [arrays[name] for name in _HISTORIES if name in arrays]
        target = meta.get("target_error", 0.5)
        n_rounds = len(self.trace_)
        if (
            len(histories) != len(_HISTORIES)
            or any(array.dtype != "<f8" or array.ndim != 1 for array in histories)
            or {len(array) for array in histories} not in ({n_rounds + 1}, {0})
            or type(target) is not float
            or not 0.0 < target < 1.0
        ):
            raise InvalidModel("what the booster knows of its rounds contradicts itself")
        self._remember(histories[0].copy(), histories[1].copy(), meta.get("target_error"))


def _frozen(prepared: Preparation, grown: MartingaleProgram) -> BranchingProgram:
    output = SumOutput("double_logistic", np.zeros(1))
    ones = np.ones(len(grown))
    members: Any = prepared.learner.freeze(grown.members, ones, "signs", output)
    return BranchingProgram(members, grown.answers, edges=grown.edges, shares=grown.shares)
