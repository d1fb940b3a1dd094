"""scikit-learn's ``test_bagging.py`` from its wheel, run against our classes."""

import sklearn.ensemble
from tests.parity.sklearn_bagging import adapters
from tests.parity.their_module import their_tests

CLASSES = ("BaggingClassifier", "BaggingRegressor")

globals().update(
    their_tests("sklearn.ensemble.tests.test_bagging", adapters, sklearn.ensemble, CLASSES)
)
