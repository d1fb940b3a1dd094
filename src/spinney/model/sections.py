r"""The container of a ``.spn`` file: one JSON header and named arrays, in one canonical byte form.

From first byte to last, little-endian (specified in ``docs/reference/file-format.md``)::

    magic 8 | version u32 | header length u32 | header JSON | crc32 u32
    zeros to a multiple of 64 | section | zeros | section | zeros | ... | SHA-256 of all before

* *Canonical.* Equal content gives equal bytes, and no others are accepted: a digest is an identity.
* *Safe to open.* Checksums find accidents, not attackers: whoever changes a file can compute them
  anew. Every number is therefore checked before it is used, as if no checksum existed, and no
  memory is asked for on the word of the file alone.
"""

import hashlib
import itertools
import json
import math
import mmap
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import numpy as np

from spinney.errors import CannotSave, InvalidFile, NewerFile
from spinney.model.canonical_json import (
    LARGEST_INT,
    MAX_JSON_NESTING,
    MAX_JSON_NODES,
    Json,
    canonical_json,
    json_extent,
    json_fault,
    parsed_fault,
)
from spinney.model.digest import Digest
from spinney.typing import AnyArray

FORMAT_VERSION = 4
"""The newest there is. Files are written in the oldest that can hold them."""
MAGIC = b"\x89SPN\r\n\x1a\n"  # PNG's idea: a byte above 127, both line ends and an end-of-text mark
ALIGNMENT = 64  # a cache line, and the widest vector register
DIGEST_BYTES = 32
MAX_HEADER_BYTES = 1 << 20
MAX_DIMENSION = 2**48
MAX_DIMENSION_OF_EMPTY = 2**20  # backed by no byte, so it must not invite a large allocation
ITEM_BYTES = {
    "|i1": 1,
    "|u1": 1,
    "<i2": 2,
    "<u2": 2,
    "<i4": 4,
    "<u4": 4,
    "<i8": 8,
    "<u8": 8,
    "<f2": 2,
    "<f4": 4,
    "<f8": 8,
}

_PREFIX = struct.Struct("<8sII")  # magic, version, header length
_CRC = struct.Struct("<I")
_NAME = re.compile(r"[a-z0-9_./-]{1,200}")
_SMALLEST_FILE = 96  # an empty table: 64 bytes of header and padding, 32 of digest

