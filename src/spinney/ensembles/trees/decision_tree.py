"""One tree, as an estimator."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from spinney.data.binning import FeatureBins
from spinney.ensembles.estimator import Estimator
from spinney.ensembles.fitting import Problem, Reading, read_rows
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
from spinney.ensembles.trees.exact import EXACT_CRITERIA, grow_exact_classes
from spinney.ensembles.trees.limits import tree_settings
from spinney.model import Model, Policy, Tree, TreeForest
from spinney.model.forest import Output, TreeSum, join_trees
from spinney.trees.histogram import grow_histogram_tree
from spinney.trees.settings import TreeSettings
from spinney.typing import AnyArray, CodeArray, FloatArray, RandomState, TableLike

_TREE_RULES: Mapping[str, Rule] = {
    "max_depth": either(Integer(1), Nothing("no limit")),
    "min_samples_split": either(Integer(2), Fraction()),
    "min_samples_leaf": either(Integer(1), Fraction()),
    "max_features": either(
        Integer(1), Fraction(), Choice(("sqrt", "log2")), Nothing("all features")
    ),
    "max_leaf_nodes": either(Integer(2), Nothing("no limit")),
    "min_impurity_decrease": Real(0.0),
    "max_bins": Integer(2, 255),
    "categorical_features": Checked("'from_dtype', None, a mask, positions or names"),
    "unseen": Choice(("missing", "error")),
    "extra_columns": Choice(("error", "ignore")),
    "random_state": Seed(),
    "n_jobs": Jobs(),
}


class _DecisionTree(Estimator):
    """What the classifier and the regressor share: everything but the meaning of the target."""

    _model_class: ClassVar[type[Model]] = TreeForest
    model_: TreeForest

    def fit(self, X: TableLike, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table of n rows
            pandas, polars or Arrow table, NumPy array, SciPy sparse matrix.
        y : n labels or numbers
        sample_weight : n numbers, optional
            A weight of k counts as the row k times; rows of weight 0 are as if absent.

        Returns
        -------
        self
        """
        self._check_parameters()
        params = self.get_params(deep=False)
        class_weight = params.get("class_weight")
        intake = self._intake_settings(class_weight=class_weight)
        reading = read_rows(X, y, sample_weight, intake)
        settings = tree_settings(params, reading)
        if params["criterion"] in EXACT_CRITERIA:
            tree, features = grow_exact_classes(
                reading, settings, params["criterion"], n_threads=self._n_threads()
            )
        else:
            tree, features = self._grow_on_bins(reading.binned(intake), settings)
        n_outputs = tree.values.shape[1]
        self._adopt(
            TreeForest.from_trees(
                TreeSum(join_trees([tree], width=n_outputs), np.zeros(n_outputs)),
                reading.schema,
                reading.target,
                features,
                output=Output(link="identity", aggregate="mean"),
                policy=Policy(unseen=params["unseen"], extra=params["extra_columns"]),
            )
        )
        return self

    def _grow_on_bins(
        self, problem: Problem, settings: TreeSettings
    ) -> tuple[Tree, tuple[FeatureBins, ...]]:
        tree = grow_histogram_tree(
            problem.binned,
            problem.targets,
            problem.weights,
            settings,
            one_hot=self._task == "classification",
            n_threads=self._n_threads(),
        )
        return tree, problem.binned.features

    def apply(self, X: TableLike) -> CodeArray:
        """Find the number of the leaf each row falls into; (n_rows,)."""
        check_is_fitted(self)
        leaves = self.model_.leaf_ids(
            X, n_threads=self._n_threads(), estimator_name=type(self).__name__
        )
        return leaves[:, 0]

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


class DecisionTreeClassifier(ClassifierMixin, _DecisionTree):
    """A classification tree grown on histograms of at most 255 bins per feature.

    Takes tables as they are: numbers, booleans, strings, categories, dates and missing values.
    The tree is the same for every number of threads and every machine.

    Parameters
    ----------
    criterion : {"gini", "error", "exponential"}
        What a split lowers: impurity, errors of the majority, or what is left of exponential loss
        (two classes). For the last two rows are sorted and every cut is tried, without bins.
    max_depth : int or None
        Longest path from the root, in splits.
    min_samples_split, min_samples_leaf : int or float
        Least weight of rows in a node that is split, and in each child. A float is a share of
        the total weight.
    max_features : int, float, "sqrt", "log2" or None
        Features drawn at each node to choose from.
    max_leaf_nodes : int or None
        With a limit the tree grows best first.
    min_impurity_decrease : float
        Least decrease of the weighted impurity, relative to all rows.
    max_bins : int
        Most bins for the values of a numeric feature, up to 255; categories have up to 255.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    class_weight : None, "balanced" or dict
        Weights of classes, multiplied with ``sample_weight``.
    unseen : {"missing", "error"}
        What an unknown category means at predict.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    random_state : int, Generator, RandomState or None
        Decides the draws of ``max_features``.
    n_jobs : int or None
        Threads; None for all this process may use.

    Attributes
    ----------
    model_ : TreeForest
        The frozen model.
    classes_ : ndarray
        Labels, sorted.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from spinney import DecisionTreeClassifier
    >>> X = [[3.0, "red"], [None, "red"], [2.0, "blue"], [3.0, "blue"]]
    >>> tree = DecisionTreeClassifier().fit(X, ["no", "no", "yes", "yes"])
    >>> tree.predict([[5.0, "blue"], [5.0, "red"]])
    array(['yes', 'no'], dtype='<U3')
    """

    _task = "classification"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "criterion": Choice(("gini", "error", "exponential")),
        **_TREE_RULES,
        "class_weight": Checked("None, 'balanced' or a dict from class to weight"),
    }
    classes_: AnyArray

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        max_features: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        unseen: str = "missing",
        extra_columns: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict_proba(self, X: TableLike) -> FloatArray:
        """Share of each class in the row's leaf; (n_rows, n_classes)."""
        shares: FloatArray = self._predictions(X)
        return shares

    def predict_log_proba(self, X: TableLike) -> FloatArray:
        """Logarithm of ``predict_proba``; -inf where a class has no share."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``."""
        shares = self.predict_proba(X)
        labels: AnyArray = self.classes_[shares.argmax(axis=1)]
        return labels


class DecisionTreeRegressor(RegressorMixin, _DecisionTree):
    """A regression tree grown on histograms of at most 255 bins per feature.

    The parameters are those of :class:`DecisionTreeClassifier` without ``class_weight``;
    ``criterion`` is ``"squared_error"``. Several targets (2-D ``y``) share one tree whose leaves
    are vectors.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[1.0], [2.0], [float("nan")]], [10.0, 20.0, 30.0])
    >>> tree.predict([[1.4], [float("nan")]])
    array([10., 30.])
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {"criterion": Choice(("squared_error",)), **_TREE_RULES}

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        max_features: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: TableLike) -> FloatArray:
        """Mean target of each row's leaf; (n_rows,) or (n_rows, n_outputs)."""
        means: FloatArray = self._predictions(X)
        return means[:, 0] if means.shape[1] == 1 else means
