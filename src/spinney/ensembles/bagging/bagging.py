"""What bagging of classes and of numbers shares: fitting, asking, and what is known of members."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from spinney.data.row_keys import KEYS, keys_wanted
from spinney.ensembles.bagging.job import Job
from spinney.ensembles.bagging.member_road import MemberRoad
from spinney.ensembles.bagging.member_table import member_table
from spinney.ensembles.bagging.samplers import SAMPLERS, Sampler
from spinney.ensembles.bagging.tree_road import TreeRoad, is_forest
from spinney.ensembles.bagging.tree_views import MemberTrees
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.forests.bag_keeper import BagKeeper
from spinney.ensembles.forests.knowledge import Knowledge
from spinney.ensembles.forests.out_of_bag import MedianTally, Tally
from spinney.ensembles.forests.rows import keys_of_sampler
from spinney.ensembles.forests.warm_start import check_same_draw
from spinney.ensembles.parameters import (
    BaseLearner,
    Boolean,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Nothing,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.routing import one_member_router, to_members
from spinney.ensembles.side_by_side import done_in_order
from spinney.ensembles.uncertain.out_of_bag import OutOfBagCalibration
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.model import Model, TreeForest
from spinney.model.median import MedianForest
from spinney.model.member_bag import MemberBag, ask_member, combined
from spinney.model.model import State
from spinney.randomness import seed_from
from spinney.resampling.feature_draws import FeatureDraws
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike
from spinney.uncertainty.out_of_bag import blocks


class OwnSampler:
    """A rule: an object that draws rows."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        return isinstance(value, Sampler) and not isinstance(value, type)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "an object with a method draw(n_rows, member, seed) that gives a count per row"


BAGGING_RULES: Mapping[str, Rule] = {
    "estimator": BaseLearner("a decision tree"),
    "n_estimators": Integer(1),
    "max_samples": either(Integer(1), Fraction(), Nothing("as many as there are")),
    "max_features": either(Integer(1), Fraction()),
    "bootstrap": Boolean(),
    "bootstrap_features": Boolean(),
    "oob_score": Boolean(),
    "warm_start": Boolean(),
    "n_jobs": Jobs(),
    "random_state": Seed(),
    "verbose": either(Integer(0), Boolean()),
    "sampler": either(Choice(SAMPLERS), OwnSampler(), Nothing("what bootstrap says")),
    "block_length": either(Integer(1), Nothing("the cube root of the number of rows")),
}


OF_FIT = ("sample_weight", "groups", "time")
"""What ``fit`` takes for itself, not for members."""
_OWN = ("features", "aggregation")
"""What a file tells of bagging beside its bags."""


