"""``groups=`` and ``time=`` of members that divide rows themselves, at any depth."""

import warnings

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import spinney
from spinney.data.row_keys import keys_for, keys_wanted
from spinney.ensembles.gradient.given import Given
from spinney.errors import InvalidInput, InvalidParameter, OutOfTime

RNG = np.random.default_rng(0)
N = 120
GROUPS = RNG.permutation(N) // 3
TIME = RNG.permutation(N) // 2
X = np.column_stack([GROUPS, TIME, RNG.normal(size=N)]).astype(float)
LABELS = np.arange(N) % 2
HEARD = []


class Witness:
    """Notes which rows it learnt from, and which it is asked about; they end with what they are."""

    def fit(self, X, y, sample_weight=None):
        there = slice(None) if sample_weight is None else np.asarray(sample_weight) > 0
        self.learnt_ = np.asarray(X)[there, -3:]
        self.mean_, self.n_features_in_ = np.mean(y[there]), X.shape[1]
        if isinstance(self, ClassifierMixin):
            self.classes_ = np.unique(y)
        return self

    def _note(self, X):
        asked = np.asarray(X)[:, -3:]
        if not np.isin(asked[:, 2], self.learnt_[:, 2]).any():
            HEARD.append((self.learnt_, asked))


class ClassWitness(Witness, ClassifierMixin, BaseEstimator):
    def predict_proba(self, X):
        self._note(X)
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class NumberWitness(Witness, RegressorMixin, BaseEstimator):
    def predict(self, X):
        self._note(X)
        return np.full(len(X), self.mean_)


class Constant(RegressorMixin, BaseEstimator):
    def fit(self, X, y, sample_weight=None):
        del y, sample_weight
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))


CLASSES, NUMBERS = ClassWitness(), NumberWitness()
INNER = [
    spinney.CalibratedClassifier(CLASSES, cv=3),
    spinney.CalibratedClassifier(CLASSES, cv=0.4),
    spinney.CalibratedClassifier(CLASSES, cv=2, ensemble=True),
    spinney.ConformalClassifier(CLASSES, cv=3),
    spinney.ConformalRegressor(NUMBERS, method="split"),
    spinney.ConformalRegressor(NUMBERS, method="cv+", cv=3),
    spinney.EnsembleSelectionClassifier([("one", CLASSES), ("two", CLASSES)], cv=3),
    spinney.EnsembleSelectionClassifier([("one", CLASSES), ("two", CLASSES)], cv=0.4),
    spinney.EnsembleSelectionRegressor([("one", NUMBERS), ("two", NUMBERS)], cv=2),
    spinney.DynamicSelectionClassifier([CLASSES, CLASSES]),
    spinney.KNORAUClassifier([CLASSES, CLASSES]),
    spinney.StackingClassifier([("one", CLASSES)], cv=3),
    spinney.BlendingRegressor([("one", NUMBERS)]),
    spinney.SuperLearnerRegressor([("one", NUMBERS)], cv=3),
    spinney.WeightedVoteClassifier([("one", CLASSES)], weights="simplex", cv=3),
    make_pipeline(StandardScaler(with_mean=False, with_std=False),
                  spinney.CalibratedClassifier(CLASSES, cv=3)),
]  # fmt: skip


def is_class(one):
    return isinstance(getattr(one, "steps", [[one]])[-1][-1], ClassifierMixin)


def of(kind, one):
    return getattr(spinney, kind + ("Classifier" if is_class(one) else "Regressor"))


def stack_of(one):
    return of("Stacking", one)([("inner", one)], LAST[is_class(one)], cv=3)


def final_of(one):
    first = LogisticRegression() if is_class(one) else Constant()
    return of("Stacking", one)([("first", first)], one, cv=3, passthrough=True)


def vote_of(one):
    return of("Voting", one)([("inner", one), ("other", clone(one))])


def bumping_of(one):
    return of("Bumping", one)(one, n_estimators=2, random_state=0)


def around(one):
    if is_class(one):
        return spinney.ConformalClassifier(one, cv=2)
    return spinney.ConformalRegressor(one, cv=2, method="cv+")


def selection_of(one):
    return of("EnsembleSelection", one)([("inner", one)], cv=2)


