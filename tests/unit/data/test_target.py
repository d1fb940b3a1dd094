import decimal
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from spinney.data.sources.vector import column_names
from spinney.data.target import Labels, Target, read_labels, read_numbers
from spinney.errors import InvalidInput, InvalidInputType, InvalidModel

TEXT = ["b", "a", "b"]


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        (np.array([3, 1, 3], np.int16), "i2"),
        (np.array([3, 1, 3], np.uint64), "u8"),
        (np.array([2**60 + 1, 2**60, 2**60 + 1]), "i8"),
        (np.array([2.0, 1.0, 2.0], np.float32), "f4"),
        (np.array([True, False, True]), "?"),
        (np.array(TEXT), "U1"),
        (np.array([3, 1, 3], ">i4"), "i4"),
        ([2, 1, 2], "i8"),
    ],
)
def test_classes_are_what_unique_gives(y, dtype):
    labels = read_labels(y, 3)
    np.testing.assert_array_equal(labels.classes, np.unique(y))
    assert labels.classes.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(labels.classes[labels.codes], y)
    assert labels.codes.dtype == np.int32


@pytest.mark.parametrize(
    "y",
    [
        np.array(TEXT, object),
        pd.Series(TEXT),
        pd.Series(TEXT, dtype="string"),
        pd.Series(TEXT, dtype="string[pyarrow]"),
        pd.Series(TEXT, dtype=object),
        pd.Series(TEXT, dtype="category"),
        pd.Series(pd.Categorical(TEXT, categories=["b", "zoo", "a"])),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series(TEXT, dtype=pl.Enum(["b", "a"])),
        pa.chunked_array([TEXT]),
        pa.array(TEXT),
        pa.chunked_array([TEXT]).dictionary_encode(),
        np.array(TEXT, np.dtypes.StringDType()),
        [np.str_(text) for text in TEXT],
    ],
)
def test_text_labels_of_every_source(y):
    labels = read_labels(y, 3)
    assert labels.classes.tolist() == ["a", "b"]
    assert labels.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        (pd.Series([3, 1, 3], dtype="Int32"), "i4"),
        (pd.Series([3, 1, 3], dtype="category"), "i8"),
        (pd.Series([3, 1, 3], dtype="int64[pyarrow]"), "i8"),
        (pd.Series([True, False, True], dtype="boolean"), "?"),
        (pl.Series([3, 1, 3], dtype=pl.UInt8), "u1"),
        (pl.Series([True, False, True]), "?"),
        (pa.chunked_array([[3, 1, 3]]), "i8"),
        (pa.chunked_array([[True, False, True]]), "?"),
        (pa.chunked_array([[3, 1, 3]]).dictionary_encode(), "i8"),
        (np.array([3, 1, 3], object), "i8"),
        (np.array([True, False, True], object), "?"),
        (np.array([3.0, 1.0, 3.0], object), "f8"),
        (np.array([3, 1.0, 3], object), "f8"),
    ],
)
def test_number_labels_keep_their_type(y, dtype):
    labels = read_labels(y, 3)
    assert labels.classes.dtype == np.dtype(dtype)
    assert labels.codes.tolist() == [1, 0, 1]


def test_column_vectors_warn_in_scikit_learns_words():
    words = "A column-vector y was passed when a 1d array was expected"
    for y in ([[1], [0]], pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]})):
        with pytest.warns(DataConversionWarning, match=words):
            assert read_labels(y, 2).codes.tolist() == [1, 0]
    with pytest.warns(DataConversionWarning, match=words):
        read_numbers([[1], [0]], 2, multi_output=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_numbers([[1], [0]], 2).shape == (2,)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, InvalidInput, "Tree requires y to be passed, but the target y is None"),
        ([1, 2], InvalidInput, r"inconsistent numbers of samples: \[3, 2\]"),
        ([1.0, np.nan, 0], InvalidInput, "Input y contains NaN.*row 1"),
        ([1.0, 0, np.inf], InvalidInput, "Input y contains infinity or a value too large.*row 2"),
        ([0.5, 1, 2], InvalidInput, "Unknown label type: continuous. Row 0"),
        (["a", None, "b"], InvalidInput, "Input y contains NaN.*row 1"),
        (["a", 1, "b"], InvalidInputType, "Unknown label type.*'a', 1"),
        ([True, 5, 6.5j], InvalidInput, "Complex data not supported"),
        (np.array([True, 5, 7], object), InvalidInputType, "Unknown label type"),
        (np.array([{}, 1, 2], object), InvalidInputType, "Unknown label type"),
        (np.array(["2020", "2021", "2022"], "M8[D]"), InvalidInputType, "Unknown label type"),
        (np.array([b"a", b"b", b"c"]), InvalidInputType, "Unknown label type"),
        (np.ones((3, 2)), InvalidInput, r"y should be a 1d array.*\(3, 2\)"),
        (np.ones((3, 1, 1)), InvalidInput, "y should be a 1d array"),
        (5, InvalidInput, "y should be a 1d array"),
        ("abc", InvalidInputType, "y is a str"),
        ([[1], [2, 3], [4]], InvalidInput, "different length"),
        (sp.csr_array(np.ones((3, 1))), InvalidInputType, "Sparse"),
        (pd.Series([1, None, 2], dtype="Int64"), InvalidInput, "NaN.*row 1"),
        (pd.Series(["a", None, "b"]), InvalidInput, "NaN.*row 1"),
        (pl.Series(["a", "b", None]), InvalidInput, "NaN.*row 2"),
        (pa.chunked_array([[1, 2, None]]), InvalidInput, "NaN.*row 2"),
        (np.ma.array([1, 2, 3], mask=[0, 0, 1]), InvalidInput, "NaN.*row 2"),
        (["\ud800", "a", "b"], InvalidInput, "surrogate"),
        (np.array(["\ud800", "a", "b"], object), InvalidInput, "surrogate"),
        (np.array([2**70, 1, 2], object), InvalidInput, "64 bits"),
        (pl.LazyFrame({"y": [1, 2, 3]}), InvalidInputType, "collect"),
    ],
)
def test_bad_labels_are_refused(y, error, words):
    with pytest.raises(error, match=words):
        read_labels(y, 3, "Tree")


