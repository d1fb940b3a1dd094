"""Rows that arrive in portions."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import GaussianNB

from spinney import BaggingClassifier, BaggingRegressor
from spinney.errors import InvalidInput, InvalidParameter

IRIS, SPECIES = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(150)
IRIS, SPECIES = IRIS[ORDER], SPECIES[ORDER]
DIABETES, PROGRESS = load_diabetes(return_X_y=True)


class Memory(ClassifierMixin, BaseEstimator):
    """Remembers the rows it was taught, and how they were counted."""

    def partial_fit(self, X, y, classes=None):
        del y
        self.seen_ = np.r_[getattr(self, "seen_", np.empty(0)), X[:, 0]]
        self.classes_ = classes
        return self

    fit = partial_fit

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Scales(Memory):
    """The same, with weights."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(np.repeat(X, sample_weight.astype(int), axis=0), y, classes)

    fit = partial_fit


def taught(base, portions, weights=None, **more):
    bag = BaggingClassifier(base, 8, random_state=4, **more)
    rows = np.arange(90.0).reshape(-1, 1)
    y = np.arange(90) % 2
    for part in np.split(np.arange(90), portions):
        own = None if weights is None else weights[part]
        bag.partial_fit(rows[part], y[part], classes=[0, 1], sample_weight=own)
    return bag


@pytest.mark.parametrize("base", [Memory(), Scales()], ids=str)
@pytest.mark.parametrize("portions", [[30, 60], [1, 2, 3, 50], [89]], ids=str)
def test_portions_do_not_matter(base, portions):
    whole, parts = taught(base, []), taught(base, portions)
    for one, other in zip(whole, parts, strict=True):
        assert one.seen_.tolist() == other.seen_.tolist()


def test_counts_are_poisson_draws():
    counts = [
        np.bincount(member.seen_.astype(int), minlength=90) for member in taught(Memory(), [])
    ]
    assert np.mean(counts) == pytest.approx(1.0, abs=0.12)
    assert np.var(counts) == pytest.approx(1.0, abs=0.2)
    assert len({tuple(own) for own in counts}) == 8


def test_a_weight_is_a_repetition():
    weights = np.arange(90) % 3
    together = taught(Memory(), [17, 40], weights)
    rows = np.repeat(np.arange(90.0), weights).reshape(-1, 1)
    each = BaggingClassifier(Memory(), 8, random_state=4)
    each.partial_fit(rows, rows[:, 0].astype(int) % 2, classes=[0, 1])
    for one, other in zip(together, each, strict=True):
        assert sorted(one.seen_) == sorted(other.seen_)


def test_real_learners_learn():
    bag = BaggingClassifier(GaussianNB(), 10, random_state=0, max_features=3)
    for part in np.split(np.arange(150), [50, 100]):
        bag.partial_fit(IRIS[part], SPECIES[part], classes=[0, 1, 2])
    assert bag.score(IRIS, SPECIES) > 0.9
    assert len(bag.estimators_) == 10
    bag = BaggingRegressor(SGDRegressor(), 10, random_state=0)
    for _ in range(40):
        bag.partial_fit(30 * DIABETES, PROGRESS)
    assert bag.score(30 * DIABETES, PROGRESS) > 0.4


def test_a_first_row_may_be_seen_by_some_members_only():
    bag = BaggingClassifier(GaussianNB(), 30, random_state=0)
    bag.partial_fit(IRIS[:1], SPECIES[:1], classes=[0, 1, 2])
    assert 5 < len(bag) < 30
    bag.partial_fit(IRIS[1:], SPECIES[1:])
    assert len(bag) == 30


def test_going_on_after_fit():
    bag = BaggingClassifier(GaussianNB(), 5, random_state=0).fit(IRIS[:100], SPECIES[:100])
    before = bag.predict_proba(IRIS)
    bag.partial_fit(IRIS[100:], SPECIES[100:])
    assert not np.array_equal(before, bag.predict_proba(IRIS))
    assert not hasattr(bag, "estimators_samples_")
    assert np.array_equal(bag.fit(IRIS[:100], SPECIES[:100]).predict_proba(IRIS), before)


def test_what_is_refused():
    assert not hasattr(BaggingClassifier(), "partial_fit")
    bag = BaggingClassifier(GaussianNB())
    with pytest.raises(InvalidInput, match="classes must be passed on the first call"):
        bag.partial_fit(IRIS, SPECIES)
    bag.partial_fit(IRIS[:50], SPECIES[:50] % 2, classes=[0, 1])
    with pytest.raises(InvalidInput, match="not among the classes"):
        bag.partial_fit(IRIS, SPECIES)
    with pytest.raises(InvalidParameter, match="counts rows by Poisson draws"):
        BaggingClassifier(GaussianNB(), sampler="block").partial_fit(IRIS, SPECIES, [0, 1, 2])
    with pytest.raises(InvalidInput, match="cannot count a row in parts"):
        BaggingClassifier(Memory()).partial_fit(IRIS, SPECIES, [0, 1, 2], np.full(150, 0.5))
    with pytest.raises(ValueError, match="features"):
        bag.partial_fit(IRIS[:, :2], SPECIES % 2)
