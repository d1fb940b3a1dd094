"""Votes: rules, weights, and what a mean of members owes them."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import VotingClassifier as TheirVotingClassifier
from sklearn.ensemble import VotingRegressor as TheirVotingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import spinney
from spinney.ensembles.combining.pools import NUMBER_RULES, SHARE_RULES, pool_numbers, pool_shares
from spinney.errors import (
    CannotSave,
    InvalidFile,
    InvalidInput,
    InvalidInputType,
    InvalidParameter,
    NotOffered,
)
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections

RNG = np.random.default_rng(1)
X = RNG.normal(size=(240, 4))
CODES = (X[:, 0] + 0.5 * RNG.normal(size=240) > 0).astype(int) + (X[:, 1] > 1)
LABELS = np.array(["ash", "birch", "cedar"])[CODES]
NUMBERS = X[:, 0] ** 2 + X[:, 1] + RNG.normal(0, 0.2, 240)
CLASSIFIERS = [("lr", LogisticRegression()), ("nb", GaussianNB()), ("knn", KNeighborsClassifier())]
REGRESSORS = [("line", LinearRegression()), ("knn", KNeighborsRegressor())]
OURS = [
    ("boosting", spinney.GradientBoostingClassifier(max_iter=5)),
    ("forest", spinney.RandomForestClassifier(5, random_state=0)),
]


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5]])
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_votes_are_those_of_scikit_learn(voting, weights):
    ours = spinney.VotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X, LABELS)
    theirs = TheirVotingClassifier(CLASSIFIERS, voting=voting, weights=weights).fit(X, LABELS)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert np.array_equal(ours.transform(X), theirs.transform(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    if voting == "soft":
        assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-15)


@pytest.mark.parametrize("weights", [None, [1, 3]])
def test_means_are_those_of_scikit_learn(weights):
    ours = spinney.VotingRegressor(REGRESSORS, weights=weights).fit(X, NUMBERS)
    theirs = TheirVotingRegressor(REGRESSORS, weights=weights).fit(X, NUMBERS)
    assert np.allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-13)


def test_signatures_hold_those_of_scikit_learn():
    import inspect

    import sklearn.ensemble

    for name in (
        "VotingClassifier",
        "VotingRegressor",
        "StackingClassifier",
        "StackingRegressor",
    ):
        ours = inspect.signature(getattr(spinney, name)).parameters
        theirs = inspect.signature(getattr(sklearn.ensemble, name)).parameters
        for word, parameter in theirs.items():
            assert ours[word].kind == parameter.kind, (name, word)
            if word != "estimators":  # required there; None stands for the default members here
                assert ours[word].default == parameter.default, (name, word)
        assert list(ours)[: len(theirs)] == list(theirs)


@settings(max_examples=60, deadline=None)
@given(
    answers=st.lists(
        st.lists(st.floats(-100, 100), min_size=6, max_size=6), min_size=1, max_size=5
    ),
    weights=st.lists(st.floats(0.01, 10), min_size=5, max_size=5),
    truth=st.lists(st.floats(-100, 100), min_size=6, max_size=6),
)
def test_squared_error_of_a_mean_is_at_most_the_mean_squared_error(answers, weights, truth):
    """Jensen: the committee's error is the mean error less the spread of the members."""
    answers, weights, truth = np.array(answers), np.array(weights[: len(answers)]), np.array(truth)
    pooled = pool_numbers(answers, weights, "mean")
    errors = np.average((answers - truth) ** 2, axis=0, weights=weights)
    spread = np.average((answers - pooled) ** 2, axis=0, weights=weights)
    scale = 1 + errors.max() + spread.max()
    assert ((pooled - truth) ** 2 <= errors + 1e-9 * scale).all()
    assert np.allclose((pooled - truth) ** 2, errors - spread, rtol=0, atol=1e-9 * scale)


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(st.floats(0.01, 100), min_size=2, max_size=7),
    repeats=st.lists(st.integers(1, 4), min_size=7, max_size=7),
    rule=st.sampled_from(sorted(NUMBER_RULES)),
)
def test_a_weight_of_k_is_a_member_k_times(values, repeats, rule):
    values, repeats = np.array(values), np.array(repeats[: len(values)])
    weighted = pool_numbers(values, repeats.astype(float), rule)
    repeated = pool_numbers(np.repeat(values, repeats), np.ones(repeats.sum()), rule)
    assert np.isclose(weighted, repeated, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    cells=st.lists(st.floats(0.001, 1), min_size=24, max_size=24),
    rule=st.sampled_from(sorted(SHARE_RULES)),
)
def test_pooled_shares_are_shares_and_agree_where_members_agree(cells, rule):
    shares = np.array(cells).reshape(4, 2, 3)
    shares /= shares.sum(axis=2, keepdims=True)
    pooled = pool_shares(shares, np.ones(4), rule)
    assert np.allclose(pooled.sum(axis=1), 1)
    assert (pooled >= 0).all()
    same = np.repeat(shares[:1], 4, axis=0)
    together = pool_shares(same, np.ones(4), rule)
    assert (together.argmax(axis=1) == shares[0].argmax(axis=1)).all()
    if rule != "borda":
        assert np.allclose(together, shares[0])


