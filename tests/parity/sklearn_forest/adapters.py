"""Our classes under scikit-learn's names, with what its tests reach for behind the doors."""

from types import SimpleNamespace

import spinney


class _Adapted:
    estimator = SimpleNamespace(splitter="best")

    @property
    def _n_samples_bootstrap(self):
        return self._known.recipe.n_draws

    def _learn(self, rows, watch):
        """Keep the weights of rows and classes, if there are any."""
        super()._learn(rows, watch)
        self._sample_weight = 1.0 if rows.reading.weights is None else rows.reading.weights


class RandomForestClassifier(_Adapted, spinney.RandomForestClassifier):
    pass


class RandomForestRegressor(_Adapted, spinney.RandomForestRegressor):
    pass


class ExtraTreesClassifier(_Adapted, spinney.ExtraTreesClassifier):
    pass


class ExtraTreesRegressor(_Adapted, spinney.ExtraTreesRegressor):
    pass


class RandomTreesEmbedding(spinney.RandomTreesEmbedding):
    pass
