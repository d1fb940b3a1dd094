"""What is given beside rows and targets: who gets it, and what is refused."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spinney import (
    BaggingClassifier,
    BaggingRegressor,
    IteratedBaggingRegressor,
    PastingClassifier,
    VotingClassifier,
)
from spinney.errors import InvalidInput

X, Y = load_iris(return_X_y=True)
COSTS = np.arange(len(Y), dtype=float)


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


class Costly(RegressorMixin, BaseEstimator):
    """Takes no weights; remembers its rows and what they cost, and adds ``shift``."""

    def fit(self, X, y, cost=None, word=None):
        self.rows_, self.cost_, self.word_ = np.array(X[:, 0]), cost, word
        self.mean_, self.n_features_in_ = np.mean(y), X.shape[1]
        return self

    def predict(self, X, shift=0.0):
        return np.full(len(X), self.mean_ + shift)


class Told(ClassifierMixin, BaseEstimator):
    """Says for sure the class it is told."""

    def fit(self, X, y, sample_weight=None, cost=None):
        del X
        self.classes_, self.weights_, self.cost_ = np.unique(y), sample_weight, cost
        return self

    def predict(self, X, label=0):
        return np.full(len(X), label)

    def predict_proba(self, X, label=0):
        return np.tile(np.eye(len(self.classes_))[label], (len(X), 1))

    def decision_function(self, X, label=0):
        return np.full(len(X), float(label))


def asks(estimator, **requests):
    for method, names in requests.items():
        getattr(estimator, f"set_{method}_request")(**dict.fromkeys(names, True))
    return estimator


def numbered():
    """Give rows that tell their place."""
    table = X.copy()
    table[:, 0] = COSTS
    return table


def test_what_belongs_to_rows_follows_the_rows_a_member_drew():
    base = asks(Costly(), fit=["cost", "word"])
    bag = BaggingRegressor(base, 3, random_state=0).fit(numbered(), Y, cost=COSTS, word="cheap")
    for member in bag.estimators_:
        assert np.array_equal(member.cost_, member.rows_)
        assert member.word_ == "cheap"


def test_members_that_ask_for_weights_see_all_rows_and_others_their_own():
    asking = asks(Told(), fit=["sample_weight", "cost"])
    bag = BaggingClassifier(asking, 2, random_state=0).fit(X, Y, cost=COSTS)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        assert np.array_equal(member.weights_, np.bincount(rows, minlength=len(Y)))
        assert np.array_equal(member.cost_, COSTS)
    bag = BaggingClassifier(asks(Told(), fit=["cost"]), 2, random_state=0).fit(X, Y, cost=COSTS)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        assert member.weights_ is None
        assert np.array_equal(member.cost_, np.sort(rows))


def test_parts_of_rows_are_weights_whoever_asks():
    bag = BaggingClassifier(Told(), 2, sampler="bayesian", random_state=0).fit(X, Y)
    assert all(len(member.weights_) == len(Y) for member in bag.estimators_)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
@pytest.mark.parametrize("aggregation", ["soft", "hard"])
def test_answers_are_routed_to_the_method_that_is_asked(method, aggregation):
    asked = "predict_proba" if aggregation == "soft" else "predict"
    base = asks(Told(), **{asked: ["label"]})
    bag = PastingClassifier(base, 2, aggregation=aggregation, random_state=0).fit(X, Y)
    wanted = {"predict": 2, "predict_proba": 1.0, "predict_log_proba": 0.0}[method]
    said = getattr(bag, method)(X, label=2)
    assert (said if method == "predict" else said[:, 2]).tolist() == [wanted] * len(Y)


def test_decision_functions_and_numbers_take_what_members_ask_for():
    bag = BaggingClassifier(asks(Told(), decision_function=["label"]), 2).fit(X, Y)
    assert bag.decision_function(X, label=5).tolist() == [5.0] * len(Y)
    base = asks(Costly(), predict=["shift"])
    for kind in (BaggingRegressor, IteratedBaggingRegressor):
        bags = kind(base, 2, random_state=0).fit(X, Y)
        shifts = bags.predict(X, shift=1.0) - bags.predict(X)
        assert np.allclose(shifts, getattr(bags, "n_stages_", 1))


def test_iterated_bags_route_to_the_members_of_every_stage():
    base = asks(Costly(), fit=["cost"])
    bags = IteratedBaggingRegressor(base, 2, random_state=0).fit(numbered(), Y, cost=COSTS)
    for stage in bags.model_.members:
        assert all(np.array_equal(one.cost_, one.rows_) for one in stage.estimators_)


def test_logarithms_are_those_of_members_where_they_have_them():
    far = X[:3] + 1e3
    bag = BaggingClassifier(GaussianNB(), 3, random_state=0).fit(X, Y)
    with np.errstate(divide="ignore"):
        direct = np.log(bag.predict_proba(X))
    near = np.isfinite(direct)
    assert np.allclose(bag.predict_log_proba(X)[near], direct[near])
    assert np.isfinite(bag.predict_log_proba(far)).all()
    assert (bag.predict_proba(far) == 0).any()


@pytest.mark.parametrize("method", ["fit", "predict", "predict_proba", "decision_function"])
def test_metadata_without_routing_is_refused_as_committees_do(method):
    bag = BaggingClassifier(Told(), 2).fit(X, Y)
    rows = (X, Y) if method == "fit" else (X,)
    with config_context(enable_metadata_routing=False):
        with pytest.raises(InvalidInput, match=f"Passing cost to {method} of BaggingClassifier"):
            getattr(bag, method)(*rows, cost=COSTS)
        with pytest.raises(InvalidInput, match="Passing cost to fit of VotingClassifier"):
            VotingClassifier([("a", GaussianNB())]).fit(X, Y, cost=COSTS)
        for kind in (BaggingRegressor, IteratedBaggingRegressor):
            bags = kind(n_estimators=2, random_state=0).fit(X, Y)
            with pytest.raises(InvalidInput, match=f"to fit of {kind.__name__} is only supported"):
                kind().fit(X, Y, cost=COSTS)
            with pytest.raises(InvalidInput, match=f"to predict of {kind.__name__}"):
                bags.predict(X, cost=COSTS)


def test_trees_take_nothing_beside_rows():
    bag = BaggingClassifier(n_estimators=2).fit(X, Y)
    with pytest.raises(TypeError, match="cost"):
        bag.predict(X, cost=COSTS)
    with pytest.raises(TypeError, match="cost"):
        bag.fit(X, Y, cost=COSTS)
    bags = IteratedBaggingRegressor(n_estimators=10, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="cost"):
        bags.predict(X, cost=COSTS)


def test_weights_by_another_name_are_refused():
    bag = BaggingClassifier(Told().set_fit_request(sample_weight="worth"), 2)
    with pytest.raises(InvalidInput, match="Weights of members are what their bags count"):
        bag.fit(X, Y, worth=COSTS)


def test_a_pipeline_hands_weights_and_groups_to_bagging_itself():
    _, numbers = load_diabetes(return_X_y=True)
    groups, weights = np.arange(len(Y)) % 7, 1.0 + (Y == 1)
    for base in (None, Costly()):
        inner = BaggingRegressor(base, 3, sampler="group", random_state=0)
        inner.set_fit_request(sample_weight=True, groups=True)
        line = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
        line.fit(X, numbers[:150], sample_weight=weights, groups=groups)
        for rows in line[-1].estimators_samples_:
            drawn = set(groups[rows])
            assert np.isin(np.flatnonzero(np.isin(groups, list(drawn))), rows).all()


def test_members_that_know_nothing_of_routing_are_fitted():
    bag = BaggingClassifier(AdaBoostClassifier(n_estimators=2), 2, random_state=0).fit(X, Y)
    assert bag.score(X, Y) > 0.8
