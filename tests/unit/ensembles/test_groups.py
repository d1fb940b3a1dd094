"""``groups=`` of every estimator that divides rows by them: one meaning, one refusal."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import spinney
from spinney.errors import InvalidInput
from spinney.theory import FoldSets

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


def test_one_group_cannot_be_held_out():
    with pytest.raises(InvalidInput, match="All 60 rows are of one group: BlendingClassifier"):
        spinney.BlendingClassifier(members()).fit(X, LABELS, groups=np.zeros(N))
    weights = (np.arange(N) < 30).astype(float)
    with pytest.raises(InvalidInput, match="All 30 rows are of one group"):
        spinney.BlendingClassifier(members()).fit(X, LABELS, weights, groups=np.arange(N) // 30)


@pytest.mark.parametrize(
    "cv", [KFold(4, shuffle=True, random_state=0), [(np.arange(1, N), [0]), (np.arange(1, N), [0])]]
)
def test_training_sets_whose_folds_divide_groups_are_refused(cv):
    sets = FoldSets(X, LABELS, cv=cv, groups=np.arange(N) // 2)
    with pytest.raises(InvalidInput, match=r"divides a group: it tests on row \d+ and learns"):
        list(sets.training_sets(1, 0, labels=True))
    whole = FoldSets(X, LABELS, cv=KFold(4), groups=np.arange(N) // 15)
    assert len(list(whole.training_sets(1, 0, labels=True))) == 4
