# ruff: noqa: PD011 - Column.values is our own

import numpy as np
import pandas as pd
import pytest

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.errors import InvalidInput, InvalidInputType

FRAME = pd.DataFrame(
    {"n": [3.0, np.nan, 1.0], "b": [True, False, True], "t": ["u", "v", "u"], "m": [5, 5, 6]}
)


def kinds(chosen, X=FRAME):
    schema, _ = FeatureSchema.learn(read_table(X), categorical_features=chosen)
    return "".join(str(kind)[0] for kind in schema.kinds)


def test_types_decide_by_default():
    assert kinds("from_dtype") == "nbcn"


@pytest.mark.parametrize(
    "chosen",
    [[True, False, False, True], np.array([True, False, False, True]), [0, 3], ("n", "m"),
     np.array([3, 0]), pd.Index(["m", "n"]), ["n", "t", "m"]],
)  # fmt: skip
def test_features_are_chosen_by_mask_position_or_name(chosen):
    assert kinds(chosen) == "cbcc"


def test_numbers_become_number_levels_and_missing_stays_missing():
    schema, table = FeatureSchema.learn(read_table(FRAME), categorical_features=["n", "b"])
    assert schema.levels[0].values == (1, 3)
    assert table.columns[0].values.tolist() == [1, -1, 0]
    assert schema.levels[1].values == (False, True)


def test_nothing_chosen_changes_nothing():
    assert kinds([]) == "nbcn"
    assert kinds([False] * 4) == "nbcn"


def test_none_means_no_categorical_feature_at_all():
    frame = pd.DataFrame({"c": pd.Categorical([2, 1, None]), "n": [1.0, 2.0, 3.0]})
    schema, table = FeatureSchema.learn(read_table(frame), categorical_features=None)
    assert [str(kind) for kind in schema.kinds] == ["numeric", "numeric"]
    np.testing.assert_array_equal(table.columns[0].values, [2, 1, np.nan])
    with pytest.raises(InvalidInput, match="'t' holds text such as 'u'"):
        kinds(None)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (["mm"], "'mm'.*Did you mean 'm'"),
        ([4], "holds 4, but X has 4 features"),
        ([-1], "holds -1"),
        ([True, False], "mask of 2 booleans, but X has 4"),
        ("all", "'all'.*from_dtype"),
        ([1.5], "1.5"),
        ([0, "n"], "names of features"),
        ({"n": 1}, "names of features"),
    ],
)
def test_bad_choices_are_refused(chosen, words):
    with pytest.raises(InvalidInput, match=words):
        kinds(chosen)


def test_names_need_a_table_with_names():
    with pytest.raises(InvalidInput, match="no feature names"):
        kinds(["a"], np.ones((2, 2)))


def test_instants_cannot_be_categories():
    with pytest.raises(InvalidInputType, match="'when' is a datetime"):
        kinds([0], pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}))
