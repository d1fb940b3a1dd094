"""scikit-learn's ``test_voting.py`` from its wheel, run against our classes."""

import sklearn.ensemble
from tests.parity.sklearn_voting import adapters
from tests.parity.their_module import their_tests

tests = their_tests(
    "sklearn.ensemble.tests.test_voting",
    adapters,
    sklearn.ensemble,
    ("VotingClassifier", "VotingRegressor"),
)
globals().update(tests)
