"""The scikit-learn contract, in one place."""

import functools
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from spinney.data.target import Target
from spinney.ensembles.fitting import IntakeSettings, Problem, read_problem
from spinney.ensembles.overview import estimator_html
from spinney.ensembles.parameters import Rule, check_parameters
from spinney.ensembles.uncertain.calibrating import Calibratable
from spinney.errors import InvalidInput, InvalidModel, UnknownParameter, nearest_names, shorten
from spinney.model import Model
from spinney.model.compiled import CompiledModel
from spinney.model.forest import trees_of
from spinney.model.model import State
from spinney.parallelism import resolve_n_jobs
from spinney.typing import AnyArray, CodeArray, TableLike


class Learner(BaseEstimator):
    """Parameters of scikit-learn's kind: each has a rule, and typos are refused."""

    _rules: ClassVar[Mapping[str, Rule]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _suggesting(cls.__init__)  # type: ignore[method-assign]

    @classmethod
    @functools.cache  # reading a signature takes as long as a small tree, and it never changes
    def _get_param_names(cls) -> list[str]:
        return list(super()._get_param_names())

    def set_params(self, **params: Any) -> Self:
        """Change parameters; an unknown name is refused with a suggestion."""
        known = self.get_params(deep=True)
        for name in params:
            owner, nested, _ = name.partition("__")
            if owner not in known or (nested and not hasattr(known[owner], "set_params")):
                raise _unknown(type(self).__name__, name, known)
        super().set_params(**params)
        return self

    def _html_repr(self) -> str:
        """Show it in notebooks; within pipelines scikit-learn's diagram does."""
        return estimator_html(self)

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), self._rules)

    def _n_threads(self) -> int:
        return resolve_n_jobs(getattr(self, "n_jobs", None))


class Estimator(Calibratable, Learner):
    """Base of all learners: parameters in, a frozen model at ``model_`` out.

    A subclass lists its parameters in ``__init__`` (scikit-learn reads them there), gives each a
    rule in ``_rules``, and ends ``fit`` with ``self._adopt(model)``. What a fitted estimator knows
    is in its model, so pickle, copy and files carry the model's bytes; how it was learnt, such as
    the scores of rounds, is in its ``_attributes``. How far off it is, once it was calibrated, is
    ``calibration_``.
    """

    _task: ClassVar[str]
    _several_labels: ClassVar[bool] = False
    """Whether rows may have several labels, each of classes of its own."""
    _takes_shared_rows: ClassVar[bool] = True
    """Whether it reads tables itself, so that rows of a shared one will do; members may not."""
    _model_class: ClassVar[type[Model] | tuple[type[Model], ...]]
    model_: Model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _intake_settings(self, **changes: Any) -> IntakeSettings:
        """Say how tables are read, as the parameters every learner has say."""
        params = self.get_params(deep=False)
        return IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=params["categorical_features"],
            max_bins=params["max_bins"],
            n_threads=self._n_threads(),
            several_labels=self._several_labels,
            **changes,
        )

    def _read_problem(self, X: Any, y: Any, sample_weight: Any, **changes: Any) -> Problem:
        """Read what ``fit`` was given."""
        return read_problem(X, y, sample_weight, self._intake_settings(**changes))

    def _adopt(self, model: Model) -> None:
        """Become the fitted estimator of a model, new or loaded."""
        if not self._learns(model.target) or not isinstance(model, self._model_class):
            raise InvalidModel(
                f"a {type(model).__name__} for {model.target.task} is not what a "
                f"{type(self).__name__} learns"
            )
        self.model_ = model
        self._forget_calibration()
        self.n_features_in_ = len(model.schema.names)
        names = model.schema.feature_names_in()
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # left by an earlier fit on a table with names
        if model.target.classes is not None:
            self.classes_ = model.target.classes

    def _learns(self, target: Target) -> bool:
        """Tell whether models of this target are models of this estimator."""
        return target.task == self._task

    def _attributes(self) -> State:
        """Give what a fitted estimator knows beside its model, for a file."""
        return {}, {}

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take back what ``_attributes`` gave, believing nothing."""
        if meta or arrays:
            raise InvalidModel(f"a {type(self).__name__} knows nothing beside its model")

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):  # check_is_fitted takes longer than predicting a row
            check_is_fitted(self)

    def _predictions(self, X: Any) -> Any:
        self._check_fitted()
        quick = self.model_.quick_predictions(X)
        if quick is not None:
            return quick
        return self.model_.predictions(
            X, n_threads=self._n_threads(), estimator_name=type(self).__name__
        )

    def apply(self, X: TableLike) -> CodeArray:
        """Find the leaf each row falls into, numbered within its tree; (n_rows, n_trees)."""
        self._check_fitted()
        name, trees = type(self).__name__, trees_of(self.model_)
        if trees is None:
            raise InvalidInput(
                f"This {name} has no leaves to number: its members are no trees of Spinney with a "
                "feature at each split."
            )
        return trees.leaf_ids(X, n_threads=self._n_threads(), estimator_name=name)

    def compile(self) -> CompiledModel:
        """Give the fitted model as a small function of one row, for serving.

        Returns
        -------
        CompiledModel
            Called with a row (numbers in the order of the features, or a mapping of their names
            to values) it says what ``predict_proba`` says of it, or ``predict`` for numbers; of
            isolation forests the anomaly score, which is minus ``score_samples``; of quantile
            forests the mean.
        """
        self._check_fitted()
        return CompiledModel(self.model_)


def _suggesting(init: Any) -> Any:
    """Make a constructor refuse unknown parameters with a suggestion, and change nothing else."""
    known = [name for name in inspect.signature(init).parameters if name != "self"]

    @functools.wraps(init)  # scikit-learn reads the signature through __wrapped__
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        for name in kwargs:
            if name not in known:
                raise _unknown(type(self).__name__, name, known)
        init(self, *args, **kwargs)

    return __init__


def _unknown(owner: str, name: str, known: Any) -> UnknownParameter:
    hint = nearest_names(name, known) or f" It has {shorten(sorted(known), most=30)}."
    return UnknownParameter(f"{owner} has no parameter {name!r}.{hint}")
