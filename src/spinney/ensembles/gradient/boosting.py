"""Gradient boosting: the fit that the estimators share, which is everything but the loss."""

import abc
import contextlib
import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, ClassVar, Self

import numpy as np

from spinney.data.row_keys import KEYS
from spinney.data.target import Target
from spinney.ensembles.fitting import Reading
from spinney.ensembles.gradient.answers import BoostedAnswers
from spinney.ensembles.gradient.automatic import (
    NOTHING_CHOSEN,
    AutomaticSettings,
    choose_settings,
    may_divide_rows,
)
from spinney.ensembles.gradient.callbacks import Callback, read_callbacks
from spinney.ensembles.gradient.deriving import Deriving
from spinney.ensembles.gradient.fold_curve import FoldCurve, race_of_folds, rows_of_folds
from spinney.ensembles.gradient.given import Given, stops_by_folds
from spinney.ensembles.gradient.offsets import check_same_offset
from spinney.ensembles.gradient.orders import N_ORDERS, with_orders
from spinney.ensembles.gradient.plan import Plan, round_settings, with_tree_values
from spinney.ensembles.gradient.reading_texts import with_texts
from spinney.ensembles.gradient.rounds import Booster, RoundSettings, boost_rounds
from spinney.ensembles.gradient.rows import (
    VALIDATION_ROWS,
    BoostingRows,
    HeldOut,
    arrange_rows,
    bins_digest,
    targets_of,
    warn_of_small_weights,
)
from spinney.ensembles.gradient.stopping import STOPS, Clock, check_scorer
from spinney.ensembles.gradient.sums import BoostedSum
from spinney.errors import InterruptedFit, InvalidInput, InvalidModel, InvalidParameter, OutOfTime
from spinney.losses import Loss
from spinney.model import Model
from spinney.model.model import State
from spinney.randomness import seed_from
from spinney.trees.gradient import check_factors
from spinney.typing import AnyArray, FloatArray, TableLike


