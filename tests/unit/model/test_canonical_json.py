"""What can be wrong with parsed JSON is found without looking at every value."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spinney.model.canonical_json import canonical_json, json_fault, parsed_fault

FAULTS = {
    "-9223372036854775809": "64 bits",
    "18446744073709551616": "64 bits",
    "1E+400": "finite",
    "-1e0400": "finite",
    "9" * 400 + ".0": "finite",
    "NaN": "finite",
    "-Infinity": "finite",
    '"\\uDC00"': "Unicode",
    '"\\ud83dx"': "Unicode",
}


@pytest.mark.parametrize("text", FAULTS)
def test_every_kind_of_fault_is_seen(text):
    for around in ("[{}]", '{{"a":{{"b":[1,{}]}}}}'):
        whole = around.format(text)
        assert FAULTS[text] in parsed_fault(json.loads(whole), "it", whole.encode())
    if text.startswith('"'):
        whole = f"{{{text}:1}}"
        assert FAULTS[text] in parsed_fault(json.loads(whole), "it", whole.encode())


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**65), 2**65) | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
@example(1e308)
@example(2**64 - 1)
@example(-(2**63))
def test_it_is_what_looking_at_every_value_finds(value):
    text = json.dumps(value)
    found = json.loads(text)
    fault = parsed_fault(found, "it", text.encode())
    assert fault == json_fault(found, "it", nesting=1)
    if not fault:
        assert json.loads(canonical_json(found)) == found