def test_labels_of_chosen_rows_forget_absent_classes():
    labels = read_labels(["a", "b", "c", "a"], 4).take(np.array([True, False, True, True]))
    assert labels.classes.tolist() == ["a", "c"]
    assert labels.codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5, 0],
        np.array([1, 2.5, 0], object),
        np.array([1, 2.5, 0], ">f4"),
        [decimal.Decimal(1), decimal.Decimal("2.5"), 0],
        pd.Series([1, 2.5, 0], dtype="Float64"),
        pd.Series([1, 2.5, 0], dtype="double[pyarrow]"),
        pl.Series([1.0, 2.5, 0.0]),
        pl.Series([decimal.Decimal(1), decimal.Decimal("2.5"), decimal.Decimal(0)]),
        pa.chunked_array([[1, 2.5, 0]]),
        pa.array([decimal.Decimal(1), decimal.Decimal("2.5"), decimal.Decimal(0)]),
    ],
)
def test_numbers_of_every_source(y):
    got = read_numbers(y, 3)
    assert got.dtype == np.float64
    assert got.tolist() == [1, 2.5, 0]


def test_several_outputs_keep_their_shape_and_names():
    frame = pd.DataFrame({"u": [1, 2], "v": [0.5, 1.5]})
    for y in (frame, pl.from_pandas(frame), frame.to_numpy(), frame.to_numpy().astype(object)):
        assert read_numbers(y, 2).tolist() == [[1, 0.5], [2, 1.5]]
    assert column_names(frame) == ("u", "v")
    assert column_names(pl.from_pandas(frame)) == ("u", "v")
    assert column_names(frame.to_numpy()) is None
    assert column_names(pd.DataFrame([[1]])) is None
    with pytest.raises(InvalidInput, match="1d array"):
        read_numbers(frame, 2, multi_output=False)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (None, InvalidInput, "requires y to be passed, but the target y is None"),
        (["1", "2"], InvalidInputType, "string"),
        (np.array(["1", "2"], object), InvalidInputType, "string"),
        ([1.0, np.nan], InvalidInput, "Input y contains NaN"),
        ([1.0, np.inf], InvalidInput, "Input y contains infinity"),
        ([[1, 2], [np.nan, 1]], InvalidInput, "NaN.*row 1"),
        ([1, None], InvalidInput, "NaN.*row 1"),
        ([1, 2, 3], InvalidInput, r"inconsistent numbers of samples: \[2, 3\]"),
        ([1j, 2], InvalidInput, "Complex data not supported"),
        (np.array(["2020", "2021"], "M8[D]"), InvalidInputType, "instant"),
        (np.ones((2, 2, 2)), InvalidInput, "1d array"),
        (np.array([np.longdouble("1e4000"), 1]), InvalidInput, "infinity"),
    ],
)
def test_bad_numbers_are_refused(y, error, words):
    with pytest.raises(error, match=words):
        read_numbers(y, 2)


def round_trip(target):
    meta, arrays = target.to_state()
    return Target.from_state(json.loads(json.dumps(meta)), arrays)


@pytest.mark.parametrize(
    "classes",
    [
        *[np.array([1, 2, 5], dtype) for dtype in ("i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8")],
        np.array([False, True]),
        np.array(["a", "bé", "日本"]),
        np.array(["a"], "U7"),
        np.array(["", "a\0b"], object),
    ],
)
def test_classes_keep_their_type_in_a_file(classes):
    again = round_trip(Target.classification(classes))
    assert again.task == "classification"
    assert again.n_outputs == len(classes)
    assert again.classes.dtype == classes.dtype
    np.testing.assert_array_equal(again.classes, classes)


