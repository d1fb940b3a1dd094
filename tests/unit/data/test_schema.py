# ruff: noqa: PD011 - Column.values is our own

import copy
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from spinney.data.intake import read_table
from spinney.data.schema import FeatureSchema
from spinney.errors import InvalidInput, InvalidInputType, InvalidModel, InvalidParameter

FRAME = pd.DataFrame(
    {
        "age": [1.5, np.nan, 3.0],
        "city": ["rome", "oslo", None],
        "member": [True, False, True],
        "rank": pd.Categorical([3, 1, 3]),
        "born": pd.to_datetime(["2000-01-01", "2001-01-01", None]),
        "seen": pd.to_datetime(["2000-01-01", "2001-01-01", None]).tz_localize("UTC"),
        "gap": pd.to_timedelta([1, 2, 3], unit="s"),
    }
)


def learn(X, **options):
    return FeatureSchema.learn(read_table(X), **options)


SCHEMA = learn(FRAME)[0]


def same(one, other):
    for a, b in zip(one.columns, other.columns, strict=True):
        assert (a.name, a.kind, a.levels) == (b.name, b.kind, b.levels)
        np.testing.assert_array_equal(a.dense(one.n_rows), b.dense(other.n_rows))


def test_schema_remembers_names_kinds_and_levels():
    assert SCHEMA.names == tuple(FRAME.columns)
    assert [str(kind) for kind in SCHEMA.kinds] == [
        "numeric", "categorical", "boolean", "categorical", "datetime", "datetime", "duration",
    ]  # fmt: skip
    assert SCHEMA.levels[1].values == ("oslo", "rome")
    assert SCHEMA.timezone_aware == (None, None, None, None, False, True, None)
    assert SCHEMA.feature_names_in().tolist() == list(FRAME.columns)
    assert SCHEMA.feature_names_in().dtype == object
    assert learn(np.ones((1, 2)))[0].feature_names_in() is None


def test_columns_are_matched_by_name_whatever_their_order():
    expected = SCHEMA.conform(FRAME)
    same(SCHEMA.conform(FRAME[FRAME.columns[::-1]]), expected)
    same(SCHEMA.conform(pl.from_pandas(FRAME.drop(columns="rank")).with_columns(rank=pl.lit(3))),
         SCHEMA.conform(FRAME.assign(rank=3)))  # fmt: skip


def test_missing_and_extra_columns_are_listed_with_the_nearest_names():
    bad = FRAME.rename(columns={"city": "City", "gap": "zzz"})
    with pytest.raises(InvalidInput) as caught:
        SCHEMA.conform(bad)
    message = str(caught.value)
    assert "The feature names should match those that were passed during fit.\n" in message
    assert "Feature names unseen at fit time:\n- City\n- zzz\n" in message
    assert "Feature names seen at fit time, yet now missing:\n- city\n- gap\n" in message
    assert "Missing 'city'. Did you mean 'City'?" in message


def test_extra_columns_raise_unless_told_otherwise():
    more = FRAME.assign(extra=1)
    with pytest.raises(InvalidInput, match="unseen at fit time:\n- extra\n"):
        SCHEMA.conform(more)
    same(SCHEMA.conform(more, extra="ignore"), SCHEMA.conform(FRAME))


def test_without_names_the_count_is_checked():
    schema = learn(np.ones((2, 3)))[0]
    words = "X has 2 features, but DecisionTreeClassifier is expecting 3 features as input"
    with pytest.raises(InvalidInput, match=words):
        schema.conform(np.ones((1, 2)), estimator_name="DecisionTreeClassifier")


def test_names_on_one_side_only_warn_as_in_scikit_learn():
    named, bare = pd.DataFrame({"a": [1.0]}), np.ones((1, 1))
    words = "X does not have valid feature names, but Tree was fitted with feature names"
    with pytest.warns(UserWarning, match=words):
        learn(named)[0].conform(bare, estimator_name="Tree")
    words = "X has feature names, but Tree was fitted without feature names"
    with pytest.warns(UserWarning, match=words):
        learn(bare)[0].conform(named, estimator_name="Tree")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn(named)[0].conform(named)
        learn(bare)[0].conform(bare)


def test_numeric_matrices_pass_through_whole():
    matrix = np.ones((2, 3), np.float32)
    assert learn(matrix)[0].conform(matrix).matrix is matrix


def one(values, name="c"):
    return pd.DataFrame({name: values})


def codes(fit, predict, **options):
    return learn(one(fit))[0].conform(one(predict), **options).columns[0].values.tolist()


def test_order_and_encoding_of_categories_do_not_matter():
    fit = pd.Categorical(["b", "a"], categories=["b", "a"])
    assert codes(fit, ["a", "b", None]) == [0, 1, -1]
    assert codes(["b", "a"], pd.Categorical(["a", "b"], categories=["z", "b", "a"])) == [0, 1]
    assert codes(["b", "a"], np.array(["a"], object)) == [0]


def test_numbers_reach_number_levels_in_any_type():
    fit = pd.Categorical([10, 20])
    for values in ([20, 10, 5], [20.0, 10.0, np.nan], pd.Categorical([20, 10, 7])):
        assert codes(fit, values) == [1, 0, -1]
    assert codes(pd.Categorical([True, False]), [1, 0, 0]) == [1, 0, 0]
    assert codes(pd.Categorical([1, 0]), [True, False]) == [1, 0]


def test_unseen_categories_are_missing_or_named():
    assert codes(["a", "b"], ["b", "kiwi"]) == [1, -1]
    with pytest.raises(InvalidInput, match=r"'c', first in row 1: .*'kiwi'.*'a', 'b'"):
        codes(["a", "b"], ["b", "kiwi"], unseen="error")
    with pytest.raises(InvalidInput, match=r"'c', first in row 2: .*7"):
        codes(pd.Categorical([1]), [1.0, np.nan, 7.0], unseen="error")
    assert codes(["a", "b"], ["b", None], unseen="error") == [1, -1]


