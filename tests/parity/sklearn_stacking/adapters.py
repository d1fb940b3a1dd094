"""Our classes under scikit-learn's names."""

import spinney


class StackingClassifier(spinney.StackingClassifier):
    pass


class StackingRegressor(spinney.StackingRegressor):
    pass
