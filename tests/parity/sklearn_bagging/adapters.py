"""Our classes under scikit-learn's names, with what its tests reach for behind the doors."""

import spinney


class _Adapted:
    @property
    def _max_samples(self):
        return self._known.recipe.n_draws


class BaggingClassifier(_Adapted, spinney.BaggingClassifier):
    pass


class BaggingRegressor(_Adapted, spinney.BaggingRegressor):
    pass
