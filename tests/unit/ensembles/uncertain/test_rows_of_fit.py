"""What is out of bag is told of the rows of fit, and of no others."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression

import spinney
from spinney import BaggingClassifier, BaggingRegressor, RandomForestClassifier
from spinney.errors import InvalidInput
from spinney.explain import out_of_bag_importance
from spinney.io.save_load import from_bytes, to_bytes

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 3))
Y = X[:, 0] + RNG.normal(size=N)
LABELS = np.array(["ash", "beech", "oak"])[np.digitize(Y, [-0.5, 0.5])]
WEIGHTS = RNG.integers(0, 3, N).astype(float)
ORDER = RNG.permutation(N)


class Halves:
    """A user's sampler: every other row, in turns."""

    def draw(self, n_rows, member, seed):
        return (np.arange(n_rows) + member + seed) % 2


KINDS = {
    "forest": lambda: spinney.RandomForestRegressor(15, random_state=0),
    "classes": lambda: RandomForestClassifier(15, random_state=0),
    "balanced": lambda: RandomForestClassifier(15, class_weight="balanced", random_state=0),
    "balanced bags": lambda: RandomForestClassifier(
        15, class_weight="balanced_subsample", random_state=0
    ),
    "blocks": lambda: spinney.RandomForestRegressor(15, sampler="block", random_state=0),
    "subsample": lambda: RandomForestClassifier(15, sampler="subsample", random_state=0),
    "strata": lambda: RandomForestClassifier(15, sampler="stratified", random_state=0),
    "extra": lambda: spinney.ExtraTreesRegressor(15, bootstrap=True, random_state=0),
    "quantiles": lambda: spinney.QuantileForestRegressor(15, random_state=0),
    "bag of trees": lambda: BaggingRegressor(n_estimators=15, random_state=0),
    "medians": lambda: BaggingRegressor(n_estimators=15, aggregation="median", random_state=0),
    "bag of lines": lambda: BaggingRegressor(LinearRegression(), 15, random_state=0),
    "bag of classes": lambda: BaggingClassifier(LogisticRegression(), 15, random_state=0),
    "own draws": lambda: BaggingRegressor(n_estimators=15, sampler=Halves(), random_state=0),
    "own draws of lines": lambda: BaggingRegressor(
        LinearRegression(), 15, sampler=Halves(), random_state=0
    ),
    "blocks of lines": lambda: BaggingRegressor(
        LinearRegression(), 15, sampler="block", random_state=0
    ),
}


def target(model):
    return LABELS if model._task == "classification" else Y


@pytest.fixture(params=KINDS)
def model(request):
    return KINDS[request.param]()


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_rows_of_fit_are_taken_and_all_others_refused(model, weights):
    y = target(model)
    model.fit(X, y, weights)
    model.calibrate_out_of_bag(X, y, weights)
    kept = model.calibration_
    others = RNG.normal(size=(N, 3))
    swapped = np.arange(N)
    swapped[[7, 90]] = 90, 7  # two rows in each other's place; both are of some weight
    assert weights is None or weights[[7, 90]].all()
    moved = Y + 0.5 if y is Y else np.where(np.arange(N) == 1, LABELS[0], LABELS)
    assert (moved != y).any()
    for some, own, weigh in (
        (others, y, weights),
        (X[ORDER], y[ORDER], None if weights is None else weights[ORDER]),
        (X[swapped], y[swapped], None if weights is None else weights[swapped]),
        (X[swapped], y, weights),
        (X, y[ORDER], weights),
        (X, moved, weights),
        (X, y, None if weights is not None else WEIGHTS),
    ):
        with pytest.raises(InvalidInput, match=r"fitted on.*calibrate\(X, y\)"):
            model.calibrate_out_of_bag(some, own, weigh)
    assert model.calibration_ is kept
    with pytest.raises(InvalidInput, match="rows"):
        model.calibrate_out_of_bag(X[:50], y[:50])


