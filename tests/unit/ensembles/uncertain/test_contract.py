"""scikit-learn's checks for estimators around others, beyond their defaults.

The defaults are checked with all public estimators in ``tests/contracts``.
"""

import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import check_estimator

from spinney import CalibratedClassifier, ConformalClassifier, ConformalRegressor

MADE = [
    CalibratedClassifier(GaussianNB(), method="isotonic", ensemble=True),
    CalibratedClassifier(GaussianNB(), method="venn_abers"),
    CalibratedClassifier(GaussianNB(), method="beta"),
    CalibratedClassifier(GaussianNB(), method="temperature"),
    ConformalClassifier(GaussianNB(), method="raps", randomised=True),
    ConformalClassifier(GaussianNB(), method="lac", conditional_on="class"),
    ConformalRegressor(LinearRegression(), method="minmax"),
]


@pytest.mark.parametrize("estimator", MADE, ids=repr)
def test_no_check_of_scikit_learn_fails(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert len(results) > 50
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert failed == []
    assert not any(r["expected_to_fail"] for r in results)
