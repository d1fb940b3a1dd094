"""One table for many fits: the models of copies, read, binned and ranked once."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import spinney
from spinney.data.intake import read_table
from spinney.ensembles.sharing import SharedTable, TableRows
from spinney.ensembles.trees.growing import Counted
from spinney.errors import InvalidInput, InvalidInputType
from spinney.resampling.bags import Bags
from spinney.trees.ranked import ForestSettings, TreeTarget
from spinney.trees.settings import TreeSettings

N = 600
RNG = np.random.default_rng(0)
FEW = RNG.integers(0, 12, (N, 5)).astype(float)  # every fold has all values: cuts are the same
MANY = RNG.normal(size=(N, 5)).round(6)  # nearly all values differ, more of them than bins
SCORE = np.sin(FEW[:, 0]) + FEW[:, 1] * (FEW[:, 2] > 5) / 6
NUMBERS = SCORE + RNG.normal(0, 0.3, N)
CLASSES = np.digitize(NUMBERS, np.quantile(NUMBERS, [0.5, 0.8]))
TRAIN = np.flatnonzero(RNG.random(N) < 0.8)
TEST = np.setdiff1d(np.arange(N), TRAIN)
WEIGHTS = RNG.integers(1, 4, N).astype(float)

SAME = {
    "boosting": lambda: spinney.GradientBoostingRegressor(max_iter=20),
    "boosting with stopping": lambda: spinney.GradientBoostingRegressor(
        max_iter=30, early_stopping=True, random_state=3
    ),
    "boosting on drawn rows": lambda: spinney.GradientBoostingRegressor(
        max_iter=20, subsample=0.5, random_state=1
    ),
    "boosting on large gradients": lambda: spinney.GradientBoostingRegressor(
        max_iter=20, subsample=0.5, sampler="one_side", random_state=1
    ),
    "boosting by folds": lambda: spinney.GradientBoostingRegressor(
        max_iter=20, early_stopping="cv", cv=3, random_state=1
    ),
    "absolute boosting": lambda: spinney.GradientBoostingRegressor(max_iter=20, loss="absolute"),
    "classes": lambda: spinney.GradientBoostingClassifier(max_iter=10),
    "balanced classes": lambda: spinney.GradientBoostingClassifier(
        max_iter=10, class_weight="balanced"
    ),
    "forest": lambda: spinney.RandomForestRegressor(10, random_state=0),
    "forest of classes": lambda: spinney.RandomForestClassifier(10, random_state=0),
    "bayesian forest": lambda: spinney.RandomForestRegressor(6, sampler="bayesian", random_state=0),
    "forest with its own rows": lambda: spinney.RandomForestRegressor(
        250, random_state=0, oob_score=True, max_depth=3
    ),
    "extra trees": lambda: spinney.ExtraTreesRegressor(10, random_state=0),
    "extra trees of classes": lambda: spinney.ExtraTreesClassifier(10, random_state=0),
    "tree": lambda: spinney.DecisionTreeRegressor(max_depth=6),
    "tree of classes": lambda: spinney.DecisionTreeClassifier(max_depth=6),
    "absolute tree": lambda: spinney.DecisionTreeRegressor(max_depth=4, criterion="absolute_error"),
    "adaptive": lambda: spinney.AdaBoostClassifier(n_estimators=5),
    "quantile forest": lambda: spinney.QuantileForestRegressor(5, random_state=0),
}
EXACT_ON_MANY = ("tree", "tree of classes", "absolute tree", "adaptive", "quantile forest")


def target(model):
    return CLASSES if model._task == "classification" else NUMBERS


def answers(model, X):
    asked = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    return asked(X)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", SAME)
def test_rows_of_a_shared_table_train_the_model_of_a_copy(kind, weights):
    shared = SharedTable(FEW)
    model, twin = SAME[kind](), SAME[kind]()
    y = target(model)
    own = None if weights is None else weights[TRAIN]
    model.fit(shared.rows(TRAIN), y[TRAIN], own)
    twin.fit(FEW[TRAIN], y[TRAIN], own)
    assert np.array_equal(answers(model, FEW), answers(twin, FEW))
    assert model.model_.schema == twin.model_.schema


# A plain fit that stops early learns its bins without the rows it stops by; a shared table has one
# set of bins for everybody.
@pytest.mark.parametrize("kind", sorted(set(SAME) - {"boosting with stopping"}))
def test_all_rows_of_a_shared_table_train_the_model_of_the_table(kind):
    shared = SharedTable(MANY, WEIGHTS)
    model, twin = SAME[kind](), SAME[kind]()
    y = target(model)
    model.fit(shared.rows(), y, WEIGHTS)
    twin.fit(MANY, y, WEIGHTS)
    assert model.model_ == twin.model_


@pytest.mark.parametrize("kind", EXACT_ON_MANY)
def test_trees_by_every_cut_need_no_equal_bins(kind):
    model, twin = SAME[kind](), SAME[kind]()
    if "search" in model.get_params():
        model.set_params(search="exact")
        twin.set_params(search="exact")
    y = target(model)
    model.fit(SharedTable(MANY).rows(TRAIN), y[TRAIN])
    twin.fit(MANY[TRAIN], y[TRAIN])
    assert np.array_equal(answers(model, MANY), answers(twin, MANY))


@pytest.mark.parametrize("kind", ["boosting", "forest", "extra trees", "tree"])
def test_models_of_shared_bins_are_as_good_as_those_of_copies(kind):
    hidden = np.sin(3 * MANY[:, 0]) + MANY[:, 1] * (MANY[:, 2] > 0)
    model = SAME[kind]().fit(SharedTable(MANY).rows(TRAIN), hidden[TRAIN])
    twin = SAME[kind]().fit(MANY[TRAIN], hidden[TRAIN])
    ours, theirs = model.score(MANY[TEST], hidden[TEST]), twin.score(MANY[TEST], hidden[TEST])
    assert abs(ours - theirs) < 0.05


@pytest.mark.parametrize("kind", ["boosting", "forest", "extra trees", "classes"])
def test_number_of_threads_does_not_matter(kind):
    models = []
    for n_jobs in (1, 2, 5):
        model = SAME[kind]().set_params(n_jobs=n_jobs)
        shared = SharedTable(MANY)
        models.append(model.fit(shared.rows(TRAIN), target(model)[TRAIN]).model_)
    assert models[0] == models[1] == models[2]


@pytest.mark.parametrize("kind", ["boosting", "forest", "extra trees", "tree", "classes"])
def test_targets_of_other_rows_play_no_part(kind):
    """Nothing of the rows outside but their features is within reach."""
    model = SAME[kind]()
    y = target(model).astype(float)
    first = model.fit(SharedTable(MANY).rows(TRAIN), y[TRAIN]).model_
    y[TEST] = y[TEST].max() - y[TEST]
    second = SAME[kind]().fit(SharedTable(MANY).rows(TRAIN), y[TRAIN]).model_
    assert first == second


@pytest.mark.parametrize("kind", ["boosting", "forest", "tree"])
def test_rows_of_weight_0_are_absent(kind):
    weights = np.where(np.arange(len(TRAIN)) % 3 == 0, 0.0, 1.0)
    kept = TRAIN[weights > 0]
    shared = SharedTable(FEW)
    model = SAME[kind]().fit(shared.rows(TRAIN), NUMBERS[TRAIN], weights)
    twin = SAME[kind]().fit(shared.rows(kept), NUMBERS[kept], np.ones(len(kept)))
    assert np.array_equal(model.predict(FEW), twin.predict(FEW))


def test_bins_and_ranks_are_made_once_for_everybody():
    shared = SharedTable(MANY)
    rows = shared.rows(TRAIN).recoded("from_dtype")[1]
    others = shared.rows(TEST).recoded("from_dtype")[1]
    everything = shared.rows().recoded("from_dtype")[1]
    assert everything.binned(255, 1).bins is everything.binned(255, 2).bins
    assert everything.ranked(255, 1).native is everything.ranked(255, 2).native
    assert [everything.ranked(255, n).n_threads for n in (1, 2)] == [1, 2]
    assert rows.binned(255, 1).features is others.binned(255, 2).features
    assert rows.ranked(255, 1).features is others.ranked(255, 1).features
    assert rows.binned(16, 1).features is not others.binned(255, 1).features
    assert rows.recoded([0])[0] is others.recoded(np.array([0]))[0]
    assert rows.recoded([0])[0] != rows.recoded([1])[0]


def test_bins_of_rows_are_those_they_have_among_all():
    everything = SharedTable(MANY).rows().recoded("from_dtype")[1]
    order = RNG.permutation(TRAIN)
    assert np.array_equal(
        everything.take(order).binned(255, 1).bins, everything.binned(255, 1).bins[order]
    )


@pytest.mark.parametrize("search", ["adaptive", "exact", "histogram", "random"])
@pytest.mark.parametrize("kind", ["forest", "forest of classes"])
def test_gathered_ranks_grow_the_trees_of_rows_that_count_once(kind, search):
    """A tree on some rows is that on all of them, if the others count 0 times."""
    source = SharedTable(np.where(MANY > 1.5, np.nan, MANY)).rows().recoded("from_dtype")[1]
    rows, settings = RNG.permutation(TRAIN), ForestSettings(tree=TreeSettings(), search=search)
    y = (CLASSES if "classes" in kind else NUMBERS).astype(float)

    def grown(table, chosen, bags):
        if "classes" in kind:
            target = TreeTarget.of_classes(y[chosen], 3, None, criterion="gini")
        else:  # the range of all rows is that of some, so their grids are the same
            ends = y[chosen].clip(np.quantile(y[TRAIN], 0.1), np.quantile(y[TRAIN], 0.9))
            target = TreeTarget.of_numbers(ends[:, None], None, criterion="squared", n_drawn=N)
        return table.grow(target, settings, bags, range(1))

    some = grown(source.take(rows).ranked(255, 1), rows, Bags(len(rows)))
    among = Counted(np.isin(np.arange(N), rows).astype(np.uint32))
    masked = grown(source.ranked(255, 1), np.arange(N), among)
    for name, array in some.items():
        assert np.array_equal(array, masked[name]), name


def test_ranks_are_gathered_of_rows_that_are_there():
    with pytest.raises(InvalidInput, match="not in the ranked table"):
        SharedTable(FEW).rows().ranked(255, 1).take(np.array([0, N]), 1)


@pytest.mark.parametrize("kind", ["boosting", "forest", "classes"])
def test_the_order_of_rows_does_not_matter(kind):
    shared, order = SharedTable(MANY), RNG.permutation(len(TRAIN))
    model = SAME[kind]()
    if "bootstrap" in model.get_params():
        model.set_params(bootstrap=False)
    y = target(model)[TRAIN]
    first = model.fit(shared.rows(TRAIN), y).model_
    assert model.fit(shared.rows(TRAIN[order]), y[order]).model_ == first


@pytest.mark.parametrize("kind", ["boosting", "boosting with stopping", "classes", "forest"])
def test_sparse_rows_train_the_model_of_dense_ones(kind):
    few = np.where(FEW > 8, FEW, 0.0)
    model, dense = SAME[kind](), SAME[kind]()
    y = target(model)[TRAIN]
    model.fit(SharedTable(scipy.sparse.csr_array(few)).rows(TRAIN), y)
    dense.fit(SharedTable(few).rows(TRAIN), y)
    assert np.array_equal(answers(model, few), answers(dense, few))


def test_fits_do_not_copy_the_rows(monkeypatch):
    shared = SharedTable(MANY)
    monkeypatch.setattr(TableRows, "_copied", lambda _: pytest.fail("the rows were copied"))
    rows = shared.rows(TRAIN)
    for model in (
        spinney.GradientBoostingRegressor(max_iter=3),
        spinney.GradientBoostingRegressor(max_iter=3, early_stopping=True),
        spinney.RandomForestRegressor(3),
        spinney.ExtraTreesRegressor(3),
    ):
        model.fit(rows, NUMBERS[TRAIN])
    spinney.DecisionTreeClassifier().fit(rows, CLASSES[TRAIN])


def test_frames_keep_names_and_categories():
    frame = pd.DataFrame(
        {"a": FEW[:, 0], "kind": np.array(["oak", "beech", "fir"])[FEW[:, 1].astype(int) % 3]}
    )
    shared = SharedTable(frame)
    for model in (spinney.GradientBoostingRegressor(), spinney.RandomForestRegressor(5)):
        model.fit(shared.rows(TRAIN), NUMBERS[TRAIN])
        assert model.feature_names_in_.tolist() == ["a", "kind"]
        levels = model.model_.schema.levels[1]
        assert tuple(levels.values) == ("beech", "fir", "oak")
        assert np.array_equal(model.predict(frame.iloc[TEST]), model.predict(shared.rows(TEST)))


def test_a_level_without_rows_in_the_fold_is_known_all_the_same():
    frame = pd.DataFrame({"kind": ["oak"] * 50 + ["fir"] * 50 + ["yew"] * 20})
    y = np.arange(120.0)
    model = spinney.RandomForestRegressor(5, unseen="error", random_state=0)
    model.fit(SharedTable(frame).rows(np.arange(100)), y[:100])
    assert np.isfinite(model.predict(frame[100:])).all()


@pytest.mark.parametrize("kind", ["forest", "forest of classes", "extra trees", "quantile forest"])
def test_forests_draw_alike_whatever_levels_other_rows_have(kind):
    words = np.array(["ash", "beech", "fir", "oak"])[FEW[:, 0].astype(int) % 4]
    table = pd.DataFrame({"kind": words, "size": FEW[:, 1]})
    rows = np.flatnonzero(words != "ash")
    y = CLASSES if "classes" in kind else NUMBERS
    shared = SAME[kind]().fit(SharedTable(table).rows(rows), y[rows])
    copied = SAME[kind]().fit(table.iloc[rows], y[rows])
    assert np.array_equal(shared.predict(table.iloc[rows]), copied.predict(table.iloc[rows]))


def test_rows_are_a_table():
    shared = SharedTable(FEW)
    rows = shared.rows(TRAIN)
    assert read_table(rows) is rows
    assert (rows.n_rows, rows.n_features, rows.names) == (len(TRAIN), 5, read_table(FEW).names)
    assert np.array_equal(rows.matrix, FEW[TRAIN])
    assert np.array_equal(rows.columns[2].values, FEW[TRAIN, 2])
    assert np.array_equal(rows.as_given(), FEW[TRAIN])
    some = rows.take(np.array([3, 1]))
    assert isinstance(some, TableRows)
    assert np.array_equal(some.matrix, FEW[TRAIN[[3, 1]]])
    assert np.array_equal(shared.rows(np.arange(N) < 3).numbers, [0, 1, 2])


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([0, N], f"Row {N} among the rows of a shared table does not exist"),
        ([3, -1], "Row -1 among the rows"),
        ([0, 4, 4], "Row 4 stands 2 times .* a weight"),
        ([], "There are no rows .* Choose at least one"),
        (np.zeros(N, bool), "There are no rows"),
        ([0.5, 1.0], "the type float64: expected one row of integers, or a mask of 600"),
        (np.ones(5, bool), r"the shape \(5,\) and the type bool"),
        ([[0, 1], [2, 3]], r"the shape \(2, 2\)"),
    ],
)
def test_rows_that_cannot_be_chosen_are_told(numbers, said):
    with pytest.raises((InvalidInput, InvalidInputType), match=said):
        SharedTable(FEW).rows(numbers)


def test_rows_may_be_a_slice():
    assert SharedTable(FEW).rows(slice(3, 9, 2)).numbers.tolist() == [3, 5, 7]


def test_rows_chosen_twice_are_copied():
    twice = SharedTable(FEW).rows(TRAIN).take(np.array([0, 0, 1]))
    assert not isinstance(twice, TableRows)
    assert np.array_equal(twice.matrix, FEW[TRAIN[[0, 0, 1]]])


def test_warm_start_goes_on_over_shared_rows():
    shared = SharedTable(MANY)
    for kind, few, many in (("boosting", 5, 9), ("forest", 5, 9)):
        size = "max_iter" if kind == "boosting" else "n_estimators"
        model = SAME[kind]().set_params(warm_start=True, **{size: few})
        model.fit(shared.rows(TRAIN), NUMBERS[TRAIN])
        model.set_params(**{size: many}).fit(shared.rows(TRAIN), NUMBERS[TRAIN])
        whole = SAME[kind]().set_params(**{size: many}).fit(shared.rows(TRAIN), NUMBERS[TRAIN])
        assert model.model_ == whole.model_


def test_weights_of_a_shared_table_are_positive():
    with pytest.raises(InvalidInput, match="row 3"):
        SharedTable(FEW, np.where(np.arange(N) == 3, 0.0, 1.0))
