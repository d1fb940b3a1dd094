"""What a classification tree and a regression tree share: everything but the target."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import Reading, read_rows
from spinney.ensembles.parameters import (
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
from spinney.ensembles.trees.arrays import TreeArrays, path_matrix
from spinney.ensembles.trees.growing import grow_tree
from spinney.ensembles.trees.limits import n_drawn
from spinney.ensembles.trees.prunings import Pruning, stops_of
from spinney.model import Model, Policy, TreeForest
from spinney.model.forest import Output, TreeSum, join_trees, narrowest
from spinney.trees.pruning import PruningPath, pruning_path, weakest_links
from spinney.trees.ranked import SEARCHES
from spinney.trees.regions import Regions, tree_regions
from spinney.trees.structure import cut_below
from spinney.trees.text import tree_graphviz, tree_text
from spinney.trees.words import TreeWords, check_limits
from spinney.typing import AnyArray, CodeArray, FloatArray, TableLike

TREE_RULES: Mapping[str, Rule] = {
    "splitter": Choice(("best", "random")),
    "search": Choice(tuple(SEARCHES)),
    "max_depth": either(Integer(1), Nothing("no limit")),
    "min_samples_split": either(Integer(2), Fraction()),
    "min_samples_leaf": either(Integer(1), Fraction()),
    "min_weight_fraction_leaf": Real(0.0, 0.5),
    "max_features": either(
        Integer(1), Fraction(), Choice(("sqrt", "log2")), Nothing("all features")
    ),
    "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
    "min_impurity_decrease": Real(0.0),
    "ccp_alpha": Real(0.0),
    "monotonic_cst": Checked("None, -1, 0 or 1 per feature, or a dict from names to these"),
    "max_bins": Integer(2, 255),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
    "random_state": Seed(),
    "n_jobs": Jobs(),
}


class SingleTree(Estimator):
    """Base of the tree estimators."""

    _model_class: ClassVar[type[Model]] = TreeForest
    model_: TreeForest

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n labels or numbers, or several of each row: (n, n_outputs)
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        params = self.get_params(deep=False)
        intake = self._intake_settings(
            class_weight=params.get("class_weight"),
            keeps_classes=True,
        )
        reading = read_rows(X, y, sample_weight, intake)
        grown = grow_tree(reading, params, n_threads=self._n_threads())
        n_outputs = grown.tree.values.shape[1]
        self._adopt(
            TreeForest.from_trees(
                TreeSum(join_trees([grown.tree], width=n_outputs), np.zeros(n_outputs)),
                reading.schema,
                reading.target,
                grown.features,
                output=Output(link="identity", aggregate="mean"),
                policy=Policy(unseen=params["unseen"], extra=params["extra_columns"]),
            )
        )
        self._measure(reading)
        if params["ccp_alpha"] > 0.0:
            self._keep_above(self._stops_at(params["ccp_alpha"]))
        return self

    def _measure(self, reading: Reading) -> None:
        """Find what the model does not tell: impurities that need the training rows."""

    @abstractmethod
    def _node_impurities(self) -> FloatArray:
        """Give the impurity of each node, as the criterion counts it."""

    @abstractmethod
    def _decreases(self) -> FloatArray:
        """Give how much weighted impurity each split removes."""

    # Where rows go

    def apply(self, X: TableLike) -> CodeArray:
        """Find the number of the leaf each row falls into; (n_rows,)."""
        check_is_fitted(self)
        leaves = self.model_.leaf_ids(
            X, n_threads=self._n_threads(), estimator_name=type(self).__name__
        )
        return leaves[:, 0]

    def decision_path(self, X: TableLike) -> Any:
        """Mark the nodes each row passes; CSR matrix of (n_rows, n_nodes)."""
        return path_matrix(self.model_[0], self.apply(X))

    def regions(self) -> Regions:
        """Give the boxes into which the tree divides the space of its features, one per leaf.

        Examples
        --------
        >>> from spinney import DecisionTreeRegressor
        >>> tree = DecisionTreeRegressor().fit([[1.0], [2.0], [4.0]], [0.0, 5.0, 9.0])
        >>> tree.regions()
        3 regions that share the space of 1 features
        leaf  region               prediction  weight
           1  x0 <= 1.5            0                1
           3  1.5 < x0 <= 3        5                1
           4  (3 < x0 or missing)  9                1
        """
        check_is_fitted(self)
        return tree_regions(self.model_)

    # What the tree is like

    def get_depth(self) -> int:
        """Edges from the root to the deepest leaf."""
        check_is_fitted(self)
        return self.model_[0].depth

    def get_n_leaves(self) -> int:
        """Count the leaves."""
        check_is_fitted(self)
        return self.model_[0].n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each feature in the total gain; sums to 1 unless the tree has no split."""
        check_is_fitted(self)
        gains = self.model_.feature_gains()
        return gains / (gains.sum() or 1.0)

    @property
    def max_features_(self) -> int:
        """Features each node chooses from."""
        check_is_fitted(self)
        return (
            n_drawn(self.get_params()["max_features"], self.n_features_in_) or self.n_features_in_
        )

    @property
    def n_outputs_(self) -> int:
        """Targets of a row."""
        check_is_fitted(self)
        return self.model_.target.n_targets

    @property
    def tree_(self) -> TreeArrays:
        """The nodes under scikit-learn's names, for reading."""
        check_is_fitted(self)
        seen: TreeArrays | None = self.__dict__.get("_tree_arrays")
        if seen is None or seen.model is not self.model_:
            seen = self._tree_arrays = TreeArrays.of(self.model_, self._node_impurities())
        return seen

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_tree_arrays", None)  # made anew from the model
        return state

    def to_text(self, *, max_depth: int | None = None, digits: int = 4) -> str:
        """Write the tree as an indented list of questions.

        Parameters
        ----------
        max_depth : int or None
            Levels that are written; None for all.
        digits : int
            Significant digits of numbers, 1 to 17.

        Examples
        --------
        >>> from spinney import DecisionTreeRegressor
        >>> tree = DecisionTreeRegressor().fit([[1.0], [2.0], [4.0]], [0.0, 5.0, 9.0])
        >>> print(tree.to_text())
        x0 <= 1.5
        ├─ yes: 0, 1 row
        └─ no:  x0 <= 3
           ├─ yes: 5, 1 row
           └─ no:  9, 1 row
        """
        check_is_fitted(self)
        check_limits("to_text", max_depth=max_depth, digits=digits)
        return tree_text(TreeWords.of(self.model_, digits=digits), max_depth=max_depth)

    def to_graphviz(self, *, max_depth: int | None = None, digits: int = 4) -> str:
        """Write the tree in Graphviz' language DOT, as text; the parameters of ``to_text``."""
        check_is_fitted(self)
        check_limits("to_graphviz", max_depth=max_depth, digits=digits)
        return tree_graphviz(TreeWords.of(self.model_, digits=digits), max_depth=max_depth)

    # Pruning

    def cost_complexity_pruning_path(
        self, X: TableLike, y: Any, sample_weight: Any = None
    ) -> PruningPath:
        """Grow a tree and tell all values of ``ccp_alpha`` that change it.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``; the estimator itself stays as it is.

        Returns
        -------
        PruningPath
            ``ccp_alphas``, the ``impurities`` of the leaves and ``n_leaves`` of the trees pruned at
            them. Alphas that are the same stand there once.
        """
        grown = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        per_output = grown._decreases() / grown.n_outputs_  # noqa: SLF001 - a copy of this class
        return pruning_path(grown.model_[0], per_output, grown.tree_.impurity)

    def pruned(
        self,
        method: str = "cost_complexity",
        *,
        alpha: float = 0.0,
        confidence: float = 0.25,
        X: TableLike | None = None,
        y: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Give a smaller tree, as a new fitted estimator; this one stays as it is.

        Parameters
        ----------
        method : {"cost_complexity", "reduced_error", "pessimistic", "mdl"}
            *cost_complexity* (Breiman et al., 1984): a leaf costs ``alpha``, in shares of all rows'
            impurity; the tree with the least sum of both, as ``ccp_alpha`` of ``fit``.
            *reduced_error* (Quinlan, 1987): a split stays if it makes fewer errors (less squared
            error) on the rows ``X, y``, which should not be those of ``fit``.
            *pessimistic* (C4.5): a split stays if it lowers the upper limit of the error rate.
            *mdl* (Mehta et al., 1995): the tree that, with the classes it leaves open, is told in
            the fewest bits. The last two are for classes.
        alpha : float
            Price of a leaf for cost_complexity. Splits that gain nothing go even at 0.
        confidence : float
            C4.5's confidence for pessimistic; lower prunes more.
        X, y, sample_weight
            Rows for reduced_error.

        Returns
        -------
        estimator
            Fitted, with the same parameters.

        Examples
        --------
        >>> from spinney import DecisionTreeClassifier
        >>> X = [[x] for x in range(12)]
        >>> tree = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1])
        >>> tree.get_n_leaves(), tree.pruned("pessimistic").get_n_leaves()
        (4, 2)
        """
        check_is_fitted(self)
        pruning = Pruning(method, alpha, confidence, X, y, sample_weight)
        stops = stops_of(self, pruning, self._stops_at)
        other: Self = clone(self)
        other._adopt(self.model_)
        other._take_impurities_of(self)
        other._keep_above(stops)
        return other

    def _stops_at(self, alpha: float) -> AnyArray:
        """Say which nodes are leaves once a leaf costs ``alpha``."""
        tree = self.model_[0]
        price = weakest_links(tree, self._decreases() / self.n_outputs_)
        stops: AnyArray = price <= alpha * tree.weight[0] * (1.0 + 2.0**-40)
        return stops

    def _keep_above(self, stops: AnyArray) -> None:
        """Become the tree in which some nodes are leaves."""
        old = self.model_
        tree, kept = cut_below(old[0], stops)
        arrays = {**old.arrays, **join_trees([tree], width=tree.values.shape[1])}
        arrays["threshold"] = narrowest(arrays["threshold"])
        self._adopt(
            TreeForest(old.schema, old.target, arrays, output=old.output, policy=old.policy)
        )
        self._forget_impurities(kept)

    def _take_impurities_of(self, other: Self) -> None:
        """Know what another estimator of the same model knows."""

    def _forget_impurities(self, kept: AnyArray) -> None:
        """Keep what is known of some nodes."""
