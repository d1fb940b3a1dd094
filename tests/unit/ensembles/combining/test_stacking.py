"""Stacks: answers out of fold, splitters of every kind, levels, and parity."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import StackingClassifier as TheirStackingClassifier
from sklearn.ensemble import StackingRegressor as TheirStackingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import spinney
from spinney.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(2)
N = 200
X = RNG.normal(size=(N, 4))
CODES = (X[:, 0] + 0.7 * RNG.normal(size=N) > 0).astype(int) + (X[:, 1] > 1)
LABELS = np.array(["ash", "birch", "cedar"])[CODES]
NUMBERS = X[:, 0] ** 2 + X[:, 1] + RNG.normal(0, 0.2, N)
CLASSIFIERS = [("lr", LogisticRegression()), ("nb", GaussianNB())]
REGRESSORS = [("line", LinearRegression()), ("knn", KNeighborsRegressor())]
GROUPS = np.arange(N) % 17
OURS = [
    ("boosting", spinney.GradientBoostingRegressor(max_iter=5)),
    ("forest", spinney.RandomForestRegressor(5, random_state=0)),
    ("extra", spinney.ExtraTreesRegressor(5, random_state=0)),
]


class Keeper(RegressorMixin, BaseEstimator):
    """A final estimator that keeps what it is given, and answers with its first column."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weights_ = X, y, sample_weight
        return self

    def predict(self, X):
        return X[:, 0]


class Memory(RegressorMixin, BaseEstimator):
    """A member that knows the targets it has seen by heart, and says NaN-free 0 elsewhere."""

    def fit(self, X, y):
        self.known_ = {row.tobytes(): value for row, value in zip(X, y, strict=True)}
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.array([self.known_.get(row.tobytes(), 0.0) for row in X])


# Parity


@pytest.mark.parametrize("y", [LABELS, CODES > 0], ids=["three", "two"])
@pytest.mark.parametrize("method", ["auto", "predict"])
@pytest.mark.parametrize("passthrough", [False, True])
def test_classes_are_those_of_scikit_learn(y, method, passthrough):
    settings = {"stack_method": method, "passthrough": passthrough, "cv": 4}
    ours = spinney.StackingClassifier(CLASSIFIERS, **settings).fit(X, y)
    theirs = TheirStackingClassifier(CLASSIFIERS, **settings).fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)
    assert np.array_equal(ours.transform(X), theirs.transform(X))
    assert ours.stack_method_ == theirs.stack_method_
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize("weights", [None, RNG.random(N)])
def test_numbers_are_those_of_scikit_learn(weights):
    members = [("line", LinearRegression()), ("ridge", Ridge(10.0))]
    ours = spinney.StackingRegressor(members).fit(X, NUMBERS, sample_weight=weights)
    theirs = TheirStackingRegressor(members)
    theirs.fit(X, NUMBERS, **({} if weights is None else {"sample_weight": weights}))
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=1e-10)


# Out of fold


def test_the_final_estimator_sees_answers_of_members_that_have_not_seen_the_row():
    cv = KFold(4, shuffle=True, random_state=0)
    members = [("line", LinearRegression()), ("tree", spinney.DecisionTreeRegressor(max_depth=3))]
    stack = spinney.StackingRegressor(members, Keeper(), cv=cv).fit(X, NUMBERS)
    for column, (_, member) in enumerate(members):
        expected = cross_val_predict(clone(member), X, NUMBERS, cv=cv)
        assert np.allclose(stack.final_estimator_.X_[:, column], expected, rtol=0, atol=1e-12)


def test_no_row_meets_its_own_target():
    stack = spinney.StackingRegressor([("memory", Memory())], Keeper()).fit(X, NUMBERS)
    assert (stack.final_estimator_.X_ == 0).all()
    assert np.array_equal(stack.transform(X)[:, 0], NUMBERS)  # fitted on all rows since


@pytest.mark.parametrize("member", ["boosting", "forest", "extra"])
def test_changing_the_target_of_a_row_does_not_change_what_is_said_of_it(member):
    """Leaks would show: of every fold one row is given another target."""
    cv = KFold(5)
    changed = NUMBERS.copy()
    rows = np.array([3, 45, 97, 130, 190])  # one of each fold
    base = spinney.StackingRegressor([(member, dict(OURS)[member])], Keeper(), cv=cv)
    before = clone(base).fit(X, NUMBERS).final_estimator_.X_[:, 0]
    for row in rows:
        others = changed.copy()
        others[row] += 100.0
        after = clone(base).fit(X, others).final_estimator_.X_[:, 0]
        fold = np.arange(N) // 40 == row // 40
        assert np.array_equal(before[fold], after[fold])  # the fold's member never saw the row
        assert not np.array_equal(before[~fold], after[~fold])


def test_noise_is_not_predicted():
    noise = np.random.default_rng(5).normal(size=N)
    stack = spinney.StackingRegressor(OURS, cv=5).fit(X[:150], noise[:150])
    assert stack.score(X[150:], noise[150:]) < 0.15


