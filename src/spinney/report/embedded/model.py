"""A model as numbers that the page evaluates itself, to the last bit.

``assets/model.js`` is the other half: the same comparisons, the same order of additions, and the
same ``exp`` as ``native/base/elementary.hpp``.
"""

import base64
from typing import Any

import numpy as np

from spinney.model import TreeForest
from spinney.typing import AnyArray

MOST_BYTES = 1_500_000
"""Of a model inside a page, as base64: half of what a report may take."""


def embed_forest(forest: TreeForest) -> dict[str, Any]:
    """Take a forest apart into what the page needs, as JSON.

    Nodes stand in preorder, as in the forest. Thresholds are numbered; a node holds the number of
    its own. Values are those of leaves alone, already multiplied by the weights of their trees, as
    the compiled code multiplies them.
    """
    arrays = forest.arrays
    feature, start = arrays["feature"], arrays["tree_start"]
    is_leaf = feature < 0
    cuts, cut_of_node = np.unique(arrays["threshold"].astype(np.float64), return_inverse=True)
    numbers = np.where(arrays["category_set"] >= 0, arrays["category_set"], cut_of_node)
    tree_of_node = np.repeat(np.arange(len(forest)), np.diff(start))
    values = arrays["tree_weight"][tree_of_node, np.newaxis] * arrays["values"]
    flags = arrays["missing_left"] + 2 * (arrays["category_set"] >= 0)
    return {
        "link": forest.output.link,
        "divisor": forest.divisor,
        "baseline": arrays["baseline"].tolist(),
        "width": int(arrays["values"].shape[1]),
        "start": packed(start),
        "output": packed(arrays["tree_output"]),
        "feature": packed(feature),
        "number": packed(np.where(is_leaf, 0, numbers)),
        "right": packed(arrays["right"]),
        "flags": packed(np.where(is_leaf, 0, flags)),
        "cuts": packed(cuts),
        "sets": packed(arrays["category_sets"].reshape(-1)),
        "values": packed(values[is_leaf].reshape(-1)),
    }


def category_bins(forest: TreeForest, feature: int) -> list[int] | None:
    """Give the bin of each level of a feature; None unless it is categorical."""
    if not forest.arrays["categorical"][feature]:
        return None
    first, last = forest.arrays["category_start"][feature : feature + 2]
    bins: list[int] = forest.arrays["category_bins"][first:last].tolist()
    return bins


def packed(array: AnyArray) -> list[str]:
    """Give an array as the name of a JavaScript array and its bytes, in the smallest type.

    Examples
    --------
    >>> packed(np.array([1, -1, 300]))
    ['Int16Array', 'AQD//ywB']
    """
    if array.dtype.kind == "f":
        return ["Float64Array", _text(array.astype("<f8"))]
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in ("u1", "i1", "u2", "i2", "u4", "i4"):
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            sign, bits = ("Uint" if kind[0] == "u" else "Int"), 8 * int(kind[1])
            return [f"{sign}{bits}Array", _text(array.astype(f"<{kind}"))]
    raise AssertionError("numbers of a forest fit in 32 bits")


def embedded_bytes(forest: TreeForest) -> int:
    """Estimate what a forest takes on the page, without making it."""
    n_nodes, width = map(int, forest.arrays["values"].shape)
    n_leaves = (n_nodes + len(forest)) // 2
    return (n_nodes * 8 + n_leaves * width * 8) * 4 // 3


def _text(array: AnyArray) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
