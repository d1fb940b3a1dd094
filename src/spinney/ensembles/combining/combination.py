"""What committees share: members by name, parameters, rows at the door, routing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, get_tags
from sklearn.utils._repr_html.estimator import _VisualBlock
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import _num_samples, check_is_fitted

from spinney.data.keys import one_per_row
from spinney.data.row_keys import KEYS, is_routed, keys_for
from spinney.data.weights import read_weights
from spinney.ensembles.combining.jobs import CommitteeRows, Job, run_jobs, take_rows
from spinney.ensembles.combining.members import (
    default_members,
    is_dropped,
    present,
    read_members,
)
from spinney.ensembles.combining.state import (
    classes_target,
    members_from_state,
    target_from_state,
)
from spinney.ensembles.compiling import Compilable
from spinney.ensembles.estimator import _suggesting, _unknown
from spinney.ensembles.parameters import Checked, Rule, check_parameters
from spinney.ensembles.routing import refuse_unrouted, sliced
from spinney.ensembles.sharing import TableRows
from spinney.ensembles.uncertain.calibrating import CALIBRATION, Calibratable
from spinney.errors import InvalidInput, InvalidModel
from spinney.model.model import State
from spinney.resampling.keys import read_ranks
from spinney.typing import AnyArray, IntArray, TableLike

MEMBERS_RULE = Checked("a list of (name, estimator) pairs, or None for the default members")


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What ``fit`` was given, without the rows of weight 0."""

    rows: CommitteeRows
    groups: AnyArray | None
    time: IntArray | None
    """Ranks: equal times, equal ranks."""
    kept: AnyArray | None
    """Numbers of the rows in what was given; None: all of them."""
    n_given: int
    parameters: dict[str, dict[str, Any]]
    """For ``fit`` of each member, by name."""
    final_parameters: dict[str, Any]
    """For ``fit`` of whoever combines them."""


