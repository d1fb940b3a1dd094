"""Forests that predict distributions."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, read_rows
from spinney.ensembles.forests.importances import mean_gain_shares
from spinney.ensembles.forests.quantile_distribution import ConditionalDistribution, read_levels
from spinney.ensembles.forests.quantile_growing import QuantileGrowth
from spinney.ensembles.forests.row_order import in_order_of_targets
from spinney.ensembles.forests.tree_views import TreeViews
from spinney.ensembles.parameters import (
    VERBOSE,
    Boolean,
    Checked,
    Choice,
    Fraction,
    Integer,
    Jobs,
    Nothing,
    Real,
    Rule,
    Seed,
    either,
)
from spinney.ensembles.uncertain.quantile import QuantileCalibration
from spinney.ensembles.uncertain.rows_of_fit import refuse_misplaced
from spinney.ensembles.weak.checks import check_means
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model import Model
from spinney.model.leaf_rows import LeafRowForest
from spinney.randomness import seed_from
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


class QuantileForestRegressor(QuantileCalibration, RegressorMixin, Estimator):
    """A random forest that predicts any quantile, or the whole distribution of the target.

    A prediction weighs the training rows: a row counts by its share in the leaf of each tree,
    averaged over the trees (Meinshausen 2006). Rows count as often as a tree drew them, so the
    mean of the distribution is what a random forest predicts. Neither the number of threads nor
    the order of rows changes the model.

    Parameters
    ----------
    n_estimators : int
        Trees.
    max_depth : int or None
        Longest path from the root, in splits.
    min_samples_split, min_samples_leaf : int or float
        Least weight of rows in a node that is split, and in each child; a float is a share of the
        rows of a tree. Leaves of five rows, by Meinshausen, hold a distribution, not a single row.
    max_features : int, float, "sqrt", "log2" or None
        Features drawn at each node to choose from; by default a third.
    max_leaf_nodes : int or None
        With a limit trees grow best first.
    min_impurity_decrease : float
        Least decrease of the weighted variance, relative to all rows.
    bootstrap : bool
        Whether each tree draws rows with replacement, or takes them all.
    max_samples : int, float or None
        Rows each tree draws; a float is a share, None for as many as there are.
    search : {"adaptive", "exact", "histogram", "random"}
        How splits are looked for: by bins in large nodes and every cut in small ones; every cut;
        by bins; one random cut per feature.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    unseen : {"missing", "error"}
        What an unknown category means at predict.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    random_state : int, Generator, RandomState or None
        Decides the draws.
    n_jobs : int or None
        Threads; None for all this process may use.
    verbose : int
        1 shows a bar in terminals and notebooks.

    Attributes
    ----------
    model_ : LeafRowForest
        The frozen model: the trees, and the training rows of their leaves.
    estimators_, estimators_samples_ : lists
        The trees as estimators, and the rows each was grown on.
    feature_importances_ : ndarray
        Mean share of each feature in the gain of a tree.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Meinshausen (2006), Quantile regression forests, JMLR 7.

    Examples
    --------
    >>> from spinney import QuantileForestRegressor
    >>> X = [[i / 100] for i in range(100)]
    >>> y = [i % 10 for i in range(100)]
    >>> forest = QuantileForestRegressor(random_state=0).fit(X, y)
    >>> forest.predict([[0.5]], quantiles=[0.0, 1.0]).shape
    (1, 2)
    """

    _task = "regression"
    _model_class: ClassVar[type[Model]] = LeafRowForest
    _rules: ClassVar[Mapping[str, Rule]] = {
        "n_estimators": Integer(1),
        "max_depth": either(Integer(1), Nothing("no limit")),
        "min_samples_split": either(Integer(2), Fraction()),
        "min_samples_leaf": either(Integer(1), Fraction()),
        "max_features": either(
            Integer(1), Fraction(), Choice(("sqrt", "log2")), Nothing("all features")
        ),
        "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
        "min_impurity_decrease": Real(0.0),
        "bootstrap": Boolean(),
        "max_samples": either(Integer(1), Fraction(), Nothing("as many as there are")),
        "search": Choice(("adaptive", "exact", "histogram", "random")),
        "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
        "unseen": Choice(("missing", "error")),
        "extra_columns": Choice(("error", "ignore")),
        "random_state": Seed(),
        "n_jobs": Jobs(),
        "verbose": VERBOSE,
    }
    model_: LeafRowForest

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 5,
        max_features: Any = 1 / 3,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: float | None = None,
        search: str = "adaptive",
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.search = search
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees and note the rows of their leaves.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n numbers
        sample_weight : n numbers, optional
            A whole weight of k counts as the row k times; rows of weight 0 are as if absent. With
            ``bootstrap`` other weights are chances to be drawn.

        Returns
        -------
        self
        """
        self._check_parameters()
        intake = IntakeSettings(
            estimator_name=type(self).__name__,
            task=self._task,
            categorical_features=self.categorical_features,
            multi_output=False,
            n_threads=self._n_threads(),
        )
        given = read_rows(X, y, sample_weight, intake)
        check_means(given.y, type(self).__name__)
        reading, place = in_order_of_targets(given)
        self._adopt(QuantileGrowth(self, reading, seed_from(self.random_state)).model(place))
        return self

    @property
    def estimators_(self) -> TreeViews:
        """The trees as fitted estimators of the mean, made when they are asked for."""
        self._check_fitted()
        return TreeViews(self.model_.trees, self.get_params(deep=False), None)

    @property
    def estimators_samples_(self) -> list[AnyArray]:
        """Rows each tree was grown on, by their numbers, as often as it counts them."""
        self._check_fitted()
        return self.model_.samples()

    @property
    def feature_importances_(self) -> FloatArray:
        """Mean over trees of each feature's share in the tree's gain; sums to 1 if any splits."""
        self._check_fitted()
        return mean_gain_shares(self.model_.trees)

    def predict(
        self, X: TableLike, quantiles: Any = 0.5, *, return_std: bool = False
    ) -> FloatArray:
        """Predict quantiles of the target, by default the median.

        Parameters
        ----------
        X : table of n rows
        quantiles : float, list of floats or "mean"
            Shares from 0 to 1. A quantile is the smallest training target that, with all smaller
            ones, has that share of the weight.
        return_std : bool
            Refused if True: the formulas for forests are about means. Use
            :class:`RandomForestRegressor`.

        Returns
        -------
        ndarray
            (n_rows,), or (n_rows, n_quantiles) for a list.
        """
        if return_std:
            raise InvalidParameter(
                "return_std=True: standard errors are known for means of trees, not for quantiles. "
                "Use RandomForestRegressor, or quantiles=[0.05, 0.95] for how targets scatter."
            )
        if isinstance(quantiles, str) and quantiles == "mean":
            means: FloatArray = self._predictions(X)[:, 0]
            return means
        levels, is_one = read_levels(quantiles)
        self._check_fitted()
        table = self.model_.trees.conform(X, type(self).__name__)
        found = self.model_.quantiles(table, levels, n_threads=self._n_threads())
        return found[:, 0] if is_one else found

    def oob_quantiles(self, X: TableLike, quantiles: Any = 0.5) -> FloatArray:
        """Predict quantiles of the rows of ``fit``, each by the trees that did not draw it.

        Parameters
        ----------
        X : the table that was given to ``fit``, its rows in the same order; others are refused
        quantiles : float or list of floats
            Shares from 0 to 1.

        Returns
        -------
        ndarray
            As from ``predict``; NaN for a row that every tree drew.
        """
        self._check_fitted()
        levels, is_one = read_levels(quantiles)
        if not self.model_.leaves_rows_out:
            raise InvalidInput(
                "Every tree saw all rows. There is no row that some tree did not see, so nothing "
                "is known out of bag. Fit with bootstrap=True, or use rows that fit has not seen."
            )
        table = self.model_.trees.conform(X, type(self).__name__)
        self._check_rows_of_fit(table.n_rows)
        misplaced = self.model_.misplaced(table, n_threads=self._n_threads())
        if misplaced is not None:
            refuse_misplaced(type(self).__name__, misplaced)
        found = self.model_.oob_quantiles(table, levels, n_threads=self._n_threads())
        return found[:, 0] if is_one else found

    def out_of_bag(self, X: TableLike) -> AnyArray:
        """Say which trees did not draw which rows: booleans (n_rows, n_trees).

        X must be the table ``fit`` was given; only its number of rows is looked at.
        """
        self._check_fitted()
        self._check_rows_of_fit(int(X.shape[0]) if hasattr(X, "shape") else len(X))
        return self.model_.unseen()

    def _check_rows_of_fit(self, n_rows: int) -> None:
        n_given = len(self.model_.arrays["place"])
        if n_rows != n_given:
            raise InvalidInput(
                f"X has {n_rows} rows, but {n_given} were given to fit. What is out of bag is "
                "known for the training table: pass it as it was."
            )

    def distribution(self, X: TableLike, row: int = 0) -> ConditionalDistribution:
        """Give the whole distribution of the target for one row.

        Parameters
        ----------
        X : table
        row : int
            Number of the row.

        Returns
        -------
        ConditionalDistribution
            The training targets that count, and how much each; with ``cdf``, ``quantile`` and
            ``to_frame``.

        Examples
        --------
        >>> from spinney import QuantileForestRegressor
        >>> X, y = [[i] for i in range(60)], [i // 30 for i in range(60)]
        >>> forest = QuantileForestRegressor(random_state=0).fit(X, y)
        >>> forest.distribution([[50]]).cdf(0)
        0.0
        """
        self._check_fitted()
        table = self.model_.trees.conform(X, type(self).__name__)
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise InvalidParameter(f"row={row!r}: expected the number of a row of X.")
        if not -table.n_rows <= row < table.n_rows:
            raise InvalidInput(f"There is no row {row}: X has {table.n_rows} rows, from 0 on.")
        targets, weights = self.model_.weights(table, int(row) % table.n_rows)
        return ConditionalDistribution.of_rows(targets, weights)
