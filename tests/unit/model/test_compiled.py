"""A compiled model says what the estimator says, of rows in every form; and quick rows too."""

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from spinney import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    FunctionalGradientBoostingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    KNORAUClassifier,
    RandomPatchesRegressor,
    RandomSubspaceClassifier,
    RandomTreesEmbedding,
    RobustBoostClassifier,
)
from spinney.errors import InvalidInput, SpinneyError
from spinney.model import Committee
from spinney.model.compiled import CompiledModel

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(400, 5))
NUMBERS[::7, 2] = np.nan
TARGET = NUMBERS[:, 0] + np.nan_to_num(NUMBERS[:, 2]) * NUMBERS[:, 1]


def mixed_frame():
    frame = pd.DataFrame(NUMBERS, columns=list("abcde"))
    frame["flag"] = RNG.random(400) < 0.5
    frame["count"] = RNG.integers(0, 9, 400)
    frame["kind"] = pd.Categorical(RNG.choice(["ash", "oak", "elm"], 400))
    frame["text"] = RNG.choice(["red", "blue", None], 400)
    return frame


FRAME = mixed_frame()
LABELS = np.where(TARGET + (FRAME["kind"] == "oak") > 0, "yes", "no")


@pytest.fixture(scope="module")
def classifier():
    return GradientBoostingClassifier(max_iter=10, min_samples_leaf=5).fit(FRAME, LABELS)


@pytest.fixture(scope="module")
def regressor():
    return GradientBoostingRegressor(max_iter=10, min_samples_leaf=5).fit(NUMBERS, TARGET)


def test_a_numpy_row_gives_the_number_of_predict(regressor):
    compiled = regressor.compile()
    for row, expected in zip(NUMBERS[:50], regressor.predict(NUMBERS)[:50], strict=True):
        assert compiled(row) == expected
        assert compiled(row.tolist()) == expected
        assert compiled(tuple(row)) == expected
        assert isinstance(compiled(row), float)


def test_every_type_of_numbers_is_read(regressor):
    compiled = regressor.compile()
    whole = np.arange(5)
    expected = regressor.predict(whole[np.newaxis].astype(float))[0]
    kinds = [np.int8, np.int64, np.float16, np.float32, np.float64, ">f8", object]
    for kind in kinds:
        assert compiled(whole.astype(kind)) == expected
    assert compiled(np.arange(10.0)[::2] / 2) == expected  # not contiguous


def test_a_mapping_is_read_by_name(classifier):
    compiled = classifier.compile()
    assert compiled.classes.tolist() == ["no", "yes"]
    expected = classifier.predict_proba(FRAME)
    for i in range(0, 400, 13):
        row = FRAME.iloc[i].to_dict()
        assert np.array_equal(compiled(row), expected[i])
        backwards = dict(reversed(row.items()))
        assert np.array_equal(compiled(backwards), expected[i])


def test_a_row_of_a_frame_is_a_row(classifier, regressor):
    expected = classifier.predict_proba(FRAME)
    assert np.array_equal(classifier.compile()(FRAME.iloc[7]), expected[7])
    masked = np.ma.masked_invalid(NUMBERS[0])  # its third number is missing
    assert regressor.compile()(masked) == regressor.predict(NUMBERS[:1])[0]


def test_a_constant_is_compiled_and_predicted_in_slices():
    constant = GradientBoostingRegressor().fit(NUMBERS, np.ones(400))
    assert (constant.predict(NUMBERS) == 1.0).all()
    assert constant.compile()(NUMBERS[0]) == 1.0


def test_missing_in_every_spelling_and_unseen_categories(classifier):
    compiled = classifier.compile()
    row = FRAME.iloc[0].to_dict() | {"c": np.nan, "kind": None, "text": "green"}
    missing = FRAME.iloc[:1].assign(c=np.nan, kind=None, text=None)
    expected = classifier.predict_proba(missing)[0]
    for spelling in (None, np.nan, pd.NA, pd.NaT, float("nan"), np.float32("nan")):
        assert np.array_equal(compiled(row | {"c": spelling, "kind": spelling}), expected)


def test_a_table_is_answered_row_by_row(regressor, classifier):
    assert np.array_equal(regressor.compile()(NUMBERS), regressor.predict(NUMBERS))
    assert np.array_equal(classifier.compile()(FRAME), classifier.predict_proba(FRAME))


