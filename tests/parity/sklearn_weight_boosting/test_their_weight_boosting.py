"""scikit-learn's ``test_weight_boosting.py`` from its wheel, run against our classes."""

import sklearn.ensemble
from tests.parity.sklearn_weight_boosting import adapters
from tests.parity.their_module import their_tests

CLASSES = ("AdaBoostClassifier", "AdaBoostRegressor")

globals().update(
    their_tests("sklearn.ensemble.tests.test_weight_boosting", adapters, sklearn.ensemble, CLASSES)
)
