"""L2 boosting of functions of one feature: lines or splines."""

import numbers
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from spinney.data.row_keys import KEYS
from spinney.data.table import Kind, Table
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.functional.components import (
    Columns,
    Fold,
    Path,
    Rows,
    corrected_aic,
    errors_of_folds,
    follow_lines,
)
from spinney.ensembles.functional.smoothers import N_KNOTS
from spinney.ensembles.functional.spline_path import SplineColumns, follow_splines
from spinney.ensembles.parameters import (
    Boolean,
    Choice,
    Integer,
    Jobs,
    Nothing,
    Real,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.weak.checks import check_squares
from spinney.errors import InvalidInput, InvalidInputType, InvalidModel, SmallWeights
from spinney.model import Model, Policy
from spinney.model.componentwise import ComponentwiseSum
from spinney.model.model import State
from spinney.model.spline_sum import SplineSum
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.resampling.folds import read_folds
from spinney.resampling.keys import read_codes, read_ranks
from spinney.resampling.splitters import Folds
from spinney.typing import AnyArray, CodeArray, FloatArray, RandomState, TableLike


@dataclass(frozen=True, slots=True)
class OwnFolds:
    """Folds of the user's, as scikit-learn takes them."""

    def accepts(self, value: Any) -> bool:
        """Tell whether the value may be used."""
        if isinstance(value, str | numbers.Number):
            return False
        return hasattr(value, "split") or isinstance(value, Iterable)

    def describe(self) -> str:
        """Finish the sentence "expected …"."""
        return "a splitter of scikit-learn, or pairs of row numbers to train and to test"


class L2BoostRegressor(RegressorMixin, Estimator):
    """Componentwise least squares: an additive model that is put together feature by feature.

    Each round fits the residuals by a function of one feature, the one that leaves the least
    squares, and adds a part of it. With lines and all rounds there are it ends in ordinary least
    squares; stopped before, it chooses features and shrinks their coefficients. Splines follow
    what is not straight, and go on as straight lines where training saw nothing. Missing values
    stand for the mean: of the feature, or of what its spline says.

    Parameters
    ----------
    n_estimators : int
        Most rounds.
    learning_rate : float
        Part of each fit that is added, up to 1.
    learner : {"line", "spline"}
        Functions of one feature that are fitted: lines, or penalised cubic splines with 20 knots
        among the values of the feature. Splines need 20 times the memory of the table.
    spline_degrees : float
        Degrees of freedom of each spline, which are the trace of its smoother with the constant
        counted: from 2, which are lines, to 20. A feature with fewer distinct values has as many
        as it has values.
    stopping : {"aicc", "cv"} or None
        How many of the rounds are kept: those with the least corrected AIC, whose degrees of
        freedom are the trace of the boosting operator; those with the least squared error in
        cross-validation; or all.
    cv : int, splitter of scikit-learn or pairs of row numbers
        Folds of ``stopping="cv"``; as many rows drawn by ``random_state``, or the user's own. A
        number of folds keeps the ``groups`` of ``fit`` whole, and goes forward in its ``time``.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    verbose : int
        1 shows a progress bar in terminals and notebooks, 2 lines elsewhere, too.
    random_state : int, Generator, RandomState or None
        Decides the folds.
    n_jobs : int or None
        Threads, for reading tables; None for all this process may use.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Of lines only, as ``intercept_``.
    intercept_ : float
    n_iter_ : int
        Rounds that were kept.
    selected_features_ : ndarray of shape (n_iter_,)
        The feature each round chose.
    aicc_, degrees_of_freedom_ : ndarray
        Corrected AIC and trace of the boosting operator, before the first round and after each of
        all that were tried.
    cv_errors_ : ndarray
        Mean squared error of rows left out, likewise; empty unless ``stopping="cv"``.
    model_ : ComponentwiseSum or SplineSum
        The frozen model.

    References
    ----------
    Bühlmann and Yu (2003), Boosting with the L2 loss: regression and classification, JASA 98.
    Bühlmann (2006), Boosting for high-dimensional linear models, Annals of Statistics 34.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import L2BoostRegressor
    >>> X = np.array([[1.0, 5.0], [2.0, -5.0], [3.0, -5.0], [4.0, 5.0], [5.0, 0.0]])
    >>> model = L2BoostRegressor(stopping=None).fit(X, 3 * X[:, 0] + 1)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([3., 0.]), 1.0)
    >>> x = np.linspace(-3, 3, 100).reshape(-1, 1)
    >>> curve = L2BoostRegressor(learner="spline").fit(x, np.sin(x[:, 0]))
    >>> bool(abs(curve.predict(x) - np.sin(x[:, 0])).max() < 0.02)
    True
    """

    _task = "regression"
    _model_class: ClassVar[tuple[type[Model], ...]] = (ComponentwiseSum, SplineSum)
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_estimators": Integer(1),
        "learning_rate": Real(0.0, 1.0, above=True),
        "learner": Choice(("line", "spline")),
        "spline_degrees": Real(2.0, float(N_KNOTS)),
        "stopping": either(Choice(("aicc", "cv")), Nothing("all rounds")),
        "cv": either(Integer(2), OwnFolds()),
        "extra_columns": Choice(("error", "ignore")),
        "verbose": either(Boolean(), Integer(0)),
        "random_state": Seed(),
        "n_jobs": Jobs(),
    }
    model_: ComponentwiseSum | SplineSum

    def __init__(
        self,
        *,
        n_estimators: int = 500,
        learning_rate: float = 0.1,
        learner: str = "line",
        spline_degrees: float = 4.0,
        stopping: str | None = "aicc",
        cv: Any = 5,
        extra_columns: str = "error",
        verbose: int = 0,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.learner = learner
        self.spline_degrees = spline_degrees
        self.stopping = stopping
        self.cv = cv
        self.extra_columns = extra_columns
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS if self.stopping == "cv" else ()

    def fit(
        self,
        X: TableLike,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
    ) -> Self:
        """Add one feature at a time.

        Parameters
        ----------
        X : table of n rows
            Numbers, booleans or dates; pandas, polars or Arrow table, NumPy array, SciPy sparse
            matrix.
        y : n numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.
        groups, time : n labels, n sortable keys, optional
            How the folds of ``stopping="cv"`` divide rows: no group is divided, and nothing is
            learnt from the future.

        Returns
        -------
        self
        """
        self._check_parameters()
        settings = IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            multi_output=False,
            n_threads=self._n_threads(),
        )
        reading = read_rows(X, y, sample_weight, settings)
        keys = self._keys(groups, time, reading.n_given)
        check_squares(reading.y, type(self).__name__)
        features, targets = self._matrix(reading.table), reading.y[:, 0]
        weights = np.ones(len(targets)) if reading.weights is None else reading.weights
        rows = Rows(features, targets, weights)
        with at_least(self.verbose):
            path = self._follow(rows)
        self.aicc_ = corrected_aic(path, float(weights.sum()))
        self.degrees_of_freedom_ = np.array(path.degrees)
        self.cv_errors_ = np.empty(0)
        if self.stopping == "cv":
            folds, most = self._folds(reading, keys), self.n_estimators
            with at_least(self.verbose):
                self.cv_errors_ = errors_of_folds(rows, folds, self._follow, n_rounds=most)
        arrays = path.model_arrays(self._best_round(len(path.features), reading))
        kind = SplineSum if self.learner == "spline" else ComponentwiseSum
        policy = Policy(extra=self.extra_columns)
        self._adopt(kind(reading.schema, reading.target, arrays, policy=policy))
        return self

    def _follow(self, rows: Rows) -> Path:
        rate, most = self.learning_rate, self.n_estimators
        if self.learner == "line":
            return follow_lines(Columns(rows), learning_rate=rate, n_rounds=most)
        columns = SplineColumns(rows, self.spline_degrees)
        return follow_splines(columns, learning_rate=rate, n_rounds=most)

    def _matrix(self, table: Table) -> FloatArray:
        """Give the table as numbers; NaN where a value is missing."""
        words = [column.name for column in table.columns if column.kind is Kind.CATEGORICAL]
        if words:
            raise InvalidInputType(
                f"Column {words[0]!r} holds categories, but L2BoostRegressor fits {self.learner}s "
                "to numbers: the argument must be a real number, not a string, in every row. "
                "Encode such columns first, for instance with sklearn.preprocessing.OneHotEncoder."
            )
        columns = [column.dense(table.n_rows).astype(np.float64) for column in table.columns]
        matrix = np.column_stack(columns)
        infinite = np.argwhere(np.isinf(matrix))
        if len(infinite):
            row, place = infinite[0]
            raise InvalidInput(
                f"Column {table.names[place]!r} contains infinity in row {row}, which has no place "
                f"on a {self.learner}. Drop or clip such rows."
            )
        return matrix

    def _best_round(self, n_rounds: int, reading: Reading) -> int:
        if self.stopping is None:
            return n_rounds
        if self.stopping == "cv":
            return min(int(self.cv_errors_.argmin()), n_rounds)
        if np.isinf(self.aicc_).all() and reading.weights is not None:
            warnings.warn(
                f"The sample weights add up to {reading.weights.sum():g}, and a weight counts as "
                "that many rows: too few for any round, so the model is a constant. Scale the "
                "weights up, or choose another stopping.",
                SmallWeights,
                stacklevel=3,
            )
        return int(self.aicc_.argmin())

    def _keys(self, groups: Any, time: Any, n_given: int) -> dict[str, AnyArray]:
        """Read those keys that are given; without folds there is nothing to divide."""
        keys = {}
        for name, labels, read in (("groups", groups, read_codes), ("time", time, read_ranks)):
            if labels is not None and self.stopping != "cv":
                raise InvalidInput(
                    f"{name} is given, but stopping={self.stopping!r} divides no rows. Leave "
                    f"{name} out, or set stopping='cv'."
                )
            if labels is not None:
                keys[name] = read(labels, n_given, name)
        return keys

    def _folds(self, reading: Reading, keys: dict[str, AnyArray]) -> list[Fold]:
        """Give the rows that train and those that are left out, by their numbers in the reading."""
        if keys:
            return self._folds_by_keys(reading, keys)
        n_rows = len(reading.y)
        if isinstance(self.cv, numbers.Integral):
            n_folds = int(self.cv)
            if n_rows < n_folds:
                raise InvalidInput(
                    f"stopping='cv' needs a row for each of cv={n_folds} folds, but n_samples = "
                    f"{n_rows}. Give more rows, or fewer folds."
                )
            order = np.random.default_rng(seed_from(self.random_state)).permutation(n_rows)
            parts = np.array_split(order, n_folds)
            return [(np.setdiff1d(order, part), part) for part in parts]
        from sklearn.model_selection import check_cv  # noqa: PLC0415 - 0.1 s, for few only

        n_given = reading.n_given
        place = np.arange(n_given)
        if reading.kept is not None:
            place = np.full(n_given, -1)
            place[reading.kept] = np.arange(n_rows)
        splits = check_cv(self.cv).split(np.zeros((n_given, 1)))
        both = [(place[train], place[test]) for train, test in splits]
        return [(train[train >= 0], test[test >= 0]) for train, test in both]

    def _folds_by_keys(self, reading: Reading, keys: dict[str, AnyArray]) -> list[Fold]:
        cv, mask = self.cv, None
        if isinstance(cv, numbers.Integral) and "time" not in keys:
            cv = Folds(int(cv), random_state=self.random_state)
        if reading.kept is not None:
            mask = np.zeros(reading.n_given, bool)
            mask[reading.kept] = True
            keys = {name: labels[mask] for name, labels in keys.items()}
        by: dict[str, Any] = dict(keys)
        return read_folds(cv, reading.y[:, 0], **by, once=False, kept=mask)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        tags.input_tags.categorical = False
        return tags

    def predict(self, X: TableLike) -> FloatArray:
        """Give the expected value of each row; (n_rows,)."""
        expected: FloatArray = self._predictions(X)[:, 0]
        return expected

    def staged_predict(self, X: TableLike) -> Iterator[FloatArray]:
        """Give what ``predict`` would say after each round, to the last bit."""
        self._check_fitted()
        table = self.model_.conform(X, type(self).__name__)
        yield from self.model_.stages(table)

    @property
    def coef_(self) -> FloatArray:
        """Coefficient of each feature, of lines."""
        return self._lines("coef_").coefficients

    @property
    def intercept_(self) -> float:
        """What is predicted where all features are 0, of lines."""
        return self._lines("intercept_").intercept

    def _lines(self, name: str) -> ComponentwiseSum:
        self._check_fitted()
        if not isinstance(self.model_, ComponentwiseSum):
            raise AttributeError(  # noqa: TRY004 - hasattr must say no
                f"This L2BoostRegressor has no {name}: it was fitted with learner='spline', and "
                "curves have no slope of their own. Ask predict, or fit with learner='line'."
            )
        return self.model_

    @property
    def n_iter_(self) -> int:
        """Rounds that were kept."""
        self._check_fitted()
        return len(self.model_)

    @property
    def selected_features_(self) -> CodeArray:
        """The feature each round chose."""
        self._check_fitted()
        chosen: CodeArray = self.model_.arrays["feature"]
        return chosen

    def _attributes(self) -> State:
        return {}, {
            "aicc": self.aicc_,
            "degrees_of_freedom": self.degrees_of_freedom_,
            "cv_errors": self.cv_errors_,
        }

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        if (
            meta
            or set(arrays) != {"aicc", "degrees_of_freedom", "cv_errors"}
            or any(array.dtype != "<f8" or array.ndim != 1 for array in arrays.values())
            or len(arrays["aicc"]) != len(arrays["degrees_of_freedom"])
            or len(arrays["aicc"]) < len(self.model_)
        ):
            raise InvalidModel("what the estimator knows beside its model is missing or unknown")
        self.aicc_ = arrays["aicc"].copy()
        self.degrees_of_freedom_ = arrays["degrees_of_freedom"].copy()
        self.cv_errors_ = arrays["cv_errors"].copy()
