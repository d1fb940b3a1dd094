"""Which version of the file format a model needs: the oldest that can say what it is."""

from collections.abc import Mapping

from spinney.data.schema import CATEGORICAL_CODE
from spinney.model.packed import is_packed
from spinney.typing import AnyArray

LEVELS_ON_PLANES = 4
"""The version of files in which planes cut categories; readers of others refuse those."""


def oldest_version(arrays: Mapping[str, AnyArray], *, has_parts: bool = False) -> int:
    """Give the version for the arrays of a file; ``has_parts``: of a committee.

    Examples
    --------
    >>> oldest_version({}), oldest_version({}, has_parts=True)
    (1, 3)
    """
    if has_levels_on_planes(arrays):
        return LEVELS_ON_PLANES
    return 3 if has_parts else 2 if any(map(is_packed, arrays)) else 1


def has_levels_on_planes(arrays: Mapping[str, AnyArray]) -> bool:
    """Tell whether some model among the arrays of a file has planes, and categories."""
    for name in arrays:
        start, found, rest = name.rpartition("planes/feature")
        kinds = arrays.get(f"{start}schema/kinds") if found and not rest else None
        if kinds is not None and bool((kinds == CATEGORICAL_CODE).any()):
            return True
    return False