class GradientBoosting(BoostedAnswers):
    """Base of the estimators: a subclass has parameters, a loss and the form of predictions."""

    _chooses: ClassVar[bool] = False
    """Whether parameters may be "auto", to be chosen from the table."""

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        X_val: TableLike = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        offset_val: Any = None,
        groups: Any = None,
        time: Any = None,
        callbacks: Any = None,
    ) -> Self:
        """Add trees along the negative gradient of the loss.

        An interrupt (Ctrl-C) keeps the rounds learnt so far, and warns.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n labels or numbers, or a column for each of several
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.
        offset : n numbers, optional
            Added to the raw scores, such as the logarithm of an exposure under Poisson loss; of
            more than two classes (n, n_classes), of several labels or numbers the scores of all
            side by side. ``predict`` has to be given it too.
        X_val, y_val, sample_weight_val, offset_val : optional
            Rows to measure rounds on, for early stopping, in place of rows split off X. Their
            weights count in the score only, and class weights do not.
        groups, time : n labels, n sortable keys, optional
            How early stopping divides rows: no group is divided, and nothing is learnt from the
            future. ``early_stopping=True`` holds out whole groups or the latest rows, not both.
        callbacks : callable or list of callables, optional
            Called after every round with a view of it: ``round``, ``train_score``,
            ``validation_score``, ``seconds``, and ``model``, which is made when it is asked for.
            One that gives True ends the fit after this round.

        Returns
        -------
        self
        """
        began = monotonic()
        self._check_parameters()
        given = Given(
            X=X,
            y=y,
            sample_weight=sample_weight,
            offset=offset,
            X_val=X_val,
            y_val=y_val,
            sample_weight_val=sample_weight_val,
            offset_val=offset_val,
            groups=groups,
            time=time,
        )
        return self._fit(given, began, read_callbacks(callbacks))

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS if self._chooses and may_divide_rows(self._parameters()) else ()

    def _fit(self, given: Given, began: float, callbacks: tuple[Callback, ...]) -> Self:
        plan, folds, automatic = self._plan(given, began, callbacks)
        curve = None
        if folds is not None:
            curve, plan, automatic = self._chosen_by_folds(plan, folds, automatic)
            _tell_of_folds_cut_short(curve, plan)
        booster = Booster(plan.rows, plan.loss, plan.settings)
        if self._goes_on():
            grown = self._resume(plan)
        else:
            grown = BoostedSum.start(plan.rows, plan.loss, plan.settings.grid_rate)
        watch = plan.watch(lambda: self._twin(plan.freeze(grown)), grown.n_rounds)
        plan.rows.forget_tables()  # from here on there are only bins
        with contextlib.nullcontext() if watch is None else watch.progress:
            if watch is not None and not self._goes_on():
                watch.measure(grown)
            reason = boost_rounds(booster, grown, watch)
        self._learn_from(plan, reason, grown)
        self._validation_rows = given.validation_rows(plan.params, stops=plan.stops_early)
        if self._chooses:
            is_cut = reason in ("interrupt", "time_budget")
            n_rounds = plan.settings.max_rounds if is_cut else grown.n_rounds
            self.automatic_ = automatic.with_values({"max_iter": n_rounds})
        self._keep_curve(curve)
        return self

    def _plan(
        self, given: Given, began: float, callbacks: tuple[Callback, ...]
    ) -> tuple[Plan, list[BoostingRows] | None, AutomaticSettings]:
        """Read and bin everything; the folds are there if they decide how many rounds there are."""
        intake = self._intake_settings(**self._outputs_taken())
        reading = given.read(intake)
        loss = self._loss(reading.target)
        params, automatic = self._chosen(given, reading, loss)
        given.check(params)
        self._check_reading(reading, loss)
        reading = with_texts(reading, params)
        reading = replace(reading, target=self._target(reading.target))
        seed = self._seed if self._goes_on() else self._draw_seed()
        settings = round_settings(params, reading.schema, loss, intake, seed=seed)
        stops, held_out = given.held_out(params, reading, seed, intake, loss.n_outputs)
        if isinstance(held_out, HeldOut):
            self._check_held_out(held_out, reading, loss)
        factors = self._factors(reading)
        if factors is not None:
            check_factors(factors)  # before anything is summed
        offset = given.offset_of(reading, loss.n_outputs)
        if stops:
            check_scorer(params["scoring"], reading.target, has_offset=offset is not None)
        n_orders = 1 if loss.compares_rows else N_ORDERS
        known = None if offset is None else (offset, loss.link)
        deriving = Deriving.of(params, reading, settings.tree, seed, n_orders, offset=known)
        if deriving is None:
            told = rows = arrange_rows(reading, factors, held_out, intake, offset)
        else:
            reading, held_out, derived, others = deriving.apply(held_out)
            rows = replace(arrange_rows(reading, factors, held_out, intake, offset), **derived)
            told = with_orders(rows, others, intake.n_threads)
        loss = given.loss_over(loss, rows, intake.n_threads)
        if not settings.leaves_count_rows:
            warn_of_small_weights(rows, settings.tree.min_samples_leaf)
        clock = Clock(began, params["time_budget"])
        plan = Plan(params, reading.schema, told, loss, settings, stops, clock, callbacks)
        if not stops_by_folds(params):
            return plan, None, automatic
        folds = rows_of_folds(rows, given.folds(params, reading, seed))
        folds = folds if deriving is None else deriving.for_folds(folds, intake)
        return plan, folds, automatic

    def _chosen_by_folds(
        self, plan: Plan, folds: Sequence[BoostingRows], automatic: AutomaticSettings
    ) -> tuple[FoldCurve, Plan, AutomaticSettings]:
        """Let folds choose between sizes of trees, if none is given, and the number of rounds."""
        rivals = automatic.rivals(has_statistics=bool(plan.rows.orders))
        settings = [with_tree_values(plan.settings, rival) for rival in rivals]
        pace = automatic.pace(plan.settings.learning_rate)
        best, curve = race_of_folds(plan, folds, settings, pace, self._twin)
        chosen = replace(settings[best], max_rounds=pace.rounds(curve.best_round))
        plan = replace(plan, stops_early=False, settings=chosen)
        return curve, plan, automatic.with_values(rivals[best])

    def _chosen(
        self, given: Given, reading: Reading, loss: Loss
    ) -> tuple[dict[str, Any], AutomaticSettings]:
        """Give all parameters with a value for every "auto", and what was chosen."""
        params = self._parameters()
        if not self._chooses:
            return params, NOTHING_CHOSEN
        automatic = choose_settings(params, given, reading, loss.n_outputs)
        if self._goes_on() and hasattr(self, "automatic_"):
            stops = {"early_stopping": given.X_val is not None}
            automatic = automatic.with_values({**self.automatic_.values, **stops})
        return automatic.applied(params), automatic

    def _goes_on(self) -> bool:
        """Tell whether ``fit`` goes on with the model of the last one."""
        return bool(self._parameters()["warm_start"]) and hasattr(self, "model_")

    def _learn_from(self, plan: Plan, reason: str, grown: BoostedSum) -> None:
        """Become the estimator that learnt these rounds."""
        self._adopt(plan.freeze(grown))
        self.train_score_ = np.array(grown.train_scores)
        self.validation_score_ = np.array(grown.validation_scores)
        self.do_early_stopping_ = plan.stops_early
        self.stopped_by_ = reason
        self._seed = plan.settings.seed
        self._bins = bins_digest(plan.rows.binned.features)
        self._has_offset = plan.rows.offset is not None
        if reason in ("interrupt", "time_budget"):
            cause = "interrupted" if reason == "interrupt" else "out of its time_budget"
            warnings.warn(
                f"fit was {cause} after {grown.n_rounds} of {plan.settings.max_rounds} rounds "
                "and keeps them. Set warm_start=True and call fit again to add the others.",
                InterruptedFit if reason == "interrupt" else OutOfTime,
                stacklevel=3,
            )

    def _keep_curve(self, curve: FoldCurve | None) -> None:
        """Keep what folds said of each round; without folds, forget what earlier ones said."""
        for name in ("cv_score_", "cv_score_error_"):
            self.__dict__.pop(name, None)
        if curve is not None:
            self.do_early_stopping_ = True
            self.stopped_by_ = curve.reason if self.stopped_by_ == "max_iter" else self.stopped_by_
            self.cv_score_, self.cv_score_error_ = curve.scores, curve.errors

    @abc.abstractmethod
    def _loss(self, target: Target) -> Loss:
        """Choose the loss for what is to be learnt."""

    def _outputs_taken(self) -> dict[str, Any]:
        """Say whether y may have several columns, and if not, why; for the settings of intake."""
        return {"multi_output": False}

    def _target(self, given: Target) -> Target:
        """Describe what the model predicts, which may be more than y has."""
        return given

    def _parameters(self) -> dict[str, Any]:
        """Give all parameters there are, also those that a subclass does not offer."""
        return dict(self.get_params(deep=False))

    def _settings_of_fit(self) -> tuple[Loss, RoundSettings]:
        """Say again how the model was learnt, as far as parameters are what they were."""
        self._check_parameters()
        loss = self._loss(self.model_.target)
        intake = self._intake_settings(**self._outputs_taken())
        params, schema = self._parameters(), self.model_.schema
        if hasattr(self, "automatic_"):
            params = self.automatic_.applied(params)
        return loss, round_settings(params, schema, loss, intake, seed=self._seed)

    def _draw_seed(self) -> int:
        return seed_from(self.get_params(deep=False)["random_state"])

    def _factors(self, reading: Reading) -> FloatArray | None:  # noqa: ARG002 - classifiers use it
        """Give the factor of each row's loss; None: all 1."""
        return None

    def _check_reading(self, reading: Reading, loss: Loss) -> None:
        """Refuse what the loss is not defined for."""
        loss.check(targets_of(reading), reading.kept)

    def _check_held_out(self, held_out: HeldOut, reading: Reading, loss: Loss) -> None:
        try:
            # With the largest target of all, targets that happen to be all zero are not refused.
            largest = targets_of(reading).max(axis=0, keepdims=True)
            loss.check(np.concatenate([held_out.y, largest]))
        except InvalidInput as error:
            raise InvalidInput(f"y_val: {error}") from error

    def _twin(self, model: Model) -> Any:
        twin = copy.copy(self)
        twin._has_offset = False  # noqa: SLF001 - whatever the fit before had
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
            and plan.rows.derivation == getattr(model, "derivation", None)
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
        check_same_offset(plan.rows.offset, had_one=self._has_offset)
        grown = BoostedSum.resume(
            plan.rows, model, plan.loss, plan.settings.n_threads, plan.settings.grid_rate
        )
        grown.train_scores = self.train_score_.tolist()
        grown.validation_scores = self.validation_score_.tolist()
        grown.end_round()
        return grown

    def _attributes(self) -> State:
        meta = {"seed": self._seed, "bins": self._bins, "early_stopping": self.do_early_stopping_}
        scores = {"train_score": self.train_score_, "validation_score": self.validation_score_}
        if self._has_offset:
            meta["offset"] = True
        if self._validation_rows is not None:
            meta["validation_rows"] = self._validation_rows
        if hasattr(self, "automatic_"):
            meta["automatic"] = self.automatic_.to_state()
        if self.stopped_by_ != "max_iter":
            meta["stopped_by"] = self.stopped_by_
        if hasattr(self, "cv_score_"):
            scores |= {"cv_score": self.cv_score_, "cv_score_error": self.cv_score_error_}
        return meta, scores

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        always = {"seed": int, "bins": str, "early_stopping": bool}
        types = always | {"offset": bool, "stopped_by": str, "automatic": dict}
        types["validation_rows"] = str
        scores = {"train_score", "validation_score"}
        if (
            not set(always) <= set(meta) <= set(types)
            or any(type(value) is not types[name] for name, value in meta.items())
            or not 0 <= meta["seed"] < 2**64
            or len(meta["bins"]) != 64
            or meta.get("offset") is False
            or meta.get("stopped_by", STOPS[0]) not in STOPS
            or meta.get("validation_rows", "drawn") not in VALIDATION_ROWS
            or set(arrays) not in (scores, scores | {"cv_score", "cv_score_error"})
            or any(numbers.dtype != "<f8" or numbers.ndim != 1 for numbers in arrays.values())
        ):
            raise InvalidModel("what the estimator knows beside its model is missing or unknown")
        self._seed, self._bins = meta["seed"], meta["bins"]
        self.do_early_stopping_ = meta["early_stopping"]
        self.stopped_by_ = meta.get("stopped_by", "max_iter")
        self._has_offset = meta.get("offset", False)
        self._validation_rows = meta.get("validation_rows")
        if "automatic" in meta:
            self.automatic_ = AutomaticSettings.from_state(meta["automatic"])
        for name, numbers in arrays.items():
            setattr(self, f"{name}_", numbers.copy())


def _tell_of_folds_cut_short(curve: FoldCurve, plan: Plan) -> None:
    """Say at once that there will be a model, and what to do about its rounds."""
    if curve.reason == "interrupt":
        cause, remedy = "interrupted", "interrupt again to keep only those it has by then"
    elif curve.reason == "time_budget":
        cause = "out of the share of its time_budget that is for folds"
        remedy = "with a larger time_budget or learning_rate folds look further"
    else:
        return
    warnings.warn(
        f"fit was {cause} after {len(curve.scores) - 1} rounds of the folds that choose how "
        f"many there are. The model gets the {plan.settings.max_rounds} rounds that look best so "
        f"far; {remedy}.",
        InterruptedFit if curve.reason == "interrupt" else OutOfTime,
        stacklevel=4,
    )
