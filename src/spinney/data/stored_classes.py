"""Classes in a file, and back."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from spinney.data.levels import pack_texts, unpack_texts
from spinney.errors import InvalidModel
from spinney.typing import AnyArray

_NUMBER_DTYPE = re.compile(r"[<|]([iu][1248]|f[248]|b1)")
_TEXT_DTYPE = re.compile(r"<U([0-9]{1,9})")
_ROOM = 1 << 20


def classes_below(arrays: Mapping[str, AnyArray], place: int) -> dict[str, AnyArray]:
    """Give the arrays of one of several labels."""
    start = f"{place}/"
    return {name[len(start) :]: a for name, a in arrays.items() if name.startswith(start)}


def classes_state(classes: AnyArray) -> tuple[str, dict[str, AnyArray]]:
    """Give the type of classes, and arrays that a file can hold."""
    if classes.dtype.kind not in "OU":
        stored = classes.astype(classes.dtype.newbyteorder("<"))
        kept = stored.view(np.uint8) if stored.dtype.kind == "b" else stored
        return stored.dtype.str, {"classes": kept}
    texts, dtype = classes.tolist(), "object"
    if classes.dtype.kind == "U":
        dtype = f"<U{_bounded_width(classes.itemsize // 4, texts)}"
    offsets, text = pack_texts(texts)
    return dtype, {"class_offsets": offsets, "class_text": text}


def _bounded_width(width: int, texts: list[str]) -> int:
    """Keep a text dtype's width unless its padding would dwarf the labels.

    A file must not be able to ask for memory out of proportion to its size.
    """
    longest = max(1, *map(len, texts)) if texts else 1
    return width if 4 * width * len(texts) <= max(_ROOM, 16 * longest * len(texts)) else longest


def read_classes(dtype: object, arrays: Mapping[str, AnyArray]) -> AnyArray:
    """Take back what ``classes_state`` gave, believing nothing."""
    if not isinstance(dtype, str):
        raise InvalidModel("Target: classes_dtype is not text.")
    if _NUMBER_DTYPE.fullmatch(dtype):
        classes = _read_number_classes(np.dtype(dtype), arrays.get("classes"))
    else:
        classes = _read_text_classes(dtype, arrays)
    if len(classes) == 0 or not np.all(classes[1:] > classes[:-1]):
        raise InvalidModel("Target: no classes, or classes that are not strictly sorted.")
    return classes


def _read_number_classes(dtype: np.dtype[Any], stored: object) -> AnyArray:
    in_file = np.dtype(np.uint8) if dtype.kind == "b" else dtype
    if not isinstance(stored, np.ndarray) or stored.ndim != 1 or stored.dtype != in_file:
        raise InvalidModel("Target: the classes are not a vector of their dtype.")
    if dtype.kind == "b" and np.any(stored > 1):
        raise InvalidModel("Target: a boolean class is neither 0 nor 1.")
    if dtype.kind == "f" and not np.all(np.isfinite(stored)):
        raise InvalidModel("Target: a class is not finite.")
    return stored.astype(dtype.newbyteorder("="))


def _read_text_classes(dtype: str, arrays: Mapping[str, AnyArray]) -> AnyArray:
    texts = unpack_texts(arrays.get("class_offsets"), arrays.get("class_text"))
    if dtype == "object":
        return np.array(texts, dtype=object)
    match = _TEXT_DTYPE.fullmatch(dtype)
    width = int(match[1]) if match else 0
    if width == 0 or _bounded_width(width, texts) != width:
        raise InvalidModel(f"Target: classes of type {dtype!r}.")
    classes = np.array(texts, dtype=f"U{width}")
    if classes.tolist() != texts:
        raise InvalidModel("Target: a class does not fit its dtype.")
    return classes
