import pickle

import numpy as np
import pytest

from spinney.data.levels import Levels, LevelType, pack_texts, unpack_texts
from spinney.errors import InvalidInput, InvalidInputType, InvalidModel


def stored(texts):
    return pack_texts(texts)


def test_levels_are_distinct_and_sorted_whatever_the_source_order():
    assert Levels.of(["b", "a", None, "b"]) == Levels.of(["a", "b"])
    assert Levels.of(["b", "a"]).values == ("a", "b")


def test_equal_numbers_of_any_type_are_one_level():
    levels = Levels.of([1, 1.0, np.int64(1), np.float32(1), float("nan"), -0.0, 0])
    assert levels.values == (0, 1)
    assert levels.type is LevelType.NUMBER
    assert levels.codes_of([1.0, np.int8(0), 7]).tolist() == [1, 0, -1]


def test_numbers_sort_by_value_and_infinities_are_levels():
    levels = Levels.of([10, 9, np.inf, -np.inf, 0.5, 1e300])
    assert levels.values == (-np.inf, 0.5, 9, 10, 1e300, np.inf)
    assert Levels.from_storage("number", levels.offsets, levels.text) == levels


def test_integers_beyond_float64_stay_distinct():
    big = 2**60
    levels = Levels.of([big + 1, big])
    assert len(levels) == 2
    assert levels.codes_of(np.array([big + 1, big, big + 2])).tolist() == [1, 0, -1]
    assert levels.codes_of(np.array([float(big)])).tolist() == [0]
    assert Levels.of([float(big)]) == Levels.of([big])


def test_float_search_agrees_with_the_dictionary():
    levels = Levels.of([1, 2.5, 7])
    values = np.array([2.5, np.nan, 0, 8, 7, 1])
    assert levels.codes_of(values).tolist() == levels.codes_of(values.tolist()).tolist()
    assert levels.codes_of(values.astype(np.float32)).tolist() == [1, -1, -1, -1, 2, 0]
    assert Levels.of([]).codes_of(values).tolist() == [-1] * 6


def test_boolean_levels_answer_to_zero_and_one():
    levels = Levels.of([True, np.False_])
    assert levels.values == (False, True)
    assert levels.codes_of(np.array([0.0, 1.0, 2.0, np.nan])).tolist() == [0, 1, -1, -1]


def test_mixed_types_are_refused_with_the_column_and_two_examples():
    with pytest.raises(InvalidInputType, match=r"'city'.*'a' and 1"):
        Levels.of(["a", 1], column="city")
    with pytest.raises(InvalidInputType, match="boolean and number"):
        Levels.of([True, 1], column="c")


@pytest.mark.parametrize("odd", [b"x", (1, 2), 1j, object()])
def test_odd_categories_are_refused(odd):
    with pytest.raises(InvalidInputType, match="'c'"):
        Levels.of([odd], column="c")


def test_lone_surrogates_and_huge_integers_are_refused_by_column():
    with pytest.raises(InvalidInput, match=r"'c'.*surrogate"):
        Levels.of(["\ud800"], column="c")
    with pytest.raises(InvalidInput, match=r"'c'.*64"):
        Levels.of([10**5000], column="c")


def test_storage_round_trips_and_is_read_only():
    for raw in (["ä", "", "z", "日本"], [1, 2.5, -3], [True], []):
        levels = Levels.of(raw)
        again = Levels.from_storage(str(levels.type), levels.offsets, levels.text)
        assert again == levels
        assert hash(again) == hash(levels)
        assert again.values == levels.values
        assert pickle.loads(pickle.dumps(levels)) == levels
        assert not again.offsets.flags.writeable
    assert Levels.of(["a"]) != "a"
    assert "3 more" in repr(Levels.of("abcdefg"))


BAD_NUMBERS = [
    "1.0",
    "01",
    "+1",
    "nan",
    "1e5",
    "-0",
    " 1",
    "1_0",
    "x",
    "9" * 40,
    "Infinity",
    "-0.0",
]


@pytest.mark.parametrize("text", BAD_NUMBERS)
def test_numbers_not_in_canonical_form_are_refused(text):
    with pytest.raises(InvalidModel):
        Levels.from_storage("number", *stored([text]))


@pytest.mark.parametrize(
    ("type_name", "texts"),
    [
        ("text", ["b", "a"]),
        ("text", ["a", "a"]),
        ("number", ["2", "1"]),
        ("number", ["10", "9"]),
        ("boolean", ["true", "false"]),
        ("boolean", ["True"]),
        ("colour", ["red"]),
    ],
)
def test_levels_out_of_order_are_refused(type_name, texts):
    with pytest.raises(InvalidModel):
        Levels.from_storage(type_name, *stored(texts))


def u32(*values):
    return np.array(values, np.uint32)


def u8(data):
    return np.frombuffer(data, np.uint8)


@pytest.mark.parametrize(
    ("offsets", "blob"),
    [
        (u32(), u8(b"")),
        (u32(1, 2), u8(b"ab")),
        (u32(0, 1), u8(b"ab")),
        (u32(0, 3), u8(b"ab")),
        (u32(0, 2, 1, 2), u8(b"ab")),
        (u32(0, 1, 2), u8("é".encode())),
        (u32(0, 1), u8(b"\xff")),
        (u32(0, 1), u8(b"\xc3")),
        (u32(0, 1).astype(np.int64), u8(b"a")),
        (u32(0, 1).reshape(1, 2), u8(b"a")),
        (u32(0, 1), u8(b"a").astype(np.int8)),
        (None, u8(b"a")),
    ],
)
def test_damaged_text_is_refused(offsets, blob):
    with pytest.raises(InvalidModel):
        unpack_texts(offsets, blob)


def test_long_text_is_checked_across_chunks():
    text = "é" * 70_001
    offsets, blob = pack_texts(["a", text])
    assert unpack_texts(offsets, blob) == ["a", text]