@pytest.mark.parametrize("unseen", ["missing", "error"])
def test_categories_that_are_numbers_are_read_like_a_table(unseen):
    draws = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "size": draws.normal(size=300),
            "kind": pd.Categorical(draws.integers(0, 6, 300)),
            "flag": pd.Categorical(draws.integers(0, 2, 300).astype(bool)),
        }
    )
    target = frame["size"] + 2 * (frame["kind"].astype(int) % 3) * frame["flag"].astype(int)
    fitted = GradientBoostingRegressor(max_iter=10, unseen=unseen).fit(frame, target)
    some = frame[:40]
    expected = fitted.predict(some)  # too many rows to be read one by one
    compiled, backwards = fitted.compile(), some[["flag", "kind", "size"]]
    kinds = some["kind"].astype(float)
    for i in range(40):
        plain = fitted.model_.quick_predictions(backwards[i : i + 1])
        assert plain is not None
        assert plain[0, 0] == expected[i]
        row = some.iloc[i].to_dict()
        assert compiled(row) == expected[i] == compiled(row | {"kind": kinds.iloc[i]})
    missing = some[:1].assign(kind=np.nan)
    assert fitted.predict(missing)[0] == compiled(missing.iloc[0].to_dict())
    strange = some.iloc[0].to_dict() | {"kind": 17}
    if unseen == "missing":
        assert compiled(strange) == compiled(strange | {"kind": None})
    else:
        with pytest.raises(InvalidInput, match="17"):
            compiled(strange)
    with pytest.raises(InvalidInput, match="9007199254740992 as a category"):
        compiled(strange | {"kind": 2**53})


def test_several_outputs_and_committees():
    many = DecisionTreeRegressor(max_depth=3).fit(NUMBERS, np.column_stack([TARGET, -TARGET]))
    assert np.array_equal(many.compile()(NUMBERS[3]), many.predict(NUMBERS[3:4])[0])
    models = [many.model_, many.model_]
    committee = Committee(models, [1.0, 3.0], combine="mean", policy=many.model_.policy)
    expected = committee.predictions(NUMBERS[3:4])[0]
    assert np.array_equal(CompiledModel(committee)(NUMBERS[3]), expected)


@pytest.mark.parametrize("through", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_answer_the_same(classifier, through):
    row = FRAME.iloc[5].to_dict()
    compiled = classifier.compile()
    assert np.array_equal(through(compiled)(row), compiled(row))


def test_many_threads_may_ask_at_once(classifier):
    compiled = classifier.compile()
    rows = [FRAME.iloc[i].to_dict() for i in range(40)]
    expected = [compiled(row).tolist() for row in rows]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(compiled, rows * 5))
    assert [answer.tolist() for answer in answers] == expected * 5


def test_wrong_rows_are_refused_with_a_remedy(regressor, classifier):
    with pytest.raises(InvalidInput, match="3 values, but the model has 5"):
        regressor.compile()(np.zeros(3))
    compiled = classifier.compile()
    row = FRAME.iloc[0].to_dict()
    with pytest.raises(InvalidInput, match="no value for 'kind'"):
        compiled({name: value for name, value in row.items() if name != "kind"})
    with pytest.raises(InvalidInput, match="does not know: 'extra'"):
        compiled(row | {"extra": 1})
    with pytest.raises(InvalidInput, match="does not know: 3, 'z'"):
        compiled(row | {"z": 1, 3: 3})
    for wrong in ({"a": "3"}, {"kind": 7}, {"a": 1j}, {"text": b"red"}):
        with pytest.raises(SpinneyError):
            compiled(row | wrong)
    with pytest.raises(SpinneyError):
        compiled("a row")


@pytest.mark.parametrize("n_rows", [1, 2, 16, 17])
def test_quick_rows_are_the_rows_of_the_table(classifier, regressor, n_rows):
    some = FRAME.iloc[10 : 10 + n_rows]
    expected = classifier.predict_proba(FRAME)[10 : 10 + n_rows]
    assert np.array_equal(classifier.predict_proba(some), expected)
    assert (classifier.model_.quick_predictions(some) is None) == (n_rows > 16)
    part = NUMBERS[10 : 10 + n_rows]
    assert np.array_equal(regressor.predict(part), regressor.predict(NUMBERS)[10 : 10 + n_rows])
    assert (regressor.model_.quick_predictions(part) is None) == (n_rows > 16)


