import hashlib
import json
import math
import mmap
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.attacks.mutations import Limits, Mutations, Parts, attack_in_child, misbehave, reseal

from spinney.errors import CannotSave, InvalidFile, NewerFile
from spinney.model import sections
from spinney.model.canonical_json import json_extent
from spinney.model.sections import FORMAT_VERSION, ITEM_BYTES, pack, unpack

META = {"kind": "tree", "params": {"depth": 3, "rate": 0.1, "names": ["größe", "\U0001f333"]}}
ARRAYS = {
    "tree/child": np.array([1, 2, -1, -1], dtype=np.int32),
    "tree/value": np.array([[0.5, 1.5], [math.nan, math.inf]]),
    "bins": np.arange(100, dtype=np.uint8),
    "empty": np.zeros((0, 3), dtype=np.float32),
}
GOOD = pack(META, ARRAYS)


def fingerprint(data: bytes) -> bytes:
    contents = unpack(data)
    return pack(contents.meta, contents.arrays)


def same(left, right) -> bool:
    return (left.dtype, left.shape, left.tobytes()) == (right.dtype, right.shape, right.tobytes())


# Round trips

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | texts
trees = st.recursive(leaves, lambda t: st.lists(t) | st.dictionaries(texts, t), max_leaves=20)
metas = st.dictionaries(texts, trees, max_size=4)
names = st.from_regex(r"[a-z0-9_./-]{1,12}", fullmatch=True)
shapes = hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=9)
some_arrays = st.sampled_from(sorted(ITEM_BYTES)).flatmap(lambda dtype: hnp.arrays(dtype, shapes))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(metas, st.dictionaries(names, some_arrays, max_size=4))
def test_what_goes_in_comes_out_and_packs_to_the_same_bytes(meta, arrays):
    data = pack(meta, arrays)
    contents = unpack(data)
    assert contents.meta == meta
    assert contents.format_version == 1
    assert contents.arrays.keys() == arrays.keys()
    assert all(same(contents.arrays[name], array) for name, array in arrays.items())
    assert pack(contents.meta, contents.arrays) == data


@settings(max_examples=2000, deadline=None)
@given(st.binary(max_size=300), st.sampled_from([b"", GOOD[:16], GOOD[:100]]))
def test_any_bytes_are_refused_with_our_own_error(tail, head):
    with pytest.raises(InvalidFile):
        unpack(head + tail)


@settings(max_examples=2000, deadline=None)
@given(st.binary(max_size=200) | st.text('[]{},:"\\0-1eE.u tnN', max_size=200).map(str.encode))
def test_any_header_text_is_refused_with_our_own_error(text):
    with pytest.raises(InvalidFile):
        unpack(Parts(1, text.ljust(60), b"").sealed())


def slow_extent(node):
    """Nodes and nesting by definition: values, keys, and one for each empty container."""
    if not isinstance(node, dict | list):
        return 1, 0
    inner = [slow_extent(child) for child in (node.values() if isinstance(node, dict) else node)]
    keys = len(node) if isinstance(node, dict) else 0
    below = sum(nodes for nodes, _ in inner) if inner else 1
    return 1 + keys + below, 1 + max((nesting for _, nesting in inner), default=0)


@settings(max_examples=500, deadline=None)
@given(trees)
def test_extent_of_json_is_counted_right_without_parsing(tree):
    assert json_extent(json.dumps(tree).encode()) == slow_extent(tree)


def test_bytes_do_not_depend_on_order_of_insertion_or_memory_layout():
    turned = {name: np.asfortranarray(ARRAYS[name]) for name in reversed(ARRAYS)}
    assert pack(dict(reversed(META.items())), turned) == GOOD


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_big_endian_arrays_are_written_little_endian(dtype):
    big, little = np.arange(5, dtype=">" + dtype), np.arange(5, dtype="<" + dtype)
    assert pack({}, {"a": big}) == pack({}, {"a": little})


def test_first_version_has_these_bytes_for_ever():
    data = pack({"a": [1, 0.1, None, True, "é"]}, {"x": np.array([1, 2], dtype=np.uint8)})
    header = (
        b'{"meta":{"a":[1,0.1,null,true,"\\u00e9"]},"sections":[{"crc32":3066839698,'
        b'"dtype":"|u1","name":"x","nbytes":2,"offset":0,"shape":[2]}]}'
    )
    front = b"\x89SPN\r\n\x1a\n\x01\x00\x00\x00" + struct.pack("<I", len(header)) + header
    front += struct.pack("<I", zlib.crc32(front))
    body = front.ljust(192, b"\x00") + b"\x01\x02" + bytes(62)
    assert data == body + hashlib.sha256(body).digest()


