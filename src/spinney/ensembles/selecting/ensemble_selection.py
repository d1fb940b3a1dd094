"""Ensemble selection: a committee picked greedily from a library, with replacement."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Bunch

from spinney.data.row_keys import KEYS
from spinney.data.schema import FeatureSchema
from spinney.data.target import Target
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, read_rows
from spinney.ensembles.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from spinney.ensembles.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from spinney.ensembles.gradient.classifier import GradientBoostingClassifier
from spinney.ensembles.gradient.regressor import GradientBoostingRegressor
from spinney.ensembles.parameters import (
    VERBOSE,
    Checked,
    Fraction,
    Integer,
    Jobs,
    Nothing,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.selecting.fast_measures import measure_of
from spinney.ensembles.selecting.filed_selection import FiledSelection
from spinney.ensembles.selecting.folds import (
    Hearing,
    Splits,
    read_keys,
    with_classes_of,
)
from spinney.ensembles.selecting.greedy import Walk, select
from spinney.ensembles.selecting.measures import Metric
from spinney.ensembles.selecting.members import (
    GivenRows,
    Member,
    check_takes_weights,
    check_task,
    joint_input_tags,
    named_members,
    table_for_members,
)
from spinney.ensembles.weak.checks import check_squares
from spinney.ensembles.weak.foreign import flat_rows
from spinney.errors import InvalidParameter
from spinney.model import Model
from spinney.model.member_sum import MemberSum
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


class EnsembleSelection(FiledSelection, Estimator):
    """Base of the two estimators."""

    _takes_shared_rows = False
    _model_class: ClassVar[type[Model]] = MemberSum
    model_: MemberSum

    def __init__(
        self,
        estimators: Any = None,
        *,
        cv: Any = 5,
        scoring: Any = None,
        n_steps: int = 100,
        n_init: int = 1,
        patience: int | None = None,
        n_bags: int = 1,
        bag_fraction: float = 0.5,
        keep: float = 1.0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.scoring = scoring
        self.n_steps = n_steps
        self.n_init = n_init
        self.patience = patience
        self.n_bags = n_bags
        self.bag_fraction = bag_fraction
        self.keep = keep
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters; ``deep``: those of members too, as ``name__parameter``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if not deep or not isinstance(self.estimators, list | tuple):
            return params
        for item in self.estimators:
            if isinstance(item, tuple | list) and len(item) == 2:
                name, estimator = item
                params[name] = estimator
                if hasattr(estimator, "get_params") and not isinstance(estimator, type):
                    nested = estimator.get_params(deep=True)
                    params |= {f"{name}__{key}": value for key, value in nested.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change parameters, members by their names, and parameters of members."""
        if "estimators" in params:
            super().set_params(estimators=params.pop("estimators"))
        given = self.estimators if isinstance(self.estimators, list | tuple) else ()
        named = [item for item in given if isinstance(item, tuple | list) and len(item) == 2]
        replaced = {name: params.pop(name) for name, _ in named if name in params}
        if replaced:
            self.estimators = [(name, replaced.get(name, one)) for name, one in named]
        super().set_params(**params)
        return self

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Select a committee.

        Parameters
        ----------
        X : table of n rows
            What the members take.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times, in members and in scores; rows of weight 0 are
            as if absent. Folds divide rows, whatever they weigh.
        groups : n labels, optional
            Rows of a group are never divided: neither between folds nor from those held out.
        time : n sortable keys, optional
            Members are asked about later rows than they learnt from. Not with both in a hold-out.

        Returns
        -------
        self
        """
        self._check_parameters()
        name = type(self).__name__
        members = self._members()
        settings = IntakeSettings(
            estimator_name=name,
            task=self._task,
            multi_output=False,
            n_threads=self._n_threads(),
        )
        reading = read_rows(flat_rows(X), y, sample_weight, settings)
        if reading.target.classes is None:
            check_squares(reading.y, name)
        if isinstance(self.cv, str):
            reading = with_classes_of(members, reading)
        elif reading.weights is not None:
            check_takes_weights(members, name)
        seed = seed_from(self.random_state)
        hearing = Hearing(
            members=members,
            rows=GivenRows.of(X, reading, *read_keys(groups, time, reading)),
            reading=reading,
            seed=seed,
            n_jobs=self.n_jobs,
        )
        with at_least(self.verbose):
            heard = hearing.hear(self.cv)
        measure = measure_of(heard.answers, self.scoring)
        self.library_, self.selection_path_ = select(
            measure, [member.name for member in members], self._walk(), seed
        )
        chosen = np.flatnonzero(self.weights_)
        if heard.fitted is None:
            with at_least(self.verbose):
                fitted = hearing.fitted(chosen)
        else:
            fitted = [heard.fitted[number] for number in chosen]
        self._become(fitted, reading.schema, reading.target)
        return self

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS

    def _become(self, fitted: list[Member], schema: FeatureSchema, target: Target) -> None:
        weights = self.weights_[self.weights_ > 0]
        is_classes = target.classes is not None
        self.estimators_ = [member.estimator for member in fitted]
        self.named_estimators_ = Bunch(**{member.name: member.estimator for member in fitted})
        self._adopt(
            MemberSum(
                self.estimators_,
                weights,
                form="shares" if is_classes else "values",
                link="identity",
                baseline=np.zeros(target.n_outputs),
                schema=schema,
                target=target,
            )
        )

    def _predictions(self, X: TableLike) -> Any:
        return super()._predictions(table_for_members(X))

    def _walk(self) -> Walk:
        return Walk(
            n_steps=self.n_steps,
            n_init=self.n_init,
            patience=self.patience,
            n_bags=self.n_bags,
            bag_fraction=self.bag_fraction,
            keep=self.keep,
        )

    def _members(self) -> list[Member]:
        name = type(self).__name__
        if self.estimators is None and isinstance(self.cv, str):
            raise InvalidParameter(
                f"cv='prefit' of {name} needs fitted members. Give estimators=[(name, fitted), …]."
            )
        given = self._default_library() if self.estimators is None else self.estimators
        members = named_members(given, name, self.get_params(deep=False))
        check_task(members, name, classes=self._task == "classification")
        return members

    def _default_library(self) -> list[tuple[str, Any]]:
        raise NotImplementedError

    @property
    def weights_(self) -> FloatArray:
        """Share of each member of the library in the committee; they add up to 1."""
        return self.library_.weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.estimators if isinstance(self.estimators, list | tuple) else ()
        pairs = [item for item in given if isinstance(item, tuple | list) and len(item) == 2]
        return joint_input_tags(tags, [estimator for _, estimator in pairs])


_RULES: Mapping[str, Rule] = {
    "estimators": Checked("None, or a list of (name, estimator) pairs"),
    "cv": Splits(),
    "n_steps": Integer(1),
    "n_init": Integer(1),
    "patience": either(Integer(1), Nothing("all steps")),
    "n_bags": Integer(1),
    "bag_fraction": Fraction(),
    "keep": Fraction(),
    "random_state": Seed(),
    "n_jobs": Jobs(),
    "verbose": VERBOSE,
}


class EnsembleSelectionClassifier(ClassifierMixin, EnsembleSelection):
    """A committee of classifiers, picked greedily from a library to score best.

    Every member of the library is asked about rows it has not learnt from. The committee begins
    with the best member; then, again and again, the member is added (with replacement: the same may
    be added many times) that makes the mean of the probabilities score best on those rows. What is
    kept is the best committee on the way. A member's weight is its share of the seats.

    Parameters
    ----------
    estimators : list of (name, estimator) pairs, or None
        The library; "drop" leaves a member out. None: gradient boosting, a random forest and extra
        trees of ours. A member without ``predict_proba`` says 1 for the label it predicts.
    cv : int, float, splitter, pairs, "prefit" or None
        Where the answers come from that the committee is selected on. Folds, as scikit-learn gives
        them (5 for None, stratified for a number; by group if ``fit`` gets ``groups``): members are
        asked out of fold, and those selected are fitted again to all rows. A float: that share of
        the rows is held out, the members learn from the rest and stay as they are. "prefit":
        members are fitted already, and all rows of ``fit`` are for selecting. Rows in no test fold
        (of time series) are not selected on.
    scoring : None, str or callable
        What is maximised; None for "neg_log_loss". That, "neg_brier_score" and "accuracy" have fast
        roads; the name of any other scorer, or a callable (estimator, X, y), costs a call per
        candidate and step.
    n_steps : int
        Members of the committee at most, counting repetitions.
    n_init : int
        How many of the best members it begins with, one by one: the sorted initialization of the
        paper, from which the greedy steps go on as from a warm start.
    patience : int or None
        Steps without a better committee after which it ends; 1 ends at the first. None: it goes
        on, since a step down can lead up again, and the best committee is kept in any case.
    n_bags : int
        Committees, each selected from a random part of the library, and averaged; guards against
        members that are lucky on few rows (20 in the paper).
    bag_fraction : float
        Share of the library each of several committees may choose from.
    keep : float
        Share of the library that may be selected: the best by themselves.
    random_state : int, Generator, RandomState or None
        Seeds members that have no seed, draws rows held out and parts of the library.
    n_jobs : int or None
        Threads of members of ours that do not say themselves; other members are fitted by so many
        workers of joblib.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    weights_ : ndarray
        Share of each member of the library.
    selection_path_ : SelectionPath
        Step, member and score, of every committee.
    library_ : Library
        The members by name, with their own scores and their weights.
    estimators_, named_estimators_
        Fitted members with a weight.
    model_ : MemberSum
        The frozen model. A file holds the members, if all of them are Spinney's.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Scores that agree to twelve digits are ties: the first member of the library is taken, and the
    shortest committee. On the rows it is selected on a single committee is never worse than its
    best member, which is a committee on the way.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes (2004), Ensemble selection from libraries of models,
    ICML. Caruana, Munson and Niculescu-Mizil (2006), Getting the most out of ensemble selection,
    ICDM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from spinney import DecisionTreeClassifier, EnsembleSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> library = [("tree", DecisionTreeClassifier(max_depth=2)),
    ...            ("line", LogisticRegression(max_iter=1000))]
    >>> model = EnsembleSelectionClassifier(library, n_steps=20, random_state=0).fit(X, y)
    >>> float(model.weights_.sum())
    1.0
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {**_RULES, "scoring": Metric("neg_log_loss")}
    classes_: AnyArray

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Weighted mean of the members' probabilities; (n_rows, n_classes)."""
        shares: FloatArray = self._predictions(X)
        return shares

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        shares = self.predict_proba(X)
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels

    def _default_library(self) -> list[tuple[str, Any]]:
        return [
            ("boosting", GradientBoostingClassifier(max_iter=100)),
            ("forest", RandomForestClassifier()),
            ("extra_trees", ExtraTreesClassifier()),
        ]


class EnsembleSelectionRegressor(RegressorMixin, EnsembleSelection):
    """A committee of regressors, picked greedily from a library to score best.

    The parameters and attributes are those of :class:`EnsembleSelectionClassifier`. ``scoring`` is
    None for "neg_mean_squared_error"; that and its root have fast roads: a step needs the products
    of residuals of the new member with those of all others, and none is computed twice.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from spinney import DecisionTreeRegressor, EnsembleSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> library = [("tree", DecisionTreeRegressor(max_depth=3)), ("ridge", Ridge())]
    >>> model = EnsembleSelectionRegressor(library, n_steps=20).fit(X, y)
    >>> bool((model.weights_ > 0).all())
    True
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {**_RULES, "scoring": Metric("neg_mean_squared_error")}

    def predict(self, X: TableLike) -> FloatArray:
        """Weighted mean of the members' numbers; (n_rows,)."""
        means: FloatArray = self._predictions(X)
        return means[:, 0]

    def _default_library(self) -> list[tuple[str, Any]]:
        return [
            ("boosting", GradientBoostingRegressor(max_iter=100)),
            ("forest", RandomForestRegressor()),
            ("extra_trees", ExtraTreesRegressor()),
        ]
