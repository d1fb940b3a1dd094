"""Loads a test module of scikit-learn's wheel with our drop-in classes in place of theirs."""

import importlib.util
import sys

import sklearn.ensemble
from tests.parity.sklearn_hist_gradient_boosting import adapters

PACKAGE = "sklearn.ensemble._hist_gradient_boosting.tests"
CLASSES = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")


def their_tests(name):
    """Give the test functions of a module that was imported with our classes.

    The module is a fresh copy: whoever imports scikit-learn's own later gets scikit-learn's.
    """
    theirs = {cls: getattr(sklearn.ensemble, cls) for cls in CLASSES}
    found = importlib.util.find_spec(f"{PACKAGE}.{name}")
    alias = f"{__package__}.theirs_{name}"
    spec = importlib.util.spec_from_file_location(alias, found.origin)
    module = importlib.util.module_from_spec(spec)
    try:
        for cls in CLASSES:
            setattr(sklearn.ensemble, cls, getattr(adapters, cls))
        sys.modules[alias] = module
        spec.loader.exec_module(module)
    finally:
        for cls, original in theirs.items():
            setattr(sklearn.ensemble, cls, original)
    return {key: item for key, item in vars(module).items() if key.startswith("test_")}
