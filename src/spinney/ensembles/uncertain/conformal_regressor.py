"""Intervals around any regressor."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin

from spinney.ensembles.forests.quantile import QuantileForestRegressor
from spinney.ensembles.gradient.regressor import GradientBoostingRegressor
from spinney.ensembles.parameters import (
    VERBOSE,
    BaseLearner,
    Checked,
    Choice,
    Integer,
    Jobs,
    Rule,
    Seed,
)
from spinney.ensembles.uncertain.around import FOLDS, Around
from spinney.ensembles.uncertain.interval_makers import (
    AfterBootstrap,
    IntervalMaker,
    LeaveOut,
    Quantiles,
    Split,
)
from spinney.ensembles.uncertain.rows import GivenRows, divide
from spinney.errors import InvalidInput, InvalidParameter
from spinney.progress import at_least
from spinney.randomness import seed_from
from spinney.typing import FloatArray, RandomState, TableLike
from spinney.uncertainty.checks import read_level
from spinney.uncertainty.intervals import PredictionIntervals

METHODS = ("split", "cv+", "minmax", "jackknife+", "jackknife+ab", "cqr")


class ConformalRegressor(RegressorMixin, Around):
    """Intervals around any regressor, of ours or not, that hold as many targets as they promise.

    The promise needs nothing of the regressor nor of the data but that rows are exchangeable: that
    new rows come from where the old ones came from. Asked for a share 1 - a:

    - "split": errors on rows held back; 1 fit; covers at least 1 - a.
    - "cv+": errors out of k folds, each with the model that lacks the fold; k + 1 fits; at least
      1 - 2a - sqrt(2 / n), about 1 - a in practice.
    - "minmax": the same, wider.
    - "jackknife+": a model for each row left out; n + 1 fits; at least 1 - 2a, about 1 - a.
    - "jackknife+ab": members on bags, each row by those that lack it; as "jackknife+".
    - "cqr": quantiles, moved until they cover; 1 or 3 fits; at least 1 - a.

    Spinney's own ensembles have ``calibrate`` and ``predict_interval`` themselves, and go into
    files with what they know; forests need no held back rows for it.

    Parameters
    ----------
    estimator : regressor or None
        Any with scikit-learn's methods; None for gradient boosting, and a quantile forest for
        "cqr". For "cqr" either one whose ``predict`` takes ``quantiles``, or one that has a
        parameter ``quantile`` (or ``alpha`` beside ``loss="quantile"``).
    method : {"split", "cv+", "minmax", "jackknife+", "jackknife+ab", "cqr"}
    cv : int, float, splitter, iterable of pairs, "prefit" or None
        Folds of "cv+" and "minmax", by default 5. For "split" and "cqr" the share of rows that is
        held back, by default 0.25, or one pair of rows to learn from and rows to judge, or
        "prefit": the estimator is fitted, all rows given to ``fit`` judge it.
    scale : regressor or None
        Of "split": learns how large errors are, from errors out of folds on the learning rows;
        intervals are wide where they are. None: all intervals have one width.
    quantiles : two floats
        Of "cqr": which quantiles are moved. The level may be any; near these it adapts best.
    n_resamples : int
        Bags of "jackknife+ab".
    conditional_on : None, name or number of a column, or callable
        Of "split" and "cqr": coverage is promised for each group of rows by itself: rows of one
        value of a column, or of one label that the callable gives (X to a label per row).
    random_state : int, Generator, RandomState or None
        Decides folds and bags, and seeds clones whose own ``random_state`` is None.
    n_jobs : int or None
        Clones that are not ours are fitted by so many processes.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    estimator_ : regressor
        The one that predicts: fitted on all rows, of "split" and "cqr" on those that were not held
        back; of "jackknife+ab" the first bag's, the mean of all predicts.
    intervals_ : IntervalMaker
        The fitted members and the scores of rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Vovk, Gammerman & Shafer (2005), Algorithmic learning in a random world; Barber, Candès, Ramdas
    & Tibshirani (2021), Annals of Statistics 49; Kim, Xu & Barber (2020), NeurIPS; Romano,
    Patterson & Candès (2019), NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from spinney import ConformalRegressor
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> y = X[:, 0] + np.tile([-1.0, 1.0], 50)
    >>> model = ConformalRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> model.predict_interval([[50.0]], level=0.9).width.round(0).tolist()
    [2.0]
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "estimator": BaseLearner("gradient boosting, or a quantile forest for 'cqr'"),
        "method": Choice(METHODS),
        "cv": FOLDS,
        "scale": BaseLearner("intervals of one width"),
        "quantiles": Checked("two numbers from 0 to 1, the lower one first"),
        "n_resamples": Integer(2),
        "conditional_on": Checked("None, a column of X, or a function from X to labels"),
        "random_state": Seed(),
        "n_jobs": Jobs(),
        "verbose": VERBOSE,
    }
    intervals_: IntervalMaker

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "cv+",
        cv: Any = None,
        scale: Any = None,
        quantiles: tuple[float, float] = (0.05, 0.95),
        n_resamples: int = 50,
        conditional_on: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.scale = scale
        self.quantiles = quantiles
        self.n_resamples = n_resamples
        self.conditional_on = conditional_on
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: TableLike, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None
    ) -> Self:
        """Fit the members, and learn how far off they are.

        Parameters
        ----------
        X : table of n rows
            What the estimator takes.
        y : n numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent. Folds divide
            rows, whatever they weigh; a bag of "jackknife+ab" draws as many rows as there are, each
            by its weight, or as many groups, all alike.
        groups : n labels, optional
            Rows of a group are never divided: all are learnt from, or all are judged.
        time : n sortable keys, optional
            What is judged comes after what was learnt from: folds follow time, and a share that
            is held out is the latest. Not with methods that leave out
            row after row or draw rows ("jackknife+", "jackknife+ab").

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_base(self._base())
        self._check_together()
        rows = self._read((X, y, sample_weight), (groups, time))
        with at_least(self.verbose):
            maker = self._maker(rows, seed_from(self.random_state))
        self.intervals_ = maker
        self.estimator_ = maker.centre
        return self

    def predict(self, X: TableLike) -> FloatArray:
        """Predict as the estimator does; "jackknife+ab": the mean of bags, "cqr": the median.

        Parameters
        ----------
        X : table

        Returns
        -------
        (n_rows,) array
        """
        given = self._asked(X)
        return self.intervals_.predict(given)

    def predict_interval(self, X: TableLike, level: float = 0.9) -> PredictionIntervals:
        """Give for each row an interval that holds its target with a probability.

        Parameters
        ----------
        X : table
        level : float
            Share of the rows whose target is to be in its interval. Where rows are too few for
            it, intervals are infinite.

        Returns
        -------
        PredictionIntervals
        """
        share = read_level(level)
        given = self._asked(X)
        lower, upper = self.intervals_.bounds(given, share)
        return PredictionIntervals.of(self.intervals_.predict(given), lower, upper, share)

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        if self.method == "cqr":
            return QuantileForestRegressor()
        return GradientBoostingRegressor(max_iter=100)

    def _check_together(self) -> None:
        """Refuse parameters that a method does not look at."""
        held = self.method in ("split", "cqr")
        if self.conditional_on is not None and not held:
            raise InvalidParameter(
                f"conditional_on with method={self.method!r}: groups by themselves need rows held "
                "back. Use method='split' or 'cqr'."
            )
        if self.scale is not None and self.method != "split":
            raise InvalidParameter(
                f"scale with method={self.method!r}: only 'split' divides errors by a scale. Use "
                "method='split', or 'cqr', whose intervals adapt as well."
            )

    def _maker(self, rows: GivenRows, seed: int) -> IntervalMaker:
        base, n_jobs = self._base(), self.n_jobs
        if rows.time is not None and self.method.startswith("jackknife"):
            raise InvalidInput(
                f"time with method={self.method!r}, whose members learn from what came later. Use "
                "method='cv+' or 'split', or leave time out."
            )
        if self.method == "jackknife+ab":
            return AfterBootstrap(base, rows, self.n_resamples, seed, n_jobs)
        if self.method == "jackknife+":
            return LeaveOut.one(base, rows, seed, n_jobs)
        name = type(self).__name__
        if self.method in ("cv+", "minmax"):
            cv = self._folds_wanted(5)
            if isinstance(cv, str | float):
                raise InvalidParameter(
                    f"cv={cv!r} with method={self.method!r}: expected folds. Use method='split' "
                    "for a share of the rows, or for an estimator that is fitted already."
                )
            folds = divide(cv, rows, seed, name)
            return LeaveOut(base, rows, folds, seed, n_jobs, minmax=self.method == "minmax")
        cv = self._folds_wanted(0.25)
        fold = None if isinstance(cv, str) else divide(cv, rows, seed, name)
        if fold is not None and len(fold) != 1:
            raise InvalidParameter(
                f"cv of {name} gave {len(fold)} folds, and method={self.method!r} holds rows back "
                "once. Give a share, one pair of rows, or method='cv+'."
            )
        pair = None if fold is None else fold[0]
        if self.method == "cqr":
            pairs = self.quantiles
            return Quantiles(base, rows, pair, seed, quantiles=pairs, on=self.conditional_on)
        return Split(base, rows, pair, seed, scale=self.scale, on=self.conditional_on)
