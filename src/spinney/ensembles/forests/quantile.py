"""Forests that predict distributions."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from spinney.data.binning import Binner
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import IntakeSettings, Reading, read_rows
from spinney.ensembles.forests.growing import join_grown, portions
from spinney.ensembles.forests.importances import mean_gain_shares
from spinney.ensembles.forests.quantile_distribution import ConditionalDistribution, read_levels
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
from spinney.ensembles.trees.growing import Scales
from spinney.ensembles.trees.limits import n_drawn, weight_of
from spinney.ensembles.uncertain.quantile import QuantileCalibration
from spinney.errors import InvalidInput, InvalidParameter
from spinney.model import Model, Policy, TreeForest
from spinney.model.forest import Output, TreeSum
from spinney.model.leaf_rows import LeafRowForest
from spinney.progress import Progress
from spinney.randomness import seed_from
from spinney.resampling.bags import Bags, Bootstrap
from spinney.resampling.tickets import tickets_of_weights
from spinney.trees.ranked import ForestSettings, RankedTable, TreeTarget
from spinney.trees.settings import TreeSettings
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
            A whole weight of k counts as the row k times (bins of ``search`` apart, which count
            rows); rows of weight 0 are as if absent. With ``bootstrap`` other weights are chances
            to be drawn.

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
        reading, place = in_order_of_targets(read_rows(X, y, sample_weight, intake))
        self._adopt(_Growth(self, reading, seed_from(self.random_state)).model(place))
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
        X : the table that was given to ``fit``, its rows in the same order
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
            raise InvalidParameter(
                "Every tree saw all rows: no quantile is out of bag. Fit with bootstrap=True."
            )
        table = self.model_.trees.conform(X, type(self).__name__)
        self._check_rows_of_fit(table.n_rows)
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


@dataclass(frozen=True, slots=True)
class _Growth:
    """One fit: rows in order, and how trees are grown on them."""

    forest: QuantileForestRegressor
    reading: Reading
    seed: int

    def model(self, place: AnyArray) -> LeafRowForest:
        """Grow the trees and find the rows of their leaves."""
        reading, forest = self.reading, self.forest
        n_threads = forest._n_threads()  # noqa: SLF001 - a part of its fit
        binner = Binner.of_categories(reading.table, reading.weights)
        ranked = RankedTable(reading.table, binner, weights=reading.weights, n_threads=n_threads)
        bags, n_draws, weights = self._bags()
        room = self._n_there() if weights is None else 0
        own = replace(reading, weights=weights)
        scales = Scales.of(own, "squared_error")
        near = scales.near_one(own)
        target = TreeTarget.of_numbers(near.y, near.weights, criterion="squared", n_drawn=room)
        limits = scales.limits(self._limits(n_draws))
        settings = ForestSettings(tree=limits, search=forest.search, shuffle=True)
        arrays = dict(self._grown(lambda some: ranked.grow(target, settings, bags, some), n_threads))
        trees = TreeForest.from_trees(
            TreeSum(scales.restored(arrays), np.zeros(1)),
            reading.schema,
            reading.target,
            binner.features,
            output=Output(aggregate="mean"),
            policy=Policy(unseen=forest.unseen, extra=forest.extra_columns),
        )
        facts = {
            "weight": np.ones(ranked.n_rows) if weights is None else weights,
            "target": np.ascontiguousarray(reading.y[:, 0]),
            "place": place,
        }
        return LeafRowForest.of_training(
            trees, reading.table, self._counts(bags), facts, n_threads=n_threads
        )

    def _grown(
        self, grow: Callable[[range], dict[str, AnyArray]], n_threads: int
    ) -> Mapping[str, AnyArray]:
        """Grow all trees, a few at a time if somebody looks on; it changes no tree."""
        wanted = self.forest.n_estimators
        parts = []
        with Progress(wanted, "tree", verbose=self.forest.verbose) as progress:
            few = max(n_threads, -(-wanted // 50)) if progress.is_shown else wanted
            for some in portions(range(wanted), few):
                parts.append(grow(some))
                progress.show(some.stop)
        return join_grown(parts)

    def _counts(self, bags: Bags) -> Iterator[AnyArray]:
        return (bags.counts(range(t, t + 1))[0] for t in range(self.forest.n_estimators))

    def _bags(self) -> tuple[Bags, int, FloatArray | None]:
        """Give the draws, how many rows a tree counts, and weights unless these are drawn by."""
        n_rows, weights = len(self.reading.y), self.reading.weights
        if not self.forest.bootstrap:
            if self.forest.max_samples is not None:
                raise InvalidParameter(
                    f"max_samples={self.forest.max_samples!r} of QuantileForestRegressor needs "
                    "bootstrap=True: without it every tree takes all rows."
                )
            return Bags(n_rows), n_rows, weights
        n_draws = self._n_draws(self._n_there())
        return Bootstrap(n_rows, n_draws, seed=self.seed, weights=weights), n_draws, None

    def _n_there(self) -> int:
        """Count rows, with whole weights as repetitions."""
        return tickets_of_weights(self.reading.weights, len(self.reading.y))[2]

    def _n_draws(self, n_there: int) -> int:
        wanted = self.forest.max_samples
        if wanted is None:
            return n_there
        if isinstance(wanted, float | np.floating):
            return max(1, round(wanted * n_there))
        if wanted > n_there:
            raise InvalidParameter(
                f"max_samples={wanted} of QuantileForestRegressor: expected at most {n_there}, the "
                "number of rows; a float is a share of them."
            )
        return int(wanted)

    def _limits(self, n_draws: int) -> TreeSettings:
        forest = self.forest
        total = float(n_draws) if forest.bootstrap else self.reading.total_weight
        split = weight_of(forest.min_samples_split, total)
        leaf = weight_of(forest.min_samples_leaf, total)
        return TreeSettings(
            max_leaf_nodes=forest.max_leaf_nodes,
            max_depth=forest.max_depth,
            # Any child has a row, whatever it weighs: the least limits are none.
            min_samples_split=0.0 if forest.min_samples_split == 2 else split,
            min_samples_leaf=0.0 if forest.min_samples_leaf == 1 else leaf,
            min_gain=forest.min_impurity_decrease * total,
            max_features=n_drawn(forest.max_features, len(self.reading.schema.names)),
            seed=self.seed,
        )
