"""``groups=`` of every estimator that divides rows by them: one meaning, one refusal."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import spinney
from spinney.errors import InvalidInput

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
LABELS = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)


def members():
    return [("a", LogisticRegression()), ("b", LogisticRegression(C=0.1))]


DIVIDING = [
    spinney.StackingClassifier(members(), cv=2),
    spinney.BlendingClassifier(members()),
    spinney.EnsembleSelectionClassifier(members(), cv=2),
    spinney.KNORAEClassifier(selection_fraction=0.5),
    spinney.BumpingClassifier(n_estimators=3),
    spinney.CalibratedClassifier(LogisticRegression(), cv=2),
    spinney.ConformalClassifier(LogisticRegression(), cv=2),
    spinney.BaggingClassifier(n_estimators=2, sampler="group"),
]


@pytest.mark.parametrize("estimator", DIVIDING, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("missing", [None, np.nan, pd.NaT])
def test_a_missing_group_is_refused_with_its_row(estimator, missing):
    groups = np.array([number % 6 for number in range(N)], object)
    groups[7] = missing
    with pytest.raises(InvalidInput, match=r"groups.*row 7"):
        estimator.fit(X, LABELS, groups=groups)


@pytest.mark.parametrize("estimator", DIVIDING, ids=lambda one: type(one).__name__)
def test_a_number_and_its_text_are_two_groups(estimator):
    estimator.fit(X, LABELS, groups=np.array([1, "1"] * (N // 2), object))
    assert set(estimator.predict(X)) <= {0, 1}
