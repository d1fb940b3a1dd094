"""Committees are the same whichever of joblib's backends fits their members."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

import spinney
from spinney.ensembles.side_by_side import done_in_order

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
NUMBERS = 2 * X[:, 0] + RNG.normal(size=120)
LABELS = np.array(["ash", "elm", "oak"])[np.digitize(X[:, 1], [-0.5, 0.5])]
OF_NUMBERS = [("line", LinearRegression()), ("ridge", Ridge())]
OF_CLASSES = [("bayes", GaussianNB()), ("logistic", LogisticRegression())]
TREE = DecisionTreeRegressor(max_features=2)  # it draws: seeds must not depend on workers
COMMITTEES = [
    spinney.StackingRegressor(OF_NUMBERS),
    spinney.StackingClassifier(OF_CLASSES),
    spinney.VotingRegressor(OF_NUMBERS),
    spinney.VotingClassifier(OF_CLASSES, voting="soft"),
    spinney.SuperLearnerRegressor(OF_NUMBERS),
    spinney.BlendingRegressor(OF_NUMBERS, random_state=0),
    spinney.WeightedVoteRegressor(OF_NUMBERS, "simplex"),
    spinney.BaggingRegressor(TREE, 6, oob_score=False, random_state=0),
    spinney.BaggingClassifier(GaussianNB(), 6, random_state=0),
    spinney.IteratedBaggingRegressor(TREE, 8, random_state=0),
    spinney.ConformalRegressor(Ridge(), random_state=0),
    spinney.CalibratedClassifier(GaussianNB(), random_state=0),
]


def said(committee):
    """What it predicts, fitted anew."""
    y = LABELS if is_classifier(committee) else NUMBERS
    model = clone(committee).fit(X, y)
    return (model.predict_proba if is_classifier(model) else model.predict)(X).tobytes()


@pytest.mark.parametrize("committee", COMMITTEES, ids=lambda one: type(one).__name__)
def test_backends_do_not_matter(committee):
    expected = said(committee)
    for backend in ("threading", "loky", "multiprocessing"):
        with parallel_config(backend, n_jobs=2):
            assert said(committee) == expected


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing", "sequential"])
@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_in_the_order_of_tasks(backend, n_jobs):
    with parallel_config(backend, n_jobs=2):
        assert list(done_in_order(pow, [(n, 2) for n in range(7)], n_jobs)) == [
            n**2 for n in range(7)
        ]
