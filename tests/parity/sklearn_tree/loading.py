"""Loads scikit-learn's tests of trees with our classes in place of theirs."""

import importlib.util
import sys

import pytest
import sklearn.tree
from tests.parity.sklearn_tree import adapters

CLASSES = (
    *("DecisionTreeClassifier", "DecisionTreeRegressor"),
    *("ExtraTreeClassifier", "ExtraTreeRegressor"),
)


def their_tests():
    """Give the test functions of the module, imported with our classes.

    The module is a fresh copy: whoever imports scikit-learn's own later gets scikit-learn's.
    """
    theirs = {cls: getattr(sklearn.tree, cls) for cls in CLASSES}
    found = importlib.util.find_spec("sklearn.tree.tests.test_tree")
    alias = f"{__package__}.theirs"
    spec = importlib.util.spec_from_file_location(alias, found.origin)
    module = importlib.util.module_from_spec(spec)
    try:
        for cls in CLASSES:
            setattr(sklearn.tree, cls, getattr(adapters, cls))
        sys.modules[alias] = module
        spec.loader.exec_module(module)
    finally:
        for cls, original in theirs.items():
            setattr(sklearn.tree, cls, original)
    tests = {key: item for key, item in vars(module).items() if key.startswith("test_")}
    for test in tests.values():
        test.pytestmark = [_listed(mark) for mark in getattr(test, "pytestmark", [])]
    return tests


def _listed(mark):
    """Turn an iterator of cases into a list: pytest will refuse the former."""
    if mark.name != "parametrize":
        return mark
    names, cases, *rest = mark.args
    return pytest.mark.parametrize(names, list(cases), *rest, **mark.kwargs).mark
