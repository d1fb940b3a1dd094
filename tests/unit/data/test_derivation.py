"""Derived features: what a file may say of them, and what it may not."""

from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

from spinney import GradientBoostingRegressor
from spinney.data.derivation import Derivation, Derived, Rule
from spinney.data.stored_derivation import read_derivation
from spinney.errors import InvalidModel
from spinney.model.derived import DerivedForest
from spinney.model.state import model_from_bytes


def made():
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({c: rng.integers(0, 9, n).astype(str) for c in "ab"})
    X["x"] = rng.normal(size=n)
    X["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="h")
    model = GradientBoostingRegressor(max_iter=3, category_encoding="target", random_state=0)
    model.set_params(category_pairs="all", date_features=True)
    return model.fit(X, rng.normal(size=n)).model_, X


values_of = attrgetter("values")  # of columns and results, which are no frames
MODEL, X = made()


def test_arrays_give_the_same_derivation_back():
    again = read_derivation(MODEL.schema, MODEL.derivation.to_arrays())
    assert again == MODEL.derivation
    assert again.schema == MODEL.derivation.schema


def test_bytes_give_the_same_model_back():
    again = model_from_bytes(MODEL.to_bytes())
    assert again == MODEL
    np.testing.assert_array_equal(again.predictions(X), MODEL.predictions(X))


def changed(name, change):
    arrays = {key: array.copy() for key, array in MODEL.derivation.to_arrays().items()}
    arrays[name] = change(arrays[name])
    return arrays


def at(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    {
        "unknown_rule": ("rule", at(0, 99)),
        "rule_of_a_date_for_a_category": ("rule", at(0, 4)),
        "copy_with_a_table": ("rule", at(0, 0)),
        "statistic_of_a_number": ("first", at(0, 2)),
        "feature_below_zero": ("first", at(0, -1)),
        "feature_beyond_the_last": ("first", at(0, 4)),
        "partner_beyond_the_last": ("second", at(-1, 4)),
        "partner_of_a_date": ("second", at(5, 1)),
        "pair_without_keys": ("second", at(0, 1)),
        "negative_number": ("number", at(0, -1)),
        "number_of_a_copy": ("number", at(4, 1)),
        "table_that_is_too_short": ("table_start", at(1, 3)),
        "tables_in_no_order": ("table_start", at(1, 10**9)),
        "tables_that_do_not_begin": ("table_start", at(0, 1)),
        "tables_that_do_not_end": ("table_start", lambda a: a[:-1]),
        "infinite_number": ("tables", at(0, np.inf)),
        "no_number": ("tables", at(3, np.nan)),
        "numbers_of_another_type": ("tables", lambda a: a.astype(np.float32)),
        "rules_in_two_dimensions": ("rule", lambda a: a.reshape(-1, 1)),
        "too_few_rules": ("rule", lambda a: a[:-1]),
        "no_features": ("rule", lambda a: a[:0]),
        "pair_of_no_features": ("pairs", at((0, 1), 9)),
        "pair_of_one_feature": ("pairs", at((0, 1), 0)),
        "pairs_of_three": ("pairs", lambda a: np.zeros((len(a), 3), np.int32)),
        "keys_out_of_order": ("keys", lambda a: a[::-1].copy()),
        "two_keys_swapped": ("keys", lambda a: a[[0, 2, 1, *range(3, len(a))]]),
        "a_key_twice": ("keys", lambda a: a[[0, 1, 1, *range(3, len(a))]]),
        "key_below_zero": ("keys", at(0, -5)),
        "key_beyond_all_levels": ("keys", at(-1, 2**62)),
        "keys_that_do_not_end": ("key_start", at(1, 3)),
    }.values(),
)
def test_a_derivation_that_contradicts_itself_is_refused(name, change):
    with pytest.raises(InvalidModel):
        read_derivation(MODEL.schema, changed(name, change))


def test_missing_and_unknown_parts_are_refused():
    arrays = MODEL.derivation.to_arrays()
    fewer = {name: array for name, array in arrays.items() if name != "keys"}
    for other in (fewer, {**arrays, "more": arrays["rule"]}):
        with pytest.raises(InvalidModel):
            read_derivation(MODEL.schema, other)


def test_keys_that_nothing_is_derived_from_are_refused():
    arrays = MODEL.derivation.to_arrays()
    n = int(np.flatnonzero(arrays["second"] >= 0)[0])
    for name in ("rule", "first", "second", "number"):
        arrays[name] = arrays[name][:n]
    arrays["table_start"] = arrays["table_start"][: n + 1]
    arrays["tables"] = arrays["tables"][: arrays["table_start"][-1]]
    with pytest.raises(InvalidModel, match="nothing is derived"):
        read_derivation(MODEL.schema, arrays)


def test_trees_of_other_features_are_refused():
    fewer = Derivation(MODEL.schema, [Derived(Rule.COPY, (2,))], {})
    with pytest.raises(InvalidModel, match="not grown on"):
        DerivedForest(fewer, MODEL.forest)


def test_rows_and_tables_are_derived_alike():
    rows = MODEL.read(X[["a", "b", "x", "when"]], "the model")
    numbers = np.column_stack([values_of(column).astype(float) for column in rows.columns])
    derived = MODEL.derivation.of_table(rows)
    by_table = np.column_stack([values_of(column) for column in derived.columns])
    np.testing.assert_array_equal(MODEL.derivation.of_rows(numbers), by_table)
