"""Gradient boosting: what the estimators share, which is everything but the loss."""

import abc
import contextlib
import copy
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spinney.data.table import Kind
from spinney.data.target import Target
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading
from spinney.ensembles.fitting import read_rows as read_training_rows
from spinney.ensembles.gradient.plan import Plan, policy_of, round_settings
from spinney.ensembles.gradient.rounds import RoundSettings, boost_rounds
from spinney.ensembles.gradient.rows import (
    HeldOut,
    arrange_rows,
    bins_digest,
    draw_held_out,
    read_held_out,
    warn_of_small_weights,
)
from spinney.ensembles.gradient.stopping import Watch
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.ensembles.parameters import (
    Boolean,
    Checked,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Nothing,
    Real,
    Rule,
    Scoring,
    Seed,
    either,
)
from spinney.errors import InterruptedFit, InvalidInput, InvalidModel, InvalidParameter
from spinney.losses import Loss
from spinney.model import Model, TreeForest
from spinney.model.links import apply_link
from spinney.model.model import State
from spinney.randomness import seed_from
from spinney.trees.gradient import check_factors
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike

BOOSTING_RULES: Mapping[str, Rule] = {
    "learning_rate": Real(0.0, above=True),
    "max_iter": Integer(1),
    "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
    "max_depth": either(Integer(1), Nothing("no limit")),
    "growth": Choice(("leaf_wise", "level_wise")),
    "min_samples_leaf": Integer(1),
    "min_child_weight": Real(0.0),
    "l2_regularization": Real(0.0),
    "l1_regularization": Real(0.0),
    "min_split_gain": Real(0.0),
    "prune_gain": Real(0.0),
    "subsample": Fraction(),
    "max_features": Fraction(),
    "max_features_per_tree": Fraction(),
    "max_bins": Integer(2, 255),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "monotonic_cst": Checked("None, -1, 0 or 1 per feature, or a dict from names to these"),
    "interaction_cst": Checked("None, 'pairwise', 'no_interactions' or groups of features"),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
    "warm_start": Boolean(),
    "early_stopping": either(Choice(("auto",)), Boolean()),
    "scoring": Scoring(),
    "validation_fraction": either(
        Fraction(below_one=True), Integer(1), Nothing("stopping on the training rows")
    ),
    "n_iter_no_change": Integer(1),
    "tol": Real(0.0),
    "verbose": either(Boolean(), Integer(0)),
    "random_state": Seed(),
    "n_jobs": Jobs(),
}

AUTO_STOPPING_ROWS = 10_000
"""``early_stopping="auto"`` stops early on tables with more rows."""


