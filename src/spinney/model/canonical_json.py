"""JSON with one text per value, and bounds that are known before it is parsed."""

import itertools
import json
import math
import re
from typing import Any, TypeAlias

import numpy as np

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

MAX_JSON_NODES = 100_000
MAX_JSON_NESTING = 32
_ODD = re.compile(rb"\\u[dD]|-[0-9]{19}|[0-9]{20}|[eE]\+?[0-9]{3}|NaN|Infinity")
"""Half a character, a number near the limits or beyond, or none."""
SMALLEST_INT, LARGEST_INT = -(2**63), 2**64 - 1


def canonical_json(value: Any) -> bytes:
    """Encode as the one text this format knows; floats by ``repr``, the shortest that is exact."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def json_fault(value: object, where: str, nesting: int) -> str:
    """Say what would not come back equal, or nothing. The nesting limit also ends cycles."""
    match value:
        case None | bool():
            return ""
        case int() if not SMALLEST_INT <= value <= LARGEST_INT:
            return f"{where} = {value:#x} does not fit into 64 bits"
        case float() if not math.isfinite(value):
            return f"{where} = {value}, but JSON holds finite numbers only"
        case str() if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            return f"{where} = {value[:40]!r} is not valid Unicode"
        case int() | float() | str():
            return ""
        case dict() | list() if nesting > MAX_JSON_NESTING:
            return f"{where[:40]}... is nested deeper than {MAX_JSON_NESTING} levels"
        case dict():
            keys = (json_fault(key, f"a key of {where}", nesting) for key in value)
            # Keys are cut in messages: a long one must not be copied for each of its descendants.
            items = (json_fault(v, f"{where}.{k[:40]}", nesting + 1) for k, v in value.items())
            odd = (f"{where} has the key {k!r}, not text" for k in value if not isinstance(k, str))
            return next(filter(None, itertools.chain(odd, keys, items)), "")
        case list():
            parts = (json_fault(v, f"{where}[{i}]", nesting + 1) for i, v in enumerate(value))
            return next(filter(None, parts), "")
    return f"{where} is a {type(value).__name__}, not a dict, list, str, int, float, bool or None"


def parsed_fault(value: object, where: str, text: bytes) -> str:
    """Say what ``json_fault`` would, of what was parsed from a text of no more than its nesting.

    Looking at every value takes longer than parsing it; few texts have what can be wrong then.
    """
    return json_fault(value, where, nesting=1) if _ODD.search(text) else ""


def json_extent(text: bytes) -> tuple[int, int]:
    """Count the nodes and the nesting of JSON text, up to any place where a parser gives up."""
    # Two backslashes in a row are one escaped backslash; a quote after one that is left is escaped.
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    symbols = np.frombuffer(plain, dtype=np.uint8)
    outside = ~np.logical_xor.accumulate(symbols == ord('"'))
    opens = outside & ((symbols == ord("[")) | (symbols == ord("{")))
    closes = outside & ((symbols == ord("]")) | (symbols == ord("}")))
    joins = outside & ((symbols == ord(",")) | (symbols == ord(":")))
    nesting = np.cumsum(opens.view(np.int8) - closes.view(np.int8), dtype=np.int32)
    nodes = 1 + int(np.count_nonzero(opens)) + int(np.count_nonzero(joins))
    return nodes, int(nesting.max(initial=0))
