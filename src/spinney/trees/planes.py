"""Growing trees of random planes, and tables seen along other axes."""

from dataclasses import dataclass

import numpy as np

from spinney._native import _ext
from spinney.typing import AnyArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Directions as sums of ``normal * (x[feature] - point)``; (n_axes, n_terms) each."""

    feature: AnyArray
    normal: FloatArray
    point: FloatArray

    def project(self, matrix: FloatArray, *, n_threads: int = 1) -> FloatArray:
        """Give the sums of every row; (n_rows, n_axes). A missing value adds nothing."""
        sums = _ext.project(matrix, self.feature, self.normal, self.point, n_threads)
        return np.asarray(sums).T


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneSettings:
    """How trees of random planes may grow."""

    n_terms: int
    """Features of a plane."""
    max_depth: int
    seed: int
    """Of the forest: each tree has its own from it."""


def grow_random_planes(
    matrix: FloatArray,
    drawn: AnyArray,
    settings: PlaneSettings,
    trees: range,
    *,
    categorical: AnyArray | None = None,
    n_threads: int,
) -> dict[str, AnyArray]:
    """Grow trees whose planes have random directions, through random points among their rows.

    Parameters
    ----------
    matrix : (n_rows, n_features), of categories their codes, NaN for missing
    drawn : (n_trees, n_drawn), the rows of each tree
    settings : limits, and the seed of the forest
    trees : their numbers, in steps of one; a tree does not depend on the others
    categorical : (n_features,), which of them are categories; None: none is

    Returns
    -------
    dict
        ``tree_start``, ``right``, ``depth`` and ``count`` of nodes in preorder, and ``feature``,
        ``normal`` and ``point`` of planes, a row each.
    """
    rows = np.ascontiguousarray(drawn, np.uint32)
    limits = (settings.n_terms, settings.max_depth)
    has_levels = np.zeros(matrix.shape[1], bool) if categorical is None else categorical
    grown = _ext.grow_planes(
        matrix, has_levels.astype(np.uint8), rows, limits, settings.seed, trees.start, n_threads
    )
    arrays: dict[str, AnyArray] = {name: np.asarray(array) for name, array in grown.items()}
    for name in ("feature", "normal", "point"):
        arrays[name] = arrays[name].reshape(-1, settings.n_terms)
    return arrays
