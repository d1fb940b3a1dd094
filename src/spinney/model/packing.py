"""Packing the nodes of a large forest for a file; ``packed.py`` says how, and unpacks them."""

from collections.abc import Iterator, Mapping

import numpy as np

from spinney.errors import InvalidModel
from spinney.model.packed import UNPACKED, PackedArrays
from spinney.typing import AnyArray, FloatArray

LEAST_NODES = 1 << 13
"""Below this a forest is small, and its arrays are stored as they are."""
_SIGN = np.int64(2**63 - 1)
_FEW = 1 << 16
_LOW_BITS = np.uint64(2**24 - 1)
_VALUE_RULES = {"mean": 0, "shares": 1}
_GAIN_RULES = {"means": 0, "binary": 1, "gini": 2}


def pack_forests(arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Pack every large forest among the arrays of a model."""
    result = dict(arrays)
    for name in arrays:
        prefix, found, rest = name.rpartition("forest/feature")
        if not found or rest or (prefix and not prefix.endswith("/")):
            continue
        start = f"{prefix}forest/"
        own = {
            key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)
        }
        plain, packed = pack_nodes(own)
        if packed:
            for key in own.keys() - plain.keys():
                del result[start + key]
            result |= {f"{prefix}nodes/{key}": array for key, array in packed.items()}
    return result


def pack_nodes(arrays: Mapping[str, AnyArray]) -> tuple[dict[str, AnyArray], dict[str, AnyArray]]:
    """Give the arrays of a forest that stay as they are, and the packed ones.

    The second dict is empty if the forest is small, or if packing would change a bit of it or save
    less than half: then the first has all arrays.
    """
    if len(arrays["feature"]) < LEAST_NODES:
        return dict(arrays), {}
    plain = {name: array for name, array in arrays.items() if name not in UNPACKED}
    packed: dict[str, AnyArray] = {}
    nodes = _Nodes(arrays)
    nodes.pack_splits(packed)
    for name, full in nodes.pack_sums(packed):
        if full:
            plain[name] = arrays[name]
    if not _is_better(arrays, plain, packed):
        return dict(arrays), {}
    return plain, packed


def _is_better(
    arrays: Mapping[str, AnyArray], plain: Mapping[str, AnyArray], packed: Mapping[str, AnyArray]
) -> bool:
    size = sum(array.nbytes for array in (*plain.values(), *packed.values()))
    if 2 * size > sum(array.nbytes for array in arrays.values()):
        return False
    try:
        again = PackedArrays(plain, packed)
    except InvalidModel:  # too dense, or a number without a packed form
        return False
    return all(_same_bits(again[name], arrays[name]) for name in UNPACKED)


def _same_bits(one: AnyArray, other: AnyArray) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    kind = f"u{one.dtype.itemsize}"
    return bool(np.array_equal(np.ascontiguousarray(one).view(kind), other.view(kind)))


class _Nodes:
    """Nodes of a forest, and the children of the inner ones."""

    def __init__(self, arrays: Mapping[str, AnyArray]) -> None:
        self.arrays = arrays
        starts = arrays["tree_start"]
        self.is_leaf = arrays["feature"] < 0
        self.inner = np.flatnonzero(~self.is_leaf)
        self.left = self.inner + 1
        first = np.repeat(starts[:-1], np.diff(starts))[self.inner]
        self.right = first + arrays["right"][self.inner]
        self.weights = [arrays["weight"][n] for n in (self.left, self.right, self.inner)]

    def pack_splits(self, packed: dict[str, AnyArray]) -> None:
        """Add which nodes are leaves, and what the others ask."""
        packed["leaves"] = np.packbits(self.is_leaf, bitorder="little")
        features = self.arrays["feature"][self.inner]
        packed["feature"] = features.astype(_code_type(int(features.max(initial=0))))
        missing_left = self.arrays["missing_left"][self.inner]
        if missing_left.any():
            packed["missing_left"] = np.packbits(missing_left, bitorder="little")
        thresholds = np.ascontiguousarray(self.arrays["threshold"][self.inner])
        table, codes = _table_of(thresholds[:, None])
        if 0 < len(table) <= _FEW and table.nbytes + codes.nbytes < thresholds.nbytes:
            packed["threshold_table"], thresholds = table[:, 0], codes
        elif thresholds.dtype == "<f8" and not (thresholds.view(np.uint64) & _LOW_BITS).any():
            halves = (thresholds.view(np.uint64) >> 24).astype(np.uint64)
            packed["threshold_low"] = halves.astype(np.uint8)
            thresholds = (halves >> 8).astype(np.uint32)
        packed["threshold"] = thresholds

    def pack_sums(self, packed: dict[str, AnyArray]) -> Iterator[tuple[str, bool]]:
        """Add what nodes say; tell of each array whether it must be stored in full."""
        yield "count", not self._pack_count(packed)
        yield "weight", not self._pack_weight(packed)
        rules = np.zeros(2, np.uint8)
        yield "values", not self._pack_values(packed, rules)
        yield "gain", not self._pack_gain(packed, rules)
        packed["rules"] = rules

    def _adds_up(self, name: str) -> bool:
        array = self.arrays[name]
        return np.array_equal(array[self.inner], array[self.left] + array[self.right])

    def _pack_count(self, packed: dict[str, AnyArray]) -> bool:
        if not self._adds_up("count"):
            return False
        counts = self.arrays["count"][self.is_leaf]
        if (counts != 1).any():
            _put_codes(packed, "count", counts)
        return True

    def _pack_weight(self, packed: dict[str, AnyArray]) -> bool:
        if not self._adds_up("weight"):
            return False
        if not np.array_equal(self.arrays["weight"], self.arrays["count"]):
            _put_codes(packed, "weight", self.arrays["weight"][self.is_leaf])
        return True

    def _pack_values(self, packed: dict[str, AnyArray], rules: AnyArray) -> bool:
        values = self.arrays["values"]
        best: dict[str, AnyArray] = {}
        least = 4 * len(values) * values.shape[1]
        for rule in ("shares", "mean"):
            foretold = (self._value(rule, k) for k in range(values.shape[1]))
            found = _steps(foretold, values[self.inner])
            size = sum(array.nbytes for array in found.values())
            if size < least:
                best, least, rules[0] = found, size, _VALUE_RULES[rule]
            if size == 0:
                break
        else:
            if not best:
                return False
        packed |= {f"value_{name}": array for name, array in best.items()}
        leaves = np.ascontiguousarray(values[self.is_leaf])
        table, codes = _table_of(leaves)
        if len(table) <= _FEW and table.nbytes + codes.nbytes < leaves.nbytes:
            packed["value_table"], packed["value"] = table, codes
        else:
            packed["value_table"] = leaves
        return True

    def _pack_gain(self, packed: dict[str, AnyArray], rules: AnyArray) -> bool:
        gains = self.arrays["gain"]
        width = self.arrays["values"].shape[1]
        best: dict[str, AnyArray] = {}
        least = 8 * len(self.inner)
        for rule in ("binary", "gini", "means")[0 if width == 2 else 1 if width > 1 else 2 :]:
            found = _steps(iter([self._gain(rule)]), gains[self.inner, None])
            size = sum(array.nbytes for array in found.values())
            if size < least:
                best, least, rules[1] = found, size, _GAIN_RULES[rule]
            if size == 0:
                return True
        packed |= {f"gain_{name}": array for name, array in best.items()}
        return bool(best)

    # The rules, as native/model/packed_forest.cpp has them

    def _sides(self, k: int) -> tuple[FloatArray, FloatArray]:
        values = self.arrays["values"][:, k]
        return values[self.left], values[self.right]

    def _value(self, rule: str, k: int) -> FloatArray:
        left, right, total = self.weights
        a, b = self._sides(k)
        a, b = left * a, right * b
        with np.errstate(all="ignore"):
            if rule == "shares":
                return (_whole(a) + _whole(b)) / total
            return (a + b) / total

    def _gain(self, rule: str) -> FloatArray:
        left, right, total = self.weights
        gain: FloatArray = np.zeros(len(self.inner))
        with np.errstate(all="ignore"):
            if rule == "binary":
                a, b = self._sides(1)
                apart = _whole(left * a) * right - _whole(right * b) * left
                gain += apart * apart / (left * right) * (2.0 / total)
                return gain
            for k in range(self.arrays["values"].shape[1]):
                a, b = self._sides(k)
                if rule == "gini":
                    a, b = _whole(left * a) * right, _whole(right * b) * left
                    counts = np.abs(a - b) > 2.0**-50 * (a + b)
                    gain += np.where(counts, (a - b) * (a - b), 0.0)
                else:
                    gain += (a - b) * (a - b)
            if rule == "gini":
                gain = gain / (left * right) / total
            else:
                gain = gain * left * (right / total)
            return gain


def _whole(x: FloatArray) -> FloatArray:
    rounded: FloatArray = (x + 2.0**52) - 2.0**52
    return rounded


def _code_type(largest: int) -> str:
    return "|u1" if largest < 1 << 8 else "<u2" if largest < 1 << 16 else "<u4"


def _put_codes(packed: dict[str, AnyArray], name: str, numbers: AnyArray) -> None:
    """Add small whole numbers as bytes; any others stand apart, and a byte of 255 for each."""
    is_small = (numbers >= 0) & (numbers < 255)
    codes = np.where(is_small, numbers, 255).astype(np.uint8)
    is_rest = ~is_small | (codes != numbers)
    codes[is_rest] = 255
    packed[name] = codes
    if is_rest.any():
        packed[f"{name}_rest"] = numbers[is_rest]


def _table_of(rows: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Find the different rows, bit by bit, and the place of each row among them."""
    bits = rows.view(f"u{rows.dtype.itemsize}")
    codes = np.zeros(len(rows), np.int64)
    for k in range(rows.shape[1]):  # rows so far have numbers; each column makes them finer
        different, place = np.unique(bits[:, k], return_inverse=True)
        _, codes = np.unique(codes * len(different) + place, return_inverse=True)
    _, first = np.unique(codes, return_index=True)
    return rows[first], codes.astype(_code_type(len(first)))


def _ordered(numbers: FloatArray) -> AnyArray:
    """Floats in their order as whole numbers without a gap."""
    bits = np.ascontiguousarray(numbers).view(np.int64)
    return bits ^ ((bits >> 63) & _SIGN)


def _steps(foretold: Iterator[FloatArray], actual: FloatArray) -> dict[str, AnyArray]:
    """Give how many floats lie between what was foretold and what is; far ones stand apart.

    Nothing if all are where they were foretold.
    """
    n, width = actual.shape
    steps = np.empty((n, width), np.int32)
    for k, column in enumerate(foretold):
        apart = _ordered(actual[:, k]) - _ordered(np.where(np.isnan(column), 0.0, column))
        steps[:, k] = np.clip(apart, -(1 << 20), 1 << 20)
    flat, numbers = steps.reshape(-1), actual.reshape(-1)
    if not flat.any():
        return {}
    is_near = np.abs(flat) < 128
    is_close = np.abs(flat) < 32768
    sizes = [
        n_items + 8 * int(np.count_nonzero(~near))
        for n_items, near in ((len(flat), is_near), (2 * len(flat), is_close))
    ]
    kind, near = ("|i1", is_near) if sizes[0] <= sizes[1] else ("<i2", is_close)
    codes = np.where(near, flat, -128 if kind == "|i1" else -32768).astype(kind)
    found: dict[str, AnyArray] = {"steps": codes}
    if not near.all():
        found["rest"] = np.ascontiguousarray(numbers[~near])
    return found