class Combination(Compilable, Calibratable, MetaEstimatorMixin, _BaseComposition):
    """Base of committees whose members are any estimators, known by their names.

    It has no model of its own. Files hold its members, if they are ours, and what it learnt.
    """

    _combines: ClassVar[bool] = True
    _rules: ClassVar[Mapping[str, Rule]] = {}
    _task: ClassVar[str]
    _any_kind: ClassVar[bool] = False
    """Whether members of a classifier may be regressors."""
    estimators: Any
    estimators_: list[Any]
    named_estimators_: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _suggesting(cls.__init__)  # type: ignore[method-assign]

    # Parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters, those of members under their names."""
        params: dict[str, Any] = super()._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters; a member is changed, or left out ("drop"), by its name."""
        known = self.get_params(deep=True)
        for name in params:
            owner, nested, _ = name.partition("__")
            if owner not in known or (nested and not hasattr(known[owner], "set_params")):
                raise _unknown(type(self).__name__, name, known)
        super()._set_params("estimators", **params)
        return self

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules)

    @property
    def named_estimators(self) -> Any:
        """The members as they were given, by name."""
        return Bunch(**dict(self._members_or_default()))

    def _members_or_default(self) -> list[tuple[str, Any]]:
        return default_members(self._task) if self.estimators is None else self.estimators

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            inner = [get_tags(member).input_tags for _, member in self._tagged()]
        except (TypeError, ValueError, AttributeError):  # what fit will refuse
            return tags
        for name in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, name, all(getattr(own, name) for own in inner))
        return tags

    def _tagged(self) -> list[tuple[str, Any]]:
        """Give those who look at the table."""
        return present(self._members_or_default())

    def _sk_visual_block_(self) -> Any:
        names, members = zip(*self._members_or_default(), strict=True)
        return _VisualBlock("parallel", members, names=names)

    # What is known of the table

    @property
    def n_features_in_(self) -> int:
        """How many features the members were fitted on."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(
                f"{type(self).__name__} object has no attribute n_features_in_"
            ) from error
        n_features: int = self.estimators_[0].n_features_in_
        return n_features

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _keep_members(self, members: list[tuple[str, Any]], fitted: list[Any]) -> None:
        """Remember the fitted members, in their order and by name."""
        self.estimators_ = fitted
        self._forget_calibration()
        self.__dict__.pop("feature_names_in_", None)
        self.named_estimators_ = Bunch()
        remaining = iter(fitted)
        for name, member in members:
            now = member if is_dropped(member) else next(remaining)
            self.named_estimators_[name] = now
            if hasattr(now, "feature_names_in_"):
                self.feature_names_in_ = now.feature_names_in_

    # Fitting

    def _given(
        self,
        rows: tuple[TableLike, AnyArray],
        sample_weight: Any,
        keys: tuple[Any, Any],
        extra: Any,
    ) -> Given:
        """Read weights, groups and time; leave out rows of weight 0: they are as if absent."""
        groups, time = keys
        X, y = rows
        n = X.n_rows if isinstance(X, TableRows) else _num_samples(X)
        if len(y) != n:
            raise InvalidInput(
                f"Found input variables with inconsistent numbers of samples: {[n, len(y)]}. Give "
                "one target per row of X."
            )
        weights = read_weights(sample_weight, n)
        labels = None if groups is None else one_per_row(groups, n, "groups")
        ranks = None if time is None else read_ranks(time, n)
        kept = None if weights is None or weights.all() else np.flatnonzero(weights)
        if kept is not None and weights is not None:
            X, y, weights = take_rows(X, kept), y[kept], weights[kept]
            labels = None if labels is None else labels[kept]
            ranks = None if ranks is None else ranks[kept]
            extra = sliced(extra, n, kept)
        final = dict(extra) if weights is None else {"sample_weight": weights, **extra}
        committee = CommitteeRows(X, y, weights)
        read = {"groups": labels, "time": ranks}
        there = {name: value for name, value in read.items() if value is not None}
        return Given(committee, labels, ranks, kept, n, self._routed(final, there), final)

    def _routed(
        self, parameters: dict[str, Any], keys: dict[str, AnyArray]
    ) -> dict[str, dict[str, Any]]:
        """Say what ``fit`` of each member is given beside its rows."""
        members = present(read_members(self, self._task, any_kind=self._any_kind))
        if is_routed():
            router = self.get_metadata_routing()
            asked = {name: keys[name] for name in keys if router.consumes("fit", [name])}
            routed = process_routing(self, "fit", **parameters, **asked)
            found = {name: dict(routed[name]["fit"]) for name, _ in members}
        else:
            found = {name: dict(parameters) for name, _ in members}
        for name, member in members:
            found[name] |= keys_for(member, keys)  # those that divide rows inside this one
        return found

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS

    def _refuse_metadata(self, extra: Mapping[str, Any]) -> None:
        refuse_unrouted(self, "fit", extra)

    def _full_jobs(self, given: Given, members: list[tuple[str, Any]]) -> list[Job]:
        """Make the fits on all rows."""
        return [
            Job(
                member,
                given.rows.source(member),
                given.rows.y,
                given.parameters[name],
                names=self._code_names(),
                name=name,
            )
            for name, member in present(members)
        ]

    def _code_names(self) -> AnyArray | None:
        """Give the labels that members know as codes; None: they know labels, or numbers."""
        return None

    def _fit_all(self, given: Given, members: list[tuple[str, Any]], n_jobs: int | None) -> None:
        """Fit every member on all rows."""
        jobs, verbose = self._full_jobs(given, members), getattr(self, "verbose", 0)
        self._keep_members(members, run_jobs(jobs, n_jobs, verbose=verbose))

    # Files

    def _to_parts(self) -> tuple[list[Any], State]:
        """Take a fitted committee apart: the estimators it is made of, and what it knows itself."""
        check_is_fitted(self)
        names = [name for name, now in self.named_estimators_.items() if not is_dropped(now)]
        meta: dict[str, Any] = {"members": names}
        arrays: dict[str, AnyArray] = {}
        if self._task == "classification":
            meta["target"], own = classes_target(self.classes_, type(self).__name__).to_state()
            arrays = {f"target/{name}": array for name, array in own.items()}
        more, (facts, own) = self._facts()
        kept, kept_arrays = self._all_attributes()
        return [*self.estimators_, *more], (
            {**meta, **facts, **kept},
            {**arrays, **own, **kept_arrays},
        )

    def _attributes(self) -> State:
        """Give nothing beside the calibration: the rest is in ``_facts``."""
        return {}, {}

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take nothing."""

    def _facts(self) -> tuple[list[Any], State]:
        """Give what it knows beside its members and classes; estimators first."""
        return [], ({}, {})

    def _adopt_parts(
        self, parts: list[Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        """Become what ``_to_parts`` took apart, believing nothing."""
        members = members_from_state(self, parts, meta.get("members"))
        fitted = parts[: len(present(members))]
        known = ("members", "target", "calibration")
        rest = {name: value for name, value in meta.items() if name not in known}
        kept = {name: array for name, array in arrays.items() if name.startswith(CALIBRATION)}
        arrays = {name: array for name, array in arrays.items() if name not in kept}
        own = {name: array for name, array in arrays.items() if not name.startswith("target/")}
        if self._task == "classification":
            target = target_from_state(meta.get("target"), arrays)
            self.classes_ = np.asarray(target.classes)
        elif "target" in meta or len(own) < len(arrays):
            raise InvalidModel(f"a {type(self).__name__} knows no classes")
        self._keep_members(members, fitted)
        self._adopt_facts(parts[len(fitted) :], rest, own)
        told = {name: meta[name] for name in meta if name == "calibration"}
        self._adopt_all_attributes(told, kept)

    def _adopt_facts(
        self, parts: list[Any], meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]
    ) -> None:
        """Take back what ``_facts`` gave."""
        if parts or meta or arrays:
            raise InvalidModel(f"a {type(self).__name__} knows nothing beside its members")

    def get_metadata_routing(self) -> Any:
        """Say which members take what beside rows and targets; see scikit-learn's routing."""
        router = MetadataRouter(owner=self)
        for name, member in self._members_or_default():
            mapping = MethodMapping().add(callee="fit", caller="fit")
            router.add(**{name: member}, method_mapping=mapping)
        return router
