"""Parameters as JSON: every type comes back, and hostile JSON gives InvalidFile only."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB

import spinney
from spinney.errors import CannotSave, InvalidFile
from spinney.io.parameters import decode, encode
from spinney.resampling import Folds

PLAIN = [
    None,
    True,
    False,
    0,
    -(2**63),
    2**64 - 1,
    0.1,
    -0.0,
    5e-324,
    1.7e308,
    math.inf,
    -math.inf,
    "",
    "text",
    "größe \U0001f333",
    "$float",
    "0x10",
    [],
    [1, [2.5, "a"], None],
    (),
    (1, (2, "b")),
    {},
    {"a": 1, 2: "b", True: 0.5, None: [1]},
    {(1, 2): {"x": (3,)}},
    set(),
    [{2, 0, 1}, {3}],
]


def through_json(value):
    return decode(json.loads(json.dumps(encode(value, "p"), allow_nan=False)))


def same(one, two):
    return repr(one) == repr(two) and type(one) is type(two)


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_value_comes_back_with_its_type(value):
    assert same(through_json(value), value)


def test_nan_comes_back():
    assert math.isnan(through_json(float("nan")))


nested = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(nested)
def test_any_nesting_of_plain_values_comes_back(value):
    assert same(through_json(value), value)


@pytest.mark.parametrize(
    "value", [np.int64(-3), np.uint8(7), np.float32(0.5), np.float64(1e-9), np.bool_(True)]
)
def test_numpy_scalars_come_back_as_the_same_number(value):
    assert through_json(value) == value


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, 2, 3]),
        np.array([[0.5, np.inf], [-0.0, 2.0]]),
        np.array([True, False]),
        np.array([], dtype=np.float32),
        np.arange(4, dtype=np.uint16),
    ],
    ids=lambda array: array.dtype.str,
)
def test_arrays_come_back_with_their_dtype(array):
    again = through_json(array)
    assert again.dtype == array.dtype
    assert np.array_equal(again, array)


def test_arrays_of_text_come_back_as_lists_whose_size_the_file_pays_for():
    assert through_json(np.array(["a", "größe"])) == ["a", "größe"]
    with pytest.raises(InvalidFile):
        decode({"$array": ["<U1024", [""] * 1000]})


def test_empty_array_of_two_dimensions_comes_back_with_its_shape():
    assert through_json(np.empty((3, 0))).shape == (3, 0)


@pytest.mark.parametrize("bits", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generator_goes_on_where_it_was(bits):
    generator = np.random.Generator(getattr(np.random, bits)(7))
    generator.normal(size=5)
    generator.integers(0, 7, dtype=np.int32)  # leaves half a draw behind
    again = through_json(generator)
    assert type(again) is np.random.Generator
    assert np.array_equal(again.integers(0, 100, 50), generator.integers(0, 100, 50))
    assert np.array_equal(again.normal(size=50), generator.normal(size=50))


def test_legacy_generator_goes_on_where_it_was_in_the_middle_of_a_pair():
    generator = np.random.RandomState(7)
    generator.normal()  # the second of the pair is kept for later
    again = through_json(generator)
    assert type(again) is np.random.RandomState
    assert np.array_equal(again.normal(size=51), generator.normal(size=51))


def test_legacy_generator_over_another_bit_generator_comes_back():
    generator = np.random.RandomState(np.random.PCG64(7))
    again = through_json(generator)
    assert np.array_equal(again.randint(0, 100, 20), generator.randint(0, 100, 20))


@pytest.mark.parametrize(
    "value",
    [
        object(),
        frozenset({1, 2}),
        b"bytes",
        1j,
        lambda: 1,
        np.array([object()]),
        np.dtype("f8"),
        int,
    ],
)
def test_value_without_a_safe_form_is_refused_by_name(value):
    with pytest.raises(CannotSave, match=r"max_depth is of class \w+, .* Set it to a number"):
        encode(value, "max_depth")
    with pytest.raises(CannotSave, match=r"max_depth is of class \w+, .* Set it to a number"):
        encode([{"deep": value}], "max_depth")


def test_estimators_of_ours_come_back_with_their_parameters():
    tree = spinney.DecisionTreeClassifier(max_depth=3, class_weight={"a": 2.0}, random_state=3)
    nested = spinney.AdaBoostClassifier(spinney.AdaBoostClassifier(tree), n_estimators=4)
    again = through_json([tree, {"inner": nested}])
    assert repr(again[0].get_params()) == repr(tree.get_params())
    assert type(again[1]["inner"].estimator.estimator) is spinney.DecisionTreeClassifier
    assert repr(again[1]["inner"]) == repr(nested)


def test_what_an_estimator_has_learnt_is_no_parameter():
    fitted = spinney.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(through_json(fitted), "model_")


def test_other_estimators_have_no_form():
    class Local(spinney.DecisionTreeClassifier):
        pass

    Local.__name__ = "DecisionTreeClassifier"
    for stranger in (GaussianNB(), Local()):
        with pytest.raises(CannotSave, match=r"estimator is of class \w+, .* one of Spinney's"):
            encode(stranger, "estimator")
    with pytest.raises(CannotSave, match="estimator__class_weight is of class object"):
        encode(spinney.DecisionTreeClassifier(class_weight=object()), "estimator")


def test_linear_estimators_and_splitters_are_their_arguments():
    for plain in (
        LogisticRegression(C=0.25, class_weight={0: 1.0, 1: 2.0}),
        RidgeCV(alphas=(0.5, 1.0)),
        TimeSeriesSplit(3, gap=2),
        StratifiedKFold(4, shuffle=True, random_state=3),
        Folds(3, stratified=True, random_state=1),
    ):
        again = through_json(plain)
        assert type(again) is type(plain)
        assert repr(again) == repr(plain)


HOSTILE = [
    {"$linear": ["LinearRegression", {"fit_intercept": "perhaps"}]},
    {"$linear": ["LogisticRegression", {"C": -1.0}]},
    {"$linear": ["LogisticRegressionCV", {}]},
    {"$linear": ["__import__", {}]},
    {"$linear": ["LinearRegression", {"more": 1}]},
    {"$linear": "LinearRegression"},
    {"$splitter": ["KFold", {"n_splits": 1}]},
    {"$splitter": ["TimeSeriesSplit", {"more": 1}]},
    {"$splitter": ["PredefinedSplit", {}]},
    {"$splitter": [["KFold"], {}]},
    {"$splitter": ["KFold", 5]},
    {"a": 1, "b": 2},
    {},
    {"$import": "os"},
    {"$float": "1e5"},
    {"$float": None},
    {"$float": ["nan"]},
    {"$tuple": 5},
    {"$tuple": None},
    {"$dict": [[1, 2, 3]]},
    {"$dict": [1]},
    {"$dict": [[[], 1]]},
    {"$dict": [[{"$dict": []}, 1]]},
    {"$dict": [[{"$array": ["<i8", [1]]}, 1]]},
    {"$array": ["<i8"]},
    {"$array": ["O", [1]]},
    {"$array": ["V8", [1]]},
    {"$array": ["M8[s]", [1]]},
    {"$array": ["<U1000000000", ["a"]]},
    {"$array": ["<i8", ["a"]]},
    {"$array": ["<i8", [[1], [1, 2]]]},
    {"$array": ["|i1", [300]]},
    {"$array": ["<i8", [{"$generator": []}]]},
    {"$array": [[1], [1]]},
    {"$array": ["i8,i8", [1]]},
    {"$array": ["(1000000000,)i8", []]},
    {"$array": ["nonsense", []]},
    {"$generator": ["Generator", 5]},
    {"$generator": ["Generator", {"$dict": []}]},
    {"$generator": ["Generator", {"$dict": [["bit_generator", "os"]]}]},
    {"$generator": ["Generator", {"$dict": [["bit_generator", "PCG64"]]}]},
    {"$generator": ["Generator", {"$dict": [["bit_generator", "PCG64"], ["state", 3]]}]},
    {"$generator": ["Generator", {"$dict": [["bit_generator", []]]}]},
    {"$generator": ["Nothing", None]},
    {"$generator": None},
    {"$estimator": None},
    {"$estimator": []},
    {"$estimator": ["DecisionTreeClassifier"]},
    {"$estimator": ["DecisionTreeClassifier", None]},
    {"$estimator": ["DecisionTreeClassifier", [["max_depth", 2]]]},
    {"$estimator": ["DecisionTreeClassifier", {"max_dept": 2}]},
    {"$estimator": ["DecisionTreeClassifier", {"max_depth": -2}]},
    {"$estimator": ["DecisionTreeClassifier", {"self": 2}]},
    {"$estimator": ["DecisionTreeClassifier", {"max_depth": {"$import": "os"}}]},
    {"$estimator": ["DecisionTreeClassifier", {}, {}]},
    {"$estimator": ["load", {"path": "/etc/passwd"}]},
    {"$estimator": ["save", {}]},
    {"$estimator": ["__getattr__", {"name": "os"}]},
    {"$estimator": ["importlib", {}]},
    {"$estimator": ["sklearn.svm.SVC", {}]},
    {"$estimator": [["DecisionTreeClassifier"], {}]},
    {"$estimator": [None, {}]},
    {"$estimator": ["AdaBoostClassifier", {"estimator": {"$estimator": ["os", {}]}}]},
    {"$estimator": ["AdaBoostClassifier", {"estimator": 7}]},
]


@pytest.mark.parametrize("value", HOSTILE, ids=json.dumps)
def test_hostile_json_is_an_invalid_file_and_nothing_else(value):
    with pytest.raises(InvalidFile):
        decode(value)
    with pytest.raises(InvalidFile):
        decode([{"$tuple": [value]}])


def altered_generator(generator, change):
    encoded = encode(generator, "random_state")
    state = dict(encoded["$generator"][1]["$dict"])
    change(state)
    pairs = [[key, value] for key, value in state.items()]
    return {"$generator": [encoded["$generator"][0], {"$dict": pairs}]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("state", None),
        ("state", {"$dict": [["state", "0x1"], ["inc", -1]]}),
        ("state", {"$dict": [["state", "0x" + "f" * 100], ["inc", "0x1"]]}),
        ("state", {"$dict": [["state", "0xzz"], ["inc", 1]]}),
        ("has_uint32", "yes"),
        ("uinteger", -1),
        ("uinteger", 2**63),
    ],
)
def test_damaged_state_of_a_generator_is_an_invalid_file_or_a_generator(key, value):
    data = altered_generator(np.random.default_rng(1), lambda state: state.update({key: value}))
    try:
        decode(data).integers(0, 9)
    except InvalidFile:
        return


@pytest.mark.parametrize("position", [-1, 625, 2**40, 10**9])
def test_position_outside_the_state_of_mt19937_is_refused(position):
    """The position is an index into 624 words: a wrong one would read foreign memory."""

    def change(state):
        inner = dict(state["state"]["$dict"])
        inner["pos"] = position
        state["state"] = {"$dict": [[key, value] for key, value in inner.items()]}

    for generator in (np.random.RandomState(1), np.random.Generator(np.random.MT19937(1))):
        with pytest.raises(InvalidFile):
            decode(altered_generator(generator, change))