class Bagging(OutOfBagCalibration, BagKeeper):
    """Members fitted on rows and features of their own, whose answers are put together."""

    _model_class: ClassVar[type[Model]] = Model  # type: ignore[type-abstract]
    _default_base: ClassVar[type[Estimator]]
    _draws: FeatureDraws
    _known: Knowledge
    _aggregated_by: str | None = None
    """How answers were joined in fit; None: an old file does not tell."""
    aggregation: str
    estimator: Any
    sampler: Any
    n_estimators: int
    oob_score: bool
    warm_start: bool
    random_state: RandomState
    n_jobs: int | None

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : table of n rows
            What the base learner takes; for our trees pandas, polars or Arrow tables, NumPy
            arrays, SciPy sparse matrices.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are never drawn. Weights that
            are no whole numbers are chances of a bootstrap; without replacement, and with other
            samplers, members weigh what they draw.
        groups : n labels, optional
            For ``sampler="group"``: rows of a group are drawn together. And, with ``time``, for
            members that divide rows themselves, such as stacks.
        time : n sortable keys, optional
            For ``sampler="block"``: blocks are of consecutive times, each with all its rows, and
            ``block_length`` counts times. Without it rows stand in the order of time.
        **fit_params
            With scikit-learn's metadata routing: for ``fit`` of the members that ask for it.

        Returns
        -------
        self
        """
        self._check_parameters()
        given = self._routed("fit", fit_params)
        goes_on = bool(self.warm_start) and hasattr(self, "model_")
        if goes_on and self._has_enough():
            return self
        self.__dict__.pop("_stream", None)
        job = self._job(self._seed_so_far() if goes_on else seed_from(self.random_state), given)
        road = TreeRoad if self._grows_trees(by_time=time is not None) else MemberRoad
        work = road(job, (X, y, sample_weight, groups, time))
        tally = self._tally(work)
        before = None
        if goes_on:
            self._check_same(work)
            before = self.model_
        members = range(len(before) if before is not None else 0, self.n_estimators)
        self._adopt(work.fit(members, before, tally))
        self._known, self._draws = work.known, work.features
        self._aggregated_by = job.params["aggregation"]
        self._forget_out_of_bag()
        if tally is not None:
            self._warn_of_unasked(tally)
            self._keep_out_of_bag(tally)
            self._calibrate_with(self._known.spread(tally.answers()), work.y, work.row_weights)
        return self

    def _keys_wanted(self) -> tuple[str, ...]:
        wanted = {*keys_of_sampler(self.sampler), *keys_wanted(self.estimator_)}
        return tuple(name for name in KEYS if name in wanted)

    @property
    def estimator_(self) -> Any:
        """The base learner: the one that was given, or a decision tree."""
        return self._default_base() if self.estimator is None else self.estimator

    def _grows_trees(self, *, by_time: bool) -> bool:
        """Tell whether members are trees of ours that grow as one forest."""
        params = self.get_params(deep=False)
        return is_forest(self.estimator_, self._task, params, by_time=by_time)

    def _joins_by(self) -> str:
        """Say how answers of members are joined, as ``aggregation`` says."""
        return self.aggregation

    @property
    def aggregation_(self) -> str:
        """How the members' answers are joined."""
        self._check_fitted()
        told = self.model_.aggregation if isinstance(self.model_, MemberBag) else None
        return told or self._aggregated_by or self._joins_by()

    def _job(self, seed: int, given: Mapping[str, Any]) -> Job:
        return Job(
            name=type(self).__name__,
            task=self._task,
            base=self.estimator_,
            params={**self.get_params(deep=False), "aggregation": self._joins_by()},
            seed=seed,
            n_threads=self._n_threads(),
            given=given,
        )

    def _seed_so_far(self) -> int:
        if not hasattr(self, "_known"):
            raise InvalidInput(
                "warm_start=True cannot go on with members that learnt by partial_fit. Go on with "
                "partial_fit, or set warm_start=False to begin anew."
            )
        return self._known.recipe.seed

    def _has_enough(self) -> bool:
        """Tell whether a fit that goes on has nothing to do, and refuse one that would go back."""
        there = len(self.model_)
        if self.n_estimators < there:
            raise InvalidParameter(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={there} when warm_start==True. Ask for more members, or set "
                "warm_start=False to begin anew."
            )
        if self.n_estimators == there:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=3,
            )
        return self.n_estimators == there

    def _check_same(self, work: TreeRoad | MemberRoad) -> None:
        """Refuse to go on with an ensemble of other data."""
        same_kind = isinstance(self.model_, MemberBag) == isinstance(work, MemberRoad)
        old, new = self._known, work.known
        if (
            not same_kind
            or work.schema != self.model_.schema
            or not work.target.same_as(self.model_.target)
            or (new.n_given, new.recipe.n_rows) != (old.n_given, old.recipe.n_rows)
            or new.recipe.sampler != old.recipe.sampler
            or work.features != self._draws
            or not self._draws_as_before(work)
            or not old.same_rows(new)
            or not work.fits(self.model_, self._aggregated_by)
        ):
            raise InvalidInput(
                "warm_start=True goes on with the ensemble of an earlier fit, but X, y, their "
                "weights, the base learner, the sampler or max_features are not those it was "
                "fitted with. Give the same, or set warm_start=False to begin anew."
            )

    def _draws_as_before(self, work: TreeRoad | MemberRoad) -> bool:
        """Tell whether members that there are would be drawn again; refuse sizes and weights."""
        old, new = self._known.recipe, work.known.recipe
        check_same_draw(old, new, "the ensemble of an earlier fit, whose members")
        last = len(self.model_) - 1
        return all(
            np.array_equal(old.bags().counts(some), new.bags().counts(some))
            for some in (range(1), range(last, last + 1))
        )

    def _tally(self, work: TreeRoad | MemberRoad) -> Tally | None:
        """Make the judge of rows out of bags, if one is wanted."""
        if not self.oob_score:
            return None
        if self.warm_start:
            raise InvalidParameter(
                "Out of bag estimate only available if warm_start=False. Set it so, or "
                "oob_score=False."
            )
        if not work.bags.leaves_rows_out:
            raise InvalidParameter(
                "Out of bag estimation only available if bootstrap=True, or with a sampler that "
                "leaves rows out of bags. Set one of them, a max_samples below 1, or "
                "oob_score=False."
            )
        is_median = self._joins_by() == "median"
        return (MedianTally if is_median else Tally)(work.y, work.target, work.row_weights)

    def _warn_of_unasked(self, tally: Tally) -> None:
        if not tally.asked.all():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were "
                "used to compute any reliable oob estimates. Use more.",
                UserWarning,
                stacklevel=3,
            )

    # What is given beside rows

    def _calls(self) -> dict[str, str]:
        """Say which method of members each of ours calls."""
        return {"fit": "fit", "predict": "predict"}

    def get_metadata_routing(self) -> Any:
        """Say what members take beside rows and targets; see scikit-learn's routing."""
        return one_member_router(self, self.estimator_, self._calls(), OF_FIT)

    def _routed(self, method: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Give what the members' method that is called takes of what was given."""
        if not given:
            return {}
        routed = dict(to_members(self, method, given)["estimator"][self._calls()[method]])
        if method == "fit" and "sample_weight" in routed:
            raise InvalidInput(
                "Weights of members are what their bags count, so no other name can be routed to "
                f"sample_weight of {type(self.estimator_).__name__}.fit. Give fit of "
                f"{type(self).__name__} the weights of rows as sample_weight."
            )
        return routed

    # Asking members

    def _predictions(self, X: Any, given: Mapping[str, Any] | None = None) -> Any:
        self._check_fitted()
        model = self.model_
        if not isinstance(model, MemberBag):
            return super()._predictions(X)
        answers = self._each(ask_member, X, model, model.question(given))
        return combined(answers, model.aggregation)

    def _each(self, ask: Any, X: Any, model: MemberBag, *how: Any) -> list[FloatArray]:
        """Ask every member, by joblib; what they say comes in their order."""
        table = member_table(X)
        validate_data(self, table, reset=False, skip_check_array=True)
        n_jobs = 1 if isinstance(self.estimator_, Estimator) else self.n_jobs
        asked = zip(model.members, model.features, strict=True)
        tasks = ((member, table, features, *how) for member, features in asked)
        return list(done_in_order(ask, tasks, n_jobs))

    def _member_answers(self, X: TableLike) -> Iterator[tuple[slice, FloatArray]]:
        """Give what each member says of some rows at a time; (n_rows, n_members, n_outputs)."""
        model = self.model_
        if not isinstance(model, MemberBag):
            yield from super()._member_answers(X)
            return
        answers = self._each(ask_member, X, model, model.question())
        for rows in blocks(len(answers[0]), len(answers) * model.target.n_outputs):
            yield rows, np.stack([one[rows] for one in answers], axis=1)

    def _largest_answer(self) -> float | None:
        return None if isinstance(self.model_, MemberBag) else super()._largest_answer()

    def _takes_medians(self) -> bool:
        model = self.model_
        is_bag = isinstance(model, MemberBag)
        return isinstance(model, MedianForest) or (is_bag and model.aggregation == "median")

    # What is known of members

    @property
    def estimators_(self) -> Any:
        """The members; each takes the columns that ``estimators_features_`` says."""
        check_is_fitted(self)
        if isinstance(self.model_, MemberBag):
            return list(self.model_.members)
        return MemberTrees(self._forest(), self.estimator_, self._known.recipe.seed, self._draws)

    @property
    def estimators_features_(self) -> list[AnyArray]:
        """Columns each member sees, by their numbers."""
        check_is_fitted(self)
        return [self._draws.draw(member) for member in range(len(self.model_))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # Files

    def _forest(self) -> TreeForest:
        return self.model_.trees if isinstance(self.model_, MedianForest) else super()._forest()

    def _attributes(self) -> State:
        meta, arrays = super()._attributes()
        meta["features"] = [self._draws.n_drawn, int(self._draws.replace)]
        if self._aggregated_by is not None:
            meta["aggregation"] = self._aggregated_by
        return meta, arrays

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        features, aggregation = meta.get("features"), meta.get("aggregation")
        n = self.n_features_in_
        if (
            not isinstance(features, list)
            or len(features) != 2
            or any(type(number) is not int for number in features)
            or not 1 <= features[0] <= n
            or features[1] not in (0, 1)
            or not (aggregation is None or self._rules["aggregation"].accepts(aggregation))
            or aggregation == "auto"  # what it became is told
        ):
            raise InvalidModel("what the estimator knows beside its model is missing or unknown")
        others = {name: value for name, value in meta.items() if name not in _OWN}
        super()._adopt_attributes(others, arrays)
        self._aggregated_by = aggregation
        seed = self._known.recipe.seed
        self._draws = FeatureDraws(n, features[0], seed, replace=bool(features[1]))
