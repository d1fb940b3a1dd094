"""Dynamic selection: who votes on a row depends on where the row is."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from spinney.data.row_keys import KEYS
from spinney.data.target import Target
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.random_forest import RandomForestClassifier
from spinney.ensembles.forests.row_order import order_of_rows
from spinney.ensembles.parameters import (
    VERBOSE,
    Boolean,
    Checked,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Rule,
    Seed,
)
from spinney.ensembles.selecting.competence import METHODS
from spinney.ensembles.selecting.folds import read_keys
from spinney.ensembles.selecting.local_vote import KnownRows, LocalVote
from spinney.ensembles.selecting.members import GivenRows, joint_input_tags
from spinney.ensembles.selecting.pool import Pool, fitted_pool, prefit_pool
from spinney.ensembles.selecting.setting_aside import Side, set_aside
from spinney.ensembles.selecting.space import Space
from spinney.errors import InvalidParameter
from spinney.model import Model
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike

_USUAL_K = 7


class DynamicSelection(ClassifierMixin, Estimator):
    """Base of the estimators; each has a method."""

    _task = "classification"
    _takes_shared_rows = False
    _model_class: ClassVar[type[Model]] = LocalVote
    model_: LocalVote
    classes_: AnyArray
    method: str

    pool: Any
    k: int
    selection_fraction: float
    prefit: bool
    categorical_features: Any
    random_state: RandomState
    n_jobs: int | None
    verbose: int

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Fit the pool, and learn where its members are right.

        Parameters
        ----------
        X : table of n rows
        y : n labels
        sample_weight : n numbers, optional
            A weight of k counts as the row k times, in the pool and among neighbours; rows of
            weight 0 are as if absent.
        groups : n labels, optional
            Rows of a group are never divided between the pool and the rows it is judged on.
        time : n sortable keys, optional
            The pool learns from the earlier rows and is judged on the latest ones. Not with
            ``groups``.

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.prefit and self.pool is None:
            raise InvalidParameter(
                f"prefit=True of {type(self).__name__} needs a fitted pool. Give pool=, or set "
                "prefit=False."
            )
        settings = IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=self.categorical_features,
            n_threads=self._n_threads(),
        )
        reading = read_rows(X, y, sample_weight, settings)
        rows = GivenRows.of(X, reading, *read_keys(groups, time, reading))
        pool, judged = self._pool_and_rows(rows, reading)
        known = _known(pool, rows, reading, judged)
        self._warn_of_few(known)
        self._adopt(
            LocalVote(
                pool,
                known,
                method=self.method,
                k=self.k,
                schema=reading.schema,
                target=Target("classification", pool.classes, n_outputs=len(pool.classes)),
            )
        )
        return self

    def _keys_wanted(self) -> tuple[str, ...]:
        return KEYS

    def _warn_of_few(self, known: KnownRows) -> None:
        """Warn where a neighbourhood would be all rows there are; the usual k is up to so many."""
        total = len(known.points) if known.weights is None else known.weights.sum()
        if self.k > max(total, _USUAL_K):
            warnings.warn(
                f"k={self.k} neighbours are asked for, and the pool is judged on "
                f"{len(known.points)} rows (of weight {total:g} together): they are everybody's "
                "neighbours, so that the same members are chosen for all rows. Set a smaller k, or "
                "a larger selection_fraction.",
                UserWarning,
                stacklevel=3,
            )

    def _pool_and_rows(self, rows: GivenRows, reading: Reading) -> tuple[Pool, Side]:
        """Give the pool, and the rows it is judged on."""
        classes = np.asarray(reading.target.classes)
        if self.prefit:
            everything = Side(np.arange(len(rows.labels)), rows.weights)
            return prefit_pool(self.pool, classes), everything
        seed = seed_from(self.random_state)
        keys = (rows.groups, rows.time)
        train, aside = set_aside(reading, self.selection_fraction, seed, *keys)
        given = RandomForestClassifier() if self.pool is None else self.pool
        with at_least(self.verbose):
            pool = fitted_pool(given, rows.on(train), classes, seed=seed, n_jobs=self.n_jobs)
        return pool, aside

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Share of each class in the votes; (n_rows, n_classes)."""
        shares: FloatArray = self._predictions(X)
        return shares

    def predict(self, X: TableLike) -> AnyArray:
        """Class with most votes; ties go to the first of ``classes_``."""
        shares = self.predict_proba(X)
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels

    def votes(self, X: TableLike) -> FloatArray:
        """Say how many votes each member of the pool has on each row; (n_rows, n_members)."""
        self._check_fitted()
        return self.model_.votes(X, type(self).__name__)

    @property
    def estimators_(self) -> list[Any]:
        """The fitted members of the pool."""
        self._check_fitted()
        return list(self.model_.pool.members)

    @property
    def n_selection_rows_(self) -> int:
        """Rows that the members are judged on."""
        self._check_fitted()
        return len(self.model_.known.points)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.pool is None:
            return tags
        given = self.pool if isinstance(self.pool, list | tuple) else [self.pool]
        pairs = [one[1] if isinstance(one, tuple | list) else one for one in given]
        return joint_input_tags(tags, pairs)


