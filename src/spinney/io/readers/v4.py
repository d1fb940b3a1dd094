"""Format 4: an estimator or committee in which planes cut categories, else as formats 1 to 3."""

from typing import Any

from spinney.io.readers.v1 import read_estimator
from spinney.io.readers.v3 import read_v3
from spinney.model.sections import Contents


def read_v4(contents: Contents) -> Any:
    """Rebuild what is in the file; that its planes need this version was looked at before."""
    return read_v3(contents) if "parts" in contents.meta else read_estimator(contents)
