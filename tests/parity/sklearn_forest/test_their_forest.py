"""scikit-learn's ``test_forest.py`` from its wheel, run against our classes."""

import sklearn.ensemble
from tests.parity.sklearn_forest import adapters
from tests.parity.their_module import their_tests

CLASSES = (
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomTreesEmbedding",
)

globals().update(
    their_tests("sklearn.ensemble.tests.test_forest", adapters, sklearn.ensemble, CLASSES)
)
