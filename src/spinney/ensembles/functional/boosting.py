"""What the classifier and the regressor share: everything but the loss and the answers."""

import abc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import get_tags

from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.functional.learners import (
    EstimatorRegions,
    RegionMember,
    TreeRegions,
    own_tree,
)
from spinney.ensembles.functional.rounds import Descent, Learner, Sum, descend
from spinney.ensembles.parameters import (
    Boolean,
    Checked,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Real,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.weak.base_trees import member_estimator
from spinney.ensembles.weak.checks import check_base, gives_classes
from spinney.ensembles.weak.foreign import flat_rows, foreign_rows
from spinney.ensembles.weak.learners import SumOutput
from spinney.ensembles.weak.trace_files import check_round_numbers
from spinney.errors import InvalidModel, InvalidParameter
from spinney.losses.row_loss import RowLoss
from spinney.model import Model, Policy, TreeForest
from spinney.model.links import apply_link
from spinney.model.member_sum import MemberSum
from spinney.model.model import State
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.resampling import RowDraws
from spinney.theory.trace import DescentTrace
from spinney.typing import AnyArray, FloatArray, TableLike


@dataclass(frozen=True, slots=True)
class LossRule(Choice):
    """A named loss, or one that the user wrote."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if isinstance(value, str):
            return value in self.options
        is_object = all(callable(getattr(value, name, None)) for name in ("value", "gradient"))
        return not isinstance(value, type) and (is_object or callable(value))

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        names = ", ".join(repr(option) for option in self.options)
        return (
            f"one of {names}, an object with the methods value(y, scores) and gradient(y, scores), "
            "or a function of (y, scores) that gives both"
        )


FUNCTIONAL_RULES: Mapping[str, Rule] = {
    "estimator": Checked("None for a tree of depth 3, or an estimator"),
    "step": Choice(("line_search", "shrink", "per_region")),
    "learning_rate": Real(0.0, above=True),
    "n_estimators": Integer(1),
    "subsample": Fraction(),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
    "verbose": either(Boolean(), Integer(0)),
    "random_state": Seed(),
    "n_jobs": Jobs(),
}


class FunctionalGradientBoosting(Estimator):
    """Base of the two estimators."""

    _model_class: ClassVar[type[Model]] = Model  # type: ignore[type-abstract]
    model_: TreeForest | MemberSum
    trace_: DescentTrace

    estimator: Any
    loss: Any
    step: str
    learning_rate: float
    n_estimators: int
    subsample: float
    categorical_features: Any
    unseen: str
    extra_columns: str
    verbose: int
    random_state: Any

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Add functions along the negative gradient of the loss.

        Parameters
        ----------
        X : table of n rows
            What the base learner takes; for trees of ours pandas, polars or Arrow tables, NumPy
            arrays, SciPy sparse matrices.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        check_base(self.estimator, type(self).__name__, may_classify=self._task == "classification")
        self._check_regions()
        flat = X if self.estimator is None else flat_rows(X)
        reading = read_rows(flat, y, sample_weight, self._intake())
        loss = self._row_loss(reading)
        targets = self._targets(reading)
        loss.check(targets, reading.kept)
        seed = seed_from(self.random_state)
        n_rows = len(targets)
        draws = None if self.subsample == 1.0 else RowDraws(n_rows, share=self.subsample, seed=seed)
        plan = Descent(
            loss=loss,
            learner=self._learner(X, reading, seed),
            y=targets,
            weights=np.ones(n_rows) if reading.weights is None else reading.weights,
            step=self.step,
            learning_rate=self.learning_rate,
            n_rounds=self.n_estimators,
            signs=self._signs(reading),
            draws=draws,
        )
        with at_least(self.verbose):
            self._become(plan, descend(plan))
        return self

    def _become(self, plan: Descent, grown: Sum) -> None:
        n_scores = plan.loss.n_scores
        outputs = np.arange(len(grown.members), dtype=np.int32) % n_scores
        factors = self.learning_rate * np.repeat(np.array(grown.steps), n_scores)
        form = "values" if plan.signs is None else "signs"
        output = SumOutput(plan.loss.link, grown.baseline, outputs if n_scores > 1 else None)
        self._adopt(plan.learner.freeze(grown.members, factors, form, output))
        self.trace_ = grown.trace()

    def _intake(self) -> IntakeSettings:
        return IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=self.categorical_features,
            class_weight=getattr(self, "class_weight", None),
            multi_output=False,
            n_threads=self._n_threads(),
        )

    def _learner(self, X: TableLike, reading: Reading, seed: int) -> Learner:
        asks_for_classes = self._signs(reading) is not None
        plan = own_tree(self.estimator, asks_for_classes=asks_for_classes)
        if plan is None:
            rows = foreign_rows(X, reading)
            return EstimatorRegions(self.estimator, rows, resample=False, seed=seed)
        return TreeRegions(
            reading,
            plan[0],
            criterion=plan[1],
            policy=Policy(unseen=self.unseen, extra=self.extra_columns),
            n_threads=self._n_threads(),
        )

    def _check_regions(self) -> None:
        if self.step != "per_region":
            return
        if gives_classes(self.estimator) or self.get_params().get("oracle") == "classifier":
            raise InvalidParameter(
                "step='per_region' fits regression trees to the gradient, and goes with no "
                "classifier as a base learner. Choose step='line_search', or a regressor."
            )
        if self.estimator is not None and not hasattr(self.estimator, "apply"):
            raise InvalidParameter(
                f"step='per_region' needs a tree, which tells the leaf of a row by its method "
                f"apply; {type(self.estimator).__name__} has none. Choose step='line_search', or "
                "a DecisionTreeRegressor."
            )

    @abc.abstractmethod
    def _row_loss(self, reading: Reading) -> RowLoss:
        """Choose the loss for what was read."""

    @abc.abstractmethod
    def _targets(self, reading: Reading) -> FloatArray:
        """Give y as the loss wants it; (n_rows,)."""

    def _signs(self, reading: Reading) -> FloatArray | None:  # noqa: ARG002 - the classifier does
        """Give the classes as -1 and 1 if the base learner is asked for classes."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _adopt(self, model: Model) -> None:
        if not isinstance(model, TreeForest | MemberSum):
            raise InvalidModel(f"a {type(model).__name__} is not what boosting learns")
        n_scores = _n_scores(model)
        if isinstance(model, TreeForest):
            in_turn = np.arange(len(model)) % n_scores if n_scores > 1 else np.full(len(model), -1)
            outputs = model.arrays["tree_output"]
            if model.output.aggregate != "sum" or not np.array_equal(outputs, in_turn):
                raise InvalidModel("boosting adds a tree to every score in turn")
        if len(model) % n_scores:
            raise InvalidModel("boosting adds members in whole rounds")
        super()._adopt(model)

    def _raw_scores(self, X: TableLike) -> FloatArray:
        self._check_fitted()
        name, model = type(self).__name__, self.model_
        if isinstance(model, TreeForest):
            return model.raw_scores(model.conform(X, name), n_threads=self._n_threads())
        model.check_width(X, name)
        return model.raw_scores(X)

    def _staged_scores(self, X: TableLike) -> Iterator[FloatArray]:
        self._check_fitted()
        name, model, n_scores = type(self).__name__, self.model_, _n_scores(self.model_)
        if isinstance(model, TreeForest):
            table = model.conform(X, name)
            yield from model.staged_scores(
                table, trees_per_stage=n_scores, n_threads=self._n_threads()
            )
            return
        model.check_width(X, name)
        for number, scores in enumerate(model.staged_scores(X), 1):
            if number % n_scores == 0:
                yield scores

    def _through_link(self, scores: FloatArray) -> FloatArray:
        model = self.model_
        link = model.output.link if isinstance(model, TreeForest) else model.link
        return apply_link(link, scores, n_threads=self._n_threads())

    @property
    def steps_(self) -> FloatArray:
        """The step of each round, before ``learning_rate``."""
        self._check_fitted()
        return self.trace_.steps

    @property
    def train_score_(self) -> FloatArray:
        """Negative mean loss before the first round and after each."""
        self._check_fitted()
        return -np.append(self.trace_.start_loss, self.trace_.losses)

    @property
    def n_iter_(self) -> int:
        """Rounds that were made."""
        self._check_fitted()
        return len(self.model_) // _n_scores(self.model_)

    @property
    def estimators_(self) -> list[Any]:
        """The fitted base learners, a list of them per round for more than two classes."""
        self._check_fitted()
        members = [self._member(place) for place in range(len(self.model_))]
        n_scores = _n_scores(self.model_)
        if n_scores == 1:
            return members
        return [members[first : first + n_scores] for first in range(0, len(members), n_scores)]

    def _member(self, place: int) -> Any:
        if isinstance(self.model_, TreeForest):
            form = "signs" if self._asks_for_classes() else "values"
            return member_estimator(self.model_, place, form)
        member = self.model_[place]
        return member.estimator if isinstance(member, RegionMember) else member

    def _asks_for_classes(self) -> bool:
        """Tell whether the base learner is asked for classes, as in AnyBoost."""
        return False

    def _attributes(self) -> State:
        trace = self.trace_
        meta = {"stop_reason": trace.stop_reason, "start_loss": trace.start_loss}
        return meta, {name: np.array(getattr(trace, name)) for name in trace.ARRAYS}

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        kinds = {"stop_reason": str, "start_loss": float}
        check_round_numbers(DescentTrace, kinds, meta, arrays, self.n_iter_)
        parts: dict[str, Any] = {**meta, **{name: a.copy() for name, a in arrays.items()}}
        self.trace_ = DescentTrace(**parts)


def _n_scores(model: TreeForest | MemberSum) -> int:
    return len(model.arrays["baseline"] if isinstance(model, TreeForest) else model.baseline)