def test_policies_that_do_not_exist_are_refused():
    with pytest.raises(InvalidParameter, match="unseen='ignore'"):
        SCHEMA.conform(FRAME, unseen="ignore")


def test_numbers_and_booleans_and_dates_and_datetimes_stand_for_each_other():
    schema = learn(FRAME[["age", "member", "born"]])[0]
    table = schema.conform(
        pd.DataFrame(
            {
                "age": [True],
                "member": [1],
                "born": pd.Series(["2000-01-01"]).astype("date32[pyarrow]"),
            }
        )
    )
    assert [str(column.kind) for column in table.columns] == ["numeric", "boolean", "datetime"]
    assert table.columns[2].values.tolist() == [946684800.0]


def test_columns_without_a_value_stand_for_everything():
    empty = pl.DataFrame({name: [None, None] for name in FRAME.columns})
    texts = pl.DataFrame({name: pl.Series([None, None], dtype=pl.String) for name in FRAME.columns})
    for X in (empty, texts):
        assert all(column.is_all_missing() for column in SCHEMA.conform(X).columns)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("age", ["1"], r"'age' is categorical \(text\).*numeric.*astype\(float\)"),
        ("age", pd.to_datetime(["2000-01-01"]), "'age' is datetime without.*numeric"),
        ("age", pd.Categorical([1]), "'age' is categorical.*numeric"),
        ("city", [1.0], r"'city' is numeric.*categorical \(text\)"),
        ("rank", ["3"], r"'rank' is categorical \(text\).*categorical \(number\)"),
        ("rank", pd.to_timedelta([1]), "'rank' is duration"),
        ("born", pd.to_datetime(["2000-01-01"]).tz_localize("UTC"), "with a time zone.*without a"),
        ("seen", pd.to_datetime(["2000-01-01"]), "without a time zone.*with a"),
        ("born", [5.0], "'born' is numeric"),
        ("gap", pd.to_datetime(["2000-01-01"]), "'gap' is datetime.*duration"),
        ("member", ["yes"], "'member' is categorical.*boolean"),
    ],
)
def test_other_kinds_are_refused_by_name(name, values, words):
    frame = FRAME.iloc[:1].drop(columns=name).assign(**{name: values})
    with pytest.raises(InvalidInputType, match=words):
        SCHEMA.conform(frame)


def test_sparse_and_dense_stand_for_each_other():
    dense = np.array([[0, 1.0], [2, 0]])
    for fit in (dense, sp.csr_array(dense)):
        schema = learn(fit)[0]
        same(schema.conform(sp.csr_array(dense)), schema.conform(dense))
    schema = learn(dense, categorical_features=[0])[0]
    assert schema.conform(sp.csc_array(dense)).columns[0].values.tolist() == [0, 1]
    assert learn(sp.csr_array(dense), categorical_features=[0])[0].levels[0].values == (0, 2)


def test_levels_of_features_fitted_empty_make_everything_unseen():
    fit = pl.DataFrame({"c": pl.Series([None, None], dtype=pl.String)})
    schema = learn(fit)[0]
    assert schema.conform(one(["a"])).columns[0].values.tolist() == [-1]
    with pytest.raises(InvalidInput, match="'a'"):
        schema.conform(one(["a"]), unseen="error")


def round_trip(schema):
    meta, arrays = schema.to_state()
    return FeatureSchema.from_state(json.loads(json.dumps(meta)), arrays)


def test_state_round_trips():
    assert round_trip(SCHEMA) == SCHEMA
    for X in (np.ones((2, 3)), [["a", 1]], pl.DataFrame({"é": ["日本", None]})):
        schema = learn(X)[0]
        assert round_trip(schema) == schema


META, ARRAYS = SCHEMA.to_state()
JUNK = [None, 0, -1, 1.5, "", "x", [], [1], [None] * 7, ["text"] * 7, {}, {"a": 1}, True]


@pytest.mark.parametrize(
    ("key", "junk"),
    [(key, junk) for key in META for junk in JUNK if (key, junk) != ("names_given", True)],
)
def test_junk_in_the_description_is_refused(key, junk):
    meta = copy.deepcopy(META)
    meta[key] = junk
    with pytest.raises(InvalidModel):
        FeatureSchema.from_state(meta, ARRAYS)


@pytest.mark.parametrize("key", list(ARRAYS))
@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: None,
        lambda array: array.tolist(),
        lambda array: array[:-1],
        lambda array: np.append(array, array[-1:]),
        lambda array: array.astype(np.int64),
        lambda array: array.reshape(1, -1),
        lambda array: np.full_like(array, 255),
        lambda array: array[:0],
    ],
)
def test_junk_in_the_arrays_is_refused(key, spoil):
    with pytest.raises(InvalidModel):
        FeatureSchema.from_state(META, {**ARRAYS, key: spoil(ARRAYS[key])})


@pytest.mark.parametrize("key", list(META))
def test_absent_parts_are_refused(key):
    meta = {name: value for name, value in META.items() if name != key}
    with pytest.raises(InvalidModel):
        FeatureSchema.from_state(meta, ARRAYS)


def test_names_given_twice_in_a_file_are_refused():
    meta, arrays = learn(pd.DataFrame({"a": [1], "b": [1]}))[0].to_state()
    arrays["name_text"] = np.frombuffer(b"aa", np.uint8)
    with pytest.raises(InvalidModel, match="different"):
        FeatureSchema.from_state(meta, arrays)
