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
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.reference import selecting as twin

import spinney
from spinney import DynamicSelectionClassifier, KNORAEClassifier, KNORAUClassifier
from spinney.datasets import make_moons
from spinney.ensembles.selecting.competence import METHODS, Local, shares_of_votes
from spinney.ensembles.selecting.space import Neighbourhood, Space
from spinney.errors import CannotSave, InvalidInput, InvalidParameter, WeakLearnerFailed

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
    right = np.array([[[1, 0], [1, 1], [0, 1]]], bool)
    shares = np.array([[1.0, 1.0, 0.0]])
    for method in METHODS:
        inside = Local(right[:, :2], right[:, :2], shares[:, :2])
        assert np.array_equal(
            METHODS[method](Local(right, right, shares)), METHODS[method](inside)
        ), method


# Neighbours


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.sampled_from([1, 2, 30]),
    st.booleans(),
)
def test_neighbours_are_the_nearest_and_the_first_of_ties(seed, k, width, on_a_grid):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, width))
    queries = rng.normal(size=(7, width))
    if on_a_grid:  # many ties, and many copies
        points, queries = points.round(), queries.round()
    found = Neighbourhood(points, None, k).around(queries)
    for row, query in enumerate(queries):
        assert found.rows[row].tolist() == twin.nearest(points, query, k)
    assert (found.shares == 1).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_weights_fill_the_neighbourhood(seed, k):
    rng = np.random.default_rng(seed)
    points, queries = rng.normal(size=(20, 2)), rng.normal(size=(5, 2))
    weights = rng.choice([0.3, 1.0, 2.0, 5.0], size=20)
    found = Neighbourhood(points, weights, k).around(queries)
    assert found.shares.sum(axis=1) == pytest.approx(np.full(5, min(k, weights.sum())))
    for row, query in enumerate(queries):
        order = twin.nearest(points, query, 20)
        left = float(k)
        for place, known in enumerate(order[: found.rows.shape[1]]):
            assert found.rows[row, place] == known
            assert found.shares[row, place] == pytest.approx(max(0, min(left, weights[known])))
            left -= weights[known]


def test_more_neighbours_than_rows_are_all_rows():
    found = Neighbourhood(np.arange(4.0).reshape(-1, 1), None, 7).around(np.array([[0.2]]))
    assert found.rows.tolist() == [[0, 1, 2, 3]]


def read(frame):
    from spinney.data.intake import read_table

    return read_table(frame)


def test_space_measures_numbers_in_standard_deviations_and_categories_as_ones():
    frame = pd.DataFrame(
        {
            "size": [1.0, 3.0, np.nan, np.inf],
            "colour": ["red", "blue", None, "red"],
            "constant": [5.0, 5.0, 5.0, 5.0],
            "truth": [True, False, True, True],
        }
    )
    space = Space.learn(read(frame), None)
    points = space.points(read(frame))
    assert points.shape == (4, 4)  # size, two colours, truth; what is constant has no place
    assert points[:, 0] == pytest.approx([-1.0, 1.0, 0.0, 1.0])
    assert points[:, 1:3].tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    assert points[:, 3].std() == pytest.approx(1.0)
    assert np.isfinite(points).all()


def test_space_takes_numbers_of_any_size():
    frame = pd.DataFrame({"huge": [1e300, -1e300, 5e299], "tiny": [1e-300, 2e-300, 3e-300]})
    points = Space.learn(read(frame), None).points(read(frame))
    assert points.std(axis=0) == pytest.approx([1.0, 1.0], 1e-6)


def test_only_frequent_levels_have_a_place():
    rng = np.random.default_rng(0)
    levels = [f"level {number}" for number in range(300)]
    column = [*levels, *rng.choice(levels[:50], 2000)]
    table = read(pd.DataFrame({"c": column}))
    points = Space.learn(table, None).points(table)
    assert points.shape[1] == 100
    assert points[:50].sum() == 50


def test_table_in_which_nothing_varies_still_has_neighbours():
    table = np.zeros((30, 2))
    y = np.arange(30) % 2
    model = KNORAEClassifier(random_state=0).fit(table, y)
    assert len(set(model.predict(table))) == 1
    pool = [Says().fit(None, None), Says(2.0, 3.0).fit(None, None)]
    model = KNORAEClassifier(pool, prefit=True).fit(table, np.array(["a", "b"])[y])
    assert model.predict_proba(table[:1]).shape == (1, 2)


# The estimator


def by_hand(model, rule, rows):
    """What the definition says, from the fitted pool and what it is judged on."""
    known = model.model_.known
    points = known.space.points(read(rows))
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


# Pools


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


def test_half_of_every_class_is_set_aside_for_selecting():
    model = KNORAEClassifier(random_state=0).fit(X, Y)
    codes = model.model_.known.codes
    assert np.bincount(codes).tolist() == pytest.approx([25, 25, 25], abs=1)
    smaller = KNORAEClassifier(random_state=0, selection_fraction=0.2).fit(X, Y)
    assert smaller.n_selection_rows_ == pytest.approx(30, abs=3)


def test_groups_are_not_divided_between_pool_and_selection():
    groups = np.arange(150) // 10
    model = KNORAEClassifier(random_state=0).fit(X, Y, groups=groups)
    assert model.n_selection_rows_ % 10 == 0


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
