"""Our classes under scikit-learn's names, with what its tests reach for behind the doors."""

import numpy as np

import spinney


class _Adapted:
    def fit(self, X, y, sample_weight=None):
        """Make an array of y, as scikit-learn does; we refuse lists of mixed labels."""
        return super().fit(X, np.asarray(y), sample_weight)

    @property
    def _max_samples(self):
        return self._known.recipe.n_draws


class BaggingClassifier(_Adapted, spinney.BaggingClassifier):
    pass


class BaggingRegressor(_Adapted, spinney.BaggingRegressor):
    pass
