"""Estimators on many training sets: known answers, sources of sets, bad input."""

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spinney import BaggingRegressor, DecisionTreeClassifier, DecisionTreeRegressor
from spinney.datasets import Dataset, make_friedman, make_moons
from spinney.errors import InvalidInput, InvalidInputType, InvalidParameter, SpinneyError
from spinney.theory import BootstrapSets, FoldSets, FreshSets, bias_variance

FRIEDMAN = FreshSets("friedman", n_rows=50, n_test=200, options={"number": 1})
DATA = make_friedman(1, 60, random_state=0)


def sampler_of(make):
    """A sampler that looks at the number of rows only."""
    return lambda n_rows, random_state: make(n_rows)  # noqa: ARG005 - what samplers take


class Witness(RegressorMixin, BaseEstimator):
    """Keeps what it was given; answers with the number of the fit."""

    fits: list = []  # noqa: RUF012 - one list for all copies is what it is for

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.fits.append((np.asarray(X), np.asarray(y), self.random_state))
        self.is_fitted_ = True
        return self

    def predict(self, X):
        Witness.asked.append(np.asarray(X))
        return np.full(len(X), float(len(self.fits)))


@pytest.fixture
def witness():
    Witness.fits, Witness.asked = [], []
    return Witness()


def numbered(n_rows):
    """Rows that say which they are."""
    return np.arange(float(n_rows))[:, None], np.arange(float(n_rows))


def test_a_mean_of_the_targets_has_the_variance_of_a_mean():
    """The variance is Var(y)/n at every point, the bias what the constant misses."""
    n_rows = 50
    source = FreshSets("friedman", n_rows=n_rows, n_test=2000, options={"number": 1})
    found = bias_variance(DummyRegressor(), source, n_sets=400, random_state=0).corrected()
    many = make_friedman(1, 200_000, random_state=1)
    assert found.variance == pytest.approx(many.y.var() / n_rows, rel=0.15)
    assert np.ptp(found.variances) < 1e-9  # the same constant everywhere
    assert found.bias == pytest.approx(many.clean_y.var(), rel=0.06)
    assert (found.noise, found.noises.min()) == (pytest.approx(1.0), pytest.approx(1.0))


def test_least_squares_has_the_variance_of_the_textbook():
    """Of a true line with d Gaussian features: no bias, and a variance that is known."""
    d, n = 4, 60

    def line(n_rows, random_state):
        rng = np.random.default_rng(random_state)
        X = rng.normal(size=(n_rows, d))
        truth = X @ [1.0, -2.0, 0.5, 3.0]
        y = truth + 2.0 * rng.normal(size=n_rows)
        return Dataset("line", X, y, tuple("abcd"), clean_y=truth, bayes_error=4.0)

    found = bias_variance(LinearRegression(), FreshSets(line, n, 1000), n_sets=300, random_state=0)
    assert found.corrected().bias == pytest.approx(0.0, abs=0.01)
    # In-sample (d+1)/n; for new rows E[x'(X'X)^-1 x] = d/(n-d-2) of centred features, and 1/n.
    assert found.corrected().variance == pytest.approx(4.0 * (d / (n - d - 2) + 1 / n), rel=0.1)
    assert found.error == pytest.approx(found.bias + found.variance + 4.0, rel=1e-12)


def test_neighbours_trade_variance_for_bias():
    found = [
        bias_variance(KNeighborsRegressor(k), FRIEDMAN, n_sets=20, random_state=0)
        for k in (1, 5, 25)
    ]
    assert found[0].bias < found[1].bias < found[2].bias
    assert found[0].variance > found[1].variance > found[2].variance
    for one in found:
        assert abs(one.bias + one.variance + one.noise - one.error) <= 1e-12 * one.error


