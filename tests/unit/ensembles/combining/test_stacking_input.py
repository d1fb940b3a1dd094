"""Stacks that cannot be: what is refused, and how it is told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

import spinney
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter

RNG = np.random.default_rng(2)
N = 200
X = RNG.normal(size=(N, 4))
CODES = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
LABELS = np.array(["ash", "birch", "cedar"])[CODES]
NUMBERS = X[:, 0] ** 2 + X[:, 1]
REGRESSORS = [("line", LinearRegression()), ("knn", KNeighborsRegressor())]


def test_groups_that_are_missing_are_asked_for():
    with pytest.raises(InvalidInput, match="Give groups, one label per row"):
        spinney.StackingRegressor(REGRESSORS, cv=GroupKFold(3)).fit(X, NUMBERS)
    with pytest.raises(InvalidInput, match="groups has the shape"):
        spinney.StackingRegressor(REGRESSORS, cv=GroupKFold(3)).fit(X, NUMBERS, groups=[1, 2])


def test_prefit_members_must_be_fitted_and_know_the_same_classes():
    members = [("lr", LogisticRegression().fit(X, LABELS)), ("nb", GaussianNB())]
    with pytest.raises(NotFittedError, match="member 'nb', a GaussianNB, is not fitted"):
        spinney.StackingClassifier(members, cv="prefit").fit(X, LABELS)
    two = LABELS != "cedar"
    members = [
        ("lr", LogisticRegression().fit(X, LABELS)),
        ("nb", GaussianNB().fit(X[two], LABELS[two])),
    ]
    with pytest.raises(InvalidInput, match="different classes: 'lr' on 'ash', 'birch', 'cedar'"):
        spinney.StackingClassifier(members, cv="prefit").fit(X, LABELS)
    with pytest.raises(InvalidInput, match="not fitted on: 'cedar'"):
        spinney.StackingClassifier(members[1:], cv="prefit").fit(X, LABELS)


def test_prefit_members_are_left_alone():
    members = [("lr", LogisticRegression().fit(X, LABELS)), ("nb", GaussianNB().fit(X, LABELS))]
    stack = spinney.StackingClassifier(members, cv="prefit").fit(X, LABELS)
    assert stack.estimators_[0] is members[0][1]
    assert stack.score(X, LABELS) > 0.7


@pytest.mark.parametrize(
    ("cv", "error", "message"),
    [
        ([(np.arange(100), np.arange(90, N))], InvalidInput, "learns from row 90 and tests on it"),
        (
            [(np.arange(100), np.array([N]))],
            InvalidInput,
            "Row 200 among the test rows",
        ),
        ([(np.array([]), np.arange(N))], InvalidInput, "no rows in the training rows of fold 0"),
        ([(np.arange(100), np.array([], int))], InvalidInput, "no rows in the test rows of fold 0"),
        ([(np.array([0.5, 1.0]), np.array([3]))], InvalidInputType, "type float64"),
        ([], InvalidInput, "no folds at all"),
        ("five", InvalidParameter, "cv='five'"),
    ],
)
def test_splits_that_are_none_are_refused(cv, error, message):
    with pytest.raises(error, match=message):
        spinney.StackingRegressor(REGRESSORS, cv=cv).fit(X, NUMBERS)


def test_final_estimators_that_cannot_combine_are_refused():
    with pytest.raises(InvalidParameter, match="should be a regressor"):
        spinney.StackingRegressor(REGRESSORS, LogisticRegression()).fit(X, NUMBERS)
    with pytest.raises(InvalidParameter, match="one of simplex, nonnegative, best"):
        spinney.StackingRegressor(REGRESSORS, "simples").fit(X, NUMBERS)
    with pytest.raises(InvalidParameter, match="passthrough=False"):
        spinney.StackingRegressor(REGRESSORS, "simplex", passthrough=True).fit(X, NUMBERS)
    members = [("knn", KNeighborsClassifier()), ("ridge", Ridge())]
    with pytest.raises(InvalidParameter, match="has no predict_proba"):
        spinney.StackingClassifier(members, "simplex").fit(X, CODES)
    with pytest.raises(InvalidParameter, match="does not implement the method predict_proba"):
        spinney.StackingClassifier(members[1:], stack_method="predict_proba").fit(X, CODES)


def test_one_class_is_too_few_for_the_default_final_estimator():
    members = [("tree", spinney.DecisionTreeClassifier())]
    X, y = np.arange(20.0)[:, np.newaxis], np.full(20, "only")
    with pytest.raises(InvalidInput, match="one class only"):
        spinney.StackingClassifier(members).fit(X, y)
    stack = spinney.StackingClassifier(members, "simplex").fit(X, y)
    assert stack.predict(X).tolist() == y.tolist()


# Columns of text behind the answers of members

FRAME = pd.DataFrame({"girth": X[:, 0], "kind": LABELS, "soil": LABELS[::-1]})


@pytest.mark.parametrize("name", ["Stacking", "Blending"])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_text_that_the_final_estimator_cannot_take_is_told_by_column(name, task):
    boosting = getattr(spinney, f"GradientBoosting{task}")(max_iter=50)
    y, linear = (LABELS, LogisticRegression()) if task == "Classifier" else (NUMBERS, Ridge())
    stack = getattr(spinney, f"{name}{task}")([("boosting", boosting)], linear, passthrough=True)
    if name == "Blending":
        stack.set_params(random_state=0)
    with pytest.raises(InvalidInput, match=r"hold no numbers: 'kind', 'soil'.*takes categories"):
        stack.fit(FRAME, y)
    stack.set_params(final_estimator=boosting).fit(FRAME, y)
    assert stack.predict(FRAME).shape == (N,)
    assert stack.score(FRAME, y) > 0


def test_a_final_estimator_that_fails_for_other_reasons_says_so_itself():
    def refuse(table):
        raise ValueError(f"no {type(table).__name__} on Sundays")

    final = make_pipeline(FunctionTransformer(refuse), LogisticRegression())
    members = [("bayes", GaussianNB())]
    with pytest.raises(ValueError, match="on Sundays") as told:
        spinney.StackingClassifier(members, final, passthrough=True).fit(X, LABELS)
    assert not isinstance(told.value, InvalidInput)


# Arguments and members


@pytest.mark.parametrize("voting", ["soft", "median", "borda"])
def test_a_member_without_probabilities_is_refused_by_every_rule_that_joins_them(voting):
    members = [("logistic", LogisticRegression()), ("svm", LinearSVC())]
    vote = spinney.VotingClassifier(members, voting=voting)
    with pytest.raises(InvalidParameter, match="'svm', a LinearSVC, has no predict_proba"):
        vote.fit(X, LABELS)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_told_by_member(bad):
    members = [(name, member.fit(X, NUMBERS)) for name, member in REGRESSORS]
    vote = spinney.WeightedVoteRegressor(members, [-0.5, bad])
    with pytest.raises(InvalidParameter, match=f"has {bad} for member 1: expected finite"):
        vote.predict(X)
    with pytest.raises(InvalidParameter, match=r"the shape \(1,\): expected 2 finite numbers"):
        spinney.WeightedVoteRegressor(members, [0.5]).predict(X)