def test_smallest_file_has_96_bytes():
    assert len(pack({}, {})) == 96
    assert unpack(pack({}, {})) == sections.Contents(1, {}, {})


def test_arrays_are_read_only_views_of_the_file():
    arrays = unpack(GOOD).arrays
    whole = np.frombuffer(GOOD, dtype=np.uint8)
    for name, array in arrays.items():
        assert not array.flags.writeable
        assert array.size == 0 or np.shares_memory(array, whole), name
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


@pytest.mark.parametrize("shift", [1, 2, 3, 4, 7])
def test_unaligned_bytes_give_aligned_arrays(shift):
    arrays = unpack(memoryview(bytes(shift) + GOOD)[shift:]).arrays
    for name, array in arrays.items():
        assert array.flags.aligned
        assert not array.flags.writeable
        assert same(array, ARRAYS[name])


def test_maps_and_byte_arrays_unpack_and_later_changes_do_not_show(tmp_path):
    path = tmp_path / "model.spn"
    path.write_bytes(GOOD)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        contents = unpack(mapped)
        assert same(contents.arrays["bins"], ARRAYS["bins"])
        del contents
    changing = bytearray(GOOD)
    arrays = unpack(changing).arrays
    changing[:] = bytes(len(changing))
    assert same(arrays["bins"], ARRAYS["bins"])


# What cannot be saved


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"a": {"b": math.nan}}, r"meta\.a\.b = nan"),
        ({"a": [1, math.inf]}, r"meta\.a\[1\] = inf"),
        ({"a": 2**64}, "64 bits"),
        ({"a": -(2**63) - 1}, "64 bits"),
        ({"a": (1, 2)}, "tuple"),
        ({"a": np.int64(1)}, "int64"),
        ({"a": {1: 2}}, "key 1, not text"),
        ({"\ud800": 1}, "a key of meta"),
        ({"a": "\ud83d\ude00"[:1]}, "not valid Unicode"),
        ({"a": object()}, "object"),
        ({"a": "x" * (1 << 20)}, "header would take"),
        ({"a": [0] * 100_000}, "100[0-9]{3} JSON nodes"),
    ],
)
def test_meta_without_safe_form_is_refused(meta, message):
    with pytest.raises(CannotSave, match=message):
        pack(meta, {})


def test_meta_may_nest_to_the_limit_and_not_deeper():
    def nested(levels):
        return {"a": json.loads("[" * levels + "]" * levels)}

    assert unpack(pack(nested(30), {})).meta == nested(30)
    with pytest.raises(CannotSave, match="deeper than 32"):
        pack(nested(31), {})
    endless: dict[str, object] = {}
    endless["self"] = endless
    with pytest.raises(CannotSave, match="deeper than 32"):
        pack(endless, {})


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("a", np.zeros(3, dtype=bool), "booleans to uint8"),
        ("a", np.zeros(3, dtype=np.complex64), "complex64"),
        ("a", np.zeros(3, dtype=object), "object"),
        ("a", np.array(["x"]), "<U1"),
        ("a", np.float64(1.0), r"shape \(\)"),
        ("a", np.zeros((1, 1, 1)), "1 or 2 dimensions"),
        ("a", np.zeros((2**20 + 1, 0)), "at most 1048576"),
        ("A", np.zeros(1), "array name 'A'"),
        ("", np.zeros(1), "array name ''"),
        ("a\n", np.zeros(1), "array name"),
        ("a" * 201, np.zeros(1), "array name"),
    ],
)
def test_array_without_safe_form_is_refused(name, array, message):
    with pytest.raises(CannotSave, match=message):
        pack({}, {name: array})


# What is no file of ours

PARTS = Parts.of(GOOD)
END = 16 + len(PARTS.header)