def test_a_text_type_far_wider_than_its_labels_is_narrowed_in_the_file():
    classes = np.array(["a", "b"], "U1000000")
    assert round_trip(Target.classification(classes)).classes.dtype == np.dtype("U1")


def test_regression_targets_round_trip():
    again = round_trip(Target.regression(2, ("u", "v")))
    assert (again.task, again.classes, again.n_outputs) == ("regression", None, 2)
    assert again.output_names == ("u", "v")


def test_several_labels_round_trip_with_their_types():
    several = (np.array(["a", "bé"]), np.array([1, 5], "i2"), np.array([False, True]))
    again = round_trip(Target.multi_classification(several))
    assert (again.task, again.n_outputs, again.n_targets) == ("multi_classification", 6, 3)
    for kept, given in zip(again.label_classes, several, strict=True):
        assert kept.dtype == given.dtype
        np.testing.assert_array_equal(kept, given)
    assert again.same_as(Target.multi_classification(several))
    assert not again.same_as(Target.multi_classification(several[::-1]))


META, ARRAYS = Target.classification(np.array(["a", "b"])).to_state()
NUMBER_META, NUMBER_ARRAYS = Target.classification(np.array([1.0, 2.0])).to_state()
REGRESSION, _ = Target.regression().to_state()
SEVERAL_META, SEVERAL_ARRAYS = Target.multi_classification(
    (np.array(["a", "b"]), np.array([1.0, 2.0]))
).to_state()


@pytest.mark.parametrize(
    ("meta", "arrays"),
    [
        ({}, {}),
        (META, {}),
        (META, {"class_offsets": ARRAYS["class_offsets"]}),
        ({**META, "task": "magic"}, ARRAYS),
        ({**META, "task": 3}, ARRAYS),
        ({**META, "task": "regression"}, ARRAYS),
        ({**META, "n_outputs": 3}, ARRAYS),
        ({**META, "classes_dtype": "O"}, ARRAYS),
        ({**META, "classes_dtype": "<U999999999"}, ARRAYS),
        ({**META, "classes_dtype": "<U0"}, ARRAYS),
        ({**META, "classes_dtype": "<i8"}, ARRAYS),
        ({**META, "classes_dtype": 8}, ARRAYS),
        ({**META, "classes_dtype": "|O"}, ARRAYS),
        (META, {**ARRAYS, "class_text": np.frombuffer(b"ba", np.uint8)}),
        (META, {**ARRAYS, "class_text": np.frombuffer(b"\0a", np.uint8)}),
        (NUMBER_META, {"classes": np.array([2.0, 1.0])}),
        (NUMBER_META, {"classes": np.array([1.0, np.nan])}),
        (NUMBER_META, {"classes": np.array([1, 2])}),
        (NUMBER_META, {"classes": np.ones((1, 2))}),
        (NUMBER_META, {"classes": np.empty(0)}),
        ({**NUMBER_META, "classes_dtype": "|b1"}, {"classes": np.array([0, 7], np.uint8)}),
        (SEVERAL_META, {}),
        (SEVERAL_META, ARRAYS),
        ({**SEVERAL_META, "task": "classification"}, SEVERAL_ARRAYS),
        ({**SEVERAL_META, "task": "regression"}, SEVERAL_ARRAYS),
        ({**SEVERAL_META, "n_outputs": 3}, SEVERAL_ARRAYS),
        ({**SEVERAL_META, "classes_dtype": []}, {}),
        ({**SEVERAL_META, "classes_dtype": ["<U1"], "n_outputs": 2}, SEVERAL_ARRAYS),
        ({**SEVERAL_META, "classes_dtype": ["<U1", None]}, SEVERAL_ARRAYS),
        ({**SEVERAL_META, "classes_dtype": [["<U1"], "<f8"]}, SEVERAL_ARRAYS),
        ({**SEVERAL_META, "classes_dtype": None}, {}),
        (SEVERAL_META, {**SEVERAL_ARRAYS, "2/classes": np.array([1.0])}),
        (SEVERAL_META, {**SEVERAL_ARRAYS, "1/classes": np.array([2.0, 1.0])}),
        (SEVERAL_META, {**SEVERAL_ARRAYS, "1/classes": np.array([1.0])}),
        ({**META, "task": "multi_classification"}, ARRAYS),
        ({**REGRESSION, "n_outputs": 0}, {}),
        ({**REGRESSION, "n_outputs": True}, {}),
        ({**REGRESSION, "n_outputs": 1.0}, {}),
        ({**REGRESSION, "output_names": ["a", "b"]}, {}),
        ({**REGRESSION, "output_names": [1]}, {}),
        ({**REGRESSION, "output_names": "a"}, {}),
    ],
)
def test_damaged_targets_are_refused(meta, arrays):
    with pytest.raises(InvalidModel):
        Target.from_state(meta, arrays)


def test_labels_hold_what_they_are_given():
    labels = Labels(np.array([1]), np.array([0], np.int32))
    assert labels.take(slice(None)).classes.tolist() == [1]
