import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils.class_weight import compute_class_weight

from spinney.data.target import read_labels
from spinney.data.weights import class_weights, read_weights, weights_per_class
from spinney.errors import InvalidInput, InvalidInputType


@pytest.mark.parametrize(
    "weights",
    [
        [1, 0, 2],
        np.array([1, 0, 2], np.float32),
        np.array([1, 0, 2], object),
        [decimal.Decimal(1), 0, 2],
        pd.Series([1, 0, 2], index=[9, 8, 7]),
        pd.Series([1, 0, 2], dtype="Int64"),
        pl.Series([1, 0, 2]),
        pa.chunked_array([[1, 0, 2]]),
    ],
)
def test_weights_of_every_source(weights):
    got = read_weights(weights, 3)
    assert got.dtype == np.float64
    assert got.tolist() == [1, 0, 2]


def test_none_stays_none_and_numbers_count_for_every_row():
    assert read_weights(None, 3) is None
    assert read_weights(2, 3).tolist() == [2, 2, 2]
    assert read_weights(np.float32(0.5), 2).tolist() == [0.5, 0.5]


def test_the_input_is_copied():
    weights = np.ones(3)
    read_weights(weights, 3)[0] = 7
    assert weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([0, 0, 0], InvalidInput, ".*weight.*zero.*"),
        (0, InvalidInput, "zero"),
        ([1, -2, 1], InvalidInput, "Row 1 of sample_weight is -2.0"),
        (-1, InvalidInput, "negative"),
        ([1, np.nan, 1], InvalidInput, "sample_weight contains NaN.*row 1"),
        ([1, 1, np.inf], InvalidInput, "Row 2.*infinity"),
        ([1, None, 1], InvalidInput, "NaN.*row 1"),
        (pl.Series([1, 1, None]), InvalidInput, "NaN.*row 2"),
        ([1, 1], InvalidInput, r"sample_weight.shape == \(2,\), expected \(3,\)!"),
        (np.ones((3, 2)), InvalidInput, "Sample weights must be 1D array or scalar"),
        (np.ones((3, 2), object), InvalidInput, "1D"),
        (["a", "b", "c"], InvalidInputType, "expected numbers"),
        (["1", "2", "3"], InvalidInputType, "expected numbers"),
        (np.array(["1", "2", "3"], object), InvalidInputType, "expected numbers"),
        ([1j, 1, 1], InvalidInput, "Complex data not supported"),
        ("balanced", InvalidInputType, "sample_weight is a str"),
        ({0: 1}, InvalidInputType, "sample_weight is a dict"),
    ],
)
def test_bad_weights_are_refused(weights, error, words):
    with pytest.raises(error, match=words):
        read_weights(weights, 3)


def test_balanced_agrees_with_scikit_learn():
    y = np.array(["a", "b", "a", "a", "c"])
    labels = read_labels(y, 5)
    for weights in (None, np.array([1.0, 2, 3, 4, 5])):
        expected = compute_class_weight(
            "balanced", classes=labels.classes, y=y, sample_weight=weights
        )
        np.testing.assert_allclose(weights_per_class("balanced", labels, weights), expected)


def test_balanced_counts_rows_of_weight_zero_as_absent():
    labels = read_labels(["a", "b", "c"], 3)
    got = weights_per_class("balanced", labels, np.array([1.0, 3.0, 0.0]))
    np.testing.assert_allclose(got, [2, 2 / 3, 0])


def test_classes_left_out_weigh_one_and_classes_of_other_folds_do_not_matter():
    labels = read_labels(["cat", "dog", "cat"], 3)
    assert weights_per_class({"cat": 3}, labels, None).tolist() == [3, 1]
    assert weights_per_class({"cat": 3, "dog": 2, "emu": 5}, labels, None).tolist() == [3, 2]


def test_class_weights_multiply_row_weights():
    labels = read_labels([0, 1, 1], 3)
    assert class_weights(None, labels, None) is None
    assert class_weights({0: 1, 1: 1}, labels, None) is None
    assert class_weights({0: 3, 1: 1}, labels, None).tolist() == [3, 1, 1]
    assert class_weights({0: 3, 1: 2}, labels, np.array([1.0, 0, 5])).tolist() == [3, 0, 10]
    weights = np.array([1.0, 0, 5])
    assert class_weights(None, labels, weights) is weights


def test_a_class_of_another_type_is_told_apart():
    labels = read_labels([0, 1], 2)
    with pytest.raises(InvalidInput, match=r"Not in y: '0'\. y has 0, which is int, not str"):
        class_weights({"0": 1}, labels, None)


@pytest.mark.parametrize(
    ("class_weight", "words"),
    [
        ({"cat": 1, "dogs": 2}, "Not in y: 'dogs'. Did you mean 'dog'.*Not in class_weight: 'dog'"),
        ({"cat": -1, "dog": 1}, r"class_weight\['cat'\] is -1"),
        ({"cat": "1", "dog": 1}, "finite number"),
        ({"cat": float("nan"), "dog": 1}, "finite number"),
        ({"cat": 0, "dog": 0}, "zero"),
        ("balance", "Did you mean 'balanced'"),
        (3, "expected None, 'balanced' or a dict"),
    ],
)
def test_bad_class_weights_are_refused(class_weight, words):
    labels = read_labels(["cat", "dog"], 2)
    with pytest.raises(InvalidInput, match=words):
        class_weights(class_weight, labels, None)


def test_numpy_keys_name_classes():
    labels = read_labels(np.array([0, 1]), 2)
    assert weights_per_class({np.int64(0): 2, 1.0: 3}, labels, None).tolist() == [2, 3]