def _known(pool: Pool, rows: GivenRows, reading: Reading, judged: Side) -> KnownRows:
    """Ask the pool about the rows it is judged on, in an order that what they hold decides."""
    order = order_of_rows(reading.table.take(judged.rows), reading.y[judged.rows])
    chosen = judged.rows[order]
    table = reading.table.take(chosen)
    weights = None if judged.weights is None else judged.weights[order]
    space = Space.learn(table, weights)
    part = rows.take(chosen)
    return KnownRows(
        space=space,
        points=space.points(table),
        codes=np.searchsorted(pool.classes, part.labels).astype(np.int32),
        answers=pool.answers(part.X),
        weights=weights,
    )


_RULES: Mapping[str, Rule] = {
    "pool": Checked("None, an ensemble of classifiers, or a list of classifiers"),
    "k": Integer(1),
    "selection_fraction": Fraction(below_one=True),
    "prefit": Boolean(),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "random_state": Seed(),
    "n_jobs": Jobs(),
    "verbose": VERBOSE,
}


class DynamicSelectionClassifier(DynamicSelection):
    """A vote in which members of a pool count by what they got right near the row.

    A pool of classifiers learns from some of the rows. On the others, the selection set, it is
    known who is right where. To predict a row, its k nearest neighbours in the selection set are
    found, and a rule says who votes:

    ``"knora_e"``
        Those who are right about all k neighbours; if nobody is, about the k - 1 nearest, and so
        on. If nobody is right about the nearest one, everybody (KNORA-Eliminate).
    ``"knora_u"``
        Everybody, with a vote for each neighbour they are right about; if all have none, with one
        vote (KNORA-Union).
    ``"ola"``
        Those who are right about most neighbours: overall local accuracy.
    ``"lca"``
        Those who are right most often about the neighbours of which they say what they say of the
        row: local class accuracy.
    ``"mcb"``
        As "ola", among the neighbours on which at least 70 % of the pool answers as on the row (all
        neighbours, if there is none): multiple classifier behaviour.

    Members that are equally good vote together. All rules but "knora_u" leave the vote to few
    members, which pays for a pool of simple ones that each know a place, and rarely for the deep
    trees of a forest: together they are better than those that happen to be right about seven rows.

    Parameters
    ----------
    pool : classifier, list or None
        An ensemble whose members (``estimators_``) are the pool, or a list of classifiers, or of
        (name, classifier) pairs. None: the trees of a random forest of ours.
    method : {"knora_e", "knora_u", "ola", "lca", "mcb"}
        Who votes.
    k : int
        Neighbours; all rows that the pool is judged on where there are fewer, with a warning if
        more than the usual seven were asked for.
    selection_fraction : float
        Share of the rows of every class, rounded down, that are set aside for selecting; by what
        stands in them, so that neither order nor repetitions of rows matter.
    prefit : bool
        Whether the pool is fitted already. All rows of ``fit`` are then for selecting.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories, for the distances.
    random_state : int, Generator, RandomState or None
        Seeds a pool that has no seed, and draws the selection set.
    n_jobs : int or None
        Threads of a pool of ours; members of a list are fitted by so many workers of joblib.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimators_ : list
        The pool.
    n_selection_rows_ : int
        Rows in the selection set.
    model_ : LocalVote
        The frozen model: it lives in memory and pickles.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Distances are Euclidean. Numbers, dates and truth values are measured in standard deviations of
    the selection set and stand at the mean if missing; infinite ones stand at the largest or least
    finite one. A category is a 1 among zeros, for its hundred most frequent levels; missing and
    unknown ones are zeros only. Of equally near rows those come first that a hash of their values
    puts first. A row of weight 2 is two neighbours.

    References
    ----------
    Ko, Sabourin and Britto (2008), From dynamic classifier selection to dynamic ensemble
    selection, Pattern Recognition 41. Woods, Kegelmeyer and Bowyer (1997), Combination of multiple
    classifiers using local accuracy estimates, IEEE PAMI 19. Giacinto and Roli (2001), Dynamic
    classifier selection based on multiple classifier behaviour, Pattern Recognition 34.

    Examples
    --------
    >>> from spinney import DynamicSelectionClassifier
    >>> from spinney.datasets import make_xor
    >>> data = make_xor(400, noise=0.0, random_state=0)
    >>> model = DynamicSelectionClassifier(method="ola", random_state=0).fit(data.X, data.y)
    >>> model.votes(data.X[:1]).shape
    (1, 100)
    >>> model.score(data.X, data.y) > 0.9
    True
    """

    _rules: ClassVar[Mapping[str, Rule]] = {**_RULES, "method": Choice(tuple(METHODS))}

    def __init__(
        self,
        pool: Any = None,
        *,
        method: str = "knora_u",
        k: int = _USUAL_K,
        selection_fraction: float = 0.25,
        prefit: bool = False,
        categorical_features: Any = "from_dtype",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.pool = pool
        self.method = method
        self.k = k
        self.selection_fraction = selection_fraction
        self.prefit = prefit
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class _Preset(DynamicSelection):
    """A method with a name of its own."""

    _rules: ClassVar[Mapping[str, Rule]] = _RULES

    def __init__(
        self,
        pool: Any = None,
        *,
        k: int = _USUAL_K,
        selection_fraction: float = 0.25,
        prefit: bool = False,
        categorical_features: Any = "from_dtype",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.pool = pool
        self.k = k
        self.selection_fraction = selection_fraction
        self.prefit = prefit
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KNORAEClassifier(_Preset):
    """KNORA-Eliminate: those vote who are right about all of the k nearest known rows.

    If nobody is, k shrinks until somebody is; if nobody is right about the nearest row, everybody
    votes. It is :class:`DynamicSelectionClassifier` with ``method="knora_e"`` and has its other
    parameters and attributes.

    Examples
    --------
    >>> from spinney import KNORAEClassifier
    >>> from spinney.datasets import make_xor
    >>> data = make_xor(400, noise=0.0, random_state=0)
    >>> KNORAEClassifier(random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.9
    True
    """

    method = "knora_e"


class KNORAUClassifier(_Preset):
    """KNORA-Union: everybody has a vote for each of the k nearest known rows they are right about.

    It is :class:`DynamicSelectionClassifier` with ``method="knora_u"`` and has its other parameters
    and attributes.

    Examples
    --------
    >>> from spinney import KNORAUClassifier
    >>> from spinney.datasets import make_xor
    >>> data = make_xor(400, noise=0.0, random_state=0)
    >>> KNORAUClassifier(random_state=0).fit(data.X, data.y).score(data.X, data.y) > 0.9
    True
    """

    method = "knora_u"
