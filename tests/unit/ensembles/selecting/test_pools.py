"""Pools of any kind, and what cannot be one."""

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import spinney
from spinney import DynamicSelectionClassifier, KNORAEClassifier, KNORAUClassifier
from spinney.errors import InvalidInput, InvalidParameter, WeakLearnerFailed

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]


POOLS = {
    "forest of ours": spinney.RandomForestClassifier(8, random_state=0),
    "forest": ensemble.RandomForestClassifier(8, random_state=0),
    "bagging of features": ensemble.BaggingClassifier(
        DecisionTreeClassifier(), 8, max_features=0.5, random_state=0
    ),
    "voting": ensemble.VotingClassifier([("a", GaussianNB()), ("b", KNeighborsClassifier())]),
    "adaboost": spinney.AdaBoostClassifier(n_estimators=8),
    "list": [GaussianNB(), KNeighborsClassifier(3), DecisionTreeClassifier(random_state=0)],
    "pairs": [("a", GaussianNB()), ("b", KNeighborsClassifier(3))],
}


@pytest.mark.parametrize("labels", [[0, 1, 2], [3, 4, 5], ["x", "y", "z"], [1, 0, 7]])
@pytest.mark.parametrize("name", POOLS)
def test_pools_of_any_kind_speak_the_users_labels(name, labels):
    y = np.array(labels)[Y]
    model = KNORAUClassifier(POOLS[name], random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    said = model.classes_[model.model_.pool.answers(X)]
    assert (said == y[:, np.newaxis]).mean() > 0.6


@pytest.mark.parametrize("name", ["forest", "bagging of features", "forest of ours", "list"])
def test_fitted_pools_are_taken_as_they_are(name):
    frame = pd.DataFrame(X, columns=list("abcd"))
    given = POOLS[name]
    y = np.array(["x", "y", "z"])[Y]
    fitted = (
        [one.fit(frame[:70], y[:70]) for one in given]
        if isinstance(given, list)
        else (given.fit(frame[:70], y[:70]))
    )
    model = KNORAEClassifier(fitted, prefit=True).fit(frame[70:], y[70:])
    assert model.n_selection_rows_ == 80
    assert model.score(frame, y) > 0.9
    members = fitted if isinstance(fitted, list) else list(fitted.estimators_)
    assert len(model.estimators_) == len(members)


def test_fitted_pool_may_know_classes_that_no_known_row_has():
    pool = spinney.RandomForestClassifier(10, random_state=0).fit(X, Y)
    model = KNORAEClassifier(pool, prefit=True).fit(X[Y > 0], Y[Y > 0])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (150, 3)


def test_a_share_of_every_class_is_set_aside_for_selecting():
    model = KNORAEClassifier(random_state=0).fit(X, Y)
    assert np.bincount(model.model_.known.codes).tolist() == [12, 12, 12]
    more = KNORAEClassifier(random_state=0, selection_fraction=0.5).fit(X, Y)
    assert more.n_selection_rows_ == 75


def test_groups_are_not_divided_between_pool_and_selection():
    groups = np.arange(150) // 10
    model = KNORAEClassifier(random_state=0).fit(X, Y, groups=groups)
    assert model.n_selection_rows_ % 10 == 0


# Bad input


def fails(error, words, *, X=X, y=Y, fit=None, **parameters):
    with pytest.raises(error, match=words):
        DynamicSelectionClassifier(**parameters).fit(X, y, **(fit or {}))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "knora"}, "method='knora'.*Did you mean"),
        ({"k": 0}, "k=0"),
        ({"k": 7.0}, "k=7.0"),
        ({"selection_fraction": 1.0}, "selection_fraction=1.0"),
        ({"prefit": "yes"}, "prefit='yes'"),
        ({"prefit": True}, "needs a fitted pool"),
        ({"prefit": True, "pool": GaussianNB()}, "not fitted"),
        ({"pool": []}, "at least one"),
        ({"pool": GaussianNB()}, "no classifiers for members"),
        ({"pool": LinearRegression()}, "no classifier"),
        ({"pool": [LinearRegression()]}, "no classifier"),
        ({"pool": ensemble.GradientBoostingClassifier(n_estimators=2)}, "no classifiers for"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    fails(InvalidParameter, words, **parameters)


def test_weights_that_the_pool_cannot_take_are_refused():
    fails(
        InvalidInput,
        "KNeighborsClassifier.*takes none",
        pool=[KNeighborsClassifier()],
        fit={"sample_weight": np.ones(150)},
    )


def test_members_that_fail_or_say_nonsense_are_named():
    class Loud(GaussianNB):
        def predict(self, X):
            raise RuntimeError(f"full after {len(X)} rows")

    class Odd(GaussianNB):
        def predict(self, X):
            return np.full(len(X), 9)

    fails(WeakLearnerFailed, "Member 1 .*Loud.*full", pool=[GaussianNB(), Loud()])
    fails(InvalidInput, "Member 0 .*Odd.*answered 9", pool=[Odd()])


def test_one_row_is_too_few():
    fails(InvalidInput, "n_samples=1", X=X[:1], y=Y[:1])