def test_numbers_are_those_of_a_loop_by_hand():
    seeds = []

    def sampler(n_rows, random_state):
        seeds.append((n_rows, random_state))
        data = make_friedman(1, n_rows, random_state=random_state)
        return data.X, data.y

    found = bias_variance(LinearRegression(), FreshSets(sampler, 40, 70), n_sets=5, random_state=3)
    sets = {seed: size for size, seed in seeds}
    assert sorted(sets.values()) == [40] * 5 + [70]
    (test_seed,) = [seed for seed, size in sets.items() if size == 70]
    test = make_friedman(1, 70, random_state=test_seed)
    said = []
    for seed in [seed for seed, size in sets.items() if size == 40]:
        train = make_friedman(1, 40, random_state=seed)
        said.append(LinearRegression().fit(train.X, train.y).predict(test.X))
    assert found.error == pytest.approx(np.mean((np.array(said) - test.y) ** 2), rel=1e-12)
    assert found.noise == 0.0  # a pair X, y knows of none
    np.testing.assert_allclose(found.main, np.mean(said, axis=0), rtol=1e-12)


def test_the_same_seed_gives_the_same_numbers():
    for source in (FRIEDMAN, BootstrapSets(DATA.X, DATA.y), FoldSets(DATA.X, DATA.y, cv=3)):
        first, again, other = (
            bias_variance(DecisionTreeRegressor(max_depth=3), source, n_sets=9, random_state=seed)
            for seed in (5, 5, 6)
        )
        np.testing.assert_array_equal(first.errors, again.errors)
        assert first.error != other.error


def test_every_copy_has_a_seed_of_its_own_and_the_estimator_is_left_alone(witness):
    estimator = make_pipeline(StandardScaler(), witness)
    bias_variance(estimator, FreshSets("friedman", 10, 5, {"number": 1}), n_sets=4, random_state=0)
    seeds = [seed for *_, seed in Witness.fits]
    assert len(set(seeds)) == 4
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert witness.random_state is None


def test_bootstrap_sets_draw_rows_again_and_ask_about_the_others(witness):
    """N29: a row is not drawn with a chance of (1 - 1/n)^n."""
    X, y = numbered(100)
    bias_variance(witness, BootstrapSets(X, y), n_sets=200, random_state=0)
    unseen = []
    for (rows, targets, _), asked in zip(Witness.fits, Witness.asked, strict=True):
        assert len(rows) == 100
        assert (rows[:, 0] == targets).all()
        assert set(rows[:, 0]) | set(asked[:, 0]) == set(y)
        assert not set(rows[:, 0]) & set(asked[:, 0])
        unseen.append(len(asked) / 100)
    assert np.mean(unseen) == pytest.approx(0.99**100, abs=0.005)
    counts = np.bincount(np.concatenate([rows[:, 0] for rows, *_ in Witness.fits]).astype(int))
    assert counts.min() > 140
    assert counts.max() < 265


