"""Our classes under scikit-learn's names."""

import numpy as np

import spinney


class AdaBoostClassifier(spinney.AdaBoostClassifier):
    def fit(self, X, y, sample_weight=None):
        """Make texts of mixed labels, as NumPy does for scikit-learn.

        We refuse the list ["foo", "foo", "foo", 1, 1, 1] of ``test_classification_toy`` and
        ``test_estimator``: as texts, 1 would be predicted as "1". Lists of any numbers need none.
        """
        return super().fit(X, np.asarray(y), sample_weight)


AdaBoostRegressor = spinney.AdaBoostRegressor