def patched(position: int, *values: int) -> bytes:
    return GOOD[:position] + bytes(values) + GOOD[position + len(values) :]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (GOOD[:5], "ends after 5 bytes"),
        (GOOD[:95], "ends after 95 bytes"),
        (GOOD.replace(b"\r\n", b"\n"), "copied as text"),
        (GOOD.replace(b"\n", b"\r\n"), "copied as text"),
        (bytes(byte & 127 for byte in GOOD), "copied as text"),
        (GOOD.decode("latin-1").encode(), "copied as text"),
        (GOOD.decode("utf-8", "replace").encode(), "copied as text"),
        (b"\x80\x05\x95" + GOOD, "pickle"),
        (b"PK\x03\x04" + GOOD, "zip"),
        (b"\x1f\x8b\x08" + GOOD, "gzip"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"<!DOCTYPE html>", "error page"),
        (b"\x00" * 200, "not a Spinney file"),
        (patched(8, 0), "version 0"),
        (patched(12, 0xFF, 0xFF, 0xFF, 0x7F), "header of 2147483647 bytes"),
        (patched(12, 0xFF, 0xFF, 0x0F, 0x00), "needs 1048575 bytes"),
        (patched(20, 0x00), "checksum of the header"),
        (patched(END, GOOD[END] ^ 1), "checksum of the header"),
        (patched(len(GOOD) - 1, GOOD[-1] ^ 1), "SHA-256"),
        (patched(END + 4, 1), "padding in bytes"),
        (GOOD[:-96] + GOOD[-32:], "is cut off"),
        (GOOD + b"\x00", "after its end"),
        (GOOD[:-32] + bytes(64) + GOOD[-32:], "after its end"),
    ],
)
def test_damage_is_named(data, message):
    with pytest.raises(InvalidFile, match=message):
        unpack(data)


def test_every_truncation_and_every_flipped_bit_is_refused():
    for length in range(len(GOOD)):
        with pytest.raises(InvalidFile):
            unpack(GOOD[:length])
    for position in range(len(GOOD)):
        for bit in range(8):
            with pytest.raises(InvalidFile):
                unpack(patched(position, GOOD[position] ^ 1 << bit))


@pytest.mark.parametrize("version", [FORMAT_VERSION + 1, 2**32 - 1])
def test_newer_file_names_both_versions_and_the_remedy(version):
    data = replace(PARTS, version=version).sealed()
    with pytest.raises(NewerFile, match=rf"version {version}, .* {FORMAT_VERSION}\. Upgrade"):
        unpack(data)


def test_damaged_section_and_damaged_padding_are_named():
    start = GOOD.index(bytes(range(100)))
    with pytest.raises(InvalidFile, match=f"section 'bins', at byte {start}"):
        unpack(patched(start, 1))
    with pytest.raises(InvalidFile, match=f"padding in bytes {start + 100} to {start + 127}"):
        unpack(reseal(patched(start + 100, 1)))


# Forged headers: every checksum is right, so only the structure can give them away


