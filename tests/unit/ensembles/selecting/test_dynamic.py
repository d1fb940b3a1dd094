"""Dynamic selection against its definitions, and as an estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.reference import selecting as twin

import spinney
from spinney import DynamicSelectionClassifier, KNORAEClassifier, KNORAUClassifier
from spinney.data.intake import read_table
from spinney.datasets import make_moons
from spinney.ensembles.selecting.competence import METHODS, Local, shares_of_votes
from spinney.errors import CannotSave, InvalidInput

X, Y = load_iris(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(X))
X, Y = X[ORDER], Y[ORDER]

TWINS = {
    "knora_e": lambda right, _: twin.knora_e(right),
    "knora_u": lambda right, _: twin.knora_u(right),
    "ola": lambda right, _: twin.ola(right),
    "lca": twin.lca,
    "mcb": twin.mcb,
}


class Says(ClassifierMixin, BaseEstimator):
    """Says "b" where the first feature lies between two numbers, else "a"."""

    def __init__(self, low=0.0, high=1.0):
        self.low = low
        self.high = high

    def fit(self, X, y, sample_weight=None):  # noqa: ARG002 - a classifier has them
        self.classes_ = np.array(["a", "b"])
        return self

    def predict(self, X):
        X = np.asarray(X)
        return self.classes_[((X[:, 0] >= self.low) & (X[:, 0] < self.high)).astype(int)]


# The rules


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 6), st.sampled_from([*TWINS]))
def test_rules_are_those_of_the_definitions(seed, k, n_members, method):
    rng = np.random.default_rng(seed)
    right = rng.random((5, k, n_members)) < rng.random()
    alike = rng.random((5, k, n_members)) < rng.random()
    votes = METHODS[method](Local(right, alike, np.ones((5, k))))
    for row in range(5):
        assert votes[row].tolist() == TWINS[method](right[row].tolist(), alike[row].tolist())
    answers = rng.integers(3, size=(5, n_members))
    shares = shares_of_votes(votes, answers, 3)
    for row in range(5):
        assert shares[row] == pytest.approx(twin.vote(votes[row], answers[row], 3))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([*TWINS]))
def test_neighbour_of_weight_two_is_two_neighbours(seed, method):
    rng = np.random.default_rng(seed)
    right, alike = rng.random((2, 4, 5, 3)) < 0.6
    weights = rng.integers(1, 4, size=5).astype(float)
    copies = np.repeat(np.arange(5), weights.astype(int))
    weighted = METHODS[method](Local(right, alike, np.tile(weights, (4, 1))))
    repeated = METHODS[method](Local(right[:, copies], alike[:, copies], np.ones((4, len(copies)))))
    assert np.array_equal(weighted, repeated)


def test_neighbours_beyond_the_region_do_not_count():
    right = np.array([[[1, 1], [1, 1], [0, 1]]], bool)
    shares = np.array([[1.0, 1.0, 0.0]])
    for method in METHODS:
        inside = Local(right[:, :2], right[:, :2], shares[:, :2])
        assert np.array_equal(
            METHODS[method](Local(right, right, shares)), METHODS[method](inside)
        ), method


# The estimator


def by_hand(model, rule, rows):
    """What the definition says, from the fitted pool and what it is judged on."""
    known = model.model_.known
    points = known.space.points(read_table(rows))
    answers = model.model_.pool.answers(rows)
    said = []
    for point, answer in zip(points, answers, strict=True):
        near = twin.nearest(known.points, point, model.k)
        right = [(known.answers[n] == known.codes[n]).tolist() for n in near]
        alike = [(known.answers[n] == answer).tolist() for n in near]
        said.append(twin.vote(rule(right, alike), answer, len(model.classes_)))
    return np.array(said)


@pytest.mark.parametrize("method", [*TWINS])
def test_predictions_are_those_of_the_definition(method):
    pool = spinney.RandomForestClassifier(12, max_depth=2, random_state=1)
    model = DynamicSelectionClassifier(pool, method=method, k=5, random_state=2).fit(X, Y)
    assert model.predict_proba(X) == pytest.approx(by_hand(model, TWINS[method], X), 1e-12)
    disagreeing = (model.votes(X).max(axis=1) != model.votes(X).min(axis=1)).any()
    assert disagreeing


def test_presets_are_methods():
    pool = spinney.RandomForestClassifier(10, max_depth=2, random_state=1)
    for preset, method in ((KNORAEClassifier, "knora_e"), (KNORAUClassifier, "knora_u")):
        named = preset(pool, random_state=2).fit(X, Y)
        general = DynamicSelectionClassifier(pool, method=method, random_state=2).fit(X, Y)
        assert np.array_equal(named.predict_proba(X), general.predict_proba(X))
        assert "method" not in named.get_params()


def test_hand_built_line():
    """Rows at 0, 1, 2, …, 9; "b" from 3 to 6. One member is right left of 5, one right of 4."""
    line = np.arange(10.0).reshape(-1, 1)
    y = np.where((line[:, 0] >= 3) & (line[:, 0] < 7), "b", "a")
    left, right = Says(3.0, 99.0).fit(None, None), Says(-1.0, 7.0).fit(None, None)
    model = KNORAEClassifier([left, right], k=2, prefit=True).fit(line, y)
    assert model.n_selection_rows_ == 10
    assert model.votes([[0.4], [4.4], [8.6]]).tolist() == [[1, 0], [1, 1], [0, 1]]
    assert model.predict([[0.4], [4.4], [8.6]]).tolist() == ["a", "b", "a"]
    assert model.score(line, y) == 1.0
    assert max(one.score(line, y) for one in (left, right)) == 0.7
    union = KNORAUClassifier([left, right], k=3, prefit=True).fit(line, y)
    assert union.votes([[2.9], [5.0]]).tolist() == [[3, 2], [3, 3]]
    # Nobody is right about anything near: everybody votes
    wrong = np.where(y == "a", "b", "a")
    both_wrong = KNORAEClassifier([left, right], k=2, prefit=True).fit(line[3:7], wrong[3:7])
    assert both_wrong.votes([[4.0]]).tolist() == [[1, 1]]


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_union_over_all_rows_is_a_vote_by_accuracy(seed):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(40, 2)), rng.integers(2, size=40)
    pool = [
        DecisionTreeClassifier(max_depth=1, random_state=n).fit(*_drawn(rng, rows, y))
        for n in range(5)
    ]
    model = KNORAUClassifier(pool, k=40, prefit=True).fit(rows, y)
    right = np.array([(one.predict(rows) == y).sum() for one in pool], float)
    new = rng.normal(size=(10, 2))
    assert np.array_equal(model.votes(new), np.tile(right, (10, 1)))
    said = np.stack([one.predict(new) for one in pool], axis=1)
    shares = [(right * (said == label)).sum(axis=1) / right.sum() for label in (0, 1)]
    assert model.predict_proba(new) == pytest.approx(np.stack(shares, axis=1), 1e-12)


def _drawn(rng, rows, y):
    while True:
        some = rng.integers(len(y), size=len(y))
        if len(set(y[some])) == 2:
            return rows[some], y[some]


@pytest.mark.parametrize("method", [*TWINS])
def test_members_that_are_always_right_decide(method):
    moons = make_moons(300, random_state=0)
    perfect = KNeighborsClassifier(1).fit(moons.X, moons.y)
    wrong = KNeighborsClassifier(1).fit(moons.X, -moons.y if -1 in moons.y else 1 - moons.y)
    pool = [wrong, perfect, wrong]
    model = DynamicSelectionClassifier(pool, method=method, prefit=True).fit(moons.X, moons.y)
    assert model.score(moons.X, moons.y) == 1.0


def test_selection_by_place_beats_the_pool_on_moons():
    train, test = make_moons(600, random_state=0), make_moons(2000, random_state=1)
    stumps = ensemble.BaggingClassifier(
        DecisionTreeClassifier(max_depth=1), 60, max_samples=0.1, random_state=0
    )
    model = KNORAEClassifier(stumps, random_state=0).fit(train.X, train.y)
    together = stumps.fit(train.X, train.y).score(test.X, test.y)
    assert model.score(test.X, test.y) > together + 0.03


# Order, weights, tables


@pytest.mark.parametrize("method", [*TWINS])
def test_order_and_repetitions_of_rows_do_not_matter(method):
    weights = np.random.default_rng(3).integers(0, 4, 150)
    repeated = np.repeat(np.arange(150), weights)
    order = np.random.default_rng(4).permutation(150)
    pool = spinney.RandomForestClassifier(9, max_depth=3)
    model = DynamicSelectionClassifier(pool, method=method, random_state=0)
    expected = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    again = model.fit(X[order], Y[order], sample_weight=weights[order]).predict_proba(X)
    assert np.array_equal(again, expected)
    assert np.array_equal(model.fit(X[repeated], Y[repeated]).predict_proba(X), expected)


def test_tables_with_text_missing_and_infinite_values():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", None], 300),
            "size": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
            "price": np.where(rng.random(300) < 0.1, np.inf, rng.normal(size=300)),
        }
    )
    y = np.where((frame["colour"] == "red") ^ (frame["price"] > 0), "yes", "no")
    model = KNORAEClassifier(random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.9
    shuffled = frame[["price", "colour", "size"]]
    assert np.array_equal(model.predict_proba(shuffled), model.predict_proba(frame))
    new = pd.DataFrame({"colour": ["violet"], "size": [np.nan], "price": [-np.inf]})
    assert model.predict_proba(new).sum() == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="price"):
        model.predict(frame[["colour", "size"]])


def test_sparse_tables_are_read_as_dense_ones():
    table = np.where(np.random.default_rng(0).random((150, 4)) < 0.5, 0.0, X)
    model = KNORAUClassifier(random_state=0)
    dense = model.fit(table, Y).predict_proba(table)
    assert np.array_equal(model.fit(csr_matrix(table), Y).predict_proba(csr_matrix(table)), dense)


def test_model_has_no_file_but_pickles():
    model = KNORAEClassifier(random_state=0).fit(X, Y)
    with pytest.raises(CannotSave, match="pickle"):
        spinney.save(model, "never.spn")
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert "LocalVote(100 members, method='knora_e'" in repr(model.model_)


def test_table_in_which_nothing_varies_still_has_neighbours():
    table = np.zeros((30, 2))
    y = np.arange(30) % 2
    model = KNORAEClassifier(random_state=0).fit(table, y)
    assert len(set(model.predict(table))) == 1
    pool = [Says().fit(None, None), Says(2.0, 3.0).fit(None, None)]
    model = KNORAEClassifier(pool, prefit=True).fit(table, np.array(["a", "b"])[y])
    assert model.predict_proba(table[:1]).shape == (1, 2)