@pytest.mark.parametrize(
    "change",
    [
        {"a": ["3"]},
        {"a": pd.Categorical([3.0])},
        {"kind": [7]},
        {"text": pd.to_datetime(["2024-01-01"])},
        {"a": [10**400]},
    ],
)
def test_what_is_not_plain_is_judged_as_a_table(classifier, change):
    """The same verdict for one row as for many."""
    one = FRAME.iloc[:1].assign(**change)
    many = pd.concat([one] * 20, ignore_index=True)
    outcomes = []
    for frame in (one, many):
        try:
            outcomes.append(classifier.predict_proba(frame)[0].tolist())
        except SpinneyError as problem:
            outcomes.append(type(problem))
    assert outcomes[0] == outcomes[1]


def test_an_error_for_unseen_categories_is_kept_for_single_rows():
    strict = GradientBoostingClassifier(max_iter=2, unseen="error").fit(FRAME, LABELS)
    unknown = FRAME.iloc[:1].assign(text="green")
    with pytest.raises(InvalidInput, match="not seen at fit: 'green'"):
        strict.predict(unknown)
    with pytest.raises(InvalidInput, match="not seen at fit: 'green'"):
        strict.compile()(unknown.iloc[0].to_dict())


def test_a_row_of_a_frame_without_names_is_read_by_position():
    frame = pd.DataFrame(NUMBERS)
    fitted = GradientBoostingRegressor(max_iter=3).fit(frame, TARGET)
    assert fitted.compile()(frame.iloc[5]) == fitted.predict(frame)[5]


def test_a_list_of_rows_is_a_table(regressor):
    compiled, expected = regressor.compile(), regressor.predict(NUMBERS)
    for n_rows in (1, 5, 7):  # five rows of five features, too
        rows = NUMBERS[:n_rows].tolist()
        assert np.array_equal(compiled(rows), expected[:n_rows])
        assert np.array_equal(compiled(list(map(tuple, rows))), expected[:n_rows])


MEMBERS_OF_OTHERS = [
    AdaBoostClassifier(SklearnTree(max_depth=1), n_estimators=4),
    AdaBoostRegressor(LinearRegression(), n_estimators=3, random_state=0),
    FunctionalGradientBoostingRegressor(LinearRegression(), n_estimators=3),
    RobustBoostClassifier(SklearnTree(max_depth=1), algorithm="martingale", n_levels=5),
    BaggingClassifier(LogisticRegression(), n_estimators=3, random_state=0),
    BaggingClassifier(LogisticRegression(), n_estimators=3, aggregation="hard", random_state=0),
    BaggingRegressor(LinearRegression(), n_estimators=3, random_state=0),
    BaggingRegressor(LinearRegression(), n_estimators=3, aggregation="median", random_state=0),
    RandomPatchesRegressor(LinearRegression(), n_estimators=3, random_state=0),
    RandomSubspaceClassifier(SklearnTree(), n_estimators=3, random_state=0),
    KNORAUClassifier([("tree", SklearnTree()), ("line", LogisticRegression())], random_state=0),
]


@pytest.mark.parametrize("ensemble", MEMBERS_OF_OTHERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("named", [True, False])
def test_members_of_other_libraries_are_asked_about_one_row(ensemble, named):
    X = FRAME[["a", "b", "count"]].astype(float) if named else NUMBERS[:, [0, 1]]
    is_classifier = hasattr(ensemble, "predict_proba")
    fitted = clone(ensemble).fit(X, LABELS if is_classifier else TARGET)
    predict = fitted.predict_proba if is_classifier else fitted.predict
    compiled = fitted.compile()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # members know the names they were fitted with
        for i in range(5):
            # One row as well: a product of matrices may be rounded otherwise for many.
            expected = predict(X[i : i + 1])[0]
            values = X.iloc[i] if named else X[i]
            names = X.columns if named else ["x0", "x1"]
            rows = [values, list(values), tuple(values), dict(zip(names, values, strict=True))]
            for row in rows:
                np.testing.assert_array_equal(compiled(row), expected)


def test_an_isolation_forest_says_its_score_and_an_embedding_nothing():
    forest = IsolationForest(n_estimators=5, random_state=0).fit(NUMBERS)
    assert forest.compile()(NUMBERS[3]) == -forest.score_samples(NUMBERS)[3]
    with pytest.raises(InvalidInput, match="Use transform"):
        RandomTreesEmbedding(n_estimators=2).fit(NUMBERS).compile()
