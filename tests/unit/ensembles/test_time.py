"""``time=`` of every estimator that divides rows: nothing is learnt from what came later."""

import itertools

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit

import spinney
from spinney.errors import InvalidInput, SpinneyError
from spinney.io.save_load import from_bytes, to_bytes
from spinney.resampling import TimeFolds, nested_folds
from spinney.resampling.keys import read_ranks

RNG = np.random.default_rng(0)
N = 60
TIME = RNG.permutation(N) // 2
"""Two rows of each time, not in its order."""
X = np.column_stack([TIME.astype(float), RNG.normal(size=N)])
LABELS = np.arange(N) % 2
DATES = np.datetime64("2024-01-01") + TIME.astype("timedelta64[D]")


class Seer:
    """Notes the latest time it learnt from, and the earliest it is asked about."""

    def fit(self, X, y, sample_weight=None):
        del sample_weight
        self.latest_ = X[:, 0].max()
        self.mean_, self.n_features_in_ = np.mean(y), X.shape[1]
        if isinstance(self, ClassifierMixin):
            self.classes_ = np.unique(y)
        return self

    def _note(self, X):
        if self.latest_ < X[:, 0].max():  # members of all rows are asked about any
            SEEN.append((self.latest_, X[:, 0].min(), len(X)))


SEEN = []


class NumberSeer(Seer, RegressorMixin, BaseEstimator):
    def predict(self, X):
        self._note(X)
        return np.full(len(X), self.mean_)


