"""Our classes under scikit-learn's names."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import spinney


class AdaBoostClassifier(spinney.AdaBoostClassifier):
    def fit(self, X, y, sample_weight=None):
        """Make text of mixed labels, as scikit-learn does; we refuse them."""
        return super().fit(X, np.asarray(y), sample_weight)


class Missing(RegressorMixin, BaseEstimator):
    """Stands for a class that Spinney does not have; a test that fits it does not apply."""

    def __init__(self, estimator=None, *, n_estimators=50, loss="linear", random_state=None):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.loss = loss
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002
        pytest.skip("there is no spinney.AdaBoostRegressor to test")


AdaBoostRegressor = getattr(spinney, "AdaBoostRegressor", Missing)