def test_rules_by_hand():
    shares = np.array([[[0.8, 0.2, 0.0]], [[0.3, 0.6, 0.1]], [[0.1, 0.5, 0.4]]])
    ones = np.ones(3)
    assert np.allclose(pool_shares(shares, ones, "soft"), [[0.4, 1.3 / 3, 0.5 / 3]])
    assert np.allclose(pool_shares(shares, ones, "median"), np.array([[0.3, 0.5, 0.1]]) / 0.9)
    assert np.allclose(pool_shares(shares, ones, "max"), np.array([[0.8, 0.6, 0.4]]) / 1.8)
    assert np.allclose(pool_shares(shares, ones, "min"), np.array([[0.1, 0.2, 0.0]]) / 0.3)
    # points: 2 1 0, 1 2 0, 0 2 1
    assert np.allclose(pool_shares(shares, ones, "borda"), np.array([[3, 5, 1]]) / 9)
    product = shares.clip(1e-15).prod(axis=0) ** (1 / 3)
    assert np.allclose(pool_shares(shares, ones, "geometric"), product / product.sum())


class Lookup(ClassifierMixin, BaseEstimator):
    """A classifier that is right about the rows of its list."""

    def __init__(self, right=()):
        self.right = right

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.said_ = np.where(np.isin(X[:, 0], self.right), y, 1 - y)
        return self

    def predict(self, X):
        return self.said_[X[:, 0].astype(int)]


@pytest.mark.parametrize(
    ("lists", "majority"),
    [
        ([(0, 1, 2, 3, 4, 5), (0, 1, 2, 6, 7, 8), (3, 4, 5, 6, 7, 8)], 0.9),
        ([(0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 6, 7), (0, 1, 2, 3, 8, 9)], 0.4),
    ],
    ids=["pattern of success", "pattern of failure"],
)
def test_patterns_of_success_and_failure(lists, majority):
    """Kuncheva and Whitaker (2003): three classifiers that are right about 6 of 10 objects."""
    rows, y = np.arange(10.0)[:, np.newaxis], np.arange(10) % 2
    members = [(f"m{place}", Lookup(right)) for place, right in enumerate(lists)]
    vote = spinney.VotingClassifier(members, voting="hard").fit(rows, y)
    assert [member.score(rows, y) for member in vote.estimators_] == [0.6] * 3
    assert vote.score(rows, y) == majority


