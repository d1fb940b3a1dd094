"""scikit-learn's own test modules, imported with our classes in place of theirs."""

import importlib.util
import sys

import pytest


def their_tests(name, adapters, owner, classes):
    """Give the test functions of a module, imported with the adapters' classes in their owner.

    The module is a fresh copy: whoever imports scikit-learn's own later gets scikit-learn's.
    """
    theirs = {cls: getattr(owner, cls) for cls in classes}
    found = importlib.util.find_spec(name)
    alias = f"{adapters.__package__}.theirs"
    spec = importlib.util.spec_from_file_location(alias, found.origin)
    module = importlib.util.module_from_spec(spec)
    try:
        for cls in classes:
            setattr(owner, cls, getattr(adapters, cls))
        sys.modules[alias] = module
        spec.loader.exec_module(module)
    finally:
        for cls, original in theirs.items():
            setattr(owner, cls, original)
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


def expect_exceptions(items, folder, exceptions):
    """Mark the tests of a folder that our classes do not pass; exceptions give each its reason.

    Warnings are scikit-learn's business there.
    """
    for item in items:
        if folder not in item.nodeid:
            continue
        item.add_marker(pytest.mark.filterwarnings("default"))
        reason = exceptions.get(item.name) or exceptions.get(item.originalname)
        if reason is not None:  # strict: a reason that holds no longer is a failure
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
