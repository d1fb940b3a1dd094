"""The trees of a forest as estimators: what they show is what grew."""

import pickle

import numpy as np
import pytest

from spinney import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from spinney.errors import InvalidFile
from spinney.io.save_load import from_bytes, to_bytes
from spinney.model import sections

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
KINDS = [RandomForestClassifier, ExtraTreesClassifier]


def pair(kind, **settings):
    given = {"n_estimators": 5, "random_state": 0, "min_samples_leaf": 9} | settings
    return [kind(**given, voting=voting).fit(X, Y) for voting in ("soft", "hard")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "twoing"])
def test_trees_that_vote_show_the_shares_of_their_nodes(kind, criterion):
    soft, hard = pair(kind, criterion=criterion)
    for one, two in zip(soft.estimators_, hard.estimators_, strict=True):
        assert np.array_equal(one.tree_.value, two.tree_.value)
        assert np.array_equal(one.tree_.impurity, two.tree_.impurity)
        assert two.tree_.impurity.max() > 0
        assert one.to_text() == two.to_text()
        for method in ("cost_complexity", "pessimistic", "mdl"):
            smaller = [tree.pruned(method, alpha=0.01).get_n_leaves() for tree in (one, two)]
            assert smaller[0] == smaller[1]
    votes = np.mean([tree.predict(X) for tree in hard.estimators_], axis=0)
    assert hard.predict_proba(X)[:, 1] == pytest.approx(votes)


@pytest.mark.parametrize(
    "carry",
    [lambda f: pickle.loads(pickle.dumps(f)), lambda f: from_bytes(to_bytes(f))],
    ids=["pickle", "file"],
)
def test_shares_come_along_and_warm_starts_keep_them(carry):
    soft, hard = pair(RandomForestClassifier, warm_start=True)
    hard = carry(hard)
    hard.set_params(n_estimators=8).fit(X, Y)
    soft.set_params(n_estimators=8).fit(X, Y)
    for one, two in zip(soft.estimators_, hard.estimators_, strict=True):
        assert np.array_equal(one.tree_.value, two.tree_.value)
    again = hard.set_params(n_estimators=9, voting="soft").fit(X, Y)
    assert again.model_ == soft.set_params(n_estimators=9).fit(X, Y).model_


def test_shares_of_a_file_that_are_not_voted_by_are_refused():
    data = to_bytes(pair(RandomForestClassifier)[1])
    contents = sections.unpack(data)
    arrays = dict(contents.arrays)
    arrays["attributes/shares"] = 1.0 - arrays["attributes/shares"]
    with pytest.raises(InvalidFile, match="not those it votes by"):
        from_bytes(sections.pack(dict(contents.meta), arrays))


def test_trees_of_numbers_are_pruned_though_their_impurities_are_not_known():
    tree = RandomForestRegressor(2, random_state=0).fit(X, X[:, 0]).estimators_[0]
    assert np.isnan(tree.tree_.impurity).all()
    assert 1 < tree.pruned(alpha=0.01).get_n_leaves() < tree.get_n_leaves()