_AS_TEXT = "a Spinney file that was copied as text. Copy it again in binary mode"
_KNOWN_STARTS = (
    (b"\x89SPN", _AS_TEXT),  # line ends were translated
    (b"\tSPN", _AS_TEXT),  # the eighth bit was stripped
    (b"\xc2\x89SPN", _AS_TEXT),  # read as Latin-1, written as UTF-8
    (b"\xef\xbf\xbdSPN", _AS_TEXT),  # read as UTF-8 with replacement
    (b"\x80", "a pickle, which Spinney never opens because a pickle can run code"),
    (b"PK", "a zip archive. If the model is inside, extract it first"),
    (b"\x1f\x8b", "gzip data. If the model is inside, decompress it first"),
    (b"version https://git-lfs", "a Git LFS pointer. Run `git lfs pull` to fetch the file itself"),
    (b"<", "HTML or XML, perhaps an error page that was saved instead of the file"),
)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds. The arrays are read-only views of the bytes it was unpacked from."""

    format_version: int
    meta: dict[str, Json]
    arrays: dict[str, AnyArray]


@dataclass(frozen=True, slots=True)
class _Section:
    """One row of the table. ``offset`` counts from the end of the padded header.

    Counted from the start of the file, it would depend on the length of its own text.
    """

    name: str
    dtype: str
    shape: list[int]
    offset: int
    nbytes: int
    crc32: int


def pack(meta: Mapping[str, Json], arrays: Mapping[str, AnyArray], *, version: int = 1) -> bytes:
    """Put JSON and arrays into the canonical bytes of a file.

    Parameters
    ----------
    meta : JSON objects, lists, text, finite floats, 64-bit integers, booleans and None
        Everything in it must come back equal, so tuples and NumPy integers are refused.
    arrays : name → array of one or two dimensions
        Names match ``[a-z0-9_./-]{1,200}``; dtypes are integers of 8 to 64 bits and floats of 16 to
        64 bits, of any byte order.
    version : the format, as ``model/versions.py`` gives it

    Raises
    ------
    CannotSave
        If something has no safe form in the file.

    Examples
    --------
    >>> data = pack({"kind": "tree"}, {"value": np.array([0.5, 2.0])})
    >>> unpack(data).arrays["value"]
    array([0.5, 2. ])
    """
    sections: list[_Section] = []
    payloads: list[memoryview | bytes] = []
    offset = 0
    for name in sorted(arrays):
        plain = _checked(name, arrays[name])
        payload, size = plain.reshape(-1).view(np.uint8).data, plain.nbytes
        row = (name, plain.dtype.str, list(plain.shape), offset, size, zlib.crc32(payload))
        sections.append(_Section(*row))
        payloads += [payload, bytes(_padding(size))]
        offset += size + _padding(size)
    header = _encode_header(meta, sections)
    front = _PREFIX.pack(MAGIC, version, len(header)) + header
    front += _CRC.pack(zlib.crc32(front))
    parts = [front, bytes(_padding(len(front))), *payloads]
    digest = hashlib.sha256()
    for part in parts:  # hashed before they are joined: the file is in memory once, not twice
        digest.update(part)
    return b"".join([*parts, digest.digest()])


def unpack(data: bytes | bytearray | memoryview | mmap.mmap) -> Contents:
    """Check every byte of a file, then return what it holds without copying the arrays.

    Bytes that can still change (a ``bytearray``, a writable map) are copied before the check.

    Raises
    ------
    NewerFile
        If the file was written in a format version after ``FORMAT_VERSION``.
    InvalidFile
        For any other bytes that ``pack`` cannot have written. No other exception escapes.

    Examples
    --------
    >>> unpack(b"PK and so on")
    Traceback (most recent call last):
    spinney.errors.InvalidFile: this is not a Spinney file; it looks like a zip archive. ...
    """
    with unpacked(data) as contents:
        return contents


@contextmanager
def unpacked(data: bytes | bytearray | memoryview | mmap.mmap) -> Iterator[Contents]:
    """Give what ``unpack`` gives; the digest of the whole is compared behind the block.

    It is found on another thread, and takes as long as everything else. What the block makes of the
    contents must not be used before its end.
    """
    view = _frozen_view(data)
    _check_magic(view)
    with Digest(view[:-DIGEST_BYTES]) as digest:
        version, header, area_start = _read_front(view)
        meta, sections = _read_table(header)
        _check_layout(view, sections, area_start)
        _check_sections(view, sections, area_start)
        arrays = {section.name: _array(view, section, area_start) for section in sections}
        yield Contents(version, meta, arrays)
    if digest.found != view[-DIGEST_BYTES:]:
        _refuse(f"the SHA-256 digest, at byte {len(view) - DIGEST_BYTES}, does not agree")


def _padding(size: int) -> int:
    return -size % ALIGNMENT


def _checked(name: str, array: AnyArray) -> AnyArray:
    if not _NAME.fullmatch(name):
        raise CannotSave(f"array name {name!r}: expected {_NAME.pattern}. Rename it.")
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in ITEM_BYTES:
        raise CannotSave(
            f"array {name!r} has dtype {array.dtype}: expected one of {', '.join(ITEM_BYTES)}. "
            "Convert it, for example booleans to uint8."
        )
    most = MAX_DIMENSION if array.size else MAX_DIMENSION_OF_EMPTY
    if array.ndim not in (1, 2) or max(array.shape) > most:
        raise CannotSave(
            f"array {name!r} has shape {array.shape}: expected 1 or 2 dimensions, each at most "
            f"{most}. Reshape it."
        )
    return np.ascontiguousarray(array, dtype=dtype)


def _encode_header(meta: Mapping[str, Json], sections: list[_Section]) -> bytes:
    if fault := json_fault(dict(meta), "meta", nesting=2):
        raise CannotSave(f"{fault}. Convert it, or move it into an array.")
    header = canonical_json({"meta": dict(meta), "sections": [asdict(row) for row in sections]})
    nodes, _ = json_extent(header)
    if len(header) > MAX_HEADER_BYTES or nodes > MAX_JSON_NODES:
        raise CannotSave(
            f"the header would take {len(header)} bytes and {nodes} JSON nodes: at most "
            f"{MAX_HEADER_BYTES} bytes and {MAX_JSON_NODES} nodes fit. Move long lists into arrays."
        )
    return header


# Reading


def _refuse(what: str) -> NoReturn:
    raise InvalidFile(f"{what}. The file is damaged: copy it again or save the model again.")


def _short(value: object) -> str:
    return repr(value)[:60]


def _frozen_view(data: bytes | bytearray | memoryview | mmap.mmap) -> memoryview:
    view = memoryview(data)
    if view.readonly and view.c_contiguous and view.nbytes:
        return view.cast("B")
    return memoryview(view.tobytes())


def _check_magic(view: memoryview) -> None:
    start = bytes(view[:24])
    if not start:
        _refuse("the file is empty")
    if not start.startswith(MAGIC) and not MAGIC.startswith(start):
        for known, looks_like in _KNOWN_STARTS:
            if start.startswith(known):
                raise InvalidFile(f"this is not a Spinney file; it looks like {looks_like}.")
        raise InvalidFile(f"this is not a Spinney file: it starts with {start!r}. Check the path.")
    if len(view) < _SMALLEST_FILE:
        _refuse(f"the file ends after {len(view)} bytes, before its header is complete")


def _read_front(view: memoryview) -> tuple[int, bytes, int]:
    """Return the version, the header's text, and where the sections start."""
    _, version, length = _PREFIX.unpack_from(view)
    if version > FORMAT_VERSION:
        raise NewerFile(
            f"the file has format version {version}, this Spinney reads versions up to "
            f"{FORMAT_VERSION}. Upgrade Spinney (pip install --upgrade spinney); if the file was "
            "not written by a later Spinney, it is damaged: copy it again."
        )
    if version == 0:
        _refuse("bytes 8 to 11 give the format version 0, which does not exist")
    if length > MAX_HEADER_BYTES:
        _refuse(f"bytes 12 to 15 give a header of {length} bytes, at most {MAX_HEADER_BYTES} fit")
    end = _PREFIX.size + length
    area_start = end + _CRC.size + _padding(end + _CRC.size)
    if area_start + DIGEST_BYTES > len(view):
        _refuse(f"the header needs {length} bytes from byte 16 on, the file has {len(view)} bytes")
    if _CRC.unpack_from(view, end)[0] != zlib.crc32(view[:end]):
        _refuse(f"the checksum of the header, at byte {end}, does not agree with it")
    _check_zeros(view, end + _CRC.size, area_start)
    return version, bytes(view[_PREFIX.size : end]), area_start


