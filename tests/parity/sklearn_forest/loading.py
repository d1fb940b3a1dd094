"""Loads scikit-learn's tests of forests with our classes in place of theirs."""

import importlib.util
import sys

import pytest
import sklearn.ensemble
from tests.parity.sklearn_forest import adapters

CLASSES = (
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
)


def their_tests():
    """Give the test functions of the module, imported with our classes.

    The module is a fresh copy: whoever imports scikit-learn's own later gets scikit-learn's.
    Tests of ``RandomTreesEmbedding`` are not about these classes and are left out.
    """
    theirs = {cls: getattr(sklearn.ensemble, cls) for cls in CLASSES}
    found = importlib.util.find_spec("sklearn.ensemble.tests.test_forest")
    alias = f"{__package__}.theirs"
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
    tests = {key: item for key, item in vars(module).items() if key.startswith("test_")}
    tests = {key: item for key, item in tests.items() if not key.startswith("test_random_")}
    for test in tests.values():
        test.pytestmark = [_listed(mark) for mark in getattr(test, "pytestmark", [])]
    return tests


def _listed(mark):
    """Turn an iterator of cases into a list without the embedding: pytest refuses iterators."""
    if mark.name != "parametrize":
        return mark
    names, cases, *rest = mark.args
    own = [case for case in cases if case != "RandomTreesEmbedding"]
    return pytest.mark.parametrize(names, own, *rest, **mark.kwargs).mark
