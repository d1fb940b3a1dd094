"""What boosters of votes share: reading, asking, becoming a fitted estimator, predicting."""

import itertools
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spinney.data.table import Kind
from spinney.data.weights import near_one
from spinney.ensembles.adaptive.variant import TrainingRows
from spinney.ensembles.class_scores import ClassScores
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.parameters import (
    BaseLearner,
    Boolean,
    Checked,
    Choice,
    Integer,
    Jobs,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.weak.base_trees import exact_tree_plan, member_estimator, most_leaves
from spinney.ensembles.weak.foreign import ForeignLearner, flat_rows, foreign_rows
from spinney.ensembles.weak.hypothesis import Ask, Hypothesis
from spinney.ensembles.weak.importances import member_importances
from spinney.ensembles.weak.learners import SumOutput, TreeLearner, WeakLearner
from spinney.ensembles.weak.trace_files import trace_from, trace_state
from spinney.errors import InvalidInput, InvalidModel, NothingLearnt
from spinney.losses.row_weights import RowWeights
from spinney.model import Model, Policy, TreeForest
from spinney.model.links import apply_link
from spinney.model.member_sum import MemberSum, table_shape
from spinney.model.model import State
from spinney.randomness import seed_from
from spinney.theory.trace import TRACE_ARRAYS, Trace
from spinney.typing import AnyArray, FloatArray, TableLike

BOOSTER_RULES: Mapping[str, Rule] = {
    "estimator": BaseLearner("a decision stump"),
    "n_estimators": Integer(1),
    "mode": Choice(("reweight", "resample")),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
    "verbose": either(Boolean(), Integer(0)),
    "random_state": Seed(),
    "n_jobs": Jobs(),
}


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """Rows and the learner that answers about them."""

    reading: Reading
    rows: TrainingRows
    learner: WeakLearner


class VoteBooster(ClassScores, Estimator):
    """Base of the boosters: a subclass has parameters, and a way to choose members and weights."""

    _task = "classification"
    _model_class: ClassVar[type[Model]] = Model  # type: ignore[type-abstract]
    _models: ClassVar[tuple[type[Model], ...]] = (TreeForest, MemberSum)
    """What members may become; a file may not hand in anything else."""
    _stump_criterion: ClassVar[str] = "squared"
    """What the default learner's split lowers."""
    model_: TreeForest | MemberSum
    trace_: Trace
    classes_: AnyArray

    def _form(self, n_classes: int) -> str:
        """Say how members answer; one of ``spinney.model.answers.FORMS``, or "values"."""
        return "signs" if n_classes == 2 else "shares"

    def _adopt(self, model: Model) -> None:
        if not isinstance(model, self._models):
            raise InvalidModel(
                f"a {type(model).__name__} is not what a {type(self).__name__} learns"
            )
        super()._adopt(model)

    def _prepare(self, X: TableLike, y: Any, sample_weight: Any) -> Preparation:
        self._check_parameters()
        params = self.get_params(deep=False)
        settings = IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=params["categorical_features"],
            n_threads=self._n_threads(),
        )
        flat = flat_rows(X) if exact_tree_plan(params["estimator"]) is None else X
        reading = read_rows(flat, y, near_one(sample_weight), settings)
        weights = np.ones(len(reading.y)) if reading.weights is None else reading.weights
        codes, n_classes = reading.y.astype(np.int64), reading.target.n_outputs
        rows = TrainingRows.weighted(codes, n_classes, weights, n_threads=self._n_threads())
        return Preparation(reading, rows, self._learner(X, reading))

    def _learner(self, X: TableLike, reading: Reading) -> WeakLearner:
        params = self.get_params(deep=False)
        seed = seed_from(params["random_state"])
        resample = params["mode"] == "resample"
        plan = exact_tree_plan(params["estimator"])
        if plan is not None:
            settings, criterion = plan
            if params["estimator"] is None:
                criterion = self._stump_criterion
            return TreeLearner(
                reading,
                settings,
                criterion=criterion,
                policy=Policy(unseen=params["unseen"], extra=params["extra_columns"]),
                resample_seed=seed if resample else None,
                n_threads=self._n_threads(),
            )
        rows = foreign_rows(X, reading)
        return ForeignLearner(params["estimator"], rows, resample=resample, seed=seed)

    def _is_single(self, prepared: Preparation) -> bool:
        """Handle what a booster of two classes cannot: more classes, or a single one."""
        n_classes = prepared.rows.n_classes
        if n_classes > 2:
            raise InvalidInput(
                "Only binary classification is supported. The type of the target is multiclass: y "
                f"has {n_classes} classes. {type(self).__name__} boosts two; use "
                "AdaBoostClassifier, or sklearn.multiclass.OneVsRestClassifier around this."
            )
        if n_classes == 2:
            return False
        nothing = {name: np.empty(0) for name in TRACE_ARRAYS}
        trace = Trace(**nothing, stop_reason="y has a single class")
        self._become(prepared, [], np.empty(0), SumOutput("softmax", np.zeros(1)), trace)
        return True

    def _ask(self, prepared: Preparation) -> Ask:
        """Give the learner as boosters of two classes ask it."""
        counts, learner = prepared.rows.counts, prepared.learner
        numbers = itertools.count()

        def ask(distribution: FloatArray) -> Hypothesis:
            answer = learner.classify(RowWeights(distribution, counts), "signs", next(numbers))
            return Hypothesis(answer.answers[:, 0].astype(np.float64), answer.member)

        return ask

    def _become(
        self,
        prepared: Preparation,
        members: list[Any],
        weights: FloatArray,
        output: SumOutput,
        trace: Trace,
    ) -> None:
        """Be the fitted estimator of these members."""
        form = self._form(prepared.rows.n_classes)
        if prepared.rows.n_classes > 1:
            prepared.learner.check_learnt(len(members))
        model = prepared.learner.freeze(members, weights, form, output)
        self._become_model(model, trace)

    def _become_model(self, model: Model, trace: Trace) -> None:
        self._adopt(model)
        self.trace_ = trace
        if not len(model) and model.target.n_outputs > 1:
            warnings.warn(
                f"{type(self).__name__} learnt nothing, because {trace.stop_reason}. Every row is "
                "predicted alike. Give a stronger base learner, such as deeper trees: "
                "estimator=DecisionTreeClassifier(max_depth=3).",
                NothingLearnt,
                stacklevel=4,
            )

    # what the fitted estimator tells

    @property
    def alphas_(self) -> FloatArray:
        """Weights of the votes in the natural scale: ½ ln((1 - error) / error) for AdaBoost."""
        self._check_fitted()
        return self.trace_.alphas

    @property
    def estimator_weights_(self) -> FloatArray:
        """Weights of the votes in scikit-learn's scale, twice ``alphas_``."""
        return 2 * self.alphas_

    @property
    def estimator_errors_(self) -> FloatArray:
        """Weighted error of each member on the rows as it saw them."""
        self._check_fitted()
        return self.trace_.errors

    @property
    def estimators_(self) -> list[Any]:
        """The members as fitted estimators."""
        self._check_fitted()
        return self._fitted_members(self.model_)

    def _fitted_members(self, model: TreeForest | MemberSum) -> list[Any]:
        if isinstance(model, MemberSum):
            return list(model.members)
        form = self._form(len(self.classes_))
        return [member_estimator(model, t, form) for t in range(len(model))]

    @property
    def n_classes_(self) -> int:
        """How many classes there are."""
        self._check_fitted()
        return len(self.classes_)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the gain of the splits, weighted by the votes."""
        self._check_fitted()
        return member_importances(self.model_, self._member_weights())

    def complexity_class(self) -> tuple[Any, ...] | None:
        """Say from which set the members come, for bounds; None where it is not known.

        Returns
        -------
        ("stumps", n_features), ("trees", n_features, n_leaves) or None
        """
        self._check_fitted()
        model, most = self.model_, most_leaves(self.get_params(deep=False)["estimator"])
        if not isinstance(model, TreeForest) or not len(model) or most is None:
            return None
        if Kind.CATEGORICAL in model.schema.kinds:  # any set of categories may go left
            return None
        if most == 2:
            return "stumps", self.n_features_in_
        return "trees", self.n_features_in_, most

    @property
    def minimises_exponential_loss(self) -> bool:
        """Whether ``trace_.objective`` is the mean of exp(-y F) over the rows, by their weights."""
        return False

    @property
    def potential_factor(self) -> float:
        """What the product of normalisers is multiplied by to bound the mean of exp(-y F)."""
        return 1.0

    @property
    def members_vote(self) -> bool:
        """Whether members say one of the classes, and nothing in between."""
        return self._form(len(self.classes_)) in ("signs", "votes", "one_hot", "class_signs")

    # predicting

    def _raw_scores(self, X: TableLike) -> FloatArray:
        self._check_fitted()
        if isinstance(self.model_, MemberSum):
            self.model_.check_width(X, type(self).__name__)
            return np.broadcast_to(
                self.model_.raw_scores(X), (table_shape(X)[0], len(self.model_.baseline))
            )
        table = self.model_.conform(X, type(self).__name__)
        return self.model_.raw_scores(table, n_threads=self._n_threads())

    def _staged_scores(self, X: TableLike) -> Iterator[FloatArray]:
        self._check_fitted()
        if isinstance(self.model_, MemberSum):
            self.model_.check_width(X, type(self).__name__)
            per_round = self._members_per_round()
            return itertools.islice(self.model_.staged_scores(X), per_round - 1, None, per_round)
        table = self.model_.conform(X, type(self).__name__)
        return self.model_.staged_scores(
            table, trees_per_stage=self._members_per_round(), n_threads=self._n_threads()
        )

    def _members_per_round(self) -> int:
        """One, or one per class."""
        return max(len(self.model_) // max(len(self.trace_), 1), 1)

    def _member_weights(self) -> FloatArray:
        model = self.model_
        weights = model.weights if isinstance(model, MemberSum) else model.arrays["tree_weight"]
        return np.abs(weights)

    def _decisions(self, scores: FloatArray, n_rounds: int | None) -> FloatArray:
        """Bring votes to shares of all votes; leave real-valued scores as they are."""
        form = self._form(len(self.classes_))
        if form not in ("values", "half_log_odds", "log_shares"):
            scores = scores / (self._member_weights()[:n_rounds].sum() or 1.0)
        if scores.shape[1] == 2:  # of pairs: a score for each of two classes
            return np.asarray((scores[:, 1] - scores[:, 0]) / (2.0 if form == "class_signs" else 1))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def decision_function(self, X: TableLike) -> FloatArray:
        """Say how the vote went.

        Returns
        -------
        (n_rows,) for two classes, (n_rows, n_classes) for more
            Of votes the weighted mean: for two classes from -1 to 1, positive for the second. Of
            real-valued variants (real, gentle, logit) the score itself: half the log-odds.
        """
        return super().decision_function(X)

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Probability of each class; (n_rows, n_classes): 1 / (1 + exp(-2 F)) for two."""
        if isinstance(getattr(self, "model_", None), MemberSum):
            return self._through_link(self._raw_scores(X))
        probabilities: FloatArray = self._predictions(X)
        return probabilities

    def staged_score(self, X: TableLike, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Give the accuracy after each round."""
        from sklearn.metrics import accuracy_score  # noqa: PLC0415 - 0.1 s, for few only

        for labels in self.staged_predict(X):
            yield float(accuracy_score(y, labels, sample_weight=sample_weight))

    def _through_link(self, scores: FloatArray) -> FloatArray:
        model = self.model_
        link = model.link if isinstance(model, MemberSum) else model.output.link
        return apply_link(link, scores, n_threads=self._n_threads())

    def margins(self, X: TableLike, y: Any) -> FloatArray:
        """Give the normalised margin of each row: positive where the vote is right; (n_rows,).

        The lead of the true class in the vote, as a share of all votes: from -1 to 1.
        """
        scores = self._raw_scores(X)
        codes, n_classes = self._codes(y), len(self.classes_)
        if n_classes == 1:
            return np.ones(len(codes))
        if scores.shape[1] == 1:
            signs = np.where(codes == 1, 1.0, -1.0)
            return np.asarray(signs * scores[:, 0] / (self.alphas_.sum() or 1.0))
        rows = np.arange(len(codes))
        others = scores.copy()
        others[rows, codes] = -np.inf
        leads = scores[rows, codes] - others.max(axis=1)
        return np.asarray(leads / (self._largest_lead() or 1.0))

    def _largest_lead(self) -> float:
        """Give the lead of a class for which all members vote."""
        form, n_classes = self._form(len(self.classes_)), len(self.classes_)
        if form in ("values", "log_shares"):
            return 2.0 * float(self.alphas_.sum())
        spread = {"votes": n_classes / (n_classes - 1), "class_signs": 2.0}.get(form, 1.0)
        return spread * float(self._member_weights().sum())

    def _codes(self, y: Any) -> AnyArray:
        labels = np.asarray(y)
        places = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        odd = np.flatnonzero(self.classes_[places] != labels)
        if len(odd):
            raise InvalidInput(
                f"y holds {labels[odd[:1]].tolist()[0]!r} at row {odd[0]}, which is no class the "
                f"model knows: {self.classes_[:10].tolist()}."
            )
        codes: AnyArray = places
        return codes

    # files

    def _attributes(self) -> State:
        return trace_state(self.trace_)

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        self.trace_ = trace_from(meta, arrays)
