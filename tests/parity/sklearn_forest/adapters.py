"""Our classes under scikit-learn's names."""

import numpy as np

import spinney


class _Adapted:
    def fit(self, X, y, sample_weight=None):
        """Make an array of y, as scikit-learn does; we refuse lists of mixed labels."""
        return super().fit(X, np.asarray(y), sample_weight)


class RandomForestClassifier(_Adapted, spinney.RandomForestClassifier):
    pass


class RandomForestRegressor(_Adapted, spinney.RandomForestRegressor):
    pass


class ExtraTreesClassifier(_Adapted, spinney.ExtraTreesClassifier):
    pass


class ExtraTreesRegressor(_Adapted, spinney.ExtraTreesRegressor):
    pass
