"""Work that joblib does side by side."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

_prefers: dict[str, str] = {}
"""What joblib is told beside the number of jobs. A child of fork() inherits the handles of a pool
of processes, but not the threads that serve them, and would wait for ever: it is given threads."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _prefers.update(prefer="threads"))


def done_in_order(
    work: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterable[Any]:
    """Do work for each task; give the results in the order of tasks.

    They come one by one, for whoever counts them, where the active backend can do that, else all
    at the end: "multiprocessing" knows lists only.

    Examples
    --------
    >>> list(done_in_order(pow, [(2, 3), (3, 2)], n_jobs=1))
    [8, 9]
    """
    try:
        run = Parallel(n_jobs=n_jobs, return_as="generator", **_prefers)
    except ValueError:  # a backend of lists says so here, before any work is done
        run = Parallel(n_jobs=n_jobs, **_prefers)
    results: Iterable[Any] = run(delayed(work)(*task) for task in tasks)
    return results
