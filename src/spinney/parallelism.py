"""How many threads a call may use: ``n_jobs``, the environment, and what the machine grants.

The number never changes a result, only how long it takes.
"""

import multiprocessing
import numbers
import os
import re

from spinney._native import _ext
from spinney.errors import InvalidParameter

VARIABLE = "SPINNEY_NUM_THREADS"
"""Environment variable that stands for ``n_jobs=None``."""

_MOST = 2**31 - 1  # the native type; far more than the pool ever starts


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's ``n_jobs`` into a number of threads, at least 1.

    Parameters
    ----------
    n_jobs : int or None
        A positive number is taken as it is. -1 is all available threads, -2 all but one, and so
        on, as in joblib. None is the environment variable ``SPINNEY_NUM_THREADS`` if that is set
        and not empty, otherwise all available threads.

    Returns
    -------
    int
        How many threads may work, the calling one included.

    Raises
    ------
    InvalidParameter
        For 0 and for anything that is not an integer, ``True`` included; or if
        ``SPINNEY_NUM_THREADS`` is needed and is not a positive integer.

    See Also
    --------
    available : What "all available threads" means.

    Examples
    --------
    >>> resolve_n_jobs(4)
    4
    >>> resolve_n_jobs(-1) == available()
    True
    >>> resolve_n_jobs(0)
    Traceback (most recent call last):
        ...
    spinney.errors.InvalidParameter: n_jobs=0: ...
    """
    if n_jobs is None:
        return _default()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise InvalidParameter(
            f"n_jobs={n_jobs!r}: expected None or an integer other than 0. Use n_jobs=1 for one "
            "thread, n_jobs=-1 for all available threads, or None for the default."
        )
    if n_jobs < 0:
        return max(1, available() + 1 + int(n_jobs))
    return min(int(n_jobs), _MOST)


def available() -> int:
    """Count the threads that can run at once without disturbing others, at least 1.

    The smallest of the processors this process may run on (affinity), its control-group quota
    rounded up, and ``OMP_NUM_THREADS``. The last is how users limit numerical libraries, and how
    joblib divides a machine: it starts each loky worker with ``OMP_NUM_THREADS`` set to
    ``inner_max_num_threads``, or else to the parent's value, or else to processors // workers. A
    value OpenMP itself would not understand is passed over; of a list ("4,2", one number per level
    of nesting) the first counts.

    Examples
    --------
    >>> available() >= 1
    True
    """
    return max(1, min(_native_threads(), _openmp_limit()))


def _native_threads() -> int:
    return _ext.available_threads()


def _default() -> int:
    """Resolve ``n_jobs=None``.

    A loky worker inherits SPINNEY_NUM_THREADS from a parent that meant it for the whole machine,
    so there joblib's share is an upper limit; in any other process the user's word stands.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return available()
    count = _positive(text)
    if count is None:
        raise InvalidParameter(
            f"{VARIABLE}={text!r}: expected a positive integer. Set the environment variable to "
            "the number of threads to use, or unset it to use all that are available."
        )
    return min(count, _openmp_limit()) if _in_loky_worker() else count


def _openmp_limit() -> int:
    first_level = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return _positive(first_level) or _MOST


def _positive(text: str) -> int | None:
    """Read a positive decimal number of at most nine digits, or None."""
    return (int(text) or None) if re.fullmatch(r"[0-9]{1,9}", text) else None


def _in_loky_worker() -> bool:
    """Whether joblib (or loky) started this process to work for another.

    The process object of a worker is a LokyProcess, of joblib's copy of loky or of loky's own;
    by name, so that neither has to be imported.
    """
    kinds = type(multiprocessing.current_process()).__mro__
    return any(kind.__name__ == "LokyProcess" for kind in kinds)