def _check_zeros(view: memoryview, start: int, end: int) -> None:
    if any(view[start:end]):
        _refuse(f"the padding in bytes {start} to {end - 1} is not zero")


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(result := dict(pairs)) != len(pairs):
        _refuse("the header repeats a key in one JSON object")
    return result


def _int_of(digits: str) -> int:
    if len(digits) > 20:  # asked before converting: a million digits would take seconds
        _refuse(f"the header holds the integer {digits[:20]}..., which does not fit into 64 bits")
    return int(digits)


def _parse_header(text: bytes) -> dict[str, Any]:
    nodes, nesting = json_extent(text)
    if nodes > MAX_JSON_NODES or nesting > MAX_JSON_NESTING:
        limits = f"{MAX_JSON_NODES} nodes and {MAX_JSON_NESTING} levels"
        _refuse(f"the header has {nodes} JSON nodes on {nesting} levels, the limits are {limits}")
    try:
        ascii_text = text.decode("ascii")
        header = json.loads(ascii_text, object_pairs_hook=_object_of, parse_int=_int_of)
    except UnicodeDecodeError as error:
        _refuse(f"byte {_PREFIX.size + error.start} of the header is not ASCII")
    except json.JSONDecodeError as error:
        _refuse(f"the header is not JSON: {error.msg} at byte {_PREFIX.size + error.pos}")
    if fault := parsed_fault(header, "header", text):
        _refuse(fault)
    if canonical_json(header) != text:
        _refuse("the header is not in its canonical form")
    if not isinstance(header, dict) or set(header) != {"meta", "sections"}:
        _refuse("the header is not an object with exactly the keys 'meta' and 'sections'")
    return header