def test_a_stack_of_one_member_and_no_more_is_the_member():
    stack = spinney.StackingRegressor(OURS[1:2], Keeper()).fit(X, NUMBERS)
    alone = clone(OURS[1][1]).fit(X, NUMBERS)
    assert np.array_equal(stack.predict(X), alone.predict(X))
    assert stack.estimators_[0].model_ == alone.model_


# Splitters


def test_rows_that_no_split_asks_about_are_left_out_of_the_final_fit():
    cv = TimeSeriesSplit(4)
    weights = np.linspace(1, 2, N)
    members = [("line", LinearRegression()), OURS[1]]
    stack = spinney.StackingRegressor(members, Keeper(), cv=cv)
    final = stack.fit(X, NUMBERS, sample_weight=weights).final_estimator_
    first = min(test[0] for _, test in cv.split(X))
    assert len(final.X_) == N - first
    assert np.array_equal(final.y_, NUMBERS[first:])
    assert np.array_equal(final.weights_, weights[first:])
    train, test = list(cv.split(X))[2]
    line = LinearRegression().fit(X[train], NUMBERS[train], weights[train])
    assert np.allclose(final.X_[test - first, 0], line.predict(X[test]))
    assert len(stack.estimators_[1].predict(X)) == N


def test_groups_are_never_divided():
    seen = []

    class Spy(LinearRegression):
        def fit(self, X, y):
            seen.append(set(X[:, 4].tolist()))
            return super().fit(X, y)

        def predict(self, X):
            assert not seen[-1] & set(X[:, 4].tolist()) or len(X) == N
            return super().predict(X)

    table = np.column_stack([X, GROUPS])
    stack = spinney.StackingRegressor([("spy", Spy())], Keeper(), cv=GroupKFold(3))
    stack.fit(table, NUMBERS, groups=GROUPS)
    assert len(seen) == 4
    assert len(stack.final_estimator_.X_) == N


def test_groups_go_to_a_stack_inside_a_stack():
    inner = spinney.StackingRegressor(REGRESSORS, cv=GroupKFold(2))
    outer = spinney.StackingRegressor([("inner", inner), OURS[0]], cv=GroupKFold(3))
    assert outer.fit(X, NUMBERS, groups=GROUPS).score(X, NUMBERS) > 0.5


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_stacks_inside_stacks_share_the_table(task):
    if task == "numbers":
        inner = spinney.StackingRegressor([*OURS, ("line", LinearRegression())], cv=3)
        outer = spinney.StackingRegressor(
            [("inner", inner), ("vote", spinney.VotingRegressor(OURS[:2])), OURS[0]], cv=3
        )
        alone = clone(inner)
        assert outer.fit(X, NUMBERS).score(X, NUMBERS) > 0.8
        alone.fit(X, NUMBERS)
        assert np.allclose(alone.predict(X), outer.estimators_[0].predict(X), rtol=1e-12)
        return
    forest = ("forest", spinney.RandomForestClassifier(5, random_state=0))
    inner = spinney.StackingClassifier([forest, ("nb", GaussianNB())], cv=3)
    outer = spinney.StackingClassifier([("inner", inner), ("lr", LogisticRegression())], cv=3)
    assert outer.fit(X, LABELS).score(X, LABELS) > 0.7
    assert set(outer.predict(X)) <= set(LABELS)


def test_a_splitter_that_repeats_rows_is_refused_unless_their_mean_is_asked_for():
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    stack = spinney.StackingRegressor([("line", LinearRegression())], Keeper(), cv=cv)
    with pytest.raises(InvalidInput, match=r"a second time.*repeated='average'"):
        stack.fit(X, NUMBERS)
    stack.set_params(repeated="average").fit(X, NUMBERS)
    sums = np.zeros(N)
    for train, test in cv.split(X):
        sums[test] += LinearRegression().fit(X[train], NUMBERS[train]).predict(X[test])
    assert np.allclose(stack.final_estimator_.X_[:, 0], sums / 2)


def test_one_shuffled_split_is_enough():
    cv = ShuffleSplit(1, test_size=0.3, random_state=0)
    stack = spinney.StackingRegressor(OURS, cv=cv).fit(X, NUMBERS)
    assert stack.score(X, NUMBERS) > 0.7