def test_bootstrap_sets_take_groups_as_a_whole(witness):
    X, y = numbered(30)
    groups = np.repeat(list("abcdef"), 5)
    order = np.random.default_rng(0).permutation(30)
    bias_variance(
        witness, BootstrapSets(X[order], y[order], groups[order]), n_sets=30, random_state=0
    )
    assert 25 <= len(Witness.fits) <= 30  # a draw of all six groups leaves nothing to ask about
    for (rows, *_), asked in zip(Witness.fits, Witness.asked, strict=True):
        assert len(rows) == 30
        for part in (rows, asked):
            whole, counts = np.unique(part[:, 0] // 5, return_counts=True)
            assert (counts % 5 == 0).all()
            assert len(whole) <= 6
        assert not set(rows[:, 0] // 5) & set(asked[:, 0] // 5)


def test_folds_ask_about_each_row_once_in_each_repetition(witness):
    X, y = numbered(20)
    found = bias_variance(witness, FoldSets(X, y, cv=4), n_sets=3, random_state=0)
    assert len(Witness.fits) == 12
    assert found.answers.tolist() == [3] * 20
    for at in range(0, 12, 4):
        asked = np.concatenate(Witness.asked[at : at + 4])
        assert sorted(asked[:, 0]) == y.tolist()
    assert len({tuple(part[:, 0]) for part in Witness.asked}) > 8  # drawn anew each time


def test_folds_of_a_splitter_are_gone_through_once():
    fit = partial(bias_variance, LinearRegression(), random_state=0)
    repeated = fit(
        FoldSets(DATA.X, DATA.y, cv=RepeatedKFold(n_splits=5, n_repeats=4, random_state=0))
    )
    assert repeated.answers.tolist() == [4] * 60
    shuffled = fit(FoldSets(DATA.X, DATA.y, cv=ShuffleSplit(50, test_size=0.2, random_state=0)))
    assert shuffled.answers.min() >= 2
    pairs = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(DATA.X))
    by_pairs = fit(FoldSets(DATA.X, DATA.y, cv=pairs))
    by_masks = [(np.isin(np.arange(60), a), np.isin(np.arange(60), b)) for a, b in pairs]
    assert by_pairs.error == fit(FoldSets(DATA.X, DATA.y, cv=by_masks)).error


@pytest.mark.parametrize(
    "cv", [KFold(3), LeaveOneOut(), list(KFold(3).split(DATA.X)), iter(KFold(3).split(DATA.X))]
)
def test_folds_that_test_each_row_once_know_nothing_of_variance(witness, cv):
    X, y = numbered(60)
    with pytest.raises(InvalidInput, match=r"variance would be 0.*number of folds.*RepeatedKFold"):
        bias_variance(witness, FoldSets(X, y, cv=cv), random_state=0)
    can_be_counted = hasattr(cv, "split") or isinstance(cv, list)
    assert len(Witness.fits) == (0 if can_be_counted else 3)  # refused before anything is fitted


def test_points_that_are_predicted_once_are_told():
    pairs = [*KFold(3).split(DATA.X), (np.arange(10, 60), np.arange(10))]
    with pytest.warns(UserWarning, match="50 of 60 points are predicted by one model only"):
        found = bias_variance(LinearRegression(), FoldSets(DATA.X, DATA.y, cv=pairs))
    assert sorted(set(found.answers.tolist())) == [1, 2]
    assert (found.variances[found.answers == 1] == 0).all()


def test_folds_keep_groups_whole(witness):
    X, y = numbered(30)
    groups = (y // 5).astype(int)
    for cv in (3, [*GroupKFold(3).split(X, y, groups)] * 2):
        bias_variance(witness, FoldSets(X, y, cv=cv, groups=groups), n_sets=2, random_state=0)
    for (rows, *_), asked in zip(Witness.fits, Witness.asked, strict=True):
        assert not set(rows[:, 0] // 5) & set(asked[:, 0] // 5)


def test_folds_of_labels_have_their_classes():
    y = np.array(["rare"] * 6 + ["usual"] * 54)

    class Counting(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):  # noqa: ARG002 - scikit-learn's signature
            self.classes_ = np.unique(y)
            assert (np.asarray(y) == "rare").sum() == 4
            return self

        def predict(self, X):
            return np.full(len(X), "usual")

    found = bias_variance(Counting(), FoldSets(DATA.X, y, cv=3), n_sets=3, random_state=0)
    assert found.decomposition == "domingos"
    assert (found.bias, found.variance) == (pytest.approx(0.1), 0.0)


def test_points_with_several_targets_show_the_noise():
    X = np.array([[0.0], [1.0]])
    targets = np.array([["a", "b"], ["a", "a"], ["a", "b"], ["a", "b"]])
    source = FreshSets(sampler_of(lambda n: (np.zeros((n, 1)), ["a"] * n)), test=(X, targets))
    found = bias_variance(DummyClassifier(), source, n_sets=3, random_state=0)
    assert found.noises.tolist() == [0.0, 0.25]
    assert found.errors.tolist() == [0.0, 0.75]
    squared = FreshSets(
        "friedman", 30, options={"number": 1}, test=(DATA.X, np.stack([DATA.y, DATA.clean_y]))
    )
    both = bias_variance(LinearRegression(), squared, n_sets=4, random_state=0)
    np.testing.assert_allclose(both.noises, ((DATA.y - DATA.clean_y) / 2) ** 2, atol=1e-12)


def test_frames_labels_and_other_decompositions():
    moons = make_moons(120, random_state=0)
    frame = pd.DataFrame(moons.X, columns=["across", "up"])
    labels = pd.Series(np.where(moons.y == 1, "lower", "upper"), index=range(5, 125))
    found = bias_variance(
        DecisionTreeClassifier(), BootstrapSets(frame, labels), n_sets=20, random_state=0
    )
    plain = bias_variance(
        DecisionTreeClassifier(), BootstrapSets(moons.X, moons.y), n_sets=20, random_state=0
    )
    np.testing.assert_array_equal(found.errors, plain.errors)
    assert set(found.main) == {"lower", "upper"}
    sets, how = BootstrapSets(moons.X, moons.y), {"n_sets": 20, "random_state": 0}
    kohavi = bias_variance(DecisionTreeClassifier(), sets, decomposition="kohavi_wolpert", **how)
    assert kohavi.error == pytest.approx(plain.error, abs=1e-12)
    assert kohavi.bias + kohavi.variance == pytest.approx(kohavi.error, abs=1e-12)
    squared = bias_variance(
        LogisticRegression(), FreshSets("moons"), decomposition="squared", n_sets=5, random_state=0
    )
    assert squared.decomposition == "squared"


@pytest.mark.parametrize(
    ("estimator", "source", "options", "words"),
    [
        (LinearRegression, FRIEDMAN, {}, "estimator is LinearRegression"),
        ("tree", FRIEDMAN, {}, "estimator is str"),
        (LinearRegression(), "moons", {}, "source is 'moons'"),
        (LinearRegression(), FreshSets, {}, "expected FreshSets"),
        (LinearRegression(), FRIEDMAN, {"n_sets": 1}, "n_sets=1"),
        (LinearRegression(), FRIEDMAN, {"decomposition": "james"}, "decomposition='james'"),
        (LinearRegression(), FRIEDMAN, {"random_state": -1}, "random_state=-1"),
        (LinearRegression(), BootstrapSets(DATA.X, DATA.y[:-1]), {}, "X has 60 rows"),
        (LinearRegression(), BootstrapSets(DATA.X, DATA.y, [1, 2]), {}, "groups has the shape"),
        (LinearRegression(), BootstrapSets(DATA.X, DATA.y, [1] * 60), {}, "two groups or more"),
        (
            LinearRegression(),
            BootstrapSets(DATA.X, DATA.y, [np.nan, *range(59)]),
            {},
            "groups contains NaN",
        ),
        (
            LinearRegression(),
            FoldSets(DATA.X, DATA.y, cv=GroupKFold(4)),
            {},
            "GroupKFold.*divides rows by groups, and there are none. Give groups to FoldSets",
        ),
        (
            DecisionTreeClassifier(),
            FoldSets(DATA.X, np.where(DATA.y > 14, "much", "little")),
            {"decomposition": "squared"},
            "y holds labels such as '(much|little)'. Use decomposition='domingos'",
        ),
        (LinearRegression(), FoldSets(DATA.X, DATA.y, cv=1), {}, "cv=1"),
        (LinearRegression(), FoldSets(DATA.X, DATA.y, KFold(99)), {}, "divide these 60 rows: Can"),
        (LinearRegression(), FoldSets(DATA.X, DATA.y, cv="five"), {}, "cv='five'"),
        (LinearRegression(), FoldSets(DATA.X, DATA.y, [([0, 1], [1, 2])]), {}, "Row 1 is in both"),
        (LinearRegression(), FoldSets(DATA.X, DATA.y, [([0, 1], [3, 3])]), {}, "tests row 3 twice"),
        (
            LinearRegression(),
            FoldSets(DATA.X, DATA.y, [([0, 1], [60])]),
            {},
            "numbers from 0 to 59",
        ),
        (LinearRegression(), FoldSets(DATA.X, DATA.y, [([0, 1], [])]), {}, "at least one"),
        (LinearRegression(), FoldSets(DATA.X, DATA.y, []), {}, "no training set"),
        (LinearRegression(), FreshSets(sampler_of(lambda _: 3)), {}, "sampler gave a int"),
    ],
)
def test_hostile_input(estimator, source, options, words):
    with pytest.raises(SpinneyError, match=words):
        bias_variance(estimator, source, **({"n_sets": 2, "random_state": 0} | options))


def test_hostile_sources():
    with pytest.raises(InvalidParameter, match="Did you mean 'moons'"):
        FreshSets("moon")
    with pytest.raises(InvalidParameter, match="sampler='toy10'"):
        FreshSets("toy10")  # the same ten points each time
    with pytest.raises(InvalidInputType, match="sampler is a int"):
        FreshSets(7)
    with pytest.raises(InvalidParameter, match="n_rows=0"):
        FreshSets("moons", n_rows=0)


def test_estimators_of_several_outputs_are_refused():
    two = FreshSets(sampler_of(lambda n: (np.ones((n, 1)), np.ones((n, 2)))), 5, 5)
    with pytest.raises(InvalidInput, match=r"5 rows in X and y of the shape \(5, 2\)"):
        bias_variance(LinearRegression(), two, n_sets=2, random_state=0)


def test_rows_that_no_set_leaves_out_are_not_counted():
    X, y = numbered(8)
    with pytest.warns(UserWarning, match="by one model only"):
        found = bias_variance(DummyRegressor(), BootstrapSets(X, y), n_sets=2, random_state=1)
    assert 0 < len(found.points) < 8
    assert math.isclose(found.shares.sum(), 1.0)
    assert found.answers.max() <= 2


class Divider(RegressorMixin, BaseEstimator):
    """Divides rows by groups, and keeps which it was given."""

    given: list = []  # noqa: RUF012 - one list for all copies is what it is for

    def _keys_wanted(self):
        return ("groups",)

    def fit(self, X, y, groups=None):
        self.given.append((np.asarray(X)[:, 0], groups))
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@pytest.mark.filterwarnings("ignore:.*by one model only:UserWarning")
@pytest.mark.parametrize("source", [BootstrapSets, partial(FoldSets, cv=3)])
def test_groups_of_training_sets_reach_who_divides_rows(source):
    groups = np.array(list("abcdef")).repeat(5)
    X = groups.view(np.int32)[:, None].astype(float)
    y = np.arange(30.0)
    Divider.given.clear()
    bias_variance(Divider(), source(X, y, groups=groups), n_sets=4, random_state=0)
    assert len(Divider.given) >= 4
    for letters, own in Divider.given:
        assert len(np.unique(own)) == len(np.unique(letters)) > 1
        assert len(set(zip(letters, own, strict=True))) == len(np.unique(own))
    Divider.given.clear()
    bias_variance(Divider(), source(X, y), n_sets=4, random_state=0)
    assert all(own is None for _, own in Divider.given)


def test_bags_of_groups_are_drawn_from_training_sets_of_groups():
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(60, 2)), rng.normal(size=60), np.arange(60) // 5
    bags = BaggingRegressor(DecisionTreeRegressor(max_depth=2), 3, sampler="group")
    found = bias_variance(bags, FoldSets(X, y, cv=4, groups=groups), n_sets=2, random_state=0)
    assert found.variance > 0.0
