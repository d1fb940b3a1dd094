"""Our drop-in classes with the private names that scikit-learn's own tests look at.

The tests ask fitted estimators for trees, seeds and checks by names that scikit-learn never
published. The adapters answer from the model, so that as many tests as possible run against us;
what they cannot answer is in ``exceptions.py``.
"""

from types import SimpleNamespace

import numpy as np

import spinney
from spinney.data.target import Target
from spinney.ensembles.constraints import interaction_groups
from spinney.ensembles.gradient.rows import BoostingRows, Part
from spinney.ensembles.gradient.stopping import StoppingRule, few_rows


class Predictor:
    """A tree under the names of scikit-learn's ``TreePredictor``."""

    def __init__(self, tree):
        self._tree = tree
        nodes = np.arange(len(tree))
        is_leaf = tree.right < 0
        kinds = [("value", "f8"), ("is_leaf", "?"), ("left", "i4"), ("right", "i4")]
        kinds += [("feature_idx", "i4"), ("num_threshold", "f8"), ("count", "i8"), ("gain", "f8")]
        self.nodes = np.zeros(len(tree), kinds)
        self.nodes["value"] = tree.values[:, 0]
        self.nodes["is_leaf"] = is_leaf
        self.nodes["left"] = np.where(is_leaf, 0, nodes + 1)
        self.nodes["right"] = np.where(is_leaf, 0, tree.right)
        self.nodes["feature_idx"] = tree.feature
        self.nodes["num_threshold"] = tree.threshold
        self.nodes["count"] = tree.count
        self.nodes["gain"] = tree.gain

    @property
    def raw_left_cat_bitsets(self):
        return np.ascontiguousarray(self._tree.category_sets).view(np.uint32)

    def get_max_depth(self):
        return self._tree.depth

    def get_n_leaf_nodes(self):
        return self._tree.n_leaves


class _PrivateNames:
    def _plan(self, *given):
        plan, *others = super()._plan(*given)
        counts = np.array([feature.n_value_bins for feature in plan.rows.binned.features])
        self._bin_mapper = SimpleNamespace(n_bins_non_missing_=counts)
        return plan, *others

    def _get_small_trainset(self, X, y, sample_weight_train, seed):
        everything = Part(None, sample_weight_train, sample_weight_train is not None)
        target = Target.classification(np.unique(y))
        rows = BoostingRows(target, None, [], y, None, None, everything, None)
        part = few_rows(rows, everything, seed)
        return part.take(X), part.take(y), None, part.rows

    @property
    def _predictors(self):
        trees, width = list(self.model_), self.n_trees_per_iteration_
        rounds = [trees[first : first + width] for first in range(0, len(trees), width)]
        return [[Predictor(tree) for tree in trees] for trees in rounds]

    @property
    def _preprocessor(self):
        levels = [np.array(levels.values) for levels in self.model_.schema.levels if levels]
        return SimpleNamespace(named_transformers_={"encoder": SimpleNamespace(categories_=levels)})

    @property
    def _random_seed(self):
        return self._seed

    def _raw_predict(self, X):
        return self._raw_scores(X)

    def _should_stop(self, scores):
        return StoppingRule(self.n_iter_no_change, self.tol).says_stop(scores)

    def _check_interaction_cst(self, n_features):
        groups = interaction_groups(self.interaction_cst, n_features)
        return None if groups is None else [set(group) for group in groups]


class HistGradientBoostingClassifier(_PrivateNames, spinney.HistGradientBoostingClassifier):
    pass


class HistGradientBoostingRegressor(_PrivateNames, spinney.HistGradientBoostingRegressor):
    pass