def test_three_independent_voters_are_better_than_one():
    """All 1000 triples of ten objects each: 0.6³ + 3 · 0.6² · 0.4 = 0.648 of them are right."""
    triples = np.array(np.meshgrid(*[np.arange(10)] * 3)).reshape(3, -1)
    right = triples < 6
    y = np.arange(1000) % 2
    rows = np.arange(1000.0)[:, np.newaxis]
    members = [(f"m{k}", Lookup(tuple(np.flatnonzero(right[k])))) for k in range(3)]
    vote = spinney.VotingClassifier(members).fit(rows, y)
    assert vote.score(rows, y) == pytest.approx(0.648, abs=1e-12)


def test_hard_and_soft_votes_differ_where_one_is_sure():
    shares = np.array([[[0.9, 0.1]], [[0.4, 0.6]], [[0.4, 0.6]]])
    assert pool_shares(shares, np.ones(3), "soft").argmax() == 0
    assert pool_shares(shares, np.ones(3), "median").argmax() == 1


@pytest.mark.parametrize("voting", ["median", "trimmed", "geometric", "max", "min", "borda"])
def test_every_rule_votes_well(voting):
    vote = spinney.VotingClassifier(CLASSIFIERS, voting=voting).fit(X, LABELS)
    assert vote.score(X, LABELS) > 0.8
    assert np.allclose(vote.predict_proba(X).sum(axis=1), 1)
    assert np.array_equal(vote.predict(X), vote.classes_[vote.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize("aggregation", ["median", "trimmed"])
def test_every_rule_for_numbers(aggregation):
    vote = spinney.VotingRegressor(REGRESSORS, aggregation=aggregation).fit(X, NUMBERS)
    assert vote.score(X, NUMBERS) > 0.5


def test_members_of_ours_are_what_they_are_alone():
    vote = spinney.VotingClassifier(OURS, voting="soft").fit(X, CODES)
    for (_, alone), member in zip(OURS, vote.estimators_, strict=True):
        assert clone(alone).fit(X, CODES).model_ == member.model_


def test_default_members_need_no_list():
    vote = spinney.VotingRegressor().fit(X, NUMBERS)
    assert list(vote.named_estimators_) == ["boosting", "forest", "extra_trees"]
    assert vote.score(X, NUMBERS) > 0.9
    assert vote.get_params()["estimators"] is None


def test_weights_of_rows_are_repetitions():
    weights = RNG.integers(0, 3, 240).astype(float)
    times = weights.astype(int)
    vote = spinney.VotingClassifier(OURS, voting="soft")
    weighted = vote.fit(X, LABELS, sample_weight=weights).predict_proba(X)
    repeated = vote.fit(np.repeat(X, times, axis=0), np.repeat(LABELS, times)).predict_proba(X)
    assert np.array_equal(weighted, repeated)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_backends_and_jobs_do_not_matter(n_jobs):
    import joblib

    members = [*OURS, ("knn", KNeighborsClassifier())]
    expected = spinney.VotingClassifier(members, voting="soft").fit(X, CODES).predict_proba(X)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend):
            vote = spinney.VotingClassifier(members, voting="soft", n_jobs=n_jobs).fit(X, CODES)
        assert np.array_equal(vote.predict_proba(X), expected)


# Files


def test_committees_are_kept_by_pickle_and_those_of_ours_by_files(tmp_path):
    vote = spinney.VotingClassifier(OURS, voting="soft").fit(X, CODES)
    again = pickle.loads(pickle.dumps(vote))
    assert np.array_equal(again.predict_proba(X), vote.predict_proba(X))
    spinney.save(vote, tmp_path / "vote.spn")
    assert np.array_equal(
        spinney.load(tmp_path / "vote.spn").predict_proba(X), vote.predict_proba(X)
    )
    mixed = spinney.VotingClassifier([*OURS, ("knn", KNeighborsClassifier())]).fit(X, CODES)
    with pytest.raises(CannotSave, match="pickle or joblib"):
        spinney.save(mixed, tmp_path / "mixed.spn")


def test_a_model_that_claims_to_be_a_committee_is_refused():
    tree = spinney.DecisionTreeRegressor().fit(X, NUMBERS)
    contents = sections.unpack(to_bytes(tree))
    meta = {**contents.meta, "estimator": "VotingRegressor", "parameters": {}}
    forged = sections.pack(meta, contents.arrays, version=contents.format_version)
    with pytest.raises(InvalidFile, match="no form in a file"):
        from_bytes(forged)


# What is refused


def test_a_member_without_probabilities_is_refused_under_soft_voting_before_anything_is_fitted():
    members = [("ridge", RidgeClassifier()), ("lr", LogisticRegression())]
    with pytest.raises(InvalidParameter, match="'ridge', a RidgeClassifier, has no predict_proba"):
        spinney.VotingClassifier(members, voting="soft").fit(X, CODES)
    assert spinney.VotingClassifier(members, voting="hard").fit(X, CODES).score(X, CODES) > 0.6


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        ([("a", GaussianNB()), ("a", GaussianNB())], "'a' more than once"),
        ([("voting", GaussianNB())], "conflict with constructor arguments: 'voting'"),
        ([("a__b", GaussianNB())], "must not contain __"),
        ([("a", "drop")], "All estimators are dropped"),
        ([("a", LinearRegression())], "LinearRegression should be a classifier"),
        ([("a", GaussianNB)], "expected an estimator"),
        ("forest", "non-empty list"),
        ([], "non-empty list"),
    ],
)
def test_lists_that_name_no_committee_are_refused(estimators, message):
    with pytest.raises(InvalidParameter, match=message):
        spinney.VotingClassifier(estimators).fit(X, CODES)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1], "must be equal"), ([1, -1, 1], "at least 0"), ([0, 0, 0], "nobody votes")],
)
def test_weights_that_no_vote_can_have_are_refused(weights, message):
    with pytest.raises(InvalidParameter, match=message):
        spinney.VotingClassifier(CLASSIFIERS, weights=weights).fit(X, CODES)


