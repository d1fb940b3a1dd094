"""What is true of bagging whatever the data: identities and theorems."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from spinney import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    PastingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from spinney.datasets import make_friedman, make_twonorm


class EveryBootstrap:
    """All n**n bootstrap samples, one per member: bagging without chance."""

    def draw(self, n_rows, member, seed):
        del seed
        digits = [member // n_rows**k % n_rows for k in range(n_rows)]
        return np.bincount(digits, minlength=n_rows)


def ideal(base, X, y, asked, **more):
    n = len(y)
    bag = BaggingRegressor(base, n**n, sampler=EveryBootstrap(), **more)
    return bag.fit(X, y).predict(asked)


numbers = st.floats(-100, 100, allow_nan=False, width=32)


@settings(max_examples=10, deadline=None)
@given(y=arrays(np.float64, 4, elements=numbers))
def test_a_linear_statistic_is_not_changed(y):
    """The mean of the means of all bootstrap samples is the mean: bagging needs non-linearity."""
    X = np.zeros((4, 1))
    assert ideal(DummyRegressor(), X, y, X[:1]) == pytest.approx(y.mean(), abs=1e-9)
    root = DecisionTreeRegressor(max_depth=1)  # nothing to split on: a single leaf
    assert ideal(root, X, y, X[:1]) == pytest.approx(y.mean(), abs=1e-9)


@settings(max_examples=5, deadline=None)
@given(y=arrays(np.float64, 3, elements=numbers, unique=True))
def test_a_median_is_changed_as_enumeration_says(y):
    X = np.zeros((3, 1))
    wanted = np.mean([np.median(sample) for sample in itertools.product(y, repeat=3)])
    median = DummyRegressor(strategy="median")
    assert ideal(median, X, y, X[:1]) == pytest.approx(wanted, abs=1e-9)
    lonely = DecisionTreeRegressor(criterion="absolute_error")
    assert ideal(lonely, X, y, X[:1]) == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=5, deadline=None)
@given(y=arrays(np.float64, 3, elements=numbers, unique=True))
def test_bagged_trees_are_the_enumeration_of_bootstrap_samples(y):
    """Three rows on a line: a deep tree says what its nearest drawn neighbour said."""
    X = np.array([[0.0], [1.0], [3.0]])
    said = []
    for sample in itertools.product(range(3), repeat=3):
        rows = list(sample)
        said.append(DecisionTreeRegressor().fit(X[rows], y[rows]).predict([[1.2]])[0])
    assert ideal(None, X, y, [[1.2]]) == pytest.approx(np.mean(said), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), sampler=st.sampled_from(["bootstrap", "subsample", "poisson"]))
def test_the_committee_is_no_worse_than_its_members_on_average(seed, sampler):
    """E_c = E_av - ambiguity, so E_c <= E_av: Krogh and Vedelsby."""
    data = make_friedman(1, 60, random_state=seed)
    new = make_friedman(1, 50, random_state=seed + 1)
    bag = BaggingRegressor(random_state=seed, sampler=sampler).fit(data.X, data.y)
    said = np.array([member.predict(new.X) for member in bag])
    together = bag.predict(new.X)
    average = np.mean((said - new.y) ** 2)
    ambiguity = np.mean((said - together) ** 2)
    committee = np.mean((together - new.y) ** 2)
    assert committee <= average
    assert committee == pytest.approx(average - ambiguity)


@pytest.mark.parametrize("n", [1, 2, 10, 500])
def test_share_of_rows_in_a_bootstrap(n):
    """1 - (1 - 1/n)**n, which goes to 0.632; the count of a row has variance 1 - 1/n."""
    X = np.arange(float(n)).reshape(-1, 1)
    stump = DecisionTreeRegressor(max_depth=1)
    bag = BaggingRegressor(stump, 2000, random_state=0).fit(X, X[:, 0])
    counts = np.array([np.bincount(rows, minlength=n) for rows in bag.estimators_samples_])
    assert (counts.sum(axis=1) == n).all()
    assert (counts > 0).mean() == pytest.approx(1 - (1 - 1 / n) ** n, abs=0.02)
    assert counts.var() == pytest.approx(1 - 1 / n, abs=0.1)


def test_variance_falls_for_trees_and_not_for_linear_models():
    """Breiman (1996): bagging helps learners that change much when a few rows do."""
    asked = make_friedman(1, 100, random_state=0).X
    spread = {}
    for name, base in (("tree", DecisionTreeRegressor()), ("line", LinearRegression())):
        alone, bagged = [], []
        for seed in range(25):
            data = make_friedman(1, 60, random_state=100 + seed)
            alone.append(base.fit(data.X, data.y).predict(asked))
            bag = BaggingRegressor(base, 25, random_state=seed).fit(data.X, data.y)
            bagged.append(bag.predict(asked))
        spread[name] = np.var(bagged, axis=0).mean() / np.var(alone, axis=0).mean()
    assert spread["tree"] < 0.5
    assert 0.8 < spread["line"] < 1.5


def test_more_members_do_not_overfit():
    train, test = make_twonorm(200, random_state=0), make_twonorm(2000, random_state=1)
    scores = [
        BaggingClassifier(n_estimators=n, random_state=0)
        .fit(train.X, train.y)
        .score(test.X, test.y)
        for n in (5, 50, 500)
    ]
    assert scores[0] < scores[1] < scores[2] + 0.01
    curve = BaggingClassifier(n_estimators=300, random_state=0, oob_score=True)
    curve.fit(train.X, train.y)
    assert np.ptp(curve.oob_curve_[150:]) < 0.05


def test_a_forest_that_looks_at_all_features_is_bagging():
    data = make_twonorm(150, random_state=2)
    forest = RandomForestClassifier(20, max_features=None, search="exact", random_state=0)
    bag = BaggingClassifier(n_estimators=20, random_state=0).fit(data.X, data.y)
    forest.fit(data.X, data.y)
    for one, other in zip(forest.estimators_samples_, bag.estimators_samples_, strict=True):
        assert np.array_equal(one, other)
    test = make_twonorm(2000, random_state=3)
    agree = np.mean(forest.predict(test.X) == bag.predict(test.X))
    assert agree > 0.9  # features that split a small node equally well are taken in another order


def test_half_without_replacement_is_much_like_all_with_it():
    """Buja and Stuetzle (2006): the same variance and bias to first order."""
    errors = []
    for seed in range(8):
        train, test = (
            make_friedman(1, 200, random_state=seed),
            make_friedman(1, 1000, random_state=500 + seed),
        )
        pair = (
            BaggingRegressor(n_estimators=60, random_state=seed),
            PastingRegressor(n_estimators=60, random_state=seed),
        )
        errors.append(
            [np.mean((bag.fit(train.X, train.y).predict(test.X) - test.y) ** 2) for bag in pair]
        )
    with_it, without = np.mean(errors, axis=0)
    assert without == pytest.approx(with_it, rel=0.07)


def test_features_per_tree_and_per_node_are_two_things():
    data = make_friedman(1, 200, random_state=0)
    forests = [
        RandomForestRegressor(200, random_state=0, oob_score=True, **own).fit(data.X, data.y)
        for own in ({"max_features": 3}, {"max_features_per_tree": 3})
    ]
    assert forests[0].oob_score_ > forests[1].oob_score_ + 0.05
