"""The nodes of a large forest in a tenth of their size: how files hold them.

What follows from something else is left out. Where the right child stands follows from which nodes
are leaves; counts and weights of inner nodes are sums over their children; their values and gains
are foretold from the children and corrected by a few units of the last digit. The numbers that come
back are the same bits, or the array is stored in full. ``docs/reference/file-format.md`` describes
the sections; ``native/model/unpack_nodes.cpp`` reads them, ``packing.py`` writes them.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from spinney._native import _ext
from spinney.errors import InvalidModel
from spinney.model.tree import freeze
from spinney.parallelism import available
from spinney.typing import AnyArray

PACKED_ARRAYS: Mapping[str, tuple[str, ...]] = {
    "rules": ("|u1",),
    "leaves": ("|u1",),
    "feature": ("|u1", "<u2", "<u4"),
    "missing_left": ("|u1",),
    "threshold": ("<f4", "<f8", "|u1", "<u2", "<u4"),
    "threshold_table": ("<f4", "<f8"),
    "threshold_low": ("|u1",),
    "value": ("|u1", "<u2"),
    "value_table": ("<f8",),
    "count": ("|u1",),
    "count_rest": ("<i8",),
    "weight": ("|u1",),
    "weight_rest": ("<f8",),
    "value_steps": ("|i1", "<i2"),
    "value_rest": ("<f8",),
    "gain_steps": ("|i1", "<i2"),
    "gain_rest": ("<f8",),
}
"""Sections of packed nodes and their types; all but the first three may be absent."""
UNPACKED: Mapping[str, str] = {
    "feature": "<i4",
    "right": "<i4",
    "missing_left": "|u1",
    "category_set": "<i4",
    "values": "<f8",
    "count": "<i8",
    "weight": "<f8",
    "gain": "<f8",
    "threshold": "",
}
"""Arrays that packing replaces. The last four but one may stay in full; thresholds have the type
they had."""
FULL = ("values", "count", "weight", "gain")
MOST_GROWTH = 256
"""Bytes that unpacking may need per byte of a file."""


class PackedArrays(Mapping[str, AnyArray]):
    """The arrays of a forest, of which those of nodes are unpacked when one is first asked for.

    Everything is checked when this is made, so that unpacking cannot fail.
    """

    def __init__(self, plain: Mapping[str, AnyArray], packed: Mapping[str, AnyArray]) -> None:
        _check_types(packed)
        stray = set(plain) & (set(UNPACKED) - set(FULL))
        if stray:
            raise InvalidModel(f"nodes are packed, but these arrays are there too: {sorted(stray)}")
        self.value_width = _width_of(plain, packed)
        self._check_growth(plain, packed)
        self._ready = {name: freeze(array) for name, array in plain.items()}
        flat = {
            f"full/{name}" if name in FULL else name: array.reshape(-1)
            for name, array in self._ready.items()
        }
        flat |= {name: freeze(array).reshape(-1) for name, array in packed.items()}
        self._native: _ext.PackedForest | None = _ext.PackedForest(
            flat, len(plain["categorical"]), len(plain["baseline"]), self.value_width
        )
        table = packed.get("threshold_table", packed["threshold"])
        kind = "<f8" if "threshold_low" in packed else table.dtype.str
        self._types = {**UNPACKED, "threshold": kind}
        self._n_nodes = int(plain["tree_start"][-1])

    def of_roots(self, name: str) -> AnyArray:
        """Give the ``"count"`` or ``"weight"`` of the roots without unpacking the nodes below them.

        Of weights that are no whole numbers the last digit may be another one: they are added up in
        another order.
        """
        native = self._native
        if native is None:  # unpacked by now
            return self._ready[name][self._ready["tree_start"][:-1]]
        return np.asarray(native.root_counts() if name == "count" else native.root_weights())

    def _check_growth(self, plain: Mapping[str, AnyArray], packed: Mapping[str, AnyArray]) -> None:
        """No memory on the word of a file alone."""
        starts = plain["tree_start"]
        n_nodes = int(starts[-1]) if len(starts) else 0
        size = sum(array.nbytes for array in (*plain.values(), *packed.values()))
        if not 0 <= n_nodes * (45 + 8 * self.value_width) <= MOST_GROWTH * size:
            raise InvalidModel("packed nodes are too many for the bytes that describe them")

    def __getitem__(self, name: str) -> AnyArray:
        if name not in self._ready and name in UNPACKED:
            self._unpack()
        return self._ready[name]

    def __contains__(self, name: object) -> bool:
        return name in self._ready or name in UNPACKED

    def __iter__(self) -> Iterator[str]:
        return iter({**self._ready, **UNPACKED})

    def __len__(self) -> int:
        return len({**self._ready, **UNPACKED})

    def _unpack(self) -> None:
        native = self._native
        if native is None:  # another thread was faster
            return
        made = {
            name: np.frombuffer(data, self._types[name])
            for name, data in native.unpack(available()).items()
        }
        if "values" in made:
            made["values"] = made["values"].reshape(self._n_nodes, -1)
        self._ready = self._ready | made
        self._native = None


def of_roots(arrays: Mapping[str, AnyArray], name: str) -> AnyArray:
    """Give the counts or weights of the roots of a forest, packed or not."""
    if isinstance(arrays, PackedArrays):
        return arrays.of_roots(name)
    return arrays[name][arrays["tree_start"][:-1]]


def is_packed(name: str) -> bool:
    """Tell whether a section of a file has packed nodes."""
    return "/nodes/" in f"/{name}"


def _check_types(packed: Mapping[str, AnyArray]) -> None:
    missing = {"rules", "leaves", "feature", "threshold"} - set(packed)
    if missing or not set(packed) <= set(PACKED_ARRAYS):
        odd = sorted(missing | (set(packed) - set(PACKED_ARRAYS)))
        raise InvalidModel(f"packed arrays are missing or unknown: {odd[:5]}")
    for name, array in packed.items():
        n_dimensions = 2 if name == "value_table" else 1
        if array.dtype.str not in PACKED_ARRAYS[name] or array.ndim != n_dimensions:
            raise InvalidModel(f"the packed array {name!r} has an unexpected type")
        if name not in {"feature", "threshold"} and not array.size:
            raise InvalidModel(f"the packed array {name!r} is empty")
    kind, whole = packed["threshold"].dtype, {"threshold_table", "threshold_low"} & set(packed)
    if len(whole) != (kind.kind == "u") or ("threshold_low" in whole) != (kind == "<u4"):
        raise InvalidModel("packed thresholds are neither numbers nor places in a table")


def _width_of(plain: Mapping[str, AnyArray], packed: Mapping[str, AnyArray]) -> int:
    if ("values" in plain) == ("value_table" in packed):
        raise InvalidModel("a packed forest has values in full or in a table")
    table = plain["values"] if "values" in plain else packed["value_table"]
    return int(table.shape[1])