def test_other_bad_input_is_told():
    with pytest.raises(InvalidInputType, match="does not support sample weights"):
        spinney.VotingClassifier(CLASSIFIERS).fit(X, CODES, sample_weight=np.ones(240))
    with pytest.raises(NotOffered, match="one committee per column"):
        spinney.VotingClassifier(CLASSIFIERS).fit(X, np.eye(3, dtype=int)[CODES])
    with pytest.raises(InvalidInput, match="inconsistent numbers of samples"):
        spinney.VotingClassifier(CLASSIFIERS).fit(X, CODES[:-1])
    with pytest.raises(InvalidParameter, match="Did you mean 'voting'"):
        spinney.VotingClassifier(CLASSIFIERS, votting="soft")
    with pytest.raises(InvalidParameter, match="Did you mean 'soft'"):
        spinney.VotingClassifier(CLASSIFIERS, voting="sof").fit(X, CODES)
    vote = spinney.VotingRegressor(REGRESSORS, aggregation="geometric").fit(X, NUMBERS - 100)
    with pytest.raises(InvalidInput, match="multiplies answers"):
        vote.predict(X)


@pytest.mark.parametrize(
    "member",
    [
        spinney.KNORAEClassifier(),
        spinney.DynamicSelectionClassifier([LogisticRegression(), GaussianNB()]),
        spinney.EnsembleSelectionClassifier([("line", LogisticRegression())], cv=2),
        spinney.EnsembleSelectionClassifier([("tree", spinney.DecisionTreeClassifier())], cv=2),
    ],
)
@pytest.mark.parametrize("committee", [spinney.VotingClassifier, spinney.StackingClassifier])
def test_selections_can_be_members(member, committee):
    labels = (X[:, 0] > 0).astype(int)
    members = [("selection", member), ("line", LogisticRegression())]
    assert committee(members).fit(X, labels).score(X, labels) > 0.8
