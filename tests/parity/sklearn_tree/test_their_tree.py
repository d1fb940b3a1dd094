"""scikit-learn's ``test_tree.py`` from its wheel, run against our classes."""

import sklearn.tree
from tests.parity.sklearn_tree import adapters
from tests.parity.their_module import their_tests

CLASSES = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
)

globals().update(their_tests("sklearn.tree.tests.test_tree", adapters, sklearn.tree, CLASSES))
