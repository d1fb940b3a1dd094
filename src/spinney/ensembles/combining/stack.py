"""What stacks share: answers of members become columns, and a final estimator learns from them."""

import abc
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils._repr_html.estimator import _VisualBlock
from sklearn.utils.metadata_routing import MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from spinney.data.row_keys import is_routed, keys_for
from spinney.ensembles.combining.combination import MEMBERS_RULE, Given
from spinney.ensembles.combining.filed_stack import FiledStack
from spinney.ensembles.combining.jobs import as_asked
from spinney.ensembles.combining.linear_pool import POOLS, PoolClassifier, PoolRegressor
from spinney.ensembles.combining.members import Answers, fit_member, present, read_members
from spinney.ensembles.combining.out_of_fold import OutOfFold, ask_out_of_fold, methods_of
from spinney.ensembles.combining.passthrough import beside, fit_final
from spinney.ensembles.combining.prefit import known_classes, take_fitted
from spinney.ensembles.combining.targets import (
    ManyLabels,
    has_many_labels,
    read_classes,
    read_column,
    read_many_labels,
)
from spinney.ensembles.failing_fits import telling_where
from spinney.ensembles.parameters import Boolean, Checked, Choice, Integer, Jobs, Rule, either
from spinney.ensembles.routing import sliced
from spinney.errors import InvalidInput, InvalidParameter
from spinney.typing import AnyArray, FloatArray, TableLike

STACK_RULES: Mapping[str, Rule] = {
    "estimators": MEMBERS_RULE,
    "final_estimator": Checked(
        f"an estimator, None for the default one, or one of {', '.join(POOLS)}"
    ),
    "cv": Checked("a number of folds, a splitter, pairs of row numbers, 'prefit', or None"),
    "n_jobs": Jobs(),
    "passthrough": Boolean(),
    "verbose": either(Boolean(), Integer(0)),
    "repeated": Choice(("error", "average")),
}


def _final_has(name: str) -> Callable[[Any], bool]:
    def check(stack: Any) -> bool:
        getattr(stack._final(), name)  # noqa: SLF001 - its own; raises what tells why
        return True

    return check