def test_pairs_of_rows_speak_of_the_rows_given_even_if_some_weigh_nothing():
    weights = np.where(np.arange(N) % 4 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    pairs = list(KFold(3).split(X))
    place = {row: number for number, row in enumerate(kept)}
    fewer = [
        tuple(np.array([place[row] for row in part if row in place]) for part in pair)
        for pair in pairs
    ]
    with_zeros = spinney.StackingRegressor(OURS, cv=pairs).fit(X, NUMBERS, sample_weight=weights)
    without = spinney.StackingRegressor(OURS, cv=fewer)
    without.fit(X[kept], NUMBERS[kept], sample_weight=np.ones(len(kept)))
    assert np.array_equal(with_zeros.predict(X), without.predict(X))


def test_a_class_that_a_fold_lacks_has_no_share_there():
    y = np.array([0] * 95 + [1] * 100 + [2] * 5)
    members = [("tree", spinney.DecisionTreeClassifier(max_depth=3)), ("nb", GaussianNB())]
    cv = KFold(4)  # the last fold has all rows of class 2, so its members do not know it
    stack = spinney.StackingClassifier(members, cv=cv).fit(X, y)
    assert stack.predict_proba(X).shape == (N, 3)
    assert stack.transform(X).shape == (N, 6)
    linear = [("lr", LogisticRegression())]
    with pytest.raises(InvalidInput, match="2 of 3 classes, and decision_function"):
        spinney.StackingClassifier(linear, cv=cv, stack_method="decision_function").fit(X, y)


# Frames, jobs, copies


def test_frames_go_to_members_of_ours_as_they_are():
    frame = pd.DataFrame({"a": X[:, 0], "tree": LABELS})
    members = [("boosting", spinney.GradientBoostingRegressor(max_iter=5)), OURS[1]]
    stack = spinney.StackingRegressor(members).fit(frame, NUMBERS)
    assert stack.feature_names_in_.tolist() == ["a", "tree"]
    assert stack.n_features_in_ == 2
    assert len(stack.predict(frame)) == N


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_jobs_and_backends_do_not_matter(backend):
    import joblib

    members = [*OURS, ("knn", KNeighborsRegressor())]
    expected = spinney.StackingRegressor(members).fit(X, NUMBERS).predict(X)
    with joblib.parallel_config(backend=backend):
        stack = spinney.StackingRegressor(members, n_jobs=2).fit(X, NUMBERS)
    assert np.array_equal(stack.predict(X), expected)


def test_threads_of_members_do_not_matter():
    found = []
    for n_jobs in (1, 3):
        members = [(name, clone(member).set_params(n_jobs=n_jobs)) for name, member in OURS]
        found.append(spinney.StackingRegressor(members, "simplex").fit(X, NUMBERS))
    assert np.array_equal(found[0].predict(X), found[1].predict(X))
    assert np.array_equal(*(stack.final_estimator_.weights_ for stack in found))


def test_copies_say_the_same():
    import copy
    import pickle

    stack = spinney.StackingRegressor(OURS, "simplex").fit(X, NUMBERS)
    for again in (pickle.loads(pickle.dumps(stack)), copy.deepcopy(stack)):
        assert np.array_equal(again.predict(X), stack.predict(X))
    fresh = clone(stack)
    assert not hasattr(fresh, "estimators_")
    assert np.array_equal(fresh.fit(X, NUMBERS).predict(X), stack.predict(X))
    assert repr(fresh).startswith("StackingRegressor(")
    assert "boosting" in stack._repr_html_()


def test_parameters_of_members_are_reached_by_their_names():
    stack = spinney.StackingRegressor(OURS)
    stack.set_params(forest__n_estimators=3, extra="drop")
    stack.fit(X, NUMBERS)
    assert len(stack.named_estimators_.forest) == 3
    assert len(stack.estimators_) == 2
    with pytest.raises(InvalidParameter, match="Did you mean 'forest__n_estimators'"):
        stack.set_params(forst__n_estimators=3)


def test_folds_with_classes_in_their_shares_are_the_default():
    y = np.sort(CODES)
    stack = spinney.StackingClassifier([("dummy", DummyClassifier())], KNeighborsClassifier())
    stack.fit(X, y)  # unshuffled folds of sorted labels would lack classes
    cv = StratifiedKFold(5)
    expected = cross_val_predict(DummyClassifier(), X, y, cv=cv, method="predict_proba")
    assert np.allclose(stack.final_estimator_._fit_X, expected)


class Constant(ClassifierMixin, BaseEstimator):
    """A member that says what it was fitted on."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.share_ = np.bincount(y) / len(y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X):
        return np.tile(self.share_, (len(X), 1))

    def predict(self, X):
        return np.full(len(X), self.share_.argmax())


def test_members_are_fitted_on_codes_of_labels():
    stack = spinney.StackingClassifier([("constant", Constant())]).fit(X, LABELS)
    assert stack.estimators_[0].classes_.tolist() == [0, 1, 2]
    assert stack.classes_.tolist() == ["ash", "birch", "cedar"]


def test_models_of_folds_are_forgotten_once_they_were_asked():
    import weakref

    alive, most = weakref.WeakSet(), []

    class Tracked(LinearRegression):
        def fit(self, X, y):
            alive.add(self)
            most.append(len(alive))
            return super().fit(X, y)

    spinney.StackingRegressor([("a", Tracked()), ("b", Tracked())], cv=8).fit(X, NUMBERS)
    assert len(most) == 18
    assert max(most) <= 3