def _read_table(text: bytes) -> tuple[dict[str, Json], list[_Section]]:
    header = _parse_header(text)
    meta, rows = header["meta"], header["sections"]
    if not isinstance(meta, dict) or not isinstance(rows, list):
        _refuse("in the header, 'meta' is not an object or 'sections' is not a list")
    sections = [_read_row(row, f"row {i} of the section table") for i, row in enumerate(rows)]
    for before, after in itertools.pairwise(sections):
        if not before.name < after.name:
            _refuse(f"section {after.name!r} is not listed in order, it follows {before.name!r}")
    return meta, sections


def _read_row(row: object, where: str) -> _Section:
    if not isinstance(row, dict) or set(row) != set(_Section.__slots__):
        _refuse(f"{where} does not have exactly the fields {', '.join(_Section.__slots__)}")
    name, dtype, shape = row["name"], row["dtype"], row["shape"]
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        _refuse(f"{where} has the name {_short(name)}, not 1 to 200 characters of a-z 0-9 _ . / -")
    where = f"section {name!r}"
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        _refuse(f"{where} has the dtype {_short(dtype)}, not one of {', '.join(ITEM_BYTES)}")
    if not isinstance(shape, list) or len(shape) not in (1, 2):
        _refuse(f"{where} has the shape {_short(shape)}, not a list of one or two numbers")
    most = MAX_DIMENSION if all(shape) else MAX_DIMENSION_OF_EMPTY
    limits = {"crc32": 2**32 - 1, "nbytes": LARGEST_INT, "offset": LARGEST_INT}
    numbers = [*((field, row[field]) for field in limits), *(("shape", size) for size in shape)]
    for field, number in numbers:
        limit = limits.get(field, most)
        if type(number) is not int or not 0 <= number <= limit:  # a bool is not a number here
            _refuse(f"{where} has {field} {_short(number)}, not an integer from 0 to {limit}")
    if math.prod(shape) * ITEM_BYTES[dtype] != row["nbytes"]:
        _refuse(f"{where} of shape {shape} and dtype {dtype} cannot have {row['nbytes']} bytes")
    return _Section(**row)


def _check_layout(view: memoryview, sections: list[_Section], area_start: int) -> None:
    """Demand the one layout there is: in order, aligned, no gap, no overlap, no byte after it."""
    position = 0
    for section in sections:
        if section.offset != position:
            _refuse(f"section {section.name!r} has offset {section.offset}, expected {position}")
        position += section.nbytes + _padding(section.nbytes)
    expected = area_start + position + DIGEST_BYTES
    if len(view) != expected:
        fault = "is cut off" if len(view) < expected else "has bytes after its end"
        _refuse(f"the file {fault}: it has {len(view)} bytes, its table describes {expected}")


def _check_sections(view: memoryview, sections: list[_Section], area_start: int) -> None:
    for section in sections:
        start = area_start + section.offset
        end = start + section.nbytes
        if zlib.crc32(view[start:end]) != section.crc32:
            _refuse(f"the checksum of section {section.name!r}, at byte {start}, does not agree")
        _check_zeros(view, end, end + _padding(section.nbytes))


def _array(view: memoryview, section: _Section, area_start: int) -> AnyArray:
    dtype = np.dtype(section.dtype)
    start = area_start + section.offset
    flat = np.frombuffer(view[start : start + section.nbytes], dtype=dtype)
    if not (flat.flags.aligned and dtype.isnative):  # native code may assume both
        flat = flat.astype(dtype.newbyteorder("="))
        flat.flags.writeable = False
    return flat.reshape(section.shape)