def test_class_weights_are_weights_of_fit():
    model = KINDS["balanced"]().fit(X, LABELS).set_params(class_weight=None)
    with pytest.raises(InvalidInput, match="or class_weight, now None, was another one then"):
        model.calibrate_out_of_bag(X, LABELS)
    model.set_params(class_weight="balanced").calibrate_out_of_bag(X, LABELS)


@pytest.mark.parametrize("kind", ["forest", "classes", "bag of trees", "medians", "quantiles"])
@pytest.mark.parametrize("carry", ["pickle", "file", "copy"])
def test_fitted_ensembles_know_their_rows_wherever_they_went(kind, carry):
    model = KINDS[kind]()
    y = target(model)
    model.fit(X, y, WEIGHTS)
    again = {
        "pickle": lambda m: pickle.loads(pickle.dumps(m)),
        "file": lambda m: from_bytes(to_bytes(m)),
        "copy": copy.deepcopy,
    }[carry](model)
    again.calibrate_out_of_bag(X, y, WEIGHTS)
    with pytest.raises(InvalidInput, match="in another order"):
        again.calibrate_out_of_bag(X[ORDER], y[ORDER], WEIGHTS[ORDER])


@pytest.mark.parametrize("kind", ["forest", "bag of trees", "quantiles", "medians"])
def test_same_rows_from_another_source_or_with_columns_in_another_order(kind):
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["tree"] = pd.Categorical(LABELS)
    model = KINDS[kind]().fit(frame, Y)
    levels = frame.assign(tree=frame["tree"].cat.reorder_categories(["oak", "ash", "beech"]))
    for same in (frame[["tree", "c", "a", "b"]], levels, pl.from_pandas(frame)):
        model.calibrate_out_of_bag(same, Y.tolist())
    numbers = KINDS[kind]().fit(X, Y)
    for same in (X.tolist(), np.asfortranarray(X), sparse.csr_array(X)):
        numbers.calibrate_out_of_bag(same, Y)


def test_files_without_a_digest_are_believed():
    forest = KINDS["forest"]().fit(X, Y)
    object.__setattr__(forest._known, "digest", None)
    old = from_bytes(to_bytes(forest))
    assert old._known.digest is None
    old.calibrate_out_of_bag(X[ORDER], Y[ORDER])


def test_rows_that_are_equal_may_change_places():
    twice, y = np.repeat(X[:40], 2, axis=0), np.repeat(Y[:40], 2)
    forest = KINDS["forest"]().fit(twice, y)
    order = np.arange(80).reshape(-1, 2)[:, ::-1].ravel()
    forest.calibrate_out_of_bag(twice[order], y[order])


def test_tables_of_very_many_columns_are_known_by_their_targets():
    wide = np.column_stack([X] * 400)
    model = BaggingRegressor(LinearRegression(), 5, random_state=0).fit(wide, Y)
    model.calibrate_out_of_bag(wide, Y)
    with pytest.raises(InvalidInput, match="or they stand in another order"):
        model.calibrate_out_of_bag(wide[ORDER], Y[ORDER])


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("kind", ["forest", "classes", "balanced", "bag of trees", "bag of lines"])
def test_questions_about_rows_out_of_bags_are_about_rows_of_fit(kind, weights):
    model = KINDS[kind]()
    y = target(model)
    model.fit(X, y, weights)
    asks = [lambda X, y: out_of_bag_importance(model, X, y, random_state=0)]
    if hasattr(model, "strength"):
        asks.append(model.strength)
    for ask in asks:
        ask(X, y)
        for some, own in ((X[ORDER], y[ORDER]), (X, y[ORDER]), (X + 1.0, y)):
            with pytest.raises(InvalidInput, match="fitted on, or they stand in another order"):
                ask(some, own)


def test_classes_that_weigh_nothing_are_no_other_rows():
    labels, weights = LABELS.copy(), np.ones(N)
    labels[:3], weights[:3] = "alder", 0.0  # the first class of all, which the forest never knew
    forest = KINDS["classes"]().fit(X, labels, weights)
    assert "alder" not in forest.classes_
    assert forest.strength(X, labels, weights).error < 1.0
    forest.calibrate_out_of_bag(X, np.where(weights > 0, labels, "oak"), weights)
