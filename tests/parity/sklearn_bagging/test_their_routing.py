"""scikit-learn's tests of routers from its wheel, those of them that are about bagging."""

import pytest
import sklearn.ensemble
from tests.parity.sklearn_bagging import adapters
from tests.parity.their_module import their_tests

CLASSES = ("BaggingClassifier", "BaggingRegressor")
OURS = [getattr(adapters, name) for name in CLASSES]


def of_bagging(test):
    """Keep the cases of a test that are about our classes; give None if there are none."""
    marks = []
    for mark in getattr(test, "pytestmark", []):
        if mark.name != "parametrize" or mark.args[0] != "metaestimator":
            continue
        cases = [case for case in mark.args[1] if case["metaestimator"] in OURS]
        marks.append(pytest.mark.parametrize("metaestimator", cases, ids=CLASSES).mark)
    test.pytestmark = marks
    return test if marks else None


found = their_tests(
    "sklearn.tests.test_metaestimators_metadata_routing", adapters, sklearn.ensemble, CLASSES
)
globals().update({name: test for name, test in found.items() if of_bagging(test)})
