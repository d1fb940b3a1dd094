"""scikit-learn's ``test_iforest.py`` from its wheel, run against our class."""

import importlib.util
import sys

import sklearn.ensemble
from tests.parity.sklearn_iforest.adapters import IsolationForest


def their_tests():
    """Give the test functions of a fresh copy of the module, imported with our class."""
    theirs = sklearn.ensemble.IsolationForest
    found = importlib.util.find_spec("sklearn.ensemble.tests.test_iforest")
    alias = f"{__package__}.theirs_test_iforest"
    spec = importlib.util.spec_from_file_location(alias, found.origin)
    module = importlib.util.module_from_spec(spec)
    try:
        sklearn.ensemble.IsolationForest = IsolationForest
        sys.modules[alias] = module
        spec.loader.exec_module(module)
    finally:
        sklearn.ensemble.IsolationForest = theirs
    return {name: item for name, item in vars(module).items() if name.startswith("test_")}


globals().update(their_tests())
