"""Bagging that goes on: members are drawn as those there are, or nothing is said of their bags."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from spinney import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier
from spinney.errors import InvalidInput, InvalidModel, InvalidParameter
from spinney.io.save_load import from_bytes, to_bytes

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = (X[:, 0] + RNG.standard_normal(120) > 0).astype(int)
GROUPS = np.arange(120) // 6
BASES = [None, LogisticRegression()]
every_base = pytest.mark.parametrize("base", BASES, ids=["trees", "foreign"])


class Evens:
    def __init__(self, shift=0):
        self.shift = shift

    def __repr__(self):
        return f"Evens({self.shift})"  # names of tests, the same in every process

    def draw(self, n_rows, member, seed):  # noqa: ARG002 - the form is given
        return (np.arange(n_rows) + member + self.shift) % 2


def grown(base=None, **params):
    return BaggingClassifier(base, 4, random_state=1, warm_start=True, **params)


@every_base
@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({}, {"max_samples": 0.5}, "drew 120 rows each; .* would be 60"),
        ({"bootstrap": False, "max_samples": 50}, {"max_samples": 70}, "drew 50 rows each"),
        ({"sampler": "block"}, {"block_length": 9}, "drew blocks of 5 rows, not of 9"),
        ({}, {"sampler": "poisson"}, "the sampler"),
        ({}, {"max_features": 2}, "max_features"),
        ({"sampler": Evens()}, {"sampler": Evens(1)}, "the sampler"),
        ({"sampler": Evens()}, {"sampler": None, "bootstrap": False}, "the sampler"),
    ],
    ids=str,
)
def test_other_draws_are_refused(base, before, after, words):
    bag = grown(base, **before).fit(X, Y)
    seen = [rows.tolist() for rows in bag.estimators_samples_]
    bag.set_params(n_estimators=8, **after)
    with pytest.raises((InvalidInput, InvalidParameter), match=words):
        bag.fit(X, Y)
    assert [rows.tolist() for rows in bag.estimators_samples_] == seen


@every_base
def test_other_weights_groups_or_strata_are_refused(base):
    weights = RNG.integers(1, 4, 120)
    bag = grown(base).fit(X, Y, weights).set_params(n_estimators=8)
    with pytest.raises(InvalidInput, match="drew rows by other weights"):
        bag.fit(X, Y, np.roll(weights, 1))
    with pytest.raises(InvalidParameter, match=r"drew .* rows each"):
        bag.fit(X, Y)
    bag = grown(base, sampler="group").fit(X, Y, groups=GROUPS).set_params(n_estimators=8)
    with pytest.raises(InvalidInput, match="other groups"):
        bag.fit(X, Y, groups=np.arange(120) % 30)
    bag.fit(X, Y, groups=GROUPS)


def test_trees_go_on_with_their_rows_only():
    bag = grown().fit(X, Y).set_params(n_estimators=8)
    with pytest.raises(InvalidInput, match="are not those it was fitted with"):
        bag.fit(X[::-1] * 2, Y)


@every_base
@pytest.mark.parametrize("params", [{}, {"bootstrap": False}, {"sampler": "block"}], ids=str)
def test_other_rows_and_base_learners_are_refused(base, params):
    bag = grown(base, **params).fit(X, Y).set_params(n_estimators=8)
    for other_X, other_Y in ((X, 1 - Y), (X * 1.0001, Y)):
        with pytest.raises(InvalidInput, match="are not those it was fitted with"):
            bag.fit(other_X, other_Y)
    for other in (GaussianNB(), DecisionTreeClassifier(class_weight="balanced")):
        with pytest.raises(InvalidInput, match="the base learner"):
            bag.set_params(estimator=other).fit(X, Y)
    bag.set_params(estimator=base).fit(X, Y)


@every_base
@pytest.mark.parametrize("params", [{}, {"bootstrap": False}, {"sampler": "balanced"}], ids=str)
def test_weights_of_one_are_no_weights(base, params):
    bag = grown(base, **params).fit(X, Y).set_params(n_estimators=8).fit(X, Y, np.ones(120))
    whole = BaggingClassifier(base, 8, random_state=1, **params).fit(X, Y)
    assert np.array_equal(bag.predict_proba(X), whole.predict_proba(X))
    with pytest.raises((InvalidInput, InvalidParameter), match="weights"):
        bag.set_params(n_estimators=9).fit(X, Y, np.r_[0.5, np.ones(119)])


def test_votes_of_trees_without_a_split_are_remembered():
    stump = DecisionTreeClassifier(min_samples_leaf=100)
    bag = grown(stump, aggregation="hard").fit(X, Y)
    for one in (bag, from_bytes(to_bytes(bag))):
        with pytest.raises(InvalidParameter, match="Set aggregation='hard' as it was"):
            one.set_params(n_estimators=8, aggregation="soft").fit(X, Y)
    meta, arrays = bag._attributes()
    for unknown in ("sof", "auto"):
        with pytest.raises(InvalidModel, match="missing or unknown"):
            bag._adopt_attributes(meta | {"aggregation": unknown}, arrays)


@every_base
def test_another_seed_changes_nothing_and_the_whole_is_that_of_one_fit(base):
    bag = grown(base).fit(X, Y).set_params(n_estimators=8, random_state=99).fit(X, Y)
    whole = BaggingClassifier(base, 8, random_state=1).fit(X, Y)
    for one, two in zip(bag.estimators_samples_, whole.estimators_samples_, strict=True):
        assert np.array_equal(one, two)
    assert np.array_equal(bag.predict_proba(X), whole.predict_proba(X))
    again = from_bytes(to_bytes(bag)) if base is None else bag
    assert np.array_equal(again.predict_proba(X), bag.predict_proba(X))


def test_trees_of_shares_come_to_vote_and_never_back():
    bag = grown().fit(X, Y).set_params(n_estimators=8, aggregation="hard").fit(X, Y)
    whole = BaggingClassifier(n_estimators=8, random_state=1, aggregation="hard").fit(X, Y)
    assert bag.model_ == whole.model_
    with pytest.raises(InvalidParameter, match="Set aggregation='hard' as it was"):
        bag.set_params(n_estimators=9, aggregation="soft").fit(X, Y)
    pure = grown(DecisionTreeClassifier(max_depth=3)).fit(X, np.ones(120))
    assert len(pure.set_params(n_estimators=6).fit(X, np.ones(120)).estimators_) == 6


def test_means_and_medians_go_on_with_each_other():
    bag = BaggingRegressor(n_estimators=4, random_state=1, warm_start=True).fit(X, X[:, 0])
    bag.set_params(n_estimators=9, aggregation="median").fit(X, X[:, 0])
    whole = BaggingRegressor(n_estimators=9, random_state=1, aggregation="median").fit(X, X[:, 0])
    assert np.array_equal(bag.predict(X), whole.predict(X))
