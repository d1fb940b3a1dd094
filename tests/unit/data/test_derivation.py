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
from spinney.model.state import model_from_bytes, model_from_state


def made():
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({c: rng.integers(0, 9, n).astype(str) for c in "ab"})
    X["x"] = rng.normal(size=n)
    X["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), unit="h")
    model = GradientBoostingRegressor(max_iter=3, category_encoding="target", random_state=0)
    model.set_params(category_pairs="all", date_features=True)
    return model.fit(X, rng.normal(size=n)).model_, X


def made_of_texts():
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({"text": [" ".join(rng.choice(list("abcdefg"), 5)) for _ in range(n)]})
    for name in ("from", "to"):
        X[name] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 999, n), unit="h")
    X["x"] = rng.normal(size=n)
    model = GradientBoostingRegressor(max_iter=3, text_features=["text"], random_state=0)
    return model.fit(X, rng.normal(size=n)).model_, X


values_of = attrgetter("values")  # of columns and results, which are no frames
MODEL, X = made()
TEXTS, X_TEXTS = made_of_texts()


def test_arrays_give_the_same_derivation_back():
    again = read_derivation(MODEL.schema, MODEL.derivation.to_arrays())
    assert again == MODEL.derivation
    assert again.schema == MODEL.derivation.schema


@pytest.mark.parametrize(
    ("model", "table"), [(MODEL, X), (TEXTS, X_TEXTS)], ids=["levels", "texts"]
)
def test_bytes_give_the_same_model_back(model, table):
    again = model_from_bytes(model.to_bytes())
    assert again == model
    assert again.derivation == model.derivation
    np.testing.assert_array_equal(again.predictions(table), model.predictions(table))


def test_files_without_words_are_as_they_were():
    assert "word_text" not in MODEL.derivation.to_arrays()
    assert MODEL.derivation != TEXTS.derivation


def changed(name, change, model=MODEL):
    arrays = {key: array.copy() for key, array in model.derivation.to_arrays().items()}
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
        "partner_of_a_date": ("second", at(9, 1)),
        "pair_without_keys": ("second", at(0, 1)),
        "negative_number": ("number", at(0, -1)),
        "number_of_a_copy": ("number", at(8, 1)),
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


TEXT, WORD, ELAPSED = int(Rule.TEXT), int(Rule.WORD), int(Rule.ELAPSED)


@pytest.mark.parametrize(
    ("name", "change"),
    {
        "copy_of_a_text": ("rule", at(0, 0)),
        "part_of_a_date_for_a_text": ("rule", at(0, 3)),
        "part_that_does_not_exist": ("rule", at(0, TEXT + 4)),
        "rule_between_rules": ("rule", at(0, 20)),
        "text_of_a_number": ("first", at(0, 3)),
        "word_of_a_date": ("first", at(4, 1)),
        "word_that_is_none_of_the_texts": ("rule", at(0, WORD)),
        "fewer_words_than_are_counted": ("rule", at(4, TEXT)),
        "time_between_a_date_and_a_number": ("second", at(-1, 3)),
        "time_between_a_date_and_nothing": ("second", at(-1, -1)),
        "time_between_texts": ("first", at(-1, 0)),
        "capitals_in_a_word": ("word_text", at(0, ord("A"))),
        "no_letter": ("word_text", at(0, ord(" "))),
        "no_utf8": ("word_text", at(0, 0xFF)),
        "a_word_twice": ("word_text", lambda a: np.full_like(a, ord("a"))),
        "an_empty_word": ("word_offsets", at(1, 0)),
        "words_that_do_not_end": ("word_offsets", at(-1, 10**6)),
        "fewer_words": ("word_offsets", lambda a: np.delete(a, 1)),
        "words_of_another_type": ("word_offsets", lambda a: a.astype(np.int64)),
    }.values(),
)
def test_words_that_contradict_their_rules_are_refused(name, change):
    with pytest.raises(InvalidModel):
        read_derivation(TEXTS.schema, changed(name, change, TEXTS))


def test_words_without_a_text_are_refused():
    arrays = TEXTS.derivation.to_arrays()
    words = {name: arrays[name] for name in ("word_offsets", "word_text")}
    with pytest.raises(InvalidModel, match="words"):
        read_derivation(MODEL.schema, MODEL.derivation.to_arrays() | words)
    fewer = {name: array for name, array in arrays.items() if name not in words}
    with pytest.raises(InvalidModel, match="words"):
        read_derivation(TEXTS.schema, fewer)


def test_no_other_model_may_have_texts():
    meta, arrays = TEXTS.to_state()
    derived = {name for name in arrays if name.startswith("derivation/")}
    kept = {name: array for name, array in arrays.items() if name not in derived}
    with pytest.raises(InvalidModel, match="a text, in a model that reads none"):
        model_from_state({**meta, "kind": "forest"}, kept)


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
