"""Sets of classes around any classifier."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from spinney.ensembles.gradient.classifier import GradientBoostingClassifier
from spinney.ensembles.parameters import (
    VERBOSE,
    BaseLearner,
    Boolean,
    Checked,
    Choice,
    Integer,
    Jobs,
    Real,
    Rule,
    Seed,
)
from spinney.ensembles.uncertain.around import FOLDS, Around, groups_by
from spinney.ensembles.uncertain.members import fit_members, shares_said
from spinney.ensembles.uncertain.rows import GivenRows, divide
from spinney.progress import at_least
from spinney.randomness import Stream, random_bits, seed_from
from spinney.resampling.folds import Fold
from spinney.typing import AnyArray, BoolArray, FloatArray, RandomState, TableLike
from spinney.uncertainty.checks import read_level
from spinney.uncertainty.quantiles import Groups, few_enough
from spinney.uncertainty.sets import METHODS, PredictionSets, SetScore


class ConformalClassifier(ClassifierMixin, Around):
    """Sets of classes, by any classifier, that hold as many rows' classes as they promise.

    The promise needs nothing of the classifier nor of the data but that rows are exchangeable: that
    new rows come from where the old ones came from. With a share of the rows held back
    (``cv=0.25``) sets of level 1 - a hold the class of a row with a probability of at least 1 - a;
    with folds (``cv=5``), where all rows are learnt from and all judge, of at least about 1 - 2a,
    and in practice of about 1 - a.

    Spinney's own ensembles have ``calibrate`` and ``predict_set`` themselves, and go into files
    with what they know; forests need no held back rows for it.

    Parameters
    ----------
    estimator : classifier or None
        Any with scikit-learn's methods and ``predict_proba``; None for gradient boosting.
    method : {"aps", "raps", "lac"}
        How badly a class fits a row: "aps" by the probability of the classes that are likelier, so
        that sets are large where a row is hard and, with ``cv`` a share, none is empty; "raps" the
        same, with a price for long sets; "lac" by its own probability alone: the smallest sets,
        some of them empty.
    cv : int, float, splitter, iterable of pairs, "prefit" or None
        Folds, by default 5; a float is the share of rows that is held back once; with "prefit"
        the estimator is fitted and all rows given to ``fit`` judge it.
    conditional_on : None, "class", name or number of a column, or callable
        For whom coverage is promised: for all rows together, for each class by itself, or for each
        group: rows of one value of a column, or of one label that the callable gives (X to a
        label per row).
    randomised : bool
        Whether "aps" and "raps" draw a number for each row: coverage is then what was asked for,
        not more, and sets may be empty. Draws of new rows go by their place in the table.
    penalty, free : float, int
        Of "raps": what each class in a set beyond the first ``free`` costs.
    random_state : int, Generator, RandomState or None
        Decides folds and draws, and seeds clones whose own ``random_state`` is None.
    n_jobs : int or None
        Clones that are not ours are fitted by so many processes.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimator_ : classifier
        The one that predicts: fitted on all rows, or on those that were not held back.
    members_ : list of classifiers
        Those that judged rows they had not learnt from.
    scores_ : ndarray
        How badly the class of each judged row fits.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Romano, Sesia & Candès (2020), Classification with valid and adaptive coverage, NeurIPS;
    Angelopoulos, Bates, Malik & Jordan (2021), ICLR; Sadinle, Lei & Wasserman (2019), JASA 114;
    Vovk (2012), Conditional validity of inductive conformal predictors, ACML.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import ConformalClassifier, RandomForestClassifier
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] + np.tile([-20, 0, 20, 0], 50) < 100, "low", "high")
    >>> base = RandomForestClassifier(min_samples_leaf=5, random_state=0)
    >>> model = ConformalClassifier(base, method="lac", random_state=0).fit(X, y)
    >>> model.predict_set([[20.0], [105.0]], level=0.95).sets()
    [['low'], ['high', 'low']]
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": BaseLearner("gradient boosting"),
        "method": Choice(METHODS),
        "cv": FOLDS,
        "conditional_on": Checked("None, 'class', a column of X, or a function from X to labels"),
        "randomised": Boolean(),
        "penalty": Real(0.0),
        "free": Integer(0),
        "random_state": Seed(),
        "n_jobs": Jobs(),
        "verbose": VERBOSE,
    }
    classes_: AnyArray
    members_: list[Any]
    scores_: FloatArray

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "aps",
        cv: Any = None,
        conditional_on: Any = None,
        randomised: bool = False,
        penalty: float = 0.1,
        free: int = 1,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.conditional_on = conditional_on
        self.randomised = randomised
        self.penalty = penalty
        self.free = free
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Fit the members, and learn how badly the classes of rows fit what they say.

        Parameters
        ----------
        X : table of n rows
            What the estimator takes.
        y : n labels
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent. Folds divide
            rows, whatever they weigh.
        groups : n labels, optional
            Rows of a group are never divided: all are learnt from, or all are judged.
        time : n sortable keys, optional
            What is judged comes after what was learnt from: folds follow time, and a share that
            is held out is the latest.

        Returns
        -------
        self
        """
        self._check_parameters()
        base = self._base()
        self._check_base(base)
        rows = self._read((X, y, sample_weight), (groups, time))
        self._seed = seed_from(self.random_state)
        self._asked_by = SetScore(self.method, float(self.penalty), int(self.free))
        self._is_drawn = bool(self.randomised) and self.method != "lac"
        self._promised_to = self.conditional_on
        cv = self._folds_wanted(5)
        if isinstance(cv, str):
            self.classes_ = self._classes_of_fitted(base, rows)
            self.estimator_, self.members_ = base, [base]
            folds: list[Fold] = [(np.arange(0), np.arange(len(rows)))]
        else:
            self.classes_ = np.asarray(rows.target.classes)
            folds = divide(cv, rows, self._seed, type(self).__name__)
            self._fit_members(base, rows, folds, once=isinstance(cv, float))
        self._judge(rows, folds)
        return self

    def _fit_members(self, base: Any, rows: GivenRows, folds: list[Fold], *, once: bool) -> None:
        parts = [learn for learn, _ in folds]
        if not once:
            parts = [*parts, np.arange(len(rows))]
        with at_least(self.verbose):
            fitted = fit_members(base, rows, parts, self._seed, self.n_jobs)
        self.estimator_ = fitted[-1]
        self.members_ = fitted[: len(folds)]

    def _judge(self, rows: GivenRows, folds: list[Fold]) -> None:
        judged = np.concatenate([judge for _, judge in folds])
        codes = np.searchsorted(self.classes_, rows.y)[judged]
        shares = [
            shares_said(member, rows.table(judge), self.classes_)
            for member, (_, judge) in zip(self.members_, folds, strict=True)
        ]
        draws = self._draws(len(rows), 0)
        own = None if draws is None else draws[judged]
        self.scores_ = self._asked_by.of_labels(np.concatenate(shares), codes, own)
        self._lacks = np.repeat(np.arange(len(folds)), [len(judge) for _, judge in folds])
        self._weights = rows.weights_of(judged)
        self._groups = None
        self._kinds = np.zeros(len(judged), np.int64)
        if self._by_class():
            self._kinds = codes
        elif self._promised_to is not None:
            self._groups = Groups(groups_by(self._promised_to, rows.table(judged)))
            self._kinds = self._groups.codes

    def _by_class(self) -> bool:
        return isinstance(self._promised_to, str) and self._promised_to == "class"

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Probabilities of the classes as the estimator says them; (n_rows, n_classes)."""
        given = self._asked(X)
        return shares_said(self.estimator_, given, self.classes_)

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        shares = self.predict_proba(X)
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels

    def predict_set(self, X: TableLike, level: float = 0.9) -> PredictionSets:
        """Give for each row a set of classes that holds its own with a probability.

        Parameters
        ----------
        X : table
        level : float
            Share of the rows whose class is to be in its set. Where rows are too few for it, sets
            hold all classes.

        Returns
        -------
        PredictionSets
        """
        share = read_level(level)
        given = self._asked(X)
        scores = [self._scored(member, given) for member in self.members_]
        kinds = np.zeros(scores[0].shape, np.int64)
        if self._by_class():
            kinds = kinds + np.arange(len(self.classes_))
        elif self._groups is not None:
            own = self._groups.codes_of(groups_by(self._promised_to, given))
            kinds = kinds + own[:, np.newaxis]
        return PredictionSets.of(self._members(scores, kinds, share), self.classes_, share)

    def _members(self, scores: list[FloatArray], kinds: AnyArray, level: Fraction) -> BoolArray:
        """Count, of the judged rows of the same kind, those that scored lower by who lacks them."""
        held = np.ones(kinds.shape, bool)
        for kind in np.unique(kinds):
            ours = self._kinds == kind
            there = kinds == kind
            weights = None if self._weights is None else self._weights[ours]
            below = np.zeros(int(there.sum()))
            for number, said in enumerate(scores):
                some = ours & (self._lacks == number)
                own = None if self._weights is None else self._weights[some]
                below += _weight_below(self.scores_[some], own, said[there])
            held[there] = few_enough(below, level, weights, int(ours.sum()))
        return held

    def _scored(self, member: Any, X: TableLike) -> FloatArray:
        shares = shares_said(member, X, self.classes_)
        return self._asked_by(shares, self._draws(len(shares), 1))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "scores_") and not hasattr(self, "_asked_by"):
            # Pickled before classes were scored without their own probability.
            numbers = float(self.penalty), int(self.free)
            self._asked_by = SetScore(self.method, *numbers, including=True)
            self._is_drawn = bool(self.randomised) and self.method != "lac"
            self._promised_to = self.conditional_on

    def _draws(self, n_rows: int, number: int) -> FloatArray | None:
        if not self._is_drawn:
            return None
        bits = random_bits(self._seed, Stream.ROWS, (1 << 30) + number)
        draws: FloatArray = np.random.default_rng(bits).random(n_rows)
        return draws

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        return GradientBoostingClassifier(max_iter=100)


def _weight_below(scores: FloatArray, weights: FloatArray | None, new: FloatArray) -> FloatArray:
    """Add up the weights of the scores that are lower than each new one."""
    order = np.argsort(scores, kind="stable")
    each = np.ones(len(scores)) if weights is None else weights[order]
    sums = np.append(0.0, np.cumsum(each))
    below: FloatArray = sums[np.searchsorted(scores[order], new, side="left")]
    return below