EMPTY_TABLE = '"sections":[]}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON: .* at byte 17"),
        ('{"meta":{"a":"é"},' + EMPTY_TABLE, "not ASCII"),
        ('{"meta":{"a":1,"a":1},' + EMPTY_TABLE, "repeats a key"),
        ('{"meta":{"a":NaN},' + EMPTY_TABLE, "finite"),
        ('{"meta":{"a":-Infinity},' + EMPTY_TABLE, "finite"),
        ('{"meta":{"a":1e999},' + EMPTY_TABLE, "finite"),
        ('{"meta":{"a":18446744073709551616},' + EMPTY_TABLE, "64 bits"),
        ('{"meta":{"a":' + "9" * 1_000_000 + "}," + EMPTY_TABLE, "64 bits"),
        ('{"meta":{"a":"\\ud800"},' + EMPTY_TABLE, "Unicode"),
        ('{"meta":{"\\ud800":1},' + EMPTY_TABLE, "Unicode"),
        ('{"meta":{"a":' + "[" * 31 + "]" * 31 + "}," + EMPTY_TABLE, "on 33 levels"),
        ("[" * 1_000_000, "1000000 levels"),
        ('{"a":' * 150_000, "150000 levels"),
        ('{"meta":{"a":[0' + ",0" * 100_000 + "]}," + EMPTY_TABLE, "JSON nodes"),
        ('"' + '\\"' * 500_000, "not JSON"),
        ('{"meta":{"a":1.0e0},' + EMPTY_TABLE, "canonical"),
        ('{"meta":{"a":-0},' + EMPTY_TABLE, "canonical"),
        ('{"meta":{"a":"\\u0041"},' + EMPTY_TABLE, "canonical"),
        ('{"meta":{"b":1,"a":1},' + EMPTY_TABLE, "canonical"),
        ('{"meta":{}, ' + EMPTY_TABLE, "canonical"),
        ('{"meta":{}}', "exactly the keys"),
        ('{"extra":1,"meta":{},' + EMPTY_TABLE, "exactly the keys"),
        ("[]", "exactly the keys"),
        ('{"meta":[],' + EMPTY_TABLE, "not an object"),
        ('{"meta":{},"sections":{}}', "not a list"),
        ('{"meta":{},"sections":[1]}', "row 0"),
        ('{"meta":{},' + EMPTY_TABLE, "after its end"),
    ],
)
def test_forged_header_is_refused(text, message):
    with pytest.raises(InvalidFile, match=message):
        unpack(replace(PARTS, header=text.encode()).sealed())


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        *[("name", value, "has the name") for value in ("", "A", "a\n", "é", "a" * 201, 1, None)],
        ("name", "tree/value", "not listed in order"),
        ("name", "zzz", "not listed in order"),
        *[("dtype", value, "has the dtype") for value in (">f8", "|O", "<U1", "f8", "", [], 1)],
        ("dtype", "<i8", "cannot have 100 bytes"),
        *[("shape", value, "has the shape") for value in ([], [1, 10, 10], 100, {"a": 1}, "ab")],
        *[("shape", [size], "has shape") for size in (-1, True, 1e2, "100", [100], 2**48 + 1)],
        ("shape", [99], "cannot have 100 bytes"),
        ("shape", [2**32, 2**32], "cannot have 100 bytes"),
        ("shape", [2**48, 2**48], "cannot have 100 bytes"),
        ("shape", [0, 2**21], "has shape 2097152"),
        *[("offset", value, "has offset") for value in (-1, True, 0.0, None, 64, 1, 2**63, "0")],
        *[("nbytes", value, "has nbytes") for value in (-1, True, 100.0, None, "100")],
        *[("nbytes", value, "cannot have") for value in (99, 0, 2**32, 2**63)],
        *[("crc32", value, "has crc32") for value in (-1, True, 2**32, None, 0.5)],
        ("crc32", 0, "checksum of section 'bins'"),
    ],
)
def test_forged_row_of_the_table_is_refused(field, value, message):
    table = PARTS.table
    assert table["sections"][0]["name"] == "bins"
    table["sections"][0][field] = value
    with pytest.raises(InvalidFile, match=message):
        unpack(PARTS.with_table(table).sealed())


@pytest.mark.parametrize("change", [lambda row: row.pop("crc32"), lambda row: row.update(more=1)])
def test_rows_need_all_fields_and_no_others(change):
    table = PARTS.table
    change(table["sections"][0])
    with pytest.raises(InvalidFile, match="exactly the fields"):
        unpack(PARTS.with_table(table).sealed())


def test_section_longer_than_the_file_is_refused_without_asking_for_memory():
    table = PARTS.table
    table["sections"] = [table["sections"][0] | {"shape": [2**46], "nbytes": 2**46}]
    with pytest.raises(InvalidFile, match="is cut off"):
        unpack(PARTS.with_table(table).sealed())


def test_message_has_a_remedy_and_stays_short_whatever_it_quotes():
    with pytest.raises(InvalidFile, match="copy it again or save the model again") as caught:
        unpack(PARTS.with_table({"meta": {"a" * 9**6: "\ud800"}, "sections": []}).sealed())
    assert len(str(caught.value)) < 400


def test_mutations_differ_from_the_file_and_repeat():
    for data in (GOOD, b"", b"a"):
        mutations = list(Mutations(data, range(200)))
        assert data not in mutations
        assert mutations == list(Mutations(data, range(200)))


def test_harness_counts_every_fault_and_loses_only_the_guilty_file():
    names = b"good crash good2 spin good3 sleep hoard raise refuse explode other".split()
    sealed = b"forged" + hashlib.sha256(b"forged").digest()
    limits = Limits(cpu_seconds=0.3, wall_seconds=2)
    report = attack_in_child(misbehave, [*names, sealed], original=b"good", limits=limits)
    assert (report.files, report.crashed, report.hung, report.over_memory) == (12, 1, 2, 1), report
    assert (report.clean_error, report.other_exception, report.resealed_and_valid) == (1, 2, 1)
    assert (report.accepted_identical, report.accepted_different) == (3, 2), report


def test_three_thousand_mutations_crash_nothing_and_fool_nobody():
    report = attack_in_child(fingerprint, Mutations(GOOD, range(3000)), original=GOOD, batch=1500)
    assert report.files == 3000
    assert report.defects == 0, report
    assert report.clean_error > 2400
    assert report.resealed_and_valid > 100
    assert report.reasons["same fingerprint"] == 0  # one content, one file
