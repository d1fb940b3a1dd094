"""scikit-learn's ``test_iforest.py`` from its wheel, run against our classes."""

import sklearn.ensemble
from tests.parity.sklearn_iforest import adapters
from tests.parity.their_module import their_tests

CLASSES = ("IsolationForest",)

globals().update(
    their_tests("sklearn.ensemble.tests.test_iforest", adapters, sklearn.ensemble, CLASSES)
)
