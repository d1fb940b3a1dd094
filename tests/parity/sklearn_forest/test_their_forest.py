"""scikit-learn's ``test_forest.py`` from its wheel, run against our classes."""

import sklearn.ensemble
from tests.parity.sklearn_forest import adapters
from tests.parity.their_module import their_tests

CLASSES = (
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
)

tests = their_tests(
    "sklearn.ensemble.tests.test_forest",
    adapters,
    sklearn.ensemble,
    CLASSES,
    without=("RandomTreesEmbedding",),
)
globals().update(
    {name: test for name, test in tests.items() if not name.startswith("test_random_")}
)
