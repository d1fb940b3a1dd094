"""Constraints in folds, each of which derives features of its own and not as many as others."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from tests.unit.ensembles.gradient.reviews import booster, reviews

from spinney.ensembles.fitting import IntakeSettings, read_problem
from spinney.ensembles.gradient.deriving import Deriving
from spinney.errors import InvalidInput
from spinney.trees.gradient import GradientGrower, GradientTreeSettings

N_ROWS = 600
TEXTS, Y = reviews(N_ROWS)
X = TEXTS.assign(
    falls=np.where(Y == "bad", 1.0, 0.0) + np.random.default_rng(5).normal(size=N_ROWS),
    noise=np.random.default_rng(6).normal(size=N_ROWS),
)
"""Behind the words that are counted stand the features that are constrained."""

CONSTRAINTS = {
    "monotone": {"monotonic_cst": {"falls": -1, "noise": 1}},
    "groups": {"interaction_cst": [["review", "x"], ["falls", "noise"]]},
    "both": {"monotonic_cst": {"noise": -1}, "interaction_cst": "no_interactions"},
    "levels": {"monotonic_cst": {"falls": 1}, "growth": "symmetric"},
}


@pytest.mark.parametrize("n_train", [60, 400])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_fold_scores_what_a_fit_on_its_rows_alone_scores_with_constraints(name, n_train):
    params = {"max_iter": 6, "n_iter_no_change": 50, "min_samples_leaf": 5, **CONSTRAINTS[name]}
    train, test = np.arange(n_train), np.arange(n_train, N_ROWS)
    curve = booster(early_stopping="cv", cv=[(train, test)], **params).fit(X, Y).cv_score_
    alone = booster(early_stopping=True, **params)
    alone.fit(X.iloc[train], Y[train], X_val=X.iloc[test], y_val=Y[test])
    np.testing.assert_allclose(curve, alone.validation_score_, rtol=1e-9)


def test_these_folds_do_not_count_as_many_words(monkeypatch):
    learn, numbers = Deriving.learn, []

    def watching(self, train):
        learnt = learn(self, train)
        numbers.append(len(learnt[0].features))
        return learnt

    monkeypatch.setattr(Deriving, "learn", watching)
    rows = np.arange(N_ROWS)
    folds = [(rows[:60], rows[60:300]), (rows[:300], rows[300:])]
    booster(early_stopping="cv", cv=folds, **CONSTRAINTS["both"]).fit(X, Y)
    assert len(set(numbers)) > 1


def test_a_model_whose_rounds_folds_chose_keeps_to_its_constraints():
    model = booster(monotonic_cst={"falls": 1}, early_stopping="cv", cv=3).fit(X, Y)
    rows = pd.concat([X[:20]] * 30, ignore_index=True)
    rows["falls"] = np.repeat(np.linspace(-3, 4, 30), 20)
    steps = np.diff(model.decision_function(rows).reshape(30, 20), axis=0)
    assert (steps >= 0).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"monotone": (1, 0)}, "monotone has 2 signs for 3 features"),
        ({"monotone": (1, 0, 0, 0)}, "monotone has 4 signs for 3 features"),
        ({"interactions": ((0, 1), (3,))}, "interactions name feature 3 of 3"),
    ],
)
def test_the_grower_refuses_constraints_of_other_features(limits, message, sparse):
    numbers = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(float)
    rows = csr_matrix(numbers) if sparse else numbers
    intake = IntakeSettings(estimator_name="", task="regression")
    binned = read_problem(rows, numbers[:, 0], None, intake).binned
    with pytest.raises(InvalidInput, match=message):
        GradientGrower(binned, GradientTreeSettings(**limits))