class Stacking(TransformerMixin, FiledStack):
    """Base of the stacks."""

    final_estimator: Any
    cv: Any
    stack_method: Any
    n_jobs: Any
    passthrough: Any
    verbose: Any
    repeated: Any
    final_estimator_: Any
    stack_method_: list[str]

    def _stack(self, given: Given) -> None:
        """Ask members about rows they have not seen, and fit the final estimator on that."""
        members = read_members(self, self._task, any_kind=self._any_kind)
        final = self._make_final(len(present(members)))
        said = self._hear(given, members)
        self._n_feature_outs = [columns.shape[1] for columns in said.columns]
        if isinstance(final, PoolRegressor) and sum(self._n_feature_outs) > len(said.columns):
            raise InvalidInput(
                f"Members answer with {self._n_feature_outs} numbers per row, and each has one "
                "weight: expected one number of each. Give final_estimator another regressor."
            )
        rows = said.rows
        columns = said.columns if rows is None else [own[rows] for own in said.columns]
        meta = self._joined(columns, given.rows.X, rows)
        keys = keys_for(final, {"groups": given.groups, "time": given.time})
        parameters = sliced({**given.final_parameters, **keys}, given.rows.n_rows, rows)
        y = given.rows.y if rows is None else given.rows.y[rows]
        where = "the rows that the final estimator learns from"
        with telling_where(final, y, where, self._code_names()):
            if self.passthrough:
                names = self.get_feature_names_out().tolist()
                self.final_estimator_ = fit_final(final, meta, y, parameters, names)
            else:
                self.final_estimator_ = fit_member(final, meta, y, parameters)
        self._finish(said, given)

    def _hear(self, given: Given, members: list[tuple[str, Any]]) -> OutOfFold:
        """Fit the members, out of fold and on all rows; give their answers out of fold."""
        if self._is_prefit():
            self._keep_members(members, take_fitted(members))
            self.stack_method_ = methods_of(members, self.stack_method)
            places = range(len(self.estimators_))
            return OutOfFold.seen([self._columns(place, given.rows.X) for place in places])
        self.stack_method_ = methods_of(members, self.stack_method, may_wait=True)
        said = ask_out_of_fold(self, given, members, self._answers(), self.stack_method_)
        self._fit_all(given, members, self.n_jobs)
        self.stack_method_ = methods_of(members, self.stack_method)
        return said

    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _finish(self, said: OutOfFold, given: Given) -> None:
        """Do what is left to do once the final estimator is fitted."""

    def _make_final(self, n_members: int) -> Any:
        """Make the estimator that combines, not fitted yet."""
        final = self.final_estimator
        if isinstance(final, str):
            if final not in POOLS:
                raise InvalidParameter(
                    f"final_estimator={final!r} of {type(self).__name__}: expected an estimator, "
                    f"None, or one of {', '.join(POOLS)}."
                )
            if self.passthrough:
                raise InvalidParameter(
                    f"final_estimator={final!r} gives each member a weight, and passthrough=True "
                    "adds columns that are no members. Set passthrough=False, or "
                    "final_estimator=None."
                )
            return self._pool(final, n_members)
        if final is not None and not hasattr(final, "fit"):
            raise InvalidParameter(
                f"final_estimator={final!r} of {type(self).__name__}: expected an estimator with "
                "fit and predict."
            )
        made = clone(self._default_final() if final is None else final)
        is_wanted, kind = (
            (is_classifier, "classifier")
            if self._task == "classification"
            else (is_regressor, "regressor")
        )
        if not is_wanted(made):
            raise InvalidParameter(f"'final_estimator' parameter should be a {kind}. Got {made}")
        return made

    def _final(self) -> Any:
        """Give the final estimator as far as there is one: fitted, given, or the default."""
        if hasattr(self, "final_estimator_"):
            return self.final_estimator_
        final = self.final_estimator
        if isinstance(final, str):
            return PoolClassifier() if self._task == "classification" else PoolRegressor()
        return self._default_final() if final is None else final

    @abc.abstractmethod
    def _default_final(self) -> Any:
        """Give the final estimator of a stack that was told none."""

    @abc.abstractmethod
    def _pool(self, rule: str, n_members: int) -> Any:
        """Give a final estimator that weighs members."""

    @abc.abstractmethod
    def _answers(self) -> Answers:
        """Say how answers become columns."""

    # Asking

    def _columns(self, place: int, X: TableLike) -> FloatArray:
        member = self.estimators_[place]
        table = as_asked(member, X)
        return self._answers().columns(member, self.stack_method_[place], table)

    def _joined(self, columns: list[FloatArray], X: TableLike, rows: AnyArray | None = None) -> Any:
        """Put columns side by side, and the table behind them with ``passthrough``."""
        if not self.passthrough:
            return np.hstack(columns)
        return beside(columns, X, rows)

    def transform(self, X: TableLike) -> Any:
        """Give what the final estimator sees: answers of members, and X with ``passthrough``."""
        check_is_fitted(self)
        columns = [self._columns(place, X) for place in range(len(self.estimators_))]
        return self._joined(columns, X)

    def fit_transform(self, X: TableLike, y: Any, **fit_params: Any) -> Any:
        """Fit, and give what the fitted members say of the same rows."""
        return self.fit(X, y, **fit_params).transform(X)

    def _predicted(self, X: TableLike, parameters: Mapping[str, Any]) -> Any:
        check_is_fitted(self)
        if is_routed():
            routed = process_routing(self, "predict", **parameters)
            parameters = routed["final_estimator_"]["predict"]
        return self.final_estimator_.predict(self.transform(X), **parameters)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of ``transform``."""
        check_is_fitted(self, "n_features_in_")
        given = _check_feature_names_in(self, input_features, generate_names=self.passthrough)
        prefix = type(self).__name__.lower()
        names: list[str] = []
        members = present(self._members_or_default())
        for (member, _), n_columns in zip(members, self._n_feature_outs, strict=True):
            numbers = [""] if n_columns == 1 else range(n_columns)
            names += [f"{prefix}_{member}{number}" for number in numbers]
        own = np.asarray(names, dtype=object)
        return np.concatenate([own, given]) if self.passthrough else own

    def get_metadata_routing(self) -> Any:
        """Say who takes what beside rows and targets; see scikit-learn's routing."""
        router = super().get_metadata_routing()
        mapping = MethodMapping().add(caller="predict", callee="predict")
        router.add(final_estimator_=self._final(), method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _tagged(self) -> list[tuple[str, Any]]:
        return [*super()._tagged(), *([("final", self._final())] if self.passthrough else [])]

    def _sk_visual_block_(self) -> Any:
        names, members = zip(*self._members_or_default(), strict=True)
        final = self._final()
        level = _VisualBlock("parallel", members, names=names, dash_wrapped=False)
        last = _VisualBlock("parallel", [final], names=["final_estimator"], dash_wrapped=False)
        return _VisualBlock("serial", (level, last), dash_wrapped=False)


class ClassStack(ClassifierMixin, Stacking):
    """A stack for classes."""

    _task = "classification"
    _any_kind: ClassVar[bool] = True
    _takes_many: ClassVar[bool] = True
    """Whether y may have several labels per row."""
    _many: ManyLabels | None

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit members out of fold, the final estimator on their answers, and members on all rows.

        Parameters
        ----------
        X : table of n rows
        y : n labels, or an indicator matrix of several
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent. Folds divide
            rows, whatever they weigh. Members and the final estimator must take weights then.
        groups, time : n labels, n sortable keys, optional
            How ``cv`` divides rows: no group is divided, and members are asked about what comes
            after the rows they learnt from; rows that nobody is asked about do not train the
            final estimator. Whoever divides rows inside gets both.
        **fit_params
            With scikit-learn's metadata routing: for the members that ask for it.

        Returns
        -------
        self
        """
        self._refuse_metadata(fit_params)
        self._check_parameters()
        name = type(self).__name__
        takes_many = self._takes_many and not isinstance(self.final_estimator, str)
        labels = read_many_labels(y) if takes_many and has_many_labels(y) else read_classes(y, name)
        codes = labels.codes.astype(np.int64)  # what scikit-learn's members are given
        given = self._given((X, codes), sample_weight, (groups, time), fit_params)
        self.classes_: Any = labels.classes
        self._many = labels if isinstance(labels, ManyLabels) else None
        self._member_classes = None
        if self._many is None:
            self._member_classes = np.arange(len(labels.classes))
            if self._is_prefit():
                members = read_members(self, self._task, any_kind=True)
                classes = np.asarray(labels.classes)
                self._member_classes = known_classes(present(members), classes)
        self._stack(given)
        return self

    def _answers(self) -> Answers:
        return Answers(self._member_classes)

    def _code_names(self) -> AnyArray | None:
        return None if self._many is not None else np.asarray(self.classes_)

    def _default_final(self) -> Any:
        return LogisticRegression()

    def _make_final(self, n_members: int) -> Any:
        if self.final_estimator is None and len(self.classes_) == 1:
            alone = np.asarray(self.classes_).tolist()[0]
            raise InvalidInput(
                f"y has one class only, {alone!r}, and the default final estimator needs two. Give "
                "rows of another class, or final_estimator='simplex'."
            )
        return super()._make_final(n_members)

    def _pool(self, rule: str, n_members: int) -> Any:
        if self.stack_method not in ("auto", "predict_proba"):
            raise InvalidParameter(
                f"final_estimator={rule!r} weighs probabilities, and stack_method is "
                f"{self.stack_method!r}. Set stack_method='predict_proba'."
            )
        for name, member in present(self._members_or_default()):
            if not hasattr(member, "predict_proba"):
                raise InvalidParameter(
                    f"final_estimator={rule!r} weighs probabilities, and the member {name!r}, a "
                    f"{type(member).__name__}, has no predict_proba. Give another member, or leave "
                    "final_estimator=None."
                )
        return PoolClassifier(rule, n_members, len(self.classes_))

    @available_if(_final_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: TableLike, **predict_params: Any) -> AnyArray:
        """Give the final estimator's class; ``predict_params`` are for its ``predict``."""
        said = self._predicted(X, predict_params)
        if self._many is not None:
            return self._many.decode(np.asarray(said))
        labels: AnyArray = np.asarray(self.classes_)[np.asarray(said).astype(np.int64)]
        return labels

    @available_if(_final_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: TableLike) -> FloatArray:
        """Give the final estimator's probabilities; (n_rows, n_classes)."""
        check_is_fitted(self)
        said = self.final_estimator_.predict_proba(self.transform(X))
        if self._many is not None:
            return np.array([one[:, 0] for one in said]).T
        codes = Answers(np.arange(len(self.classes_)))
        return codes.shares(self.final_estimator_, np.asarray(said))

    @available_if(_final_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: TableLike) -> FloatArray:
        """Give the final estimator's scores."""
        check_is_fitted(self)
        return np.asarray(self.final_estimator_.decision_function(self.transform(X)))


class NumberStack(RegressorMixin, Stacking):
    """A stack for numbers."""

    _task = "regression"
    stack_method = "predict"

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit members out of fold, the final estimator on their answers, and members on all rows.

        Parameters as of ``StackingClassifier.fit``; y are numbers.
        """
        self._refuse_metadata(fit_params)
        self._check_parameters()
        numbers = read_column(y, type(self).__name__)
        given = self._given((X, numbers), sample_weight, (groups, time), fit_params)
        self._stack(given)
        return self

    def _answers(self) -> Answers:
        return Answers(None)

    def _default_final(self) -> Any:
        return RidgeCV()

    def _pool(self, rule: str, n_members: int) -> Any:  # noqa: ARG002 - columns are members
        return PoolRegressor(rule)

    @available_if(_final_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: TableLike, **predict_params: Any) -> Any:
        """Give the final estimator's number; ``predict_params`` are for its ``predict``."""
        return self._predicted(X, predict_params)
