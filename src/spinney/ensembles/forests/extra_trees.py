"""Extremely randomised trees."""

from collections.abc import Mapping
from typing import Any, ClassVar

from spinney.ensembles.forests.answers import ClassForest, NumberForest
from spinney.ensembles.forests.rules import (
    CLASS_RULES,
    FOREST_RULES,
    NUMBER_RULES,
    TREE_FEATURE_RULES,
)
from spinney.ensembles.parameters import Rule
from spinney.typing import RandomState


class ExtraTreesClassifier(ClassForest):
    """Extremely randomised trees: all see all rows, and try one random cut per feature and node.

    The parameters are those of :class:`RandomForestClassifier` without ``search`` and
    ``max_bins``; ``bootstrap`` is False.

    References
    ----------
    Geurts, Ernst and Wehenkel (2006), Extremely randomized trees, Machine Learning 63.

    Examples
    --------
    >>> from spinney import ExtraTreesClassifier
    >>> X = [[3.0, "red"], [None, "red"], [2.0, "blue"], [3.0, "blue"]]
    >>> forest = ExtraTreesClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"])
    >>> forest.predict([[2.0, "blue"], [3.0, "red"]])
    array(['yes', 'no'], dtype='<U3')
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **FOREST_RULES,
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
        bootstrap: bool = False,
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
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.max_features_per_tree = max_features_per_tree


class ExtraTreesRegressor(NumberForest):
    """Extremely randomised trees for numbers.

    The parameters are those of :class:`RandomForestRegressor` without ``search`` and ``max_bins``;
    ``bootstrap`` is False.

    Examples
    --------
    >>> from spinney import ExtraTreesRegressor
    >>> forest = ExtraTreesRegressor(random_state=0).fit([[1.0], [2.0], [3.0]], [10.0, 20.0, 30.0])
    >>> forest.predict([[1.0], [3.0]])
    array([10., 30.])
    """

    _rules: ClassVar[Mapping[str, Rule]] = {
        **FOREST_RULES,
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
        bootstrap: bool = False,
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
        self.unseen = unseen
        self.extra_columns = extra_columns
        self.max_features_per_tree = max_features_per_tree
