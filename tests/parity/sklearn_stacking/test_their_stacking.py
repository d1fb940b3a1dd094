"""scikit-learn's ``test_stacking.py`` from its wheel, run against our classes."""

import sklearn.ensemble
from tests.parity.sklearn_stacking import adapters
from tests.parity.their_module import their_tests

tests = their_tests(
    "sklearn.ensemble.tests.test_stacking",
    adapters,
    sklearn.ensemble,
    ("StackingClassifier", "StackingRegressor"),
)
globals().update(tests)
