"""Weights of members: optimality, theory, and whoever uses them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

import spinney
from spinney.datasets import make_friedman, make_twonorm
from spinney.ensembles.combining.weighing import (
    is_best_on_simplex,
    likelihood_weights,
    log_odds_weights,
    nonnegative_weights,
    products,
    simplex_weights,
)
from spinney.errors import InvalidInput, InvalidParameter, NotOffered

NUMBERS = make_friedman(1, 300, random_state=0)
CLASSES = make_twonorm(300, random_state=0)
REGRESSORS = [
    ("line", LinearRegression()),
    ("knn", KNeighborsRegressor()),
    ("mean", DummyRegressor()),
]
CLASSIFIERS = [
    ("lr", LogisticRegression()),
    ("tree", spinney.DecisionTreeClassifier(max_depth=3)),
    ("dummy", DummyClassifier()),
]
columns = st.integers(1, 5).flatmap(
    lambda m: st.lists(st.lists(st.floats(-5, 5), min_size=8, max_size=8), min_size=m, max_size=m)
)


@settings(max_examples=80, deadline=None)
@given(columns, st.lists(st.integers(1, 5), min_size=8, max_size=8))
def test_simplex_weights_are_optimal(errors, rows):
    errors, rows = np.array(errors), np.array(rows, float)
    weights = simplex_weights(errors, rows)
    assert (weights >= 0).all()
    assert np.isclose(weights.sum(), 1)
    squares = products(errors, rows)
    assert is_best_on_simplex(squares, weights)
    risk = weights @ squares @ weights
    assert risk <= squares.diagonal().min() + 1e-9 * max(1, squares.max())  # the best member's
    assert risk <= squares.mean() + 1e-9 * max(1, squares.max())  # the mean's


@settings(max_examples=40, deadline=None)
@given(columns, st.lists(st.integers(1, 4), min_size=8, max_size=8), st.randoms())
def test_a_row_of_weight_k_is_the_row_k_times_in_any_order(errors, rows, random):
    errors, rows = np.array(errors), np.array(rows)
    order = list(range(rows.sum()))
    random.shuffle(order)
    repeated = np.repeat(errors, rows, axis=1)[:, order]
    assert np.array_equal(simplex_weights(errors, rows.astype(float)), simplex_weights(repeated))


@settings(max_examples=60, deadline=None)
@given(columns, st.lists(st.floats(-5, 5), min_size=8, max_size=8))
def test_nonnegative_weights_fulfil_the_conditions_of_an_optimum(answers, y):
    answers, y = np.array(answers), np.array(y)
    weights = nonnegative_weights(answers, y)
    assert (weights >= 0).all()
    slope = answers @ (answers.T @ weights - y)
    room = 1e-6 * max(1.0, np.abs(answers).max() ** 2 * 8 * max(1.0, weights.max(initial=0)))
    assert (slope >= -room).all()
    assert (np.abs(slope[weights > 1e-9]) <= room).all()


def test_weights_are_what_a_general_solver_finds():
    rng = np.random.default_rng(3)
    errors = rng.normal(size=(4, 50)) + rng.normal(size=50)
    found = minimize(
        lambda w: ((w @ errors) ** 2).sum(),
        np.full(4, 0.25),
        method="SLSQP",
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12},
    )
    assert np.allclose(simplex_weights(errors), found.x, atol=1e-4)


def test_all_weight_goes_to_the_oracle():
    y = NUMBERS.y
    rng = np.random.default_rng(0)
    answers = np.array([y, y + rng.normal(size=len(y)), np.zeros(len(y))])
    assert np.allclose(simplex_weights(answers - y), [1, 0, 0])
    assert np.allclose(nonnegative_weights(answers, y), [1, 0, 0])


def test_members_that_are_the_same_share_and_perfect_ones_are_equal():
    error = np.arange(5.0)
    assert np.isclose(simplex_weights(np.array([error, error])).sum(), 1)
    assert simplex_weights(np.zeros((2, 4))).tolist() == [0.5, 0.5]
    assert nonnegative_weights(np.zeros((2, 4)), np.ones(4)).tolist() == [0, 0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.floats(0.01, 0.99), min_size=6, max_size=6), min_size=2, max_size=4))
def test_likelihood_weights_fulfil_the_conditions_of_an_optimum(shares):
    shares = np.array(shares)
    weights = likelihood_weights(shares)
    slope = (shares / (weights @ shares)).mean(axis=1)
    assert slope.max() <= 1 + 1e-3
    assert np.isclose(weights @ slope, 1)


def test_log_odds_weights_are_bayes_decision_for_independent_members():
    """By enumeration of what three members may say: no rule is right more often."""
    p = np.array([0.9, 0.7, 0.6, 0.4])
    weights = log_odds_weights(p)
    by_vote = best = 0.0
    for hits in itertools.product([False, True], repeat=len(p)):
        right = np.array(hits)
        chance = np.where(right, p, 1 - p).prod()
        opposite = np.where(right, 1 - p, p).prod()
        best += max(chance, opposite) / 2
        by_vote += chance * ((weights[right].sum() > weights[~right].sum()) + 0.0)
    assert np.isclose(by_vote, best)
    majority = sum(
        np.where(right, p, 1 - p).prod() * ((sum(right) > 2) + (sum(right) == 2) / 2)
        for right in itertools.product([False, True], repeat=len(p))
    )
    assert by_vote > majority + 0.05


def test_log_odds_of_several_classes_and_of_certainty():
    assert np.isclose(log_odds_weights([1 / 3], 3)[0], 0, atol=1e-12)  # chance is worth nothing
    with pytest.raises(InvalidInput, match="outvote everybody"):
        log_odds_weights([1.0])


# Weighted votes


def fitted_members():
    half = slice(0, 150)
    return [
        (name, FrozenEstimator(clone(member).fit(NUMBERS.X[half], NUMBERS.y[half])))
        for name, member in REGRESSORS
    ]


def test_the_vote_of_adaboost_is_a_weighted_vote():
    booster = spinney.AdaBoostClassifier(n_estimators=15).fit(CLASSES.X, CLASSES.y)
    members = [(f"m{t}", member) for t, member in enumerate(booster.estimators_)]
    alphas = booster.estimator_weights_
    vote = spinney.WeightedVoteClassifier(members, alphas)
    F = sum(
        alpha * np.where(member.predict(CLASSES.X) == vote_classes(members)[1], 1.0, -1.0)
        for alpha, (_, member) in zip(alphas, members, strict=True)
    )
    assert np.allclose(vote.decision_function(CLASSES.X), F)
    assert np.array_equal(vote.predict(CLASSES.X), booster.predict(CLASSES.X))
    stages = list(vote.staged_predict(CLASSES.X))
    assert len(stages) == 15
    assert np.array_equal(stages[4], list(booster.staged_predict(CLASSES.X))[4])
    scaled = spinney.WeightedVoteClassifier(members, 3 * alphas)
    assert np.array_equal(scaled.predict(CLASSES.X), vote.predict(CLASSES.X))
    turned = spinney.WeightedVoteClassifier(members[::-1], alphas[::-1])
    assert np.allclose(turned.decision_function(CLASSES.X), F)


def vote_classes(members):
    return members[0][1].classes_


def test_negative_weights_count_against_and_ties_go_to_the_first_class():
    lr = LogisticRegression().fit(CLASSES.X, CLASSES.y)
    against = spinney.WeightedVoteClassifier([("lr", lr)], [-1.0])
    assert (against.predict(CLASSES.X) != lr.predict(CLASSES.X)).all()
    with pytest.raises(InvalidInput, match="not negative"):
        against.predict_proba(CLASSES.X)
    tie = spinney.WeightedVoteClassifier([("a", lr), ("b", lr)], [1.0, -1.0])
    assert (tie.predict(CLASSES.X) == lr.classes_[0]).all()


def test_fitted_members_are_never_fitted_again():
    members = fitted_members()
    coefficients = members[0][1].estimator.coef_.copy()
    rest = slice(150, 300)
    vote = spinney.WeightedVoteRegressor(members, "simplex").fit(NUMBERS.X[rest], NUMBERS.y[rest])
    assert vote.estimators_[0] is members[0][1]
    assert np.array_equal(members[0][1].estimator.coef_, coefficients)
    errors = np.array([m.predict(NUMBERS.X[rest]) for _, m in members]) - NUMBERS.y[rest]
    assert np.array_equal(vote.weights_, simplex_weights(errors))
    plain = spinney.WeightedVoteRegressor(members)  # needs no fit
    each = np.array([m.predict(NUMBERS.X) for _, m in members])
    assert np.allclose(plain.predict(NUMBERS.X), each.mean(axis=0))


def test_members_that_are_not_fitted_are_weighed_out_of_fold():
    cv = KFold(4)
    vote = spinney.WeightedVoteRegressor(REGRESSORS, "nonnegative", cv=cv)
    vote.fit(NUMBERS.X, NUMBERS.y)
    said = np.array(
        [cross_val_predict(member, NUMBERS.X, NUMBERS.y, cv=cv) for _, member in REGRESSORS]
    )
    assert np.allclose(vote.weights_, nonnegative_weights(said, NUMBERS.y), atol=1e-9)
    vote = spinney.WeightedVoteClassifier(CLASSIFIERS, "log_odds", cv=cv)
    vote.fit(CLASSES.X, CLASSES.y)
    assert vote.weights_[0] > vote.weights_[1] > vote.weights_[2]


@pytest.mark.parametrize("vote", ["labels", "probabilities"])
@pytest.mark.parametrize("weights", [None, "simplex", "nonnegative", "best", "log_odds"])
def test_votes_of_every_kind_are_good(vote, weights):
    model = spinney.WeightedVoteClassifier(CLASSIFIERS[:2], weights, vote=vote)
    model.fit(CLASSES.X[:200], CLASSES.y[:200])
    assert model.score(CLASSES.X[200:], CLASSES.y[200:]) > 0.85


def test_votes_that_cannot_be_are_refused():
    lr = LogisticRegression().fit(CLASSES.X, CLASSES.y)
    other = GaussianNB().fit(CLASSES.X, np.arange(300) % 3)
    with pytest.raises(InvalidInput, match="different classes"):
        spinney.WeightedVoteClassifier([("a", lr), ("b", other)]).fit(CLASSES.X, CLASSES.y)
    with pytest.raises(InvalidParameter, match="2 finite numbers"):
        spinney.WeightedVoteClassifier([("a", lr), ("b", lr)], [1.0]).predict(CLASSES.X)
    with pytest.raises(InvalidParameter, match="one of simplex, nonnegative, best, log_odds"):
        spinney.WeightedVoteClassifier([("a", lr)], "logodds").fit(CLASSES.X, CLASSES.y)
    model = spinney.WeightedVoteClassifier([("a", RidgeClassifier())], vote="probabilities")
    with pytest.raises(InvalidParameter, match="Use vote='labels'"):
        model.fit(CLASSES.X, CLASSES.y)


# Super learners


def test_super_learner_weighs_by_cross_validated_risk():
    learner = spinney.SuperLearnerRegressor(REGRESSORS, cv=KFold(5)).fit(NUMBERS.X, NUMBERS.y)
    said = np.array(
        [cross_val_predict(m, NUMBERS.X, NUMBERS.y, cv=KFold(5)) for _, m in REGRESSORS]
    )
    risk = learner.risk_
    assert np.allclose(risk.risks[:-1], ((said - NUMBERS.y) ** 2).mean(axis=1))
    assert is_best_on_simplex(products(said - NUMBERS.y, None), learner.weights_)
    assert risk.risks[-1] <= risk.risks[:-1].min() + 1e-9
    each = np.array([m.predict(NUMBERS.X) for m in learner.estimators_])
    assert np.allclose(learner.predict(NUMBERS.X), learner.weights_ @ each)
    frame = risk.to_frame()
    assert frame.columns.tolist() == ["member", "risk", "standard error", "weight"]
    assert "super learner" in str(risk)
    assert "5 splits, 300 rows" in str(risk)


def test_discrete_super_learner_is_the_winner():
    learner = spinney.SuperLearnerRegressor(REGRESSORS, combine="discrete")
    learner.fit(NUMBERS.X, NUMBERS.y)
    best = int(learner.risk_.risks[:-1].argmin())
    assert learner.weights_[best] == 1
    assert np.array_equal(learner.predict(NUMBERS.X), learner.estimators_[best].predict(NUMBERS.X))


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
@pytest.mark.parametrize("combine", ["convex", "discrete"])
def test_super_learner_of_classes(loss, combine):
    learner = spinney.SuperLearnerClassifier(CLASSIFIERS, loss=loss, combine=combine)
    learner.fit(CLASSES.X, CLASSES.y)
    assert learner.weights_.sum() == pytest.approx(1)
    assert learner.weights_[0] > 0.5
    assert learner.risk_.risks[-1] <= learner.risk_.risks[:-1].min() + 1e-6
    assert np.allclose(learner.predict_proba(CLASSES.X).sum(axis=1), 1)
    three = np.arange(300) % 3
    assert learner.fit(CLASSES.X, three).predict_proba(CLASSES.X).shape == (300, 3)


def test_super_learners_that_cannot_be_are_refused():
    with pytest.raises(InvalidParameter, match="use a weighted vote"):
        spinney.SuperLearnerRegressor(REGRESSORS, cv="prefit").fit(NUMBERS.X, NUMBERS.y)
    model = spinney.SuperLearnerClassifier(CLASSIFIERS, loss="log_loss", combine="nonnegative")
    with pytest.raises(InvalidParameter, match="combine='convex'"):
        model.fit(CLASSES.X, CLASSES.y)
    with pytest.raises(NotOffered):
        spinney.SuperLearnerClassifier(CLASSIFIERS).fit(
            CLASSES.X, np.eye(2, dtype=int)[(CLASSES.y > 0).astype(int)]
        )


@pytest.mark.parametrize("rule", ["simplex", "nonnegative", "best"])
def test_stacks_by_a_word(rule):
    stack = spinney.StackingRegressor(REGRESSORS, rule).fit(NUMBERS.X, NUMBERS.y)
    assert stack.score(NUMBERS.X, NUMBERS.y) > 0.6
    votes = spinney.StackingClassifier(CLASSIFIERS, rule).fit(CLASSES.X, CLASSES.y)
    assert votes.score(CLASSES.X, CLASSES.y) > 0.9