class GradientBoosting(Estimator):
    """Base of the estimators: a subclass has parameters, a loss and the form of predictions."""

    _model_class: ClassVar[type[Model]] = TreeForest
    model_: TreeForest

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: TableLike = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Add trees along the negative gradient of the loss.

        An interrupt (Ctrl-C) keeps the rounds learnt so far, and warns.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.
        X_val, y_val, sample_weight_val : optional
            Rows to measure rounds on, for early stopping, in place of rows split off X. Their
            weights count in the score only, and class weights do not.

        Returns
        -------
        self
        """
        self._check_parameters()
        plan = self._plan(X, y, sample_weight, (X_val, y_val, sample_weight_val))
        grown = self._resume(plan) if self._goes_on() else BoostedSum.start(plan.rows, plan.loss)
        watch = plan.watch(lambda: self._twin(plan.freeze(grown)), grown.n_rounds)
        plan.rows.tables.clear()  # from here on there are only bins
        with contextlib.nullcontext() if watch is None else watch.progress:
            if watch is not None and not self._goes_on():
                watch.look(grown)
            self._boost(plan, grown, watch)
        return self

    def _plan(
        self, X: TableLike, y: Any, sample_weight: Any, given: tuple[TableLike, Any, Any]
    ) -> Plan:
        """Read and bin everything; ``given`` are the user's own validation rows."""
        params = self._parameters()
        intake = self._intake_settings(multi_output=False)
        reading = read_training_rows(X, y, sample_weight, intake)
        loss = self._loss(reading.target)
        self._check_reading(reading, loss)
        seed = self._seed if self._goes_on() else self._draw_seed()
        settings = round_settings(params, reading.schema, loss, intake, seed=seed)
        stops, held_out = _validation(params, reading, given, seed, intake)
        if isinstance(held_out, HeldOut):
            self._check_held_out(held_out, reading, loss)
        factors = self._factors(reading)
        if factors is not None:
            check_factors(factors)  # before anything is summed
        rows = arrange_rows(reading, factors, held_out, intake)
        if not settings.leaves_count_rows:
            warn_of_small_weights(rows, settings.tree.min_samples_leaf)
        return Plan(params, reading.schema, rows, loss, settings, stops)

    def _goes_on(self) -> bool:
        """Tell whether ``fit`` goes on with the model of the last one."""
        return bool(self._parameters()["warm_start"]) and hasattr(self, "model_")

    def _boost(self, plan: Plan, grown: BoostedSum, watch: Watch | None) -> None:
        """Add the rounds, and become the estimator that learnt them."""
        was_interrupted = boost_rounds(plan.rows, plan.loss, plan.settings, grown, watch)
        self._adopt(plan.freeze(grown))
        self.train_score_ = np.array(grown.train_scores)
        self.validation_score_ = np.array(grown.validation_scores)
        self.do_early_stopping_ = plan.stops_early
        self._seed = plan.settings.seed
        self._bins = bins_digest(plan.rows.binned.features)
        if was_interrupted:
            warnings.warn(
                f"fit was interrupted after {grown.n_rounds} of {plan.settings.max_rounds} rounds "
                "and keeps them. Set warm_start=True and call fit again to add the others.",
                InterruptedFit,
                stacklevel=3,
            )

    @abc.abstractmethod
    def _loss(self, target: Target) -> Loss:
        """Choose the loss for what is to be learnt."""

    def _parameters(self) -> dict[str, Any]:
        """Give all parameters there are, also those that a subclass does not offer."""
        return dict(self.get_params(deep=False))

    def _settings_of_fit(self) -> tuple[Loss, RoundSettings]:
        """Say again how the model was learnt, as far as parameters are what they were."""
        self._check_parameters()
        loss = self._loss(self.model_.target)
        intake = self._intake_settings(multi_output=False)
        params, schema = self._parameters(), self.model_.schema
        return loss, round_settings(params, schema, loss, intake, seed=self._seed)

    def _draw_seed(self) -> int:
        return seed_from(self.get_params(deep=False)["random_state"])

    def _factors(self, reading: Reading) -> FloatArray | None:  # noqa: ARG002 - classifiers use it
        """Give the factor of each row's loss; None: all 1."""
        return None

    def _check_reading(self, reading: Reading, loss: Loss) -> None:
        """Refuse what the loss is not defined for."""
        loss.check(reading.y.reshape(-1), reading.kept)

    def _check_held_out(self, held_out: HeldOut, reading: Reading, loss: Loss) -> None:
        try:
            # With the largest target of all, targets that happen to be all zero are not refused.
            loss.check(np.append(held_out.y, reading.y.max()))
        except InvalidInput as error:
            raise InvalidInput(f"y_val: {error}") from error

    def _twin(self, model: TreeForest) -> Any:
        twin = copy.copy(self)
        twin._adopt(model)  # noqa: SLF001 - a copy of its own class
        return twin

    def _resume(self, plan: Plan) -> BoostedSum:
        """Go on with the model there is, if the data are those it was learnt from."""
        params, model = plan.params, self.model_
        if params["max_iter"] < self.n_iter_:
            raise InvalidParameter(
                f"max_iter={params['max_iter']} must be larger than or equal to "
                f"n_iter_={self.n_iter_} when warm_start==True"
            )
        same = (
            bins_digest(plan.rows.binned.features) == self._bins
            and plan.schema == model.schema
            and plan.rows.target.same_as(model.target)
            and plan.loss.link == model.output.link
        )
        if not same:
            raise InvalidInput(
                "warm_start=True goes on with the model of an earlier fit, but X, y or the loss "
                "are not those it was learnt from: features, classes, link or bins differ. Give "
                "the same table, weights and validation rows, or set warm_start=False to begin "
                "anew."
            )
        grown = BoostedSum.resume(plan.rows, model, plan.settings.n_threads)
        grown.train_scores = self.train_score_.tolist()
        grown.validation_scores = self.validation_score_.tolist()
        grown.end_round()
        return grown

    def _adopt(self, model: Model) -> None:
        if isinstance(model, TreeForest):
            n_outputs = len(model.arrays["baseline"])
            in_turn = np.arange(len(model)) % n_outputs
            if (
                len(model) % n_outputs
                or model.output.aggregate != "sum"
                or not np.array_equal(model.arrays["tree_output"], in_turn)
            ):
                raise InvalidModel("boosting adds a tree to every output in turn, in whole rounds")
        super()._adopt(model)

    def _raw_scores(self, X: TableLike) -> FloatArray:
        check_is_fitted(self)
        table = self.model_.conform(X, type(self).__name__)
        return self.model_.raw_scores(table, n_threads=self._n_threads())

    def _staged_scores(self, X: TableLike) -> Iterator[FloatArray]:
        check_is_fitted(self)
        table = self.model_.conform(X, type(self).__name__)
        return self.model_.staged_scores(
            table, trees_per_stage=self.n_trees_per_iteration_, n_threads=self._n_threads()
        )

    def apply(self, X: TableLike) -> CodeArray:
        """Find the leaf each row falls into, by its number within its tree.

        Returns
        -------
        leaves : (n_rows, n_iter_), or (n_rows, n_iter_, n_classes) for more than two classes
        """
        self._check_fitted()
        leaves = self.model_.leaf_ids(
            X, n_threads=self._n_threads(), estimator_name=type(self).__name__
        )
        n_outputs = self.n_trees_per_iteration_
        return leaves if n_outputs == 1 else leaves.reshape(len(leaves), -1, n_outputs)

    def _through_link(self, scores: FloatArray) -> FloatArray:
        return apply_link(self.model_.output.link, scores, n_threads=self._n_threads())

    @property
    def n_trees_per_iteration_(self) -> int:
        """Trees per round: one, or one per class if there are more than two."""
        check_is_fitted(self)
        return len(self.model_.arrays["baseline"])

    @property
    def n_iter_(self) -> int:
        """Rounds of boosting: trees per output."""
        return len(self.model_) // self.n_trees_per_iteration_

    @property
    def is_categorical_(self) -> AnyArray | None:
        """Whether each feature is categorical; None if none is."""
        check_is_fitted(self)
        mask = np.array([kind is Kind.CATEGORICAL for kind in self.model_.schema.kinds])
        return mask if mask.any() else None

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain; sums to 1 unless no tree has a split."""
        check_is_fitted(self)
        gains = self.model_.feature_gains()
        return gains / (gains.sum() or 1.0)

    def _attributes(self) -> State:
        meta = {"seed": self._seed, "bins": self._bins, "early_stopping": self.do_early_stopping_}
        scores = {"train_score": self.train_score_, "validation_score": self.validation_score_}
        return meta, scores

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        types = {"seed": int, "bins": str, "early_stopping": bool}
        if (
            {name: type(value) for name, value in meta.items()} != types
            or not 0 <= meta["seed"] < 2**64
            or len(meta["bins"]) != 64
            or set(arrays) != {"train_score", "validation_score"}
            or any(scores.dtype != "<f8" or scores.ndim != 1 for scores in arrays.values())
        ):
            raise InvalidModel("what the estimator knows beside its model is missing or unknown")
        self._seed, self._bins = meta["seed"], meta["bins"]
        self.do_early_stopping_ = meta["early_stopping"]
        self.train_score_ = arrays["train_score"].copy()
        self.validation_score_ = arrays["validation_score"].copy()


def _validation(
    params: Mapping[str, Any],
    reading: Reading,
    given: tuple[TableLike, Any, Any],
    seed: int,
    settings: IntakeSettings,
) -> tuple[bool, AnyArray | HeldOut | None]:
    """Tell whether to stop early, and give the rows that decide when, if they do not train."""
    X_val, y_val, sample_weight_val = given
    if (X_val is None) != (y_val is None):
        here, missing = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
        raise InvalidInput(f"{here} is provided, but {missing} was not provided. Give both.")
    if X_val is None and sample_weight_val is not None:
        raise InvalidInput("sample_weight_val is provided, but X_val and y_val are not. Give them.")
    wish = params["early_stopping"]
    if X_val is not None:
        if not wish:
            raise InvalidInput(
                "X_val and y_val are passed to fit while at the same time early_stopping is False. "
                "Nothing would look at them: set early_stopping to True or 'auto'."
            )
        return True, read_held_out(given, reading, policy_of(params), settings)
    stops = len(reading.y) > AUTO_STOPPING_ROWS if wish == "auto" else bool(wish)
    if not stops or params["validation_fraction"] is None:
        return stops, None
    return stops, draw_held_out(reading, params["validation_fraction"], seed)
