"""One tree, as an estimator."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from spinney.data.binning import native_columns
from spinney.ensembles.fitting import Reading
from spinney.ensembles.label_answers import logarithms
from spinney.ensembles.number_answers import ScoresNumbers
from spinney.ensembles.parameters import Checked, Choice, Rule
from spinney.ensembles.trees.growing import CLASS_CRITERIA, NUMBER_CRITERIA
from spinney.ensembles.trees.several_labels import SeveralLabels, mean_impurity
from spinney.ensembles.trees.single_tree import TREE_RULES, SingleTree
from spinney.errors import InvalidModel
from spinney.model.model import State
from spinney.trees.impurity import class_decreases, number_impurities
from spinney.typing import AnyArray, FloatArray, RandomState, TableLike


class DecisionTreeClassifier(SeveralLabels, ClassifierMixin, SingleTree):
    """A classification tree: scikit-learn's names, tables as they are, every cut tried.

    Takes numbers, booleans, strings, categories, dates and missing values. The tree is the same
    for every number of threads and every machine. Several labels per row (2-D ``y``), each of
    classes of its own, share one tree, by the mean of their impurities: ``classes_`` is then a
    list, ``predict_proba`` gives one, and ``predict`` a column for each.

    Parameters
    ----------
    criterion : str
        What a split lowers: "gini", "entropy" in bits (also "log_loss"), "error" outside the
        majority (also "misclassification"), "dkm" for 2√(p(1-p)), which is what "exponential" loss
        leaves. Or what it raises: "twoing", "hellinger" distance, "gain_ratio". DKM and Hellinger
        know two classes.
    splitter : {"best", "random"}
        scikit-learn's word: "best" looks as ``search`` says, "random" is ``search="random"``.
    search : {"exact", "adaptive", "histogram", "random"}
        How cuts of numbers are looked for: all of them; by bins in nodes of 768 rows or more
        and all elsewhere; by bins only; or the best of one random cut per feature.
    max_depth : int or None
        Longest path from the root, in splits.
    min_samples_split, min_samples_leaf : int or float
        Least weight of rows in a node that is split, and in each child. A float is a share of
        the total weight.
    min_weight_fraction_leaf : float
        Least weight of a child, as a share of all; beside ``min_samples_leaf``.
    max_features : int, float, "sqrt", "log2" or None
        Features drawn at each node to choose from.
    random_state : int, Generator, RandomState or None
        Decides the draws of ``max_features`` and random cuts.
    max_leaf_nodes : int or None
        With a limit the tree grows best first.
    min_impurity_decrease : float
        Least decrease of the weighted impurity, relative to all rows.
    class_weight : None, "balanced", dict or list of dicts
        Weights of classes, multiplied with ``sample_weight``; of several labels a dict for each,
        and their product counts.
    ccp_alpha : float
        Price of a leaf: the tree is pruned by cost complexity. 0 leaves it as it grew. Other
        prunings: :meth:`pruned`.
    monotonic_cst : None, sequence or dict
        1 where the prediction (of the second of two classes) may only rise with a feature, -1 where
        it may only fall, 0 where it is free; by position or by name.
    max_bins : int
        Most bins for the values of a numeric feature, up to 255; categories have up to 255.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    unseen : {"missing", "error"}
        What an unknown category means at predict.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    n_jobs : int or None
        Threads; None for all this process may use.

    Attributes
    ----------
    model_ : TreeForest
        The frozen model.
    tree_ : TreeArrays
        Its nodes under scikit-learn's names.
    classes_ : ndarray
        Labels, sorted; ``n_classes_`` of them.
    feature_importances_ : ndarray
        Share of each feature in the total decrease of impurity.
    n_features_in_, feature_names_in_, max_features_, n_outputs_
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
        "criterion": Choice(tuple(CLASS_CRITERIA)),
        **TREE_RULES,
        "class_weight": Checked("None, 'balanced' or a dict from class to weight"),
    }
    classes_: AnyArray

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        search: str = "exact",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.search = search
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.n_jobs = n_jobs

    def predict_proba(self, X: TableLike) -> Any:
        """Share of each class in the row's leaf; (n_rows, n_classes), of several labels a list."""
        return self._by_label(self._predictions(X))

    def predict_log_proba(self, X: TableLike) -> Any:
        """Logarithm of ``predict_proba``; -inf where a class has no share."""
        return logarithms(self.predict_proba(X))

    def predict(self, X: TableLike) -> AnyArray:
        """Likeliest class of each row; ties go to the first of ``classes_``.

        Of several labels (n_rows, n_labels).
        """
        return self._likeliest(self.predict_proba(X))

    def _node_impurities(self) -> FloatArray:
        model, criterion = self.model_, CLASS_CRITERIA[self.criterion]
        return mean_impurity(model.target, model[0].values, criterion)

    def _decreases(self) -> FloatArray:
        summed = self._node_impurities() * self.n_outputs_
        return class_decreases(self.model_[0], summed, CLASS_CRITERIA[self.criterion])


