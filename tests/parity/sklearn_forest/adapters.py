"""Our classes under scikit-learn's names, with what its tests reach for behind the doors."""

from types import SimpleNamespace

import numpy as np
from scipy import sparse

import spinney


class TheirTree:
    """The arrays of a tree under the names of scikit-learn's ``tree_``."""

    def __init__(self, view):
        tree = view.model_[0]
        self._view, self._tree = view, tree
        leaf = tree.right < 0
        self.node_count = len(tree)
        self.feature = np.where(leaf, -2, tree.feature)
        self.threshold = tree.threshold
        self.children_right = tree.right
        self.children_left = np.where(leaf, -1, np.arange(len(tree)) + 1)
        self.n_node_samples = tree.weight  # with repetitions

    def apply(self, X):
        return self._view.apply(X)

    def compute_feature_importances(self, normalize=True):
        gains = self._view.model_.feature_gains() / self._tree.weight[0]
        return gains / gains.sum() if normalize else gains


class _Adapted:
    estimator = SimpleNamespace(splitter="best")

    def fit(self, X, y, sample_weight=None):
        """Make an array of y, as scikit-learn does; we refuse lists of mixed labels."""
        return super().fit(X, y if sparse.issparse(y) else np.asarray(y), sample_weight)

    @property
    def estimators_(self):
        views = list(super().estimators_)
        for view in views:
            view.tree_ = TheirTree(view)
        return views

    @property
    def _n_samples_bootstrap(self):
        return self._known.recipe.n_draws


class RandomForestClassifier(_Adapted, spinney.RandomForestClassifier):
    pass


class RandomForestRegressor(_Adapted, spinney.RandomForestRegressor):
    pass


class ExtraTreesClassifier(_Adapted, spinney.ExtraTreesClassifier):
    pass


class ExtraTreesRegressor(_Adapted, spinney.ExtraTreesRegressor):
    pass