def bag_of(one):
    return of("Bagging", one)(one, 2, max_samples=0.9, bootstrap=False)


LAST = {True: LogisticRegression(), False: Constant()}
ROADS = {
    "stack": stack_of,
    "final": final_of,
    "vote": vote_of,
    "bumping": bumping_of,
    "around": around,
    "selection": selection_of,
    "bag": bag_of,
    "stack of votes": lambda one: stack_of(vote_of(one)),
    "vote of bags": lambda one: vote_of(bag_of(one)),
    "vote of bumping": lambda one: vote_of(bumping_of(one)),
}


@pytest.fixture(autouse=True)
def _forget():
    HEARD.clear()


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("inner", INNER, ids=lambda one: repr(one)[:60])
def test_groups_reach_whoever_divides_rows(inner, road):
    y = LABELS if is_class(inner) else X[:, 2]
    ROADS[road](inner).fit(X, y, groups=GROUPS)
    assert HEARD
    for learnt, asked in HEARD:
        assert not np.isin(asked[:, 0], learnt[:, 0]).any()


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("inner", INNER, ids=lambda one: repr(one)[:60])
def test_time_reaches_whoever_divides_rows(inner, road):
    y = LABELS if is_class(inner) else X[:, 2]
    ROADS[road](inner).fit(X, y, time=TIME)
    assert HEARD
    for learnt, asked in HEARD:
        assert asked[:, 1].min() > learnt[:, 1].max()


def test_boosting_that_stops_by_folds_keeps_groups_and_time(monkeypatch):
    seen = []
    plain = Given.folds

    def folds(self, *how):
        seen.append((self.groups, self.time))
        return plain(self, *how)

    monkeypatch.setattr(Given, "folds", folds)
    chosen = spinney.GradientBoostingRegressor(early_stopping="cv", cv=2, max_iter=5)
    automatic = spinney.GradientBoostingRegressor(time_budget=1e-9)
    given = spinney.GradientBoostingRegressor(max_iter=5)
    members = [("chosen", chosen), ("automatic", automatic), ("given", given)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfTime)
        spinney.VotingRegressor(members).fit(X, X[:, 2], groups=GROUPS, time=TIME)
    assert len(seen) == 2  # one divides no rows
    for groups, time in seen:
        assert np.array_equal(groups, GROUPS)
        assert np.array_equal(time, TIME)


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_what_boosting_says_it_takes_it_takes(kind):
    model = getattr(spinney, f"GradientBoosting{kind}")
    for early_stopping in ("auto", "cv", "part", True, False):
        for max_iter in ("auto", 2):
            for n_rows in (60, N):
                booster = model(early_stopping=early_stopping, max_iter=max_iter, time_budget=0.05)
                rows = slice(n_rows)
                keys = keys_for(booster, {"groups": GROUPS[rows], "time": None})
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", OutOfTime)
                    booster.fit(X[rows], LABELS[rows], **keys)
                if not keys:
                    with pytest.raises(InvalidInput, match="groups is given"):
                        booster.fit(X[rows], LABELS[rows], groups=GROUPS[rows])


@pytest.mark.parametrize("keys", [{"groups": np.arange(N) % 3}, {"time": np.arange(N) % 4}])
def test_boosting_makes_as_many_folds_as_groups_and_times_allow(keys):
    model = spinney.GradientBoostingRegressor(time_budget=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfTime)
        assert model.fit(X, X[:, 2], **keys).automatic_.values["cv"] == 3


def test_who_draws_by_groups_or_times_is_given_those_alone():
    drawn = spinney.BaggingClassifier(CLASSES, 2, sampler="group", random_state=0)
    blocks = spinney.RandomForestClassifier(2, sampler="block", random_state=0)
    plain = spinney.ExtraTreesClassifier(2, random_state=0)
    assert [keys_wanted(one) for one in (drawn, blocks, plain)] == [("groups",), ("time",), ()]
    vote = spinney.VotingClassifier([("a", drawn), ("b", blocks), ("c", plain)])
    vote.fit(X, LABELS, groups=GROUPS, time=TIME)
    own = clone(blocks).fit(X, LABELS, time=TIME)
    assert np.array_equal(vote.named_estimators_["b"].predict_proba(X), own.predict_proba(X))