class DecisionTreeRegressor(ScoresNumbers, RegressorMixin, SingleTree):
    """A regression tree: scikit-learn's names, tables as they are, every cut tried.

    The parameters are those of :class:`DecisionTreeClassifier` without ``class_weight``;
    ``criterion`` is "squared_error" (also "friedman_mse", which chooses the same splits),
    "absolute_error" (leaves are medians; every cut is tried whatever ``search`` says, in O(n log n)
    per node and feature) or "poisson", half the Poisson deviance of counts and other numbers that
    are not negative. Several targets (2-D ``y``) share one tree whose leaves are vectors; a split
    lowers the mean over targets.

    Examples
    --------
    >>> from spinney import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit([[1.0], [2.0], [float("nan")]], [10.0, 20.0, 30.0])
    >>> tree.predict([[1.4], [float("nan")]])
    array([10., 30.])
    """

    _task = "regression"
    _rules: ClassVar[Mapping[str, Rule]] = {
        "criterion": Choice(tuple(NUMBER_CRITERIA)),
        **TREE_RULES,
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        search: str = "exact",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: RandomState = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        unseen: str = "missing",
        extra_columns: str = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.search = search
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.monotonic_cst is None
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def predict(self, X: TableLike) -> FloatArray:
        """Mean (or median) target of each row's leaf; (n_rows,) or (n_rows, n_outputs)."""
        means: FloatArray = self._predictions(X)
        return means[:, 0] if means.shape[1] == 1 else means

    def _measure(self, reading: Reading) -> None:
        columns = native_columns(reading.table)
        leaves = np.asarray(self.model_.native.leaf_ids(columns, self._n_threads()))[:, 0]
        self._impurity: FloatArray | None = number_impurities(
            self.model_[0], leaves, reading.y, reading.weights, NUMBER_CRITERIA[self.criterion]
        )

    def _node_impurities(self) -> FloatArray:
        known: FloatArray | None = getattr(self, "_impurity", None)
        return np.full(len(self.model_[0]), np.nan) if known is None else known

    def _decreases(self) -> FloatArray:
        return self.model_[0].gain

    def _take_impurities_of(self, other: Self) -> None:
        self._impurity = getattr(other, "_impurity", None)

    def _forget_impurities(self, kept: AnyArray) -> None:
        self._impurity = None if self._impurity is None else self._impurity[kept]

    def _attributes(self) -> State:
        known: FloatArray | None = getattr(self, "_impurity", None)
        return {}, {} if known is None else {"impurity": known}

    def _adopt_attributes(self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        impurity = arrays.get("impurity")
        fits = impurity is None or (
            impurity.dtype == "<f8" and impurity.shape == self.model_.arrays["feature"].shape
        )
        if meta or not set(arrays) <= {"impurity"} or not fits:
            raise InvalidModel("what the estimator knows beside its model is missing or unknown")
        self._impurity = None if impurity is None else impurity.copy()
