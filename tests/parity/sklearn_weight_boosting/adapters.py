"""Our classes under scikit-learn's names."""

import numpy as np

import spinney


class AdaBoostClassifier(spinney.AdaBoostClassifier):
    def fit(self, X, y, sample_weight=None):
        """Make text of mixed labels, as scikit-learn does; we refuse them."""
        return super().fit(X, np.asarray(y), sample_weight)


AdaBoostRegressor = spinney.AdaBoostRegressor