def test_keys_that_reach_nobody_are_told_of():
    hidden = GridSearchCV(spinney.CalibratedClassifier(CLASSES), {"cv": [2]})
    stack = spinney.StackingClassifier([("search", hidden)], cv=2)
    with pytest.warns(UserWarning, match=r"CalibratedClassifier in GridSearchCV .* no groups"):
        stack.fit(X, LABELS, groups=GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stack.fit(X, LABELS)


def test_out_of_bag_answers_of_divided_groups_are_refused():
    bag = spinney.BaggingClassifier(spinney.CalibratedClassifier(CLASSES), 5, oob_score=True)
    with pytest.raises(InvalidParameter, match="sampler='bootstrap' divides groups"):
        bag.fit(X, LABELS, groups=GROUPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        bag.set_params(sampler="group").fit(X, LABELS, groups=GROUPS)
    for learnt, asked in HEARD:
        assert not np.isin(asked[:, 0], learnt[:, 0]).any()


def test_bumping_takes_groups_or_time_not_both():
    model = spinney.BumpingClassifier(CLASSES, n_estimators=2)
    with pytest.raises(InvalidInput, match="Give groups or time to fit, not both"):
        model.fit(X, LABELS, groups=GROUPS, time=TIME)


def test_bumping_draws_blocks_of_times_with_all_their_rows():
    class Counter(NumberWitness):
        def fit(self, X, y, sample_weight=None):
            counts = np.zeros(N) if sample_weight is None else sample_weight
            DRAWN.append(np.column_stack([X[:, 1], counts]))
            return super().fit(X, y, sample_weight)

    DRAWN = []
    model = spinney.BumpingRegressor(Counter(), n_estimators=6, random_state=0)
    weights = 1 + np.arange(N) % 2
    model.fit(X, weights, np.where(np.arange(N) == 7, 0, weights), time=TIME)
    lengths = []
    for times, counts in (one.T for one in DRAWN[1:]):
        drawn = np.unique(times)
        assert len(drawn) < N // 2  # a bootstrap
        for time in drawn:
            there = np.sum(times == time)
            assert there == np.sum((time == TIME) & (np.arange(N) != 7))
        assert (counts > 0).all()
        lengths += [len(run) for run in np.split(drawn, np.flatnonzero(np.diff(drawn) > 1) + 1)]
    assert np.mean(lengths) >= 4  # the cube root of 60, and some of them meet


def test_routing_asks_who_is_hidden_whether_keys_are_wanted():
    for request, n_warnings in ((None, 1), (True, 0), (False, 0)):
        with config_context(enable_metadata_routing=True):
            inner = spinney.CalibratedClassifier(CLASSES, cv=3)
            if request is not None:
                inner.set_fit_request(groups=request)
            HEARD.clear()
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                vote = spinney.VotingClassifier([("inner", make_pipeline(inner))])
                vote.fit(X, LABELS, groups=GROUPS)
        assert sum("set_fit_request(groups=...)" in str(one.message) for one in told) == n_warnings
        divided = [np.isin(asked[:, 0], learnt[:, 0]).any() for learnt, asked in HEARD]
        assert any(divided) == (request is not True)


def test_errors_of_inner_members_tell_where_they_were_fitted():
    inner = spinney.StackingClassifier([("one", CLASSES)], cv=2)
    halves, whole = np.arange(N) // 2 % 2, np.zeros(N)
    named = "StackingClassifier (the member 'inner')"
    of_fold, of_fit = (
        "the rows that fold 0 of cv learns from (60 of",
        "the rows given to fit (120 of",
    )
    for outer, groups, who, where in (
        (stack_of(inner).set_params(cv=2), halves, named, of_fold),
        (spinney.CalibratedClassifier(inner, cv=2), halves, "StackingClassifier", of_fold),
        (spinney.VotingClassifier([("inner", inner)]), whole, named, of_fit),
        (bag_of(inner), whole, "StackingClassifier", "the rows that a member drew"),
    ):
        with pytest.raises(InvalidInput, match="more than there are groups: 1") as told:
            outer.fit(X, LABELS, groups=groups)
        assert f"While {who} was fitted to {where}" in told.value.__notes__[0]
