"""One reader per released format, kept for ever.

Files are written in the oldest format that can hold them. To change the format: bump
``sections.FORMAT_VERSION``, add ``vN.py`` and its row here, commit a golden file; the old readers
stay untouched.
"""

from collections.abc import Callable, Mapping
from typing import Any

from spinney.io.readers.v1 import read_v1
from spinney.io.readers.v2 import read_v2
from spinney.io.readers.v3 import read_v3
from spinney.io.readers.v4 import read_v4
from spinney.model.sections import Contents

READERS: Mapping[int, Callable[[Contents], Any]] = {
    1: read_v1,
    2: read_v2,
    3: read_v3,
    4: read_v4,
}
