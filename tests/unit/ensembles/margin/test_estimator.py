"""MarginBoostClassifier: the estimator around the algorithms."""

import numpy as np
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer

import spinney
from spinney import MarginBoostClassifier
from spinney.ensembles.margin.settings import ALGORITHMS
from spinney.errors import InvalidInput, InvalidParameter
from spinney.theory import certify

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200].astype(np.float32), np.where(Y[:200] == 1, "benign", "malignant")


@pytest.fixture(scope="module", params=ALGORITHMS)
def booster(request):
    return MarginBoostClassifier(algorithm=request.param, n_estimators=25).fit(X, Y)


def test_it_learns_and_its_trace_is_that_of_the_model(booster):
    assert booster.score(X, Y) > 0.93
    assert booster.trace_.min_margins[-1] == pytest.approx(booster.margins(X, Y).min(), abs=1e-12)
    assert len(booster.estimators_) == len(booster.alphas_)
    signs = np.where(booster.classes_[1] == Y, 1.0, -1.0)
    decisions = booster.decision_function(X)
    np.testing.assert_allclose(booster.margins(X, Y), signs * decisions, atol=1e-12)


def test_the_certificate_can_be_checked_with_the_members_votes(booster):
    signs = np.where(booster.classes_[1] == Y, 1.0, -1.0)
    votes = np.column_stack(
        [np.where(tree.predict(X) == booster.classes_[1], 1, -1) for tree in booster.estimators_]
    )
    proof = booster.certificate_
    assert proof.primal <= proof.dual + 1e-9
    if proof.holds:  # all but those that ran out of rounds
        assert proof.verify(signs[:, np.newaxis] * votes)


def test_a_certificate_of_the_theory_is_true(booster):
    found = certify(booster, X.astype(float), Y, n_draws=5)
    assert found.verify().statements == found.statements


def test_a_file_holds_everything(booster, tmp_path):
    spinney.save(booster, tmp_path / "booster.spn")
    again = spinney.load(tmp_path / "booster.spn")
    assert again.model_.fingerprint == booster.model_.fingerprint
    for name in ("primal", "dual", "rounds", "promise"):
        assert getattr(again.certificate_, name) == getattr(booster.certificate_, name)
    np.testing.assert_array_equal(again.certificate_.caps, booster.certificate_.caps)
    np.testing.assert_array_equal(again.trace_.alphas, booster.trace_.alphas)


def test_lpboost_of_stumps_reaches_the_value_of_the_program():
    hard = MarginBoostClassifier(algorithm="lpboost", nu=1e-9, n_estimators=300).fit(X[:40], Y[:40])
    assert hard.certificate_.holds
    assert hard.certificate_.gap <= 1e-6
    assert hard.margins(X[:40], Y[:40]).min() == pytest.approx(hard.certificate_.primal, abs=1e-9)


def test_three_classes_are_refused_and_one_is_learnt():
    with pytest.raises(InvalidInput, match=r"Only binary.*3 classes"):
        MarginBoostClassifier().fit(np.arange(6.0).reshape(-1, 1), [0, 0, 1, 1, 2, 2])
    alone = MarginBoostClassifier().fit(np.arange(3.0).reshape(-1, 1), ["a", "a", "a"])
    assert alone.predict([[7.0]]).tolist() == ["a"]
    assert alone.certificate_ is None


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"algorithm": "lp"}, "algorithm='lp'"),
        ({"nu": 0.0}, "nu=0.0"),
        ({"precision": 1.0}, "precision=1.0"),
        ({"target_margin": -1.0}, "target_margin=-1.0"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"n_estimators": 0}, "n_estimators=0"),
    ],
)
def test_wrong_parameters_are_refused_by_their_names(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        MarginBoostClassifier(**parameters).fit(X[:20], Y[:20])


@pytest.mark.parametrize(
    ("parameters", "is_best"),
    [
        ({}, True),
        ({"estimator": spinney.DecisionTreeClassifier(max_depth=1, criterion="error")}, True),
        ({"estimator": spinney.DecisionTreeClassifier(max_depth=1)}, False),  # by Gini impurity
        ({"estimator": spinney.DecisionTreeClassifier(max_depth=2, criterion="error")}, False),
        ({"estimator": sklearn.tree.DecisionTreeClassifier(max_depth=1)}, False),
        ({"mode": "resample"}, False),
    ],
)
def test_a_certificate_says_whether_it_speaks_of_all_hypotheses(parameters, is_best, tmp_path):
    booster = MarginBoostClassifier(n_estimators=3, random_state=0, **parameters).fit(X, Y)
    proof = booster.certificate_
    assert proof.finds_best is is_best
    assert ("of what the learner gave" in proof.title()) is not is_best
    assert ("those the learner gave" in str(proof)) is not is_best
    if not str(type(booster.estimator)).startswith("<class 'sklearn"):
        spinney.save(booster, tmp_path / "booster.spn")
        assert spinney.load(tmp_path / "booster.spn").certificate_.finds_best is is_best
