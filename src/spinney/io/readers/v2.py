"""Format 2: format 1 with the nodes of large forests packed."""

from typing import Any

from spinney.errors import InvalidFile
from spinney.io.readers.v1 import read_estimator
from spinney.model.packed import is_packed
from spinney.model.sections import Contents


def read_v2(contents: Contents) -> Any:
    """Rebuild the fitted estimator; some forest in it must be packed, else this were format 1."""
    if not any(is_packed(name) for name in contents.arrays):
        raise InvalidFile("The file has format version 2, but nothing in it is packed.")
    return read_estimator(contents)
