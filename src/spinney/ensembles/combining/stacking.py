"""Stacking: a final estimator learns how to combine answers out of fold."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from scipy import sparse
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
from sklearn.utils.validation import _check_feature_names_in, _estimator_has, check_is_fitted

from spinney.data.target import Labels
from spinney.ensembles.combining.combination import MEMBERS_RULE, Combination, Given
from spinney.ensembles.combining.jobs import as_asked, sliced, take_rows
from spinney.ensembles.combining.linear_pool import POOLS, PoolClassifier, PoolRegressor
from spinney.ensembles.combining.members import Answers, fit_member, present, read_members
from spinney.ensembles.combining.out_of_fold import OutOfFold, ask_out_of_fold, methods_of
from spinney.ensembles.combining.prefit import known_classes, take_fitted
from spinney.ensembles.combining.targets import (
    ManyLabels,
    has_many_labels,
    read_classes,
    read_column,
    read_many_labels,
)
from spinney.ensembles.parameters import Boolean, Checked, Choice, Integer, Jobs, Rule, either
from spinney.ensembles.sharing import TableRows
from spinney.errors import InvalidParameter
from spinney.model.answers import as_members_take
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


def _final_has(name: str) -> Any:
    return _estimator_has(name, delegates=("final_estimator_", "final_estimator"))


class Stacking(TransformerMixin, Combination):
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

    def _stack(self, given: Given, answers: Answers) -> None:
        """Ask members about rows they have not seen, fit the final one on that, and all again."""
        members = read_members(self, self._task, any_kind=self._any_kind)
        names = [name for name, _ in present(members)]
        final = self._make_final(len(names))
        if isinstance(self.cv, str) and self.cv == "prefit":
            self._keep_members(members, take_fitted(members))
            self.stack_method_ = methods_of(members, self.stack_method)
            said = OutOfFold.seen(
                [self._columns(place, given.rows.X) for place in range(len(names))]
            )
        else:
            self.stack_method_ = methods_of(members, self.stack_method, may_wait=True)
            said = ask_out_of_fold(self, given, members, answers)
            self._fit_all(given, members, self.n_jobs)
            self.stack_method_ = methods_of(members, self.stack_method)
        self._n_feature_outs = [columns.shape[1] for columns in said.columns]
        rows = said.rows
        meta = self._joined([columns[rows] for columns in said.columns], given.rows.X, rows)
        parameters = sliced(given.final_parameters, given.rows.n_rows, rows)
        self.final_estimator_ = fit_member(final, meta, given.rows.y[rows], parameters)

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
                    "adds columns that are no members. Set passthrough=False."
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
            raise InvalidParameter(
                f"'final_estimator' parameter should be a {kind}. Got {made}"
            )
        return made

    def _default_final(self) -> Any:
        raise NotImplementedError

    def _pool(self, rule: str, n_members: int) -> Any:
        raise NotImplementedError

    def _answers(self) -> Answers:
        raise NotImplementedError

    # Asking

    def _columns(self, place: int, X: TableLike) -> FloatArray:
        member = self.estimators_[place]
        table = as_asked(member, X)
        return self._answers().columns(member, self.stack_method_[place], table)

    def _joined(
        self, columns: list[FloatArray], X: TableLike, rows: AnyArray | None = None
    ) -> Any:
        """Put columns side by side, and the table behind them with ``passthrough``."""
        if not self.passthrough:
            return np.hstack(columns)
        table = as_members_take(X.as_given() if isinstance(X, TableRows) else X)
        table = take_rows(table, rows)
        if sparse.issparse(table):
            return sparse.hstack([*columns, table], format=table.format)
        return np.hstack([*columns, np.asarray(table)])

    def transform(self, X: TableLike) -> Any:
        """Give what the final estimator sees: answers of members, and X with ``passthrough``."""
        check_is_fitted(self)
        columns = [self._columns(place, X) for place in range(len(self.estimators_))]
        return self._joined(columns, X)

    def fit_transform(self, X: TableLike, y: Any, **fit_params: Any) -> Any:
        """Fit, and give what the fitted members say of the same rows."""
        return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]

    def _predicted(self, X: TableLike, parameters: Mapping[str, Any]) -> Any:
        check_is_fitted(self)
        if sklearn.get_config()["enable_metadata_routing"]:
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
        final = getattr(self, "final_estimator_", self.final_estimator)
        mapping = MethodMapping().add(caller="predict", callee="predict")
        router.add(
            final_estimator_=None if isinstance(final, str) else final, method_mapping=mapping
        )
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _tagged(self) -> list[tuple[str, Any]]:
        final = self._default_final() if self.final_estimator is None else self.final_estimator
        return [*super()._tagged(), *([("final", final)] if self.passthrough else [])]

    def _sk_visual_block_(self) -> Any:
        names, members = zip(*self._members_or_default(), strict=True)
        final = self._default_final() if self.final_estimator is None else self.final_estimator
        level = _VisualBlock("parallel", members, names=names, dash_wrapped=False)
        last = _VisualBlock("parallel", [final], names=["final_estimator"], dash_wrapped=False)
        return _VisualBlock("serial", (level, last), dash_wrapped=False)


class StackingClassifier(ClassifierMixin, Stacking):
    """A classifier that learns from what other classifiers say of rows they have not seen.

    A drop-in for scikit-learn's ``StackingClassifier``. Members of ours share one binned table: a
    fold is a list of row numbers, not a copy. Rows that no split asks about (the first ones under
    ``TimeSeriesSplit``) are left out of the final fit. Stacks may be members of stacks.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    final_estimator : classifier, "simplex", "nonnegative", "best" or None
        None: ``LogisticRegression()``. A word: one weight per member for its probabilities, such
        that Brier's score out of fold is least; weights that sum to 1, or need not, or all for
        the best.
    cv : int, splitter, iterable of (train, test), "prefit" or None
        None: five folds, classes in their shares. *prefit*: the members are fitted already, and
        answer for all rows given to ``fit``, which they should not have seen.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    passthrough : bool
        Whether the final estimator sees X too.
    verbose : int
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.

    Attributes
    ----------
    estimators_, named_estimators_ : fitted on all rows, on labels as codes
    final_estimator_ : estimator
    stack_method_ : list of str
    classes_ : array

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5. Ting and Witten (1999), Issues in
    stacked generalization, JAIR 10.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from spinney import RandomForestClassifier, StackingClassifier
    >>> from spinney.datasets import make_twonorm
    >>> data = make_twonorm(300, random_state=0)
    >>> forest = RandomForestClassifier(30, random_state=0)
    >>> stack = StackingClassifier([("forest", forest), ("linear", LogisticRegression())])
    >>> bool(stack.fit(data.X, data.y).score(data.X, data.y) > 0.97)
    True
    """

    _task = "classification"
    _any_kind: ClassVar[bool] = True
    _rules: ClassVar[Mapping[str, Rule]] = {
        **STACK_RULES,
        "stack_method": Choice(("auto", "predict_proba", "decision_function", "predict")),
    }
    _labels: Labels | ManyLabels

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        repeated: str = "error",
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.repeated = repeated

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit members out of fold, the final estimator on their answers, and members on all rows.

        Parameters
        ----------
        X : table of n rows
        y : n labels, or an indicator matrix of several
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent. Members
            and the final estimator must take weights then.
        groups : n labels, optional
            For ``cv`` that never divides a group.
        **fit_params
            With scikit-learn's metadata routing: for the members that ask for it.

        Returns
        -------
        self
        """
        self._refuse_metadata(fit_params)
        self._check_parameters()
        name = type(self).__name__
        labels = read_many_labels(y) if has_many_labels(y) else read_classes(y, name)
        given = self._given((X, labels.codes), sample_weight, groups, fit_params)
        self.classes_: Any = labels.classes
        self._many = labels if isinstance(labels, ManyLabels) else None
        self._member_classes = None
        if self._many is None:
            self._member_classes = np.arange(len(labels.classes))
            if isinstance(self.cv, str) and self.cv == "prefit":
                self._member_classes = known_classes(present(read_members(
                    self, self._task, any_kind=True)), np.asarray(labels.classes))  # fmt: skip
        self._stack(given, self._answers())
        return self

    def _answers(self) -> Answers:
        return Answers(self._member_classes)

    def _default_final(self) -> Any:
        return LogisticRegression()

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
        return PoolClassifier(rule, n_members)

    @available_if(_final_has("predict"))
    def predict(self, X: TableLike, **predict_params: Any) -> AnyArray:
        """Give the final estimator's class; ``predict_params`` are for its ``predict``."""
        said = self._predicted(X, predict_params)
        if self._many is not None:
            return self._many.decode(np.asarray(said))
        labels: AnyArray = np.asarray(self.classes_)[np.asarray(said).astype(np.int64)]
        return labels

    @available_if(_final_has("predict_proba"))
    def predict_proba(self, X: TableLike) -> FloatArray:
        """Give the final estimator's probabilities; (n_rows, n_classes)."""
        check_is_fitted(self)
        said = self.final_estimator_.predict_proba(self.transform(X))
        if self._many is not None:
            return np.array([one[:, 0] for one in said]).T
        codes = Answers(np.arange(len(self.classes_)))
        return codes.shares(self.final_estimator_, np.asarray(said))

    @available_if(_final_has("decision_function"))
    def decision_function(self, X: TableLike) -> FloatArray:
        """Give the final estimator's scores."""
        check_is_fitted(self)
        return np.asarray(self.final_estimator_.decision_function(self.transform(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return tags


class StackingRegressor(RegressorMixin, Stacking):
    """A regressor that learns from what other regressors say of rows they have not seen.

    A drop-in for scikit-learn's ``StackingRegressor``; see ``StackingClassifier``.

    Parameters
    ----------
    estimators : list of (str, estimator), or None
        A member may be ``"drop"``. None: boosting, a random forest and extra trees.
    final_estimator : regressor, "simplex", "nonnegative", "best" or None
        None: ``RidgeCV()``. A word: one weight per member, such that the squared error out of fold
        is least; weights that sum to 1, or need not (Breiman's stacked regressions), or all for
        the best.
    cv : int, splitter, iterable of (train, test), "prefit" or None
        None: five folds, of neighbouring rows as scikit-learn makes them.
    n_jobs : int or None
        Processes for members that are not ours; ours use their own ``n_jobs``.
    passthrough : bool
        Whether the final estimator sees X too.
    verbose : int
    repeated : {"error", "average"}
        What happens if ``cv`` asks about a row more than once.

    Attributes
    ----------
    estimators_, named_estimators_ : fitted on all rows
    final_estimator_ : estimator
    stack_method_ : list of str

    References
    ----------
    Breiman (1996), Stacked regressions, Machine Learning 24.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import RandomForestRegressor, StackingRegressor
    >>> from spinney.datasets import make_friedman
    >>> data = make_friedman(1, 300, random_state=0)
    >>> forest = RandomForestRegressor(30, random_state=0)
    >>> members = [("forest", forest), ("linear", LinearRegression())]
    >>> stack = StackingRegressor(members, final_estimator="simplex").fit(data.X, data.y)
    >>> float(stack.final_estimator_.weights_.sum())
    1.0
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = STACK_RULES
    stack_method: ClassVar[str] = "predict"

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        repeated: str = "error",
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose
        self.repeated = repeated

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit members out of fold, the final estimator on their answers, and members on all rows.

        Parameters as of ``StackingClassifier.fit``; y are numbers.
        """
        self._refuse_metadata(fit_params)
        self._check_parameters()
        numbers = read_column(y, type(self).__name__)
        given = self._given((X, numbers), sample_weight, groups, fit_params)
        self._stack(given, self._answers())
        return self

    def _answers(self) -> Answers:
        return Answers(None)

    def _default_final(self) -> Any:
        return RidgeCV()

    def _pool(self, rule: str, n_members: int) -> Any:  # noqa: ARG002 - columns are members
        return PoolRegressor(rule)

    @available_if(_final_has("predict"))
    def predict(self, X: TableLike, **predict_params: Any) -> Any:
        """Give the final estimator's number; ``predict_params`` are for its ``predict``."""
        return self._predicted(X, predict_params)
