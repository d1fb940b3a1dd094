"""Random forests."""

from collections.abc import Mapping
from typing import Any, ClassVar

from spinney.ensembles.forests.answers import ClassForest, NumberForest
from spinney.ensembles.forests.rules import (
    CLASS_RULES,
    FOREST_RULES,
    NUMBER_RULES,
    SEARCH_RULES,
    TREE_FEATURE_RULES,
)
from spinney.ensembles.parameters import Rule
from spinney.typing import RandomState


class RandomForestClassifier(ClassForest):
    """A random forest: deep trees on bootstrap samples, with few features to choose from per node.

    The parameters are those of scikit-learn 1.9 in its order, then ours. What we do differently:
    tables are taken as they are, with categories, text, dates and missing values; the forest does
    not depend on threads, nor on the order of rows; whole weights are repetitions, so
    ``min_samples_*`` are weights too; ``n_jobs=None`` uses all threads of the process. Several
    labels per row (2-D ``y``) share trees, by the mean of their impurities; out of bag a row is
    right if all its labels are.

    Parameters
    ----------
    n_estimators : int or "auto"
        Trees. "auto" grows 50 at a time until the out-of-bag curve is flat: until infinitely many
        trees would lower the out-of-bag squared loss by at most 1 %, or by at most 0.01 % of that
        of the best constant; 2000 at most.
    criterion : {"gini", "entropy", "log_loss", "error", "twoing", "dkm", "hellinger", "gain_ratio"}
        What a split lowers, or raises. "log_loss" is "entropy", "misclassification" is "error";
        "dkm" and "hellinger" are for two classes. Of several labels per row the sum over them
        counts.
    max_depth : int or None
        Longest path from the root, in splits.
    min_samples_split, min_samples_leaf : int or float
        Least weight of rows in a node that is split, and in each child. A float is a share.
    min_weight_fraction_leaf : float
        Least share of the weight in each child.
    max_features : int, float, "sqrt", "log2" or None
        Features drawn at each node to choose from.
    max_leaf_nodes : int or None
        With a limit trees grow best first.
    min_impurity_decrease : float
        Least decrease of the weighted impurity, relative to all rows.
    bootstrap : bool
        Whether trees draw as many rows as there are, with replacement; else all see all rows.
    oob_score : bool or callable
        Whether to score every row by the trees that did not see it; a callable is given the
        labels and those predicted.
    n_jobs : int or None
        Threads; None for all this process may use.
    random_state : int, Generator, RandomState or None
        Decides all draws.
    verbose : int
        Whether to tell on stderr how far it is.
    warm_start : bool
        Whether ``fit`` adds trees to those there are; they are the trees one fit would have grown.
    class_weight : None, "balanced", "balanced_subsample", dict or list of dicts
        Weights of classes; "balanced_subsample" by the rows of each tree. Of several labels a dict
        for each, and their product counts.
    ccp_alpha : float
        Price of a leaf by which trees are pruned, each as a single tree is; 0 for not at all.
    max_samples : int, float or None
        Rows a bag draws, or the share of them.
    monotonic_cst : None, sequence or dict
        1 where the prediction (of the second of two classes) may only rise with a feature, -1 where
        it may only fall, 0 where it is free; by position or by name.
    categorical_features : "from_dtype", None, mask, positions or names
        Which features are categories.
    voting : {"soft", "hard"}
        Whether trees give shares of classes, or one vote each.
    sampler : None or str
        How trees draw rows, in place of ``bootstrap``: "bootstrap", "subsample" (without
        replacement), "bayesian" (random weights), "balanced" (ten trees count every row ten
        times), "stratified" (within classes), "block" (consecutive rows), "group" (rows of a
        group together), "poisson" (each row a Poisson number of times, 1 on average).
    block_length : int or None
        Rows of a block, or times if ``fit`` is given ``time``; None for the cube root of their
        number.
    search : {"adaptive", "exact", "histogram"}
        Whether splits are looked for by bins in large nodes and among all values in others, among
        all values, or by bins.
    max_bins : int
        Most bins of a feature, up to 255.
    unseen : {"missing", "error"}
        What an unknown category means at predict.
    extra_columns : {"error", "ignore"}
        What unknown columns mean at predict.
    max_features_per_tree : int, float, "sqrt", "log2" or None
        Features drawn for each tree before it grows, none twice; its nodes choose from those, and
        shares in ``max_features`` are shares of them. None: all.

    Attributes
    ----------
    model_ : TreeForest
        The frozen model.
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_
        As in scikit-learn.
    estimators_, estimators_samples_ : lists
        The trees as estimators, and the rows each was grown on.
    feature_importances_ : ndarray
        Mean share of each feature in the gain of a tree.
    oob_score_, oob_decision_function_, oob_curve_
        With ``oob_score``: accuracy, shares of classes for each row (NaN where every tree saw it),
        and the accuracy after each number of trees.

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45.

    Examples
    --------
    >>> from spinney import RandomForestClassifier
    >>> X = [[3.0, "red"], [None, "red"], [2.0, "blue"], [3.0, "blue"]] * 5
    >>> forest = RandomForestClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"] * 5)
    >>> forest.predict([[5.0, "blue"], [5.0, "red"]])
    array(['yes', 'no'], dtype='<U3')
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **FOREST_RULES,
        **SEARCH_RULES,
        **CLASS_RULES,
        **TREE_FEATURE_RULES,
    }

    def __init__(
        self,
        n_estimators: int | str = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        voting: str = "soft",
        sampler: str | None = None,
        block_length: int | None = None,
        search: str = "adaptive",
        max_bins: int = 255,
        unseen: str = "missing",
        extra_columns: str = "error",
        max_features_per_tree: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.voting = voting
        self.sampler = sampler
        self.block_length = block_length
        self.search = search
        self.max_bins = max_bins
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.max_features_per_tree = max_features_per_tree


class RandomForestRegressor(NumberForest):
    """A random forest for numbers.

    The parameters are those of :class:`RandomForestClassifier` without ``class_weight`` and
    ``voting``. ``criterion`` is "squared_error", "friedman_mse" (the same), "absolute_error"
    (leaves are medians; every cut is tried, whatever ``search`` says) or "poisson" (half the
    deviance; y must not be negative). Several targets (2-D ``y``) share trees whose leaves are
    vectors. Out-of-bag answers are ``oob_prediction_``, scores are R².

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import RandomForestRegressor
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> forest = RandomForestRegressor(random_state=0, oob_score=True).fit(X, X[:, 0])
    >>> bool(forest.oob_score_ > 0.99)
    True
    >>> said, error = forest.predict([[100.0]], return_std=True)
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **FOREST_RULES,
        **SEARCH_RULES,
        **NUMBER_RULES,
        **TREE_FEATURE_RULES,
    }

    def __init__(
        self,
        n_estimators: int | str = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: float | None = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        sampler: str | None = None,
        block_length: int | None = None,
        search: str = "adaptive",
        max_bins: int = 255,
        unseen: str = "missing",
        extra_columns: str = "error",
        max_features_per_tree: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.sampler = sampler
        self.block_length = block_length
        self.search = search
        self.max_bins = max_bins
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.max_features_per_tree = max_features_per_tree
