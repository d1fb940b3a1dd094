"""Levels: the categories of one feature, in one order whatever the source's order was."""

import codecs
import enum
import math
import numbers
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice, pairwise
from typing import Any, TypeAlias

import numpy as np

from spinney.errors import InvalidInput, InvalidInputType, InvalidModel
from spinney.typing import AnyArray, ByteArray, CodeArray

Level: TypeAlias = str | int | float | bool

MOST_BYTES = 2**32 - 1
"""Offsets are uint32, so the text of one feature's levels must stay below 4 GiB."""

_LONGEST_NUMBER = 32
_INTEGER = re.compile(r"-?[0-9]{1,20}")


class LevelType(enum.StrEnum):
    """What the levels of one feature are."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"


class Levels:
    """The distinct categories of one feature: immutable, of one type, strictly sorted.

    Sorted means: text by code point, numbers by value, False before True. Equal numbers are one
    level (``1``, ``1.0`` and ``numpy.int64(1)``); missing values are never a level.

    The storage is two arrays, so that a model file carries a million levels without a million
    Python objects: ``text`` holds the canonical text of all levels in UTF-8, level ``k`` being
    ``text[offsets[k]:offsets[k + 1]]``.

    Examples
    --------
    >>> levels = Levels.of(["pear", "apple", None, "pear"])
    >>> levels.values
    ('apple', 'pear')
    >>> levels.codes_of(["pear", "kiwi", None])
    array([ 1, -1, -1], dtype=int32)
    """

    __slots__ = ("_lookup", "_sorted_floats", "_values", "offsets", "text", "type")

    def __init__(self, level_type: LevelType, offsets: AnyArray, text: ByteArray) -> None:
        self.type = level_type
        self.offsets = offsets
        self.text = text
        self._values: tuple[Level, ...] | None = None
        self._lookup: dict[Level, int] | None = None
        self._sorted_floats: AnyArray | None = None
        offsets.flags.writeable = False
        text.flags.writeable = False

    @classmethod
    def of(cls, values: Iterable[Any], *, column: str = "") -> "Levels":
        """Collect the levels among ``values``; ``column`` is named in errors."""
        level_type, distinct = _distinct_levels(values, column)
        ordered: list[Any] = sorted(distinct)
        texts = [_canonical_text(value) for value in ordered]
        try:
            offsets, text = pack_texts(texts)
        except InvalidInput as problem:
            raise InvalidInput(f"Column {column!r}: {problem}") from None
        levels = cls(level_type, offsets, text)
        levels._values = tuple(ordered)
        return levels

    @classmethod
    def from_storage(cls, type_name: str, offsets: AnyArray, text: AnyArray) -> "Levels":
        """Rebuild levels from a file, believing nothing: InvalidModel if anything is off."""
        if type_name not in set(LevelType):
            raise InvalidModel(f"Levels of type {type_name!r}: expected text, number or boolean.")
        check_packed(offsets, text)
        levels = cls(LevelType(type_name), offsets.copy(), text.copy())
        if len(levels) == 0 and levels.type is not LevelType.TEXT:
            raise InvalidModel("A feature without levels must call them text.")
        levels._check_order()
        return levels

    @property
    def values(self) -> tuple[Level, ...]:
        """The levels as Python values, decoded on first use."""
        if self._values is None:
            self._values = tuple(_parse(self.type, piece.decode()) for piece in self._pieces())
        return self._values

    def codes_of(self, values: Sequence[Any] | AnyArray) -> CodeArray:
        """Find the code of each value; -1 for what is missing or not a level."""
        if isinstance(values, np.ndarray) and values.dtype.kind == "f":
            floats = self._exact_floats()
            if floats is not None:
                return _search(floats, values)
        if self._lookup is None:
            self._lookup = {value: code for code, value in enumerate(self.values)}
        find = self._lookup.get
        items = values.tolist() if isinstance(values, np.ndarray) else values
        return np.fromiter((find(item, -1) for item in items), np.int32, len(items))

    def digests(self) -> AnyArray:
        """Give 64 bits of each level's text: the same whatever other levels there are.

        Examples
        --------
        >>> few, more = Levels.of(["pear"]), Levels.of(["apple", "pear"])
        >>> bool(few.digests()[0] == more.digests()[1])
        True
        """
        digests = b"".join(blake2b(piece, digest_size=8).digest() for piece in self._pieces())
        return np.frombuffer(digests, "<u8").astype(np.uint64)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Levels):
            return NotImplemented
        return (
            self.type == other.type
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.text, other.text)
        )

    def __hash__(self) -> int:
        return hash((self.type, self.offsets.tobytes(), self.text.tobytes()))

    def __repr__(self) -> str:
        first = [_parse(self.type, piece.decode()) for piece in islice(self._pieces(), 4)]
        shown = ", ".join(map(repr, first))
        more = f", … {len(self) - 4} more" if len(self) > 4 else ""
        return f"Levels({self.type}: {shown}{more})"

    def _pieces(self) -> Iterator[bytes]:
        """Give the bytes of each level in turn; a bounded number of Python objects at a time."""
        blob, chunk = self.text.data, 1 << 12
        for start in range(0, len(self), chunk):
            for first, last in pairwise(self.offsets[start : start + chunk + 1].tolist()):
                yield bytes(blob[first:last])

    def _exact_floats(self) -> AnyArray | None:
        """Give the levels as sorted float64, unless one of them is not exactly a float64."""
        if self.type is LevelType.TEXT:
            return None
        if self._sorted_floats is None:
            floats = np.array([float(value) for value in self.values], np.float64)
            exact = all(a == b for a, b in zip(floats.tolist(), self.values, strict=True))
            self._sorted_floats = floats if exact else np.empty(0)
        return self._sorted_floats if len(self._sorted_floats) == len(self) else None

    def _check_order(self) -> None:
        """Refuse levels out of order or not canonical, holding two of them at a time."""
        previous: Any = None
        for k, piece in enumerate(self._pieces()):
            # UTF-8 sorts like code points, so texts are compared as the bytes they are.
            level = piece if self.type is LevelType.TEXT else _checked(self.type, piece, k)
            if previous is not None and not previous < level:
                raise InvalidModel(f"Level {k} of a feature is not above the one before it.")
            previous = level


def _checked(level_type: LevelType, piece: bytes, k: int) -> Level:
    """Parse a number or boolean of a file, refusing any but its canonical form."""
    if len(piece) > _LONGEST_NUMBER:
        raise InvalidModel(f"Level {k} is too long for a number.")
    text = piece.decode("utf-8")
    try:
        value = _parse(level_type, text)
    except ValueError:
        raise InvalidModel(f"Level {k} is {text!r}, which is no {level_type}.") from None
    if _canonical_text(value) != text or text == "nan":
        raise InvalidModel(f"Level {k} is {text!r}, which is not the canonical form.")
    return value


def _search(sorted_levels: AnyArray, values: AnyArray) -> CodeArray:
    if len(sorted_levels) == 0:
        return np.full(len(values), -1, np.int32)
    wide = values.astype(np.float64, copy=False)
    place = np.searchsorted(sorted_levels, wide)
    place[place == len(sorted_levels)] = 0
    found = sorted_levels[place] == wide
    return np.where(found, place, -1).astype(np.int32)


def _distinct_levels(values: Iterable[Any], column: str) -> tuple[LevelType, set[Level]]:
    found: dict[LevelType, Any] = {}
    distinct: set[Level] = set()
    for raw in values:
        level = _canonical_level(raw, column)
        if level is None:
            continue
        found.setdefault(_type_of(level), raw)
        distinct.add(level)
    if len(found) > 1:
        (first, one), (second, other) = list(found.items())[:2]
        raise InvalidInputType(
            f"Column {column!r} mixes {first} and {second} categories, for example {one!r} and "
            f"{other!r}. Expected one type; convert the column, for instance with .astype(str)."
        )
    return next(iter(found), LevelType.TEXT), distinct


def _canonical_level(raw: Any, column: str) -> Level | None:
    if isinstance(raw, str):
        return str(raw)
    if raw is None or type(raw).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(raw, bool | np.bool_):
        return bool(raw)
    if isinstance(raw, numbers.Number | np.number) and not isinstance(raw, complex):
        return _canonical_number(raw, column)
    raise InvalidInputType(
        f"Column {column!r} holds the category {raw!r} of type {type(raw).__name__}. Expected "
        "text, numbers or booleans; convert the categories, for instance with .astype(str)."
    )


def _canonical_number(raw: Any, column: str) -> int | float | None:
    """Give integers in the range of int64 and uint64 as int, all other numbers as float."""
    if isinstance(raw, int | np.integer):
        whole = int(raw)
        if -(2**63) <= whole < 2**64:
            return whole
        raise InvalidInput(
            f"Column {column!r} holds an integer category of {whole.bit_length()} bits. Expected "
            "at most 64; convert the column to text."
        )
    number = float(raw)
    if math.isnan(number):
        return None
    if number.is_integer() and -(2.0**63) <= number < 2.0**64:
        return int(number)
    return number


def _type_of(level: Level) -> LevelType:
    if isinstance(level, str):
        return LevelType.TEXT
    return LevelType.BOOLEAN if isinstance(level, bool) else LevelType.NUMBER


def _canonical_text(level: Level) -> str:
    if isinstance(level, bool):
        return "true" if level else "false"
    if isinstance(level, float) and level.is_integer() and -(2.0**63) <= level < 2.0**64:
        return str(int(level))
    return level if isinstance(level, str) else repr(level)


def _parse(level_type: LevelType, text: str) -> Level:
    if level_type is LevelType.TEXT:
        return text
    if level_type is LevelType.BOOLEAN:
        if text not in {"true", "false"}:
            raise InvalidModel(f"A boolean level is {text!r}.")
        return text == "true"
    if _INTEGER.fullmatch(text):
        whole = int(text)
        return whole if -(2**63) <= whole < 2**64 else float(text)
    return float(text)


def pack_texts(texts: Sequence[str]) -> tuple[AnyArray, ByteArray]:
    """Lay texts end to end in UTF-8: text ``k`` is ``blob[offsets[k]:offsets[k + 1]]``.

    Examples
    --------
    >>> offsets, blob = pack_texts(["age", "größe"])
    >>> offsets
    array([ 0,  3, 10], dtype=uint32)
    >>> unpack_texts(offsets, blob)
    ['age', 'größe']
    """
    encoded = [_encode(text) for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    if ends[-1] > MOST_BYTES:
        raise InvalidInput(f"{ends[-1]} bytes of text: at most {MOST_BYTES} fit in a model.")
    blob = np.frombuffer(bytearray(b"".join(encoded)), np.uint8)
    return ends.astype(np.uint32), blob


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput(
            f"the text {text!r} holds a lone surrogate and has no UTF-8 form. Clean it, for "
            "instance with text.encode('utf-8', 'replace').decode()."
        ) from None


def unpack_texts(offsets: AnyArray | None, blob: AnyArray | None) -> list[str]:
    """Undo :func:`pack_texts`; InvalidModel when the arrays are damaged."""
    if offsets is None or blob is None:
        raise InvalidModel("Packed text is missing one of its two arrays.")
    check_packed(offsets, blob)
    whole = blob.tobytes()
    return [whole[a:b].decode("utf-8") for a, b in pairwise(offsets.tolist())]


def check_packed(offsets: AnyArray, blob: AnyArray) -> None:
    """Raise InvalidModel unless the two arrays are what :func:`pack_texts` makes."""
    if offsets.dtype != np.uint32 or blob.dtype != np.uint8 or offsets.ndim != 1 or blob.ndim != 1:
        raise InvalidModel("Packed text must be a uint32 and a uint8 vector.")
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(blob):
        raise InvalidModel("The offsets of packed text do not span it.")
    if np.any(offsets[1:] < offsets[:-1]):
        raise InvalidModel("The offsets of packed text are not in order.")
    starts = offsets[offsets < len(blob)]
    if np.any((blob[starts] & 0xC0) == 0x80):
        raise InvalidModel("An offset of packed text points inside a character.")
    _check_utf8(blob)


def _check_utf8(blob: AnyArray) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunk = 1 << 16  # bounded memory: decoding at once may take four bytes per byte
    try:
        for start in range(0, len(blob), chunk):
            decoder.decode(blob[start : start + chunk].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as problem:
        raise InvalidModel(f"Packed text is not UTF-8: {problem.reason}.") from None
