"""The digest of a file, beside the other checks."""

import hashlib
import threading
from typing import Self

_MANY = 1 << 20  # bytes; below, starting a thread costs as much as it saves


class Digest:
    """The SHA-256 of bytes, of many on a thread of its own: other checks go on meanwhile.

    Examples
    --------
    >>> with Digest(memoryview(b"")) as digest:
    ...     pass  # something else to do
    >>> digest.found.hex()[:8]
    'e3b0c442'
    """

    def __init__(self, data: memoryview) -> None:
        self.found = b""
        self._data = data
        self._thread = threading.Thread(target=self._work) if len(data) >= _MANY else None

    def _work(self) -> None:
        self.found = hashlib.sha256(self._data).digest()

    def __enter__(self) -> Self:
        try:
            if self._thread is not None:
                self._thread.start()
        except RuntimeError:  # the system gives no more threads
            self._thread = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is None:
            self._work()
        else:
            self._thread.join()