class ClassSeer(Seer, ClassifierMixin, BaseEstimator):
    def predict_proba(self, X):
        self._note(X)
        return np.tile([1 - self.mean_, self.mean_], (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


NUMBERS = [("one", NumberSeer()), ("two", NumberSeer())]
CLASSES = [("one", ClassSeer()), ("two", ClassSeer())]
DIVIDING = [
    spinney.StackingRegressor(NUMBERS),
    spinney.StackingClassifier(CLASSES, cv=3),
    spinney.BlendingClassifier(CLASSES),
    spinney.BlendingRegressor(NUMBERS, holdout=0.5),
    spinney.SuperLearnerRegressor(NUMBERS),
    spinney.SuperLearnerClassifier(CLASSES),
    spinney.WeightedVoteRegressor(NUMBERS, weights="simplex"),
    spinney.VotingClassifier([("stack", spinney.StackingClassifier(CLASSES))]),
    spinney.EnsembleSelectionRegressor(NUMBERS),
    spinney.EnsembleSelectionClassifier(CLASSES, cv=0.3),
    spinney.DynamicSelectionClassifier([one for _, one in CLASSES]),
    spinney.CalibratedClassifier(ClassSeer()),
    spinney.CalibratedClassifier(ClassSeer(), cv=0.3),
    spinney.ConformalClassifier(ClassSeer()),
    spinney.ConformalRegressor(NumberSeer()),
    spinney.ConformalRegressor(NumberSeer(), method="cv+"),
]


@pytest.mark.parametrize("time", [TIME, DATES, DATES.astype(str)], ids=["int", "date", "text"])
@pytest.mark.parametrize("model", DIVIDING, ids=lambda model: repr(model)[:50])
def test_nothing_is_learnt_from_what_came_later(model, time):
    y = X[:, 1] if isinstance(model, RegressorMixin) else LABELS
    SEEN.clear()
    model.fit(X, y, time=time)
    assert SEEN
    assert all(latest < first for latest, first, _ in SEEN)


@pytest.mark.parametrize("model", DIVIDING, ids=lambda model: repr(model)[:50])
def test_rows_of_weight_0_have_no_time(model):
    y = X[:, 1] if isinstance(model, RegressorMixin) else LABELS
    weights = (np.arange(N) < 50).astype(float)
    rows = []
    for given in ((X, y, weights, None, TIME), (X[:50], y[:50], np.ones(50), None, TIME[:50])):
        SEEN.clear()
        model.fit(*given)
        rows.append(list(SEEN))
    assert rows[0] == rows[1]


@pytest.mark.parametrize("model", DIVIDING, ids=lambda model: repr(model)[:50])
def test_times_are_one_per_row(model):
    y = X[:, 1] if isinstance(model, RegressorMixin) else LABELS
    with pytest.raises(InvalidInput, match="time has the shape"):
        model.fit(X, y, time=TIME[1:])


def test_folds_of_a_number_are_those_of_time_folds():
    stack = spinney.StackingRegressor(NUMBERS, cv=4)
    SEEN.clear()
    stack.fit(X, X[:, 1], time=TIME)
    by_time = list(SEEN)
    SEEN.clear()
    stack.set_params(cv=TimeFolds(4, time=TIME)).fit(X, X[:, 1])
    assert by_time == SEEN


def test_folds_that_look_ahead_are_refused():
    pairs = [(np.arange(30, N), np.arange(30))]
    with pytest.raises(InvalidInput, match="looks ahead"):
        spinney.StackingRegressor(NUMBERS, cv=pairs).fit(X, X[:, 1], time=np.arange(N))


@pytest.mark.parametrize(
    "model",
    [
        spinney.BlendingRegressor(NUMBERS),
        spinney.EnsembleSelectionRegressor(NUMBERS, cv=0.3),
        spinney.ConformalRegressor(NumberSeer(), method="split"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rows_held_out_once_are_the_latest_or_whole_groups(model):
    with pytest.raises(InvalidInput, match=r"latest rows .* would divide groups"):
        model.fit(X, X[:, 1], groups=LABELS, time=TIME)
    with pytest.raises(InvalidInput, match="All rows are of the same time"):
        model.fit(X, X[:, 1], time=np.zeros(N))


@pytest.mark.parametrize("method", ["jackknife+", "jackknife+ab"])
def test_methods_that_learn_from_the_future_are_refused(method):
    with pytest.raises(InvalidInput, match="learn from what came later"):
        spinney.ConformalRegressor(NumberSeer(), method=method).fit(X, X[:, 1], time=TIME)


EVERY_BLOCK = [
    spinney.RandomForestRegressor(5, sampler="block", random_state=0),
    spinney.ExtraTreesClassifier(5, sampler="block", random_state=0),
    spinney.BaggingRegressor(n_estimators=5, sampler="block", random_state=0),
    spinney.BaggingClassifier(ClassSeer(), 5, sampler="block", block_length=4, random_state=0),
]


@pytest.mark.parametrize("model", EVERY_BLOCK, ids=lambda model: repr(model)[:40])
def test_blocks_are_of_consecutive_times_with_all_their_rows(model):
    y = X[:, 1] if isinstance(model, RegressorMixin) else LABELS
    length = model.block_length or round(30 ** (1 / 3))
    for rows in model.fit(X, y, time=DATES).estimators_samples_:
        counts = np.bincount(rows, minlength=N)
        times = np.zeros(30, int)
        times[TIME] = counts
        assert np.array_equal(times[TIME], counts)  # both rows of a time equally often
        assert times.sum() == 30
        drawn = np.flatnonzero(times)
        runs = np.split(drawn, np.flatnonzero(np.diff(drawn) > 1) + 1)
        short = [run for run in runs if len(run) < length]
        assert len(drawn) < 30
        assert len(short) <= 1  # the last block is cut


@pytest.mark.parametrize("model", EVERY_BLOCK, ids=lambda model: repr(model)[:40])
def test_blocks_by_time_are_those_of_sorted_rows(model):
    y = X[:, 1] if isinstance(model, RegressorMixin) else LABELS
    order = RNG.permutation(N)  # all times differ
    by_time = model.fit(X, y, time=np.argsort(order)).estimators_samples_
    for one, two in zip(by_time, model.fit(X[order], y[order]).estimators_samples_, strict=True):
        assert np.array_equal(np.sort(one), np.sort(order[two]))


def test_blocks_by_time_are_kept_in_files_and_go_on():
    forest = spinney.RandomForestRegressor(4, sampler="block", random_state=0, warm_start=True)
    again = from_bytes(to_bytes(forest.fit(X, X[:, 1], time=TIME)))
    for one, two in zip(forest.estimators_samples_, again.estimators_samples_, strict=True):
        assert np.array_equal(one, two)
    with pytest.raises(InvalidInput, match="times"):
        again.set_params(n_estimators=8).fit(X, X[:, 1], time=TIME[::-1])
    whole = spinney.RandomForestRegressor(8, sampler="block", random_state=0)
    whole.fit(X, X[:, 1], time=TIME)
    assert again.fit(X, X[:, 1], time=TIME).model_ == whole.model_


def test_limits_that_are_shares_hold_for_each_bag_by_time():
    small = spinney.DecisionTreeRegressor(min_samples_leaf=0.2)
    bag = spinney.BaggingRegressor(small, 3, sampler="block", random_state=0)
    bag.fit(X, X[:, 1], time=np.maximum(TIME - 20, 0))
    for tree, rows in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        leaves = tree.apply(X[rows])
        assert np.bincount(leaves)[np.unique(leaves)].min() >= 0.2 * len(rows) - 1e-9


@pytest.mark.parametrize(
    "model", [spinney.RandomForestRegressor(2), spinney.BaggingRegressor(n_estimators=2)]
)
def test_times_without_blocks_are_refused(model):
    with pytest.raises(InvalidInput, match="Set sampler='block', or leave time out"):
        model.fit(X, X[:, 1], time=TIME)
    with pytest.raises(InvalidInput, match="time has the shape"):
        model.set_params(sampler="block").fit(X, X[:, 1], time=TIME[1:])


def test_iterated_bags_take_times():
    bags = spinney.IteratedBaggingRegressor(n_estimators=20, sampler="block", random_state=0)
    one = bags.fit(X, X[:, 1], time=np.arange(N)[::-1]).predict(X)
    two = bags.fit(X[::-1], X[::-1, 1]).predict(X)
    assert one == pytest.approx(two)
    assert one != pytest.approx(bags.fit(X, X[:, 1]).predict(X))


def test_levels_of_an_ordered_categorical_are_in_its_order():
    months = pd.Categorical(["Mar", "Jan", "Feb", "Jan"], ["Jan", "Feb", "Mar"], ordered=True)
    for time in (months, pd.Series(months, index=[5, 3, 2, 9]), pd.CategoricalIndex(months)):
        assert read_ranks(time, 4).tolist() == [2, 0, 1, 0]
    with pytest.raises(InvalidInput, match=r"time.*row 1"):
        read_ranks(pd.Categorical(["Jan", None], ["Jan"], ordered=True), 2)


ROWS_OF_DAYS = ["wed", "mon", "tue", "mon"]
LEVELS = ["mon", "tue", "wed"]


def _arrow(ordered, *lengths):
    places, parts = [2, 0, 1, 0], []
    for start, end in itertools.pairwise(lengths):
        own = pa.array(places[start:end])
        parts.append(pa.DictionaryArray.from_arrays(own, pa.array(LEVELS), ordered=ordered))
    return pa.chunked_array(parts) if len(parts) > 1 else parts[0]


@pytest.mark.parametrize(
    "time",
    [
        pl.Series(ROWS_OF_DAYS, dtype=pl.Enum(LEVELS)),
        nw.from_native(pl.Series(ROWS_OF_DAYS, dtype=pl.Enum(LEVELS)), series_only=True),
        _arrow(True, 0, 4),
        _arrow(True, 0, 3, 4),
        pa.table({"day": _arrow(True, 0, 1, 4)})["day"],
        pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([_arrow(True, 0, 4)]))),
    ],
    ids=["enum", "narwhals", "array", "chunks", "column", "pandas"],
)
def test_levels_of_ordered_columns_of_other_libraries_are_in_their_order(time):
    assert read_ranks(time, 4).tolist() == [2, 0, 1, 0]


@pytest.mark.parametrize(
    "time",
    [pl.Series(ROWS_OF_DAYS[::-1], dtype=pl.Categorical), _arrow(False, 0, 4).take([3, 2, 1, 0])],
    ids=["polars", "arrow"],
)
def test_levels_without_an_order_are_text(time):
    with pytest.raises(InvalidInput, match=r"time is text, '\w+'"):
        read_ranks(time, 4)
    years = pl.Series(["2021", "2019", "2021"], dtype=pl.Categorical)
    assert read_ranks(years, 3).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "time",
    [
        pl.Series(["wed", None, "mon"], dtype=pl.Enum(LEVELS)),
        pa.DictionaryArray.from_arrays(pa.array([2, None, 0]), pa.array(LEVELS), ordered=True),
        pa.DictionaryArray.from_arrays([2, 1, 0], pa.array(["mon", None, "wed"]), ordered=True),
    ],
    ids=["enum", "index", "level"],
)
def test_missing_levels_are_refused_with_their_row(time):
    with pytest.raises(InvalidInput, match=r"time.*row 1"):
        read_ranks(time, 3)


LINES = [("one", LogisticRegression()), ("two", LogisticRegression(C=0.1))]
LINE = LogisticRegression()
BY_FOLDS = [
    spinney.StackingClassifier(LINES),
    spinney.WeightedVoteClassifier(LINES, weights="simplex"),
    spinney.CalibratedClassifier(LINE),
    spinney.ConformalClassifier(LINE),
    spinney.EnsembleSelectionClassifier(LINES),
    spinney.GradientBoostingClassifier(early_stopping="cv", random_state=0),
]


@pytest.mark.parametrize("model", BY_FOLDS, ids=lambda model: type(model).__name__)
def test_splitters_that_know_all_rows_leave_those_of_weight_0_out(model):
    weights = (np.arange(N) % 5 != 2).astype(float)
    left = weights > 0
    places, labels = np.arange(N) % 3, (X[:, 1] > 0).astype(int)
    for cv, same in (
        (TimeFolds(3, time=DATES), TimeFolds(3, time=DATES[left])),
        (PredefinedSplit(places), PredefinedSplit(places[left])),
    ):
        said = _said(model.set_params(cv=cv).fit(X, labels, weights))
        again = model.set_params(cv=same).fit(X[left], labels[left], weights[left])
        assert np.array_equal(said, _said(again))


def _said(model):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.predict_set(X).members if hasattr(model, "predict_set") else model.predict(X)


def test_times_of_a_splitter_that_do_not_fit_say_what_to_do():
    inner = spinney.StackingClassifier(CLASSES, LogisticRegression(), cv=TimeFolds(2, time=TIME))
    outer = spinney.StackingClassifier([("inner", inner)], LogisticRegression(), cv=3)
    with pytest.raises(InvalidInput, match=r"divide 40 rows.* \(60,\).*give time to fit"):
        outer.fit(X, LABELS)
    outer.fit(X, LABELS, time=TIME)


def test_times_of_an_inner_splitter_are_those_of_all_rows():
    for fold in nested_folds(3, TimeFolds(2, time=TIME), LABELS):
        for train, test in fold.inner:
            assert TIME[train].max() < TIME[test].min()


@pytest.mark.parametrize(
    ("model", "where"),
    [
        (spinney.StackingClassifier(LINES), "fold 0 of cv"),
        (spinney.StackingClassifier([("vote", spinney.VotingClassifier(LINES))]), "fold 0 of cv"),
        (spinney.SuperLearnerClassifier(LINES), "fold 0 of cv"),
        (spinney.WeightedVoteClassifier(LINES, weights="simplex"), "fold 0 of cv"),
        (spinney.BlendingClassifier(LINES, holdout=0.7), "not held out"),
        (
            spinney.BlendingClassifier(CLASSES, LogisticRegression(), holdout=0.2),
            "final estimator learns",
        ),
        (spinney.CalibratedClassifier(LogisticRegression()), "fold 0 of cv"),
        (spinney.ConformalClassifier(LogisticRegression()), "fold 0 of cv"),
        (spinney.EnsembleSelectionClassifier(LINES), "fold 0 of cv"),
    ],
)
def test_one_class_in_the_earliest_rows_is_told_with_its_name_and_place(model, where):
    labels = np.array(["no", "yes"])[(np.arange(N) >= 40).astype(int)]
    words = rf"class only, 'no', among .*{where}.*(LogisticReg|VotingClass).*fewer folds"
    if "final" in where:
        words = words.replace("'no'", "'yes'")
    with pytest.raises(ValueError, match=words) as told:
        model.fit(X, labels, time=np.arange(N))
    assert isinstance(told.value, SpinneyError)
