"""Rows that random splits soon set apart from the others."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from spinney.data.table import Table
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.isolation_draws import IsolationDraws
from spinney.ensembles.forests.isolation_trees import IsolationPlan, grow_isolation, most_splits
from spinney.ensembles.forests.percentile import weighted_percentile
from spinney.ensembles.forests.tree_views import TreeViews, as_numbers
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
from spinney.errors import InvalidModel, InvalidParameter
from spinney.model import Model, Policy
from spinney.model.isolation import Isolation, IsolationTrees
from spinney.model.model import State
from spinney.randomness import seed_from
from spinney.resampling.tickets import tickets_of_weights
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

_USUAL_SAMPLE = 256
"""Rows per tree, by Liu, Ting and Zhou: more make few anomalies harder to see, not easier."""


class IsolationForest(OutlierMixin, Estimator):
    """An isolation forest: anomalies are the rows that random splits soon set apart.

    scikit-learn's parameters and methods; on top of that, tables are taken as they are, with
    categories and missing values, and splits may be planes. A tree is grown on a few rows drawn
    without replacement, by splits at random, until rows are alone or ⌈log₂ rows⌉ splits deep. The
    score of a row is 2 ** (-h / c): h is its mean depth over the trees, with c(n) added for n rows
    left in a leaf, and c that of a whole tree. It is the same for every number of threads. Rows are
    drawn by their place in the table: with another order of rows a tree draws others, and the same
    seed gives another forest, unless every tree has every row (``max_samples=1.0`` without
    ``bootstrap``, and weights, if any, are whole).

    Parameters
    ----------
    n_estimators : int
        Trees.
    max_samples : "auto", int or float
        Rows per tree; "auto" for 256, a float for a share of the rows; never more than there are.
    contamination : "auto" or float
        Share of rows in the training table to call anomalies, up to 0.5, counted by their weights;
        "auto" calls every row with a score above one half an anomaly.
    max_features : int or float
        Features drawn for each tree; a float is a share of them.
    bootstrap : bool
        Whether rows are drawn with replacement.
    n_jobs : int or None
        Threads; None for all this process may use.
    random_state : int, Generator, RandomState or None
        Decides the draws.
    verbose : int
        1 shows a bar in terminals and notebooks.
    warm_start : bool
        Whether ``fit`` adds trees to those of the last fit.
    extension_level : int
        0: a split asks about one feature. k: it is a plane of k + 1 features with a random
        direction (Hariri, Carrasco Kind and Brunner 2019), which does not favour the axes; at
        most one less than there are features. A missing value counts as if it were on the plane,
        and so does a category that is unknown at predict. Each plane gives the levels of a category
        random numbers between 0 and 1; in a table with categories, numbers count in units of their
        range in the node.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories; a split sends half of them left.
    unseen : {"missing", "error"}
        What an unknown category means at predict.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.

    Attributes
    ----------
    model_ : IsolationTrees or IsolationPlanes
        The frozen model.
    offset_ : float
        ``decision_function`` is ``score_samples`` less this.
    max_samples_ : int
        Rows per tree.
    estimators_, estimators_samples_, estimators_features_ : lists
        The trees as estimators of path lengths (``extension_level=0``), and the rows and features
        each was grown on.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Liu, Ting and Zhou (2008), Isolation forest, ICDM.

    Examples
    --------
    >>> from spinney import IsolationForest
    >>> X = [[-1.1], [0.3], [0.5], [100.0]]
    >>> IsolationForest(random_state=0).fit(X).predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])
    """

    _task = "unsupervised"
    _model_class: ClassVar[type[Model]] = Isolation  # type: ignore[type-abstract]
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_estimators": Integer(1),
        "max_samples": either(Choice(("auto",)), Integer(1), Fraction()),
        "contamination": either(Choice(("auto",)), Real(0.0, 0.5, above=True)),
        "max_features": either(Integer(1), Fraction()),
        "bootstrap": Boolean(),
        "n_jobs": Jobs(),
        "random_state": Seed(),
        "verbose": either(Boolean(), Integer(0)),
        "warm_start": Boolean(),
        "extension_level": Integer(0),
        "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
        "unseen": Choice(("missing", "error")),
        "extra_columns": Choice(("error", "ignore")),
    }
    model_: Isolation
    offset_: float
    _draws: IsolationDraws | None = None
    """How rows and features were drawn, if all trees drew from the same table."""

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: Any = "auto",
        contamination: Any = "auto",
        max_features: float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        extension_level: int = 0,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.extension_level = extension_level
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns

    def fit(self, X: TableLike, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : ignored
        sample_weight : n numbers, optional
            A whole weight of k counts as the row k times, one behind the other; other weights are
            chances to be drawn.

        Returns
        -------
        self
        """
        self._check_parameters()
        del y
        reading = read_rows(X, None, sample_weight, self._intake())
        before = self.model_ if self.warm_start and hasattr(self, "model_") else None
        if before is None:
            self._seed = seed_from(self.random_state)
            table = reading.table
        else:
            table = before.conform(X, type(self).__name__)
            table = table if reading.kept is None else table.take(reading.kept)
        plan = self._plan(reading)
        knows = before is None or plan.draws.goes_on(self._draws, before, table)
        self._adopt(grow_isolation(table, reading, plan, before=before))
        self._draws = plan.draws if knows else None
        self.offset_ = self._offset(table, reading.weights)
        return self

    def score_samples(self, X: TableLike) -> FloatArray:
        """Give minus the anomaly score: near -1 for anomalies, above -0.5 for other rows."""
        scores: FloatArray = -self._predictions(X)[:, 0]
        return scores

    def decision_function(self, X: TableLike) -> FloatArray:
        """Give ``score_samples`` less ``offset_``: below 0 for anomalies."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: TableLike) -> AnyArray:
        """Call each row an anomaly (-1) or not (1)."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    @property
    def max_samples_(self) -> int:
        """Rows each tree was grown on."""
        self._check_fitted()
        return self.model_.sample_size

    @property
    def estimators_(self) -> TreeViews:
        """The trees as fitted regressors of path lengths, made when they are asked for.

        Each takes all columns of the table. ``predict`` gives the splits to the leaf of a row and
        c of the rows in it.
        """
        self._check_fitted()
        if not isinstance(self.model_, IsolationTrees):
            raise AttributeError(  # noqa: TRY004 - what hasattr asks for
                f"trees split by planes (extension_level={self.extension_level}) are no decision "
                "trees. Use model_[i] for a forest of one of them, or extension_level=0."
            )
        own = {"splitter": "random", "max_features": 1, "unseen": self.unseen}
        limits = {"max_depth": most_splits(self.max_samples_), "extra_columns": self.extra_columns}
        return TreeViews(as_numbers(self.model_.trees), {**own, **limits}, self._seed)

    @property
    def estimators_samples_(self) -> list[AnyArray]:
        """Rows each tree was grown on, by their numbers, as often as it drew them."""
        return self._known_draws().samples(len(self.model_))

    @property
    def estimators_features_(self) -> list[AnyArray]:
        """Features each tree was allowed to split on, by their numbers."""
        draws = self._known_draws()
        trees = range(len(self.model_))
        return [draws.features(tree, self.n_features_in_) for tree in trees]

    def _known_draws(self) -> IsolationDraws:
        self._check_fitted()
        if self._draws is None:
            raise AttributeError(
                "what trees drew is known if all were grown on one table with the same weights; of "
                "planes, if all by one fit. Use warm_start=False to begin anew."
            )
        return self._draws

    def _intake(self) -> IntakeSettings:
        return IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=self.categorical_features,
            n_threads=self._n_threads(),
        )

    def _plan(self, reading: Reading) -> IsolationPlan:
        n_features = len(reading.schema.names)
        if self.extension_level >= n_features:
            raise InvalidParameter(
                f"extension_level={self.extension_level} of {type(self).__name__}: expected at "
                f"most {n_features - 1}, one less than there are (n_features={n_features})."
            )
        last_ticket, n_tickets, n_rows = tickets_of_weights(reading.weights, len(reading.y))
        draws = IsolationDraws(
            seed=self._seed,
            sample_size=self._sample_size(n_rows),
            n_rows=len(reading.y),
            n_tickets=n_tickets,
            n_features=_share(self.max_features, n_features, "max_features"),
            replace=bool(self.bootstrap),
            last_ticket=last_ticket,
            kept=reading.kept,
        )
        return IsolationPlan(
            n_trees=self.n_estimators,
            draws=draws,
            extension_level=int(self.extension_level),
            n_threads=self._n_threads(),
            policy=Policy(unseen=self.unseen, extra=self.extra_columns),
            verbose=int(self.verbose),
        )

    def _sample_size(self, n_rows: int) -> int:
        if isinstance(self.max_samples, str):
            return min(_USUAL_SAMPLE, n_rows)
        if isinstance(self.max_samples, float | np.floating):
            return max(1, int(self.max_samples * n_rows))
        if self.max_samples > n_rows:
            warnings.warn(
                f"max_samples ({self.max_samples}) is greater than the total number of samples "
                f"({n_rows}). max_samples will be set to n_samples for estimation.",
                UserWarning,
                stacklevel=4,
            )
        return min(int(self.max_samples), n_rows)

    def _offset(self, table: Table, weights: FloatArray | None) -> float:
        """Find the score below which the right share of the training rows, by weight, lies."""
        if isinstance(self.contamination, str):
            return -0.5
        scores = -self.model_.scores(table, n_threads=self._n_threads())
        return weighted_percentile(scores, 100.0 * self.contamination, weights)

    def _attributes(self) -> State:
        """Give the offset, the seed of further trees, and what trees drew."""
        meta = {"offset": self.offset_, "seed": self._seed}
        if self._draws is None:
            return meta, {}
        drawn, arrays = self._draws.to_state()
        return meta | {"draws": drawn}, arrays

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take back what ``_attributes`` gave, believing nothing."""
        offset, seed = meta.get("offset"), meta.get("seed")
        known = set(meta) - {"draws"} == {"offset", "seed"} and (not arrays or "draws" in meta)
        if not known or type(offset) is not float or not -1.0 <= offset <= 0.0:
            raise InvalidModel("an isolation forest has an offset between -1 and 0, and a seed")
        if type(seed) is not int or not 0 <= seed < 2**64:
            raise InvalidModel(f"the seed {seed!r} is not an integer of 64 bits")
        if "draws" in meta:  # files of the first versions lack them
            self._draws = IsolationDraws.from_state(meta["draws"], arrays, self.model_, seed)
        self.offset_, self._seed = offset, seed


def _share(wanted: Any, n_there: int, name: str) -> int:
    """Give how many features each tree draws."""
    if isinstance(wanted, float | np.floating):
        return max(1, int(wanted * n_there))
    if wanted > n_there:
        raise InvalidParameter(
            f"{name}={wanted} of IsolationForest: expected at most {n_there}, the number of "
            "features; a float is a share of them."
        )
    return int(wanted)
